"""Pieces that rules build with: constants, vectors of dimensions, casts. What is the same is built once for a function.

ONNX takes positions and shapes as i64 values: a dimension that is an expression is computed from the shape of an input
that has its symbols, or of the value that brings a data-dependent size.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.operands import element_of, runs_of
from commonir.conversions.symbolic_dims import carrying, early, measuring, sum_of_products
from commonir.dialects import onnx
from commonir.ir.data import Scalar, data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, i64
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim, DimExpr, Floor, Max, Mod, Symbol, bounds
from commonir.symbolic.dims import Atom


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


def integers(context: Context, values: Sequence[int]) -> Value:
    """A constant vector of positions or sizes."""
    return constant(context, i64, (len(values),), values)


def cast(value: Value, element: ElementType) -> Value:
    """The value in an element type."""
    return value if element_of(value) is element else onnx.Cast(value, to=element).output


def vector(context: Context, dims: Sequence[Dim]) -> Value:
    """A vector of dimensions."""
    numbers = [d for d in dims if isinstance(d, int)]
    if len(numbers) == len(dims):
        return integers(context, numbers)
    key = ("vector", tuple(dims))
    if key not in context.memo:
        parts = [integers(context, r) if isinstance(r, tuple) else dimension(context, r) for r in runs_of(dims)]
        return _shared(context, key, parts[0] if len(parts) == 1 else early(context, onnx.Concat(tuple(parts), axis=0)))
    return context.memo[key]


def dimension(context: Context, dim: Dim) -> Value:
    """A dimension as a vector of one element.

    Raises: DiagnosticError (E0601) when no input has a symbol of it.
    """
    if isinstance(dim, int):
        return integers(context, (dim,))
    key = ("dimension", dim)
    return context.memo[key] if key in context.memo else _shared(context, key, _computed(context, dim))


def _shared(context: Context, key: object, value: Value) -> Value:
    """Keeps a value for all rules when it is there early enough for all."""
    if context.is_hoisted(value):
        context.memo[key] = value
    return value


def _computed(context: Context, dim: DimExpr) -> Value:
    carried = carrying(context, dim)
    if carried is not None:
        return size_at(context, *carried)
    return sum_of_products(
        dim,
        lambda atom: _atom(context, atom),
        lambda number: integers(context, (number,)),
        lambda a, b: early(context, onnx.Mul(a, b)),
        lambda a, b: early(context, onnx.Add(a, b)),
    )


# The first opset in which a part of a shape can be asked for.
_PARTS_OF_SHAPES = 15


def size_at(context: Context, value: Value, axis: int) -> Value:
    """The size of an axis as a vector of one element."""
    if opset_of(context) >= _PARTS_OF_SHAPES:
        return early(context, onnx.Shape(value, start=axis, end=axis + 1))
    whole = early(context, onnx.Shape(value))
    return early(context, onnx.Slice(whole, integers(context, (axis,)), integers(context, (axis + 1,))))


def opset_of(context: Context) -> int:
    """The version of the default operator set that is made."""
    return int(context.target.version.removeprefix("opset"))


def _atom(context: Context, atom: Atom) -> Value:
    match atom:
        case Symbol():
            return _symbol(context, atom)
        case Floor(num=num, den=den):
            return _quotient(context, num, den)
        case Mod(num=num, den=den):
            return early(context, onnx.Mod(dimension(context, num), dimension(context, den)))
        case Max(args=args):
            return early(context, onnx.Max(tuple([dimension(context, a) for a in args])))


def _quotient(context: Context, num: Dim, den: Dim) -> Value:
    dividend, divisor = dimension(context, num), dimension(context, den)
    if bounds(num)[0] < 0:
        # Division of integers drops the fraction: without the rest, which is not negative, there is none.
        rest = early(context, onnx.Mod(dividend, divisor))
        dividend = early(context, onnx.Sub(dividend, rest))
    return early(context, onnx.Div(dividend, divisor))


def _symbol(context: Context, expected: Symbol) -> Value:
    """A symbol, from an axis that has it or a linear expression of it as its size."""
    axis, factor, offset = measuring(context, expected)
    value = size_at(context, *axis)
    if offset:
        value = early(context, onnx.Sub(value, integers(context, (offset,))))
    return early(context, onnx.Div(value, integers(context, (factor,)))) if factor != 1 else value
