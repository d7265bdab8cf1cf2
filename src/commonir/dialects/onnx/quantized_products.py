"""Quantized matrix products and convolutions of ONNX.

Products are summed as 32-bit integers, those of 8-bit floats in single precision. Source: ONNX operator reference,
default domain, versions 10 and 21.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import BYTES, FLOATS_8, OnnxOp, element_of, rank_of, shape_of
from commonir.dialects.onnx.quantization import HALF_AND_SINGLE, as_element
from commonir.dialects.onnx.windows import AUTO_PAD, kernel_of, window
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, i32
from commonir.ods import attr_types, attribute, by_version, element_type, operand, positive, result


def shifted(x: Value, zero_point: Value | None, wide: ElementType) -> Value:
    """The numbers minus their zero point, which is broadcast, in a type that can represent their products."""
    numbers = core.cast(x, wide)
    return numbers if zero_point is None else core.sub(numbers, core.cast(zero_point, wide))


def of_rows(values: Value) -> Value:
    """Values of the rows of a matrix, shaped to be broadcast against it."""
    return core.unsqueeze(values, (1,)) if rank_of(values) == 1 and shape_of(values) != (1,) else values


def along_axis(values: Value, axis: int, rank: int) -> Value:
    """A scalar or vector shaped to lie along an axis."""
    if rank_of(values) == 0:
        return values
    return core.reshape(values, (*(1,) * axis, -1, *(1,) * (rank - axis - 1)))


def _fitted(values: Value, rank: int) -> Value:
    """A scalar, or values shaped to have as many axes as what they belong to."""
    shape = shape_of(values)
    return core.reshape(values, () if shape == (1,) else (*(1,) * (rank - len(shape)), *shape)) if shape else values


def requantized(summed: Value, scale: Value, zero_point: Value) -> Value:
    """A sum of products times a scale, rounded half to even, shifted, and limited to the type of the zero point."""
    real = core.mul(as_element(summed, f32), scale)
    element = element_of(zero_point)
    if element.is_integer:
        return core.quantize(real, core.scalar(1.0, f32), element, _fitted(zero_point, rank_of(real)))
    return core.narrow_cast(core.add(real, core.cast(zero_point, f32)), element)


def result_scale(a: Value, b: Value, y: Value) -> Value:
    """The scale of the result's quanta: what a product of quanta is in them."""
    return core.div(core.mul(as_element(a, f32), as_element(b, f32)), as_element(y, f32))


class MatMulInteger(OnnxOp, name="onnx.MatMulInteger", since="opset10"):
    """Matrix product of 8-bit integers minus their zero points; A may have per-row and B per-column zero points."""

    A: Value = operand("T1")
    B: Value = operand("T2")
    a_zero_point: Value | None = operand("T1", default=None)
    b_zero_point: Value | None = operand("T2", default=None)
    Y: Value = result("T3")
    T1 = BYTES
    T2 = BYTES
    T3 = element_type(i32)

    def reference(self, A: Value, B: Value, a_zero_point: Value | None, b_zero_point: Value | None) -> Value:
        rows = None if a_zero_point is None else of_rows(a_zero_point)
        return core.matmul(shifted(A, rows, i32), shifted(B, b_zero_point, i32))


class QLinearMatMul(OnnxOp, name="onnx.QLinearMatMul"):
    """Matrix product of quantized tensors, with a quantized result."""

    a: Value = operand("T1")
    a_scale: Value = operand("TS")
    a_zero_point: Value = operand("T1")
    b: Value = operand("T2")
    b_scale: Value = operand("TS")
    b_zero_point: Value = operand("T2")
    y_scale: Value = operand("TS")
    y_zero_point: Value = operand("T3")
    y: Value = result("T3")
    TS = by_version(opset10=element_type(f32), opset21=HALF_AND_SINGLE)
    T1 = by_version(opset10=BYTES, opset21=FLOATS_8 | BYTES)
    T2 = by_version(opset10=BYTES, opset21=FLOATS_8 | BYTES)
    T3 = by_version(opset10=BYTES, opset21=FLOATS_8 | BYTES)

    def reference(
        self,
        a: Value,
        a_scale: Value,
        a_zero_point: Value,
        b: Value,
        b_scale: Value,
        b_zero_point: Value,
        y_scale: Value,
        y_zero_point: Value,
    ) -> Value:
        wide = i32 if element_of(a).is_integer and element_of(b).is_integer else f32
        summed = core.matmul(shifted(a, of_rows(a_zero_point), wide), shifted(b, b_zero_point, wide))
        scale = result_scale(of_rows(a_scale), b_scale, of_rows(y_scale))
        return requantized(summed, scale, of_rows(y_zero_point))


class ConvInteger(OnnxOp, name="onnx.ConvInteger", since="opset10"):
    """Integer convolution of 8-bit integers minus their zero points, with zeros as padding; w has one zero point, or
    one per output channel.
    """

    x: Value = operand("T1")
    w: Value = operand("T2")
    x_zero_point: Value | None = operand("T1", default=None)
    w_zero_point: Value | None = operand("T2", default=None)
    group: int = attribute(attr_types.integer, default=1, check=positive)
    dilations: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    kernel_shape: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    auto_pad: str = attribute(attr_types.string, default="NOTSET", check=AUTO_PAD)
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    strides: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    y: Value = result("T3")
    T1 = BYTES
    T2 = BYTES
    T3 = element_type(i32)

    def reference(self, x: Value, w: Value, x_zero_point: Value | None, w_zero_point: Value | None) -> Value:
        zero = None if w_zero_point is None else along_axis(w_zero_point, 0, rank_of(w))
        found = window(self, shifted(x, x_zero_point, i32), kernel_of(w), self.dilations)
        filters = shifted(w, zero, i32)
        return core.conv(found.x, filters, None, found.strides, found.dilations, found.pads, self.group)


class QuantizedConvolution(OnnxOp):
    """Convolution of quantized tensors, requantized; the bias has the scale of the products."""

    x: Value = operand("T1")
    x_scale: Value = operand("f32")
    x_zero_point: Value = operand("T1")
    w: Value = operand("T2")
    w_scale: Value = operand("f32")
    w_zero_point: Value = operand("T2")
    y_scale: Value = operand("f32")
    y_zero_point: Value = operand("T3")
    B: Value | None = operand("T4", default=None)
    group: int = attribute(attr_types.integer, default=1, check=positive)
    dilations: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    kernel_shape: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    auto_pad: str = attribute(attr_types.string, default="NOTSET", check=AUTO_PAD)
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    strides: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    y: Value = result("T3")
    T1 = BYTES
    T2 = BYTES
    T3 = BYTES
    T4 = element_type(i32)

    def reference(
        self,
        x: Value,
        x_scale: Value,
        x_zero_point: Value,
        w: Value,
        w_scale: Value,
        w_zero_point: Value,
        y_scale: Value,
        y_zero_point: Value,
        B: Value | None,
    ) -> Value:
        rank = rank_of(w)
        found = window(self, shifted(x, x_zero_point, i32), kernel_of(w), self.dilations)
        filters = shifted(w, along_axis(w_zero_point, 0, rank), i32)
        summed = core.conv(found.x, filters, B, found.strides, found.dilations, found.pads, self.group)
        return requantized(summed, result_scale(x_scale, along_axis(w_scale, 1, rank), y_scale), y_zero_point)


class QLinearConv(QuantizedConvolution, name="onnx.QLinearConv", since="opset10"):
    """Convolution of quantized tensors, with a quantized result; the bias has the scale x_scale * w_scale."""
