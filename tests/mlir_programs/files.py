"""The programs of files, as other projects write them, against mlir-opt: those of our dialects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from commonir.ods.unknown_dialects import UPSTREAM
from commonir.text.pieces import pieces_of

from tests.mlir_programs import comparison, oracle, programs
from tests.mlir_programs.comparison import FORMS

_LARGEST_CHARACTERS = 300_000
_OPERATION = re.compile(r'^\s*(?:%\S+(?::\d+)? = )?"(\w+)\.[\w.-]+"\(', re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*")
_PREFIX = re.compile(r"""(?:^|[\s"#!<(,=\[])([a-z_]\w*)[.<][a-zA-Z_]""")
_OWN_FORM = re.compile(r"[#!](\w+)[.<]")
_UNKNOWN = re.compile(
    r"not found for custom op|custom op '.*' is unknown|unregistered|"
    # What the dialect of an attribute or type may allow, and only code decides.
    r"unsupported memory space Attribute|invalid memref element type"
)
_OURS = frozenset({*programs.NAMES, "builtin"})


class Program(NamedTuple):
    """A program of a file and what mlir-opt makes of it."""

    source: str
    answer: oracle.Answer

    @property
    def is_accepted(self) -> bool:
        """Returns whether mlir-opt accepts it."""
        return self.answer.text is not None

    @property
    def is_ours(self) -> bool:
        """Returns whether it is accepted and uses only dialects that both know."""
        text = self.answer.text
        return text is not None and {*_OPERATION.findall(text), *_OWN_FORM.findall(text)} <= _OURS

    @property
    def is_decided(self) -> bool:
        """Returns whether the verdict is not about a dialect that mlir-opt does not know."""
        known = self.dialects <= {*_OURS, *UPSTREAM}
        return self.is_accepted or (known and _UNKNOWN.search(self.answer.message) is None)

    @property
    def dialects(self) -> set[str]:
        """Returns the words of its text that may be names of dialects."""
        return {*_PREFIX.findall(_COMMENT.sub("", self.source))} - {"tensor", "memref", "vector", "tuple", "complex"}


class Found(NamedTuple):
    """Results for the programs of a folder: how many there are of each kind, and each that is reported differently."""

    counts: Counter[str]
    differences: list[str]


def compared(folder: Path) -> Found:
    """Returns the answers of both to the programs that use our dialects only."""
    result = Found(Counter(), [])
    for path, good in accepted(folder, result.counts):
        result.counts["compared"] += len(good)
        of_forms = [d for form in FORMS for d in comparison.differences(good, form)] if good else []
        refused = [(s, message) for s in good if (message := "; ".join(oracle.findings(s)))]
        result.counts["reported differently"] += len({d.source for d in of_forms} | {s for s, _ in refused})
        result.differences.extend([f"{path}, {d.form}:\n{d.lines}" for d in of_forms])
        result.differences.extend([f"{path}, refused: {message}" for _, message in refused])
    return result


def accepted(folder: Path, counts: Counter[str]) -> Iterator[tuple[Path, list[str]]]:
    """The programs of each file that mlir-opt accepts and that use our dialects only, each once; others are counted."""
    seen: set[str] = set()
    for path in sorted(folder.rglob("*.mlir")):
        sources = [s for s in dict.fromkeys(sources_in(path)) if s not in seen]
        seen.update(sources)
        good: list[str] = []
        for program in answered(sources):
            if not program.is_accepted:
                counts["refused by mlir-opt"] += 1
            elif not program.is_ours:
                counts["of other dialects"] += 1
            else:
                good.append(program.source)
        yield path, good


def answered(sources: list[str]) -> list[Program]:
    """Returns programs with what mlir-opt makes of them."""
    return [Program(s, a) for s, a in zip(sources, oracle.ask(sources, oracle.GENERIC), strict=True)]


def sources_in(path: Path) -> Iterator[str]:
    """Yields the programs of a file, separated by lines `// -----`; none of a large one, or of one that is not text."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    if len(text) <= _LARGEST_CHARACTERS:
        yield from (s.strip("\n") + "\n" for s, _ in pieces_of(text) if s.strip())
