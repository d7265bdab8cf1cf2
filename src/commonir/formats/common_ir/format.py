"""Common IR as a format."""

from __future__ import annotations

import os
import re
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
from commonir.formats.protobuf.outer_fields import BYTES, GRAPH, VARINT
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load the dialect or protobuf for it.

# A document of Common IR is an object with one key, the name of a message.
_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:ModelProto|LibraryProto)"\s*:')
_JSON_SUFFIX = ".cir.json"
_SUFFIX = ".cir"
_OPSETS = 8
# The fields that Common IR adds to those of ONNX, in models as in graphs; those of Core ML begin after them.
_OWN_FIELDS = range(50, 200)
# A library has a number where a model has its domain; the number is required, or the version of the encoding is there.
_LIBRARY_FIELDS = {1: VARINT, 7: BYTES, 8: BYTES}
_LIBRARY_MARKS = {4: VARINT, 52: VARINT}
# The first draft of Common IR: a file is a graph, whose version is field 6.
_FIRST_DRAFT_FIELDS = {number: VARINT if number in (6, 7) else BYTES for number in range(1, 14)}
_FIRST_DRAFT_VERSION = 6


class CommonIRFormat(Format):
    """Common IR graphs and libraries, in binary form and as JSON."""

    name = "common_ir"
    dialect = "common_ir"
    suffixes = (".cir", ".cir.json")
    has_external_data = True

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

    def read(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.common_ir.read import read  # noqa: PLC0415  as above

        return read(path, dialects, options)

    def check(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.common_ir.read import check  # noqa: PLC0415  as above

        return check(path, dialects, options)

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        from commonir.formats.common_ir.write import write  # noqa: PLC0415  as above

        return write(module, path, options)

    def loads(self, content: bytes, dialects: Dialects) -> Opened:
        from commonir.formats.common_ir.read import loads  # noqa: PLC0415  as above

        return loads(content, dialects)

    def dumps(self, module: Module) -> bytes:
        from commonir.formats.common_ir.write import dumps  # noqa: PLC0415  as above

        return dumps(module)

    def outline(self, module: Module) -> Outline:
        from commonir.formats.common_ir.outline import outline  # noqa: PLC0415  as above

        return outline(module)

    def left_behind(self, module: Module, path: str | os.PathLike[str]) -> list[Diagnostic]:
        from commonir.formats.common_ir.write import left_behind  # noqa: PLC0415  as above

        return left_behind(module, path)


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
