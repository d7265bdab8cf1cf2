"""Functions of real and complex numbers against Python's `math` and `cmath`, exact fractions and numpy."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from commonir.dialects.core import complex_numbers, real_functions
from commonir.dialects.core.real_functions import Rounding
from commonir.ir.types import bf16, f16

from tests.dialects.core.test_integers import computed

Array = NDArray[Any]
NAN, INF = math.nan, math.inf
SPREAD = [0.0, 1e-30, 1e-9, 1e-4, 0.1, 0.49999, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.7, 10.0, 26.0, 1e6]
BOTH = [*SPREAD, *[-v for v in SPREAD]]


@pytest.fixture(params=["reference", "numpy"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _round_away(x: float) -> float:
    return math.copysign(math.floor(abs(x) + 0.5) if abs(x) != 0.49999999999999994 else 0.0, x)


def _cbrt(x: float) -> float:
    return math.copysign(math.exp(math.log(abs(x)) / 3) if x else 0.0, x)


ONE_OPERAND: dict[str, tuple[Callable[..., Any], Callable[[float], float], list[float]]] = {
    "cbrt": (real_functions.cbrt, _cbrt, BOTH),
    "log2": (real_functions.log2, math.log2, [v for v in SPREAD if v]),
    "log10": (real_functions.log10, math.log10, [v for v in SPREAD if v]),
    "log1p": (real_functions.log1p, math.log1p, [*SPREAD, -0.5, -1e-10, -0.9999]),
    "expm1": (real_functions.expm1, math.expm1, [v for v in BOTH if abs(v) < 50]),
    "erfc": (real_functions.erfc, math.erfc, [v for v in BOTH if abs(v) < 9]),
    "round_away": (real_functions.round_away, _round_away, BOTH),
}


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 4e-7), (np.float64, 4e-14)])
@pytest.mark.parametrize("name", ONE_OPERAND)
def test_functions_are_those_of_the_c_library(name: str, dtype: Any, rtol: float, engine: str) -> None:
    function, oracle, values = ONE_OPERAND[name]
    x = np.asarray(values, dtype)
    expected = np.asarray([oracle(float(v)) for v in x], dtype)
    (result,) = computed(engine, function, x)
    assert_allclose(result, expected, rtol=rtol)


def test_angles_of_points_in_all_quadrants_and_on_the_axes(engine: str) -> None:
    sides = [0.0, -0.0, 1.0, -1.0, 1e-20, -3.5, 1e20, INF, -INF]
    pairs = [(y, x) for y in sides for x in sides]
    y, x = (np.asarray(column) for column in zip(*pairs, strict=True))
    (result,) = computed(engine, real_functions.atan2, y, x)
    expected = np.asarray([math.atan2(*p) for p in pairs])
    assert_allclose(result, expected, rtol=1e-14)
    assert_array_equal(np.signbit(result), np.signbit(expected))
    (nan,) = computed(engine, real_functions.atan2, np.asarray([NAN, 1.0]), np.asarray([1.0, NAN]))
    assert_array_equal(nan, [NAN, NAN])


def test_larger_and_smaller_distinguish_zeros_and_keep_nan(engine: str) -> None:
    a = np.asarray([0.0, -0.0, -0.0, NAN, 1.0, 2.0], np.float32)
    b = np.asarray([-0.0, 0.0, -0.0, 1.0, NAN, 3.0], np.float32)
    (large,) = computed(engine, real_functions.larger, a, b)
    (small,) = computed(engine, real_functions.smaller, a, b)
    assert_array_equal(large, np.asarray([0, 0, 0, NAN, NAN, 3], np.float32))
    assert_array_equal(np.signbit(large[:3]), [False, False, True])
    assert_array_equal(small, np.asarray([0, 0, 0, NAN, NAN, 2], np.float32))
    assert_array_equal(np.signbit(small[:3]), [True, True, True])


def test_a_number_wins_over_nan_where_numbers_are_asked_for(engine: str) -> None:
    a, b = np.asarray([NAN, 1.0, NAN, 2.0]), np.asarray([1.0, NAN, NAN, 3.0])
    (large,) = computed(engine, real_functions.larger_number, a, b)
    (small,) = computed(engine, real_functions.smaller_number, a, b)
    assert_array_equal(large, [1, 1, NAN, 3])
    assert_array_equal(small, [1, 1, NAN, 2])


def test_copied_signs_reach_zeros_and_nan(engine: str) -> None:
    x, sign = np.asarray([0.0, 1.5, NAN, -2.0], np.float32), np.asarray([-1.0, -0.0, -1.0, 3.0], np.float32)
    (result,) = computed(engine, real_functions.copy_sign, x, sign)
    assert_array_equal(np.signbit(result), [True, True, True, False])
    assert_array_equal(np.abs(result), np.abs(x))


def test_classes_of_numbers(engine: str) -> None:
    x = np.asarray([0.0, 1e-40, 1.2e-38, 1.0, INF, -INF, NAN], np.float32)
    (finite,) = computed(engine, real_functions.is_finite, x)
    (normal,) = computed(engine, real_functions.is_normal, x)
    assert_array_equal(finite, [True, True, True, True, False, False, False])
    assert_array_equal(normal, [False, False, True, True, False, False, False])


def _rounded(value: Fraction, dtype: Any) -> float:
    """The nearest number of a type, halves to even: by comparing with neighbours, exactly."""
    near = dtype(float(value))
    candidates = [np.nextafter(near, dtype(-INF)), near, np.nextafter(near, dtype(INF))]
    gap = min(abs(Fraction(float(c)) - value) for c in candidates)
    closest = [c for c in candidates if abs(Fraction(float(c)) - value) == gap]
    bits = {2: np.int16, 4: np.int32, 8: np.int64}[near.dtype.itemsize]
    even = [c for c in closest if np.asarray(c).view(bits) % 2 == 0]
    return float((even or closest)[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_multiplication_and_addition_round_once(dtype: Any, engine: str) -> None:
    random = np.random.default_rng(11)
    a, b = (random.uniform(-2, 2, 300).astype(dtype) for _ in range(2))
    # Sums that nearly cancel show a product that was rounded before.
    c = (-(a * b)).astype(dtype) * dtype(1 + float(np.finfo(dtype).eps))
    (result,) = computed(engine, real_functions.fma, a, b, c)
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c, strict=True)]
    assert_array_equal(result, np.asarray([_rounded(v, dtype) for v in exact], dtype))


def _directed(value: float, dtype: Any, rounding: Rounding) -> float:
    """A number of a narrower type, by the definition of the rounding."""
    near = np.asarray(value).astype(dtype)
    bits = near.view(np.uint16)
    around = [np.asarray(bits.astype(np.int64) + d).astype(np.uint16).view(dtype) for d in (-1, 0, 1)]
    numbers = [float(v) for v in around if math.isfinite(float(v))]
    below = max((v for v in numbers if v <= value), default=-INF)
    above = min((v for v in numbers if v >= value), default=INF)
    match rounding:
        case Rounding.DOWNWARD:
            return below
        case Rounding.UPWARD:
            return above
        case Rounding.TOWARD_ZERO:
            return above if value < 0 else below
        case Rounding.NEAREST_AWAY if above - value == value - below:
            return above if value > 0 else below
        case _:
            return float(near)


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize(("element", "dtype"), [(f16, np.float16), (bf16, ml_dtypes.bfloat16)])
def test_numbers_are_rounded_as_stated(rounding: Rounding, element: Any, dtype: Any, engine: str) -> None:
    random = np.random.default_rng(5)
    halves = 1 + (np.arange(20) + 0.5) * 2.0 ** (-10 if element is f16 else -7)
    x = np.concatenate([random.normal(0, 3, 200), halves, -halves]).astype(np.float32)
    (result,) = computed(engine, lambda v: real_functions.rounded_to(v, element, rounding), x)
    assert_array_equal(result.astype(np.float64), [_directed(float(v), dtype, rounding) for v in x])


def test_powers_by_integers(engine: str) -> None:
    x = np.asarray([2.0, -2.0, 0.5, 1.5, -1.0], np.float32)
    n = np.asarray([10, 3, -2, 0, 2147483647], np.int32)
    (result,) = computed(engine, real_functions.float_power, x, n)
    assert_array_equal(result, np.asarray([1024, -8, 4, 1, -1], np.float32))


POINTS = [complex(x, y) for x in (0.3, -1.2, 2.5, -0.01) for y in (0.7, -1.9, 0.02, 3.0)]
COMPLEX: dict[str, tuple[Callable[..., Any], Callable[[complex], complex]]] = {
    "magnitude": (complex_numbers.magnitude, abs),
    "angle": (complex_numbers.angle, cmath.phase),
    "conjugate": (complex_numbers.conjugate, lambda z: z.conjugate()),
    "exponential": (complex_numbers.exponential, cmath.exp),
    "exponential_less_one": (complex_numbers.exponential_less_one, lambda z: cmath.exp(z) - 1),
    "logarithm": (complex_numbers.logarithm, cmath.log),
    "logarithm_of_one_more": (complex_numbers.logarithm_of_one_more, lambda z: cmath.log(1 + z)),
    "square_root": (complex_numbers.square_root, cmath.sqrt),
    "reciprocal_root": (complex_numbers.reciprocal_root, lambda z: 1 / cmath.sqrt(z)),
    "sine": (complex_numbers.sine, cmath.sin),
    "cosine": (complex_numbers.cosine, cmath.cos),
    "tangent": (complex_numbers.tangent, cmath.tan),
    "hyperbolic_tangent": (complex_numbers.hyperbolic_tangent, cmath.tanh),
    "direction": (complex_numbers.direction, lambda z: z / abs(z)),
}


@pytest.mark.parametrize(("dtype", "rtol"), [(np.complex64, 3e-6), (np.complex128, 1e-13)])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions_are_those_of_cmath(name: str, dtype: Any, rtol: float, engine: str) -> None:
    function, oracle = COMPLEX[name]
    z = np.asarray(POINTS, dtype)
    (result,) = computed(engine, function, z)
    assert_allclose(result, np.asarray([oracle(complex(v)) for v in z]), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_of_two_operands(dtype: Any, engine: str) -> None:
    rtol = 3e-6 if dtype is np.complex64 else 1e-13
    pairs = [(a, b) for a in POINTS for b in POINTS[:6]]
    a, b = (np.asarray(column, dtype) for column in zip(*pairs, strict=True))
    for function, oracle in (
        (complex_numbers.product, lambda x, y: x * y),
        (complex_numbers.quotient, lambda x, y: x / y),
        (complex_numbers.power, lambda x, y: x**y),
    ):
        (result,) = computed(engine, function, a, b)
        expected = np.asarray([oracle(complex(x), complex(y)) for x, y in zip(a, b, strict=True)])
        assert_allclose(result, expected, rtol=rtol, atol=rtol)


def test_parts_of_complex_numbers_keep_infinities(engine: str) -> None:
    x, y = np.asarray([1.0, INF, -0.0], np.float32), np.asarray([-INF, 2.0, NAN], np.float32)

    def build(u: Any, v: Any) -> Sequence[Any]:
        z = complex_numbers.make_complex(u, v)
        return (complex_numbers.real(z), complex_numbers.imag(z))

    left, right = computed(engine, build, x, y)
    assert_array_equal(left, x)
    assert_array_equal(right, y)
