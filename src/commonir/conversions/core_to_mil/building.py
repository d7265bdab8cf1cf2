"""Pieces that rules build with: constants, vectors of dimensions, casts. What is the same is built once for a function.

MIL takes sizes and positions as i32. A dimension that is an expression is computed from the shape of an input that has
its symbols. Parameters of operations are literals here; `finish.py` makes constants of them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from commonir.conversions.operands import element_of, refused, shape_of
from commonir.conversions.symbolic_dims import VectorDims
from commonir.dialects.mil import elementwise, shape, slicing
from commonir.dialects.mil.operands import DataType
from commonir.dialects.mil.program import Const, Constant
from commonir.ir.data import Data, Scalar, computed_data, data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, boolean, f16, f32, i32, string
from commonir.ods import Op, known_data
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim, symbols

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

SMALLEST_HALF = 2.0**-24
"""The least positive number of half precision: what stands for constants that would become 0."""
DATA_TYPES: Mapping[ElementType, DataType] = {d.element: d for d in DataType}


def mil_element(element: ElementType) -> ElementType:
    """The element type of MIL in which values of an element type of the core are computed.

    Raises: DiagnosticError (E0601) when there is none.
    """
    if element in (f16, f32, boolean, i32, string):
        return element
    if element.is_float:
        return f32
    if element.is_integer:
        return i32
    raise refused(f"Core ML has no elements of type {element}")


def fixed_sizes(value: Value) -> tuple[int, ...] | None:
    """The sizes of a value when all of them are numbers."""
    shape = [d for d in shape_of(value) if isinstance(d, int)]
    return tuple(shape) if len(shape) == len(shape_of(value)) else None


# -- constants


def const(data: Data) -> Value:
    """A constant of given contents."""
    return Const(data).output


def small(context: Context, element: ElementType, shape: tuple[int, ...], values: Sequence[Scalar]) -> Value:
    """A constant of a few elements, once for the whole function."""
    key = ("constant", element, shape, tuple(map(repr, values)))
    if key not in context.memo:
        context.memo[key] = context.hoist(Const(data_of(element, shape, values)))
    return context.memo[key]


def scalar(context: Context, value: Scalar, like: Value) -> Value:
    """A constant of rank 0 with the element type of another value; no number becomes 0 by rounding."""
    element = element_of(like)
    return small(context, element, (), (representable(value, element),))


def representable(value: Scalar, element: ElementType) -> Scalar:
    """A number as one of a floating-point type: the least positive instead of 0, infinity beyond the range."""
    if element is not f16 or isinstance(value, bool | str):
        return value
    if value and abs(value) < SMALLEST_HALF:
        return SMALLEST_HALF if value > 0 else -SMALLEST_HALF
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def integers(context: Context, values: Sequence[int]) -> Value:
    """A constant vector of positions or sizes.

    Raises: DiagnosticError (E0601) when one does not fit into 32 bits.
    """
    for v in values:
        if not -(2**31) <= v < 2**31:
            raise refused(f"{v} does not fit into an integer of 32 bits")
    return small(context, i32, (len(values),), values)


def data_behind(value: Value | None) -> Data | None:
    """The contents of a constant. Compressed ones are decoded when they are first read."""
    return None if value is None else known_data(value)


def plain_data(value: Value | None) -> Data | None:
    """The contents of a constant that is not compressed, and may be replaced by another one."""
    return value.owner.val if value is not None and isinstance(value.owner, Constant) else None


def computed(element: ElementType, shape: tuple[int, ...], compute: Callable[[], Array]) -> Value:
    """A constant whose elements are computed when they are needed."""
    type = TensorType(element, shape)
    return const(computed_data(type, compute))


# -- casts


def cast(value: Value, element: ElementType) -> Value:
    """The value in an element type, itself when it already has it."""
    expected = mil_element(element)
    if element_of(value) is expected:
        return value
    kind = DATA_TYPES.get(expected)
    if kind is None or element_of(value) is string:
        raise refused(f"Core ML does not convert {element_of(value)} to {element}")
    return elementwise.Cast(value, kind).output


def without_truth(value: Value) -> Value:
    """Bools as numbers, for operations that take none; other values as they are."""
    return cast(value, i32) if element_of(value) is boolean else value


# -- dimensions


class _Dims(VectorDims):
    """Dims as vectors of one element, computed at the beginning of the function unless one is data-dependent."""

    add, subtract, multiply, divide = elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.FloorDiv
    integers = staticmethod(integers)

    def __init__(self, context: Context, dims: Sequence[Dim]) -> None:
        super().__init__(context)
        inputs = set(context.prologue.arguments)
        values = [context.dims.get(name) for d in dims for name in symbols(d)]
        self.is_hoisted = all(h is None or h[0] in inputs for h in values)

    def put(self, op: Op) -> Value:
        return self.context.hoist(op) if self.is_hoisted else op.result

    def shared(self, key: object, build: Callable[[], Value]) -> Value:
        return super().shared(key, build) if self.is_hoisted else build()

    def concatenated(self, parts: tuple[Value, ...]) -> Op:
        return shape.Concat(parts, 0)

    def axis(self, value: Value, axis: int) -> Value:
        whole = self.shared(("shape", value), lambda: self.put(shape.Shape(value)))
        begin, end = integers(self.context, (axis,)), integers(self.context, (axis + 1,))
        return self.put(slicing.SliceByIndex(whole, begin, end))

    def quotient(self, num: Dim, dividend: Value, divisor: Value) -> Value:  # noqa: ARG002  of any sign
        return self.put(elementwise.FloorDiv(dividend, divisor))

    def remainder(self, num: Dim, dividend: Value, divisor: Value) -> Value:  # noqa: ARG002  of any sign
        return self.put(elementwise.Mod(dividend, divisor))

    def largest(self, values: Sequence[Value]) -> Value:
        return reduce(lambda a, b: self.put(elementwise.Maximum(a, b)), values)


def vector(context: Context, dims: Sequence[Dim]) -> Value:
    """A vector of dimensions.

    Raises: DiagnosticError (E0601) when nothing has a symbol of one.
    """
    return _Dims(context, dims).vector(dims)


def dimension(context: Context, dim: Dim) -> Value:
    """A dimension as a vector of one element.

    Raises: DiagnosticError (E0601) when nothing has a symbol of it.
    """
    return _Dims(context, (dim,)).value(dim)


def size_along(context: Context, x: Value, axis: int) -> Value:
    """The size of one axis as a vector of one element, as far as possible from the inputs."""
    dim = shape_of(x)[axis]
    if dim is not None:
        return dimension(context, dim)
    begin, end = integers(context, (axis,)), integers(context, (axis + 1,))
    return slicing.SliceByIndex(shape.Shape(x).output, begin, end).output
