"""`cir library`: writes a dialect as a Common IR library of operator declarations."""

from __future__ import annotations

import os

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import format_bytes
from commonir.cli.answer import Answer
from commonir.cli.options import completed, output_option
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Terminal
from commonir.cli.writing import check_is_one_file, check_output, copy_to_standard_output

FORMAT = "common_ir"
_SUFFIXES = (".cir", ".cir.json")


@verb("cir library mil -o mil.cir.json")
@click.argument("dialect", shell_complete=completed("dialects"))
@output_option()
def library(session: Session, dialect: str, *, output: str) -> Answer:
    """Write a dialect, such as core or mil, as a Common IR library with a declaration of each operation.

    A declaration has the types and shapes of operands and results, the attributes and the documentation. `cir ops`
    lists the dialects. A graph that imports `commonir:DIALECT` does not need this file.
    """
    check_output(session, output)
    if output != "-" and not output.lower().endswith(_SUFFIXES):
        message = f"'{output}' is not the name of a library file; the suffix must be {' or '.join(_SUFFIXES)}"
        help = f"write {os.path.splitext(output)[0]}.cir.json"
        raise DiagnosticError(Diagnostic(codes.CANNOT_WRITE, message, help=help))
    with session.progress(f"declaring {dialect}") as progress:
        built = session.api.library(dialect)
        progress.step(f"writing {output}")
        is_standard = output == "-"
        path = str(session.scratch_folder() / "library.cir.json") if is_standard else output
        files = session.api.save(built, path, format=FORMAT if is_standard else None)
    if is_standard:
        check_is_one_file(files)

    def write(out: Terminal) -> None:
        if is_standard:
            copy_to_standard_output(files[0])
            return
        for file in files:
            out.line(f"wrote {file.path} ({format_bytes(file.size_bytes)})")

    return Answer({"dialect": dialect, "output": output, "files": [file.to_json() for file in files]}, write)


command = library
