"""Rules for reading and replacing at positions that are data, and for order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.conversions.core_to_stablehlo.building import (
    body,
    broadcast,
    combining,
    compared,
    converted,
    integers,
    iota,
    like,
    numbers_of,
    part,
    placed,
    reshaped,
    vector,
)
from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.conversions.symbolic_dims import set_dim
from commonir.dialects import core
from commonir.dialects.core.base import axis_of, tensor_type
from commonir.dialects.mlir import stablehlo as hlo
from commonir.dialects.mlir.stablehlo.base import ComparisonDirection
from commonir.dialects.mlir.stablehlo.dimension_numbers import GatherDims, ScatterDims
from commonir.ir.operation import Region, Value
from commonir.ir.types import ElementType, TensorType, boolean, i32, i64
from commonir.ods import Op
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim, symbol


def from_start(context: Context, positions: Value, dim: Dim) -> Value:
    """Positions as 64-bit integers, those below zero counted from the end."""
    wide = converted(positions, i64)
    if element_of(positions).kind == "uint":
        return wide
    is_negative = compared(wide, like(context, 0, wide), ComparisonDirection.LT)
    whole = broadcast(context, reshaped(context, vector(context, (dim,)), ()), dims_of(wide))
    return hlo.Select(is_negative, hlo.Add(wide, whole).result_, wide).result_


@rule(core.Gather)
def gather(op: core.Gather, context: Context, x: Value, positions: Value) -> Result:
    shape, places = dims_of(x), dims_of(positions)
    axis = axis_of(op.axis, len(shape))
    if 0 in places or 0 in shape:
        return core.broadcast_to(core.reshape(core.splat(0, op.x), ()), dims_of(op.y))
    wide = from_start(context, positions, shape[axis])
    rest = [n for n in range(len(shape)) if n != axis]
    window = tuple([n if n < axis else n - 1 + len(places) for n in rest])
    dims = GatherDims(window, (axis,), (), (), (axis,), len(places))
    parts = [1 if n == axis else d for n, d in enumerate(shape)]
    return _gathered(context, x, wide, dims, parts, dims_of(op.y))


def _gathered(
    context: Context, x: Value, positions: Value, dims: GatherDims, parts: Sequence[Dim], shape: Sequence[Dim]
) -> Value:
    type = TensorType(element_of(x), tuple(shape))
    known = numbers_of(parts)
    if known is not None:
        arguments = {"operand_": x, "start_indices": positions, "dimension_numbers": dims, "slice_sizes": known}
        return hlo.Gather.build(arguments, [type]).results[0]
    positions_ = {
        "operand_": x,
        "start_indices": positions,
        "slice_sizes": vector(context, parts),
        "dimension_numbers": dims,
    }
    return hlo.DynamicGather.build(positions_, [type]).results[0]


@rule(core.GatherNd)
def gather_nd(op: core.GatherNd, context: Context, x: Value, positions: Value) -> Result:
    shape, places, batch = dims_of(x), dims_of(positions), op.batch
    depth = places[-1]
    if not isinstance(depth, int):
        return Mismatch("the number of positions in a row is not known before running")
    if 0 in places or 0 in shape:
        if depth == 0 and 0 not in shape:
            return core.broadcast_to(
                core.reshape(x, (*shape[:batch], *(1,) * (len(places) - 1 - batch), *shape[batch:])), dims_of(op.y)
            )
        return core.broadcast_to(core.reshape(core.splat(0, op.x), ()), dims_of(op.y))
    at = tuple(range(batch, batch + depth))
    wide = _rows(context, positions, [shape[d] for d in at])
    rest = [n for n in range(len(shape)) if n >= batch + depth]
    lead = len(places) - 1
    window = tuple(range(lead, lead + len(rest)))
    shared = tuple(range(batch))
    dims = GatherDims(window, at, shared, shared, at, lead)
    parts = [1 if n < batch + depth else d for n, d in enumerate(shape)]
    return _gathered(context, x, wide, dims, parts, dims_of(op.y))


def _rows(context: Context, positions: Value, dims: Sequence[Dim]) -> Value:
    """Rows of positions as 64-bit integers, those below zero counted from the ends of axes."""
    wide = converted(positions, i64)
    if element_of(positions).kind == "uint":
        return wide
    whole = broadcast(context, vector(context, dims), dims_of(wide))
    is_negative = compared(wide, like(context, 0, wide), ComparisonDirection.LT)
    return hlo.Select(is_negative, hlo.Add(wide, whole).result_, wide).result_


@rule(core.GatherElements)
def gather_elements(op: core.GatherElements, context: Context, x: Value, positions: Value) -> Result:
    return core.gather_nd(x, _full_rows(positions, axis_of(op.axis, rank_of(x))))


def _full_rows(positions: Value, axis: int) -> Value:
    """The whole position of each element, of which one number is given."""
    shape = dims_of(positions)
    rank = len(shape)
    columns = [
        core.unsqueeze(core.cast(positions, i64) if n == axis else core.iota(shape, n), (rank,)) for n in range(rank)
    ]
    return core.concat(tuple(columns), rank) if rank > 1 else columns[0]


# -- replacing

_COMBINED: dict[core.Reduction, Callable[[Value, Value], Op]] = {
    core.Reduction.ADD: hlo.Add,
    core.Reduction.SUB: hlo.Subtract,
    core.Reduction.MUL: hlo.Mul,
    core.Reduction.DIV: hlo.Div,
    core.Reduction.MAX: hlo.Max,
    core.Reduction.MIN: hlo.Min,
}


def _second(old: Value, new: Value) -> Sequence[Value]:
    del old
    return (new,)


def _update(element: ElementType, how: core.Reduction) -> Region:
    if how is core.Reduction.NONE:
        return body([element, element], _second)
    return combining(element, _COMBINED[how])


@rule(core.ScatterNd)
def scatter_nd(op: core.ScatterNd, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    shape, places = dims_of(x), dims_of(positions)
    depth, lead = places[-1], len(places) - 1
    if not isinstance(depth, int):
        return Mismatch("the number of positions in a row is not known before running")
    if 0 in places[:-1] or 0 in shape:
        return x
    at = tuple(range(depth))
    dims = ScatterDims(tuple(range(lead, lead + len(shape) - depth)), at, (), (), at, lead)
    arguments = {
        "inputs": (x,),
        "scatter_indices": _rows(context, positions, shape[:depth]),
        "updates": (updates,),
        "scatter_dimension_numbers": dims,
        "update_computation": _update(element_of(x), op.reduction),
    }
    return hlo.Scatter.build(arguments, [op.y.type]).results[0]


@rule(core.ScatterElements)
def scatter_elements(op: core.ScatterElements, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    return core.scatter_nd(x, _full_rows(positions, axis_of(op.axis, rank_of(x))), updates, op.reduction)


# -- order


def _sorted(context: Context, keys: Value, axis: int, *, descending: bool) -> tuple[Value, Value]:
    """Elements in order, NaN as the largest, and where they were; equal ones stay in their order."""
    element = element_of(keys)
    direction = ComparisonDirection.GT if descending else ComparisonDirection.LT
    # Compilers that know the largest elements by this form give their places in 32 bits.
    places = TensorType(i32, dims_of(keys))
    positions = iota(context, dims_of(keys), axis, i32)

    def before(a: Value, b: Value, i: Value, j: Value) -> Sequence[Value]:
        # Not every compiler keeps equal elements in their order: their places decide.
        first, same = compared(a, b, direction), compared(a, b, ComparisonDirection.EQ)
        if element.is_float:
            larger, smaller = (a, b) if descending else (b, a)
            nan, other = [compared(v, v, ComparisonDirection.NE) for v in (larger, smaller)]
            first = hlo.Or(first, hlo.And(nan, hlo.Not(other).result_).result_).result_
            same = hlo.Or(same, hlo.And(nan, other).result_).result_
        earlier = compared(i, j, ComparisonDirection.LT)
        return (hlo.Or(first, hlo.And(same, earlier).result_).result_,)

    arguments = {
        "inputs": (keys, positions),
        "dimension": axis,
        "is_stable": True,
        "comparator": body([element, element, i32, i32], before),
    }
    values, order = hlo.Sort.build(arguments, [keys.type, places]).results
    return values, converted(order, i64)


@rule(core.ArgSort)
def argsort(op: core.ArgSort, context: Context, x: Value) -> Result:
    return _sorted(context, x, axis_of(op.axis, rank_of(x)), descending=op.descending)[1]


@rule(core.TopK)
def top_k(op: core.TopK, context: Context, x: Value) -> Result:
    shape = dims_of(x)
    axis = axis_of(op.axis, len(shape))
    stops = [op.k if n == axis else d for n, d in enumerate(shape)]
    result = _sorted(context, x, axis, descending=op.largest)
    return tuple([part(context, v, (0,) * len(shape), stops, (1,) * len(shape)) for v in result])


@rule(core.NonZero)
def non_zero(op: core.NonZero, context: Context, x: Value) -> Result:
    """Positions of all elements, sorted so that those of elements that are not zero come first, and cut."""
    shape = numbers_of(dims_of(x))
    if shape is None:
        return Mismatch("a dim of the tensor is an expression")
    count = 1
    for n in shape:
        count *= n
    if not shape or not count:
        return Mismatch("a tensor of one element or none")
    is_set = x if element_of(x) is boolean else compared(x, like(context, 0, x), ComparisonDirection.NE)
    flat = converted(reshaped(context, is_set, (count,)), i32)
    order = _sorted(context, flat, 0, descending=True)[1]
    columns: list[Value] = []
    rest = count
    for dim in shape:
        rest //= dim
        at = core.div(order, core.scalar(rest, i64))
        columns.append(core.unsqueeze(core.remainder(at, core.scalar(dim, i64)), (1,)))
    rows = core.concat(tuple(columns), 1) if len(columns) > 1 else columns[0]
    total = core.reshape(core.cast(core.reduce_sum(flat, (0,)), i64), (1,))
    stops = core.concat((total, core.vector((len(shape),), i64)), 0)
    return core.dynamic_slice(rows, core.vector((0, 0), i64), stops, (1, 1))


@rule(core.CheckedPositions)
def checked_positions(op: core.CheckedPositions, context: Context, positions: Value, limits: Value) -> Result:
    """Compilers do not stop a program: positions outside stay as they are."""
    return positions


@rule(core.OneHot)
def one_hot(op: core.OneHot, context: Context, positions: Value, on: Value, off: Value) -> Result:
    shape = dims_of(op.y)
    axis = axis_of(op.axis, len(shape))
    # Not from the end: a position below zero is outside.
    wide = core.cast(positions, i64)
    places = [n for n in range(len(shape)) if n != axis]
    at = core.reshape(wide, tuple([shape[n] if n in places else 1 for n in range(len(shape))]))
    return core.select(core.equal(at, core.iota(shape, axis)), on, off)


@rule(core.Range)
def range_(op: core.Range, context: Context, start: Value, limit: Value, step: Value) -> Result:
    """As many numbers as fit, which is computed."""
    element_type = element_of(start)
    wide = i64 if element_type.is_integer else element_type
    first, last, by = [reshaped(context, converted(v, wide), (1,)) for v in (start, limit, step)]
    length = hlo.Subtract(last, first).result_
    none = integers(context, (0,))
    if element_type.is_integer:
        one = integers(context, (1,))
        is_upward = compared(by, none, ComparisonDirection.GT)
        rest = hlo.Select(is_upward, hlo.Subtract(by, one).result_, hlo.Add(by, one).result_).result_
        steps = hlo.Div(hlo.Add(length, rest).result_, by).result_
    else:
        steps = converted(hlo.Ceil(hlo.Div(length, by).result_).result_, i64)
    count = hlo.Max(steps, none).result_
    declared = (tensor_type(op.y).shape or (None,))[0]
    dim: Dim = symbol(f"length of {op.name} {id(op)}", 0) if declared is None else declared
    set_dim(context, dim, count)
    arguments = {"output_shape": count, "iota_dimension": 0}
    counted = converted(hlo.DynamicIota.build(arguments, [TensorType(i64, (dim,))]).results[0], wide)
    factor, offset = [placed(context, v, (0,), (dim,)) for v in (by, first)]
    return converted(hlo.Add(hlo.Mul(counted, factor).result_, offset).result_, element_type)
