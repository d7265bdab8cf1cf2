"""Rules for quantization, computed in single precision."""

from __future__ import annotations

from commonir.conversions.core_to_ark.context import ArkContext, Built, rule
from commonir.conversions.core_to_core.quantizing import dequantized_steps, quantized_steps
from commonir.conversions.operands import element_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import f32


@rule(core.Quantize)
def quantize(op: core.Quantize, context: ArkContext, x: Value, scale: Value, zero_point: Value | None) -> Built:
    steps = quantized_steps(core.cast(x, f32), core.cast(scale, f32), _single(zero_point), op.element)
    return core.cast(steps, op.element)


@rule(core.Dequantize)
def dequantize(op: core.Dequantize, context: ArkContext, x: Value, scale: Value, zero_point: Value | None) -> Built:
    steps = dequantized_steps(core.cast(x, f32), core.cast(scale, f32), _single(zero_point))
    return core.cast(steps, element_of(scale))


def _single(value: Value | None) -> Value | None:
    return None if value is None else core.cast(value, f32)
