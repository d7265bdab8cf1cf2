"""Quantization as arithmetic on the core, for targets that have no operator for the integers or the blocks."""

from __future__ import annotations

from commonir.conversions.operands import refused, shape_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, i32
from commonir.notation import limits


def quantized_steps(x: Value, scale: Value, zero_point: Value | None, element: ElementType) -> Value:
    """Returns the result of `core.quantize` as floats; all operands are of one float type.

    Raises: DiagnosticError (E0601) for blocks of sizes that are not known.
    """
    steps = core.round(core.div(x, _fitted(scale, x)))
    if zero_point is not None:
        steps = core.add(steps, _fitted(zero_point, x))
    low, high = limits(element)
    return core.clip(steps, float(low), float(high))


def dequantized_steps(x: Value, scale: Value, zero_point: Value | None) -> Value:
    """Returns the result of `core.dequantize`; all operands are of one float type.

    Raises: DiagnosticError (E0601) for blocks of sizes that are not known.
    """
    steps = x if zero_point is None else core.sub(x, _fitted(zero_point, x))
    return core.mul(steps, _fitted(scale, x))


def _fitted(values: Value, x: Value) -> Value:
    """Values that are broadcast along a tensor; those for blocks are repeated for their elements.

    Raises: DiagnosticError (E0601) for blocks of sizes that are not known.
    """
    for axis, (n, m) in enumerate(zip(shape_of(values), shape_of(x), strict=False)):
        if n in (1, m):
            continue
        if not isinstance(n, int) or not isinstance(m, int) or not n or m % n:
            raise refused("blocks of several elements have sizes that are known")
        values = core.gather(values, core.vector(tuple([k * n // m for k in range(m)]), i32), axis)
    return values
