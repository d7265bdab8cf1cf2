"""Functions of the C library on floating-point numbers, composed of core functions.

Half precision is computed in single precision and rounded once. Others keep their type; results may differ from the
exact ones by some units in the last place.
Source: MLIR arith and math dialects; ISO C, mathematics; IEEE 754.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from commonir.dialects.core.base import tensor_type
from commonir.dialects.core.constants import splat
from commonir.dialects.core.conversion import bit_cast
from commonir.dialects.core.elementwise import (
    abs,
    add,
    atan,
    bitwise_and,
    bitwise_or,
    cast,
    div,
    equal,
    erf,
    exp,
    greater,
    greater_equal,
    is_inf,
    is_nan,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    mul,
    narrowed,
    neg,
    not_equal,
    pow,
    select,
    sub,
    truncate,
    widened,
)
from commonir.dialects.core.integers import to_float
from commonir.ir.floats import Rounding
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, ElementType, f32, f64
from commonir.notation import NotationError


def in_single(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function of values that are widened to at least single precision; its result is rounded once."""
    return lambda *xs: narrowed(function(*map(widened, xs)), xs[0])


# -- comparisons


def is_ordered(a: Value, b: Value) -> Value:
    """Returns whether neither is NaN."""
    return logical_not(is_unordered(a, b))


def is_unordered(a: Value, b: Value) -> Value:
    """Returns whether either is NaN."""
    return logical_or(is_nan(a), is_nan(b))


def always(answer: bool) -> Callable[[Value, Value], Value]:
    """A comparison that does not depend on what is compared."""
    return lambda a, b: logical_or(is_ordered(a, b), is_unordered(a, b)) if answer else less(a, a)


def is_less_or_greater(a: Value, b: Value) -> Value:
    """Returns whether they differ and neither is NaN."""
    return logical_or(less(a, b), greater(a, b))


def negated(comparison: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """Returns whether a comparison does not hold."""
    return lambda a, b: logical_not(comparison(a, b))


def is_finite(x: Value) -> Value:
    """Returns whether the number is neither infinite nor NaN."""
    return logical_not(logical_or(is_nan(x), is_inf(x)))


def is_normal(x: Value) -> Value:
    """Returns whether the number is neither zero, subnormal, infinite nor NaN."""
    least = _LEAST_NORMAL.get(tensor_type(x).element.name)
    if least is None:
        raise NotationError(f"no normal numbers are known of {tensor_type(x).element}")
    wide = widened(x)
    return logical_and(is_finite(wide), greater_equal(abs(wide), splat(least, wide)))


_LEAST_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}


# -- the larger and the smaller


def larger(a: Value, b: Value) -> Value:
    """The larger, NaN when either is; of two zeros the positive one."""
    zero = splat(0.0, a)
    both = logical_and(equal(a, zero), equal(b, zero))
    return select(both, add(a, b), maximum(a, b))


def smaller(a: Value, b: Value) -> Value:
    """The smaller, NaN when either is; of two zeros the negative one."""
    zero = splat(0.0, a)
    both = logical_and(equal(a, zero), equal(b, zero))
    return select(both, neg(add(neg(a), neg(b))), minimum(a, b))


def larger_number(a: Value, b: Value) -> Value:
    """The larger, the other when one is NaN; of two zeros the positive one."""
    return select(is_nan(a), b, select(is_nan(b), a, larger(a, b)))


def smaller_number(a: Value, b: Value) -> Value:
    """The smaller, the other when one is NaN; of two zeros the negative one."""
    return select(is_nan(a), b, select(is_nan(b), a, smaller(a, b)))


def clamp(x: Value, low: Value, high: Value) -> Value:
    """The number limited to a range; NaN when any is NaN."""
    return smaller(larger(x, low), high)


# -- bits


def _bits_type(element: ElementType) -> ElementType:
    result = ELEMENT_TYPES.get(f"i{element.bits}")
    if result is None or element.bits < 8:
        raise NotationError(f"no integer has the bits of {element}")
    return result


def copy_sign(x: Value, sign: Value) -> Value:
    """The magnitude of one number with the sign of another, also of zeros and NaN."""
    element = tensor_type(x).element
    element_type = _bits_type(element)
    top = -(1 << (element_type.bits - 1))
    bits, other = bit_cast(x, element_type), bit_cast(sign, element_type)
    magnitude = bitwise_and(bits, splat(-top - 1, bits))
    return bit_cast(bitwise_or(magnitude, bitwise_and(other, splat(top, bits))), element)


