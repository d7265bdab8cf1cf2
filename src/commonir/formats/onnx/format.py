"""ONNX as a format."""

from __future__ import annotations

from commonir.base.diagnostics import DiagnosticError
from commonir.formats.content import FileContent
from commonir.formats.format import Certainty, Format, Opened, Recognition, deferred
from commonir.ods import Dialects


class OnnxFormat(Format):
    """ONNX models."""

    name = "onnx"
    dialect = "onnx"
    suffixes = (".onnx",)
    has_external_data = True

    read = deferred(Format.read, "commonir.formats.onnx.read:read", 2)
    check = deferred(Format.check, "commonir.formats.onnx.read:check", 2)
    verify = deferred(Format.verify, "commonir.formats.onnx.verify:verify_model")
    write = deferred(Format.write, "commonir.formats.onnx.write:write")
    dumps = deferred(Format.dumps, "commonir.formats.onnx.write:dumps")
    outline = deferred(Format.outline, "commonir.formats.onnx.outline:outline")

    def recognize(self, content: FileContent) -> Recognition | None:
        if content.entries is not None:
            return None
        fields = content.fields
        if not fields.is_protobuf or not fields.may_be_onnx:
            return None
        return Recognition("ONNX model", Certainty.FIELDS, fields.missing_bytes)

    def loads(self, content: bytes, dialects: Dialects) -> Opened:
        from commonir.formats.onnx.read import loads  # noqa: PLC0415  as above

        try:
            return loads(content, dialects)
        except DiagnosticError as error:
            return None, list(error.diagnostics)


FORMAT = OnnxFormat()
