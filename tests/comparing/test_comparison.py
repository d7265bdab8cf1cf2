"""How far outputs are apart, and when that is too far. Expected values are worked out by hand."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from commonir.comparing.comparison import compare_arrays, compare_outputs, default_rtol


def f32(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def test_equal_arrays_have_no_error() -> None:
    comparison = compare_arrays("y", f32(1, -2, np.nan, np.inf), f32(1, -2, np.nan, np.inf), rtol=0)
    assert (comparison.is_within, comparison.absolute, comparison.relative, comparison.type) == (True, 0.0, 0.0, "f32")


def test_largest_error_is_found_with_its_place() -> None:
    expected = np.asarray([[1.0, 2.0], [4.0, 8.0]])
    actual = np.asarray([[1.0, 2.5], [3.0, 8.0]])
    comparison = compare_arrays("y", expected, actual, rtol=0.05)
    assert (comparison.is_within, comparison.absolute, comparison.relative, comparison.at) == (
        False,
        1.0,
        0.125,
        (1, 0),
    )


def test_absolute_tolerance_follows_the_largest_magnitude_unless_given() -> None:
    expected, actual = f32(100, 0), f32(100, 0.5)
    assert compare_arrays("y", expected, actual, rtol=0.01).is_within
    assert not compare_arrays("y", expected, actual, rtol=0.001).is_within
    assert not compare_arrays("y", expected, actual, rtol=0.01, atol=0.1).is_within
    assert compare_arrays("y", expected, actual, rtol=0, atol=0.5).is_within


@pytest.mark.parametrize(
    ("expected", "actual"), [(np.nan, 1.0), (1.0, np.nan), (np.inf, 1.0), (1.0, -np.inf), (np.inf, -np.inf)]
)
def test_what_is_not_finite_is_infinitely_far_from_anything_else(expected: float, actual: float) -> None:
    comparison = compare_arrays("y", f32(3, expected), f32(3, actual), rtol=0.5, atol=1e9)
    assert (comparison.is_within, comparison.absolute, comparison.at) == (False, math.inf, (1,))


def test_expected_infinity_widens_no_tolerance() -> None:
    assert not compare_arrays("y", f32(np.inf, 1), f32(np.inf, 2), rtol=0.1).is_within


@pytest.mark.parametrize("dtype", [np.int32, np.bool_, np.uint8])
def test_integers_and_booleans_must_be_equal(dtype: type[np.generic]) -> None:
    expected, actual = np.asarray([1, 0, 1, 0]).astype(dtype), np.asarray([1, 0, 0, 0]).astype(dtype)
    comparison = compare_arrays("y", expected, actual, rtol=10, atol=10)
    assert (comparison.is_within, comparison.note, comparison.at) == (False, "1 of 4 elements differ", (2,))
    assert compare_arrays("y", expected, expected, rtol=0).is_within


def test_texts_must_be_equal() -> None:
    left, right = np.asarray(["a", "b"], object), np.asarray(["a", "c"], object)
    assert compare_arrays("y", left, left, rtol=0).is_within
    assert not compare_arrays("y", left, right, rtol=0).is_within


def test_narrow_types_are_compared_in_double_precision() -> None:
    left, right = np.asarray([60000], np.float16), np.asarray([-60000], np.float16)
    assert compare_arrays("y", left, right, rtol=0).absolute == 120000.0
    ones, next_to_one = (np.asarray([value], np.float32).astype(ml_dtypes.bfloat16) for value in (1.0, 1.0078125))
    assert compare_arrays("y", ones, next_to_one, rtol=0).absolute == 0.0078125


def test_shapes_and_types_that_differ_are_said() -> None:
    assert compare_arrays("y", f32(1, 2), f32(1), rtol=1).note == "expected shape [2], found [1]"
    assert compare_arrays("y", f32(1), np.asarray([1]), rtol=1).note == "expected f32, found i64"
    (result,) = compare_outputs({"y": f32(1)}, {"z": f32(1)}, rtol=1)
    assert (result.is_within, result.note) == (False, "there is no such output")


def test_empty_and_scalar_arrays() -> None:
    assert compare_arrays("y", f32(), f32(), rtol=0).is_within
    comparison = compare_arrays("y", np.asarray(1.0), np.asarray(3.0), rtol=0)
    assert (comparison.absolute, comparison.at) == (2.0, ())


def test_lists_and_maps_are_compared_element_by_element() -> None:
    expected = {"s": [f32(1), f32(2)], "m": {"yes": f32(3)}, "none": None}
    actual = {"s": [f32(1), f32(4), f32(5)], "m": {"yes": f32(3)}, "none": [f32(6)]}
    result = compare_outputs(expected, actual, rtol=0)
    assert [(e.name, e.is_within) for e in result] == [
        ("s[0]", True),
        ("s[1]", False),
        ("m[yes]", True),
        ("s[2]", False),
        ("none[0]", False),
        ("none", False),
    ]


def test_zero_output_tolerates_no_error() -> None:
    comparison = compare_arrays("y", f32(0), f32(1e-30), rtol=1e-2)
    assert (comparison.is_within, comparison.relative) == (False, math.inf)


@pytest.mark.parametrize(
    ("types", "rtol"),
    [
        (["f32", "i32"], 1e-4),
        (["f16", "f32"], 1e-2),
        (["bf16"], 5e-2),
        (["f8E4M3FN", "f16"], 2e-1),
        (["complex<f64>"], 1e-9),
        (["i32", "i1"], 1e-4),
    ],
)
def test_tolerance_follows_the_narrowest_float(types: list[str], rtol: float) -> None:
    assert default_rtol(types) == rtol


@given(hnp.arrays(np.float32, 5), hnp.arrays(np.float32, 5), st.floats(0, 1), st.floats(0, 1e3))
def test_verdict_is_that_of_numpy(expected: np.ndarray, actual: np.ndarray, rtol: float, atol: float) -> None:
    wide = expected.astype(np.float64)
    verdict = np.allclose(actual.astype(np.float64), wide, rtol=rtol, atol=atol, equal_nan=True)
    assert compare_arrays("y", expected, actual, rtol=rtol, atol=atol).is_within == verdict
