"""Arithmetic of signless integers, such as `i32` of LLVM and MLIR, as functions of core values.

A value is stored as a signed integer of its width; unsigned functions reinterpret its bits. A bool is an integer of one
bit: its signed values are 0 and -1, its unsigned ones 0 and 1. Everything wraps. What MLIR leaves undefined (division
by zero, shifts beyond the width) has no specified value here. Source: MLIR arith and index dialects; LLVM language
reference, integer arithmetic.
"""

from __future__ import annotations

from commonir.dialects.core.base import Function2, tensor_type
from commonir.dialects.core.constants import splat
from commonir.dialects.core.conversion import bit_cast
from commonir.dialects.core.elementwise import (
    abs,
    add,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    cast,
    div,
    equal,
    floor_div,
    greater_equal,
    less,
    logical_and,
    mul,
    neg,
    not_equal,
    pow,
    remainder,
    select,
    shift_left,
    shift_right,
    sub,
)
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, ElementType, boolean, i8, i64
from commonir.notation import NotationError


def width_of(x: Value) -> int:
    """Returns how many bits an integer or bool has."""
    return tensor_type(x).element.width


def _unsigned_type(element: ElementType) -> ElementType:
    result = ELEMENT_TYPES.get(f"ui{element.bits}")
    if result is None:
        raise NotationError(f"there is no unsigned arithmetic on {element}")
    return result


def as_unsigned(x: Value) -> Value:
    """The bits as an unsigned number; a bool as 0 or 1 of eight bits."""
    element = tensor_type(x).element
    expected = _unsigned_type(i8 if element is boolean else element)
    return cast(x, expected) if element is boolean else bit_cast(x, expected)


def as_signed(x: Value) -> Value:
    """The bits as a signed number; a bool as 0 or -1 of eight bits."""
    return neg(cast(x, i8)) if tensor_type(x).element is boolean else x


def like(x: Value, element: ElementType) -> Value:
    """The low bits of a number as a value of an element type of at most its width."""
    if element is boolean:
        return not_equal(bitwise_and(x, splat(1, x)), splat(0, x))
    return x if tensor_type(x).element is element else bit_cast(x, element)


def unsigned(function: Function2) -> Function2:
    """A function of two numbers applied to bits as unsigned ones."""
    return lambda a, b: like(function(as_unsigned(a), as_unsigned(b)), tensor_type(a).element)


def signed(function: Function2) -> Function2:
    """A function of two signed numbers, applied to bools too."""
    return lambda a, b: like(function(as_signed(a), as_signed(b)), tensor_type(a).element)


def signed_comparison(function: Function2) -> Function2:
    """A comparison of signed numbers, applied to bools too."""
    return lambda a, b: function(as_signed(a), as_signed(b))


def unsigned_comparison(function: Function2) -> Function2:
    """A comparison of bits as unsigned numbers."""
    return lambda a, b: function(as_unsigned(a), as_unsigned(b))


# -- conversions


def extended(x: Value, element: ElementType, *, sign: bool) -> Value:
    """A number in a wider type: its sign bit repeated, or zeros before it."""
    if sign or element is boolean:
        return cast(as_signed(x), element)
    wide = cast(as_unsigned(x), _unsigned_type(element))
    return bit_cast(wide, element)


def truncated(x: Value, element: ElementType) -> Value:
    """The low bits of a number."""
    if element is boolean:
        return like(x, boolean)
    distance = splat(width_of(x) - element.bits, x)
    # What is left fits, so the conversion is defined.
    return cast(shift_right(shift_left(x, distance), distance), element)


def resized(x: Value, element: ElementType, *, sign: bool) -> Value:
    """The number in another type, extended or truncated to its width."""
    before, after = width_of(x), element.width
    if before == after:
        return x
    return extended(x, element, sign=sign) if before < after else truncated(x, element)


def to_float(x: Value, element: ElementType, *, sign: bool) -> Value:
    """The nearest floating-point number."""
    return cast(as_signed(x) if sign else as_unsigned(x), element)


def from_float(x: Value, element: ElementType, *, sign: bool) -> Value:
    """A floating-point number without its fraction; what does not fit has no specified value."""
    if element is boolean:
        return like(cast(x, i8), boolean)
    return cast(x, element) if sign else bit_cast(cast(x, _unsigned_type(element)), element)


# -- division


def ceil_div_signed(a: Value, b: Value) -> Value:
    """The quotient rounded up."""
    a, b, element = as_signed(a), as_signed(b), tensor_type(a).element
    quotient, rest = div(a, b), remainder(a, b)
    is_above = logical_and(not_equal(rest, splat(0, a)), equal(less(a, splat(0, a)), less(b, splat(0, b))))
    return like(select(is_above, add(quotient, splat(1, a)), quotient), element)


