"""Writes a changed program and reports the changes; shared by several commands."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import format_bytes, plural
from commonir.cli.answer import Answer
from commonir.cli.options import DEFAULT_EXTERNAL_DATA, ExternalData
from commonir.cli.session import Session
from commonir.cli.terminal import Style, Terminal
from commonir.reports.port_tables import write_ports
from commonir.reports.rank_tables import by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir import Module
    from commonir.reports import FileEntry, JsonValue, Summary

STANDARD_OUTPUT = "-"


def check_output(session: Session, output: str) -> None:
    """Raises: UsageError when both the result and the JSON answer would go to standard output."""
    if output == STANDARD_OUTPUT and session.is_json:
        raise click.UsageError("'--json' and '-o -' both need standard output")


def written(
    session: Session,
    before: Module,
    after: Module,
    output: str,
    external: ExternalData = DEFAULT_EXTERNAL_DATA,
    **result: JsonValue,
) -> Answer:
    """Writes a program in its own format and returns the answer; `-` is standard output.

    Raises: DiagnosticError (E08xx).
    """
    summaries = session.api.summarize(before), session.api.summarize(after)
    return written_of(session, after, summaries, output, external, **result)


def written_of(
    session: Session,
    after: Module,
    summaries: tuple[Summary, Summary],
    output: str,
    external: ExternalData,
    **result: JsonValue,
) -> Answer:
    """Writes a program like `written`, with summaries of the original and the new program."""
    is_standard = output == STANDARD_OUTPUT
    _, files = save_output(session, after, output, session.api.writable_format(after), external)
    reported = {
        "output": output,
        "files": [file.to_json() for file in files],
        "before": summaries[0].to_json(),
        "after": summaries[1].to_json(),
        **result,
    }

    def write(out: Terminal) -> None:
        if is_standard:
            copy_to_standard_output(files[0])
        else:
            write_change(*summaries, files, out)

    return Answer(reported, write)


def save_output(
    session: Session, module: Module, output: str, format: str, external: ExternalData, *, is_stated: bool = False
) -> tuple[str, Sequence[FileEntry]]:
    """Writes a program to a path, or to a scratch file for standard output, and returns the path and the files.

    With `is_stated`, files have the given format whatever their suffix.
    Raises: DiagnosticError (E08xx).
    """
    is_standard = output == STANDARD_OUTPUT
    path = str(session.scratch_folder() / f"model.{format}") if is_standard else output
    where = external.where
    if is_standard and where is None and session.api.has_external_data(format):
        where = False
    files = session.api.save(
        module,
        path,
        format=format if is_standard or is_stated else None,
        external_data=where,
        external_threshold=external.threshold,
        findings=None if is_standard else session.findings,
    )
    if is_standard:
        check_is_one_file(files)
    return path, files


def write_change(before: Summary, after: Summary, files: Sequence[FileEntry], out: Terminal) -> None:
    """Writes the format, the interface and the number of operations before and after, and the written files."""
    title = before.title if before.title == after.title else f"{before.title} -> {after.title}"
    out.line(title, Style.STRONG)
    function = after.entry_function
    if function:
        write_ports("inputs", function.inputs, out)
        write_ports("outputs", function.outputs, out)
        write_ports("states", function.states, out)
    elif len(after.functions) > 1:
        inputs = [(f"{f.name}.{port.name}", port.type) for f in after.functions for port in f.inputs]
        outputs = [(f"{f.name}.{port.name}", port.type) for f in after.functions for port in f.outputs]
        for title, ports in (("inputs", inputs), ("outputs", outputs)):
            if ports:
                out.line(f"  {title}:")
                out.lines("".join(f"    {text}\n" for text in by_name(ports)))
    counts = [sum(summary.operations.values()) for summary in (before, after)]
    out.line(f"  operations: {counts[0]:,} -> {counts[1]:,}")
    for file in files:
        out.line(f"  wrote {file.path} ({format_bytes(file.size_bytes)})")


def check_is_one_file(files: Sequence[FileEntry]) -> None:
    """Raises: CANNOT_WRITE if the output is not a single file, as standard output requires."""
    if len(files) != 1 or Path(files[0].path).is_dir():
        message = f"the output is {plural(len(files), 'file')} or a folder, and standard output takes one file"
        raise DiagnosticError(Diagnostic(codes.CANNOT_WRITE, message, help="give a name with `-o`"))


def copy_to_standard_output(file: FileEntry) -> None:
    """Copies a written file to standard output."""
    with open(file.path, "rb") as stream:
        shutil.copyfileobj(stream, sys.stdout.buffer)
    sys.stdout.buffer.flush()
