"""Rules for operations that move elements, and for sizes as data."""

from __future__ import annotations

from commonir.conversions.core_to_core.padding import continued
from commonir.conversions.core_to_stablehlo.building import (
    axis_size,
    broadcast,
    converted,
    iota,
    part,
    reshaped,
    scalar,
    together,
    transposed,
    vector,
    zero,
)
from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.dialects import core
from commonir.dialects.core.base import axis_of, tensor_type
from commonir.dialects.core.shape import slice_range
from commonir.dialects.mlir import stablehlo as hlo
from commonir.ir.operation import Value
from commonir.ir.types import boolean, i64
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim, at_least, smallest


@rule(core.Dims)
def dims(op: core.Dims, context: Context) -> Value:
    result = vector(context, op.values)
    return converted(reshaped(context, result, dims_of(op.y)), op.element)


@rule(core.Dimension)
def dimension(op: core.Dimension, context: Context, x: Value) -> Value:
    axis = axis_of(op.axis, rank_of(x))
    dim = dims_of(x)[axis] if tensor_type(x).shape is not None and tensor_type(x).shape[axis] is not None else None  # pyright: ignore[reportOptionalSubscript]
    result = axis_size(context, x, axis) if dim is None else vector(context, (dim,))
    return converted(reshaped(context, result, ()), op.element)


@rule(core.ShapeOf)
def shape_of(op: core.ShapeOf, context: Context, x: Value) -> Value:
    return converted(vector(context, dims_of(x)), op.element)


@rule(core.Iota)
def counted(op: core.Iota, context: Context) -> Value:
    return iota(context, dims_of(op.y), axis_of(op.axis, rank_of(op.y)), op.element)


@rule(core.Reshape)
def reshape(op: core.Reshape, context: Context, x: Value) -> Value:
    return reshaped(context, x, dims_of(op.y))


@rule(core.BroadcastTo)
def broadcast_to(op: core.BroadcastTo, context: Context, x: Value) -> Value:
    return broadcast(context, x, dims_of(op.y))


@rule(core.Transpose)
def transpose(op: core.Transpose, context: Context, x: Value) -> Value:
    return transposed(x, [axis_of(a, rank_of(x)) for a in op.perm])


@rule(core.Reverse)
def reverse(op: core.Reverse, context: Context, x: Value) -> Value:
    return hlo.Reverse(x, tuple([axis_of(a, rank_of(x)) for a in op.axes])).result_


@rule(core.Concat)
def concat(op: core.Concat, context: Context, xs: tuple[Value, ...]) -> Value:
    return together(xs, axis_of(op.axis, rank_of(op.y)))


@rule(core.Slice)
def slice_(op: core.Slice, context: Context, x: Value) -> Result:
    """Upward along every axis; those of negative steps are turned afterwards."""
    turned = tuple([n for n, s in enumerate(op.steps) if s < 0])
    first: list[Dim] = []
    last: list[Dim] = []
    for n, start, stop, s, count in zip(dims_of(op.x), op.starts, op.stops, op.steps, dims_of(op.y), strict=True):
        low, _ = slice_range(n, start, stop, s)
        if count == 0:
            low = end = 0
        elif abs(s) == 1 or at_least(count, 1):
            low, end = (low, low + (count - 1) * s + 1) if s > 0 else (low + (count - 1) * s, low + 1)
        elif s > 0:
            end = smallest(low + count * s, n)
        else:
            return Mismatch("every so many elements downward, of which there may be none")
        first.append(low)
        last.append(end)
    result = part(context, x, first, last, tuple([abs(s) for s in op.steps]))
    return hlo.Reverse(result, turned).result_ if turned else result


@rule(core.DynamicSlice)
def dynamic_slice(op: core.DynamicSlice, context: Context, x: Value, starts: Value, stops: Value) -> Result:
    """Positions are limited to the axes; those below zero count from the end."""
    shape = dims_of(x)
    if any(s < 1 for s in op.steps):
        return _turned(op, context, x, starts, stops)
    whole = vector(context, shape)
    first, last = [_inside(context, converted(v, i64), whole) for v in (starts, stops)]
    arguments = {
        "operand_": x,
        "start_indices": first,
        "limit_indices": hlo.Max(first, last).result_,
        "strides": vector(context, op.steps),
    }
    return hlo.RealDynamicSlice.build(arguments, [op.y.type]).results[0]


