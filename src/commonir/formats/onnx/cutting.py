"""Large tensors are cut out of the bytes of a model before its message is parsed, so that they stay where they are.

The outer messages are walked on the wire, as far as a tensor can be inside; contents above a size are replaced by a
mark that identifies them: raw ones, and packed numbers in the field of their type. What remains is small whatever
the size of the file, also of one that is larger than a message may be. The mark stands where raw contents would and
begins with random bytes, so that no file can hold one.

Limits: `Limits.max_nesting_depth`. Source: Protocol Buffers documentation, encoding; onnx.proto of ONNX 1.23.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commonir.base.file_codes import NESTING_TOO_DEEP
from commonir.base.limits import Limits
from commonir.base.tuples import NamedTuple
from commonir.base.varints import varint
from commonir.formats.onnx.messages import ModelProto, TensorProto, create, field_number
from commonir.formats.protobuf.wire import BYTES, WireError, WireField, fields

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor
    from google.protobuf.message import Message

_TOKEN_BYTES, _INDEX_BYTES = 16, 4
# Contents below this are parsed with the message: a mark would save nothing.
_LEAST_BYTES = 1024
WHOLE_BYTES = 2**22
"""Files below this are parsed as they are."""

_RAW_DATA = field_number(TensorProto, "raw_data")
_CONTENTS = {
    field_number(TensorProto, name): name
    for name in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
}


class Piece(NamedTuple):
    """Where bytes lie. Units: bytes from the start of the file."""

    offset: int
    length: int


class CutPoint(NamedTuple):
    """Where contents lie: in which field of the tensor, and the pieces of it, of which raw contents have one."""

    field: str
    pieces: tuple[Piece, ...]

    @property
    def length(self) -> int:
        """The length of all pieces. Units: bytes."""
        return sum(p.length for p in self.pieces)

    @property
    def is_typed(self) -> bool:
        """Whether it is the field of a type, and not the one of raw contents."""
        return self.field != _CONTENTS[_RAW_DATA]


class Cut(NamedTuple):
    """A model without its large contents: the bytes that remain, the places of what is cut out, and what marks them."""

    content: bytes | memoryview
    places: tuple[CutPoint, ...]
    token: bytes

    def place_of(self, raw: bytes) -> CutPoint | None:
        """The place that raw contents stand for; None for contents that are there."""
        if not self.places or len(raw) != _TOKEN_BYTES + _INDEX_BYTES or not raw.startswith(self.token):
            return None
        return self.places[int.from_bytes(raw[_TOKEN_BYTES:], "little")]


def cut(buffer: memoryview, limits: Limits) -> Cut:
    """Cuts large contents out of the bytes of a model.

    Raises: WireError.
    """
    if len(buffer) < WHOLE_BYTES:
        return Cut(buffer, (), b"")
    cutting = _Cutting(buffer, limits)
    kind: type[Message] = type(create(ModelProto))  # pyright: ignore[reportAssignmentType]  made at run time
    model: Descriptor = kind.DESCRIPTOR  # pyright: ignore[reportAssignmentType]  either implementation will do
    pieces = cutting.message(model, 0, len(buffer), 1)
    if not cutting.places:
        return Cut(buffer, (), b"")
    return Cut(b"".join(pieces), tuple(cutting.places), cutting.token)


class _Cutting:
    def __init__(self, buffer: memoryview, limits: Limits) -> None:
        self.places: list[CutPoint] = []
        self.token = os.urandom(_TOKEN_BYTES)
        self._buffer = buffer
        self._deepest = limits.max_nesting_depth

    def message(self, kind: Descriptor, start: int, end: int, depth: int) -> list[bytes | memoryview]:
        """The pieces of a message that remain; one piece when nothing is cut out."""
        if depth > self._deepest:
            raise WireError(NESTING_TOO_DEEP, f"messages are nested deeper than {self._deepest} levels", start)
        if kind.name == TensorProto.__name__:
            return self._tensor(start, end)
        pieces: list[bytes | memoryview] = []
        kept_from = start
        for part in fields(self._buffer, start, end):
            if part.wire_type != BYTES or part.end - part.content < _LEAST_BYTES:
                continue
            field = kind.fields_by_number.get(part.number)
            if field is None or field.message_type is None:
                continue
            before = len(self.places)
            inner = self.message(field.message_type, part.content, part.end, depth + 1)
            if len(self.places) == before:
                continue
            pieces.append(self._buffer[kept_from : part.start])
            pieces.append(varint(part.number << 3 | BYTES) + varint(sum(map(len, inner))))
            pieces += inner
            kept_from = part.end
        pieces.append(self._buffer[kept_from:end])
        return pieces

    def _tensor(self, start: int, end: int) -> list[bytes | memoryview]:
        """Returns the pieces of a tensor that remain: all of it if it is small, or stored in several fields."""
        whole: list[bytes | memoryview] = [self._buffer[start:end]]
        rest: list[bytes | memoryview] = []
        values: list[WireField] = []
        for field in fields(self._buffer, start, end):
            if field.number not in _CONTENTS:
                rest.append(self._buffer[field.start : field.end])
            elif field.wire_type != BYTES or (values and field.number != values[0].number):
                return whole
            else:
                values.append(field)
        if not values or sum(f.end - f.content for f in values) < _LEAST_BYTES:
            return whole
        number = values[0].number
        name = _CONTENTS[number]
        if name == "string_data" or (number == _RAW_DATA and len(values) > 1):
            return whole
        mark = self.token + len(self.places).to_bytes(_INDEX_BYTES, "little")
        self.places.append(CutPoint(name, tuple([Piece(f.content, f.end - f.content) for f in values])))
        return [*rest, varint(_RAW_DATA << 3 | BYTES) + varint(len(mark)) + mark]
