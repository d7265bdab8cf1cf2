"""The rule for positions of the largest elements of windows, which Core ML has no operation for: slices."""

from __future__ import annotations

import math
from itertools import product

from commonir.conversions.core_to_mil.building import small
from commonir.conversions.core_to_mil.windows import padded_for_slices
from commonir.conversions.operands import dims_of, element_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.MaxPoolWithPositions)
def max_pool_with_positions(op: core.MaxPoolWithPositions, context: Context, x: Value) -> Result:
    """The operand at each place of the window as slices along a new axis; the largest of them, and where it lies."""
    spatial = len(op.kernel)
    dims, y_dims = dims_of(x), dims_of(op.y)
    fixed = [n for n in (*dims[2:], *y_dims[2:]) if isinstance(n, int)]
    if len(fixed) != 2 * spatial or len(dims) > 4:
        return Mismatch("sizes are not fixed, or there is no room for an axis of places")
    slices = padded_for_slices(op, x)
    whole = core.stack(tuple(slices), -1)
    place = core.arg_max(whole, -1, False, i32)
    strides, dilations = op.strides or (1,) * spatial, op.dilations or (1,) * spatial
    pads = op.pads or ((0, 0),) * spatial
    steps = [math.prod(fixed[n + 1 : spatial]) for n in range(spatial)]
    places = list(product(*[range(k) for k in op.kernel]))
    shifts = [sum(j * d * s for j, d, s in zip(at, dilations, steps, strict=True)) for at in places]
    corners = [
        sum((i * t - low) * s for i, t, (low, _), s in zip(at, strides, pads, steps, strict=True))
        for at in product(*[range(n) for n in fixed[spatial:]])
    ]
    first = small(context, i32, (1, 1, *fixed[spatial:]), corners)
    at = core.add(core.gather(core.vector(tuple(shifts), i32), place, 0), first)
    return core.reduce_max(whole, (-1,)), core.cast(at, element_of(op.position))
