"""Quantization of activations in the mil dialect.

Source: MIL operation reference, quantization_ops.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_7, MilOp
from commonir.dialects.mil.elementwise import DATA_TYPE
from commonir.dialects.mil.operands import (
    FLOATS,
    STRING,
    Condition,
    DataType,
    all_hold,
    element_of,
    is_axis,
    rank_of,
    same_size,
)
from commonir.ir.data import DeferredData, InlineData
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, i8, u8
from commonir.ods import attr_types, constraint, element_type, known_data, one_of, operand, parameter, result, traits
from commonir.ods.operand_shapes import ranked_shape

EIGHT_BITS = element_type(i8, u8)


def _fit(x: Value, scale: Value, zero_point: Value | None, axis: int | None) -> Condition:
    """Returns the condition that scale and zero point are scalars, without axis, or vectors along an axis."""
    if axis is None:
        return rank_of(scale) == 0 and (zero_point is None or rank_of(zero_point) == 0)
    if not is_axis(axis, rank_of(x)) or rank_of(scale) != 1 or (zero_point is not None and rank_of(zero_point) != 1):
        return False
    size = ranked_shape(x)[axis]
    arguments = [v for v in (scale, zero_point) if v is not None]
    return all_hold([same_size(ranked_shape(v)[0], size, "quantized axis") for v in arguments])


def _along(values: Value, axis: int | None, rank: int) -> Value:
    """A scalar, or a vector shaped to lie along an axis."""
    if axis is None:
        return values
    at = axis % rank
    data = known_data(values)
    if data is None:
        return core.reshape(values, (*(1,) * at, -1, *(1,) * (rank - at - 1)))
    type = TensorType(data.element, (*(1,) * at, data.count, *(1,) * (rank - at - 1)))
    return core.constant(DeferredData(type, lambda: InlineData(type, data.buffer())))


class Quantize(MilOp, name="mil.quantize", traits=(traits.Pure,), since=CORE_ML_7):
    """Linear quantization: round(input / scale) + zero_point as an 8-bit integer, saturated to its range; halves are
    rounded to even.

    zero_point is 0 by default.
    """

    input: Value = operand("T[s*]")
    scale: Value = operand("T[*]", constant=True)
    output_dtype: DataType = parameter(DATA_TYPE, spec=STRING, check=one_of(DataType.INT8, DataType.UINT8))
    zero_point: Value | None = operand("Q[*]", default=None, constant=True)
    axis: int | None = parameter(attr_types.integer, spec="i32[]", default=None)
    output: Value = result("R[s*]")
    T = FLOATS
    Q = EIGHT_BITS
    R = EIGHT_BITS

    @constraint("C1")
    def _fits(self) -> Condition:
        """scale and zero_point are scalars and there is no axis, or they are vectors of the size of that axis of
        input.
        """
        return _fit(self.input, self.scale, self.zero_point, self.axis)

    @constraint("C2")
    def _types_agree(self) -> bool:
        """zero_point has the type that output_dtype names."""
        return self.zero_point is None or element_of(self.zero_point) is self.output_dtype.element

    def reference(self, input: Value, scale: Value, zero_point: Value | None) -> Value:
        rank = rank_of(input)
        offset = None if zero_point is None else _along(zero_point, self.axis, rank)
        return core.quantize(input, _along(scale, self.axis, rank), self.output_dtype.element, offset)


class Dequantize(MilOp, name="mil.dequantize", traits=(traits.Pure,), since=CORE_ML_7):
    """Linear dequantization: scale * (input - zero_point), computed in single precision. zero_point is 0 by default."""

    input: Value = operand("Q[s*]")
    scale: Value = operand("T[*]", constant=True)
    zero_point: Value | None = operand("Q[*]", default=None, constant=True)
    axis: int | None = parameter(attr_types.integer, spec="i32[]", default=None)
    output: Value = result("T[s*]")
    T = FLOATS
    Q = EIGHT_BITS

    @constraint("C1")
    def _fits(self) -> Condition:
        """scale and zero_point are scalars and there is no axis, or they are vectors of the size of that axis of
        input.
        """
        return _fit(self.input, self.scale, self.zero_point, self.axis)

    def reference(self, input: Value, scale: Value, zero_point: Value | None) -> Value:
        rank = rank_of(input)
        offset = None if zero_point is None else _along(zero_point, self.axis, rank)
        return core.dequantize(input, _along(scale, self.axis, rank), offset)
