"""Measures of the distance of two arrays; expected values by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from commonir.comparing import measures
from commonir.comparing.measures import (
    Criterion,
    Measures,
    Metric,
    Tolerance,
    measure,
    overflow_limit,
    parse_criterion,
)

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
    got = found([1, e], [1, a], Tolerance(0.5, criteria=(Criterion(metric, 1),)))
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
        got = measure(e, a, Tolerance(0.0, atol, (Criterion(metric),)))
        assert isinstance(got, Measures)
        assert got.is_within is expected


def test_relative_metric_passes_over_what_an_absolute_tolerance_allows() -> None:
    tolerance = Tolerance(0.01, criteria=(Criterion(Metric.MAX_REL),))
    assert not found([0, 10], [1e-6, 10], tolerance).is_within
    assert found([0, 10], [1e-6, 10], tolerance._replace(atol=1e-5)).is_within


def test_cosine_ignores_length_and_sees_direction() -> None:
    tolerance = Tolerance(0.001, criteria=(Criterion(Metric.COSINE),))
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
    assert parts._replace(rmse=0, cosine=0, snr=0, psnr=0) == whole._replace(rmse=0, cosine=0, snr=0, psnr=0)
    assert (parts.snr, parts.psnr) == pytest.approx((whole.snr, whole.psnr))


def test_empty_arrays_agree() -> None:
    assert found(np.zeros((0, 3)), np.zeros((0, 3))).is_within


@pytest.mark.parametrize(("dtype", "mark"), [("f4", -3.4e38), ("f2", -65504)])
def test_marks_of_masks_do_not_widen_the_tolerance(dtype: str, mark: float) -> None:
    got = found([1, mark], [1.5, mark], Tolerance(0.01), dtype)
    assert (got.is_within, got.atol) == (False, 0.01)
    assert found([1, 2e38], [1.5, 2e38], Tolerance(0.01)).is_within  # a large number like others


# -- criteria with thresholds


@pytest.mark.parametrize(
    ("criterion", "holds"),
    [
        # e has the mean square 4 and the peak 4; a - e is 0.2 in one of four elements, with the mean square 0.01.
        ("snr:26", True),  # 10 log10(4 / 0.01) = 26.02
        ("snr:26.1", False),
        ("psnr:32", True),  # 10 log10(16 / 0.01) = 32.04
        ("psnr:32.1", False),
        ("rmse:0.1001", True),
        ("rmse:0.0999", False),
        ("max-abs:0.21", True),
        ("max-abs:0.19", False),
        ("max-rel:0.051", True),  # 0.2 of 4
        ("max-rel:0.049", False),
        ("quantile=0.75:0", True),  # three of four elements are equal
        ("quantile=0.76:0", False),
        ("quantile=0.76:0.21", True),
        ("cosine:0.9999", True),
        ("top-k=1", True),
    ],
)
def test_thresholds_decide(criterion: str, holds: bool) -> None:
    got = found([4, 0, 0, 0], [4.2, 0, 0, 0], Tolerance(0.0, criteria=(parse_criterion(criterion),)))
    assert got.is_within is holds


def test_every_criterion_must_hold_and_those_that_do_not_are_named() -> None:
    criteria = tuple([parse_criterion(text) for text in ("cosine:0.5", "snr:30", "psnr:40")])
    got = found([4, 0, 0, 0], [4.2, 0, 0, 0], Tolerance(0.0, criteria=criteria))
    assert got.failed == ("snr 26.0206 dB, expected at least 30 dB", "psnr 32.0412 dB, expected at least 40 dB")


def test_signal_to_noise_follows_from_the_relative_tolerance() -> None:
    for rtol, holds in ((0.051, True), (0.049, False)):  # the root mean square error is 0.05 of that of e
        assert found([4], [4.2], Tolerance(rtol, criteria=(Criterion(Metric.SNR),))).is_within is holds


@pytest.mark.parametrize(
    ("k", "actual", "share"),
    [
        (1, [1, 5, 2, 0], 1.0),
        (1, [9, 5, 2, 0], 0.0),  # the largest is another
        (2, [9, 5, 2, 0], 1.0),  # either 3 is among the two largest, in any order
        (2, [0, 5, 2, 9], 0.5),
        (9, [9, 5, 2, 0], 1.0),
    ],
)
def test_largest_elements_agree_in_any_order(k: int, actual: list[float], share: float) -> None:
    for threshold, holds in ((share, True), (share + 0.01, False)):
        tolerance = Tolerance(0.0, criteria=(Criterion(Metric.TOP_K, k, threshold),))
        assert found([3, 5, 3, 1], actual, tolerance).is_within is holds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("top-k", "needs K"),
        ("top-k=0", "'0' is not K"),
        ("quantile=1.5", "is not Q"),
        ("snr=40", "write a threshold as `snr:X`"),
        ("snr:high", "'high' is not a number"),
        ("close:1", "--rtol"),
    ],
)
def test_criteria_that_make_no_sense_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_criterion(text)


# -- infinities of narrower types


@pytest.mark.parametrize(
    ("e", "a", "agree"),
    [
        (-3.4e38, -math.inf, True),
        (65520, math.inf, True),  # the smallest magnitude that f16 rounds to infinity
        (65519, math.inf, False),
        (3.4e38, -math.inf, False),
        (math.nan, math.inf, False),
    ],
)
def test_infinities_of_f16_agree_with_magnitudes_beyond_its_range(e: float, a: float, agree: bool) -> None:
    pair = np.array([1, e], np.float32), np.array([1, a], np.float16)
    for left, right in (pair, pair[::-1]):
        got = measure(left, right, EXACT)
        assert isinstance(got, Measures)
        assert got.is_within is agree
    assert found([1, e], [1, a], Tolerance(0.0, largest=65520)).is_within is agree


def test_limits_of_ranges_are_where_numpy_rounds_to_infinity() -> None:
    for type, dtype in (("f16", np.float16), ("f32", np.float32)):
        limit = overflow_limit(type)
        with np.errstate(over="ignore"):
            below, at = (np.array([np.nextafter(limit, 0), limit]).astype(dtype)).tolist()
        assert math.isfinite(below)
        assert math.isinf(at)
    assert overflow_limit("f64") == overflow_limit("f8E4M3FN") == overflow_limit("i32") == math.inf
