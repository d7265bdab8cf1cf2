"""Rules for versions of the operator set that lack an operator or an operand which later ones have.

They stand after the other rules: what a version has an operator for never gets here. Source: ONNX operator reference,
versions of Slice, Range, Mod, Pad, Round, Equal, GatherElements, GatherND, Scatter, ScatterND and others.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.core_to_core.integer_convolutions import in_single_precision
from commonir.conversions.core_to_core.padding import continued
from commonir.conversions.core_to_onnx.building import opset_of, positions_below
from commonir.conversions.operands import axes_from_start, dims_of, element_of, rank_of
from commonir.dialects import core, onnx
from commonir.dialects.core.constants import MOST_KNOWN
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64, i8, i32, i64
from commonir.notation import limits
from commonir.ods import known_dims
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim, element_count

_WITH_SCATTER = 9


@rule(core.Slice)
def slice_at_positions(op: core.Slice, context: Context, x: Value) -> Result:
    """Gathers the elements where bounds are not numbers, or steps not 1."""
    rows = zip(op.starts, op.stops, op.steps, dims_of(x), strict=True)
    for axis, (start, stop, step, dim) in enumerate(rows):
        first, count = core.slice_range(dim, start, stop, step)
        if first != 0 or step != 1 or count != dim:
            x = core.gather(x, _places(first, step, count), axis)
    return x


def _places(first: Dim, step: int, count: Dim) -> Value:
    """As many positions as given, from the first one on."""
    if isinstance(first, int) and isinstance(count, int) and count <= MOST_KNOWN:
        return core.vector(tuple([first + n * step for n in range(count)]))
    line = core.iota((count,), 0, i64)
    if step != 1:
        line = core.mul(line, core.scalar(step, i64))
    return line if first == 0 else core.add(line, core.dims((first,), i64))


@rule(core.DynamicSlice)
def dynamic_slice_at_positions(
    op: core.DynamicSlice, context: Context, x: Value, starts: Value, stops: Value
) -> Result:
    """Gathers the elements from each start to its stop, after clamping both as the operator does."""
    zero = core.scalar(0, i64)
    for axis, step in enumerate(op.steps):
        dim = core.dim(x, axis)
        last = dim if step > 0 else core.sub(dim, core.scalar(1, i64))
        first = zero if step > 0 else core.scalar(-1, i64)
        start, stop = [_clamped(_element(bounds, axis), dim, first, last) for bounds in (starts, stops)]
        x = core.gather(x, core.range(start, stop, core.scalar(step, i64)), axis)
    return x


def _element(vector: Value, position: int) -> Value:
    """An element of a vector, as an i64 scalar."""
    return core.reshape(core.slice(core.cast(vector, i64), (position,), (position + 1,), (1,)), ())


def _clamped(bound: Value, dim: Value, first: Value, last: Value) -> Value:
    """A bound counted from the start of an axis, between the first and the last that there are."""
    from_start = core.select(core.less(bound, core.scalar(0, i64)), core.add(bound, dim), bound)
    return core.maximum(core.minimum(from_start, last), first)


@rule(core.Reverse)
def reverse_by_positions(op: core.Reverse, context: Context, x: Value) -> Value:
    for axis in op.axes:
        dim = dims_of(x)[axis]
        x = core.gather(x, _places(dim - 1, -1, dim), axis)
    return x


@rule(core.Range)
def range_of_positions(op: core.Range, context: Context, start: Value, limit: Value, step: Value) -> Value:
    """The positions below the count, times the step, plus the start."""
    element = element_of(start)
    whole = core.sub(limit, start)
    if element.is_float:
        count = core.cast(core.ceil(core.div(whole, step)), i64)
    elif known_dims(op.step) == (1,):
        count = core.cast(whole, i64)
    else:
        # Rounded up, as the negative of what is rounded down.
        count = core.neg(core.floor_div(core.neg(core.cast(whole, i64)), core.cast(step, i64)))
    line = positions_below(context, core.reshape(core.maximum(count, core.scalar(0, i64)), (1,)))
    return core.add(core.mul(core.cast(line, element), step), start)


@rule(core.Remainder)
def remainder_by_quotient(op: core.Remainder, context: Context, a: Value, b: Value) -> Result:
    if not element_of(a).is_integer:
        return Mismatch("a quotient of floats is not rounded")
    return core.sub(a, core.mul(onnx.Div(a, b).C, b))


@rule(core.Mod)
def modulo_by_quotient(op: core.Mod, context: Context, a: Value, b: Value) -> Result:
    if not element_of(a).is_integer:
        return Mismatch("a quotient of floats is not rounded")
    rest = core.sub(a, core.mul(onnx.Div(a, b).C, b))
    if element_of(a).kind == "uint":
        return rest
    zero = core.splat(0, a)
    is_opposite = core.logical_xor(core.less(rest, zero), core.less(b, zero))
    is_moved = core.logical_and(is_opposite, core.not_equal(rest, zero))
    return core.select(is_moved, core.add(rest, b), rest)


@rule(core.FloorDiv)
def quotient_of_multiple(op: core.FloorDiv, context: Context, a: Value, b: Value) -> Result:
    if not element_of(a).is_integer:
        return Mismatch("a quotient of floats is rounded down")
    return onnx.Div(core.sub(a, core.mod(a, b)), b).C


@rule(core.Pad)
def pad_by_pieces(op: core.Pad, context: Context, x: Value) -> Result:
    """Lays pieces beside the tensor, for elements that the operator does not take."""
    if op.mode is not core.PadMode.CONSTANT:
        return continued(x, op.mode, op.before, op.after)
    fill = _filling(op.value, element_of(x))
    if min((*op.before, *op.after), default=0) < 0:
        starts = tuple([max(-n, 0) for n in op.before])
        stops = tuple([d - max(-n, 0) for d, n in zip(dims_of(x), op.after, strict=True)])
        x = core.slice(x, starts, stops, (1,) * len(starts))
    for axis, amounts in enumerate(zip(op.before, op.after, strict=True)):
        dims = dims_of(x)
        sides = [core.fill(fill, (*dims[:axis], n, *dims[axis + 1 :])) if n > 0 else None for n in amounts]
        pieces = [v for v in (sides[0], x, sides[1]) if v is not None]
        x = core.concat(tuple(pieces), axis) if len(pieces) > 1 else x
    return x


@rule(core.DynamicPad)
def pad_by_positions(op: core.DynamicPad, context: Context, x: Value, before: Value, after: Value) -> Value:
    """Gathers along each axis the elements that its positions, also those beyond its ends, stand for."""
    rank, zero, one = rank_of(x), core.scalar(0, i64), core.scalar(1, i64)
    is_constant = op.mode is core.PadMode.CONSTANT
    for axis in range(rank):
        dim = core.dim(x, axis)
        last = core.sub(dim, one)
        places = core.range(core.neg(_element(before, axis)), core.add(dim, _element(after, axis)), one)
        match op.mode:
            case core.PadMode.CONSTANT | core.PadMode.EDGE:
                read = core.maximum(core.minimum(places, last), zero)
            case core.PadMode.REFLECT:
                read = core.sub(last, core.abs(core.sub(last, core.abs(places))))
            case core.PadMode.WRAP:
                read = core.mod(places, dim)
        x = core.gather(x, read, axis)
        if is_constant:
            inside = core.reshape(core.equal(read, places), (-1, *(1,) * (rank - axis - 1)))
            x = core.select(inside, x, _filling(op.value, element_of(x)))
    return x


def _filling(value: float, element: ElementType) -> Value:
    """A number as a scalar of a type."""
    return core.scalar(value if element.is_float else bool(value) if element.bits == 1 else int(value), element)


@rule(core.Round)
def round_by_halves(op: core.Round, context: Context, x: Value) -> Result:
    """The floor, or the number after it where that is nearer, or even and as near."""
    if not element_of(x).is_float:
        return Mismatch("only floats are rounded")
    low, half = core.floor(x), core.splat(0.5, x)
    part = core.sub(x, low)
    is_odd = core.not_equal(core.mul(core.floor(core.mul(low, half)), core.splat(2.0, x)), low)
    is_nearer = core.logical_or(core.greater(part, half), core.logical_and(core.equal(part, half), is_odd))
    return core.select(is_nearer, core.add(low, core.splat(1.0, x)), low)


@rule(core.Equal)
def equal_numbers(op: core.Equal, context: Context, a: Value, b: Value) -> Result:
    """Neither less nor greater; NaN is neither of both, and not equal."""
    element = element_of(a)
    if not element.is_float and not element.is_integer:
        return Mismatch("only numbers are ordered")
    differs = core.logical_or(core.less(a, b), core.greater(a, b))
    if element.is_integer:
        return core.logical_not(differs)
    is_nan = core.logical_or(core.is_nan(a), core.is_nan(b))
    return core.logical_not(core.logical_or(differs, is_nan))


@rule(core.GatherElements)
def gather_elements_by_place(op: core.GatherElements, context: Context, x: Value, positions: Value) -> Value:
    """Reads the elements as one line."""
    dims, shape = dims_of(x), dims_of(positions)
    (axis,) = axes_from_start((op.axis,), len(dims))
    along = [_counted(n, a, len(shape)) for a, n in enumerate(shape)]
    along[axis] = _from_start(positions, dims[axis])
    return core.gather(core.reshape(x, (element_count(dims),)), _linear(along, dims), 0)


@rule(core.GatherNd)
def gather_slices_by_place(op: core.GatherNd, context: Context, x: Value, positions: Value) -> Result:
    """Reads slices along one axis that stands for all axes that positions are of."""
    dims, (*lead, depth) = dims_of(x), dims_of(positions)
    if not isinstance(depth, int):
        return Mismatch("the number of positions in a row is not known")
    shared = [_counted(n, a, len(lead)) for a, n in enumerate(lead[: op.batch])]
    count = op.batch + depth
    along = [*shared, *_columns(positions, dims[op.batch : count])]
    places = _linear(along, dims[:count]) if along else core.scalar(0, i64)
    return core.gather(core.reshape(x, (element_count(dims[:count]), *dims[count:])), places, 0)


@rule(core.ScatterElements)
def scatter_under_former_name(
    op: core.ScatterElements, context: Context, x: Value, positions: Value, updates: Value
) -> Result:
    if op.reduction is not core.Reduction.NONE or opset_of(context) < _WITH_SCATTER:
        return Mismatch(f"the operator that only replaces elements is one of opset {_WITH_SCATTER}")
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    return onnx.Scatter(x, _from_start(positions, dims_of(x)[axis]), updates, axis=axis).output


@rule(core.ScatterNd)
def scatter_rows(op: core.ScatterNd, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    """Replaces rows of a matrix whose rows are the slices."""
    dims, (*lead, depth) = dims_of(x), dims_of(positions)
    if not isinstance(depth, int) or depth < 1 or op.reduction is not core.Reduction.NONE:
        return Mismatch("updates are combined with what is there")
    rows, width, count = element_count(dims[:depth]), element_count(dims[depth:]), element_count(lead)
    places = core.reshape(_linear(_columns(positions, dims[:depth]), dims[:depth]), (count, 1))
    matrix, new = core.reshape(x, (rows, width)), core.reshape(updates, (count, width))
    result = core.scatter_elements(matrix, core.broadcast_to(places, (count, width)), new, 0)
    return core.reshape(result, dims)


def _counted(count: Dim, axis: int, rank: int) -> Value:
    """The positions along an axis, laid so that they broadcast along the others."""
    return core.iota(tuple([count if a == axis else 1 for a in range(rank)]), axis, i64)


def _columns(positions: Value, dims: Sequence[Dim]) -> list[Value]:
    """The positions along each of some axes, from the columns of the last axis."""
    return [_from_start(core.gather(positions, core.scalar(n, i64), -1), dim) for n, dim in enumerate(dims)]


def _from_start(positions: Value, dim: Dim) -> Value:
    wide = core.cast(positions, i64)
    return core.select(core.less(wide, core.scalar(0, i64)), core.add(wide, _number(dim)), wide)


def _linear(along: Sequence[Value], dims: Sequence[Dim]) -> Value:
    """The place of elements in row-major order, from their positions along all axes."""
    result = along[0]
    for place, dim in zip(along[1:], dims[1:], strict=True):
        result = core.add(core.mul(result, _number(dim)), place)
    return result


def _number(dim: Dim) -> Value:
    return core.dims((dim,), i64, True)


@rule(core.Conv)
def convolved_integers(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    if not element_of(x).is_integer:
        return Mismatch("only integers are convolved in single precision")
    return in_single_precision(op, x, weight, bias) or Mismatch("sums of products may be rounded in single precision")


@rule(core.MaxPool)
def largest_of_bytes(op: core.MaxPool, context: Context, x: Value) -> Result:
    """In single precision, for versions that have maxima of windows of floats only."""
    element = element_of(x)
    if not element.is_integer or element.bits > i8.bits:
        return Mismatch(f"single precision does not hold all of {element}")
    wide = core.max_pool(core.cast(x, f32), op.kernel, op.strides, op.dilations, op.pads, op.ceil_mode)
    # A window of padding alone gives the least number, not an infinite one.
    return core.cast(core.maximum(wide, core.splat(float(limits(element)[0]), wide)), element)


@rule(core.DepthToSpace)
def blocks_after_channels(op: core.DepthToSpace, context: Context, x: Value) -> Result:
    """Channels vary slowest, which the operator has no order for before opset 11."""
    if op.order is not core.BlockOrder.CRD:
        return Mismatch("the operator has this order")
    b = op.block
    n, c, h, w = dims_of(op.y)
    apart = core.transpose(core.reshape(x, (n, c, b, b, *dims_of(x)[2:])), (0, 1, 4, 2, 5, 3))
    return core.reshape(apart, (n, c, h, w))


@rule(core.IsInf)
def largest_magnitude(op: core.IsInf, context: Context, x: Value) -> Value:
    return core.equal(core.abs(x), core.splat(float("inf"), x))


@rule(core.Pow)
def power_of_small_integers(op: core.Pow, context: Context, x: Value, y: Value) -> Result:
    """In double precision, which holds the powers that the integers have."""
    element = element_of(x)
    if not element.is_integer or element.bits > i32.bits:
        return Mismatch(f"onnx.Pow of {element} came with opset 12")
    return core.cast(core.pow(core.cast(x, f64), core.cast(y, f64)), element)