def _next_away(x: Value) -> Value:
    """The number after one when going away from zero."""
    element_type = _bits_type(tensor_type(x).element)
    bits = bit_cast(x, element_type)
    return bit_cast(add(bits, splat(1, bits)), tensor_type(x).element)


def _next_toward_zero(x: Value) -> Value:
    element_type = _bits_type(tensor_type(x).element)
    bits = bit_cast(x, element_type)
    return bit_cast(sub(bits, splat(1, bits)), tensor_type(x).element)


def next_after(x: Value, y: Value) -> Value:
    """The next number of the type after x in the direction of y, which may be subnormal."""
    zero = splat(0.0, x)
    away = equal(greater(y, x), greater(x, zero))
    moved = select(away, _next_away(x), _next_toward_zero(x))
    bits = bit_cast(x, _bits_type(tensor_type(x).element))
    smallest = bit_cast(add(mul(bits, splat(0, bits)), splat(1, bits)), tensor_type(x).element)
    moved = select(equal(x, zero), copy_sign(smallest, y), moved)
    result = select(equal(x, y), y, moved)
    return select(is_unordered(x, y), add(x, y), result)


def rounded_to(x: Value, element: ElementType, rounding: Rounding) -> Value:
    """A number rounded to a narrower type in some mode; infinities and NaN are preserved."""
    if rounding is Rounding.NEAREST_EVEN:
        return cast(x, element)
    # Engines may keep more precision than a type has, but not in its bits.
    near = bit_cast(bit_cast(cast(x, element), _bits_type(element)), element)
    back = cast(near, tensor_type(x).element)
    # The neighbour in the direction of zero; the sign of zero is that of the number.
    inner = copy_sign(select(greater(abs(back), abs(x)), _next_toward_zero(near), near), near)
    outer = _next_away(inner)
    inner_wide = cast(inner, tensor_type(x).element)
    is_exact = logical_or(equal(inner_wide, x), logical_not(is_finite(x)))
    is_below = less(x, splat(0.0, x))
    if rounding is Rounding.TOWARD_ZERO:
        goes_out = less(x, x)
    elif rounding is Rounding.NEAREST_AWAY:
        outer_wide = cast(outer, tensor_type(x).element)
        goes_out = less_equal(abs(sub(outer_wide, x)), abs(sub(x, inner_wide)))
    else:
        goes_out = is_below if rounding is Rounding.DOWNWARD else logical_not(is_below)
    return select(is_exact, near, select(goes_out, outer, inner))


# -- roots, powers, logarithms


def cbrt(x: Value) -> Value:
    """The cube root, which negative numbers have too."""
    magnitude = abs(x)
    near = pow(magnitude, splat(1 / 3, x))
    # One step of Newton brings the rounded exponent back to the last place.
    better = sub(near, div(sub(mul(near, mul(near, near)), magnitude), mul(splat(3.0, x), mul(near, near))))
    usable = logical_and(greater(near, splat(0.0, x)), is_finite(mul(near, mul(near, near))))
    return copy_sign(select(usable, better, near), x)


def log2(x: Value) -> Value:
    """The logarithm to base 2, exact for powers of 2 in double precision."""
    return _log_base(x, math.log(2))


def log10(x: Value) -> Value:
    """The logarithm to base 10."""
    return _log_base(x, math.log(10))


def _log_base(x: Value, log_of_base: float) -> Value:
    wide = cast(x, f64)
    return cast(div(log(wide), splat(log_of_base, wide)), tensor_type(x).element)


def log1p(x: Value) -> Value:
    """The logarithm of one plus the number, precise near zero."""
    one = splat(1.0, x)
    total = add(one, x)
    # The rounding of the sum and that of its difference from one cancel.
    rest = sub(total, one)
    is_tiny = equal(rest, splat(0.0, x))
    precise = mul(log(total), div(x, select(is_tiny, one, rest)))
    return select(is_tiny, x, select(is_inf(total), log(total), precise))


def expm1(x: Value) -> Value:
    """e to the power of the number, less one, precise near zero."""
    one = splat(1.0, x)
    power = exp(x)
    less_one = sub(power, one)
    near = less_equal(abs(x), one)
    # The roundings of the exponential and of its logarithm cancel.
    logarithm = log(select(near, power, one))
    usable = logical_and(near, not_equal(logarithm, splat(0.0, x)))
    precise = mul(less_one, div(x, select(usable, logarithm, one)))
    return select(usable, precise, select(near, x, less_one))


