"""ONNX operators that pool regions of images to one size.

Source: ONNX operator reference, default domain, RoiAlign and MaxRoiPool.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS, FLOATS_1, OnnxOp
from commonir.ir.operation import Value
from commonir.ir.types import i64
from commonir.ods import (
    attr_types,
    attribute,
    by_version,
    element_type,
    non_negative,
    one_of,
    operand,
    positive,
    result,
)


class RoiAlign10(OnnxOp, name="onnx.RoiAlign", since="opset10"):
    """RoIAlign: regions of images divided into equal bins, each pooled to the mean of its samples or their largest
    weighted element.

    Coordinates of regions are not shifted by half a pixel.
    """

    X: Value = operand("T1")
    rois: Value = operand("T1")
    batch_indices: Value = operand("T2")
    mode: str = attribute(attr_types.string, default="avg", check=one_of("avg", "max"))
    output_height: int = attribute(attr_types.integer, default=1, check=positive)
    output_width: int = attribute(attr_types.integer, default=1, check=positive)
    sampling_ratio: int = attribute(attr_types.integer, default=0, check=non_negative)
    spatial_scale: float = attribute(attr_types.number, default=1.0)
    Y: Value = result("T1")
    T1 = FLOATS_1
    T2 = element_type(i64)

    def reference(self, X: Value, rois: Value, batch_indices: Value) -> Value:
        return self.aligned(X, rois, batch_indices, half_pixel=False)

    def aligned(self, X: Value, rois: Value, batch_indices: Value, *, half_pixel: bool) -> Value:
        """The regions; `half_pixel` moves them by half an element towards the origin."""
        mode = core.RegionMode.MEAN if self.mode == "avg" else core.RegionMode.MAX
        sizes = (self.output_height, self.output_width)
        return core.region_align(
            X, rois, batch_indices, sizes, self.sampling_ratio, self.spatial_scale, mode, half_pixel
        )


class RoiAlign(RoiAlign10, name="onnx.RoiAlign"):
    """RoIAlign: regions of images divided into equal bins, each pooled to the mean of its samples or their largest
    weighted element.
    """

    coordinate_transformation_mode: str = attribute(
        attr_types.string, default="half_pixel", check=one_of("half_pixel", "output_half_pixel")
    )
    T1 = by_version(opset16=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value, rois: Value, batch_indices: Value) -> Value:
        half_pixel = self.coordinate_transformation_mode == "half_pixel"
        return self.aligned(X, rois, batch_indices, half_pixel=half_pixel)


class MaxRoiPool(OnnxOp, name="onnx.MaxRoiPool"):
    """RoI max pooling: the largest element of each of the equal bins of regions, which are rounded to integer
    coordinates.
    """

    X: Value = operand("T")
    rois: Value = operand("T")
    pooled_shape: tuple[int, ...] = attribute(attr_types.integers, check=positive)
    spatial_scale: float = attribute(attr_types.number, default=1.0)
    Y: Value = result("T")
    T = by_version(opset1=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value, rois: Value) -> Value:
        return core.region_max_pool(X, rois, self.pooled_shape, self.spatial_scale)
