"""Rules for operations that move elements: most of them are another view of the same memory."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import DiagnosticError
from commonir.conversions.core_to_ark.building import BufferPlace
from commonir.conversions.core_to_ark.context import ArkContext, Built, numbers_of, rule, shape_of, storage_type
from commonir.conversions.core_to_ark.indexing import listed
from commonir.conversions.operands import dims_of, element_of, refused, require_computable
from commonir.dialects import core
from commonir.dialects.core import PadMode, axis_of
from commonir.ir.data import Scalar, data_of
from commonir.ir.operation import Value
from commonir.ods import known_data
from commonir.rewrite.legalize import Mismatch


@rule(core.Dims)
def dims(op: core.Dims, context: ArkContext) -> Built:
    data = known_data(op.y)
    return Mismatch("the numbers are not fixed") if data is None else core.constant(data)


@rule(core.Iota)
def iota(op: core.Iota, context: ArkContext) -> Built:
    """Positions along one axis, which are repeated along the others."""
    shape = shape_of(op.y)
    axis = op.axis % len(shape)
    require_computable(shape[axis])
    numbers: list[Scalar] = [float(n) if op.element.is_float else n for n in range(shape[axis])]
    row = context.constant(data_of(op.element, tuple([n if a == axis else 1 for a, n in enumerate(shape)]), numbers))
    return BufferPlace(row.buffer, row.layout.spread(shape))


@rule(core.Movement)
def movement(op: core.Movement, context: ArkContext, x: Value, *_: Value) -> Built:
    """Movements that keep the order and the number of elements."""
    if not isinstance(op, core.Reshape | core.Squeeze | core.Unsqueeze):
        return Mismatch("no other view of the memory gives that")
    return context.reshaped(context.place(x), shape_of(op.y))


@rule(core.Transpose)
def transpose(op: core.Transpose, context: ArkContext, x: Value) -> Built:
    place = context.place(x)
    return BufferPlace(place.buffer, place.layout.permuted([axis_of(a, len(place.dims)) for a in op.perm]))


@rule(core.BroadcastTo)
def broadcast_to(op: core.BroadcastTo, context: ArkContext, x: Value) -> Built:
    place = context.place(x)
    return BufferPlace(place.buffer, place.layout.spread(shape_of(op.y)))


@rule(core.Slice)
def slice_(op: core.Slice, context: ArkContext, x: Value) -> Built:
    shape = shape_of(x)
    starts, stops = _bounds(op.starts), _bounds(op.stops)
    parts = [_bounds(core.slice_range(*row)) for row in zip(shape, starts, stops, op.steps, strict=True)]
    if [count for _, count in parts] != list(shape_of(op.y)):
        return Mismatch("the dims of the slice do not follow from its bounds")
    if any(step < 0 and count > 1 for step, (_, count) in zip(op.steps, parts, strict=True)):
        for axis, (step, (first, count)) in enumerate(zip(op.steps, parts, strict=True)):
            require_computable(count)
            x = listed(x, axis, range(first, first + count * step, step))
        return x
    place = context.place(x)
    layout = place.layout
    for axis, (step, (first, count)) in enumerate(zip(op.steps, parts, strict=True)):
        layout = layout.part(axis, first, count, step if count > 1 else 1)
    return BufferPlace(place.buffer, layout)


def _bounds(values: Sequence[object]) -> tuple[int, ...]:
    """Bounds that are numbers. Raises: DiagnosticError (E0601) where one is not."""
    result = tuple([n for n in values if isinstance(n, int)])
    if len(result) != len(values):
        raise refused("the bounds of a slice are not fixed")
    return result


@rule(core.Split)
def split(op: core.Split, context: ArkContext, x: Value) -> Built:
    place = context.place(x)
    axis, at = axis_of(op.axis, len(place.dims)), 0
    out: list[BufferPlace] = []
    for y in op.results:
        # A part without elements is not a tensor of ARK, but nothing need be made of it.
        (count,) = _bounds(dims_of(y)[axis : axis + 1])
        out.append(BufferPlace(place.buffer, place.layout.part(axis, at, count)))
        at += count
    return tuple(out)


@rule(core.DynamicSlice)
def dynamic_slice(op: core.DynamicSlice, context: ArkContext, x: Value, starts: Value, stops: Value) -> Built:
    bounds = [known_data(v) for v in (starts, stops)]
    if None in bounds:
        return Mismatch("the bounds are not known before running")
    first, last = [tuple([int(v) for v in data.values()]) for data in bounds if data is not None]
    return core.slice(x, first, last, op.steps)


@rule(core.Concat)
def concat(op: core.Concat, context: ArkContext, xs: tuple[Value, ...]) -> Built:
    """Each tensor is written into its part of one buffer."""
    pieces = [v for v in xs if 0 not in dims_of(v)]
    if len(pieces) == 1:
        return pieces[0]
    shape = shape_of(op.y)
    axis, at = axis_of(op.axis, len(shape)), 0
    places = [context.place(v) for v in pieces]
    result = context.fresh(storage_type(element_of(op.y)), shape)
    for place in places:
        count = place.dims[axis]
        context.copy_into(place, BufferPlace(result.buffer, result.layout.part(axis, at, count)))
        at += count
    return result


@rule(core.Pad)
def pad(op: core.Pad, context: ArkContext, x: Value) -> Built:
    """The tensor is written into a part of one that is a number everywhere; other modes look up what is repeated."""
    if op.mode is not PadMode.CONSTANT:
        return _repeated(op, x)
    shape = shape_of(x)
    place = context.place(x)
    layout = place.layout
    for axis, (n, before, after) in enumerate(zip(shape, op.before, op.after, strict=True)):
        cut = max(-before, 0)
        layout = layout.part(axis, cut, n - cut - max(-after, 0))
    expected = shape_of(op.y)
    if expected == layout.dims:
        return BufferPlace(place.buffer, layout)
    element = element_of(x)
    number = float(op.value)
    if number in (float("inf"), float("-inf")) or number != number:  # noqa: PLR0124  NaN
        # Arguments of files are finite numbers; contents of weights need not be.
        result = context.fresh(storage_type(element), expected)
        one = context.constant(data_of(element, (1,) * len(expected), [number]), "fill")
        context.copy_into(BufferPlace(one.buffer, one.layout.spread(expected)), result)
    else:
        result = context.fill(storage_type(element), expected, number)
    target = result.layout
    for axis, (n, before) in enumerate(zip(layout.dims, op.before, strict=True)):
        target = target.part(axis, max(before, 0), n)
    context.copy_into(BufferPlace(place.buffer, layout), BufferPlace(result.buffer, target), over=True)
    return result


def _repeated(op: core.Pad, x: Value) -> Value:
    for axis, (n, before, after) in enumerate(zip(shape_of(x), op.before, op.after, strict=True)):
        if before or after:
            require_computable(before + n + after)
            x = listed(x, axis, [_source(at, n, op.mode) for at in range(-before, n + after)])
    return x


def _source(at: int, dim: int, mode: PadMode) -> int:
    """Which element stands at a position outside of an axis."""
    match mode:
        case PadMode.EDGE:
            return min(max(at, 0), dim - 1)
        case PadMode.WRAP:
            return at % dim
        case _:
            turn = max(2 * dim - 2, 1)
            place = at % turn
            return place if place < dim else turn - place


@rule(core.Tile)
def tile(op: core.Tile, context: ArkContext, x: Value) -> Built:
    """Each axis gets one in front of it, along which it repeats: all at once where ARK can say that."""
    repeats = numbers_of(op.repeats)
    place, shape = context.place(x), shape_of(op.y)
    apart = context.reshaped(place, [n for dim in place.dims for n in (1, dim)])
    wide = [n for count, dim in zip(repeats, place.dims, strict=True) for n in (count, dim)]
    try:
        return context.reshaped(BufferPlace(apart.buffer, apart.layout.spread(wide)), shape)
    except DiagnosticError:
        return _tiled(place, repeats, context)


def _tiled(x: BufferPlace, repeats: Sequence[int], context: ArkContext) -> BufferPlace:
    """One axis after the other."""
    for axis, count in enumerate(repeats):
        if count > 1:
            before, dim, after = x.dims[:axis], x.dims[axis], x.dims[axis + 1 :]
            apart = context.reshaped(x, (*before, 1, dim, *after))
            wide = BufferPlace(apart.buffer, apart.layout.spread((*before, count, dim, *after)))
            x = context.reshaped(wide, (*before, count * dim, *after))
    return x


@rule(core.Reverse)
def reverse(op: core.Reverse, context: ArkContext, x: Value) -> Built:
    shape = shape_of(x)
    for axis in op.axes:
        at = axis_of(axis, len(shape))
        require_computable(shape[at])
        x = listed(x, at, range(shape[at] - 1, -1, -1))
    return x
