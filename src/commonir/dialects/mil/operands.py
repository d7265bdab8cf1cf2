"""Constraints that definitions of the mil dialect share: element types, ranks and shapes.

Source: MIL operation reference, type domains of parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Protocol

from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mil.base import MilOp
from commonir.ir.data import Scalar
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean, f16, f32, i8, i16, i32, u8, u16
from commonir.notation import Constraint, require
from commonir.ods import all_numbers, attr_types, by_version, constraint, element_type, operand, same_as
from commonir.ods.operand_shapes import ranked_shape
from commonir.symbolic import Dim

FLOATS = element_type(f16, f32)
NUMBERS = element_type(f16, f32, i32)
BASIC = element_type(f16, f32, i32, boolean)
"""The element types of an activation until iOS 16."""
SHORT = element_type(i8, u8, i16, u16)
"""The element types that iOS 17 adds."""
NUMBERS_OR_SHORT = by_version(CoreML5=NUMBERS, CoreML7=element_type(NUMBERS, SHORT))
"""The element types of gathered or sorted tensors, by version."""
ALL = element_type(BASIC, SHORT)
"""The element types of an activation from iOS 17."""
BASIC_OR_ALL = by_version(CoreML5=BASIC, CoreML7=ALL)
"""The element types of an activation, by version."""
OWN_FLOATS = by_version(CoreML5=same_as("T"), CoreML7=FLOATS)
"""The element types of a parameter: until iOS 16 that of the operand, from iOS 17 either floating-point type."""
OWN_NUMBERS = by_version(CoreML5=same_as("T"), CoreML7=NUMBERS)
"""The element types of a second factor: until iOS 16 that of the first."""
TRUTH = element_type(boolean)
POSITIONS = by_version(CoreML5=element_type(i32), CoreML7=element_type(i8, i16, i32))
"""The element types of sizes and bounds."""
WEIGHTS = element_type(all_numbers, boolean)

STRING = "!builtin.string[]"
"""The pattern of a string parameter."""


class DataType(Enum):
    """Element types as string parameters spell them."""

    FP16 = "fp16"
    FP32 = "fp32"
    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    BOOL = "bool"

    @property
    def element(self) -> ElementType:
        """The element type."""
        return _ELEMENTS[self]


_ELEMENTS = {
    DataType.FP16: f16,
    DataType.FP32: f32,
    DataType.INT8: i8,
    DataType.UINT8: u8,
    DataType.INT16: i16,
    DataType.UINT16: u16,
    DataType.INT32: i32,
    DataType.BOOL: boolean,
}


def _pairs_of(shape: tuple[int, ...], elements: tuple[Scalar, ...]) -> tuple[tuple[int, int], ...]:
    if len(shape) != 2 or shape[1] != 2:
        raise ValueError(f"expected a matrix of two columns, found shape {list(shape)}")
    return attr_types.pairs.coerce(tuple(zip(elements[::2], elements[1::2], strict=True)))


PAIRS: attr_types.AttrType[tuple[tuple[int, int], ...]] = attr_types.AttrType(
    attr_types.pairs.name,
    attr_types.pairs.coerce,
    attr_types.pairs.to_attribute,
    attr_types.pairs.from_attribute,
    _pairs_of,
)
"""Pairs that a file gives as a matrix of two columns."""


def element_of(value: Value) -> ElementType:
    """The element type of a tensor."""
    return tensor_type(value).element


def converted(value: Value, element: ElementType) -> Value:
    """The value in an element type, itself when it already has it."""
    return value if element_of(value) is element else core.cast(value, element)


def rank_of(value: Value) -> int:
    """The rank. Raises: NotKnownError when it is unknown."""
    return len(ranked_shape(value))


Condition = bool | tuple[Constraint, ...]
"""The answer of a constraint: whether it holds, or what must hold of symbolic dims."""


def same_size(a: Dim | None, b: Dim | None, what: str) -> Condition:
    """Returns the condition that two dims are equal; none when one is unknown."""
    return True if a is None or b is None else require(a, "==", b, what)


def all_hold(conditions: Iterable[Condition]) -> Condition:
    """Returns the condition that several conditions hold."""
    needed: tuple[Constraint, ...] = ()
    for c in conditions:
        if c is False:
            return False
        needed += c if isinstance(c, tuple) else ()
    return needed


def same_sizes(actual: Sequence[Dim | None], expected: Sequence[Dim | None], what: str) -> Condition:
    """Returns the condition that two shapes are equal as far as they are known."""
    pairs = enumerate(zip(actual, expected, strict=False))
    return len(actual) == len(expected) and all_hold([same_size(a, b, f"axis {n} of {what}") for n, (a, b) in pairs])


def same_but_for(actual: Sequence[Dim | None], expected: Sequence[Dim | None], axis: int, what: str) -> Condition:
    """The same but for one axis, which may be counted from the end."""
    if len(actual) != len(expected) or not is_axis(axis, len(expected)):
        return len(actual) == len(expected)
    n = axis % len(expected)
    return same_sizes((*actual[:n], None, *actual[n + 1 :]), expected, what)


def is_multiple(size: Dim | None, factor: int) -> bool:
    """Returns whether a size may be a multiple of a number: one that is not known may be."""
    return not isinstance(size, int) or size % factor == 0


def is_axis(axis: int, rank: int) -> bool:
    """Returns whether a position, negative ones counted from the end, is one of an axis."""
    return -rank <= axis < rank


def are_axes(axes: tuple[int, ...], rank: int) -> bool:
    """Returns whether positions, negative ones counted from the end, name different axes."""
    return all(is_axis(a, rank) for a in axes) and len({a % rank for a in axes}) == len(axes)


def every_axis(axes: tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Axes counted from the front, in ascending order; all of them when none are given."""
    return tuple(range(rank)) if axes is None else tuple(sorted(a % rank for a in axes))


class _WithAxis(Protocol):
    x: Value
    axis: int


class AlongAxis(MilOp):
    """Base of operations along an axis of x."""

    @constraint("C1")
    def _is_axis_of_x(self: _WithAxis) -> bool:
        """axis is one of the axes of x."""
        return is_axis(self.axis, rank_of(self.x))


class _WithAxes(Protocol):
    x: Value
    axes: tuple[int, ...] | None


class OverAxes(MilOp):
    """Base of operations over axes of x, all of them if none are named."""

    @constraint("C1")
    def _are_axes(self: _WithAxes) -> bool:
        """axes are different axes of x."""
        return self.axes is None or are_axes(self.axes, rank_of(self.x))


class OverSpatialAxes(MilOp):
    """Base of operations on images with one to three spatial axes."""

    x: Value = operand("T[n, c, s*]")

    @constraint("C1")
    def _has_spatial_axes(self) -> bool:
        """x has rank 3, 4 or 5."""
        return rank_of(self.x) in (3, 4, 5)
