"""The stages of MLIR text and TableGen files, each with an oracle of LLVM.

mlir-opt decides on the programs of a text whose dialects it and we know: whether they are right, and how they are
printed. On others, comments `// expected-error` say which are wrong, if nothing but reading makes them so. llvm-tblgen
decides on TableGen files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import commonir
from commonir.base.codes import FAILED_ASSERTION, UNKNOWN_DIALECT, UNKNOWN_OPERATION
from commonir.base.diagnostics import Diagnostic
from commonir.formats.mlir.checking import check_piece
from commonir.ods import Dialects
from commonir.text.pieces import Piece

from tests.mlir_programs.comparison import FORMS, Verdict, differences, is_known
from tests.mlir_programs.files import Program, answered, sources_in
from tests.onnx_suite.values import Disagreement
from tests.tablegen.conformance import Outcome, compare
from tests.tablegen.oracle import mlir_include

_DIALECTS = Dialects(allows_unregistered=True)
_PRINTED = tuple(form for form in FORMS if not form.locations)
_ANNOUNCED = re.compile(r"expected-error(?:-re)?[ \t]*(?:@\S*)?[ \t]*\{\{(.*)\}\}")
_RUN = re.compile(r"// ?RUN:(.*)")
_READING = re.compile(
    r"--?(?:split-input-file|verify-diagnostics|allow-unregistered-dialect|mlir-print-[\w-]+|check-prefix\S*|"
    r"implicit-check-not\S*|strict-whitespace|match-full-lines|input-file\S*|verify-each\S*|output-split-marker\S*)(?!\S)"
)
"""Options with which programs are read and printed, and nothing else."""
_INCLUDES = ("include", "src", "compiler/src", "compiler/plugins", "include/torch-mlir-dialects", ".", "../include")


class OthersRefuse(Exception):
    """The oracle refuses every program of a file, too."""


def check(path: Path) -> None:
    """Compares the verdict on each program of a text with that of mlir-opt, or with what its comments announce.

    Raises: Disagreement, commonir.DiagnosticError for what we alone refuse, OthersRefuse.
    """
    sources = list(sources_in(path))
    only_reads = _only_reads(sources)
    refusals: list[Diagnostic] = []
    right = 0
    for program in answered(sources):
        errors = _errors(program.source)
        announced = _ANNOUNCED.search(program.source) if only_reads else None
        if (fault := _disagreement(program, errors, None if announced is None else announced[1])) is not None:
            raise Disagreement(fault)
        right += not errors
        if errors and announced is None and (program.is_accepted or not program.is_decided):
            refusals += errors[:1]
    if refusals:
        raise commonir.DiagnosticError(*refusals)
    if sources and not right:
        raise OthersRefuse("every program is wrong")


def _disagreement(program: Program, errors: Sequence[Diagnostic], announced: str | None) -> str | None:
    """Returns how the verdicts differ; None if they do not, or if the right one is unknown."""
    theirs = program.answer.message or "refused"
    if errors:
        first = errors[0]
        is_unknown = first.code in (UNKNOWN_OPERATION, UNKNOWN_DIALECT)
        text = f"accepted by mlir-opt: {first.code.id} {first.message}"
        is_meant = is_known(Verdict("", program.source, None, first.message))
        return text if program.is_ours and not is_unknown and not is_meant else None
    if not program.is_accepted and program.is_decided:
        is_meant = is_known(Verdict("", program.source, theirs, None))
        return None if is_meant else f"accepted here, refused by mlir-opt: {theirs}"
    if announced is not None and not program.is_ours and program.dialects <= {*_DIALECTS.names()}:
        return f"accepted here, though it announces: {announced}"
    return None


def _errors(source: str) -> list[Diagnostic]:
    _, diagnostics = check_piece(Piece(source, 0), "", _DIALECTS)
    return [d for d in diagnostics if d.is_error]


def _only_reads(sources: Sequence[str]) -> bool:
    """Returns whether the commands in the comments of a text run no passes, which may be what reports errors."""
    commands = [m[1] for source in sources[:1] for m in _RUN.finditer(source)]
    options = [word for command in commands for word in re.findall(r"(?<=\s)--?[a-z]\S*", _READING.sub("", command))]
    return bool(commands) and not options


def load(path: Path) -> None:
    """Reads and summarizes the programs of a text; announced errors are right. Raises: commonir.DiagnosticError."""
    for source in sources_in(path):
        if _ANNOUNCED.search(source) is None:
            commonir.summarize(commonir.loads(source, format="mlir"))


def save(path: Path) -> None:
    """Prints the programs of a text: as mlir-opt does where it knows them, and so that they are read again.

    Raises: Disagreement.
    """
    programs = answered(list(sources_in(path)))
    good = [p.source for p in programs if p.is_ours]
    for form in _PRINTED if good else ():
        for difference in differences(good, form):
            raise Disagreement(f"{form.name}: {difference.lines}")
    for program in programs:
        if not program.is_ours and not _errors(program.source):
            text = commonir.dumps(commonir.loads(program.source, format="mlir"))
            if commonir.dumps(commonir.loads(text, format="mlir")) != text:
                raise Disagreement("printed again, it is another text")


def run(path: Path) -> None:
    """Runs the functions without inputs of programs that say themselves what they compute, in the dialect check.

    Raises: Disagreement, commonir.DiagnosticError, OthersRefuse where no program does.
    """
    sources = [s for s in sources_in(path) if "check.expect_" in s and _ANNOUNCED.search(s) is None]
    if not sources:
        raise OthersRefuse("no program says what it computes")
    for source in sources:
        module = commonir.loads(source, format="mlir")
        for name in [n for n, f in module.functions.items() if not f.inputs]:
            module.entry = name
            try:
                commonir.run(module, {})
            except commonir.DiagnosticError as error:
                if error.diagnostics[0].code is not FAILED_ASSERTION:
                    raise
                raise Disagreement(f"{name}: {error.diagnostics[0].message}") from error


def records(path: Path) -> None:
    """Compares the records of a TableGen file with those of llvm-tblgen. Raises: Disagreement, OthersRefuse."""
    found = compare(path.parent, path.name, include_dirs=[*_include_folders(path), mlir_include()])
    if found.outcome is Outcome.BOTH_REFUSE:
        raise OthersRefuse(found.detail.partition("\n")[0])
    if found.outcome is not Outcome.EQUAL:
        raise Disagreement(f"{found.outcome.value}: {found.detail}")
    commonir.load_dialects(path, [*_include_folders(path), mlir_include()])


def _include_folders(path: Path) -> Iterator[Path]:
    """Yields the folders of a repository that its files name others relative to."""
    for parent in path.parents:
        yield from (folder for name in _INCLUDES if (folder := parent / name).is_dir())
        if "+" in parent.name:
            return
