"""MIL text as a format: a program of its own, and the program of a compiled model."""

from __future__ import annotations

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.formats.coreml.format import outline
from commonir.formats.coreml.verify import verify_model
from commonir.formats.format import Format
from commonir.formats.mil_text.printer import print_program
from commonir.formats.mil_text.read import check, read_with_findings
from commonir.formats.mil_text.write import write
from commonir.formats.recognize import FileKind
from commonir.ir.module import Module


def show(module: Module, elide: int | None) -> str:
    """The text of a program for people to read, without the description of the model.

    Raises: NOT_IN_FORMAT for a pipeline.
    """
    if module.modules:
        message = "a pipeline has no form as MIL text: it holds several programs"
        raise DiagnosticError(Diagnostic(NOT_IN_FORMAT, message))
    return print_program(module, elide=elide)


FORMAT = Format(
    name="mil",
    dialect="mil",
    suffixes=(".mil",),
    kinds=frozenset({FileKind.MIL_TEXT, FileKind.COREML_BUNDLE}),
    read=read_with_findings,
    check=check,
    verify=verify_model,
    write=write,
    outline=outline,
    show=show,
)
