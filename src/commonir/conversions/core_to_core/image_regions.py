"""Regions of images brought to one size by reading images at positions, for targets that have no operator for them."""

from __future__ import annotations

from commonir.conversions.operands import dims_of, element_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import f32, i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim


@rule(core.RegionAlign)
def region_align(op: core.RegionAlign, context: Context, x: Value, boxes: Value, images: Value) -> Result:
    return region_means(op, x, boxes, images)


def region_means(op: core.RegionAlign, x: Value, boxes: Value, images: Value) -> Value | Mismatch:
    """Images read at all samples of their regions, and means of them."""
    if op.mode is not core.RegionMode.MEAN or not op.samples:
        return Mismatch("the samples of a region differ in number, or the largest share is wanted")
    count, (_, channels, *image), wide = dims_of(boxes)[0], dims_of(x), f32
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


def _samples(op: core.RegionAlign, first: Value, end: Value, parts: int, dim: Dim) -> tuple[Value, Value]:
    """Where the samples of regions lie along one axis, [region, sample], and 1 for those within an image, else 0."""
    count = parts * op.samples
    length = core.sub(end, first)
    if not op.half_pixel:
        length = core.maximum(length, core.scalar(1.0, f32))
    places = core.cast(core.iota((1, count), 1, i32), f32)
    shares = core.div(core.add(places, core.scalar(0.5, f32)), core.scalar(float(count), f32))
    at = core.add(first, core.mul(length, shares))
    limit = core.cast(core.dims((dim,), i32, True), f32)
    inside = core.logical_and(core.greater_equal(at, core.scalar(-1.0, f32)), core.less_equal(at, limit))
    return at, core.cast(inside, f32)
