"""Images read at positions that are data, and the choice among overlapping boxes.

Positions and weights are formed in single precision at least.
Source: ONNX GridSample and NonMaxSuppression; Core ML MIL resample and non_maximum_suppression.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from commonir.dialects.core.base import FLOATS, REALS, CoreOp, accumulator, function, tensor_type
from commonir.dialects.core.resize import ResizeMode
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, i64
from commonir.notation import Expr, Index, Kernel, NotationError, Tensor, call, cast, lift, select
from commonir.ods import attribute, constraint, element_type, kinds, operand, positive, result, traits
from commonir.symbolic import Dim, largest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]
    Floats = NDArray[np.float32]


class Border(Enum):
    """What lies outside of an image: a value, its border, or its mirror image.

    REFLECT mirrors about the centres of the border elements, SYMMETRIC about their outer edges.
    """

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class Unit(Enum):
    """How positions along an axis of n elements are counted.

    PIXELS: the centre of element i is i. CENTRES: those of the first and last elements are -1 and 1. EDGES: the outer
    edges of these elements are -1 and 1.
    """

    PIXELS = "pixels"
    CENTRES = "centres"
    EDGES = "edges"


class GridSample(CoreOp, name="core.grid_sample", traits=(traits.Pure,)):
    """Images read at positions (x, y), where x counts columns and y rows, by interpolation or at the nearest element.

    A position halfway between two elements is nearest to the one of even number. With a constant border each of the
    neighbours that lies outside has that value; a position that is not a number gives no specified value.

    C1: elements that are interpolated are floats.
    """

    __slots__ = ()

    x: Value = operand("T[n, c, h, w]")
    grid: Value = operand("U[n, i, j, 2]")
    mode: ResizeMode = attribute(kinds.enumeration(ResizeMode), default=ResizeMode.LINEAR)
    border: Border = attribute(kinds.enumeration(Border), default=Border.CONSTANT)
    unit: Unit = attribute(kinds.enumeration(Unit), default=Unit.PIXELS)
    value: float = attribute(kinds.number, default=0.0)
    y: Value = result("T[n, c, i, j]")
    T = REALS
    U = FLOATS

    def reference(self, x: Tensor, grid: Tensor, *, n: Index, c: Index, i: Index, j: Index) -> Kernel:
        if not x.dtype.is_float and self.mode is ResizeMode.LINEAR:
            raise NotationError(f"no interpolation between elements of type {x.dtype}", label="C1")
        wide = accumulator(grid.dtype)
        height, width = x.shape[2:]
        column = self._inside(cast(grid[n, i, j, 0], wide), width)
        row = self._inside(cast(grid[n, i, j, 1], wide), height)
        if self.mode is ResizeMode.NEAREST:
            found = self._element(x, (n, c), _whole(call("round", row)), _whole(call("round", column)))
            return found.by(n, c, i, j)
        terms: list[Expr] = []
        for y, vertical in self._neighbours(row):
            for z, horizontal in self._neighbours(column):
                share = cast(vertical * horizontal, accumulator(x.dtype))
                terms.append(cast(self._element(x, (n, c), y, z), accumulator(x.dtype)) * share)
        return cast(sum(terms[1:], terms[0]), x.dtype).by(n, c, i, j)

    def _inside(self, position: Expr, size: Dim) -> Expr:
        """A position in elements, mapped to where the image has one; those far outside of a constant border are moved
        to just outside.
        """
        last, wide = lift(size - 1, position.dtype), position.dtype
        match self.unit:
            case Unit.CENTRES:
                position = (position + 1) / 2 * last
            case Unit.EDGES:
                position = ((position + 1) * lift(size, wide) - 1) / 2
            case Unit.PIXELS:
                pass
        match self.border:
            case Border.CONSTANT:
                return _clipped(position, lift(-2, wide), last + 2)
            case Border.REFLECT:
                span = lift(largest(size - 1, 1), wide)
                position = span - abs(position % (span * 2) - span)
            case Border.SYMMETRIC:
                span = lift(size, wide)
                position = span - abs((position + 0.5) % (span * 2) - span) - 0.5
            case Border.EDGE:
                pass
        return _clipped(position, lift(0, wide), last)

    def _neighbours(self, position: Expr) -> tuple[tuple[Expr, Expr], tuple[Expr, Expr]]:
        """The elements before and after a position, and their shares."""
        low = call("floor", position)
        part = position - low
        return (_whole(low), 1 - part), (_whole(low) + 1, part)

    def _element(self, x: Tensor, image: tuple[Index, Index], row: Expr, column: Expr) -> Expr:
        """The element at a row and a column, of which those outside have the value of the border."""
        height, width = x.shape[2:]
        found = x[(*image, _clipped(row, lift(0, i64), lift(height - 1, i64)),
                   _clipped(column, lift(0, i64), lift(width - 1, i64)))]  # fmt: skip
        if self.border is not Border.CONSTANT:
            return found
        inside = (row >= 0) & (row < lift(height, i64)) & (column >= 0) & (column < lift(width, i64))
        return select(inside, found, lift(self.value if x.dtype.is_float else int(self.value), x.dtype))


def _whole(position: Expr) -> Expr:
    return cast(position, i64)


def _clipped(position: Expr, low: Expr, high: Expr) -> Expr:
    return call("minimum", call("maximum", position, low), high)


class NonMaxSuppression(CoreOp, name="core.non_max_suppression", traits=(traits.Pure,)):
    """Which boxes stay when each, the best score first, takes away those that it overlaps too much.

    A box is given by its least and its greatest coordinates, two of each. Overlap is the area of the intersection as a
    part of that of the union, in single precision; it is too much above the threshold, and of boxes without area there
    is none. Where boxes have groups, they take away only boxes of their own. Of equal scores the first counts as
    better; a box with a score of minus infinity does not stay and takes nothing away.

    C1: groups are given exactly where their number is.
    """

    __slots__ = ()

    boxes: Value = operand("T[n, b, 4]")
    scores: Value = operand("T[n, b]")
    iou_threshold: float = attribute(kinds.number)
    groups: Value | None = operand("i32[n, b]", default=None)
    group_count: Dim = attribute(kinds.dim, default=1, check=positive)
    kept: Value = result("B[n, b]")
    T = FLOATS
    B = element_type(boolean)

    @constraint("C1")
    def groups_are_counted(self) -> object:
        """Groups are given exactly where their number is."""
        return self.groups is not None or self.group_count == 1

    def infer(self) -> tuple[TensorType, ...]:
        return (tensor_type(self.scores).with_element(boolean),)

    def reference(self, boxes: Floats, scores: Floats, groups: Array | None) -> Array:
        xp = boxes.__array_namespace__()
        each = [None] * len(boxes) if groups is None else list(groups)
        rows = [kept_boxes(b, s, g, self.iou_threshold) for b, s, g in zip(boxes, scores, each, strict=True)]
        return xp.stack(rows) if rows else xp.zeros(scores.shape, bool)


def kept_boxes(boxes: Floats, scores: Floats, groups: Array | None, threshold: float) -> NDArray[np.bool_]:
    """Which boxes of one image stay; see `NonMaxSuppression`."""
    xp = boxes.__array_namespace__()
    wide, limit = boxes.astype(xp.float32), xp.float32(threshold)
    kept, alive = xp.zeros(scores.shape, bool), scores != -xp.inf
    order = xp.argsort(-scores.astype(xp.float32), kind="stable")
    for n, best in enumerate(order):
        if not alive[best]:
            continue
        kept[best] = True
        rest = order[n + 1 :]
        away = _overlaps(wide[best], wide[rest]) > limit
        if groups is not None:
            away &= groups[rest] == groups[best]
        alive[rest[away]] = False
    return kept


def _overlaps(box: Floats, others: Floats) -> Floats:
    """The intersection of a box with others as a part of their union."""
    xp = box.__array_namespace__()
    common = xp.minimum(box[2:], others[:, 2:]) - xp.maximum(box[:2], others[:, :2])
    shared = xp.prod(xp.maximum(common, 0), axis=-1)
    whole = xp.prod(box[2:] - box[:2]) + xp.prod(others[:, 2:] - others[:, :2], axis=-1) - shared
    return xp.where(whole > 0, shared / xp.where(whole > 0, whole, 1), 0)


grid_sample = function(GridSample)
non_max_suppression = function(NonMaxSuppression)
