"""Core ML as a format."""

from __future__ import annotations

import os
from pathlib import Path

from commonir.base.diagnostics import Diagnostic
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
from commonir.formats.protobuf.outer_fields import BYTES, VARINT
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load the dialect for it.

# Fields of `CoreML.Specification.Model` (Model.proto): version, description, whether parameters can be updated.
_FIELDS = {1: VARINT, 2: BYTES, 10: VARINT}
# The numbers of `Model.Type`: what a model consists of.
_TYPES = range(200, 3001)


class CoreMLFormat(Format):
    """Core ML packages and model files."""

    name = "coreml"
    dialect = "mil"
    suffixes = (".mlpackage", ".mlmodel")

    def recognize(self, content: FileContent) -> Recognition | None:
        if content.entries is not None:
            is_package = "Manifest.json" in content.entries
            return Recognition("Core ML package", Certainty.MARK) if is_package else None
        fields = content.fields
        if not fields.is_protobuf or fields.may_be_onnx or not fields.agree_with(_FIELDS):
            return None
        if not any(number in _TYPES for number in fields.wire_types):
            return None
        return Recognition("Core ML model file", Certainty.FIELDS, fields.missing_bytes)

    def read(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.coreml.read import read_with_findings  # noqa: PLC0415  as above

        return read_with_findings(path, dialects)

    def check(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.coreml.read import check  # noqa: PLC0415  as above

        return check(path, dialects)

    def verify(self, module: Module) -> list[Diagnostic]:
        from commonir.formats.coreml.verify import verify_model  # noqa: PLC0415  as above

        return verify_model(module)

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        from commonir.formats.coreml.write import write  # noqa: PLC0415  as above

        return write(module, path)

    def outline(self, module: Module) -> Outline:
        from commonir.formats.coreml.outline import outline  # noqa: PLC0415  as above

        return outline(module)


FORMAT = CoreMLFormat()
