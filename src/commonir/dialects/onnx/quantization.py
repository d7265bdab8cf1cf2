"""ONNX operators between integers and the numbers they stand for.

Source: ONNX operator reference, default domain, versions 13 to 23.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS_8, INTEGERS_4, OnnxOp, axis_from_start, element_of, rank_of, shape_of
from commonir.ir.data import DeferredData, InlineData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, bf16, f4e2m1fn, f16, f32, i8, i16, i32, u8, u16
from commonir.notation import NotationError
from commonir.ods import attribute, element_type, kinds, known_data, operand, result


def _lying(values: Value, axis: int, x: Value) -> Value:
    """Scales or offsets shaped to lie along an axis, or in blocks."""
    rank, shape = rank_of(x), shape_of(values)
    if len(shape) in (0, rank):
        return values
    if len(shape) != 1:
        raise NotationError(f"scales of rank {len(shape)} for rank {rank}")
    at = axis_from_start(axis, rank)
    wanted = (*(1,) * at, shape[0], *(1,) * (rank - at - 1))
    data = known_data(values)
    if data is None:
        return core.reshape(values, wanted)
    kind = data.type.with_shape(wanted)
    return core.constant(DeferredData(kind, lambda: InlineData(kind, data.buffer())))


def quantized(x: Value, scale: Value, zero_point: Value | None, axis: int) -> Value:
    """The quotient by the scale, rounded half to even, shifted, and limited to the integers of the zero point."""
    element = u8 if zero_point is None else element_of(zero_point)
    if not element.is_integer:
        raise NotationError(f"quantization to {element} has no meaning in the core yet")
    numbers = x if element_of(x).is_float else core.cast(x, f32)
    factor = scale if element_of(scale) is element_of(numbers) else core.cast(scale, element_of(numbers))
    offset = None if zero_point is None else _lying(zero_point, axis, x)
    return core.quantize(numbers, _lying(factor, axis, x), element, offset)


def dequantized(x: Value, scale: Value, zero_point: Value | None, axis: int) -> Value:
    """The difference to the zero point times the scale, in the type of the scale."""
    offset = None if zero_point is None else _lying(zero_point, axis, x)
    return core.dequantize(x, _lying(scale, axis, x), offset)


class QuantizeLinear13(OnnxOp, name="onnx.QuantizeLinear", since="opset13"):
    """The element divided by a scale, rounded to the nearest integer (half to even), shifted, limited to the type."""

    __slots__ = ()

    x: Value = operand("T1")
    y_scale: Value = operand("f32")
    y_zero_point: Value | None = operand("T2", default=None)
    axis: int = attribute(kinds.integer, default=1)
    y: Value = result("T2")
    T1 = element_type(f32, i32)
    T2 = element_type(i8, u8)

    def reference(self, x: Value, y_scale: Value, y_zero_point: Value | None) -> Value:
        return quantized(x, y_scale, y_zero_point, self.axis)


class QuantizeLinear19(QuantizeLinear13, name="onnx.QuantizeLinear", since="opset19"):
    """As `QuantizeLinear13`, with `saturate`."""

    __slots__ = ()

    y_scale: Value = operand("T1")
    saturate: bool = attribute(kinds.flag, default=True)
    T1 = element_type(f16, bf16, f32, i32)
    T2 = FLOATS_8 | element_type(i8, u8)


class QuantizeLinear21(QuantizeLinear19, name="onnx.QuantizeLinear", since="opset21"):
    """As `QuantizeLinear19`, with `output_dtype`, `block_size`."""

    __slots__ = ()

    output_dtype: ElementType | None = attribute(kinds.element, default=None)
    block_size: int = attribute(kinds.integer, default=0)
    T2 = FLOATS_8 | INTEGERS_4 | element_type(i8, i16, u8, u16)


class QuantizeLinear(QuantizeLinear21, name="onnx.QuantizeLinear", since="opset23"):
    """As `QuantizeLinear21`, with `precision`."""

    __slots__ = ()

    y_scale: Value = operand("T2")
    y_zero_point: Value | None = operand("T3", default=None)
    precision: ElementType | None = attribute(kinds.element, default=None)
    y: Value = result("T3")
    T2 = element_type(f16, bf16, f32, i32)
    T3 = FLOATS_8 | INTEGERS_4 | element_type(i8, i16, u8, u16, f4e2m1fn)


class DequantizeLinear13(OnnxOp, name="onnx.DequantizeLinear", since="opset13"):
    """The element less the zero point, times a scale."""

    __slots__ = ()

    x: Value = operand("T")
    x_scale: Value = operand("f32")
    x_zero_point: Value | None = operand("T", default=None)
    axis: int = attribute(kinds.integer, default=1)
    y: Value = result("f32")
    T = element_type(i8, i32, u8)

    def reference(self, x: Value, x_scale: Value, x_zero_point: Value | None) -> Value:
        return dequantized(x, x_scale, x_zero_point, self.axis)


class DequantizeLinear19(DequantizeLinear13, name="onnx.DequantizeLinear", since="opset19"):
    """As `DequantizeLinear13`, for more element types."""

    __slots__ = ()

    x: Value = operand("T1")
    x_scale: Value = operand("T2")
    x_zero_point: Value | None = operand("T1", default=None)
    y: Value = result("T2")
    T1 = FLOATS_8 | element_type(i8, i32, u8)
    T2 = element_type(f16, bf16, f32)


class DequantizeLinear21(DequantizeLinear19, name="onnx.DequantizeLinear", since="opset21"):
    """As `DequantizeLinear19`, with `block_size`."""

    __slots__ = ()

    block_size: int = attribute(kinds.integer, default=0)
    T1 = FLOATS_8 | INTEGERS_4 | element_type(i8, i16, i32, u8, u16)


class DequantizeLinear(DequantizeLinear21, name="onnx.DequantizeLinear", since="opset23"):
    """As `DequantizeLinear21`, with `output_dtype`."""

    __slots__ = ()

    output_dtype: ElementType | None = attribute(kinds.element, default=None)
    y: Value = result("T3")
    T1 = FLOATS_8 | INTEGERS_4 | element_type(i8, i16, i32, u8, u16, f4e2m1fn)
    T3 = element_type(f16, bf16, f32)
