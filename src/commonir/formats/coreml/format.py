"""Core ML as a format."""

from __future__ import annotations

from commonir.formats.content import FileContent
from commonir.formats.format import Certainty, Format, Recognition, deferred
from commonir.formats.protobuf.outer_fields import BYTES, VARINT

# Fields of `CoreML.Specification.Model` (Model.proto): version, description, whether parameters can be updated.
_FIELDS = {1: VARINT, 2: BYTES, 10: VARINT}
# The numbers of `Model.Type`: what a model consists of.
_TYPES = range(200, 3001)


class CoreMLFormat(Format):
    """Core ML packages and model files."""

    name = "coreml"
    dialect = "mil"
    suffixes = (".mlpackage", ".mlmodel")

    read = deferred(Format.read, "commonir.formats.coreml.read:read_with_findings", 2)
    check = deferred(Format.check, "commonir.formats.coreml.read:check", 2)
    verify = deferred(Format.verify, "commonir.formats.coreml.verify:verify_model")
    write = deferred(Format.write, "commonir.formats.coreml.write:write", 2)
    outline = deferred(Format.outline, "commonir.formats.coreml.outline:outline")

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


FORMAT = CoreMLFormat()
