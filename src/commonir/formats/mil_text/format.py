"""MIL text as a format: a program of its own, and the program of a compiled model."""

from __future__ import annotations

import os
from pathlib import Path

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.formats.content import FileContent
from commonir.formats.format import (
    DEFAULT_READ_OPTIONS,
    DEFAULT_WRITE_OPTIONS,
    Certainty,
    Format,
    Opened,
    Outline,
    ReadOptions,
    Recognition,
    WriteOptions,
)
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load the dialect for it.

_KEYWORD = "program"


class MilTextFormat(Format):
    """MIL text, and compiled Core ML models."""

    name = "mil"
    dialect = "mil"
    suffixes = (".mil",)

    def recognize(self, content: FileContent) -> Recognition | None:
        if content.entries is not None:
            is_bundle = "model.mil" in content.entries or "coremldata.bin" in content.entries
            return Recognition("compiled Core ML model", Certainty.MARK) if is_bundle else None
        code = content.code
        if code is None or not code.startswith(_KEYWORD) or not code[len(_KEYWORD) :].lstrip().startswith("("):
            return None
        return Recognition("MIL text", Certainty.SYNTAX)

    def read(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.mil_text.read import read_with_findings  # noqa: PLC0415  as above

        return read_with_findings(path, dialects)

    def check(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.mil_text.read import check  # noqa: PLC0415  as above

        return check(path, dialects)

    def verify(self, module: Module) -> list[Diagnostic]:
        from commonir.formats.coreml.verify import verify_model  # noqa: PLC0415  as above

        return verify_model(module)

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        from commonir.formats.mil_text.write import write  # noqa: PLC0415  as above

        return write(module, path)

    def outline(self, module: Module) -> Outline:
        from commonir.formats.coreml.outline import outline  # noqa: PLC0415  as above

        return outline(module)

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
