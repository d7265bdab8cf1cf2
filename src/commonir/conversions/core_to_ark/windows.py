"""Rules for convolutions and pooling: each point of all windows is a part of the padded tensor, a view of its memory.

The parts are laid side by side; a convolution is then a product of matrices, pooling a reduction.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from commonir.conversions.core_to_ark.context import ArkContext, Built, rule, shape_of
from commonir.conversions.core_to_core.transposed_convolutions import as_convolution
from commonir.conversions.operands import element_of, require_computable
from commonir.dialects import core
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.notation import limits
from commonir.rewrite.legalize import Mismatch

_MOST_POINTS = 1024
"""Points of a window up to which its parts are laid side by side."""

Pairs = Sequence[tuple[int, int]]


def _parts(
    x: Value, dims: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[Value]:
    """For each point of a window, in row-major order, the elements at it in all windows."""
    shape = shape_of(x)
    out: list[Value] = []
    for point in product(*map(range, window)):
        starts = [p * d for p, d in zip(point, dilations, strict=True)]
        stops = [at + (n - 1) * s + 1 for at, n, s in zip(starts, dims, strides, strict=True)]
        out.append(core.slice(x, (0, 0, *starts), (*shape[:2], *stops), (1, 1, *strides)))
    return out


def _padded(x: Value, pads: Pairs, reach: Sequence[int], fill: float) -> Value:
    """A tensor with what stands around it, as far as windows reach: they may end before that, or behind it."""
    low = tuple([first for first, _ in pads])
    high = tuple([n - dim - first for n, dim, first in zip(reach, shape_of(x)[2:], low, strict=True)])
    if not any((*low, *high)):
        return x
    return core.pad(x, (0, 0, *low), (0, 0, *high), value=fill)


def _reach(dims: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> list[int]:
    """The sizes that windows span together."""
    return [(n - 1) * s + (k - 1) * d + 1 for n, k, s, d in zip(dims, window, strides, dilations, strict=True)]


@rule(core.Conv)
def conv(op: core.Conv, context: ArkContext, x: Value, weight: Value, bias: Value | None) -> Built:
    """The weights times a matrix that has a column for each window, of each group of channels."""
    batch, filters, *shape = shape_of(op.y)
    _, channels, *window = shape_of(weight)
    ones = (1,) * len(window)
    strides, dilations = op.strides or ones, op.dilations or ones
    if prod(window) > _MOST_POINTS:
        return Mismatch(f"a window of {prod(window):,} points has too many")
    pads = op.pads or ((0, 0),) * len(window)
    x = _padded(x, pads, _reach(shape, window, strides, dilations), 0.0)
    parts = _parts(x, shape, window, strides, dilations)
    count, groups = prod(shape), op.groups
    laid = [core.reshape(p, (batch, groups, channels, 1, count)) for p in parts]
    columns = laid[0] if len(laid) == 1 else core.concat(tuple(laid), 3)
    matrix = core.reshape(columns, (batch, groups, channels * len(parts), count))
    weight = core.reshape(weight, (groups, filters // groups, channels * len(parts)))
    y = core.reshape(core.matmul(weight, matrix), (batch, filters, *shape))
    return y if bias is None else core.add(y, core.reshape(bias, (filters, *ones)))


@rule(core.ConvTranspose)
def conv_transpose(op: core.ConvTranspose, context: ArkContext, x: Value, weight: Value, bias: Value | None) -> Built:
    return as_convolution(op, x, weight, bias)


def _side_by_side(op: core.Pool, x: Value, fill: float) -> Value | Mismatch:
    """The points of windows along a new first axis."""
    shape, window = shape_of(op.y)[2:], op.kernel
    ones = (1,) * len(window)
    strides, dilations = op.strides or ones, op.dilations or ones
    if prod(window) > _MOST_POINTS:
        return Mismatch(f"a window of {prod(window):,} points has too many")
    pads = op.pads or ((0, 0),) * len(window)
    x = _padded(x, pads, _reach(shape, window, strides, dilations), fill)
    parts = [core.unsqueeze(p, (0,)) for p in _parts(x, shape, window, strides, dilations)]
    return parts[0] if len(parts) == 1 else core.concat(tuple(parts), 0)


@rule(core.MaxPool)
def max_pool(op: core.MaxPool, context: ArkContext, x: Value) -> Built:
    points = _side_by_side(op, x, float(limits(element_of(x))[0]))
    return points if isinstance(points, Mismatch) else core.reduce_max(points, (0,))


@rule(core.SumPool)
def sum_pool(op: core.SumPool, context: ArkContext, x: Value) -> Built:
    points = _side_by_side(op, x, 0.0)
    return points if isinstance(points, Mismatch) else core.reduce_sum(points, (0,))


@rule(core.AveragePool)
def average_pool(op: core.AveragePool, context: ArkContext, x: Value) -> Built:
    """The sum divided by the number of elements that a window covers."""
    points = _side_by_side(op, x, 0.0)
    if isinstance(points, Mismatch):
        return points
    element = element_of(x)
    counts = [_covered(op, axis) for axis in range(len(op.kernel))]
    require_computable(prod(map(len, counts)))
    numbers = [float(prod(c)) for c in product(*counts)]
    if 0.0 in numbers:
        return Mismatch("a window covers nothing, which is not a number")
    count = core.constant(data_of(element, tuple(map(len, counts)), numbers))
    return core.div(core.reduce_sum(points, (0,)), count)


def _covered(op: core.AveragePool, axis: int) -> list[int]:
    """For each window, how many of its points along an axis count."""
    dim, count = shape_of(op.x)[2 + axis], shape_of(op.y)[2 + axis]
    stride, dilation = (op.strides or (1,) * len(op.kernel))[axis], (op.dilations or (1,) * len(op.kernel))[axis]
    low, high = op.pads[axis] if op.pads else (0, 0)
    require_computable(count * op.kernel[axis])
    first, end = (0, dim + low + high) if op.count_include_pad else (low, dim + low)
    return [sum(first <= n * stride + k * dilation < end for k in range(op.kernel[axis])) for n in range(count)]
