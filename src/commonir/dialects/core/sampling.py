"""Sampling of images at computed positions, and non-maximum suppression.

Positions and weights are formed in single precision at least.
Source: ONNX GridSample and NonMaxSuppression; Core ML MIL resample and non_maximum_suppression.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING

from commonir.dialects.core.base import FLOATS, REALS, CoreOp, accumulator, function, tensor_type
from commonir.dialects.core.resize import ResizeMode
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, i64
from commonir.notation import Expr, Index, Indices, Kernel, NotationError, Tensor, call, cast, lift, require, select
from commonir.ods import attr_types, attribute, constraint, element_type, operand, positive, result, traits
from commonir.symbolic import Dim, largest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]
    Floats = NDArray[np.float32]
    Whole = NDArray[np.int64]


class Border(Enum):
    """Values outside of an image: a constant, its border, or its mirror image.

    REFLECT mirrors about the centres of the border elements, SYMMETRIC about their outer edges.
    """

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class Unit(Enum):
    """Units of positions along an axis of n elements.

    PIXELS: the centre of element i is i. CENTRES: those of the first and last elements are -1 and 1. EDGES: the outer
    edges of these elements are -1 and 1.
    """

    PIXELS = "pixels"
    CENTRES = "centres"
    EDGES = "edges"


class GridSample(CoreOp, name="core.grid_sample", traits=(traits.Pure,)):
    """Samples images at positions (x, y), where x is the column and y the row, by interpolation or from the nearest
    element.

    Images may have any number of spatial axes; coordinates begin with the last one. Halfway between two elements the
    nearest is the one with the even index. With a constant border each neighbour outside has that value; a NaN
    coordinate gives an unspecified value. Cubic interpolation is that of Keys with the coefficient -3/4; neighbours
    outside follow the border mode.

    C1: interpolated elements are floats. C2: positions have one coordinate for each spatial axis.
    """

    x: Value = operand("T[n, c, s*]")
    grid: Value = operand("U[n, o*, d]")
    mode: ResizeMode = attribute(attr_types.enumeration(ResizeMode), default=ResizeMode.LINEAR)
    border: Border = attribute(attr_types.enumeration(Border), default=Border.CONSTANT)
    unit: Unit = attribute(attr_types.enumeration(Unit), default=Unit.PIXELS)
    value: float = attribute(attr_types.number, default=0.0)
    y: Value = result("T[n, c, o*]")
    T = REALS
    U = FLOATS

    def reference(self, x: Tensor, grid: Tensor, *, n: Index, c: Index, o: Indices) -> Kernel:
        if not x.dtype.is_float and self.mode is not ResizeMode.NEAREST:
            raise NotationError(f"no interpolation between elements of type {x.dtype}", label="C1")
        sizes = x.shape[2:]
        needed = require(grid.shape[-1], "==", len(sizes), "coordinates of a position", label="C2")
        wide = accumulator(grid.dtype)
        places = [self._inside(cast(grid[(n, *o, len(sizes) - 1 - a)], wide), size) for a, size in enumerate(sizes)]
        if self.mode is ResizeMode.NEAREST:
            result = self._element(x, (n, c), [_whole(call("round", p)) for p in places])
            return result.by(n, c, *o).where({}, needed)
        terms: list[Expr] = []
        for taps in product(*[self._neighbours(p) for p in places]):
            share = taps[0][1]
            for _, part in taps[1:]:
                share = share * part
            result = cast(self._element(x, (n, c), [place for place, _ in taps]), accumulator(x.dtype))
            terms.append(result * cast(share, accumulator(x.dtype)))
        return cast(sum(terms[1:], terms[0]), x.dtype).by(n, c, *o).where({}, needed)

    def _inside(self, position: Expr, size: Dim) -> Expr:
        """A position in elements, mapped to where the image has one or mirrors one; those far outside are moved to
        where all that is read lies outside.
        """
        last, wide = lift(size - 1, position.dtype), position.dtype
        match self.unit:
            case Unit.CENTRES:
                position = (position + 1) / 2 * last
            case Unit.EDGES:
                position = ((position + 1) * lift(size, wide) - 1) / 2
            case Unit.PIXELS:
                pass
        far = 4 if self.mode is ResizeMode.CUBIC else 2
        match self.border:
            case Border.EDGE if self.mode is not ResizeMode.CUBIC:
                pass
            case Border.CONSTANT | Border.EDGE:
                return _clipped(position, lift(-far, wide), last + far)
            case Border.REFLECT:
                span = lift(largest(size - 1, 1), wide)
                position = span - abs(position % (span * 2) - span)
            case Border.SYMMETRIC:
                span = lift(size, wide)
                position = span - abs((position + 0.5) % (span * 2) - span) - 0.5
        return position if self.mode is ResizeMode.CUBIC else _clipped(position, lift(0, wide), last)

    def _neighbours(self, position: Expr) -> tuple[tuple[Expr, Expr], ...]:
        """The elements around a position, and their shares."""
        low = call("floor", position)
        part, first = position - low, _whole(low)
        if self.mode is ResizeMode.LINEAR:
            return (first, 1 - part), (first + 1, part)
        return tuple([(first + k - 1, share) for k, share in enumerate(cubic_shares(part, -0.75))])

    def _element(self, x: Tensor, image: tuple[Index, Index], at: Sequence[Expr]) -> Expr:
        """The element at a position, of which those outside have the value of the border."""
        sizes = x.shape[2:]
        result = x[(*image, *[self._bounded(p, size) for p, size in zip(at, sizes, strict=True)])]
        if self.border is not Border.CONSTANT:
            return result
        inside: Expr | None = None
        for p, size in zip(at, sizes, strict=True):
            here = (p >= 0) & (p < lift(size, i64))
            inside = here if inside is None else inside & here
        if inside is None:
            return result
        return select(inside, result, lift(self.value if x.dtype.is_float else int(self.value), x.dtype))

    def _bounded(self, position: Expr, size: Dim) -> Expr:
        """A whole position as one of an element."""
        last = lift(size - 1, i64)
        # Modes other than cubic have clamped coordinates, except the next neighbour, whose weight is then 0.
        if self.mode is ResizeMode.CUBIC and self.border is Border.REFLECT:
            span = lift(largest(size - 1, 1), i64)
            position = span - abs(position % (span * 2) - span)
        elif self.mode is ResizeMode.CUBIC and self.border is Border.SYMMETRIC:
            turn = position % lift(size * 2, i64)
            position = call("minimum", turn, lift(size * 2 - 1, i64) - turn)
        return _clipped(position, lift(0, i64), last)


def cubic_shares(part: Expr, a: float) -> tuple[Expr, Expr, Expr, Expr]:
    """The shares of the four elements around a position that lies `part` behind the second one.

    Source: R. Keys, Cubic convolution interpolation for digital image processing, 1981.
    """

    def near(t: Expr) -> Expr:
        return ((t * (a + 2) - (a + 3)) * t) * t + 1

    def far(t: Expr) -> Expr:
        return ((t * a - 5 * a) * t + 8 * a) * t - 4 * a

    return far(part + 1), near(part), near(1 - part), far(2 - part)


def _whole(position: Expr) -> Expr:
    return cast(position, i64)


def _clipped(position: Expr, low: Expr, high: Expr) -> Expr:
    return call("minimum", call("maximum", position, low), high)


class NonMaxSuppression(CoreOp, name="core.non_max_suppression", traits=(traits.Pure,)):
    """Non-maximum suppression: selects boxes by score; each suppresses those that overlap it too much.

    A box is given by its least and its greatest coordinates, two of each. Overlap is intersection over union (IoU), in
    single precision; boxes are suppressed above the threshold, and boxes without area do not overlap. Boxes with groups
    suppress only boxes of the same group. Of equal scores the first is the better; a box with a score of minus infinity
    is not selected and suppresses nothing. At most `most` boxes are selected per image, if that is given.
    """

    boxes: Value = operand("T[n, b, 4]")
    scores: Value = operand("T[n, b]")
    iou_threshold: float = attribute(attr_types.number)
    groups: Value | None = operand("i32[n, b]", default=None)
    group_count: Dim = attribute(attr_types.dim, default=1, check=positive)
    most: int | None = attribute(attr_types.integer, default=None, check=positive)
    kept: Value = result("B[n, b]")
    T = FLOATS
    B = element_type(boolean)

    @constraint("C1")
    def groups_are_counted(self) -> object:
        """Groups are given exactly where their number is."""
        return self.groups is not None or self.group_count == 1

    @constraint("C2")
    def groups_have_no_limit(self) -> object:
        """`most` is given only without groups."""
        return self.groups is None or self.most is None

    def infer(self) -> tuple[TensorType, ...]:
        return (tensor_type(self.scores).with_element(boolean),)

    def reference(self, boxes: Floats, scores: Floats, groups: Array | None) -> Array:
        xp = boxes.__array_namespace__()
        each = [None] * len(boxes) if groups is None else list(groups)
        most = scores.shape[1] if self.most is None else self.most
        rows = [kept_boxes(b, s, g, self.iou_threshold, most) for b, s, g in zip(boxes, scores, each, strict=True)]
        return xp.stack(rows) if rows else xp.zeros(scores.shape, bool)


def kept_boxes(boxes: Floats, scores: Floats, groups: Array | None, threshold: float, most: int) -> NDArray[np.bool_]:
    """Returns which boxes of one image are selected; see `NonMaxSuppression`.

    The best boxes that are left are decided some at a time, and then take away all others at once.
    """
    xp = boxes.__array_namespace__()
    kept = xp.zeros(scores.shape, bool)
    candidates = xp.flatnonzero(scores != -xp.inf)
    order = candidates[xp.argsort(-scores[candidates].astype(xp.float32), kind="stable")]
    of_order = None if groups is None else groups[order]
    overlaps = _Overlaps(boxes[order].astype(xp.float32), of_order, threshold)
    left = xp.arange(len(order))
    while len(left) and most:
        first, left = left[:_DECIDED_AT_ONCE], left[_DECIDED_AT_ONCE:]
        away = overlaps.between(first, first)
        stays = xp.ones(len(first), bool)
        for n in range(len(first)):
            if stays[n]:
                stays[n + 1 :] &= ~away[n, n + 1 :]
        best = first[stays][:most]
        kept[order[best]] = True
        most -= len(best)
        if len(left) and most:
            left = left[~overlaps.between(best, left).any(0)]
    return kept


_DECIDED_AT_ONCE = 64


class _Overlaps:
    """The boxes that each box suppresses."""

    def __init__(self, boxes: Floats, groups: Array | None, threshold: float) -> None:
        self.xp = boxes.__array_namespace__()
        self.columns = [self.xp.ascontiguousarray(boxes[:, n]) for n in range(4)]
        self.areas = (self.columns[2] - self.columns[0]) * (self.columns[3] - self.columns[1])
        self.groups = groups
        self.limit = self.xp.float32(threshold)

    def between(self, some: Whole, others: Whole) -> NDArray[np.bool_]:
        """Returns whether a box [row] overlaps another one [column] too much; their overlap as a part of their
        union.
        """
        xp = self.xp
        a = [c[some][:, None] for c in self.columns]
        b = [c[others] for c in self.columns]
        across = xp.maximum(xp.minimum(a[2], b[2]) - xp.maximum(a[0], b[0]), 0)
        shared = across * xp.maximum(xp.minimum(a[3], b[3]) - xp.maximum(a[1], b[1]), 0)
        whole = self.areas[some][:, None] + self.areas[others] - shared
        away = (whole > 0) & (shared / xp.where(whole > 0, whole, 1) > self.limit)
        # Boxes without area overlap by 0, which is more than a threshold below it.
        away |= ~(whole > 0) & (self.limit < 0)
        return away if self.groups is None else away & (self.groups[some][:, None] == self.groups[others])


grid_sample = function(GridSample)
non_max_suppression = function(NonMaxSuppression)
