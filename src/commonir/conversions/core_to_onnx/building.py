"""Pieces that rules build with: constants, vectors of dimensions, casts. What is the same is built once for a function.

ONNX takes positions and shapes as i64 values: a dimension that is an expression is computed from the shape of an input
that has its symbols, or of the value that brings a data-dependent size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from commonir.conversions.operands import element_of, require_computable
from commonir.conversions.symbolic_dims import VectorDims, early
from commonir.dialects import onnx
from commonir.ir.data import Scalar, SplatData, data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, boolean, i64
from commonir.ods import Op
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim, bounds


def constant(context: Context, element: ElementType, shape: tuple[int, ...], values: Sequence[Scalar]) -> Value:
    """A constant of a few elements."""
    key = ("constant", element, shape, tuple(map(repr, values)))
    if key not in context.memo:
        context.memo[key] = context.hoist(onnx.Initializer(data_of(element, shape, values)))
    return context.memo[key]


def scalar(context: Context, value: Scalar, like: Value) -> Value:
    """A constant of rank 0 with the element type of another value."""
    return constant(context, element_of(like), (), (value,))


def filled(context: Context, value: float, like: Value, count: int) -> Value:
    """A constant vector of one value."""
    return constant(context, element_of(like), (count,), (value,) * count)


def splat(context: Context, element: ElementType, shape: tuple[int, ...], value: Scalar) -> Value:
    """A constant of equal elements.

    Raises: DiagnosticError (E0601) for one that is too large.
    """
    require_computable(prod(shape))
    key = ("splat", element, shape, repr(value))
    if key not in context.memo:
        data = SplatData(TensorType(element, shape), bytes(data_of(element, (1,), (value,)).buffer()))
        context.memo[key] = context.hoist(onnx.Initializer(data))
    return context.memo[key]


def integers(context: Context, values: Sequence[int]) -> Value:
    """A constant vector of positions or sizes."""
    return constant(context, i64, (len(values),), values)


def cast(value: Value, element: ElementType) -> Value:
    """The value in an element type."""
    return value if element_of(value) is element else onnx.Cast(value, to=element).output


def vector(context: Context, dims: Sequence[Dim]) -> Value:
    """A vector of dimensions."""
    return _Dims(context).vector(dims)


def dimension(context: Context, dim: Dim) -> Value:
    """A dimension as a vector of one element.

    Raises: DiagnosticError (E0601) when no input has a symbol of it.
    """
    return _Dims(context).value(dim)


class _Dims(VectorDims):
    add, subtract, multiply, divide = onnx.Add, onnx.Sub, onnx.Mul, onnx.Div
    integers = staticmethod(integers)

    def concatenated(self, parts: tuple[Value, ...]) -> Op:
        return onnx.Concat(parts, axis=0)

    def axis(self, value: Value, axis: int) -> Value:
        return size_at(self.context, value, axis)

    def quotient(self, num: Dim, dividend: Value, divisor: Value) -> Value:
        if bounds(num)[0] < 0:
            # Division of integers drops the fraction: without the rest, which is not negative, there is none.
            dividend = self.put(onnx.Sub(dividend, self.remainder(num, dividend, divisor)))
        return self.put(onnx.Div(dividend, divisor))

    def remainder(self, num: Dim, dividend: Value, divisor: Value) -> Value:  # noqa: ARG002  of any sign
        if opset_of(self.context) >= _REMAINDERS:
            return self.put(onnx.Mod(dividend, divisor))
        # The first remainder has the sign of the dividend.
        rest = self.put(onnx.Add(self._rest(dividend, divisor), divisor))
        return self._rest(rest, divisor)

    def _rest(self, dividend: Value, divisor: Value) -> Value:
        multiple = self.put(onnx.Mul(self.put(onnx.Div(dividend, divisor)), divisor))
        return self.put(onnx.Sub(dividend, multiple))

    def largest(self, values: Sequence[Value]) -> Value:
        if opset_of(self.context) >= _LARGEST_OF_INTEGERS:
            return self.put(onnx.Max(tuple(values)))
        return reduce(lambda a, b: self.put(onnx.Where(self.put(onnx.Greater(a, b)), a, b)), values)


# The first opsets in which a part of a shape can be asked for, and that have remainders, and maxima of integers.
_PARTS_OF_SHAPES, _REMAINDERS, _LARGEST_OF_INTEGERS = 15, 10, 12


def size_at(context: Context, value: Value, axis: int) -> Value:
    """The size of an axis as a vector of one element."""
    if opset_of(context) >= _PARTS_OF_SHAPES:
        return early(context, onnx.Shape(value, start=axis, end=axis + 1))
    whole = early(context, onnx.Shape(value))
    return early(context, onnx.Slice(whole, integers(context, (axis,)), integers(context, (axis + 1,))))


# The first opset with a range.
_RANGES = 11


def positions_below(context: Context, count: Value) -> Value:
    """The numbers from 0 on, as many as a vector of one element says, as i64."""
    if opset_of(context) >= _RANGES:
        limit = onnx.Squeeze(count, integers(context, (0,))).squeezed
        return onnx.Range(constant(context, i64, (), (0,)), limit, constant(context, i64, (), (1,))).output
    ones = onnx.ConstantOfShape(count, value=data_of(boolean, (1,), (True,))).output
    return onnx.Squeeze(onnx.NonZero(ones).Y, integers(context, (0,))).squeezed


def opset_of(context: Context) -> int:
    """The version of the default operator set that is made."""
    return int(context.target.version.removeprefix("opset"))
