"""ONNX operators that read images at given positions, and that choose among overlapping boxes.

Source: ONNX operator reference, default domain, versions 11 to 22.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.dialects import core
from commonir.dialects.onnx.base import ANY_1, FLOATS, FLOATS_1, OnnxOp
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, bf16, i64
from commonir.notation import NotationError
from commonir.ods import attribute, element_type, kinds, one_of, operand, result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]
    Floats = NDArray[np.float32]


def sampled(x: Value, grid: Value, mode: str, padding_mode: str, *, align_corners: bool) -> Value:
    """Images read at positions that count from -1 to 1.

    Raises: NotationError for a mode that the core does not have.
    """
    modes = {"nearest": core.ResizeMode.NEAREST, "linear": core.ResizeMode.LINEAR, "bilinear": core.ResizeMode.LINEAR}
    mirrored = core.Border.REFLECT if align_corners else core.Border.SYMMETRIC
    borders = {"zeros": core.Border.CONSTANT, "border": core.Border.EDGE, "reflection": mirrored}
    if mode not in modes or padding_mode not in borders:
        raise NotationError(f"the core has no sampling with mode '{mode}' and padding mode '{padding_mode}'")
    unit = core.Unit.CENTRES if align_corners else core.Unit.EDGES
    return core.grid_sample(x, grid, modes[mode], borders[padding_mode], unit)


class GridSample16(OnnxOp, name="onnx.GridSample", since="opset16"):
    """Images read at positions (x, y), of which those within an image lie in [-1, 1]."""

    __slots__ = ()

    X: Value = operand("T1")
    grid: Value = operand("T2")
    mode: str = attribute(kinds.text, default="bilinear", check=one_of("bilinear", "nearest", "bicubic"))
    padding_mode: str = attribute(kinds.text, default="zeros", check=one_of("zeros", "border", "reflection"))
    align_corners: bool = attribute(kinds.flag, default=False)
    Y: Value = result("T1")
    T1 = ANY_1
    T2 = FLOATS_1

    def reference(self, X: Value, grid: Value) -> Value:
        return sampled(X, grid, self.mode, self.padding_mode, align_corners=self.align_corners)


class GridSample20(GridSample16, name="onnx.GridSample", since="opset20"):
    """As `GridSample16`, with other names of the modes."""

    __slots__ = ()

    mode: str = attribute(kinds.text, default="linear", check=one_of("linear", "nearest", "cubic"))


class GridSample(GridSample20, name="onnx.GridSample", since="opset22"):
    """As `GridSample20`, for more element types."""

    __slots__ = ()

    T1 = ANY_1 | element_type(bf16)
    T2 = FLOATS


class NonMaxSuppression(OnnxOp, name="onnx.NonMaxSuppression", since="opset11"):
    """Rows (image, class, box) of the boxes that stay, of each class from the best on, when each takes away those of
    its class that it overlaps by more than a threshold.
    """

    __slots__ = ()

    boxes: Value = operand("f32[n, b, 4]")
    scores: Value = operand("f32[n, c, b]")
    max_output_boxes_per_class: Value | None = operand("i64", default=None)
    iou_threshold: Value | None = operand("f32", default=None)
    score_threshold: Value | None = operand("f32", default=None)
    center_point_box: bool = attribute(kinds.flag, default=False)
    selected_indices: Value = result("i64")

    def infer(self) -> tuple[TensorType, ...]:
        return (TensorType(i64, (None, 3)),)

    def reference(
        self,
        boxes: Floats,
        scores: Floats,
        max_output_boxes_per_class: Array | None,
        iou_threshold: Array | None,
        score_threshold: Array | None,
    ) -> Array:
        xp = boxes.__array_namespace__()
        most = 0 if max_output_boxes_per_class is None else int(max_output_boxes_per_class.item())
        first, second = boxes[..., :2], boxes[..., 2:]
        if self.center_point_box:
            first, second = first - second / 2, first + second / 2
        corners = xp.concatenate([xp.minimum(first, second), xp.maximum(first, second)], axis=-1)
        threshold = 0.0 if iou_threshold is None else float(iou_threshold.item())
        rows: list[tuple[int, int, int]] = []
        for image in range(scores.shape[0]):
            for number, best in enumerate(scores[image]):
                fit = best if score_threshold is None else xp.where(best > score_threshold, best, -xp.inf)
                kept = core.kept_boxes(corners[image], fit, None, threshold)
                order = xp.argsort(-fit, kind="stable")
                rows += [(image, number, int(n)) for n in order[kept[order]][:most]]
        return xp.asarray(rows, dtype=xp.int64).reshape(-1, 3)
