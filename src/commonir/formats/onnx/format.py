"""ONNX as a format."""

from __future__ import annotations

import os
from pathlib import Path

from commonir.base.collecting import no_collection
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

# Finding the format of another file asks this module, which must not load the dialect or protobuf for it.


class OnnxFormat(Format):
    """ONNX models."""

    name = "onnx"
    dialect = "onnx"
    suffixes = (".onnx",)
    has_external_data = True

    def recognize(self, content: FileContent) -> Recognition | None:
        if content.entries is not None:
            return None
        fields = content.fields
        if not fields.is_protobuf or not fields.may_be_onnx:
            return None
        return Recognition("ONNX model", Certainty.FIELDS, fields.missing_bytes)

    def read(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.onnx.read import read  # noqa: PLC0415  as above

        return read(path, dialects)

    def check(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.onnx.read import check  # noqa: PLC0415  as above

        return check(path, dialects)

    def verify(self, module: Module) -> list[Diagnostic]:
        from commonir.formats.onnx.verify import verify_model  # noqa: PLC0415  as above

        return verify_model(module)

    def loads(self, content: bytes, dialects: Dialects) -> Opened:
        from commonir.formats.onnx.read import loads  # noqa: PLC0415  as above

        try:
            return loads(content, dialects)
        except DiagnosticError as error:
            return None, list(error.diagnostics)

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        with no_collection():
            from commonir.formats.onnx.write import Where, write  # noqa: PLC0415  as above
            from commonir.formats.onnx.write import WriteOptions as ModelOptions  # noqa: PLC0415

            where: dict[bool | None, Where] = {None: "auto", True: "always", False: "never"}
            return write(module, path, ModelOptions(where[options.external_data]))

    def dumps(self, module: Module) -> bytes:
        from commonir.formats.onnx.write import dumps  # noqa: PLC0415  as above

        return dumps(module)

    def outline(self, module: Module) -> Outline:
        from commonir.formats.onnx.outline import outline  # noqa: PLC0415  as above

        return outline(module)


FORMAT = OnnxFormat()
