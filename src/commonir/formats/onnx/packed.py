"""Numbers of a packed field, as they lie on the wire: decoded in pieces, so that memory is that of what comes out.

Numbers of fixed width are what a tensor holds already. Others are varints of up to ten bytes, of which the low 64 bits
count, or the low 32 bits in a field of 32-bit numbers, as protobuf reads them.

Limits: nothing larger than a piece is made beside the result. Source: Protocol Buffers documentation, encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PIECE_BYTES = 2**20
_MAX_VARINT_BYTES = 10
_CONTINUES = bytes(range(0x80, 0x100))


class PackedError(ValueError):
    """The bytes of a field are not numbers of its type."""


class OutOfRangeError(PackedError):
    """A number of a field is not an element of the tensor."""


def varint_count(pieces: Iterable[memoryview]) -> int:
    """How many varints are in the pieces of a field."""
    return sum(len(bytes(part).translate(None, _CONTINUES)) for piece in pieces for part in _parts(piece))


def check_varints(pieces: Iterable[memoryview], code: str, *, is_narrow: bool) -> None:
    """Decodes a field without keeping anything. Raises: PackedError."""
    for _ in _decoded(pieces, code, is_narrow=is_narrow):
        pass


def packed_varints(pieces: Iterable[memoryview], code: str, *, is_narrow: bool, wraps: bool = False) -> memoryview:
    """The numbers of a field as elements of a format of `struct`; `is_narrow` when the field has 32-bit numbers.

    Of numbers out of range the low bits count if it `wraps`.
    Raises: PackedError.
    """
    out = bytearray()
    for numbers in _decoded(pieces, code, is_narrow=is_narrow, wraps=wraps):
        out += numbers.tobytes()
    return memoryview(out)


def _decoded(
    pieces: Iterable[memoryview], code: str, *, is_narrow: bool, wraps: bool = False
) -> Iterator[NDArray[np.generic]]:
    # Heavy, and only loaded where a model has large tensors in this form.
    import numpy as np  # noqa: PLC0415

    expected = np.dtype(f"<{code}")
    for piece in pieces:
        for part in _whole_parts(piece):
            numbers = _varints(np.frombuffer(part, np.uint8)).view(np.int64 if expected.kind == "i" else np.uint64)
            if is_narrow:
                numbers = numbers.astype(np.int32 if expected.kind == "i" else np.uint32)
            bounds = np.iinfo(expected)
            if (
                not wraps
                and numbers.size
                and not (bounds.min <= int(numbers.min()) and int(numbers.max()) <= bounds.max)
            ):
                raise OutOfRangeError("a number is out of the range of its type")
            yield numbers.astype(expected)


def _varints(content: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The low 64 bits of the varints in some bytes, of which the last one ends a number."""
    import numpy as np  # noqa: PLC0415  as above

    ends = np.flatnonzero(content < 0x80)
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    widths = ends - starts + 1
    longest = int(widths.max()) if widths.size else 0
    if longest > _MAX_VARINT_BYTES:
        raise PackedError("a number has more than ten bytes")
    out = np.zeros(len(ends), np.uint64)
    for n in range(longest):
        has = widths > n
        out[has] |= (content[starts[has] + n] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * n)
    return out


def _parts(piece: memoryview) -> Iterator[memoryview]:
    return (piece[at : at + _PIECE_BYTES] for at in range(0, len(piece), _PIECE_BYTES))


def _whole_parts(piece: memoryview) -> Iterator[memoryview]:
    """Parts of a field that end where a number does. Raises: PackedError when the field does not."""
    at = 0
    while at < len(piece):
        end = min(at + _PIECE_BYTES, len(piece))
        while end > at and piece[end - 1] >= 0x80:
            end -= 1
        if end == at:
            raise PackedError("a number has no end")
        yield piece[at:end]
        at = end
