"""MIL text as a format: a program of its own, and the program of a compiled model."""

from __future__ import annotations

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.formats.content import FileContent
from commonir.formats.format import Certainty, Format, Recognition, deferred
from commonir.ir.module import Module

_KEYWORD = "program"


class MilTextFormat(Format):
    """MIL text, and compiled Core ML models."""

    name = "mil"
    dialect = "mil"
    suffixes = (".mil",)

    read = deferred(Format.read, "commonir.formats.mil_text.read:read_with_findings", 2)
    check = deferred(Format.check, "commonir.formats.mil_text.read:check", 2)
    verify = deferred(Format.verify, "commonir.formats.coreml.verify:verify_model")
    write = deferred(Format.write, "commonir.formats.mil_text.write:write", 2)
    outline = deferred(Format.outline, "commonir.formats.coreml.outline:outline")

    def recognize(self, content: FileContent) -> Recognition | None:
        if content.entries is not None:
            is_bundle = "model.mil" in content.entries or "coremldata.bin" in content.entries
            return Recognition("compiled Core ML model", Certainty.MARK) if is_bundle else None
        code = content.code
        if code is None or not code.startswith(_KEYWORD) or not code[len(_KEYWORD) :].lstrip().startswith("("):
            return None
        return Recognition("MIL text", Certainty.SYNTAX)

    def show(self, module: Module, elide: int | None) -> str:
        """Returns the text of a program, without the description of the model.

        Raises: NOT_IN_FORMAT for a pipeline.
        """
        from commonir.formats.mil_text.printer import print_program  # noqa: PLC0415  as above

        if module.modules:
            message = "a pipeline has no form as MIL text: it holds several programs"
            raise DiagnosticError(Diagnostic(NOT_IN_FORMAT, message))
        return print_program(module, elide=elide)


FORMAT = MilTextFormat()
