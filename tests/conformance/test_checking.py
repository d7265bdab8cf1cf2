"""The judgement of the conformance check: what counts as an error, and how large."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.conformance.samples import relative_error, split_cases

EXPECTED = {"y": np.array([1.0, -4.0, 2.0], np.float32)}


def test_error_is_the_largest_difference_over_the_largest_magnitude():
    actual = {"y": np.array([1.0, -4.0, 2.5], np.float32)}
    assert relative_error(actual, EXPECTED) == 0.125


def test_error_of_half_precision_is_computed_in_double_precision():
    actual = {"y": np.array([60000.0], np.float16)}
    assert relative_error(actual, {"y": np.array([-60000.0], np.float16)}) == pytest.approx(2.0)


@pytest.mark.parametrize(
    "actual",
    [
        {},
        {"y": np.zeros((3, 1), np.float32)},
        {"y": np.array([1.0, np.nan, 2.0], np.float32)},
        {"y": np.array([1.0, -np.inf, 2.0], np.float32)},
    ],
    ids=["missing", "other shape", "nan", "infinite"],
)
def test_error_of_a_missing_misshapen_or_non_finite_output_is_infinite(
    actual: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]],
):
    assert relative_error(actual, EXPECTED) == math.inf


def test_error_is_infinite_when_only_zeros_are_expected_and_others_are_found():
    assert relative_error({"y": np.ones(2)}, {"y": np.zeros(2)}) == math.inf


def test_keys_without_a_case_are_those_of_the_first_one():
    arrays = {"x": np.zeros(1), "case1/x": np.ones(1)}
    assert split_cases(arrays) == {"": {"x": arrays["x"]}, "case1": {"x": arrays["case1/x"]}}


def test_expected_infinities_and_nans_must_stand_in_their_places():
    expected = {"y": np.array([np.nan, np.inf, 4.0], np.float32)}
    assert relative_error({"y": np.array([np.nan, np.inf, 5.0], np.float32)}, expected) == 0.25
    assert relative_error({"y": np.array([np.nan, -np.inf, 4.0], np.float32)}, expected) == math.inf


def test_strings_are_equal_or_infinitely_wrong():
    expected = {"label": np.array("cat")}
    assert relative_error({"label": np.array("cat", object)}, expected) == 0.0
    assert relative_error({"label": np.array("dog", object)}, expected) == math.inf
