"""Rules for sums of products and for windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.conversions.core_to_stablehlo.building import (
    body,
    broadcast,
    combining,
    converted,
    iota,
    numbers_of,
    reshaped,
    scalar,
    zero,
)
from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.dialects import core
from commonir.dialects.core.base import accumulator, tensor_type
from commonir.dialects.mlir import stablehlo as hlo
from commonir.dialects.mlir.stablehlo.base import ComparisonDirection
from commonir.dialects.mlir.stablehlo.dimension_numbers import ConvDims, DotDims
from commonir.ir.data import data_of
from commonir.ir.operation import Region, Value
from commonir.ir.types import ElementType, TensorType, i64
from commonir.notation import limits
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim

Pairs = Sequence[tuple[int, int]]


def dot(a: Value, b: Value, dims: DotDims, element: ElementType) -> Value:
    """Sums of products over axes."""
    left, right = dims_of(a), dims_of(b)
    shape = (
        *[left[n] for n in dims.lhs_batching_dimensions],
        *[d for n, d in enumerate(left) if n not in (*dims.lhs_batching_dimensions, *dims.lhs_contracting_dimensions)],
        *[d for n, d in enumerate(right) if n not in (*dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions)],
    )
    arguments = {"lhs": a, "rhs": b, "dot_dimension_numbers": dims}
    built = hlo.DotGeneral.build(arguments, [TensorType(accumulator(element), shape)]).results[0]
    return converted(built, element)


@rule(core.MatMul)
def matmul(op: core.MatMul, context: Context, a: Value, b: Value) -> Result:
    left, right = dims_of(a), dims_of(b)
    if len(left) == 1 or len(right) == 1:
        first = core.unsqueeze(a, (0,)) if len(left) == 1 else a
        second = core.unsqueeze(b, (1,)) if len(right) == 1 else b
        result = core.matmul(first, second, op.transpose_a and len(left) > 1, op.transpose_b and len(right) > 1)
        rank = rank_of(result)
        gone = [rank - 2] * (len(left) == 1) + [rank - 1] * (len(right) == 1)
        return core.squeeze(result, tuple(gone))
    batch = dims_of(op.y)[:-2]
    sums, rows = (len(left) - 2, len(left) - 1) if op.transpose_a else (len(left) - 1, len(left) - 2)
    if len(right) == 2 and rows < sums:
        # Matrices that share the second one are one matrix.
        return dot(a, b, DotDims((), (), (sums,), (1 if op.transpose_b else 0,)), element_of(op.y))
    x, y = [broadcast(context, v, (*batch, *dims_of(v)[-2:])) for v in (a, b)]
    count = len(batch)
    shared = tuple(range(count))
    dims = DotDims(shared, shared, (count + (0 if op.transpose_a else 1),), (count + (1 if op.transpose_b else 0),))
    return dot(x, y, dims, element_of(op.y))


@rule(core.Linear)
def linear(op: core.Linear, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    result = dot(x, weight, DotDims((), (), (rank_of(x) - 1,), (1,)), element_of(op.y))
    return result if bias is None else core.add(result, bias)


# -- convolutions


def _axes(rank: int) -> ConvDims:
    spatial = tuple(range(2, rank))
    return ConvDims(0, 1, spatial, 1, 0, spatial, 0, 1, spatial)


def _padding(pads: Pairs) -> object:
    return data_of(i64, (len(pads), 2), [n for p in pads for n in p])


@rule(core.Conv)
def conv(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    count = rank_of(x) - 2
    arguments = {
        "lhs": x,
        "rhs": weight,
        "window_strides": op.strides or (1,) * count,
        "padding": _padding(op.pads or ((0, 0),) * count),
        "rhs_dilation": op.dilations or (1,) * count,
        "dimension_numbers": _axes(rank_of(x)),
        "feature_group_count": op.groups,
        "batch_group_count": 1,
    }
    wide = tensor_type(op.y).with_element(accumulator(element_of(op.y)))
    result = converted(hlo.Convolution.build(arguments, [wide]).results[0], element_of(op.y))
    return result if bias is None else core.add(result, core.reshape(bias, (1, -1, *(1,) * count)))


@rule(core.ConvTranspose)
def conv_transpose(op: core.ConvTranspose, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    """A convolution of the input with its elements apart, with the kernel reversed."""
    count = rank_of(x) - 2
    kernel = numbers_of(dims_of(weight)[2:])
    if kernel is None:
        return Mismatch("a kernel whose size is an expression")
    strides, dilations = op.strides or (1,) * count, op.dilations or (1,) * count
    pads, extra = op.pads or ((0, 0),) * count, op.output_padding or (0,) * count
    channels, filters = dims_of(weight)[:2]
    groups, window = op.groups, dims_of(weight)[2:]
    apart = core.reshape(weight, (groups, channels // groups, filters, *window))
    turned = core.transpose(apart, (0, 2, 1, *range(3, 3 + count)))
    turned = core.reshape(turned, (groups * filters, channels // groups, *window))
    turned = core.reverse(turned, tuple(range(2, 2 + count))) if count else turned
    around = tuple(
        [
            ((k - 1) * d - low, (k - 1) * d - high + e)
            for k, d, (low, high), e in zip(kernel, dilations, pads, extra, strict=True)
        ]
    )
    arguments = {
        "lhs": x,
        "rhs": turned,
        "window_strides": (1,) * count,
        "padding": _padding(around),
        "lhs_dilation": tuple(strides),
        "rhs_dilation": tuple(dilations),
        "dimension_numbers": _axes(rank_of(x)),
        "feature_group_count": groups,
        "batch_group_count": 1,
    }
    wide = tensor_type(op.y).with_element(accumulator(element_of(op.y)))
    result = converted(hlo.Convolution.build(arguments, [wide]).results[0], element_of(op.y))
    return result if bias is None else core.add(result, core.reshape(bias, (1, -1, *(1,) * count)))


# -- windows


def windows(
    context: Context,
    xs: Sequence[Value],
    starts: Sequence[Value],
    numbers: tuple[Sequence[int], Sequence[int], Sequence[int], Pairs],
    shape: Sequence[Dim],
    reducer: Region,
) -> tuple[Value, ...]:
    """Windows of tensors combined by a program: sizes, strides, dilations and paddings are of all axes."""
    dims, strides, dilations, pads = numbers
    arguments = {
        "inputs": tuple(xs),
        "init_values": tuple(starts),
        "window_dimensions": tuple(dims),
        "window_strides": tuple(strides),
        "window_dilations": tuple(dilations),
        "padding": _padding(pads),
        "body": reducer,
    }
    types = [TensorType(element_of(x), tuple(shape)) for x in xs]
    return hlo.ReduceWindow.build(arguments, types).results


def _pool_numbers(op: core.Pool) -> tuple[Sequence[int], Sequence[int], Sequence[int], Pairs] | None:
    """The windows of pooling for all axes; with more after the last one where sizes are rounded up."""
    count = len(op.kernel)
    shape, out = numbers_of(dims_of(op.x)[2:]), numbers_of(dims_of(op.y)[2:])
    strides, dilations = op.strides or (1,) * count, op.dilations or (1,) * count
    pads = list(op.pads or ((0, 0),) * count)
    if op.ceil_mode:
        if shape is None or out is None:
            return None
        for n in range(count):
            needed = (out[n] - 1) * strides[n] + (op.kernel[n] - 1) * dilations[n] + 1
            pads[n] = pads[n][0], max(pads[n][1], needed - shape[n] - pads[n][0])
    first = ((0, 0),) * 2
    return (1, 1, *op.kernel), (1, 1, *strides), (1, 1, *dilations), (*first, *pads)


@rule(core.MaxPool)
def max_pool(op: core.MaxPool, context: Context, x: Value) -> Result:
    numbers = _pool_numbers(op)
    if numbers is None:
        return Mismatch("sizes that are rounded up are known in numbers only")
    start = _lowest(context, element_of(x))
    reducer = combining(element_of(x), hlo.Max)
    return windows(context, [x], [start], numbers, dims_of(op.y), reducer)


def _lowest(context: Context, element: ElementType) -> Value:
    return scalar(context, limits(element)[0], element)


@rule(core.SumPool)
def sum_pool(op: core.SumPool, context: Context, x: Value) -> Result:
    numbers = _pool_numbers(op)
    if numbers is None:
        return Mismatch("sizes that are rounded up are known in numbers only")
    return _summed(context, x, numbers, dims_of(op.y))


def _summed(
    context: Context, x: Value, numbers: tuple[Sequence[int], Sequence[int], Sequence[int], Pairs], shape: Sequence[Dim]
) -> Value:
    wide = accumulator(element_of(x))
    (summed,) = windows(context, [converted(x, wide)], [zero(context, wide)], numbers, shape, combining(wide, hlo.Add))
    return converted(summed, element_of(x))


@rule(core.AveragePool)
def average_pool(op: core.AveragePool, context: Context, x: Value) -> Result:
    numbers = _pool_numbers(op)
    if numbers is None:
        return Mismatch("sizes that are rounded up are known in numbers only")
    total = _summed(context, x, numbers, dims_of(op.y))
    declared = op.pads or ((0, 0),) * len(op.kernel)
    inside = all(p == (0, 0) for p in declared) and not op.ceil_mode
    if inside or (op.count_include_pad and not op.ceil_mode):
        count = 1
        for n in op.kernel:
            count *= n
        return core.div(total, core.splat(float(count), total))
    dims = (1, 1, *dims_of(x)[2:])
    ones = core.broadcast_to(core.splat(1.0, x), dims)
    if op.count_include_pad:
        # Elements of the padding that is stated count, those after it that only make windows whole do not.
        before, after = [(0, 0, *[p[n] for p in declared]) for n in (0, 1)]
        ones = core.pad(ones, before, after, core.PadMode.CONSTANT, 1.0)
        pads = [(lo - a, hi - b) for (lo, hi), (a, b) in zip(numbers[3], ((0, 0), (0, 0), *declared), strict=True)]
        numbers = (*numbers[:3], tuple(pads))
    counts = _summed(context, ones, numbers, (1, 1, *dims_of(op.y)[2:]))
    return core.div(total, counts)


@rule(core.MaxPoolWithPositions)
def max_pool_with_positions(op: core.MaxPoolWithPositions, context: Context, x: Value) -> Result:
    """The largest and the first place it is at, which go together."""
    numbers = _pool_numbers(op)
    spatial = dims_of(x)[2:]
    if numbers is None:
        return Mismatch("sizes that are rounded up are known in numbers only")
    count: Dim = 1
    for d in spatial:
        count = count * d
    places = broadcast(context, reshaped(context, iota(context, (count,), 0), (1, 1, *spatial)), dims_of(x))

    def reduce(xs: Sequence[Value], starts: Sequence[Value], reducer: Region) -> tuple[Value, ...]:
        return windows(context, xs, starts, numbers, dims_of(op.y), reducer)

    return extreme_and_place(
        (x, places), reduce, (_lowest(context, element_of(x)), scalar(context, (1 << 62), i64)), ComparisonDirection.GT
    )


def extreme_and_place(
    xs: tuple[Value, Value],
    reduce: Callable[[Sequence[Value], Sequence[Value], Region], tuple[Value, ...]],
    starts: tuple[Value, Value],
    direction: ComparisonDirection,
) -> tuple[Value, ...]:
    """The largest or smallest element and the least place of those that are equal to it."""
    elements = [element_of(x) for x in xs]

    def choose(a: Value, at: Value, b: Value, place: Value) -> Sequence[Value]:
        wins = hlo.Compare(a, b, direction).result_
        same = hlo.And(
            hlo.Compare(a, b, ComparisonDirection.EQ).result_, hlo.Compare(at, place, ComparisonDirection.LT).result_
        ).result_
        first = hlo.Or(wins, same).result_
        return hlo.Select(first, a, b).result_, hlo.Select(first, at, place).result_

    return reduce(xs, starts, body([*elements, *elements], choose))
