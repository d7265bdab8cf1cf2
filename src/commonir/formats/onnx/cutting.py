"""Large tensors are cut out of the bytes of a model before its message is parsed, so that they stay where they are.

The outer messages are walked on the wire, as far as a tensor can be inside; raw contents above a size are replaced by a
mark that tells which they are. What remains is small whatever the size of the file, also of one that is larger than a
message may be. The mark begins with random bytes, so that no file can hold one.

Limits: `Limits.max_nesting_depth`. Source: Protocol Buffers documentation, encoding; onnx.proto of ONNX 1.23.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from commonir.base.file_codes import NESTING_TOO_DEEP
from commonir.base.limits import Limits
from commonir.base.varints import varint
from commonir.formats.onnx.messages import ModelProto, TensorProto, create, field_number
from commonir.formats.protobuf.wire import BYTES, WireError, fields

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor
    from google.protobuf.message import Message

_TOKEN_BYTES, _INDEX_BYTES = 16, 4
# Contents below this are parsed with the message: a mark would save nothing.
_LEAST_BYTES = 1024
# Files below this are parsed as they are.
_WHOLE_BYTES = 2**22
_RAW_DATA = field_number(TensorProto, "raw_data")


class Place(NamedTuple):
    """Where contents lie. Units: bytes from the start of the file."""

    offset: int
    length: int


class Cut(NamedTuple):
    """A model without its large contents: the bytes that remain, the places of what is cut out, and what marks them."""

    content: bytes | memoryview
    places: tuple[Place, ...]
    token: bytes

    def place_of(self, raw: bytes) -> Place | None:
        """The place that raw contents stand for; None for contents that are there."""
        if not self.places or len(raw) != _TOKEN_BYTES + _INDEX_BYTES or not raw.startswith(self.token):
            return None
        return self.places[int.from_bytes(raw[_TOKEN_BYTES:], "little")]


def cut(buffer: memoryview, limits: Limits) -> Cut:
    """Cuts large contents out of the bytes of a model.

    Raises: WireError.
    """
    if len(buffer) < _WHOLE_BYTES:
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
        self.places: list[Place] = []
        self.token = os.urandom(_TOKEN_BYTES)
        self._buffer = buffer
        self._deepest = limits.max_nesting_depth

    def message(self, kind: Descriptor, start: int, end: int, depth: int) -> list[bytes | memoryview]:
        """The pieces of a message that remain; one piece when nothing is cut out."""
        if depth > self._deepest:
            raise WireError(NESTING_TOO_DEEP, f"messages are nested deeper than {self._deepest} levels", start)
        pieces: list[bytes | memoryview] = []
        kept_from = start
        is_tensor = kind.name == TensorProto.__name__
        for found in fields(self._buffer, start, end):
            length = found.end - found.content
            if found.wire_type != BYTES or length < _LEAST_BYTES:
                continue
            inner: list[bytes | memoryview]
            if is_tensor and found.number == _RAW_DATA:
                inner = [self.token + len(self.places).to_bytes(_INDEX_BYTES, "little")]
                self.places.append(Place(found.content, length))
            else:
                field = kind.fields_by_number.get(found.number)
                if field is None or field.message_type is None:
                    continue
                before = len(self.places)
                inner = self.message(field.message_type, found.content, found.end, depth + 1)
                if len(self.places) == before:
                    continue
            pieces.append(self._buffer[kept_from : found.start])
            pieces.append(varint(found.number << 3 | BYTES) + varint(sum(map(len, inner))))
            pieces += inner
            kept_from = found.end
        pieces.append(self._buffer[kept_from:end])
        return pieces
