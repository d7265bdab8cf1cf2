"""Random numbers that are the same for the same seed on every machine. Import it lazily: it loads numpy.

The bits are those of Philox or of the Mersenne twister, whose streams numpy keeps. Numbers are computed from them only
by operations that IEEE 754 defines exactly: sums, products, quotients and roots, never functions of the system's
library.
"""

from __future__ import annotations

import secrets
from math import factorial, pi
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
Doubles = NDArray[np.float64]

FRACTION_BITS = 53
_LOG_TERMS, _COSINE_TERMS = 14, 13
_LOG_2 = 0.6931471805599453


def _numbers(seed: int, count: int) -> Doubles:
    """Numbers of [0, 1), evenly spaced; a seed of -1 gives others every time."""
    key = secrets.randbits(128) if seed == -1 else seed % (1 << 64)
    raw = np.random.Philox(key=key).random_raw(count)
    return (raw >> np.uint64(64 - FRACTION_BITS)).astype(np.float64) * 2.0**-FRACTION_BITS


def _polynomial(coefficients: list[float], x: Doubles) -> Doubles:
    """A polynomial by Horner's rule, the constant term first."""
    out = np.full(x.shape, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out = out * x + c
    return out


def _logarithm(x: Doubles) -> Doubles:
    """The natural logarithm of positive numbers, from that of a number near 1 as a series of its inverse tangent."""
    fraction, exponent = np.frexp(x)
    is_small = fraction * fraction < 0.5
    fraction = np.where(is_small, fraction * 2, fraction)
    exponent = exponent - is_small
    z = (fraction - 1) / (fraction + 1)
    series = _polynomial([2 / (2 * k + 1) for k in range(_LOG_TERMS)], z * z)
    return z * series + exponent * _LOG_2


def _cosine_of_turns(x: Doubles) -> Doubles:
    """The cosine of angles of [0, 1) turns."""
    away = np.abs(x - np.floor(x + 0.5))
    is_far = away > 0.25
    angle = np.where(is_far, 0.5 - away, away) * (2 * pi)
    near = _polynomial([(-1) ** k / factorial(2 * k) for k in range(_COSINE_TERMS)], angle * angle)
    return np.where(is_far, -near, near)


class _Unseeded(ISeedSequence):
    """A placeholder seed for a generator that is seeded again before use: computing a good seed would dominate the run
    time.
    """

    def generate_state(self, n_words: int, dtype: DTypeLike = np.uint32) -> NDArray[np.uint32 | np.uint64]:
        return np.zeros(n_words, dtype)


def _twisted_numbers(seed: int, count: int) -> Doubles:
    """As `_numbers`, by the Mersenne twister."""
    bits = np.random.MT19937(_Unseeded())  # pyright: ignore[reportArgumentType]  its stubs know no seeds but those of numpy
    generator = np.random.RandomState(bits)
    generator.seed(secrets.randbits(32) if seed == -1 else seed % (1 << 32))
    return generator.random_sample(count)


def uniform(
    seed: int, shape: tuple[int, ...], low: float, high: float, dtype: np.dtype[Any], twisted: bool = False
) -> Array:
    """Numbers of [low, high), or `low` when that is empty; `twisted` are those of the Mersenne twister."""
    count = int(np.prod(shape, dtype=np.int64))
    numbers = _twisted_numbers(seed, count) if twisted else _numbers(seed, count)
    result = (low + (high - low) * numbers).astype(dtype)
    if high > low:
        # Rounding must not reach the end of the interval.
        end = dtype.type(high)
        result = np.where(result >= end, np.nextafter(end, dtype.type(low)), result)
    return result.reshape(shape)


def normal(seed: int, shape: tuple[int, ...], mean: float, deviation: float, dtype: np.dtype[Any]) -> Array:
    """Numbers of a normal distribution, from pairs of even ones (Box and Muller, 1958)."""
    count = int(np.prod(shape, dtype=np.int64))
    pairs = _numbers(seed, 2 * count)
    # In (0, 1], so that the logarithm is finite.
    radius = np.sqrt(-2 * _logarithm(pairs[:count] + 2.0**-FRACTION_BITS))
    return (mean + deviation * (radius * _cosine_of_turns(pairs[count:]))).astype(dtype).reshape(shape)
