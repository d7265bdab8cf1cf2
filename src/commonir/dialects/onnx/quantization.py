"""ONNX quantization and dequantization.

Source: ONNX operator reference, default domain, versions 10 to 28.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    BYTES,
    FLOATS_6,
    FLOATS_8,
    INTEGERS_2,
    INTEGERS_4,
    SCALES_8,
    OnnxOp,
    axis_from_start,
    element_of,
    rank_of,
    shape_of,
    tensor_type,
)
from commonir.ir.data import DeferredData, InlineData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, bf16, f4e2m1fn, f16, f32, i16, i32, i64, u8, u16
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, by_version, element_type, known_data, operand, result, same_as, traits
from commonir.symbolic import Dim

SHORTS = element_type(i16, u16)
HALF_AND_SINGLE = element_type(f16, bf16, f32)
QUANTIZED_21 = FLOATS_8 | INTEGERS_4 | BYTES | SHORTS
QUANTIZED_23 = QUANTIZED_21 | element_type(f4e2m1fn)
QUANTIZED_25 = QUANTIZED_23 | INTEGERS_2
QUANTIZED_28 = QUANTIZED_25 | FLOATS_6
WHOLE = element_type(i32)


def _lying(values: Value, axis: int, x: Value) -> Value:
    """Scales or offsets shaped to lie along an axis, or in blocks."""
    rank, shape = rank_of(x), shape_of(values)
    if len(shape) in (0, rank):
        return values
    if len(shape) != 1:
        raise NotationError(f"scales of rank {len(shape)} for rank {rank}")
    at = axis_from_start(axis, rank)
    expected = (*(1,) * at, shape[0], *(1,) * (rank - at - 1))
    data = known_data(values)
    if data is None:
        return core.reshape(values, expected)
    type = data.type.with_shape(expected)
    return core.constant(DeferredData(type, lambda: InlineData(type, data.buffer())))


def _repeated(values: Value, at: int, size: Dim, block: int) -> Value:
    """Values of blocks of a size along an axis, one for each element; the last block may be shorter."""
    count = shape_of(values)[at]
    if count in (1, size):
        return values
    if isinstance(size, int):
        places = core.vector(tuple([i // block for i in range(size)]), i64)
    else:
        places = core.floor_div(core.iota((size,), 0, i64), core.scalar(block, i64))
    return core.gather(values, places, at)


def _in_blocks(values: Value, axis: int, x: Value, block: int, *, whole: bool) -> Value:
    """Scales or offsets as the core takes them: for `whole` blocks that divide the axis, or for each element."""
    lying = _lying(values, axis, x)
    if not block or len(shape_of(lying)) != rank_of(x):
        return lying
    at = axis_from_start(axis, rank_of(x))
    size, count = shape_of(x)[at], shape_of(lying)[at]
    return lying if whole and size == count * block else _repeated(lying, at, size, block)


def as_element(value: Value, element: ElementType) -> Value:
    """A value of an element type."""
    return value if element_of(value) is element else core.cast(value, element)


def _precision(x: Value, scale: Value, expected: ElementType | None) -> ElementType:
    """The type in which x is divided by a scale: the one asked for, else that of the scale where it is a float."""
    for element in (expected, element_of(scale), element_of(x)):
        if element in HALF_AND_SINGLE.members:
            return element
    return f32


def quantized(
    x: Value,
    scale: Value,
    zero_point: Value | None,
    element: ElementType,
    axis: int,
    block: int = 0,
    precision: ElementType | None = None,
    saturate: bool = True,
) -> Value:
    """The quotient by the scale, rounded half to even, shifted, and limited to the numbers of an element type."""
    computed = _precision(x, scale, precision)
    numbers, factor = as_element(x, computed), as_element(scale, computed)
    if element.is_integer:
        offset = None if zero_point is None else _in_blocks(zero_point, axis, x, block, whole=True)
        return core.quantize(numbers, _in_blocks(factor, axis, x, block, whole=True), element, offset)
    quotient = core.div(numbers, _in_blocks(factor, axis, x, block, whole=False))
    if zero_point is not None:
        quotient = core.add(quotient, _in_blocks(as_element(zero_point, computed), axis, x, block, whole=False))
    return core.narrow_cast(quotient, element, saturate)


def dequantized(
    x: Value, scale: Value, zero_point: Value | None, axis: int, block: int = 0, element: ElementType | None = None
) -> Value:
    """The difference to the zero point times the scale, in an element type, else in that of the scale."""
    computed = element or _precision(scale, scale, None)
    offset = None if zero_point is None else _in_blocks(zero_point, axis, x, block, whole=True)
    return core.dequantize(x, _in_blocks(as_element(scale, computed), axis, x, block, whole=True), offset)


def dynamically_quantized(x: Value) -> tuple[Value, Value, Value]:
    """A tensor as bytes, with the scale and zero point that its range calls for."""
    zero, most = core.splat(0.0, x), core.splat(255.0, x)
    low = core.minimum(core.reduce_min(x), zero)
    span = core.sub(core.maximum(core.reduce_max(x), zero), low)
    # A tensor of zeros has no range; any scale will do.
    scale = core.div(core.select(core.equal(span, zero), core.splat(1.0, x), span), most)
    offset = core.cast(core.round(core.clip(core.neg(core.div(low, scale)), 0.0, 255.0)), u8)
    return core.quantize(x, scale, u8, offset), scale, offset


def _quantized_type(x: Value, zero_point: Value | None, element: ElementType) -> Type:
    """The type of a quantized tensor: of the zero point's elements, or those of a type without one."""
    return TensorType(element if zero_point is None else element_of(zero_point), tensor_type(x).shape)


