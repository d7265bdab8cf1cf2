"""`cir check`: reports all findings of programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus, Severity
from commonir.base.text import plural
from commonir.cli.answer import Answer
from commonir.cli.fixing import fix_models
from commonir.cli.options import OUTPUT, PATH, split_option, unregistered_option
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

_LEVELS = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@verb("cir check model.onnx", "cir check models/*.mlpackage --strict", opens=True)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=PATH)
@click.option("--strict", "is_strict", is_flag=True, help="Treat warnings as errors.")
@click.option(
    "--level",
    metavar="LEVEL",
    type=click.Choice([level.value for level in _LEVELS]),
    default=Severity.NOTE.value,
    show_default=True,
    help="Report findings from error, warning or note on.",
)
@click.option(
    "--fix",
    "is_fixing",
    is_flag=True,
    help="Remove faults that have only one right remedy. These are the order of operations, missing imports and kinds,"
    " types that contradict the operations, and what is repeated or not used. It says what it changes, and needs -o or"
    " --force to write.",
)
@click.option("-o", "--output", metavar="OUT", type=OUTPUT, help="With --fix: write the result to OUT.")
@click.option("--force", "is_forced", is_flag=True, help="With --fix: replace MODEL.")
@click.option("--all", "shows_all", is_flag=True, help="Report all findings on a terminal, not only the first 20.")
@split_option
@unregistered_option
@click.option(
    "--verify-diagnostics",
    "expects",
    is_flag=True,
    help="Compare with comments `// expected-error {{..}}` in the text.",
)
def check(
    session: Session,
    models: tuple[str, ...],
    *,
    is_strict: bool,
    level: str,
    is_fixing: bool,
    output: str | None,
    is_forced: bool,
    shows_all: bool,
    is_split: bool,
    expects: bool,
    allow_unregistered: bool,
) -> Answer:
    """Report everything that is wrong with programs: format, structure, types, shapes, safety.

    The rank files of an ARK program are checked together; naming one of them is enough.

    The exit status is 0 without errors, 1 with errors, and 3, 4 or 5 if a file cannot be read, is not supported, or is
    refused.
    """
    as_text = is_split or expects
    if shows_all:
        session.most_findings = None
    if is_fixing and as_text:
        raise click.UsageError("'--fix' takes a model, not the pieces of a text")
    if is_fixing:
        return fix_models(session, models, output, is_forced=is_forced)
    if output is not None or is_forced:
        raise click.UsageError("'-o' and '--force' need '--fix'")
    shown = _LEVELS[: _LEVELS.index(Severity(level)) + 1]
    counts = dict.fromkeys(_LEVELS, 0)
    statuses: list[ExitStatus] = []
    per_file: list[dict[str, str | int | bool]] = []
    counted: list[int] = []
    programs = [(model,) for model in models] if as_text or len(models) == 1 else session.programs(models)
    with session.progress("checking", total=len(models)) as progress:
        for files in programs:
            progress.step(f"checking {', '.join(files)}")
            findings, status, file_count = (
                (*_check_pieces(session, files[0], is_split, expects, allow_unregistered), 1)
                if as_text
                else _check(session, files, allow_unregistered)
            )
            counted.append(file_count)
            by_severity = _count(findings)
            if status is ExitStatus.YES and is_strict and by_severity[Severity.WARNING]:
                status = ExitStatus.NO
            counts = {severity: counts[severity] + by_severity[severity] for severity in _LEVELS}
            statuses.append(status)
            per_file += _entries(session, files, findings, is_good=status is ExitStatus.YES)
            session.findings.extend(finding for finding in findings if finding.severity in shown)
            for _ in files:
                progress.advance()
    status = max(statuses)
    fixable = sum(finding.fix is not None for finding in session.findings)
    return Answer({"files": per_file}, lambda out: _write(out, counted, counts, status, fixable), status)


def _count(findings: Sequence[Diagnostic]) -> dict[Severity, int]:
    """Returns the number of findings of each severity."""
    return {severity: sum(finding.severity is severity for finding in findings) for severity in _LEVELS}


def _entries(
    session: Session, files: Sequence[str], findings: Sequence[Diagnostic], *, is_good: bool
) -> Iterator[dict[str, str | int | bool]]:
    """Yields the report of each file of a program; findings in a file that was not named count for the first."""
    paths = [session.input_path(file) for file in files]
    for file, path in zip(files, paths, strict=True):
        own = [d for d in findings if d.file == path or (path == paths[0] and d.file not in paths)]
        counts = _count(own)
        errors, warnings = counts[Severity.ERROR], counts[Severity.WARNING]
        yield {"file": file, "ok": is_good, "errors": errors, "warnings": warnings}


def _check(
    session: Session, files: Sequence[str], allow_unregistered: bool
) -> tuple[list[Diagnostic], ExitStatus, int]:
    """Returns all findings of one program, each with its file, the exit status for it, and the number of its files."""
    paths = [session.input_path(file) for file in files]
    path = paths[0]
    try:
        program, findings = session.check(path if len(paths) == 1 else paths, allow_unregistered=allow_unregistered)
    except DiagnosticError as error:
        program, findings = None, list(error.diagnostics)
    status = ExitStatus.YES
    if any(finding.is_error for finding in findings):
        # A file that cannot be opened has the status of its error.
        status = ExitStatus.NO if program is not None else DiagnosticError(*findings).status
    count = len(files) if program is None else max(len(files), session.api.file_count(program))
    return [finding.located(file=path) for finding in findings], status, count


def _check_pieces(
    session: Session, model: str, is_split: bool, expects: bool, allow_unregistered: bool
) -> tuple[list[Diagnostic], ExitStatus]:
    """Returns all findings of the programs of one text, and the exit status."""
    path = session.input_path(model)
    try:
        pieces = session.check_pieces(path, split=is_split, expects=expects, allow_unregistered=allow_unregistered)
        result = [d for _, wrong in pieces for d in wrong]
    except DiagnosticError as error:
        return list(error.diagnostics), error.status
    return result, ExitStatus.NO if any(finding.is_error for finding in result) else ExitStatus.YES


def _write(out: Terminal, files: Sequence[int], counts: dict[Severity, int], status: ExitStatus, fixable: int) -> None:
    """Writes the sums; `files` are the numbers of files of the programs."""
    errors, warnings = counts[Severity.ERROR], counts[Severity.WARNING]
    summary = ", ".join(
        part for part in (plural(errors, "error"), plural(warnings, "warning") if warnings else "") if part
    )
    checked = plural(sum(files), "file")
    if sum(files) > len(files):
        ranks = f" of {files[0]} ranks" if len(files) == 1 else ""
        checked = f"{plural(len(files), 'program')}{ranks}, {checked}"
    out.line(f"checked {checked}: {summary}", Style.GOOD if status is ExitStatus.YES else Style.ERROR)
    if fixable:
        out.line(f"{plural(fixable, 'finding')} can be fixed: cir check --fix")


command = check
