"""Quantized matrix products and convolutions of com.microsoft.

Products are summed as 32-bit integers. Source: onnxruntime, contrib operator reference, version 1.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import BYTES, OnnxOp, element_of
from commonir.dialects.onnx.microsoft.quantized import HALF_OR_SINGLE, SINGLE, channels_first, channels_last, one
from commonir.dialects.onnx.quantization import WHOLE, as_element, dynamically_quantized
from commonir.dialects.onnx.quantized_products import QuantizedConvolution, of_rows, requantized, shifted
from commonir.ir.operation import Value
from commonir.ir.types import f32, i16, i32, u16, u32
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, element_type, operand, result


def _plus(y: Value, bias: Value | None) -> Value:
    return y if bias is None else core.add(y, bias)


class MatMulInteger16(OnnxOp, name="onnx.microsoft.MatMulInteger16", since="microsoft1"):
    """Matrix product of 16-bit integers; the result is unsigned if both operands are."""

    A: Value = operand("T1")
    B: Value = operand("T2")
    Y: Value = result("T3")
    T1 = element_type(i16, u16)
    T2 = element_type(i16, u16)
    T3 = element_type(i32, u32)

    def reference(self, A: Value, B: Value) -> Value:
        element_type = i32 if i16 in (element_of(A), element_of(B)) else u32
        return core.matmul(core.cast(A, element_type), core.cast(B, element_type))


class DynamicQuantizeMatMul(OnnxOp, name="onnx.microsoft.DynamicQuantizeMatMul", since="microsoft1"):
    """Matrix product of A, dynamically quantized to 8 bits, and a quantized B, which may have per-column scales."""

    A: Value = operand("T1")
    B: Value = operand("T2")
    b_scale: Value = operand("T1")
    b_zero_point: Value | None = operand("T2", default=None)
    bias: Value | None = operand("T1", default=None)
    Y: Value = result("T1")
    T1 = SINGLE
    T2 = BYTES

    def reference(self, A: Value, B: Value, b_scale: Value, b_zero_point: Value | None, bias: Value | None) -> Value:
        a, a_scale, a_zero_point = dynamically_quantized(A)
        summed = core.matmul(shifted(a, a_zero_point, i32), shifted(B, b_zero_point, i32))
        return _plus(core.mul(core.cast(summed, f32), core.mul(a_scale, b_scale)), bias)


class MatMulIntegerToFloat(OnnxOp, name="onnx.microsoft.MatMulIntegerToFloat", since="microsoft1"):
    """Dequantized product of quantized matrices; B may have per-column scales."""

    A: Value = operand("T1")
    B: Value = operand("T2")
    a_scale: Value = operand("T3")
    b_scale: Value = operand("T3")
    a_zero_point: Value | None = operand("T1", default=None)
    b_zero_point: Value | None = operand("T2", default=None)
    bias: Value | None = operand("T3", default=None)
    Y: Value = result("T3")
    T1 = BYTES
    T2 = BYTES
    T3 = HALF_OR_SINGLE

    def reference(
        self,
        A: Value,
        B: Value,
        a_scale: Value,
        b_scale: Value,
        a_zero_point: Value | None,
        b_zero_point: Value | None,
        bias: Value | None,
    ) -> Value:
        rows = None if a_zero_point is None else of_rows(a_zero_point)
        summed = core.matmul(shifted(A, rows, i32), shifted(B, b_zero_point, i32))
        factor = core.mul(as_element(of_rows(a_scale), f32), as_element(b_scale, f32))
        y = core.mul(core.cast(summed, f32), factor)
        return as_element(_plus(y, None if bias is None else as_element(bias, f32)), element_of(a_scale))


class QGemm(OnnxOp, name="onnx.microsoft.QGemm", since="microsoft1"):
    """General matrix product alpha A B + C of quantized matrices, which may be transposed; the result is quantized if
    it has a scale.

    C has the scale of the products, and B may have per-column scales.
    """

    A: Value = operand("TA")
    a_scale: Value = operand("T")
    a_zero_point: Value = operand("TA")
    B: Value = operand("TB")
    b_scale: Value = operand("T")
    b_zero_point: Value = operand("TB")
    C: Value | None = operand("TC", default=None)
    y_scale: Value | None = operand("T", default=None)
    y_zero_point: Value | None = operand("TYZ", default=None)
    transA: bool = attribute(attr_types.flag, default=False)
    transB: bool = attribute(attr_types.flag, default=False)
    alpha: float = attribute(attr_types.number, default=1.0)
    Y: Value = result("TY")
    T = SINGLE
    TA = BYTES
    TB = BYTES
    TC = WHOLE
    TYZ = BYTES
    TY = SINGLE | BYTES

    def reference(
        self,
        A: Value,
        a_scale: Value,
        a_zero_point: Value,
        B: Value,
        b_scale: Value,
        b_zero_point: Value,
        C: Value | None,
        y_scale: Value | None,
        y_zero_point: Value | None,
    ) -> Value:
        a, b = shifted(A, one(a_zero_point), i32), _turned(B, b_zero_point, turn=self.transB)
        summed = _plus(core.matmul(core.transpose(a, (1, 0)) if self.transA else a, b), C)
        factor = core.mul(core.mul(one(a_scale), b_scale), core.scalar(self.alpha, f32))
        if y_scale is None:
            return core.mul(core.cast(summed, f32), factor)
        if y_zero_point is None:
            raise NotationError("a scale of the result comes with a zero point")
        return requantized(summed, core.div(factor, one(y_scale)), one(y_zero_point))


def _turned(matrix: Value, zero_point: Value, *, turn: bool) -> Value:
    """A matrix less the zero points of its columns, which are rows before it is turned."""
    return shifted(core.transpose(matrix, (1, 0)) if turn else matrix, zero_point, i32)


class QLinearConv(QuantizedConvolution, name="onnx.microsoft.QLinearConv", since="microsoft1"):
    """Convolution of quantized tensors, with a quantized result; `channels_last` selects NHWC layout."""

    channels_last: bool = attribute(attr_types.flag, default=False)

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
        image = channels_first(x) if self.channels_last else x
        y = super().reference(image, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B)
        return channels_last(y) if self.channels_last else y
