"""Common IR as a format."""

from __future__ import annotations

import re

from commonir.formats.content import FileContent
from commonir.formats.format import Certainty, Format, Recognition, deferred
from commonir.formats.protobuf.outer_fields import BYTES, GRAPH, VARINT

# A document of Common IR is an object with one key, the name of a message.
_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:ModelProto|LibraryProto)"\s*:')
_JSON_SUFFIX = ".cir.json"
_SUFFIX = ".cir"
_OPSETS = 8
# The fields that Common IR adds to those of ONNX, in models as in graphs; those of Core ML begin after them.
_OWN_FIELDS = range(50, 200)
# A library has a number where a model has its domain, and documentation, operators and functions where it has nothing.
_LIBRARY_FIELDS = {7: BYTES, 8: BYTES}
_LIBRARY_MARKS = {4: VARINT, 9: BYTES, 10: BYTES, 11: BYTES}
# The first draft of Common IR: a file is a graph, whose version is field 6.
_FIRST_DRAFT_FIELDS = {number: VARINT if number in (6, 7) else BYTES for number in range(1, 14)}
_FIRST_DRAFT_VERSION = 6


class CommonIRFormat(Format):
    """Common IR graphs and libraries, in binary form and as JSON."""

    name = "common_ir"
    dialect = "common_ir"
    suffixes = (".cir", ".cir.json")
    has_external_data = True

    read = deferred(Format.read, "commonir.formats.common_ir.read:read")
    check = deferred(Format.check, "commonir.formats.common_ir.read:check")
    write = deferred(Format.write, "commonir.formats.common_ir.write:write")
    loads = deferred(Format.loads, "commonir.formats.common_ir.read:loads")
    dumps = deferred(Format.dumps, "commonir.formats.common_ir.write:dumps")
    outline = deferred(Format.outline, "commonir.formats.common_ir.outline:outline")
    left_behind = deferred(Format.left_behind, "commonir.formats.common_ir.write:left_behind")

    def recognize(self, content: FileContent) -> Recognition | None:
        if content.entries is not None:
            return None
        if _JSON.match(content.head) or content.name.lower().endswith(_JSON_SUFFIX):
            return Recognition("Common IR file", Certainty.MARK)
        fields = content.fields
        is_extended = fields.is_protobuf and not fields.missing_bytes and _is_extended(content)
        is_named = content.name.lower().endswith(_SUFFIX)
        if is_extended or (is_named and fields.is_protobuf and fields.may_be_onnx):
            return Recognition("Common IR file", Certainty.SYNTAX, fields.missing_bytes)
        return None


def _is_extended(content: FileContent) -> bool:
    """Returns whether a complete message has what ONNX models do not have."""
    types = content.fields.wire_types
    is_library = types.items() >= _LIBRARY_FIELDS.items() and any(types.get(n) == w for n, w in _LIBRARY_MARKS.items())
    is_draft = types.get(1, types.get(2)) == BYTES and _FIRST_DRAFT_VERSION in types
    if is_library or (is_draft and types.items() <= _FIRST_DRAFT_FIELDS.items()):
        return True
    if GRAPH not in content.fields.spans or not content.fields.may_be_onnx:
        return False
    if any(number in _OWN_FIELDS for number in types):
        return True
    return _OPSETS not in types and any(
        number >= _OWN_FIELDS.start for number in content.inner_fields(GRAPH).wire_types
    )


FORMAT = CommonIRFormat()
