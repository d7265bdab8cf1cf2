"""The outermost fields of a protobuf message, by which formats recognize their files.

It reads tags and lengths only, whatever the size of the file. Source: protobuf documentation, Encoding.
"""

from __future__ import annotations

import mmap

# More outermost fields than any real model has; a file of garbage ends long before.
_MAX_FIELDS = 100_000
_MAX_VARINT_BYTES = 10

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {FIXED64: 8, FIXED32: 4}

GRAPH = 7
"""The number of the field `graph` of an ONNX model."""

# The fields of `onnx.ModelProto` (onnx.proto).
_ONNX_FIELDS = {1: VARINT, 2: BYTES, 3: BYTES, 4: BYTES, 5: VARINT, 6: BYTES, GRAPH: BYTES, 8: BYTES, 14: BYTES}


class OuterFields:
    """The outermost fields of a message: wire type by number, and how the scan ended.

    `spans` are the places of the first field of each number that holds bytes.
    """

    __slots__ = ("is_protobuf", "missing_bytes", "spans", "wire_types")

    def __init__(self) -> None:
        self.spans: dict[int, tuple[int, int]] = {}
        self.wire_types: dict[int, int] = {}
        self.is_protobuf = True
        self.missing_bytes = 0

    def agree_with(self, known: dict[int, int]) -> bool:
        """Returns whether no field has another wire type than the one that is known for its number."""
        return all(known.get(number, wire) == wire for number, wire in self.wire_types.items())

    @property
    def may_be_onnx(self) -> bool:
        """Whether there is a graph, and all known fields are those of ONNX models; later versions may have others."""
        return GRAPH in self.wire_types and self.agree_with(_ONNX_FIELDS)


def outer_fields(content: bytes | mmap.mmap, start: int, stop: int) -> OuterFields:
    """Returns the fields of the message between two offsets."""
    result = OuterFields()
    at = start
    for _ in range(_MAX_FIELDS):
        if at == stop:
            return result
        tag, at = _varint(content, at, stop)
        number, wire = (tag >> 3, tag & 7) if tag is not None else (0, 0)
        if number == 0 or result.wire_types.setdefault(number, wire) != wire:
            break
        length = _FIXED_BYTES.get(wire, 0)
        if wire in (VARINT, BYTES):
            value, at = _varint(content, at, stop)
            if value is None:
                break
            length = value if wire == BYTES else 0
        elif not length:
            break
        end = at + length
        if end > stop:
            result.missing_bytes = end - stop
            return result
        if wire == BYTES:
            result.spans[number] = at, end
        at = end
    result.is_protobuf = False
    return result


def _varint(content: bytes | mmap.mmap, at: int, stop: int) -> tuple[int | None, int]:
    """Returns a number, None when there is none, and where it ends."""
    if at < stop and content[at] < 0x80:
        return content[at], at + 1
    value = 0
    for n in range(at, min(at + _MAX_VARINT_BYTES, stop)):
        byte = content[n]
        value |= (byte & 0x7F) << 7 * (n - at)
        if byte < 0x80:
            return value, n + 1
    return None, at
