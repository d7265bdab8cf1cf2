"""Operators of com.microsoft that ONNX has adopted, in their earlier form.

Source: onnxruntime, contrib operator reference, version 1.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_1,
    BOOLEAN,
    FLOATS,
    FLOATS_1,
    INTEGERS,
    POSITIONS,
    OnnxOp,
    axis_from_start,
    element_of,
    rank_of,
    single,
    tensor_type,
    with_unknown,
)
from commonir.dialects.onnx.indexing import triangle
from commonir.dialects.onnx.sampling import sampled
from commonir.dialects.onnx.shape import padded
from commonir.ir.operation import Value
from commonir.ir.types import Type, f32, f64, i16, i32, i64
from commonir.ods import attr_types, attribute, element_type, one_of, operand, result


class ExpandDims(OnnxOp, name="onnx.microsoft.ExpandDims", since="microsoft1"):
    """Inserts an axis of size 1."""

    X: Value = operand("T")
    axis: Value = operand("i32", by_value=True)
    Y: Value = result("T")
    T = ANY_1

    def reference(self, X: Value, axis: Value) -> Value:
        return core.unsqueeze(X, (axis_from_start(single(axis, "axis"), rank_of(X) + 1),))


class GatherND(OnnxOp, name="onnx.microsoft.GatherND", since="microsoft1"):
    """Gathers slices of a tensor; each row of the last axis of indices is an index tuple."""

    data: Value = operand("T")
    indices: Value = operand("Tind")
    output: Value = result("T")
    T = ANY_1
    Tind = POSITIONS

    def reference(self, data: Value, indices: Value) -> Value:
        return core.gather_nd(data, indices)


class GridSample(OnnxOp, name="onnx.microsoft.GridSample", since="microsoft1"):
    """Samples images at positions (x, y), normalized to [-1, 1] within an image."""

    X: Value = operand("T1")
    Grid: Value = operand("T1")
    mode: str = attribute(attr_types.string, default="bilinear", check=one_of("bilinear", "nearest", "bicubic"))
    padding_mode: str = attribute(attr_types.string, default="zeros", check=one_of("zeros", "border", "reflection"))
    align_corners: bool = attribute(attr_types.flag, default=False)
    Y: Value = result("T2")
    T1 = ANY_1
    T2 = FLOATS_1

    def reference(self, X: Value, Grid: Value) -> Value:
        return sampled(X, Grid, self.mode, self.padding_mode, align_corners=self.align_corners)


class Pad(OnnxOp, name="onnx.microsoft.Pad", since="microsoft1"):
    """Pads the axes on both sides with a constant, the edge values, or reflected copies."""

    data: Value = operand("T")
    pads: Value = operand("i64", by_value=True)
    value: Value | None = operand("T", default=None, by_value=True)
    mode: str = attribute(attr_types.string, default="constant", check=one_of("constant", "reflect", "edge"))
    output: Value = result("T")
    T = FLOATS_1

    def infer_partially(self) -> tuple[Type, ...]:
        return (with_unknown(tensor_type(self.data), None),)

    def reference(self, data: Value, pads: Value, value: Value | None) -> Value:
        amounts = core.squeeze(pads, (0,)) if rank_of(pads) == 2 else pads
        return padded(self.mode, data, amounts, value, None)


class Range(OnnxOp, name="onnx.microsoft.Range", since="microsoft1"):
    """Numbers from start (inclusive) to limit (exclusive) by a step, 1 by default."""

    start: Value = operand("T", by_value=True)
    limit: Value = operand("T", by_value=True)
    delta: Value | None = operand("T", default=None, by_value=True)
    Y: Value = result("T")
    T = element_type(f32, f64, i16, i32, i64)

    def reference(self, start: Value, limit: Value, delta: Value | None) -> Value:
        step = core.scalar(1, element_of(start)) if delta is None else delta
        return core.range(*[core.reshape(v, ()) if rank_of(v) else v for v in (start, limit, step)])


class Trilu(OnnxOp, name="onnx.microsoft.Trilu", since="microsoft1"):
    """The upper or lower triangle of matrices, from the k-th diagonal; zero elsewhere."""

    X: Value = operand("T")
    k: Value | None = operand("i64", default=None, by_value=True)
    upper: bool = attribute(attr_types.flag, default=True)
    Y: Value = result("T")
    T = FLOATS | INTEGERS | BOOLEAN

    def reference(self, X: Value, k: Value | None) -> Value:
        diagonal = core.scalar(0, i64) if k is None else core.reshape(k, ())
        return triangle(X, diagonal, upper=self.upper)


class Unique(OnnxOp, name="onnx.microsoft.Unique", since="microsoft1"):
    """The distinct elements of a vector in the order of their first occurrence, the index of each element among them,
    and the number of occurrences of each.
    """

    x: Value = operand("T")
    y: Value = result("T")
    idx: Value = result("i64")
    counts: Value = result("i64")
    T = ANY_1

    def reference(self, x: Value) -> tuple[Value, ...]:
        result, _, places, counts = core.unique(x, None, False)
        return result, places, counts
