"""`cir check`: everything that is wrong with programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus, Severity
from commonir.base.text import plural
from commonir.cli.answer import Answer
from commonir.cli.options import PATH, split_option
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

_LEVELS = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@verb(opens=True)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=PATH)
@click.option("--strict", "is_strict", is_flag=True, help="Treat warnings as errors.")
@click.option(
    "--level",
    type=click.Choice([level.value for level in _LEVELS]),
    default=Severity.NOTE.value,
    show_default=True,
    help="Report findings of at least this weight.",
)
@split_option
@click.option(
    "--verify-diagnostics",
    "expects",
    is_flag=True,
    help="Report what differs from comments `// expected-error {{..}}` of an MLIR text.",
)
def check(
    session: Session, models: tuple[str, ...], *, is_strict: bool, level: str, is_split: bool, expects: bool
) -> Answer:
    """Report everything that is wrong with programs: format, structure, types, shapes, safety.

    Files of the ranks of one ARK program are checked together; of one of them, those beside it are too.

    The exit status is 0 when there is no error, 1 when there is one, and that of the first fault (3, 4 or 5) of a file
    that cannot be read at all.
    """
    as_text = is_split or expects
    shown = _LEVELS[: _LEVELS.index(Severity(level)) + 1]
    counts = dict.fromkeys(_LEVELS, 0)
    statuses: list[ExitStatus] = []
    per_file: list[dict[str, str | int | bool]] = []
    programs = [(model,) for model in models] if as_text or len(models) == 1 else session.programs(models)
    with session.progress("checking", total=len(models)) as progress:
        for files in programs:
            progress.step(f"checking {', '.join(files)}")
            found, status = _check_pieces(session, files[0], is_split, expects) if as_text else _check(session, files)
            weights = _weights(found)
            if status is ExitStatus.YES and is_strict and weights[Severity.WARNING]:
                status = ExitStatus.NO
            counts = {weight: counts[weight] + weights[weight] for weight in _LEVELS}
            statuses.append(status)
            per_file += _entries(session, files, found, is_good=status is ExitStatus.YES)
            session.findings.extend(finding for finding in found if finding.severity in shown)
            for _ in files:
                progress.advance()
    status = max(statuses)
    return Answer({"files": per_file}, lambda out: _write(out, len(per_file), counts, status), status)


def _weights(found: Sequence[Diagnostic]) -> dict[Severity, int]:
    """How many findings there are of each weight."""
    return {weight: sum(finding.severity is weight for finding in found) for weight in _LEVELS}


def _entries(
    session: Session, files: Sequence[str], found: Sequence[Diagnostic], *, is_good: bool
) -> Iterator[dict[str, str | int | bool]]:
    """Yields the report of each file of a program; findings in a file that was not named count for the first."""
    paths = [session.input_path(file) for file in files]
    for file, path in zip(files, paths, strict=True):
        own = [d for d in found if d.file == path or (path == paths[0] and d.file not in paths)]
        weights = _weights(own)
        errors, warnings = weights[Severity.ERROR], weights[Severity.WARNING]
        yield {"file": file, "ok": is_good, "errors": errors, "warnings": warnings}


def _check(session: Session, files: Sequence[str]) -> tuple[list[Diagnostic], ExitStatus]:
    """All findings of one program, each with its file, and what the exit status would be for it alone."""
    paths = [session.input_path(file) for file in files]
    path = paths[0]
    try:
        program, found = session.check(path if len(paths) == 1 else paths)
    except DiagnosticError as error:
        program, found = None, list(error.diagnostics)
    status = ExitStatus.YES
    if any(finding.is_error for finding in found):
        # What could be opened has an answer; what could not has the status of the fault.
        status = ExitStatus.NO if program is not None else DiagnosticError(*found).status
    return [finding.located(file=path) for finding in found], status


def _check_pieces(session: Session, model: str, is_split: bool, expects: bool) -> tuple[list[Diagnostic], ExitStatus]:
    """All findings of the programs of one text, and the exit status for it."""
    path = session.input_path(model)
    try:
        result = [d for _, wrong in session.check_pieces(path, split=is_split, expects=expects) for d in wrong]
    except DiagnosticError as error:
        return list(error.diagnostics), error.status
    return result, ExitStatus.NO if any(finding.is_error for finding in result) else ExitStatus.YES


def _write(out: Terminal, files: int, counts: dict[Severity, int], status: ExitStatus) -> None:
    errors, warnings = counts[Severity.ERROR], counts[Severity.WARNING]
    found = ", ".join(
        part for part in (plural(errors, "error"), plural(warnings, "warning") if warnings else "") if part
    )
    out.line(f"checked {plural(files, 'file')}: {found}", Style.GOOD if status is ExitStatus.YES else Style.ERROR)


command = check
