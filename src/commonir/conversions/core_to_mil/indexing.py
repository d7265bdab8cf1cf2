"""Rules for core operations that read or write at positions that are data, and that order elements.

From iOS 17 a negative position is out of range in MIL: positions that may be negative are counted from the front first.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.conversions.core_to_mil.building import cast, data_behind, size_along, small, without_truth
from commonir.conversions.operands import axes_from_start, dims_of, element_of, rank_of, shape_of
from commonir.dialects import core
from commonir.dialects.mil import elementwise, generation, indexing, reduction, slicing
from commonir.dialects.mil import shape as mil_shape
from commonir.dialects.mil.base import CORE_ML_5, CORE_ML_6
from commonir.ir.operation import Operation, Value
from commonir.ir.types import i32, string
from commonir.ods import Op
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim


def _wraps(context: Context) -> bool:
    """Whether MIL itself counts negative positions from the end."""
    return context.target.version in (CORE_ML_5, CORE_ML_6)


def from_front(context: Context, positions: Value, dim: Dim | None, axis_of: Callable[[], Value]) -> Value:
    """Positions counted from the front, along an axis of a size; `axis_of` gives the size as a scalar when running."""
    positions = cast(positions, i32)
    data = data_behind(positions)
    if data is not None:
        result = [int(v) for v in data.values()]
        if all(v >= 0 for v in result):
            return positions
        if isinstance(dim, int):
            moved = [v + dim if v < 0 else v for v in result]
            return small(context, i32, data.shape, moved)
    if _wraps(context):
        return positions
    zero = small(context, i32, (), (0,))
    whole = small(context, i32, (), (dim,)) if isinstance(dim, int) else axis_of()
    moved = elementwise.Add(positions, whole).output
    return elementwise.Select(elementwise.GreaterEqual(positions, zero).output, positions, moved).output


def _along(context: Context, x: Value, positions: Value, axis: int) -> Value:
    """Positions along one axis of a tensor, counted from the front."""
    dim = shape_of(x)[axis]
    return from_front(context, positions, dim, lambda: mil_shape.Squeeze(size_along(context, x, axis), (0,)).output)


def _rows(context: Context, x: Value, positions: Value, first: int) -> Value:
    """Positions that are rows of the last axis, counted from the front; the first is along axis `first` of a tensor."""
    depth = shape_of(positions)[-1]
    positions = cast(positions, i32)
    data = data_behind(positions)
    if _wraps(context) or not isinstance(depth, int) or (data is not None and all(int(v) >= 0 for v in data.values())):
        return positions
    parts: list[Value] = []
    for n in range(first, first + depth):
        dim = shape_of(x)[n]
        whole = small(context, i32, (1,), (dim,)) if isinstance(dim, int) else size_along(context, x, n)
        parts.append(whole)
    dims = parts[0] if depth == 1 else mil_shape.Concat(tuple(parts), 0).output
    moved = elementwise.Add(positions, dims).output
    inside = elementwise.GreaterEqual(positions, small(context, i32, (), (0,))).output
    return elementwise.Select(inside, positions, moved).output


@rule(core.Gather)
def gather(op: core.Gather, context: Context, x: Value, positions: Value) -> Result:
    if element_of(x) is string:
        return Mismatch("Core ML has strings only as labels of a classifier")
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    is_checked = isinstance(op.positions.owner, core.CheckedPositions)
    if is_checked and not _wraps(context):
        places = cast(positions, i32)
        return cast(indexing.Gather(without_truth(x), places, axis, 0, True).output, element_of(x))
    places = _along(context, x, positions, axis)
    return cast(indexing.Gather(without_truth(x), places, axis).output, element_of(x))


@rule(core.CheckedPositions)
def checked_positions(op: core.CheckedPositions, context: Context, positions: Value, limits: Value) -> Value:
    # What reads at them checks them, from iOS 17 on; before, positions outside have no specified result.
    return cast(positions, i32)


@rule(core.GatherElements)
def gather_elements(op: core.GatherElements, context: Context, x: Value, positions: Value) -> Value:
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    fitted = _fitted(x, positions, axis)
    places = _along(context, x, positions, axis)
    return cast(indexing.GatherAlongAxis(without_truth(fitted), places, axis).output, element_of(x))


def _fitted(x: Value, positions: Value, axis: int) -> Value:
    """A tensor cut to the sizes of positions along the other axes."""
    dims, expected = dims_of(x), dims_of(positions)
    if all(n == m or a == axis for a, (n, m) in enumerate(zip(dims, expected, strict=True))):
        return x
    stops = tuple([n if a == axis else m for a, (n, m) in enumerate(zip(dims, expected, strict=True))])
    return core.slice(x, (0,) * len(dims), stops, (1,) * len(dims))


@rule(core.GatherNd)
def gather_nd(op: core.GatherNd, context: Context, x: Value, positions: Value) -> Result:
    if op.batch and context.target.version == CORE_ML_5:
        return _gather_batches(op, x, positions)
    places = _rows(context, x, positions, op.batch)
    return cast(indexing.GatherNd(without_truth(x), places, op.batch).output, element_of(x))


def _gather_batches(op: core.GatherNd, x: Value, positions: Value) -> Value:
    """The positions of the shared axes written out before the others."""
    dims = dims_of(positions)
    lead = [core.unsqueeze(core.iota(dims[:-1], n, i32), (-1,)) for n in range(op.batch)]
    return core.gather_nd(x, core.concat((*lead, cast(positions, i32)), -1), 0)


_MODES = {
    core.Reduction.NONE: indexing.ScatterMode.UPDATE,
    core.Reduction.ADD: indexing.ScatterMode.ADD,
    core.Reduction.SUB: indexing.ScatterMode.SUB,
    core.Reduction.MUL: indexing.ScatterMode.MUL,
    core.Reduction.DIV: indexing.ScatterMode.DIV,
    core.Reduction.MAX: indexing.ScatterMode.MAX,
    core.Reduction.MIN: indexing.ScatterMode.MIN,
}


@rule(core.ScatterElements)
def slice_update(op: core.ScatterElements, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    """A slice of a tensor replaced: positions in the flat tensor that are a slice of all positions."""
    whole, part = x.owner, _behind_moves(positions)
    is_update = op.reduction is core.Reduction.NONE and rank_of(x) == 1 and _are_all_positions(op.positions)
    if not is_update or not isinstance(whole, mil_shape.Reshape) or not isinstance(part, slicing.SliceByIndex):
        return Mismatch("the updates do not replace a slice")
    if shape_of(part.x) != shape_of(whole.x):
        return Mismatch("the slice is one of another tensor")
    before = updates.owner
    if isinstance(before, mil_shape.Reshape) and rank_of(before.x) == rank_of(part.output):
        new = before.x
    else:
        new = core.reshape(updates, dims_of(part.output))
    begin, end = part.begin, part.end
    built = slicing.SliceUpdate(whole.x, new, begin, end, part.stride, part.begin_mask, part.end_mask)
    return core.reshape(built.output, (-1,))


def _behind_moves(value: Value) -> Operation | None:
    """The operation that gives the elements of a value in order, perhaps under another shape."""
    owner = value.owner
    while isinstance(owner, mil_shape.Reshape | mil_shape.Squeeze | mil_shape.ExpandDims):
        owner = owner.x.owner
    return owner if isinstance(owner, Operation) else None


_KEEP_ORDER = (core.Cast, core.DynamicSlice, core.Reshape, core.Slice, core.Squeeze, core.Unsqueeze)


def _are_all_positions(positions: Value) -> bool:
    """Whether positions are a slice of the numbers 0, 1, ... of all elements."""
    owner = positions.owner
    while isinstance(owner, _KEEP_ORDER):
        owner = owner.x.owner
    return isinstance(owner, core.Iota) and len(owner.shape) == 1


@rule(core.ScatterElements)
def scatter_elements(op: core.ScatterElements, context: Context, x: Value, positions: Value, updates: Value) -> Value:
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    dims, expected = dims_of(x), dims_of(positions)
    places = _along(context, x, positions, axis)
    if any(n != m and a != axis for a, (n, m) in enumerate(zip(dims, expected, strict=True))):
        rows = [places if a == axis else core.iota(expected, a, i32) for a in range(len(expected))]
        return core.scatter_nd(
            x, core.concat(tuple([core.unsqueeze(r, (-1,)) for r in rows]), -1), updates, op.reduction
        )
    data, new = without_truth(x), without_truth(updates)
    built = indexing.ScatterAlongAxis(data, places, new, axis, _MODES[op.reduction]).output
    return cast(built, element_of(x))


@rule(core.ScatterNd)
def scatter_nd(op: core.ScatterNd, context: Context, x: Value, positions: Value, updates: Value) -> Value:
    places = _rows(context, x, positions, 0)
    data, new = without_truth(x), without_truth(updates)
    return cast(indexing.ScatterNd(data, places, new, _MODES[op.reduction]).output, element_of(x))


@rule(core.OneHot)
def one_hot(op: core.OneHot, context: Context, positions: Value, on: Value, off: Value) -> Value:
    (axis,) = axes_from_start((op.axis,), rank_of(positions) + 1)
    if not isinstance(op.depth, int):
        line = core.iota((op.depth, *(1,) * (rank_of(positions) - axis)), 0, i32)
        return core.select(core.equal(core.unsqueeze(cast(positions, i32), (axis,)), line), on, off)
    places, depth = cast(positions, i32), small(context, i32, (), (op.depth,))
    if data_behind(on) is not None and data_behind(off) is not None:
        return generation.OneHot(places, depth, axis, on, off).output
    one, zero = small(context, i32, (), (1,)), small(context, i32, (), (0,))
    hot = generation.OneHot(places, depth, axis, one, zero).output
    return core.select(elementwise.NotEqual(hot, zero).output, on, off)


@rule(core.BandPart)
def band_part(op: core.BandPart, context: Context, x: Value) -> Value:
    return generation.BandPart(x, max(op.lower, -1), max(op.upper, -1)).output


@rule(core.NonZero)
def non_zero(op: core.NonZero, context: Context, x: Value) -> Value:
    return generation.NonZero(x).output


@rule(core.ArgMax)
def arg_max(op: core.ArgMax, context: Context, x: Value) -> Value:
    return cast(reduction.ReduceArgmax(x, op.axis, op.keep_dims).output, op.element)


@rule(core.ArgMin)
def arg_min(op: core.ArgMin, context: Context, x: Value) -> Value:
    return cast(reduction.ReduceArgmin(x, op.axis, op.keep_dims).output, op.element)


@rule(core.TopK)
def top_k(op: core.TopK, context: Context, x: Value) -> Result:
    if not op.k:
        return Mismatch("Core ML has no tensors without elements")
    if not isinstance(op.k, int):
        order = core.argsort(x, op.axis, op.largest)
        starts, stops = [0] * rank_of(x), list(dims_of(op.x))
        stops[op.axis] = op.k
        first = core.slice(order, tuple(starts), tuple(stops), (1,) * rank_of(x))
        return core.gather_elements(x, first, op.axis), first
    return generation.Topk(x, op.k, op.axis, not op.largest).results


@rule(core.ArgSort)
def argsort(op: core.ArgSort, context: Context, x: Value) -> Value:
    return generation.Argsort(x, op.axis, not op.descending).output


# -- reductions


_REDUCTIONS: dict[type[Op], Callable[..., Op]] = {
    core.ReduceMax: reduction.ReduceMax,
    core.ReduceMean: reduction.ReduceMean,
    core.ReduceMin: reduction.ReduceMin,
    core.ReduceProd: reduction.ReduceProd,
    core.ReduceSum: reduction.ReduceSum,
}


@rule(core.Reduce)
def reduce(op: core.Reduce, context: Context, x: Value) -> Result:
    counterpart = _REDUCTIONS.get(type(op))
    if counterpart is None:
        return Mismatch(f"{op.name} has no counterpart")
    rank = rank_of(x)
    if not rank:
        return x
    axes = axes_from_start(op.axes, rank) or tuple(range(rank))
    return counterpart(x, axes, op.keep_dims).result


@rule(core.CumSum)
def cumsum(op: core.CumSum, context: Context, x: Value) -> Value:
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    return generation.Cumsum(x, axis, op.exclusive, op.reverse).output


@rule(core.CumProd)
def cumprod(op: core.CumProd, context: Context, x: Value) -> Result:
    """Products of 1, 2, 4 and more neighbours: each step joins those that end where others begin."""
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    dim = shape_of(x)[axis]
    if not isinstance(dim, int):
        return Mismatch("the axis must have a fixed size")
    y = _behind(x, axis, 1, is_reversed=op.reverse) if op.exclusive else x
    step = 1
    while step < dim:
        y = core.mul(y, _behind(y, axis, step, is_reversed=op.reverse))
        step *= 2
    return y


def _behind(x: Value, axis: int, step: int, *, is_reversed: bool) -> Value:
    """Returns the elements some places before or after each element, with ones outside."""
    amounts = [0] * rank_of(x)
    amounts[axis] = -step if is_reversed else step
    return core.pad(x, tuple(amounts), tuple([-n for n in amounts]), core.PadMode.CONSTANT, 1.0)
