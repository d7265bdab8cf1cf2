"""Special functions of real numbers, composed of core functions in double precision and rounded once.

Results differ from the exact ones by some units in the last place of single precision, and by about 1e-13 of double
precision.
Source: NIST Digital Library of Mathematical Functions, chapters 5 (gamma), 7 (erf), 10 (Bessel) and 25 (zeta); Lanczos,
A precision approximation of the gamma function, g = 7; Giles, Approximating the erfinv function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from commonir.dialects.core.base import tensor_type
from commonir.dialects.core.constants import splat
from commonir.dialects.core.elementwise import (
    abs,
    add,
    cast,
    div,
    equal,
    erf,
    exp,
    floor,
    greater,
    less,
    less_equal,
    log,
    logical_and,
    logical_or,
    maximum,
    minimum,
    mul,
    neg,
    not_equal,
    pow,
    select,
    sin,
    sqrt,
    sub,
    tan,
)
from commonir.dialects.core.real_functions import copy_sign, erfc, log1p
from commonir.ir.operation import Value
from commonir.ir.types import f64

_LANCZOS_G = 7
_LANCZOS_FIRST = 0.99999999999980993
_LANCZOS = (
    *(676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059),
    *(12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7),
)
"""Numerators of the fractions whose sum approximates the gamma function."""


def _in_double(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function of values that are computed in double precision; its result is rounded once."""
    return lambda *xs: cast(function(*[cast(x, f64) for x in xs]), tensor_type(xs[0]).element)


def _polynomial(coefficients: Sequence[float], x: Value) -> Value:
    """A polynomial, its coefficients from that of the highest power on."""
    result = splat(coefficients[0], x)
    for c in coefficients[1:]:
        result = add(mul(result, x), splat(c, x))
    return result


# -- the gamma function


def _reflected(x: Value) -> tuple[Value, Value]:
    """Whether numbers are below one half, and z with the gamma function of z + 1 to be known instead: -x or x - 1."""
    below = less(x, splat(0.5, x))
    return below, select(below, neg(x), sub(x, splat(1.0, x)))


def _lanczos_terms(z: Value) -> list[tuple[float, Value]]:
    """Numerators with their denominators."""
    return [(c, add(z, splat(n, z))) for n, c in enumerate(_LANCZOS, 1)]


def _lanczos_sum(z: Value) -> Value:
    total = splat(_LANCZOS_FIRST, z)
    for c, denominator in _lanczos_terms(z):
        total = add(total, div(splat(c, z), denominator))
    return total


def _log_of_base(z: Value) -> tuple[Value, Value]:
    """z + g + 1/2 and its logarithm, precise where z is small."""
    half = _LANCZOS_G + 0.5
    return add(z, splat(half, z)), add(splat(math.log(half), z), log1p(div(z, splat(half, z))))


def _lgamma(x: Value) -> Value:
    below, z = _reflected(x)
    base, log_base = _log_of_base(z)
    power = mul(sub(add(z, splat(0.5, z)), div(base, log_base)), log_base)
    direct = add(add(splat(math.log(math.tau) / 2, z), power), log(_lanczos_sum(z)))
    # gamma(x) gamma(1 - x) = pi / sin(pi x), and the sine of the distance to the nearest integer is precise.
    distance = sub(abs(x), floor(abs(x)))
    distance = minimum(distance, sub(splat(1.0, x), distance))
    sine = log(sin(mul(splat(math.pi, x), distance)))
    other = sub(sub(splat(math.log(math.pi), x), sine), direct)
    # At poles the logarithm of the sine is infinite.
    other = select(equal(distance, splat(0.0, x)), splat(math.inf, x), other)
    result = select(below, other, direct)
    return select(equal(abs(x), splat(math.inf, x)), splat(math.inf, x), result)


def _digamma(x: Value) -> Value:
    below, z = _reflected(x)
    slope = splat(0.0, z)
    for c, denominator in _lanczos_terms(z):
        slope = sub(slope, div(splat(c, z), mul(denominator, denominator)))
    base, log_base = _log_of_base(z)
    direct = sub(add(log_base, div(slope, _lanczos_sum(z))), div(splat(_LANCZOS_G, z), base))
    # The tangent of the distance to the nearest integer has the same value, and is precise.
    distance = sub(x, floor(add(x, splat(0.5, x))))
    other = sub(direct, div(splat(math.pi, x), tan(mul(splat(math.pi, x), distance))))
    is_pole = logical_and(less_equal(x, splat(0.0, x)), equal(x, floor(x)))
    return select(is_pole, splat(math.nan, x), select(below, other, direct))


lgamma = _in_double(_lgamma)
"""The logarithm of the absolute value of the gamma function."""
digamma = _in_double(_digamma)
"""The derivative of the logarithm of the gamma function; NaN at its poles."""

# -- zeta functions

_DIRECT_TERMS = 10
_BERNOULLI = (
    *(Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66), Fraction(-691, 2730)),
    *(Fraction(7, 6), Fraction(-3617, 510), Fraction(43867, 798), Fraction(-174611, 330), Fraction(854513, 138)),
)
"""The Bernoulli numbers 2, 4, 6, ..., which the Euler-Maclaurin formula for the rest of the sum has."""


