"""Decimal text of double precision numbers as ARK's serializer writes it.

ARK prints with Grisu2 (Florian Loitsch, "Printing floating-point numbers quickly and accurately with integers", 2010),
which differs from Python's `repr` in the last digits now and then, and in when it takes an exponent.
"""

from __future__ import annotations

import struct
from fractions import Fraction
from functools import cache

from commonir.base.tuples import NamedTuple

_BITS = 64
_HIDDEN = 1 << 52
_BIAS = 0x3FF + 52

# The scaled number has a binary exponent in [-60, -32]; powers of ten are kept in steps of 8 decimal exponents.
_SMALLEST_EXPONENT = -60
_STEP = 8
_SMALLEST_POWER = -300

_LAST_INTEGRAL = 15
_LAST_FRACTION = -4


class _Scaled(NamedTuple):
    """`f * 2**e`, with a significand of 64 bits."""

    f: int
    e: int

    def times(self, other: _Scaled) -> _Scaled:
        """The product, of which the upper 64 bits are kept, rounded."""
        return _Scaled((self.f * other.f + (1 << (_BITS - 1))) >> _BITS, self.e + other.e + _BITS)

    def normalized(self) -> _Scaled:
        shift = _BITS - self.f.bit_length()
        return _Scaled(self.f << shift, self.e - shift)


def float_text(value: float) -> str:
    """The shortest digits that Grisu2 finds for a finite number, in the layout of ARK's files."""
    sign = "-" if struct.pack(">d", value)[0] & 0x80 else ""
    if value == 0:
        return f"{sign}0.0"
    digits, exponent = _digits(abs(value))
    return sign + _laid_out(digits, exponent)


def _laid_out(digits: str, exponent: int) -> str:
    """`digits * 10**exponent`: plain between 1e-5 and 1e15, else with an exponent."""
    point = len(digits) + exponent
    if len(digits) <= point <= _LAST_INTEGRAL:
        return digits + "0" * (point - len(digits)) + ".0"
    if 0 < point <= _LAST_INTEGRAL:
        return f"{digits[:point]}.{digits[point:]}"
    if _LAST_FRACTION < point <= 0:
        return f"0.{'0' * -point}{digits}"
    power = point - 1
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _digits(value: float) -> tuple[str, int]:
    """Decimal digits and the exponent of the last one."""
    bits = int.from_bytes(struct.pack(">d", value), "big")
    fraction, biased = bits & (_HIDDEN - 1), bits >> 52
    f, e = (fraction, 1 - _BIAS) if biased == 0 else (fraction + _HIDDEN, biased - _BIAS)
    # The neighbour below is nearer when the number is a power of two.
    is_nearer = fraction == 0 and biased > 1
    above = _Scaled(2 * f + 1, e - 1).normalized()
    below = _Scaled(4 * f - 1, e - 2) if is_nearer else _Scaled(2 * f - 1, e - 1)
    below = _Scaled(below.f << (below.e - above.e), above.e)
    power, decimal = _power_for(above.e)
    middle = _Scaled(f, e).normalized().times(power)
    low, high = below.times(power), above.times(power)
    return _generated(low.f + 1, middle.f, high.f - 1, -high.e, -decimal)


def _power_for(exponent: int) -> tuple[_Scaled, int]:
    """A power of ten that brings a normalized number of this binary exponent into range, and its decimal exponent."""
    expected = _SMALLEST_EXPONENT - exponent - 1
    product = expected * 78913
    rough = (product >> 18 if product >= 0 else -(-product >> 18)) + (expected > 0)
    index = (-_SMALLEST_POWER + rough + _STEP - 1) // _STEP
    decimal = _SMALLEST_POWER + index * _STEP
    return _power_of_ten(decimal), decimal


@cache
def _power_of_ten(decimal: int) -> _Scaled:
    """10**decimal, rounded to 64 bits."""
    exact = Fraction(10) ** decimal
    e = exact.numerator.bit_length() - exact.denominator.bit_length() - _BITS
    while exact / Fraction(2) ** e >= 1 << _BITS:
        e += 1
    while exact / Fraction(2) ** e < 1 << (_BITS - 1):
        e -= 1
    scaled = exact / Fraction(2) ** e
    return _Scaled(int(scaled + Fraction(1, 2)), e)


def _generated(low: int, middle: int, high: int, shift: int, exponent: int) -> tuple[str, int]:
    """The fewest digits of a number between two limits, as near to the middle as their last one allows.

    All three are multiples of `2**-shift`.
    """
    span, distance = high - low, high - middle
    one = 1 << shift
    whole, rest = high >> shift, high & (one - 1)
    text = str(whole)
    digits: list[int] = []
    for place in range(len(text) - 1, -1, -1):
        unit = 10**place
        digits.append(whole // unit)
        whole %= unit
        left = (whole << shift) + rest
        if left <= span:
            return _nearest(digits, distance, span, left, unit << shift), exponent + place
    while True:
        rest *= 10
        digits.append(rest >> shift)
        rest &= one - 1
        exponent -= 1
        span *= 10
        distance *= 10
        if rest <= span:
            return _nearest(digits, distance, span, rest, one), exponent


def _nearest(digits: list[int], distance: int, span: int, left: int, unit: int) -> str:
    """The digits with the last one lowered as long as that comes nearer to the middle."""
    while (
        left < distance and span - left >= unit and (left + unit < distance or distance - left > left + unit - distance)
    ):
        digits[-1] -= 1
        left += unit
    return "".join(map(str, digits))
