"""ONNX operators that sample images, and non-maximum suppression.

Source: ONNX operator reference, default domain, GridSample, AffineGrid and NonMaxSuppression.
"""

from __future__ import annotations

import math

from commonir.base.text import plural
from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_1,
    FLOATS,
    FLOATS_1,
    OnnxOp,
    element_of,
    known,
    single_number,
    sizes_of_rank,
    tensor_type,
)
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, bf16, f32, i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, by_version, element_type, known_dims, one_of, operand, result
from commonir.symbolic import Dim, element_count, largest


def sampled(x: Value, grid: Value, mode: str, padding_mode: str, *, align_corners: bool) -> Value:
    """Samples images at positions that count from -1 to 1."""
    mirrored = core.Border.REFLECT if align_corners else core.Border.SYMMETRIC
    borders = {"zeros": core.Border.CONSTANT, "border": core.Border.EDGE, "reflection": mirrored}
    unit = core.Unit.CENTRES if align_corners else core.Unit.EDGES
    return core.grid_sample(x, grid, core.ResizeMode(mode.removeprefix("bi")), borders[padding_mode], unit)


class GridSample(OnnxOp, name="onnx.GridSample"):
    """Samples images at positions, normalized to [-1, 1] within an image; their coordinates begin with the last axis
    (x, y).
    """

    X: Value = operand("T1")
    grid: Value = operand("T2")
    mode: str = attribute(
        attr_types.string, default="linear", check=one_of("linear", "nearest", "cubic"), since="opset20",
        before=attribute(attr_types.string, default="bilinear", check=one_of("bilinear", "nearest", "bicubic")),
    )  # fmt: skip
    padding_mode: str = attribute(attr_types.string, default="zeros", check=one_of("zeros", "border", "reflection"))
    align_corners: bool = attribute(attr_types.flag, default=False)
    Y: Value = result("T1")
    T1 = by_version(opset16=ANY_1, opset20=ANY_1, opset22=ANY_1 | element_type(bf16))
    T2 = by_version(opset16=FLOATS_1, opset20=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value, grid: Value) -> Value:
        return sampled(X, grid, self.mode, self.padding_mode, align_corners=self.align_corners)


class AffineGrid(OnnxOp, name="onnx.AffineGrid", since="opset20"):
    """Sampling positions for GridSample that apply affine maps to images of a shape [batch, channels, ...].

    Coordinates -1 and 1 are the centres of the border elements, or, with `align_corners` unset, their outer edges.
    """

    theta: Value = operand("T1")
    size: Value = operand("T2", by_value=True)
    align_corners: bool = attribute(attr_types.flag, default=False)
    grid: Value = result("T1")
    T1 = FLOATS
    T2 = element_type(i64)

    def reference(self, theta: Value, size: Value) -> Value:
        given = known(size, "size")
        if len(given) < 3:
            raise NotationError(f"'size' has {plural(len(given), 'element')}, expected 3 or more")
        n, _, *sizes = given
        rank = len(sizes)
        wide = core.widened(theta)
        axes: list[Value] = []
        for a in reversed(range(rank)):
            line = core.cast(core.iota(tuple(sizes), a, i64), element_of(wide))
            doubled = core.mul(line, core.splat(2.0, wide))
            if self.align_corners:
                # A single element is in the middle, as in torch; the specification does not mention it, and its
                # function divides by zero.
                gaps, length = sizes[a] - 1, largest(sizes[a] - 1, 1)
                axes.append(core.div(core.sub(doubled, self._number(gaps, wide)), self._number(length, wide)))
            else:
                one, count = core.splat(1.0, wide), self._number(sizes[a], wide)
                axes.append(core.sub(core.div(core.add(doubled, one), count), one))
        axes.append(core.fill(core.splat(1.0, wide), tuple(sizes)))
        points = core.reshape(core.stack(tuple(axes), -1), (element_count(tuple(sizes)), rank + 1))
        placed = core.matmul(points, wide, False, True)
        return core.narrowed(core.reshape(placed, (n, *sizes, rank)), theta)

    def infer_partially(self) -> tuple[Type, ...]:
        type = tensor_type(self.theta)
        rank = type.shape[1] if type.shape is not None and len(type.shape) == 3 else None
        if type.shape is None or not isinstance(rank, int):
            return (type.with_shape(None),)
        return (type.with_shape((type.shape[0], *(None,) * rank, rank)),)

    def _number(self, size: Dim, like: Value) -> Value:
        return core.cast(core.dims((size,), i64, True), element_of(like))


