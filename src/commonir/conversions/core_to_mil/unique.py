"""The rule for what is different among elements or slices: all pairs are compared."""

from __future__ import annotations

from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import boolean, i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

MOST_PAIRS = 1 << 24
"""Comparisons of elements up to which the pairs are compared: 64 megabytes of them."""


@rule(core.Unique)
def unique(op: core.Unique, context: Context, x: Value) -> Result:
    axis = None if op.axis is None else core.axis_of(op.axis, rank_of(x))
    flat = core.reshape(x, (-1,)) if axis is None else x
    along = axis or 0
    order = (along, *range(along), *range(along + 1, rank_of(flat)))
    rows = core.reshape(core.transpose(flat, order), (dims_of(flat)[along], -1))
    count, width = dims_of(rows)
    if not isinstance(count, int) or not isinstance(width, int) or not 0 < count * count * width <= MOST_PAIRS:
        return Mismatch("the number of pairs is not known, or too large")
    same, less = _compared(core.cast(rows, i32) if element_of(x) is boolean else rows)
    is_same = core.cast(same, i32)
    lines, columns = (core.iota((count, count), a, i32) for a in (0, 1))
    earlier = core.reduce_sum(core.mul(is_same, core.cast(core.greater(lines, columns), i32)), (1,))
    is_first = core.cast(core.equal(earlier, core.splat(0, earlier)), i32)
    if op.ascending:
        place = core.reduce_sum(core.mul(core.cast(less, i32), core.unsqueeze(is_first, (1,))), (0,))
    else:
        met = core.arg_max(is_same, 1, False, i32)
        place = core.gather(core.cumsum(is_first, 0, True), met, 0)
    result = core.cast(core.squeeze(core.non_zero(is_first), (1,)), i32)
    first = core.gather(result, core.cast(core.argsort(core.gather(place, result, 0), 0), i32), 0)
    counts = core.gather(core.reduce_sum(is_same, (1,)), first, 0)
    return core.gather(flat, first, along), first, place, counts


def _compared(rows: Value) -> tuple[Value, Value]:
    """For all pairs of rows whether they are the same, and whether the first is less where they first differ."""
    a, b = core.unsqueeze(rows, (1,)), core.unsqueeze(rows, (0,))
    same, less = core.equal(a, b), core.less(a, b)
    if element_of(rows).is_float:
        # NaN equals NaN and is larger than every number.
        strange, other = core.is_nan(a), core.is_nan(b)
        same = core.logical_or(same, core.logical_and(strange, other))
        less = core.logical_or(less, core.logical_and(core.logical_not(strange), other))
    agrees = core.cast(same, i32)
    differences = core.cumsum(core.sub(core.splat(1, agrees), agrees), 2, True)
    decides = core.logical_and(less, core.equal(differences, core.splat(0, differences)))
    return (
        core.cast(core.reduce_min(agrees, (2,)), boolean),
        core.cast(core.reduce_max(core.cast(decides, i32), (2,)), boolean),
    )
