"""`cir check`: everything that is wrong with programs."""

from __future__ import annotations

import click

from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus, Severity
from commonir.base.text import plural
from commonir.cli.answer import Answer
from commonir.cli.session import Session, split_input_file, verb
from commonir.cli.terminal import Style, Terminal

_LEVELS = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@verb(opens=True)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path())
@click.option("--strict", "is_strict", is_flag=True, help="Warnings also make the answer no.")
@click.option(
    "--level",
    type=click.Choice([level.value for level in _LEVELS]),
    default=Severity.NOTE.value,
    show_default=True,
    help="Report findings of at least this weight.",
)
@split_input_file
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

    The exit status is 0 when there is no error, 1 when there is one, and that of the first fault (3, 4 or 5) of a file
    that cannot be read at all.
    """
    as_text = is_split or expects
    shown = _LEVELS[: _LEVELS.index(Severity(level)) + 1]
    counts = dict.fromkeys(_LEVELS, 0)
    statuses: list[ExitStatus] = []
    per_file: list[dict[str, str | int | bool]] = []
    with session.progress("checking", total=len(models)) as progress:
        for model in models:
            progress.step(f"checking {model}")
            found, status = _check_pieces(session, model, is_split, expects) if as_text else _check(session, model)
            weights = {weight: sum(finding.severity is weight for finding in found) for weight in _LEVELS}
            if status is ExitStatus.YES and is_strict and weights[Severity.WARNING]:
                status = ExitStatus.NO
            counts = {weight: counts[weight] + weights[weight] for weight in _LEVELS}
            statuses.append(status)
            per_file.append(
                {
                    "file": model,
                    "ok": status is ExitStatus.YES,
                    "errors": weights[Severity.ERROR],
                    "warnings": weights[Severity.WARNING],
                }
            )
            session.findings.extend(finding for finding in found if finding.severity in shown)
            progress.advance()
    status = max(statuses)
    return Answer({"files": per_file}, lambda out: _write(out, len(models), counts, status), status)


def _check(session: Session, model: str) -> tuple[list[Diagnostic], ExitStatus]:
    """All findings of one file, each with its name, and what the exit status would be for it alone."""
    path = session.input_path(model)
    try:
        program, found = session.check(path)
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
        found = [d for _, wrong in session.check_pieces(path, split=is_split, expects=expects) for d in wrong]
    except DiagnosticError as error:
        return list(error.diagnostics), error.status
    return found, ExitStatus.NO if any(finding.is_error for finding in found) else ExitStatus.YES


def _write(out: Terminal, files: int, counts: dict[Severity, int], status: ExitStatus) -> None:
    errors, warnings = counts[Severity.ERROR], counts[Severity.WARNING]
    found = ", ".join(
        part for part in (plural(errors, "error"), plural(warnings, "warning") if warnings else "") if part
    )
    out.line(f"checked {plural(files, 'file')}: {found}", Style.GOOD if status is ExitStatus.YES else Style.ERROR)


command = check