def float_power(x: Value, n: Value) -> Value:
    """A number to the power of an integer."""
    wide = cast(x, f64)
    return cast(pow(wide, to_float(n, f64, sign=True)), tensor_type(x).element)


# -- angles and the error function


def atan2(y: Value, x: Value) -> Value:
    """The angle of a point, in (-π, π], with the signs of zeros and infinities as in IEEE 754."""
    zero, one = splat(0.0, x), splat(1.0, x)
    is_negative = less(copy_sign(one, x), zero)
    both_infinite = logical_and(is_inf(x), is_inf(y))
    both_zero = logical_and(equal(x, zero), equal(y, zero))
    upper, right = abs(y), abs(x)
    # The ratio is at most one: the larger coordinate divides.
    is_steep = greater(upper, right)
    small, large = minimum(upper, right), maximum(upper, right)
    plain = div(small, select(both_zero, one, large))
    angle = atan(select(both_infinite, one, plain))
    angle = select(is_steep, sub(splat(math.pi / 2, x), angle), angle)
    angle = select(is_negative, sub(splat(math.pi, x), angle), angle)
    return select(logical_or(is_nan(x), is_nan(y)), add(x, y), copy_sign(angle, y))


_TERMS = 40
"""Steps of the continued fraction of erfc, which from 2 on is then exact to the last places of double precision."""


def erfc(x: Value) -> Value:
    """One less the error function, precise where that is near one."""
    wide = cast(x, f64)
    two = splat(2.0, wide)
    tail = maximum(wide, two)
    fraction = tail
    for n in range(_TERMS, 0, -1):
        fraction = add(tail, div(splat(n / 2, wide), fraction))
    far = div(exp(neg(mul(tail, tail))), mul(splat(math.sqrt(math.pi), wide), fraction))
    near = sub(splat(1.0, wide), erf(wide))
    return cast(select(greater(wide, two), far, near), tensor_type(x).element)


def round_away(x: Value) -> Value:
    """The nearest integer; halves go away from zero."""
    whole = truncate(x)
    rest = abs(sub(x, whole))
    up = add(whole, copy_sign(splat(1.0, x), x))
    return copy_sign(select(greater_equal(rest, splat(0.5, x)), up, whole), x)


# -- multiplication and addition rounded once


def fma(a: Value, b: Value, c: Value) -> Value:
    """a * b + c, rounded once but for the last place of double precision where an error of the sum is lost."""
    element = tensor_type(a).element
    if element.bits <= f32.bits:
        # The product of two numbers of at most 24 bits is exact in double precision.
        wide = [cast(v, f64) for v in (a, b, c)]
        return cast(_sum_to_odd(mul(wide[0], wide[1]), wide[2]), element)
    product, error = _two_product(a, b)
    total, rest = _two_sum(product, c)
    fused = add(total, add(error, rest))
    return select(is_finite(fused), fused, add(mul(a, b), c))


def _sum_to_odd(a: Value, b: Value) -> Value:
    """A sum in double precision whose last bit says that something was cut off, so that rounding it again is right."""
    total, rest = _two_sum(a, b)
    bits = bit_cast(total, _bits_type(f64))
    is_even = equal(bitwise_and(bits, splat(1, bits)), splat(0, bits))
    inexact = logical_and(is_finite(total), not_equal(rest, splat(0.0, rest)))
    # Of an inexact sum the neighbour on the side of what was cut off ends in an odd bit.
    outward = equal(less(rest, splat(0.0, rest)), less(total, splat(0.0, total)))
    step = select(outward, splat(1, bits), splat(-1, bits))
    moved = bit_cast(add(bits, step), f64)
    return select(logical_and(inexact, is_even), moved, total)


def _two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """A sum and what its rounding lost."""
    total = add(a, b)
    part = sub(total, a)
    return total, add(sub(a, sub(total, part)), sub(b, part))


def _two_product(a: Value, b: Value) -> tuple[Value, Value]:
    """A product and what its rounding lost."""
    product = mul(a, b)
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    rest = add(add(sub(mul(a_high, b_high), product), mul(a_high, b_low)), mul(a_low, b_high))
    return product, add(rest, mul(a_low, b_low))


def _halves(x: Value) -> tuple[Value, Value]:
    """A number of double precision as the sum of two of half as many bits."""
    scaled = mul(x, splat(134217729.0, x))  # 2^27 + 1
    high = sub(scaled, sub(scaled, x))
    return high, sub(x, high)
