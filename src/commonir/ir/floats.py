"""Floating-point formats of MLIR as bits: decoding, rounding, and how mlir-opt prints them.

No number is converted to a wider type, so a NaN keeps its payload and an `f128` all of its digits. Numbers
are integers times powers of two, `Exact`; rounding is to the nearest, ties to even. Overflow results in the format's
infinity where it has one, otherwise its NaN, otherwise its largest number, as in LLVM's APFloat.
Source: LLVM's APFloat semantics; IEEE 754-2019; OCP 8-bit and MX formats; facts of printing from mlir-opt 22.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Literal

from commonir.base.tuples import NamedTuple

Specials = Literal["ieee", "nan_is_all_ones", "nan_is_negative_zero", "none"]


class Exact(NamedTuple):
    """A finite number: `significand * 2 ** exponent`, negative when `negative`."""

    negative: bool
    significand: int
    exponent: int


class Rounding(Enum):
    """The rounding of a number that a narrower type cannot represent."""

    NEAREST_EVEN = "to_nearest_even"
    DOWNWARD = "downward"
    UPWARD = "upward"
    TOWARD_ZERO = "toward_zero"
    NEAREST_AWAY = "to_nearest_away"


class FloatFormat(NamedTuple):
    """One format. Units: `bits` in all, `precision` in bits of the significand with the leading one.

    `least` is the exponent of the smallest normal number. `specials` are the codes of infinities and NaNs.
    """

    bits: int
    precision: int
    least: int
    specials: Specials
    has_sign: bool = True
    has_leading_bit: bool = False

    @property
    def stored(self) -> int:
        """Bits of the significand that are stored."""
        return self.precision if self.has_leading_bit else self.precision - 1

    @property
    def exponent_mask(self) -> int:
        """The largest code of the exponent."""
        return (1 << (self.bits - self.stored - self.has_sign)) - 1


FORMATS: Mapping[str, FloatFormat] = MappingProxyType(
    {
        "f16": FloatFormat(16, 11, -14, "ieee"),
        "bf16": FloatFormat(16, 8, -126, "ieee"),
        "tf32": FloatFormat(19, 11, -126, "ieee"),
        "f32": FloatFormat(32, 24, -126, "ieee"),
        "f64": FloatFormat(64, 53, -1022, "ieee"),
        "f80": FloatFormat(80, 64, -16382, "ieee", has_leading_bit=True),
        "f128": FloatFormat(128, 113, -16382, "ieee"),
        "f8E5M2": FloatFormat(8, 3, -14, "ieee"),
        "f8E5M2FNUZ": FloatFormat(8, 3, -15, "nan_is_negative_zero"),
        "f8E4M3": FloatFormat(8, 4, -6, "ieee"),
        "f8E4M3FN": FloatFormat(8, 4, -6, "nan_is_all_ones"),
        "f8E4M3FNUZ": FloatFormat(8, 4, -7, "nan_is_negative_zero"),
        "f8E4M3B11FNUZ": FloatFormat(8, 4, -10, "nan_is_negative_zero"),
        "f8E3M4": FloatFormat(8, 5, -2, "ieee"),
        "f8E8M0FNU": FloatFormat(8, 1, -127, "nan_is_all_ones", has_sign=False),
        "f6E3M2FN": FloatFormat(6, 3, -2, "none"),
        "f6E2M3FN": FloatFormat(6, 4, 0, "none"),
        "f4E2M1FN": FloatFormat(4, 2, 0, "none"),
    }
)
"""The formats by the names of their types."""

_STRUCT_CODES = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}


# Multiples of 0.5 below this have at most six digits.
_SHORT = 1e5


class OverflowedError(ValueError):
    """A number is beyond the range of a format."""


def decoded(bits: int, name: str) -> Exact | None:
    """Returns the number that a code represents; None for infinities and NaNs."""
    format = FORMATS[name]
    stored, mask = format.stored, format.exponent_mask
    fraction, biased = bits & ((1 << stored) - 1), bits >> stored & mask
    negative = format.has_sign and bits >> (format.bits - 1) != 0
    if not format.has_sign:
        return None if biased == mask else Exact(False, 1, biased + format.least)
    match format.specials:
        case "ieee" if biased == mask:
            return None
        case "nan_is_all_ones" if biased == mask and fraction == (1 << stored) - 1:
            return None
        case "nan_is_negative_zero" if negative and not biased and not fraction:
            return None
        case _:
            pass
    if format.has_leading_bit:
        if biased and not fraction >> (stored - 1):  # an invalid operand for x87 processors
            return None
    elif biased:
        fraction |= 1 << stored
    return Exact(negative, fraction, max(biased, 1) - 1 + format.least - format.precision + 1)


def float_of(bits: int, name: str) -> float:
    """Returns the value of a code as a Python float, rounded if the format is wider; infinities and NaNs too."""
    if name in _STRUCT_CODES:
        code, raw = _STRUCT_CODES[name]
        return struct.unpack(code, struct.pack(raw, bits))[0]
    exact = decoded(bits, name)
    if exact is None:
        format = FORMATS[name]
        fraction = bits & ((1 << (format.precision - 1)) - 1)
        sign = -1.0 if bits >> (format.bits - 1) else 1.0
        return sign * float("inf") if format.specials == "ieee" and not fraction else float("nan")
    wide = code_of(exact, "f64", saturate=True)
    return float_of(wide, "f64")


def bits_of(value: float, name: str, *, saturate: bool = True) -> int:
    """Returns the code of the number of a format that is nearest to a Python float.

    Raises: OverflowedError when it is finite and beyond the range, unless `saturate`.
    """
    if value - value != 0.0:
        return _special(value, FORMATS[name])
    if name in _STRUCT_CODES:
        code, raw = _STRUCT_CODES[name]
        try:
            return struct.unpack(raw, struct.pack(code, value))[0]
        except OverflowError:
            pass
    wide = decoded(struct.unpack("<Q", struct.pack("<d", value))[0], "f64")
    assert wide is not None
    return code_of(wide, name, saturate=saturate)


def _special(value: float, format: FloatFormat) -> int:
    """Returns the code of an infinity or a NaN, or of the nearest value that the format has."""
    stored, mask = format.stored, format.exponent_mask
    wide = struct.unpack("<Q", struct.pack("<d", value))[0]
    sign = wide >> 63 << (format.bits - 1) if format.has_sign else 0
    match format.specials:
        case "ieee" if value == value:  # noqa: PLR0124  an infinity
            return sign | mask << stored | (1 << (stored - 1) if format.has_leading_bit else 0)
        case "ieee":
            # The most significant bits of the payload are preserved, as by hardware; a NaN stays a NaN.
            width = format.precision - 1
            payload = wide & ((1 << 52) - 1)
            payload = payload >> (52 - width) if width < 52 else payload << (width - 52)
            leading = 1 << (stored - 1) if format.has_leading_bit else 0
            return sign | mask << stored | leading | payload | 1 << (width - 1)
        case "nan_is_all_ones":
            return sign | mask << stored | ((1 << stored) - 1)
        case "nan_is_negative_zero":
            return 1 << (format.bits - 1)
        case "none":
            return sign | mask << stored | ((1 << stored) - 1)


def code_of(value: Exact, name: str, *, saturate: bool = True) -> int:
    """Returns the code of the number of a format that is nearest to an exact one.

    Raises: OverflowedError when it is beyond the range, unless `saturate`.
    """
    format = FORMATS[name]
    negative, significand, exponent = value
    sign = 1 << (format.bits - 1) if negative and format.has_sign else 0
    if not significand:
        return 0 if format.specials == "nan_is_negative_zero" else sign
    top = exponent + significand.bit_length() - 1
    unit = max(top, format.least) - format.precision + 1
    shift = unit - exponent
    rounded = significand << -shift if shift <= 0 else _half_even(significand, shift)
    if rounded >> format.precision:
        rounded, unit = rounded >> 1, unit + 1
    biased = unit + format.precision - 1 - format.least + 1
    if not format.has_sign:
        biased -= 1
        rounded = max(rounded, 1)
    elif not rounded >> (format.precision - 1):
        biased = 0
    elif not format.has_leading_bit:
        rounded -= 1 << (format.precision - 1)
    if not format.has_sign:
        rounded = 0
    largest = format.exponent_mask - (format.specials == "ieee" or not format.has_sign)
    nan_there = format.specials == "nan_is_all_ones" and format.has_sign and biased == largest
    if biased > largest or (nan_there and rounded == (1 << format.stored) - 1):
        if not saturate:
            raise OverflowedError(f"beyond the range of {name}")
        return _special(float("-inf") if negative else float("inf"), format)
    if negative and not format.has_sign and not saturate:
        raise OverflowedError(f"{name} has no sign")
    if rounded == 0 and biased == 0 and format.specials == "nan_is_negative_zero":
        return 0
    return sign | max(biased, 0) << format.stored | rounded


def _half_even(significand: int, shift: int) -> int:
    quotient, rest = significand >> shift, significand & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    return quotient + (rest > half or (rest == half and quotient & 1))


def float_literal(bits: int, name: str) -> str:
    """Returns a number as mlir-opt prints it: six digits if they are exact, else as many as its format has, else its
    code in hexadecimal digits.
    """
    if name in ("f32", "f64"):
        value = float_of(bits, name)
        if (abs(value) < _SHORT and (value + value).is_integer()) or (abs(value) < 1e3 and (8 * value).is_integer()):
            # Six digits are exact.
            return f"{value:.6e}"
    exact = decoded(bits, name)
    if exact is None:
        return f"0x{bits:X}"
    shown = _in_six_digits(bits, name, exact)
    if shown is not None:
        return shown
    shown = _in_full(exact, 2 + FORMATS[name].precision * 59 // 196)
    return shown if "." in shown else f"0x{bits:X}"


def _in_six_digits(bits: int, name: str, exact: Exact) -> str | None:
    sign = "-" if exact.negative else ""
    if not exact.significand:
        return f"{sign}0.000000e+00"
    # If Python's six digits are inexact, so are LLVM's. If they are exact, LLVM's may still differ, because it cuts
    # digits off before it rounds.
    if name in ("f32", "f64") and bits_of_decimal(f"{float_of(bits, name):.5e}", name) != bits:
        return None
    digits, exponent = _digits(exact, 6)
    text = str(digits)
    power = exponent + len(text) - 1
    shown = f"{sign}{text[0]}.{text[1:]:0<6}e{'-' if power < 0 else '+'}{abs(power):02}"
    return shown if bits_of_decimal(shown, name) == bits else None


def bits_of_decimal(literal: str, name: str) -> int | None:
    """Returns the code of a decimal literal, read exactly; None when it is beyond the range."""
    if name in _STRUCT_CODES:
        try:
            return bits_of(float(literal), name, saturate=False)
        except OverflowedError:
            return None
    mantissa, _, power = literal.lstrip("-").partition("e")
    integer, _, fraction = mantissa.partition(".")
    significand, exponent = int(integer + fraction), int(power or "0") - len(fraction)
    try:
        return code_of(_exact_of_decimal(literal.startswith("-"), significand, exponent), name, saturate=False)
    except OverflowedError:
        return None


def _exact_of_decimal(negative: bool, significand: int, exponent: int) -> Exact:
    """Returns a decimal number in binary with more bits than any format; the last one is sticky."""
    if exponent >= 0:
        return Exact(negative, significand * 10**exponent, 0)
    divisor = 10**-exponent
    shift = max(0, divisor.bit_length() - significand.bit_length() + 256)
    quotient, rest = divmod(significand << shift, divisor)
    return Exact(negative, quotient << 1 | (rest != 0), -shift - 1)


def _digits(exact: Exact, precision: int) -> tuple[int, int]:
    """Returns the first decimal digits of a number as an integer, and the power of ten to multiply it with."""
    _, significand, exponent = exact
    zeros = (significand & -significand).bit_length() - 1
    significand, exponent = significand >> zeros, exponent + zeros
    if exponent > 0:
        significand, exponent = significand << exponent, 0
    elif exponent < 0:
        significand *= 5**-exponent
    # 196/59 is slightly more than the bits of a decimal digit; surplus digits are cut off first.
    required = (precision * 196 + 58) // 59
    if significand.bit_length() > required:
        dropped = (significand.bit_length() - required) * 59 // 196
        significand //= 10**dropped
        exponent += dropped
    significand, exponent = _without_zeros(significand, exponent)
    extra = len(str(significand)) - precision
    if extra > 0:
        quotient, rest = divmod(significand, 10**extra)
        significand, exponent = quotient + (rest // 10 ** (extra - 1) >= 5), exponent + extra
        significand, exponent = _without_zeros(significand, exponent)
    return significand, exponent


def _without_zeros(significand: int, exponent: int) -> tuple[int, int]:
    text = str(significand).rstrip("0")
    return int(text), exponent + len(str(significand)) - len(text)


# Numbers with more leading or trailing zeros than this are printed with an exponent.
_MOST_ZEROS = 3


def _in_full(exact: Exact, precision: int) -> str:
    digits, exponent = _digits(exact, precision)
    sign = "-" if exact.negative else ""
    text = str(digits)
    if exponent >= 0:
        if exponent <= _MOST_ZEROS and len(text) + exponent <= precision:
            return f"{sign}{text}{'0' * exponent}"
    else:
        power = exponent + len(text) - 1
        if power >= 0:
            return f"{sign}{text[: power + 1]}.{text[power + 1 :]}"
        if -power <= _MOST_ZEROS:
            return f"{sign}0.{'0' * (-power - 1)}{text}"
    power = exponent + len(text) - 1
    return f"{sign}{text[0]}.{text[1:] or '0'}E{'-' if power < 0 else '+'}{abs(power)}"
