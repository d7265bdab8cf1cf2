"""Bit casts between types, also of different widths, in terms of core operations."""

from __future__ import annotations

from commonir.dialects.core.base import rank_of, tensor_type
from commonir.dialects.core.constants import scalar, vector
from commonir.dialects.core.conversion import bit_cast
from commonir.dialects.core.elementwise import bitwise_and, bitwise_or, cast, shift_left, shift_right
from commonir.dialects.core.shape import slice_, squeeze, unsqueeze
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, unsigned_type
from commonir.notation import NotationError
from commonir.ods.operand_shapes import known_dims_of


def bits_as(x: Value, expected: ElementType) -> Value:
    """The same bits as numbers of another type; when widths differ there is one axis more or less at the end.

    That axis is as long as the wider number has narrower ones, of which the first has the lowest bits.
    Raises: NotationError for bools, which have one bit, and numbers of more.
    """
    source = tensor_type(x).element
    wide, narrow = source.width, expected.width
    if wide == narrow:
        return _bits_of_one_width(x, expected)
    if 1 in (wide, narrow):
        raise NotationError(f"bits of {source} cannot be taken as {expected}")
    return _narrower(x, expected) if wide > narrow else _wider(x, expected)


def _bits_of_one_width(x: Value, expected: ElementType) -> Value:
    return x if tensor_type(x).element is expected else bit_cast(x, expected)


def _narrower(x: Value, expected: ElementType) -> Value:
    source = tensor_type(x).element
    unsigned = unsigned_type(source.bits)
    whole = unsqueeze(_bits_of_one_width(x, unsigned), (rank_of(x),))
    shifts = vector(tuple(range(0, source.bits, expected.bits)), unsigned)
    mask = scalar((1 << expected.bits) - 1, unsigned)
    parts = cast(bitwise_and(shift_right(whole, shifts), mask), unsigned_type(expected.bits))
    return _bits_of_one_width(parts, expected)


def _wider(x: Value, expected: ElementType) -> Value:
    source, unsigned = tensor_type(x).element, unsigned_type(expected.bits)
    parts = cast(_bits_of_one_width(x, unsigned_type(source.bits)), unsigned)
    moved = shift_left(parts, vector(tuple(range(0, expected.bits, source.bits)), unsigned))
    rank = rank_of(moved)
    sizes = known_dims_of(moved)
    out: Value | None = None
    for n in range(expected.bits // source.bits):
        one = slice_(moved, (*(0,) * (rank - 1), n), (*sizes[:-1], n + 1), (1,) * rank)
        out = one if out is None else bitwise_or(out, one)
    assert out is not None
    return _bits_of_one_width(squeeze(out, (rank - 1,)), expected)