def _by_class_and_score(boxes: Value, scores: Value, classes: int) -> Value:
    """Rows of image, class and box, in this order of image and class, and then by descending score."""
    boxes = core.gather(boxes, core.argsort(scores, 0, True), 0)
    image, number, _ = [core.squeeze(v, (1,)) for v in core.split(boxes, 1, (1, 1, 1))]
    place = core.add(core.mul(image, core.scalar(classes, i64)), number)
    return core.gather(boxes, core.argsort(place, 0), 0)


class NonMaxSuppression(OnnxOp, name="onnx.NonMaxSuppression", since="opset10 opset11"):
    """Non-maximum suppression: indices (batch, class, box) of the selected boxes, by descending score within each
    class; a box suppresses those of its class whose overlap (IoU) with it exceeds a threshold.
    """

    boxes: Value = operand("f32")
    scores: Value = operand("f32")
    max_output_boxes_per_class: Value | None = operand("i64", default=None, by_value=True)
    iou_threshold: Value | None = operand("f32", default=None, by_value=True)
    score_threshold: Value | None = operand("f32", default=None)
    center_point_box: bool = attribute(attr_types.flag, default=False)
    selected_indices: Value = result("i64")

    def infer(self) -> tuple[TensorType, ...]:
        return (TensorType(i64, (None, 3)),)

    def reference(
        self,
        boxes: Value,
        scores: Value,
        max_output_boxes_per_class: Value | None,
        iou_threshold: Value | None,
        score_threshold: Value | None,
    ) -> Value:
        threshold = 0.0 if iou_threshold is None else single_number(iou_threshold, "iou_threshold")
        sizes_of_rank(boxes, "boxes", 3)
        n, classes, count = sizes_of_rank(scores, "scores", 3)
        rows = (n * classes, count)
        best = core.reshape(scores, rows)
        if score_threshold is not None:
            fit = core.greater(best, core.reshape(score_threshold, ()))
            best = core.select(fit, best, core.scalar(-math.inf, f32))
        given = core.broadcast_to(core.unsqueeze(self._corners(boxes), (1,)), (n, classes, count, 4))
        known = None if max_output_boxes_per_class is None else known_dims(max_output_boxes_per_class)
        most = known[0] if known and isinstance(known[0], int) and known[0] > 0 else None
        kept = core.non_max_suppression(core.reshape(given, (*rows, 4)), best, threshold, most=most)
        if most is not None and isinstance(classes, int):
            # Sorting those that are kept takes less than sorting all.
            found = core.non_zero(core.reshape(kept, (n, classes, count)))
            return _by_class_and_score(found, core.gather_nd(core.reshape(best, (n, classes, count)), found), classes)
        order = core.argsort(best, 1, True)
        taken = core.gather_elements(kept, order, 1)
        if most is None:
            place = core.cumsum(core.cast(taken, i64), 1)
            last = core.scalar(0, i64) if max_output_boxes_per_class is None else max_output_boxes_per_class
            taken = core.logical_and(taken, core.less_equal(place, core.reshape(last, ())))
        found = core.non_zero(core.reshape(taken, (n, classes, count)))
        box = core.gather_nd(core.reshape(order, (n, classes, count)), found)
        image, number, _ = core.split(found, 1, (1, 1, 1))
        return core.concat((image, number, core.unsqueeze(box, (1,))), 1)

    def _corners(self, boxes: Value) -> Value:
        """The least and the greatest coordinates of boxes given by any two opposite corners, or centre and size."""
        first, second = core.split(boxes, -1, (2, 2))
        if self.center_point_box:
            half = core.mul(second, core.scalar(0.5, f32))
            first, second = core.sub(first, half), core.add(first, half)
        return core.concat((core.minimum(first, second), core.maximum(first, second)), -1)