def _turned(op: core.DynamicSlice, context: Context, x: Value, starts: Value, stops: Value) -> Result:
    """Axes of negative steps are reversed first, and positions with them."""
    shape = dims_of(x)
    turned = tuple([n for n, s in enumerate(op.steps) if s < 0])
    whole = converted(vector(context, shape), i64)
    flips = core.vector(tuple([s < 0 for s in op.steps]), boolean)
    nothing, one = core.scalar(0, i64), core.scalar(1, i64)
    last = core.sub(whole, one)
    places: list[Value] = []
    for v, edge in ((starts, last), (stops, last)):
        at = core.cast(v, i64)
        at = core.select(core.less(at, nothing), core.add(at, whole), at)
        # Before the first element there is one place more for where a step downward ends.
        clamped = core.minimum(core.maximum(at, core.scalar(-1, i64)), edge)
        up = core.minimum(core.maximum(at, nothing), whole)
        places.append(core.select(flips, core.sub(last, clamped), up))
    steps = tuple([abs(s) for s in op.steps])
    return core.dynamic_slice(core.reverse(x, turned), places[0], places[1], steps)


def _inside(context: Context, at: Value, whole: Value) -> Value:
    nothing = core.splat(0, at)
    return core.minimum(core.maximum(core.select(core.less(at, nothing), core.add(at, whole), at), nothing), whole)


@rule(core.Pad)
def pad(op: core.Pad, context: Context, x: Value) -> Value:
    if op.mode is not core.PadMode.CONSTANT:
        return continued(x, op.mode, op.before, op.after)
    element_type = element_of(x)
    value = scalar(
        context,
        bool(op.value) if element_type is boolean else op.value if element_type.is_float else int(op.value),
        element_type,
    )
    dims = tuple([n + a + b for n, a, b in zip(dims_of(x), op.before, op.after, strict=True)])
    arguments = {
        "operand_": x,
        "padding_value": value,
        "edge_padding_low": op.before,
        "edge_padding_high": op.after,
        "interior_padding": (0,) * len(dims),
    }
    return hlo.Pad.build(arguments, [tensor_type(x).with_shape(dims)]).results[0]


@rule(core.Split)
def split(op: core.Split, context: Context, x: Value) -> Result:
    axis, start = axis_of(op.axis, rank_of(x)), 0
    shape = dims_of(x)
    pieces: list[Value] = []
    for dim in op.sizes:
        stop = start + dim
        starts = [start if n == axis else 0 for n in range(len(shape))]
        stops = [stop if n == axis else d for n, d in enumerate(shape)]
        pieces.append(part(context, x, starts, stops, (1,) * len(shape)))
        start = stop
    return tuple(pieces)


@rule(core.Tile)
def tile(op: core.Tile, context: Context, x: Value) -> Result:
    shape = dims_of(x)
    apart: list[object] = []
    whole: list[object] = []
    for n, count in zip(shape, op.repeats, strict=True):
        apart += [1, n]
        whole += [count, n]
    spread = core.broadcast_to(core.reshape(x, tuple(apart)), tuple(whole))  # pyright: ignore[reportArgumentType]
    return core.reshape(spread, dims_of(op.y))


@rule(core.DynamicReshape)
def dynamic_reshape(op: core.DynamicReshape, context: Context, x: Value, shape: Value) -> Result:
    return hlo.DynamicReshape.build({"operand_": x, "output_shape": shape}, [op.y.type]).results[0]


@rule(core.DynamicPad)
def dynamic_pad(op: core.DynamicPad, context: Context, x: Value, before: Value, after: Value) -> Result:
    if op.mode is not core.PadMode.CONSTANT:
        return Mismatch("padding whose amounts are data and that repeats elements")
    element_type = element_of(x)
    value = scalar(context, op.value, element_type) if element_type.is_float else zero(context, element_type)
    low, high = converted(before, i64), converted(after, i64)
    arguments = {
        "operand_": x,
        "padding_value": value,
        "edge_padding_low": low,
        "edge_padding_high": high,
        "interior_padding": vector(context, (0,) * rank_of(x)),
    }
    return hlo.DynamicPad.build(arguments, [op.y.type]).results[0]
