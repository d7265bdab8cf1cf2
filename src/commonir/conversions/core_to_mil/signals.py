"""Rules for Fourier transforms, for regions of images, and for positions of the largest elements of windows.

Core ML has no such operations: they become products with matrices, images read at positions, and slices.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

from commonir.conversions.core_to_mil.building import computed, small
from commonir.conversions.core_to_mil.windows import padded_for_slices
from commonir.conversions.operands import axes_from_start, element_of, rank_of, sizes_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_LENGTH = 4096
"""Length up to which a transform is a matrix: it has 4 length^2 elements at most, 256 megabytes."""


@rule(core.Dft)
def dft(op: core.Dft, context: Context, x: Value) -> Result:
    """A product along the axis with the cosines and sines of all frequencies."""
    length, (axis,) = op.length, axes_from_start((op.axis,), rank_of(x))
    sizes = sizes_of(x)
    kinds, given = sizes[-1], sizes[axis]
    if not isinstance(length, int) or length > MAX_LENGTH or not isinstance(given, int) or not isinstance(kinds, int):
        return Mismatch("the length of the transform is not known, or too large for a matrix")
    half, is_real = length // 2 + 1, op.inverse and op.onesided
    taken = half if is_real else length
    # Parts lie one after another on the last axis: all real ones, then all imaginary ones.
    parts = [core.squeeze(p, (-1,)) for p in (core.split(x, -1, (1,) * kinds) if kinds > 1 else (x,))]
    rank = rank_of(x) - 1
    order = (*range(axis), *range(axis + 1, rank), axis)
    rows = [_resized(core.transpose(p, order) if axis != rank - 1 else p, taken) for p in parts]
    matrix = _matrix(element_of(x), op, length, taken, kinds)
    y = core.linear(core.concat(tuple(rows), -1) if kinds > 1 else rows[0], matrix)
    outputs = 1 if is_real else 2
    count = half if op.onesided and not op.inverse else length
    y = core.reshape(y, (*sizes_of(rows[0])[:-1], outputs, count))
    # Back: the frequencies to their axis, real and imaginary part to the end.
    return core.transpose(y, (*range(axis), rank, *range(axis, rank - 1), rank - 1))


def _resized(x: Value, size: int) -> Value:
    """A tensor with its last axis cut, or continued with zeros."""
    *lead, n = sizes_of(x)
    assert isinstance(n, int)
    if n > size:
        return core.slice(x, (0,) * (len(lead) + 1), (*lead, size), (1,) * (len(lead) + 1))
    return x if n == size else core.pad(x, (0,) * (len(lead) + 1), (*(0,) * len(lead), size - n))


def _matrix(element: ElementType, op: core.Dft, length: int, taken: int, kinds: int) -> Value:
    """The matrix of a transform of real parts, and of imaginary ones after them."""
    is_real = op.inverse and op.onesided
    count = length // 2 + 1 if op.onesided and not op.inverse else length

    def compute() -> NDArray[np.generic]:
        import numpy as np  # noqa: PLC0415  loaded when a constant is computed

        from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

        turns = np.outer(np.arange(count), np.arange(taken)) % length
        angle = turns * (2 * math.pi / length)
        cos, sin = np.cos(angle), np.sin(angle) * (-1 if op.inverse else 1)
        if is_real:
            # Frequencies stand for their conjugates too, except the first and, of an even length, the last.
            twice = np.full(taken, 2.0)
            twice[0] = 1.0
            if length % 2 == 0:
                twice[-1] = 1.0
            whole = np.concatenate([cos * twice, sin * twice], 1)
        else:
            whole = np.block([[cos, sin], [-sin, cos]])
        if op.inverse:
            whole = whole / length
        return whole[:, : taken * kinds].astype(dtype_of(element.name))

    return computed(element, (count * (1 if is_real else 2), taken * kinds), compute)


@rule(core.RegionAlign)
def region_align(op: core.RegionAlign, context: Context, x: Value, boxes: Value, images: Value) -> Result:
    """Images read at all samples of their regions, and means of them."""
    if op.mode is not core.RegionMode.MEAN or not op.samples:
        return Mismatch("the samples of a region differ in number, or the largest share is wanted")
    count, (_, channels, *image), wide = sizes_of(boxes)[0], sizes_of(x), f32
    bounds = core.sub(
        core.mul(core.cast(boxes, wide), core.scalar(op.scale, wide)), core.scalar(0.5 * op.half_pixel, wide)
    )
    left, top, right, bottom = core.split(bounds, 1, (1, 1, 1, 1))
    rows, down = _samples(op, top, bottom, op.sizes[0], image[0])
    columns, across = _samples(op, left, right, op.sizes[1], image[1])
    lines, width = op.sizes[0] * op.samples, op.sizes[1] * op.samples
    shape = (count, lines, width)
    grid = core.stack(
        (core.broadcast_to(core.unsqueeze(columns, (1,)), shape), core.broadcast_to(core.unsqueeze(rows, (2,)), shape)),
        3,
    )
    read = core.grid_sample(core.gather(core.cast(x, wide), images, 0), grid, border=core.Border.EDGE)
    inside = core.mul(core.unsqueeze(core.unsqueeze(down, (1,)), (3,)), core.reshape(across, (count, 1, 1, width)))
    means = core.average_pool(core.mul(read, inside), (op.samples,) * 2, (op.samples,) * 2)
    return core.cast(core.reshape(means, (count, channels, *op.sizes)), element_of(x))


def _samples(op: core.RegionAlign, first: Value, end: Value, parts: int, size: object) -> tuple[Value, Value]:
    """Where the samples of regions lie along one axis, [region, sample], and 1 for those within an image, else 0."""
    count = parts * op.samples
    length = core.sub(end, first)
    if not op.half_pixel:
        length = core.maximum(length, core.scalar(1.0, f32))
    places = core.cast(core.iota((1, count), 1, i32), f32)
    shares = core.div(core.add(places, core.scalar(0.5, f32)), core.scalar(float(count), f32))
    at = core.add(first, core.mul(length, shares))
    limit = core.cast(core.dims((size,), i32, True), f32)  # pyright: ignore[reportArgumentType]  # a size of a shape
    inside = core.logical_and(core.greater_equal(at, core.scalar(-1.0, f32)), core.less_equal(at, limit))
    return at, core.cast(inside, f32)


@rule(core.MaxPoolWithPositions)
def max_pool_with_positions(op: core.MaxPoolWithPositions, context: Context, x: Value) -> Result:
    """The operand at each place of the window as slices along a new axis; the largest of them, and where it lies."""
    spatial = len(op.kernel)
    sizes, found = sizes_of(x), sizes_of(op.y)
    fixed = [n for n in (*sizes[2:], *found[2:]) if isinstance(n, int)]
    if len(fixed) != 2 * spatial or len(sizes) > 4:
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
