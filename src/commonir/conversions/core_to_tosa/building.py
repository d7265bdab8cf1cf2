"""Pieces that rules to tosa build with: constants, lists of sizes, operands of one rank."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.limits import DEFAULT_LIMITS
from commonir.conversions.operands import dims_of, element_of, rank_of, refused
from commonir.conversions.to_mlir.finish import constant_value
from commonir.dialects import core
from commonir.dialects.mlir import tosa
from commonir.dialects.mlir.tosa.base import shape_type
from commonir.ir.data import Data, Scalar, data_of, data_of_positions
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, index
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim


def constant(context: Context, data: Data) -> Value:
    """A constant tensor."""
    return context.hoist(tosa.Const.build({"values": constant_value(data).data}, [data.type]))


def numbers(context: Context, element: ElementType, shape: tuple[int, ...], values: Sequence[Scalar]) -> Value:
    """A constant of a few elements, the same one for all of a function."""
    key = ("numbers", element, shape, tuple(map(repr, values)))
    if key not in context.memo:
        context.memo[key] = constant(context, data_of(element, shape, values))
    return context.memo[key]


def all_positions(context: Context, element: ElementType, count: int) -> Value:
    """The numbers from 0 on. Raises: DiagnosticError (E0601) when they are more than a constant may have."""
    if element.size_bytes(count) > DEFAULT_LIMITS.max_tensor_bytes:
        raise refused(f"a constant cannot have {count:,} elements")
    key = ("positions", element, count)
    if key not in context.memo:
        context.memo[key] = constant(context, data_of_positions(element, (count,)))
    return context.memo[key]


def zero_point(context: Context, element: ElementType) -> Value:
    """The number that stands for zero, where that is zero."""
    return numbers(context, element, (1,), (0,))


def shape(context: Context, dims: Sequence[Dim]) -> Value:
    """A list of sizes, of which one may be an expression, which is what the others leave.

    Raises: DiagnosticError (E0601) when more are.
    """
    values = [d if isinstance(d, int) else -1 for d in dims]
    if values.count(-1) > 1:
        raise refused("tosa knows no shape in which more than one size is not a number")
    return _shape(context, values)


def fixed(context: Context, dims: Sequence[Dim]) -> Value:
    """A list of sizes or positions that are numbers. Raises: DiagnosticError (E0601) when one is not."""
    return _shape(context, known(dims))


def known(dims: Sequence[Dim | None]) -> list[int]:
    """Sizes that are numbers. Raises: DiagnosticError (E0601) when one is not."""
    result = [d for d in dims if isinstance(d, int)]
    if len(result) != len(dims):
        raise refused("tosa asks for sizes that are numbers here")
    return result


def _shape(context: Context, values: Sequence[int]) -> Value:
    key = ("shape", tuple(values))
    if key not in context.memo:
        extents = data_of(index, (len(values),), values)
        context.memo[key] = context.hoist(tosa.ConstShape.build({"values": extents}, [shape_type(len(values))]))
    return context.memo[key]


def reshaped(context: Context, x: Value, dims: Sequence[Dim]) -> Value:
    """The elements in row-major order under another shape."""
    if dims_of(x) == tuple(dims):
        return x
    built = {"input1": x, "shape": shape(context, dims)}
    return tosa.Reshape.build(built, [TensorType(element_of(x), tuple(dims))]).results[0]


def of_rank(context: Context, x: Value, rank: int) -> Value:
    """A tensor with new leading axes of size 1."""
    return reshaped(context, x, ((1,) * (rank - rank_of(x)) + dims_of(x)))


def channels_last(x: Value) -> Value:
    """An image with its channels behind the axes of space."""
    return core.transpose(x, (0, *range(2, rank_of(x)), 1))


def channels_first(x: Value) -> Value:
    """An image with its channels before the axes of space."""
    return core.transpose(x, (0, rank_of(x) - 1, *range(1, rank_of(x) - 1)))
