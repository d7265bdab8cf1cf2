"""Measures of the distance of two arrays; expected values by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from commonir.runtime.comparing import measures
from commonir.runtime.comparing.measures import Measures, Metric, Tolerance, measure

EXACT = Tolerance(0.0)


def found(expected: object, actual: object, tolerance: Tolerance = EXACT, dtype: str = "f4") -> Measures:
    out = measure(np.asarray(expected, dtype), np.asarray(actual, dtype), tolerance)
    assert isinstance(out, Measures)
    return out


def test_measures_of_four_elements() -> None:
    got = found([3, 0, 4, 0], [3, 0, 1, 4])
    assert (got.absolute, got.at, got.beyond, got.scale) == (4.0, (3,), 2, 4.0)
    assert got.rmse == 2.5  # sqrt((9 + 16) / 4)
    assert got.cosine == pytest.approx(13 / math.sqrt(25 * 26))
    assert got.relative == math.inf  # 4 where 0 was expected


def test_relative_error_is_that_of_the_worst_element() -> None:
    assert found([1, 100], [1.5, 101]).relative == 0.5


def test_absolute_tolerance_follows_from_the_largest_magnitude() -> None:
    assert found([0, 100], [0.9, 100], Tolerance(0.01)).is_within
    assert not found([0, 100], [1.1, 100], Tolerance(0.01)).is_within
    assert not found([0, 100], [0.9, 100], Tolerance(0.01, 0.0)).is_within


def test_nan_and_equal_infinities_agree_and_take_no_part() -> None:
    got = found([math.nan, math.inf, -math.inf, 2], [math.nan, math.inf, -math.inf, 2])
    assert got.is_within
    assert (got.absolute, got.relative, got.rmse, got.cosine) == (0, 0, 0, 1)


@pytest.mark.parametrize(("e", "a"), [(math.nan, 1.0), (1.0, math.nan), (math.inf, -math.inf), (65504.0, math.inf)])
@pytest.mark.parametrize("metric", Metric)
def test_what_is_not_finite_on_one_side_differs_under_every_metric(e: float, a: float, metric: Metric) -> None:
    got = found([1, e], [1, a], Tolerance(0.5, metric=metric))
    assert not got.is_within
    assert (got.absolute, got.at) == (math.inf, (1,))


def test_integers_must_be_equal_unless_an_absolute_tolerance_is_given() -> None:
    assert not found([7, 8], [7, 9], Tolerance(0.5), "i4").is_within
    assert found([7, 8], [7, 9], Tolerance(0.5, 1.0), "i4").is_within


def test_widths_may_differ_and_kinds_may_not() -> None:
    assert isinstance(measure(np.zeros(2, np.int32), np.zeros(2, np.int64), EXACT), Measures)
    assert measure(np.zeros(2, np.int32), np.zeros(2, np.float32), EXACT) == "expected i32, found f32"


def test_shapes_that_differ_cannot_be_compared() -> None:
    assert measure(np.zeros((2, 3)), np.zeros((3, 2)), EXACT) == "expected shape [2, 3], found [3, 2]"


def test_texts_are_compared_whole() -> None:
    left, right = np.array(["cat", "dog"], object), np.array(["cat", "dot"], object)
    got = measure(left, right, EXACT)
    assert isinstance(got, Measures)
    assert (got.is_within, got.at, got.beyond) == (False, (1,), 1)


@pytest.mark.parametrize(
    ("metric", "within", "beyond"),
    [
        (Metric.MAX_ABS, 0.10, 0.09),
        (Metric.RMSE, 0.05, 0.049),
    ],
)
def test_absolute_metrics_compare_with_a_given_tolerance(metric: Metric, within: float, beyond: float) -> None:
    e, a = np.zeros(4), np.array([0, 0.1, 0, 0])
    for atol, expected in ((within + 1e-9, True), (beyond, False)):
        got = measure(e, a, Tolerance(0.0, atol, metric))
        assert isinstance(got, Measures)
        assert got.is_within is expected


def test_relative_metric_passes_over_what_an_absolute_tolerance_allows() -> None:
    tolerance = Tolerance(0.01, metric=Metric.MAX_REL)
    assert not found([0, 10], [1e-6, 10], tolerance).is_within
    assert found([0, 10], [1e-6, 10], tolerance._replace(atol=1e-5)).is_within


def test_cosine_ignores_length_and_sees_direction() -> None:
    tolerance = Tolerance(0.001, metric=Metric.COSINE)
    assert found([1, 2], [2, 4], tolerance).is_within
    assert not found([1, 0], [1, 0.1], tolerance).is_within
    assert not found([1, 0], [0, 0], tolerance).is_within
    assert found([0, 0], [0, 0], tolerance).is_within


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(0)
    e, a = source.standard_normal((5, 7)), source.standard_normal((5, 7))
    whole = measure(e, a, Tolerance(0.1))
    monkeypatch.setattr(measures, "_BLOCK", 4)
    parts = measure(e, a, Tolerance(0.1))
    assert isinstance(whole, Measures)
    assert isinstance(parts, Measures)
    assert parts.rmse == pytest.approx(whole.rmse)
    assert parts.cosine == pytest.approx(whole.cosine)
    assert parts._replace(rmse=0, cosine=0) == whole._replace(rmse=0, cosine=0)


def test_empty_arrays_agree() -> None:
    assert found(np.zeros((0, 3)), np.zeros((0, 3))).is_within
