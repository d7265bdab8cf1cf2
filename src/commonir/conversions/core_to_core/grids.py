"""Images of any number of axes read at positions, for what a format has no operation for.

Every neighbour of a position is gathered and weighed. Positions are integers held in single precision.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.base.tuples import NamedTuple
from commonir.conversions.operands import dims_of, element_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import f32, i32
from commonir.symbolic import Dim, element_count


class _Taps(NamedTuple):
    """The elements read along one axis for each position, [image, position, tap], and their weights."""

    places: Value
    weights: Value


def read_at_positions(op: core.GridSample, x: Value, grid: Value) -> Value:
    """Returns the samples of images at a grid: the neighbours of each position, summed with their weights."""
    if op.value:
        shift = core.splat(op.value, x)
        inner = core.grid_sample(core.sub(x, shift), grid, op.mode, op.border, op.unit)
        return core.add(inner, shift)
    (n, c, *dims), (_, *places, _) = dims_of(x), dims_of(grid)
    rank = len(dims)
    count = element_count(tuple(places))
    flat = core.reshape(core.cast(grid, f32), (n, count, rank))
    # Positions count along the last axis first.
    lines = core.split(flat, -1, (1,) * rank)[::-1] if rank > 1 else (flat,)
    each = [_taps(op, line, dim) for line, dim in zip(lines, dims, strict=True)]
    index, weights = each[0]
    for taps, dim in zip(each[1:], dims[1:], strict=True):
        index = _outer(core.mul(index, _number(dim)), taps.places, core.add)
        weights = _outer(weights, taps.weights, core.mul)
    taken = dims_of(index)[2]
    rows = core.transpose(core.reshape(core.cast(x, f32), (n, c, element_count(tuple(dims)))), (0, 2, 1))
    at = core.reshape(core.cast(index, i32), (n, count * taken, 1))
    read = core.reshape(core.gather_nd(rows, at, 1), (n, count, taken, c))
    summed = core.reduce_sum(core.mul(read, core.unsqueeze(weights, (-1,))), (2,))
    return core.cast(core.reshape(core.transpose(summed, (0, 2, 1)), (n, c, *places)), element_of(x))


def _number(dim: Dim) -> Value:
    return core.cast(core.dims((dim,), i32, True), f32)


def _const(value: float) -> Value:
    return core.scalar(value, f32)


def _outer(a: Value, b: Value, combine: Callable[[Value, Value], Value]) -> Value:
    """Every value of one list for each position combined with every value of another, [image, position, pair]."""
    n, count, k = dims_of(a)
    t = dims_of(b)[2]
    return core.reshape(combine(core.unsqueeze(a, (3,)), core.unsqueeze(b, (2,))), (n, count, k * t))


def _taps(op: core.GridSample, position: Value, dim: Dim) -> _Taps:
    """The elements read along an axis of a size for positions [image, position, 1]."""
    length = _number(dim)
    last = core.sub(length, _const(1.0))
    place = _in_elements(op, position, length, last)
    if op.border in (core.Border.REFLECT, core.Border.SYMMETRIC):
        place = _mirrored(op, place, length, last)
    if op.mode is not core.ResizeMode.CUBIC and op.border is not core.Border.CONSTANT:
        place = _clipped(place, last)
    if op.mode is core.ResizeMode.NEAREST:
        whole = core.round(place)
        return _Taps(_clipped(whole, last), _inside(op, whole, last))
    low = core.floor(place)
    part = core.sub(place, low)
    shares, first = (_linear(part), 0) if op.mode is core.ResizeMode.LINEAR else (_cubic(part), -1)
    whole = core.concat(tuple([core.add(low, _const(float(first + k))) for k in range(len(shares))]), -1)
    weights = core.mul(core.concat(shares, -1), _inside(op, whole, last))
    if op.mode is core.ResizeMode.CUBIC and op.border in (core.Border.REFLECT, core.Border.SYMMETRIC):
        whole = _mirrored(op, whole, length, last)
    return _Taps(_clipped(whole, last), weights)


def _in_elements(op: core.GridSample, position: Value, length: Value, last: Value) -> Value:
    """A position counted in elements from the centre of the first."""
    one, two = _const(1.0), _const(2.0)
    match op.unit:
        case core.Unit.PIXELS:
            return position
        case core.Unit.CENTRES:
            return core.mul(core.div(core.add(position, one), two), last)
        case core.Unit.EDGES:
            return core.div(core.sub(core.mul(core.add(position, one), length), one), two)


def _mirrored(op: core.GridSample, place: Value, length: Value, last: Value) -> Value:
    """A position mirrored until it lies in the image: about centres of elements, or about their outer edges."""
    if op.border is core.Border.REFLECT:
        span, shift = core.maximum(last, _const(1.0)), _const(0.0)
    else:
        span, shift = length, _const(0.5)
    turn = core.mod(core.add(place, shift), core.mul(span, _const(2.0)))
    return core.sub(core.sub(span, core.abs(core.sub(turn, span))), shift)


def _inside(op: core.GridSample, whole: Value, last: Value) -> Value:
    """1 for elements that are there, 0 for others; the border stands for those unless it is constant."""
    if op.border is not core.Border.CONSTANT:
        return core.add(core.mul(whole, _const(0.0)), _const(1.0))
    there = core.logical_and(core.greater_equal(whole, _const(0.0)), core.less_equal(whole, last))
    return core.cast(there, f32)


def _clipped(place: Value, last: Value) -> Value:
    return core.minimum(core.maximum(place, _const(0.0)), last)


def _linear(part: Value) -> tuple[Value, ...]:
    """The weights of the element before a position and of the one after it."""
    return core.sub(_const(1.0), part), part


def _cubic(part: Value) -> tuple[Value, ...]:
    """The weights of the four elements around a position, by Keys' formula with -3/4."""
    a = -0.75

    def near(t: Value) -> Value:
        inner = core.sub(core.mul(t, _const(a + 2)), _const(a + 3))
        return core.add(core.mul(core.mul(inner, t), t), _const(1.0))

    def far(t: Value) -> Value:
        inner = core.add(core.mul(core.sub(t, _const(5.0)), t), _const(8.0))
        return core.mul(core.sub(core.mul(inner, t), _const(4.0)), _const(a))

    one = _const(1.0)
    rest = core.sub(one, part)
    return far(core.add(part, one)), near(part), near(rest), far(core.add(rest, one))