def ceil_div_unsigned(a: Value, b: Value) -> Value:
    """The quotient of unsigned numbers rounded up."""
    a, b, element = as_unsigned(a), as_unsigned(b), tensor_type(a).element
    quotient = div(a, b)
    has_rest = not_equal(remainder(a, b), splat(0, a))
    return like(select(has_rest, add(quotient, splat(1, a)), quotient), element)


div_signed = signed(div)
div_unsigned = unsigned(div)
floor_div_signed = signed(floor_div)
remainder_signed = signed(remainder)
remainder_unsigned = unsigned(remainder)


# -- shifts: the distance is unsigned


def shift_left_of(a: Value, b: Value) -> Value:
    """The bits moved up."""
    return unsigned(shift_left)(a, b)


def shift_right_signed(a: Value, b: Value) -> Value:
    """The bits moved down, the sign repeated."""
    return signed(shift_right)(a, b)


def shift_right_unsigned(a: Value, b: Value) -> Value:
    """The bits moved down, zeros before them."""
    return unsigned(shift_right)(a, b)


# -- numbers of twice the width


def sum_and_carry(a: Value, b: Value) -> tuple[Value, Value]:
    """The sum of unsigned numbers, and whether it did not fit."""
    total = unsigned(add)(a, b)
    return total, unsigned_comparison(less)(total, a)


def low_and_high(a: Value, b: Value, *, sign: bool) -> tuple[Value, Value]:
    """The two halves of a product."""
    width, element = width_of(a), tensor_type(a).element
    if width < i64.bits:
        wide = mul(extended(a, i64, sign=sign), extended(b, i64, sign=sign))
        return truncated(wide, element), truncated(shift_right(wide, splat(width, wide)), element)
    return mul(a, b), _high_half_signed(a, b) if sign else _high_half_unsigned(a, b)


def _high_half_unsigned(a: Value, b: Value) -> Value:
    """The upper 64 bits of a product of unsigned numbers, from products of their halves."""
    a, b = as_unsigned(a), as_unsigned(b)
    half, mask = splat(32, a), splat(0xFFFFFFFF, a)
    a_low, a_high = bitwise_and(a, mask), shift_right(a, half)
    b_low, b_high = bitwise_and(b, mask), shift_right(b, half)
    middle = add(mul(a_high, b_low), shift_right(mul(a_low, b_low), half))
    other = add(mul(a_low, b_high), bitwise_and(middle, mask))
    top = add(mul(a_high, b_high), add(shift_right(middle, half), shift_right(other, half)))
    return bit_cast(top, i64)


def _high_half_signed(a: Value, b: Value) -> Value:
    """The upper half of a signed product: that of the unsigned one, less what the sign bits added."""
    zero = splat(0, a)
    extra = add(select(less(a, zero), b, zero), select(less(b, zero), a, zero))
    return sub(_high_half_unsigned(a, b), extra)


# -- counts of bits


def count_ones(x: Value) -> Value:
    """Returns how many bits are set."""
    element = tensor_type(x).element
    if element is boolean:
        return x
    v = as_unsigned(x)
    width = width_of(x)
    step = 1
    while step < width:
        # Groups of `step` bits hold counts; pairs of them are added.
        mask = sum(((1 << step) - 1) << at for at in range(0, width, 2 * step))
        v = add(bitwise_and(v, splat(mask, v)), bitwise_and(shift_right(v, splat(step, v)), splat(mask, v)))
        step *= 2
    return bit_cast(v, element)


def count_leading_zeros(x: Value) -> Value:
    """Returns how many zeros stand before the first bit that is set."""
    element = tensor_type(x).element
    if element is boolean:
        return equal(x, splat(False, x))
    v = as_unsigned(x)
    step = 1
    while step < width_of(x):
        v = bitwise_or(v, shift_right(v, splat(step, v)))
        step *= 2
    return count_ones(bit_cast(bitwise_not(v), element))


def count_trailing_zeros(x: Value) -> Value:
    """Returns how many zeros follow the last bit that is set."""
    if tensor_type(x).element is boolean:
        return equal(x, splat(False, x))
    one = splat(1, x)
    return count_ones(bitwise_and(bitwise_not(x), sub(x, one)))


def absolute(x: Value) -> Value:
    """The absolute value; that of the least number is the number itself."""
    return x if tensor_type(x).element is boolean else abs(x)


def power(a: Value, b: Value) -> Value:
    """The first to the power of the second; a negative power is what is left of one divided by it."""
    a, b, element = as_signed(a), as_signed(b), tensor_type(a).element
    zero, one, minus = splat(0, a), splat(1, a), splat(-1, a)
    is_odd = not_equal(bitwise_and(b, one), zero)
    inverse = select(equal(a, minus), select(is_odd, minus, one), select(equal(a, one), one, zero))
    whole = greater_equal(b, zero)
    return like(select(whole, pow(a, select(whole, b, zero)), inverse), element)
