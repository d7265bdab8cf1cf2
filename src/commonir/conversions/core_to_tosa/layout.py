"""Rules for operations that move elements, and for those that combine the elements of axes."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.core_to_core.bands import band
from commonir.conversions.core_to_core.padding import continued
from commonir.conversions.core_to_tosa.building import fixed, known, numbers, reshaped
from commonir.conversions.core_to_tosa.elementwise import computes_with, is_narrow
from commonir.conversions.operands import axes_from_start, dims_of, element_of, rank_of
from commonir.dialects import core
from commonir.dialects.core.base import accumulator, axis_of
from commonir.dialects.core.shape import slice_range
from commonir.dialects.mlir import tosa
from commonir.dialects.mlir.tosa import reduction
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, i8, i32, i64
from commonir.ods import Op
from commonir.rewrite.legalize import Context, LegalizationRule, Mismatch, Result, counterparts_in, rule
from commonir.symbolic import Dim, element_count


@rule(core.Reshape)
def reshape(op: core.Reshape, context: Context, x: Value) -> Result:
    return reshaped(context, x, dims_of(op.y))


@rule(core.Transpose)
def transpose(op: core.Transpose, context: Context, x: Value) -> Result:
    perms = tuple([axis_of(p, rank_of(op.x)) for p in op.perm])
    if len(perms) < 2:
        return x
    return tosa.Transpose.build({"input1": x, "perms": perms}, [op.y.type])


@rule(core.Concat)
def concat(op: core.Concat, context: Context, xs: tuple[Value, ...]) -> Result:
    axis = axis_of(op.axis, rank_of(op.xs[0]))
    pieces = [x for x, source in zip(xs, op.xs, strict=True) if dims_of(source)[axis] != 0]
    if len(pieces) == 1:
        return pieces[0]
    return tosa.Concat.build({"input1": tuple(pieces), "axis": axis}, [op.y.type])


@rule(core.Slice)
def slice_(op: core.Slice, context: Context, x: Value) -> Result:
    """Steps and directions first; a part in steps is the first column of rows as long as a step."""
    rows = zip(dims_of(op.x), op.starts, op.stops, op.steps, strict=True)
    ranges = [slice_range(n, start, stop, step) for n, start, stop, step in rows]
    firsts, remaining = known([first for first, _ in ranges]), [count for _, count in ranges]
    if all(
        s == 1 and (isinstance(c, int) or c == n - f)
        for s, f, c, n in zip(op.steps, firsts, remaining, dims_of(op.x), strict=True)
    ):
        return part(context, x, firsts, remaining)
    dims, counts = known(dims_of(op.x)), known(remaining)
    turned = tuple([a for a, step in enumerate(op.steps) if step < 0])
    if turned:
        x = core.reverse(x, turned)
        firsts = [dims[a] - 1 - f if a in turned else f for a, f in enumerate(firsts)]
    steps = [abs(s) for s in op.steps]
    spans = [min(n - f, c * s) for n, f, c, s in zip(dims, firsts, counts, steps, strict=True)]
    result = part(context, x, firsts, spans)
    for axis, (count, step) in enumerate(zip(counts, steps, strict=True)):
        if step == 1 or count == spans[axis]:
            continue
        shape = list(dims_of(result))
        rest = count * step - spans[axis]
        if rest:
            result = core.pad(result, (0,) * len(shape), tuple([rest if a == axis else 0 for a in range(len(shape))]))
        rows_of = core.reshape(result, (*shape[:axis], count, step, *shape[axis + 1 :]))
        expected = [*shape[:axis], count, 1, *shape[axis + 1 :]]
        column = core.slice(rows_of, (0,) * len(expected), tuple(expected), (1,) * len(expected))
        result = core.reshape(column, (*shape[:axis], count, *shape[axis + 1 :]))
    return result


def part(context: Context, x: Value, firsts: Sequence[int], counts: Sequence[Dim]) -> Value:
    """A part of a tensor without gaps; a count that is an expression is all that is left of its axis."""
    if tuple(counts) == dims_of(x):
        return x
    dim = fixed(context, [c if isinstance(c, int) else -1 for c in counts])
    arguments = {"input1": x, "start": fixed(context, firsts), "size": dim}
    return tosa.Slice.build(arguments, [TensorType(element_of(x), tuple(counts))]).results[0]


@rule(core.Split)
def split(op: core.Split, context: Context, x: Value) -> Result:
    axis, start = axis_of(op.axis, rank_of(op.x)), 0
    out: list[Value] = []
    for y in op.results:
        counts = dims_of(y)
        out.append(part(context, x, [start if a == axis else 0 for a in range(len(counts))], counts))
        start += known([counts[axis]])[0]
    return tuple(out)


@rule(core.Reverse)
def reverse(op: core.Reverse, context: Context, x: Value) -> Result:
    for axis in axes_from_start(op.axes, rank_of(op.x)):
        x = tosa.Reverse.build({"input1": x, "axis": axis}, [op.x.type]).results[0]
    return x


@rule(core.Pad)
def pad(op: core.Pad, context: Context, x: Value) -> Result:
    if op.mode is not core.PadMode.CONSTANT:
        return continued(x, op.mode, op.before, op.after)
    if min((*op.before, *op.after), default=0) < 0:
        return Mismatch("tosa.pad does not cut")
    element = element_of(op.x)
    amounts = [n for pair in zip(op.before, op.after, strict=True) for n in pair]
    if not amounts:
        return x
    value = bool(op.value) if element is boolean else int(op.value) if element.is_integer else op.value
    number = numbers(context, element, (1,), (value,))
    arguments = {"input1": x, "padding": fixed(context, amounts), "pad_const": number}
    return tosa.Pad.build(arguments, [op.y.type])


@rule(core.Tile)
def tile(op: core.Tile, context: Context, x: Value) -> Result:
    if not op.repeats:
        return x
    return tosa.Tile.build({"input1": x, "multiples": fixed(context, op.repeats)}, [op.y.type])


@rule(core.BroadcastTo)
def broadcast_to(op: core.BroadcastTo, context: Context, x: Value) -> Result:
    expected = dims_of(op.y)
    own = (1,) * (len(expected) - rank_of(op.x)) + dims_of(op.x)
    if not expected:
        return x
    repeats = [1 if n == m else m for n, m in zip(own, expected, strict=True)]
    return core.tile(reshaped(context, x, own), tuple(repeats))


@rule(core.BandPart)
def band_part(op: core.BandPart, context: Context, x: Value) -> Result:
    """Zeros where positions along the last two axes are too far apart."""
    rows, columns = known(dims_of(op.x)[-2:])
    element = element_of(op.x)
    return core.select(band(op, rows, columns), x, core.scalar(False if element is boolean else 0, element))


@rule(core.Gather)
def gather(op: core.Gather, context: Context, x: Value, positions: Value) -> Result:
    """Rows of a matrix, of which each is a slice."""
    shape, where = dims_of(op.x), dims_of(op.positions)
    axis = axis_of(op.axis, len(shape))
    others = [n for a, n in enumerate(shape) if a != axis]
    width, count = element_count(others), element_count(where)
    element = element_of(op.positions)
    if element.kind == "uint":
        return Mismatch("tosa computes with no unsigned integers")
    dim = known([shape[axis]])[0]
    positions_ = positions if element is i32 else core.cast(positions, i32)
    counted = core.select(
        core.less(positions_, core.scalar(0, i32)), core.add(positions_, core.scalar(dim, i32)), positions_
    )
    order = (axis, *[a for a in range(len(shape)) if a != axis])
    moved = x if axis == 0 else core.transpose(x, order)
    rows = core.reshape(moved, (1, dim, width))
    flat = core.reshape(counted, (1, count))
    spread = core.reshape(gathered(rows, flat), (*where, *others))
    back = (
        *range(len(where), len(where) + axis),
        *range(len(where)),
        *range(len(where) + axis, len(where) + len(others)),
    )
    return spread if back == tuple(range(len(back))) else core.transpose(spread, back)


def gathered(rows: Value, positions: Value) -> Value:
    """Rows of the matrices of a batch, [batch, row, element], at positions of 32 bits, [batch, position].

    The profiles of tosa have this of positions as wide as integers of 64 bits, and of no bools.
    """
    element = element_of(rows)
    if element is boolean:
        return core.cast(gathered(core.cast(rows, i8), positions), boolean)
    at = core.cast(positions, i64) if element.bits > i32.bits else positions
    (batch, _, width), (_, count) = dims_of(rows), dims_of(positions)
    return tosa.Gather.build({"values": rows, "indices": at}, [TensorType(element, (batch, count, width))]).results[0]


def _reduction(source: type[Op], definition: type[Op]) -> LegalizationRule:
    def build(op: core.Reduce, context: Context, x: Value) -> Result:
        element = element_of(op.x)
        if is_narrow(element):
            return core.cast(type(op)(core.cast(x, i32), op.axes, op.keep_dims).y, element)
        return computes_with(element) or _reduced(context, op, x, definition)

    return LegalizationRule(source, build)


def _reduced(context: Context, op: core.Reduce, x: Value, definition: type[Op]) -> Value:
    """Axis after axis, each left with size 1."""
    shape = list(dims_of(op.x))
    is_sum = definition in (tosa.ReduceSum, tosa.ReduceProduct)
    element = accumulator(element_of(op.x)) if is_sum else element_of(op.x)
    result = x if element is element_of(op.x) else core.cast(x, element)
    for axis in axes_from_start(op.axes or range(len(shape)), len(shape)):
        shape[axis] = 1
        arguments = {"input": result, "axis": axis}
        result = definition.build(arguments, [TensorType(element, tuple(shape))]).results[0]
    result = core.reshape(result, dims_of(op.y))
    return result if element is element_of(op.x) else core.cast(result, element_of(op.x))


REDUCTIONS = [_reduction(source, definition) for source, definition in counterparts_in(reduction).items()]


@rule(core.ReduceMean)
def mean(op: core.ReduceMean, context: Context, x: Value) -> Result:
    """Half precision is summed and divided in single precision."""
    shape = dims_of(op.x)
    count: Dim = element_count([shape[a] for a in axes_from_start(op.axes or range(len(shape)), len(shape))])
    (number,) = known([count])
    element = element_of(op.x)
    wide = accumulator(element)
    summed = core.reduce_sum(x if wide is element else core.cast(x, wide), op.axes, op.keep_dims)
    result = core.mul(summed, core.splat(1.0 / number, summed))
    return result if wide is element else core.cast(result, element)


@rule(core.ArgMax)
def arg_max(op: core.ArgMax, context: Context, x: Value) -> Result:
    reason = computes_with(element_of(op.x))
    if reason is not None:
        return reason
    shape = dims_of(op.x)
    axis = axis_of(op.axis, len(shape))
    type = TensorType(i32, (*shape[:axis], *shape[axis + 1 :]))
    result = tosa.ArgMax.build({"input": x, "axis": axis}, [type]).results[0]
    wide = result if op.element is i32 else core.cast(result, op.element)
    return core.unsqueeze(wide, (axis,)) if op.keep_dims else wide


@rule(core.ArgMin)
def arg_min(op: core.ArgMin, context: Context, x: Value) -> Result:
    if not element_of(op.x).is_float:
        return Mismatch("tosa.argmax finds the largest of integers only, and the least one has no negative")
    return core.arg_max(core.neg(x), op.axis, op.keep_dims, op.element)