class QuantizeLinear(OnnxOp, name="onnx.QuantizeLinear"):
    """Linear quantization: x / y_scale, rounded (half to even), plus y_zero_point, saturated to the type."""

    x: Value = operand("T1")
    y_scale: Value = operand("T2")
    y_zero_point: Value | None = operand("T3", default=None)
    axis: int = attribute(attr_types.integer, default=1, since="opset13")
    saturate: bool = attribute(attr_types.flag, default=True, since="opset19")
    output_dtype: ElementType | None = attribute(attr_types.element, default=None, since="opset21")
    block_size: int = attribute(attr_types.integer, default=0, since="opset21")
    precision: ElementType | None = attribute(attr_types.element, default=None, since="opset23")
    y: Value = result("T3")
    T1 = by_version(opset10=element_type(f32, i32), opset19=HALF_AND_SINGLE | WHOLE)
    T2 = by_version(
        opset10=element_type(f32),
        opset19=same_as("T1"),
        opset23=HALF_AND_SINGLE | WHOLE,
        opset24=HALF_AND_SINGLE | WHOLE | SCALES_8,
    )
    T3 = by_version(
        opset10=BYTES,
        opset19=FLOATS_8 | BYTES,
        opset21=QUANTIZED_21,
        opset23=QUANTIZED_23,
        opset25=QUANTIZED_25,
        opset28=QUANTIZED_28,
    )

    def reference(self, x: Value, y_scale: Value, y_zero_point: Value | None) -> Value:
        element = (self.output_dtype or u8) if y_zero_point is None else element_of(y_zero_point)
        return quantized(x, y_scale, y_zero_point, element, self.axis, self.block_size, self.precision, self.saturate)

    def infer_partially(self) -> tuple[Type, ...]:
        return (_quantized_type(self.x, self.y_zero_point, self.output_dtype or u8),)


class DequantizeLinear(
    OnnxOp,
    name="onnx.DequantizeLinear",
    traits=(traits.Decodes("x", "quantized", scales="x_scale", block="block_size"),),
):
    """Linear dequantization: (x - x_zero_point) * x_scale."""

    x: Value = operand("T1")
    x_scale: Value = operand("T2")
    x_zero_point: Value | None = operand("T1", default=None)
    axis: int = attribute(attr_types.integer, default=1, since="opset13")
    block_size: int = attribute(attr_types.integer, default=0, since="opset21")
    output_dtype: ElementType | None = attribute(attr_types.element, default=None, since="opset23")
    y: Value = result("T3")
    T1 = by_version(
        opset10=BYTES | WHOLE,
        opset19=FLOATS_8 | BYTES | WHOLE,
        opset21=QUANTIZED_21 | WHOLE,
        opset23=QUANTIZED_23 | WHOLE,
        opset25=QUANTIZED_25 | WHOLE,
        opset28=QUANTIZED_28 | WHOLE,
    )
    T2 = by_version(opset10=element_type(f32), opset19=HALF_AND_SINGLE, opset24=HALF_AND_SINGLE | SCALES_8)
    T3 = by_version(opset10=same_as("T2"), opset23=HALF_AND_SINGLE)

    def reference(self, x: Value, x_scale: Value, x_zero_point: Value | None) -> Value:
        return dequantized(x, x_scale, x_zero_point, self.axis, self.block_size, self.output_dtype)


class DynamicQuantizeLinear(OnnxOp, name="onnx.DynamicQuantizeLinear", since="opset11"):
    """Dynamic quantization to uint8, with the scale and zero point of the range of x, which it returns too."""

    x: Value = operand("T1")
    y: Value = result("T2")
    y_scale: Value = result("f32")
    y_zero_point: Value = result("T2")
    T1 = element_type(f32)
    T2 = element_type(u8)

    def reference(self, x: Value) -> tuple[Value, ...]:
        return dynamically_quantized(x)
