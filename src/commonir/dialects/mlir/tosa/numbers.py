"""Integer arithmetic of TOSA as functions of core values: saturation, zero points and scaling.

Everything is computed in 64 bits, which hold each number that the specification allows on the way.
Source: TOSA specification 1.0, pseudocode of apply_clip, apply_scale_32, apply_scale_16 and reciprocal_scale.
"""

from __future__ import annotations

from commonir.dialects.lazy_core import core, integers
from commonir.dialects.mlir.tosa.base import element
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64, i64

_DOUBLE_ROUND_FROM = 31
"""Shifts beyond this one round twice when that is asked for."""


def bounds(element_type: ElementType, *, unsigned: bool) -> tuple[int, int]:
    """The least and the largest number of an integer type, its bits taken with or without a sign."""
    return (0, (1 << element_type.bits) - 1) if unsigned else element_type.integer_limits


def widened(x: Value) -> Value:
    """Returns a float in a type that distinguishes large integers as well as its own does."""
    element_type = element(x)
    return x if element_type is f64 else core.cast(x, f64 if element_type is f32 else f32)


def saturated(x: Value, element_type: ElementType, *, unsigned: bool = False) -> Value:
    """A 64-bit number as one of an integer type: the nearest that the type has."""
    low, high = bounds(element_type, unsigned=unsigned)
    clamped = core.minimum(core.maximum(x, core.splat(low, x)), core.splat(high, x))
    return integers.truncated(clamped, element_type) if element_type.bits < i64.bits else clamped


def extended(x: Value, *, unsigned: bool = False) -> Value:
    """An integer in 64 bits, its bits taken with or without a sign."""
    element_type = element(x)
    return (
        x
        if element_type is i64
        else integers.extended(x, i64, sign=not unsigned and not str(element_type).startswith("ui"))
    )


def scaled(value: Value, multiplier: Value, shift: Value, *, double_round: bool) -> Value:
    """A 64-bit number times a multiplier, divided by two to the power of `shift`: to the nearest, halves upward.

    With `double_round`, and a shift of more than 31 bits, 2^30 is added to it first, or taken from a negative one.
    """
    one = core.splat(1, shift)
    half = core.shift_left(one, core.sub(shift, one))
    product = core.add(core.mul(value, multiplier), half)
    if double_round:
        twice = core.splat(1 << 30, value)
        signed = core.select(core.greater_equal(value, core.splat(0, value)), twice, core.neg(twice))
        deep = core.greater(shift, core.splat(_DOUBLE_ROUND_FROM, shift))
        product = core.add(product, core.select(deep, signed, core.splat(0, value)))
    return core.shift_right(product, shift)


def reciprocal_scale(count: int) -> tuple[int, int]:
    """The multiplier and the shift that divide by a count."""
    k = (count - 1).bit_length()
    return ((1 << 30) + 1 << k) // count, 30 + k


def without_zero_point(x: Value, zero_point: Value) -> Value:
    """A float as it is; an integer minus its zero point, in 64 bits."""
    if element(x).is_float:
        return x
    return core.sub(extended(x), extended(core.reshape(zero_point, ())))
