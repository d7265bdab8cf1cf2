"""Pooling of regions of images to one size.

Source: ONNX RoiAlign and MaxRoiPool; R. Girshick, Fast R-CNN, 2015; K. He and others, Mask R-CNN, 2017.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.dialects.core.base import FLOATS, CoreOp, function, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import Type, i32, i64
from commonir.ods import (
    attr_types,
    attribute,
    constraint,
    element_type,
    non_negative,
    operand,
    positive,
    result,
    traits,
)

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]
    Floats = NDArray[np.floating]
    Whole = NDArray[np.int64]


class RegionMode(Enum):
    """Pooling of a bin of a region: the mean of its samples, or their largest weighted element."""

    MEAN = "mean"
    MAX = "max"


class RegionAlign(CoreOp, name="core.region_align", traits=(traits.Pure,)):
    """RoIAlign: regions of images divided into equal bins, each sampled on a grid by linear interpolation and pooled.

    A region is (x, y) of its first corner and of its last, in images times `scale`. A bin has `samples` rows and
    columns of samples, or, with 0, as many as the size of the bin rounded up. `half_pixel` shifts regions by half an
    element towards the origin; without it they have a size of at least 1. A sample outside of an image by more than one
    element is 0, a closer one has the value at the border. The maximum is taken of elements times their interpolation
    weights. Computed in single precision at least.
    """

    x: Value = operand("T[n, c, h, w]")
    boxes: Value = operand("T[r, 4]")
    images: Value = operand("I[r]")
    sizes: tuple[int, ...] = attribute(attr_types.integers, check=positive)
    samples: int = attribute(attr_types.integer, default=0, check=non_negative)
    scale: float = attribute(attr_types.number, default=1.0)
    mode: RegionMode = attribute(attr_types.enumeration(RegionMode), default=RegionMode.MEAN)
    half_pixel: bool = attribute(attr_types.flag, default=True)
    y: Value = result("T[r, c, p, q]")
    T = FLOATS
    I = element_type(i32, i64)  # noqa: E741  of positions

    @constraint("C1")
    def sizes_are_two(self) -> object:
        """The result has two sizes."""
        return len(self.sizes) == 2

    def infer(self) -> tuple[Type, ...]:
        return (_regions_type(self.x, self.boxes, self.sizes),)

    def reference(self, x: Array, boxes: Array, images: Array) -> Array:
        xp = x.__array_namespace__()
        wide = x.astype(xp.result_type(x.dtype, xp.float32))
        out = xp.zeros((len(boxes), x.shape[1], *self.sizes), wide.dtype)
        bounds = boxes.astype(wide.dtype) * wide.dtype.type(self.scale) - wide.dtype.type(0.5 * self.half_pixel)
        found = _means if self.mode is RegionMode.MEAN else _largest
        for n, (left, top, right, bottom) in enumerate(bounds):
            rows = self._line(xp, float(top), float(bottom), self.sizes[0], x.shape[2])
            columns = self._line(xp, float(left), float(right), self.sizes[1], x.shape[3])
            if rows.low.size and columns.low.size:
                out[n] = found(wide[int(images[n])], rows, columns)
        return out.astype(x.dtype)

    def _line(self, xp: ModuleType, first: float, end: float, parts: int, size: int) -> _Line:
        """The samples of a region along one axis."""
        length = end - first if self.half_pixel else max(end - first, 1.0)
        step = length / parts
        count = self.samples or max(math.ceil(step), 0)
        at = first + (xp.arange(parts)[:, None] + (xp.arange(count) + 0.5) / max(count, 1)) * step
        inside = (at >= -1.0) & (at <= size)
        at = xp.clip(at, 0, size - 1)
        low = at.astype(int)
        part = at - low
        return _Line(low, xp.minimum(low + 1, size - 1), (1 - part) * inside, part * inside)


class _Line(NamedTuple):
    """Samples along one axis, [bin, sample]: the elements before and after, and their weights."""

    low: Whole
    high: Whole
    before: Floats
    after: Floats


def _means(image: Floats, rows: _Line, columns: _Line) -> Floats:
    """The mean of each part: along each axis a product with the mean weights of elements."""
    across = _weights(columns, image.shape[2], image)
    return _weights(rows, image.shape[1], image) @ (image @ across.T)


def _weights(line: _Line, size: int, like: Floats) -> Floats:
    """The mean weights of the elements of an axis in each part, [part, element]."""
    xp, (parts, count) = like.__array_namespace__(), line.low.shape
    out = xp.zeros((parts, size), float)
    part = xp.broadcast_to(xp.arange(parts)[:, None], line.low.shape)
    xp.add.at(out, (part, line.low), line.before / count)
    xp.add.at(out, (part, line.high), line.after / count)
    return out.astype(like.dtype)


def _largest(image: Floats, rows: _Line, columns: _Line) -> Floats:
    """The largest share of an element in a sample of each part."""
    xp = image.__array_namespace__()
    out: Floats | None = None
    for at, weight in ((rows.low, rows.before), (rows.high, rows.after)):
        for beside, other in ((columns.low, columns.before), (columns.high, columns.after)):
            read = image[:, at.reshape(-1)][:, :, beside.reshape(-1)]
            shares = read * (weight.reshape(-1, 1) * other.reshape(-1)).astype(image.dtype)
            most = shares.reshape(-1, *at.shape, *beside.shape).max(axis=(2, 4))
            out = most if out is None else xp.maximum(out, most)
    assert out is not None
    return out


class RegionMaxPool(CoreOp, name="core.region_max_pool", traits=(traits.Pure,)):
    """Max pooling of regions: the largest element of each of the equal bins of regions of images; 0 for an empty bin.

    A region is the index of an image and (x, y) of its first and last corners, in images times `scale`, rounded to
    elements, halves up; both corners are included. Bins are extended to whole elements.
    """

    x: Value = operand("T[n, c, h, w]")
    boxes: Value = operand("T[r, 5]")
    sizes: tuple[int, ...] = attribute(attr_types.integers, check=positive)
    scale: float = attribute(attr_types.number, default=1.0)
    y: Value = result("T[r, c, p, q]")
    T = FLOATS

    @constraint("C1")
    def sizes_are_two(self) -> object:
        """The result has two sizes."""
        return len(self.sizes) == 2

    def infer(self) -> tuple[Type, ...]:
        return (_regions_type(self.x, self.boxes, self.sizes),)

    def reference(self, x: Array, boxes: Array) -> Array:
        xp = x.__array_namespace__()
        out = xp.zeros((len(boxes), x.shape[1], *self.sizes), x.dtype)
        for n, (image, *corners) in enumerate(boxes.tolist()):
            left, top, right, bottom = [math.floor(c * self.scale + 0.5) for c in corners]
            rows = _spans(top, bottom, self.sizes[0], x.shape[2])
            columns = _spans(left, right, self.sizes[1], x.shape[3])
            for i, (first, end) in enumerate(rows):
                for j, (start, stop) in enumerate(columns):
                    if end > first and stop > start:
                        out[n, :, i, j] = x[int(image), :, first:end, start:stop].max(axis=(1, 2))
        return out


def _spans(first: int, last: int, parts: int, size: int) -> list[tuple[int, int]]:
    """The elements of each part of a region along one axis."""
    length = max(last - first + 1, 1)
    bounds = [(first + p * length // parts, first - (-(p + 1) * length // parts)) for p in range(parts)]
    return [(min(max(a, 0), size), min(max(b, 0), size)) for a, b in bounds]


def _regions_type(x: Value, boxes: Value, sizes: tuple[int, ...]) -> Type:
    """The type of one value for each part of each region and channel."""
    type, count = tensor_type(x), tensor_type(boxes).shape
    channels = None if type.shape is None else type.shape[1]
    return type.with_shape((None if count is None else count[0], channels, *sizes))


region_align = function(RegionAlign)
region_max_pool = function(RegionMaxPool)
