"""The text form of ONNX models as a format, read and written through their messages.

Limits: `Limits.max_text_bytes` for reading, `Limits.max_immediate_elements` for writing.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from commonir.base.codes import OUTPUT_TOO_LARGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE, LIMIT_EXCEEDED, MALFORMED_ONNX_TEXT
from commonir.base.files import atomic_file
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.safe_paths import open_regular
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
from commonir.formats.onnx.format import FORMAT as ONNX
from commonir.ir.module import Module
from commonir.ods import Dialects

# A model begins with what it states of itself, after comments.
_BEGINNING = re.compile(r"(?:\s|#[^\n]*\n)*<\s*(?:ir_version|opset_import|producer_name)\s*:")
_SUFFIX = ".onnxtxt"


class OnnxTextFormat(Format):
    """ONNX models in text form."""

    name = "onnxtxt"
    dialect = "onnx"
    suffixes = (_SUFFIX,)

    def recognize(self, content: FileContent) -> Recognition | None:
        # Names in it may have any characters.
        if content.text is not None and _BEGINNING.match(content.text):
            return Recognition("ONNX model in text form", Certainty.SYNTAX)
        is_named = content.code is not None and content.name.endswith(_SUFFIX)
        return Recognition("ONNX model in text form", Certainty.SUFFIX) if is_named else None

    def read(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        file = os.fspath(path)
        limit = DEFAULT_LIMITS.max_text_bytes
        try:
            with open_regular(path) as stream:
                content = stream.read(limit + 1)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            return None, [Diagnostic(FILE_NOT_ACCESSIBLE, f"the system refused: {reason}", file=file)]
        return _read(content, dialects, file)

    def loads(self, content: bytes, dialects: Dialects) -> Opened:
        return _read(content, dialects, "")

    def verify(self, module: Module) -> list[Diagnostic]:
        return ONNX.verify(module)

    def dumps(self, module: Module) -> bytes:
        """Returns the text of a model.

        Raises: NOT_IN_FORMAT; OUTPUT_TOO_LARGE for more elements than text is good for.
        """
        from commonir.formats.onnx.write import message_of  # noqa: PLC0415  as below
        from commonir.formats.onnx_text.printer import print_model  # noqa: PLC0415

        count = sum(data.count for op in module.nested() if (data := op.constant_data()) is not None)
        if count > DEFAULT_LIMITS.max_immediate_elements:
            limit = DEFAULT_LIMITS.max_immediate_elements
            message = f"the constants have {count:,} elements, and a text takes {limit:,}"
            raise DiagnosticError(Diagnostic(OUTPUT_TOO_LARGE, message, help="write an .onnx file"))
        return print_model(message_of(module)).encode("utf-8", "surrogateescape")

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        content = self.dumps(module)
        with atomic_file(path) as stream:
            stream.write(content)
        return (Path(path),)

    def outline(self, module: Module) -> Outline:
        return ONNX.outline(module)


def _read(content: bytes, dialects: Dialects, file: str) -> Opened:
    # Finding the format of another file asks this module, which must not load protobuf for it.
    from commonir.formats.onnx.read import decoded  # noqa: PLC0415
    from commonir.formats.onnx_text.parser import parse_model  # noqa: PLC0415

    if len(content) > DEFAULT_LIMITS.max_text_bytes:
        text = f"the text has more than {DEFAULT_LIMITS.max_text_bytes:,} bytes"
        return None, [Diagnostic(LIMIT_EXCEEDED, text, file=file)]
    try:
        message = parse_model(content.decode("utf-8-sig"), file=file)
        return decoded(message, dialects, file)
    except UnicodeDecodeError as error:
        return None, [Diagnostic(MALFORMED_ONNX_TEXT, f"byte {error.start} of the text is not UTF-8", file=file)]
    except DiagnosticError as error:
        return None, [d.located(file=file) for d in error.diagnostics]


FORMAT = OnnxTextFormat()
