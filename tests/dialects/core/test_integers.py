"""Arithmetic of integers without sign, against Python's integers: every width, the extremes, both engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.dialects import core
from commonir.dialects.core import integers
from commonir.ir import Value
from commonir.ir.types import ELEMENT_TYPES
from commonir.runtime.engine import Engines

from tests.dialects.core.running import type_of
from tests.runtime.programs import program

Array = NDArray[Any]
WIDTHS = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def computed(engine: str, function: Callable[..., Any], *arrays: Array) -> list[Array]:
    """Returns the results of a function of core values for arrays."""

    def build(*values: Value) -> tuple[Value, ...]:
        result = function(*values)
        return result if isinstance(result, tuple) else (result,)

    inputs = {f"x{n}": type_of(x) for n, x in enumerate(arrays)}
    executable = Engines().get(engine).prepare(program(build, inputs))
    return [np.asarray(v) for v in executable.run({f"x{n}": x for n, x in enumerate(arrays)}).values()]


def interesting(width: int) -> list[int]:
    """Unsigned numbers near the ends and the middle of a width."""
    top = 1 << width
    near = [0, 1, 2, 3, 5, 7, 13, top // 2 - 2, top // 2 - 1, top // 2, top // 2 + 1, top - 3, top - 2, top - 1]
    return sorted({v % top for v in near})


def signed_value(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) else bits


def held(values: Sequence[int], element: str) -> Array:
    """Unsigned numbers as they are held: bools, or signed numbers."""
    width = WIDTHS[element]
    if element == "i1":
        return np.asarray([bool(v & 1) for v in values])
    numbers = [signed_value(v % (1 << width), width) for v in values]
    wide = np.asarray(numbers, np.int64)
    return wide.astype(dtype_of(element))


def trunc_div(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(a: int, b: int) -> int:
    if b >= 0:
        return a**b
    return (1 if b % 2 == 0 else -1) if a == -1 else 1 if a == 1 else 0


SIGNED: dict[str, tuple[Any, Callable[[int, int], int]]] = {
    "div_signed": (integers.div_signed, trunc_div),
    "ceil_div_signed": (integers.ceil_div_signed, lambda a, b: -((-a) // b)),
    "floor_div_signed": (integers.floor_div_signed, lambda a, b: a // b),
    "remainder_signed": (integers.remainder_signed, lambda a, b: a - b * trunc_div(a, b)),
}
UNSIGNED: dict[str, tuple[Any, Callable[[int, int], int]]] = {
    "div_unsigned": (integers.div_unsigned, lambda a, b: a // b),
    "ceil_div_unsigned": (integers.ceil_div_unsigned, lambda a, b: -(-a // b)),
    "remainder_unsigned": (integers.remainder_unsigned, lambda a, b: a % b),
    "larger": (integers.unsigned(core.maximum), max),
    "smaller": (integers.unsigned(core.minimum), min),
}


@pytest.fixture(params=["reference", "numpy"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("element", WIDTHS)
@pytest.mark.parametrize("name", SIGNED)
def test_signed_division_is_that_of_pythons_integers(name: str, element: str, engine: str) -> None:
    width = WIDTHS[element]
    function, oracle = SIGNED[name]
    least = -(1 << (width - 1))
    pairs = [(a, b) for a in interesting(width) for b in interesting(width) if b]
    # The least number divided by minus one does not fit, which is undefined.
    pairs = [p for p in pairs if (signed_value(p[0], width), signed_value(p[1], width)) != (least, -1)]
    expected = [oracle(signed_value(a, width), signed_value(b, width)) for a, b in pairs]
    (result,) = computed(engine, function, held([a for a, _ in pairs], element), held([b for _, b in pairs], element))
    assert_array_equal(result, held(expected, element))


@pytest.mark.parametrize("element", WIDTHS)
@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_arithmetic_reads_the_bits_as_unsigned(name: str, element: str, engine: str) -> None:
    width = WIDTHS[element]
    function, oracle = UNSIGNED[name]
    pairs = [(a, b) for a in interesting(width) for b in interesting(width) if b]
    expected = [oracle(a, b) for a, b in pairs]
    (result,) = computed(engine, function, held([a for a, _ in pairs], element), held([b for _, b in pairs], element))
    assert_array_equal(result, held(expected, element))


@pytest.mark.parametrize("element", WIDTHS)
@pytest.mark.parametrize("sign", [True, False])
def test_both_halves_of_a_product_are_exact(element: str, sign: bool, engine: str) -> None:
    width = WIDTHS[element]
    pairs = [(a, b) for a in interesting(width) for b in interesting(width)]
    wide = [signed_value(a, width) * signed_value(b, width) if sign else a * b for a, b in pairs]
    low, high = computed(
        engine,
        lambda a, b: integers.low_and_high(a, b, sign=sign),
        held([a for a, _ in pairs], element),
        held([b for _, b in pairs], element),
    )
    assert_array_equal(low, held(wide, element))
    assert_array_equal(high, held([v >> width for v in wide], element))


@pytest.mark.parametrize("element", WIDTHS)
def test_a_sum_gives_its_carry(element: str, engine: str) -> None:
    width = WIDTHS[element]
    pairs = [(a, b) for a in interesting(width) for b in interesting(width)]
    operands = held([a for a, _ in pairs], element), held([b for _, b in pairs], element)
    total, carry = computed(engine, integers.sum_and_carry, *operands)
    assert_array_equal(total, held([a + b for a, b in pairs], element))
    assert_array_equal(carry, [a + b >= 1 << width for a, b in pairs])


@pytest.mark.parametrize("element", WIDTHS)
def test_bits_are_counted(element: str, engine: str) -> None:
    width = WIDTHS[element]
    values = interesting(width)
    x = held(values, element)
    (ones,) = computed(engine, integers.count_ones, x)
    assert_array_equal(ones, held([v.bit_count() for v in values], element))
    (leading,) = computed(engine, integers.count_leading_zeros, x)
    assert_array_equal(leading, held([width - v.bit_length() for v in values], element))
    (trailing,) = computed(engine, integers.count_trailing_zeros, x)
    assert_array_equal(trailing, held([(v & -v).bit_length() - 1 if v else width for v in values], element))


@pytest.mark.parametrize("element", WIDTHS)
def test_shifts_take_distances_below_the_width(element: str, engine: str) -> None:
    width = WIDTHS[element]
    pairs = [(a, b) for a in interesting(width) for b in {0, 1, width // 2, width - 1} if b < width]
    operands = held([a for a, _ in pairs], element), held([b for _, b in pairs], element)
    for function, oracle in (
        (integers.shift_left_of, lambda a, b: a << b),
        (integers.shift_right_unsigned, lambda a, b: a >> b),
        (integers.shift_right_signed, lambda a, b: signed_value(a, width) >> b),
    ):
        (result,) = computed(engine, function, *operands)
        assert_array_equal(result, held([oracle(a, b) for a, b in pairs], element))


@pytest.mark.parametrize("before", WIDTHS)
@pytest.mark.parametrize("after", WIDTHS)
@pytest.mark.parametrize("sign", [True, False])
def test_numbers_are_extended_and_cut_off(before: str, after: str, sign: bool, engine: str) -> None:
    width = WIDTHS[before]
    values = interesting(width)
    expected = [signed_value(v, width) if sign else v for v in values]
    (result,) = computed(engine, lambda x: integers.resized(x, ELEMENT_TYPES[after], sign=sign), held(values, before))
    assert_array_equal(result, held(expected, after))


@pytest.mark.parametrize("element", ["i8", "i32", "i64"])
def test_powers_wrap_and_negative_ones_are_quotients(element: str, engine: str) -> None:
    width = WIDTHS[element]
    pairs = [(a, b) for a in (0, 1, -1, 2, -3, 7) for b in (0, 1, 2, 3, 5, -1, -2, -3) if a or b >= 0]
    operands = held([a for a, _ in pairs], element), held([b for _, b in pairs], element)
    (result,) = computed(engine, integers.power, *operands)
    assert_array_equal(result, held([power(a, b) % (1 << width) for a, b in pairs], element))


@pytest.mark.parametrize("element", WIDTHS)
def test_numbers_become_floats_with_and_without_sign(element: str, engine: str) -> None:
    width = WIDTHS[element]
    values = [v for v in interesting(width) if width < 64 or v < 1 << 53 or v >= (1 << 64) - 3]
    for sign in (True, False):
        expected = np.asarray([float(signed_value(v, width) if sign else v) for v in values])
        (result,) = computed(
            engine, lambda x, sign=sign: integers.to_float(x, ELEMENT_TYPES["f64"], sign=sign), held(values, element)
        )
        assert_array_equal(result, expected)


def test_floats_become_numbers_without_their_fraction(engine: str) -> None:
    x = np.asarray([0.0, 1.9, -1.9, 100.5], np.float32)
    (result,) = computed(engine, lambda v: integers.from_float(v, ELEMENT_TYPES["i8"], sign=True), x)
    assert_array_equal(result, np.asarray([0, 1, -1, 100], np.int8))
    y = np.asarray([0.0, 3e9, 4294967040.0], np.float32)
    (result,) = computed(engine, lambda v: integers.from_float(v, ELEMENT_TYPES["i32"], sign=False), y)
    assert_array_equal(result, np.asarray([0, 3000000000, 4294967040], np.uint32).view(np.int32))
