"""Non-maximum suppression in the mil dialect.

Source: MIL operation reference, tensor_operation.
"""

from __future__ import annotations

import math

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_7, MilOp
from commonir.dialects.mil.operands import FLOATS
from commonir.ir.operation import Value
from commonir.ir.types import f32, i32
from commonir.ods import attr_types, operand, parameter, positive, result, traits
from commonir.ods.operand_shapes import known_dims_of
from commonir.symbolic import Dim


class NonMaximumSuppression(MilOp, name="mil.non_maximum_suppression", traits=(traits.Pure,)):
    """Non-maximum suppression: selects the best boxes; each suppresses those whose overlap (IoU) with it exceeds
    iou_threshold.

    A box is a centre (x, y), a width and a height. Its score is that of its best class, the first of equal ones, and
    must be at least score_threshold; with per_class_suppression a box suppresses only boxes of the same best class. The
    results are in descending order of scores, of equal ones the first, up to max_boxes; the rest is filled with zeros,
    and indices with -1. If no score reaches the threshold, the best box is selected.

    Results: the boxes, their scores, their indices, and their number.
    """

    boxes: Value = operand("T[n, b, 4]")
    scores: Value = operand("T[n, b, k]")
    iou_threshold: float = parameter(attr_types.number, spec="T[]")
    score_threshold: float = parameter(attr_types.number, spec="T[]")
    max_boxes: int = parameter(attr_types.integer, spec="i32[]", check=positive)
    per_class_suppression: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    selected_boxes: Value = result("T[*]")
    selected_scores: Value = result("T[*]")
    indices: Value = result("i32[*]")
    counts: Value = result("i32[n]")
    T = FLOATS

    def reference(self, boxes: Value, scores: Value) -> tuple[Value, ...]:
        best = core.reduce_max(scores, (2,), False)
        none = core.splat(-math.inf, best)
        fit = core.greater_equal(best, core.splat(self.score_threshold, best))
        # If none reaches the threshold, the best one is selected: of the others only it keeps its score.
        is_best = core.equal(core.iota(known_dims_of(best), 1, i32), core.arg_max(best, 1, True, i32))
        alone = core.logical_and(is_best, core.logical_not(_any(fit)))
        candidates = core.select(core.logical_or(fit, alone), best, none)
        return _selected(boxes, scores, candidates, self.iou_threshold, self.max_boxes, self.per_class_suppression)


class NonMaximumSuppressionCoreML7(MilOp, name="mil.non_maximum_suppression", traits=(traits.Pure,), since=CORE_ML_7):
    """Non-maximum suppression: selects the best boxes; each suppresses those whose overlap (IoU) with it exceeds
    iou_threshold.

    As in iOS 15, but without score_threshold, with boxes along the last axis, and without the number of boxes.
    """

    boxes: Value = operand("T[n, 4, b]")
    scores: Value = operand("T[n, k, b]")
    iou_threshold: float = parameter(attr_types.number, spec="T[]")
    max_boxes: int = parameter(attr_types.integer, spec="i32[]", check=positive)
    per_class_suppression: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    selected_boxes: Value = result("T[*]")
    selected_scores: Value = result("T[*]")
    indices: Value = result("i32[*]")
    T = FLOATS

    def reference(self, boxes: Value, scores: Value) -> tuple[Value, ...]:
        boxes, scores = core.transpose(boxes, (0, 2, 1)), core.transpose(scores, (0, 2, 1))
        best = core.reduce_max(scores, (2,), False)
        found = _selected(boxes, scores, best, self.iou_threshold, self.max_boxes, self.per_class_suppression)
        return core.transpose(found[0], (0, 2, 1)), core.transpose(found[1], (0, 2, 1)), found[2]


def _any(truths: Value) -> Value:
    """Returns whether one of each row is true."""
    return core.greater(core.reduce_max(core.cast(truths, i32), (1,), True), core.scalar(0, i32))


def _selected(
    boxes: Value, scores: Value, best: Value, threshold: float, most: int, per_class: bool
) -> tuple[Value, ...]:
    """The boxes that stay [n, most, 4], their scores [n, most, k], their positions [n, most] and their number [n].

    `best` holds a score for each box; one of minus infinity is not a candidate.
    """
    classes = known_dims_of(scores)[2]
    groups: Value | None = None
    count: Dim = 1
    if per_class and classes != 1:
        groups, count = core.arg_max(scores, 2, False, i32), classes
    kept = core.non_max_suppression(_corners(boxes), core.cast(best, f32), threshold, groups, count)
    ranked = core.select(kept, best, core.splat(-math.inf, best))
    order, numbers = _first(ranked, known_dims_of(best)[1], most)
    totals = core.reduce_sum(core.cast(kept, i32), (1,), True)
    counts = core.minimum(totals, core.scalar(most, i32))
    stays = core.less(numbers, counts)
    positions = core.select(stays, order, core.scalar(0, i32))
    at, filled = core.unsqueeze(positions, (2,)), core.unsqueeze(stays, (2,))
    chosen = [core.gather_nd(v, at, 1) for v in (boxes, scores)]
    return (
        *(core.select(filled, v, core.splat(0.0, v)) for v in chosen),
        core.select(stays, order, core.scalar(-1, i32)),
        core.squeeze(counts, (1,)),
    )


def _corners(boxes: Value) -> Value:
    """The least and the greatest coordinates of boxes with a centre and sizes, in single precision."""
    centre, size = core.split(core.cast(boxes, f32), 2, (2, 2))
    half = core.mul(size, core.scalar(0.5, f32))
    return core.concat((core.sub(centre, half), core.add(centre, half)), 2)


def _first(ranked: Value, size: Dim, most: int) -> tuple[Value, Value]:
    """The positions of the best in each row, filled up with zeros to `most`, and the numbers from 0 to `most`."""
    images = known_dims_of(ranked)[0]
    taken = most
    if isinstance(size, int):
        taken = min(most, size)
    else:
        # More candidates than any row has: added ones are worse than all others.
        worst = core.fill(core.splat(-math.inf, ranked), (images, most))
        ranked = core.concat((ranked, worst), 1)
    order = core.cast(core.top_k(ranked, taken, 1)[1], i32)
    if taken < most:
        order = core.concat((order, core.fill(core.scalar(0, i32), (images, most - taken))), 1)
    return order, core.iota((images, most), 1, i32)