def _zeta(x: Value, q: Value) -> Value:
    one = splat(1.0, x)
    total, at = pow(q, neg(x)), q
    for _ in range(1, _DIRECT_TERMS):
        at = add(at, one)
        total = add(total, pow(at, neg(x)))
    last = pow(at, neg(x))
    total = add(total, sub(div(mul(last, at), sub(x, one)), div(last, splat(2.0, x))))
    factor, power = x, div(last, at)
    for n, number in enumerate(_BERNOULLI, 1):
        term = mul(mul(factor, power), splat(float(number / math.factorial(2 * n)), x))
        total = add(total, term)
        factor = mul(factor, mul(add(x, splat(2 * n - 1, x)), add(x, splat(2 * n, x))))
        power = div(power, mul(at, at))
    zero, nan, infinity = [splat(v, x) for v in (0.0, math.nan, math.inf)]
    # Some term of the sum is infinite, and for odd exponents those before and after have other signs.
    is_even = equal(div(x, splat(2.0, x)), floor(div(x, splat(2.0, x))))
    is_pole = logical_and(less_equal(q, zero), equal(q, floor(q)))
    total = select(is_pole, select(is_even, infinity, nan), total)
    is_complex = logical_and(less_equal(q, zero), not_equal(x, floor(x)))
    total = select(logical_or(is_complex, less(x, one)), nan, total)
    return select(equal(x, one), infinity, total)


def _polygamma(n: Value, x: Value) -> Value:
    next_order = add(n, splat(1.0, n))
    is_even = equal(div(n, splat(2.0, n)), floor(div(n, splat(2.0, n))))
    sign = select(is_even, splat(-1.0, n), splat(1.0, n))
    result = mul(mul(sign, exp(_lgamma(next_order))), _zeta(next_order, x))
    result = select(equal(n, splat(0.0, n)), _digamma(x), result)
    is_order = logical_and(equal(n, floor(n)), logical_or(greater(n, splat(0.0, n)), equal(n, splat(0.0, n))))
    return select(is_order, result, splat(math.nan, n))


zeta = _in_double(_zeta)
"""The Hurwitz zeta function: the sum of (q + n)^-x over n from 0 on."""
polygamma = _in_double(_polygamma)
"""The n-th derivative of the digamma function; NaN where n is not an integer of at least 0."""

# -- the inverse error function

_CENTRAL = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503),
    *(-0.00417768164, 0.246640727, 1.50140941),
)
_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613),
    *(0.00943887047, 1.00167406, 2.83297682),
)
_HALLEY_STEPS = 2


def _erf_inv(x: Value) -> Value:
    one, a = splat(1.0, x), abs(x)
    w = neg(log(mul(sub(one, a), add(one, a))))
    near = _polynomial(_CENTRAL, sub(w, splat(2.5, x)))
    far = _polynomial(_TAIL, sub(sqrt(w), splat(3.0, x)))
    # In single precision; steps of Halley's method with the exact derivatives triple the digits.
    y = mul(select(less(w, splat(5.0, x)), near, far), a)
    for _ in range(_HALLEY_STEPS):
        error = select(less(a, splat(0.5, x)), sub(erf(y), a), sub(sub(one, a), erfc(y)))
        step = div(error, mul(splat(2 / math.sqrt(math.pi), x), exp(neg(mul(y, y)))))
        y = sub(y, div(step, add(one, mul(y, step))))
    y = select(equal(a, one), splat(math.inf, x), y)
    return copy_sign(select(greater(a, one), splat(math.nan, x), y), x)


erf_inv = _in_double(_erf_inv)
"""The inverse of the error function."""

# -- Bessel functions

_SERIES_UP_TO = 20.0
_SERIES_TERMS = 60
_ASYMPTOTIC_TERMS = 24


def _bessel_i1e(x: Value) -> Value:
    a = abs(x)
    small = minimum(a, splat(_SERIES_UP_TO, x))
    half = div(small, splat(2.0, x))
    series = [1 / (math.factorial(k) * math.factorial(k + 1)) for k in range(_SERIES_TERMS, -1, -1)]
    near = mul(mul(half, _polynomial(series, mul(half, half))), exp(neg(small)))
    large = maximum(a, splat(_SERIES_UP_TO, x))
    expansion = [1.0]
    for k in range(1, _ASYMPTOTIC_TERMS):
        expansion.append(-expansion[-1] * (4 - (2 * k - 1) ** 2) / (8 * k))
    inverse = div(splat(1.0, x), large)
    far = div(_polynomial(expansion[::-1], inverse), sqrt(mul(splat(math.tau, x), large)))
    return copy_sign(select(less(a, splat(_SERIES_UP_TO, x)), near, far), x)


bessel_i1e = _in_double(_bessel_i1e)
"""The modified Bessel function of the first kind of order 1, times exp(-|x|)."""
