"""MIL text as a format: a program of its own, and the program of a compiled model."""

from __future__ import annotations

import os
from pathlib import Path

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.formats.coreml.format import outline, verify
from commonir.formats.format import Format
from commonir.formats.kinds import FileKind
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load the dialect for it.


def read(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads a program."""
    from commonir.formats.mil_text.read import read_with_findings  # noqa: PLC0415  as above

    return read_with_findings(path, dialects)


def check(path: str | os.PathLike[str], dialects: Dialects) -> tuple[Module | None, list[Diagnostic]]:
    """Reads and verifies a program."""
    from commonir.formats.mil_text.read import check as check_program  # noqa: PLC0415  as above

    return check_program(path, dialects)


def write(module: Module, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Writes a program."""
    from commonir.formats.mil_text.write import write as write_program  # noqa: PLC0415  as above

    return write_program(module, path)


def show(module: Module, elide: int | None) -> str:
    """The text of a program for people to read, without the description of the model.

    Raises: NOT_IN_FORMAT for a pipeline.
    """
    from commonir.formats.mil_text.printer import print_program  # noqa: PLC0415  as above

    if module.modules:
        message = "a pipeline has no form as MIL text: it holds several programs"
        raise DiagnosticError(Diagnostic(NOT_IN_FORMAT, message))
    return print_program(module, elide=elide)


FORMAT = Format(
    name="mil",
    dialect="mil",
    suffixes=(".mil",),
    kinds=frozenset({FileKind.MIL_TEXT, FileKind.COREML_BUNDLE}),
    read=read,
    check=check,
    verify=verify,
    write=write,
    outline=outline,
    show=show,
)
