"""Elementary functions on vectors of single precision: polynomials without tables or calls.

NaN passes through, infinities and signed zeros come out right. Largest errors in units in the last place: exp and exp2
2.0, tanh 4.4, erf 5.9, log 0.8.
Source: coefficients of Cephes (log) and of rational approximations of tanh and erf, as listed in
`shared/facts/native_engine.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, nan
from types import MappingProxyType

from commonir.llvm.llvm_ir import F32, Function, LlvmType, LlvmValue

ElementaryFunction = Callable[[Function, LlvmValue], LlvmValue]

_ROUNDING = 12582912.0
"""1.5 * 2^23: adding it rounds a number below 2^22 to an integer, which the low bits of the sum hold."""

SCALED_BITS = 512
"""The bits of vectors that processors scale by powers of two in one instruction (AVX-512); others call a function."""

_LOG2_HIGH, _LOG2_LOW = 0.693359375, -2.12194440e-4
"""The logarithm of 2 in two parts, so that multiples of the first are exact."""

_EXP = (8.290210209e-3, 4.189849630e-2, 1.666764096e-1, 4.999914537e-1, 9.999997050e-1, 1.0)
"""The polynomial of degree 5 that is nearest to the exponential within half a logarithm of 2, relative to it."""


def polynomial(f: Function, x: LlvmValue, coefficients: Sequence[float]) -> LlvmValue:
    """Returns the value of a polynomial, highest power first."""
    result = f.constant(x.type, coefficients[0])
    for c in coefficients[1:]:
        result = f.fused_multiply_add(result, x, f.constant(x.type, c))
    return result


def clipped(f: Function, x: LlvmValue, low: float, high: float) -> LlvmValue:
    """Returns numbers clipped to a range; NaN stays."""
    bottom, top = f.constant(x.type, low), f.constant(x.type, high)
    x = f.select(x.compare("olt", bottom), bottom, x)
    return f.select(x.compare("ogt", top), top, x)


def exp(f: Function, x: LlvmValue) -> LlvmValue:
    """Returns `2^n p(r)` where `x = n log 2 + r`. Two scalings let results be subnormal or infinite."""
    x = clipped(f, x, -104.0, 89.0)
    shifted = f.fused_multiply_add(x, f.constant(x.type, 1.44269504088896), f.constant(x.type, _ROUNDING))
    n = shifted - _ROUNDING
    x = f.fused_multiply_add(n, f.constant(x.type, -_LOG2_HIGH), x)
    x = f.fused_multiply_add(n, f.constant(x.type, -_LOG2_LOW), x)
    return _scaled(f, polynomial(f, x, _EXP), shifted)


def exp2(f: Function, x: LlvmValue) -> LlvmValue:
    """Returns `2^n p(r log 2)` where `x = n + r`."""
    x = clipped(f, x, -151.0, 129.0)
    shifted = x + _ROUNDING
    r = (x - (shifted - _ROUNDING)) * 0.6931471805599453
    return _scaled(f, polynomial(f, r, _EXP), shifted)


def _scaled(f: Function, x: LlvmValue, shifted: LlvmValue) -> LlvmValue:
    """Returns `2^n x`, where `shifted` is `n` with the rounding number added."""
    if x.type.lanes * F32.bits == SCALED_BITS:
        every, nearest = f.constant(LlvmType("i16"), -1), f.constant(LlvmType("i32"), 4)
        name = f"llvm.x86.avx512.mask.scalef.ps.{SCALED_BITS}"
        return f.called(name, x.type, x, shifted - _ROUNDING, x, every, nearest)
    n = f.cast("bitcast", shifted, "i32") - 0x4B400000
    half = n.shift_right(1, is_signed=True)
    return x * _power_of_two(f, half) * _power_of_two(f, n - half)


def _power_of_two(f: Function, n: LlvmValue) -> LlvmValue:
    return f.cast("bitcast", (n + 127).shift_left(23), "float")


def tanh(f: Function, x: LlvmValue) -> LlvmValue:
    """Returns an odd rational function, which ends where single precision rounds to 1."""
    numerator = [
        -2.76076847742355e-16,
        2.00018790482477e-13,
        -8.60467152213735e-11,
        5.12229709037114e-08,
        1.48572235717979e-05,
        6.37261928875436e-04,
        4.89352455891786e-03,
    ]
    denominator = [1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03]
    return _odd_quotient(f, clipped(f, x, -7.90531110763549805, 7.90531110763549805), numerator, denominator, 256)


def erf(f: Function, x: LlvmValue) -> LlvmValue:
    """Returns an odd rational function on [-4, 4], outside of which single precision rounds to 1."""
    numerator = [
        -2.72614225801306e-10,
        2.77068142495902e-08,
        -2.10102402082508e-06,
        -5.69250639462346e-05,
        -7.34990630326855e-04,
        -2.95459980854025e-03,
        -1.60960333262415e-02,
    ]
    denominator = [
        -1.45660718464996e-05,
        -2.13374055278905e-04,
        -1.68282697438203e-03,
        -7.37332916720468e-03,
        -1.42647390514189e-02,
    ]
    return _odd_quotient(f, clipped(f, x, -4.0, 4.0), numerator, denominator, -64)


def _odd_quotient(
    f: Function, x: LlvmValue, numerator: Sequence[float], denominator: Sequence[float], scale: float
) -> LlvmValue:
    """Returns `x` times a quotient of polynomials in its square, at most 1.

    The scale, a power of two, brings both near 1 at zero: products with small numbers would be subnormal.
    """
    square = x * x
    above, below = [polynomial(f, square, [c * scale for c in part]) for part in (numerator, denominator)]
    return clipped(f, x * above / below, -1.0, 1.0)


def log(f: Function, x: LlvmValue) -> LlvmValue:
    """Returns logarithms of single precision.

    Of `x = 2^n (1 + m)`, where `1 + m` lies between the roots of 1/2 and 2, it is a multiple of log 2 and a polynomial.
    """
    is_tiny = x.compare("olt", 1.17549435e-38)
    bits = f.cast("bitcast", f.select(is_tiny, x * 8388608.0, x), "i32")
    exponent = (bits - 0x3F3504F3).shift_right(23, is_signed=True)
    m = f.cast("bitcast", bits - exponent.shift_left(23), "float") - 1.0
    n = f.cast("sitofp", exponent, "float") - f.select(is_tiny, f.constant(x.type, 23.0), 0.0)
    p = polynomial(
        f,
        m,
        [
            7.0376836292e-2,
            -1.1514610310e-1,
            1.1676998740e-1,
            -1.2420140846e-1,
            1.4249322787e-1,
            -1.6668057665e-1,
            2.0000714765e-1,
            -2.4999993993e-1,
            3.3333331174e-1,
        ],
    )
    q = m * m
    low = f.fused_multiply_add(n, f.constant(x.type, _LOG2_LOW), p * m * q)
    low = f.fused_multiply_add(q, f.constant(x.type, -0.5), low)
    result = f.fused_multiply_add(n, f.constant(x.type, _LOG2_HIGH), m + low)
    result = f.select(x.compare("ogt", 3.4028234e38), x, result)
    result = f.select(x.compare("oeq", 0.0), f.constant(x.type, -inf), result)
    return f.select(x.compare("ult", 0.0), f.constant(x.type, nan), result)


ELEMENTARY: Mapping[str, ElementaryFunction] = MappingProxyType(
    {"exp": exp, "exp2": exp2, "tanh": tanh, "erf": erf, "log": log}
)
"""The functions of `notation.FUNCTIONS` that have code here."""
