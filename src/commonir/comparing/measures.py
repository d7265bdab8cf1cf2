"""Measures the difference of two arrays with bounded memory.

Differences are taken in double precision, block by block. NaN equals NaN, and infinity equals infinity of the same
sign: such elements count as equal and take no part in the sums. An infinity also equals a number of the same sign that
the narrower type cannot represent: -3.4e38 of f32 is -inf in f16. Compared with anything else, NaN and infinities are
infinite differences, beyond every tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of
from commonir.base.tuples import NamedTuple

Array = NDArray[Any]

_BLOCK = 1 << 18
"""Elements measured at a time; the temporary arrays take some megabytes."""


_MARKS = 0.99
"""The share of the range of a float type from which numbers mark something and are not measured."""


class Metric(Enum):
    """A criterion by which two arrays agree: `close`, `max-abs`, `max-rel` and `quantile` count elements, the others
    compare arrays as a whole.
    """

    CLOSE = "close"
    MAX_ABS = "max-abs"
    MAX_REL = "max-rel"
    RMSE = "rmse"
    COSINE = "cosine"
    SNR = "snr"
    PSNR = "psnr"
    TOP_K = "top-k"
    QUANTILE = "quantile"


class Criterion(NamedTuple):
    """A metric with its parameter (K of `top-k`, Q of `quantile`) and its threshold, which is an error or an
    agreement, as the metric is; without a threshold it follows from the tolerance.
    """

    metric: Metric = Metric.CLOSE
    parameter: float | None = None
    threshold: float | None = None

    def __str__(self) -> str:
        """Returns the criterion as the command line writes it: `top-k=5:0.9`."""
        parameter = "" if self.parameter is None else f"={self.parameter:g}"
        return self.metric.value + parameter + ("" if self.threshold is None else f":{self.threshold:g}")


_PARAMETERS = {Metric.TOP_K: "K, a number of elements", Metric.QUANTILE: "Q, a share of elements from 0 to 1"}


def parse_criterion(text: str) -> Criterion:
    """Returns the criterion that a text states: NAME, NAME:THRESHOLD, NAME=PARAMETER or NAME=PARAMETER:THRESHOLD.

    Raises: ValueError with the reason.

    Example:
        >>> parse_criterion("top-k=5:0.9")
        Criterion(metric=<Metric.TOP_K: 'top-k'>, parameter=5.0, threshold=0.9)
    """
    rest, colon, threshold = text.partition(":")
    name, equals, parameter = rest.partition("=")
    metric = Metric(name)
    needed = _PARAMETERS.get(metric)
    if bool(equals) != (needed is not None):
        example = f"'{name}' needs {needed}, as in `top-k=5` and `quantile=0.99`"
        raise ValueError(example if needed else f"'{name}' has no parameter: write a threshold as `{name}:X`")
    result = Criterion(metric, _number(parameter) if equals else None, _number(threshold) if colon else None)
    if metric is Metric.CLOSE and colon:
        raise ValueError("'close' has no threshold: use `--rtol` and `--atol`")
    p = result.parameter
    if p is not None and not (p >= 1 and p.is_integer() if metric is Metric.TOP_K else 0 <= p <= 1):
        raise ValueError(f"'{parameter}' is not {needed}")
    return result


def _number(text: str) -> float:
    try:
        result = float(text)
    except ValueError:
        result = math.nan
    if math.isnan(result):
        raise ValueError(f"'{text}' is not a number")
    return result


class Tolerance(NamedTuple):
    """The tolerance within which arrays agree; every criterion must hold.

    Without `atol`, the absolute tolerance of an array is `rtol` times its largest expected magnitude: elements near
    zero carry the rounding of the larger ones they were computed with. Numbers next to the largest one of the type, as
    masks have them, are not counted. Integers, booleans and strings must be equal;
    a given `atol` holds for integers too. Under each metric arrays agree when, for elements e (expected) and a:

    - close: |a - e| <= atol + rtol |e| everywhere
    - max-abs: |a - e| <= atol everywhere; the threshold replaces atol
    - max-rel: |a - e| <= rtol |e| wherever |a - e| exceeds a given atol; the threshold replaces rtol
    - rmse: the root of the mean square of a - e is at most the threshold, by default rtol times that of e, or at most
      a given atol
    - cosine: the cosine of the angle between e and a is at least the threshold, by default 1 - rtol
    - snr: the ratio of the mean squares of e and a - e is at least the threshold in decibels, by default -20 log10 rtol
    - psnr: the same with the square of the largest |e| instead of its mean square
    - top-k=K: of the K largest elements of a along the last axis, the share that is among the K largest of e, ties
      included, is at least the threshold, by default 1
    - quantile=Q: a share Q of all elements is close, or |a - e| is at most the threshold there

    A finite number of at least `largest` in magnitude is out of the range of a type that one side computes in; it
    equals no infinity if the tolerance is `strict`.
    """

    rtol: float
    atol: float | None = None
    criteria: tuple[Criterion, ...] = (Criterion(),)
    largest: float = math.inf
    strict: bool = False


class Requirements(NamedTuple):
    """The criteria for all values: tolerances, one for all or by name of the value (also patterns such as `*_out`,
    of which the first that matches counts), criteria, and whether an infinity equals infinities only.
    """

    rtol: float | Mapping[str, float] | None = None
    atol: float | Mapping[str, float] | None = None
    criteria: tuple[Criterion, ...] = (Criterion(),)
    strict: bool = False

    def of(self, name: str, rtol: float, largest: float = math.inf) -> Tolerance:
        """Returns the tolerance of a value; `rtol` is the default for it."""
        required = tolerance_of(self.rtol, name)
        rtol = rtol if required is None else required
        return Tolerance(rtol, tolerance_of(self.atol, name), self.criteria, largest, self.strict)

    def names(self) -> Iterator[str]:
        """Yields the names of values that have a tolerance of their own, without patterns."""
        for tolerance in (self.rtol, self.atol):
            if isinstance(tolerance, Mapping):
                yield from (name for name in tolerance if not set(name) & set("*?["))


def tolerance_of(tolerance: float | Mapping[str, float] | None, name: str) -> float | None:
    """Returns the tolerance of a value by its name, otherwise by the first pattern that matches; None if there is none.

    Example:
        >>> tolerance_of({"*": 0.1, "y": 0.5}, "y"), tolerance_of({"head*": 0.5}, "x"), tolerance_of(0.1, "x")
        (0.5, None, 0.1)
    """
    if not isinstance(tolerance, Mapping):
        return tolerance
    if name in tolerance:
        return tolerance[name]
    return next((value for pattern, value in tolerance.items() if fnmatchcase(name, pattern)), None)


@cache
def overflow_limit(type: str) -> float:
    """Returns the smallest magnitude that becomes an infinity in a float type; inf for a type without infinities.

    Example:
        >>> overflow_limit("f16")
        65520.0
    """
    name = type.removeprefix("complex<").removesuffix(">")
    if name == "f64" or not name.startswith(("f", "bf")):
        return math.inf
    dtype = dtype_of(name)
    with np.errstate(invalid="ignore"):
        infinity = np.array(np.inf).astype(dtype)
    if not np.isinf(infinity.astype(np.float64)):
        return math.inf
    most = largest_number(name)
    return most + (most - largest_number(name, 1)) / 2


def largest_number(type: str, rank: int = 0) -> float:
    """Returns the largest finite number of a float type with infinities, or that of a rank below it.

    Example:
        >>> largest_number("f16"), largest_number("f16", 1)
        (65504.0, 65472.0)
    """
    infinity = np.array(np.inf).astype(dtype_of(type))
    bits = infinity.view(f"u{infinity.dtype.itemsize}") - 1 - rank
    return float(bits.view(infinity.dtype).astype(np.float64))


class Measures(NamedTuple):
    """Measures of the difference of an array a from the expected array e.

    `absolute` is the largest |a - e|, at index `at`; `relative` the largest |a - e| / |e|; `rmse` the root of the mean
    square of a - e; `cosine` that of the angle between them; `scale` the largest finite |e|; `beyond` the number of
    elements beyond the tolerance. `snr` and `psnr` are in decibels. `atol` is the absolute tolerance that was used;
    `failed` says which criteria do not hold, `overflows` how many elements agree only because a type overflows.
    """

    is_within: bool
    absolute: float
    relative: float
    rmse: float
    cosine: float
    scale: float
    atol: float
    at: tuple[int, ...]
    beyond: int
    snr: float = math.inf
    psnr: float = math.inf
    failed: tuple[str, ...] = ()
    overflows: int = 0


EQUAL = Measures(True, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, (), 0)


def measure(expected: Array, actual: Array, tolerance: Tolerance) -> Measures | str:
    """Compares two arrays; returns an error message instead if they cannot be compared.

    Element types may differ in width, such as int32 and int64.
    """
    if expected.shape != actual.shape:
        return f"expected shape {list(expected.shape)}, found {list(actual.shape)}"
    classes = _type_class(expected), _type_class(actual)
    if classes[0] != classes[1]:
        return f"expected {name_of(expected.dtype)}, found {name_of(actual.dtype)}"
    if not expected.size:
        return EQUAL
    if classes[0] == "text":
        return _string_measures(expected, actual)
    names = name_of(expected.dtype), name_of(actual.dtype)
    largest = min(tolerance.largest, *map(overflow_limit, names)) if names[0] != names[1] else tolerance.largest
    is_exact = classes[0] == "int"
    return _Sums(expected, actual, tolerance._replace(largest=largest), is_exact=is_exact).measures()


def _type_class(array: Array) -> str:
    name = name_of(array.dtype)
    if name.startswith(("f", "bf", "complex")):
        return "float"
    return "int" if name.startswith(("i", "ui")) else "text"


def _string_measures(expected: Array, actual: Array) -> Measures:
    differs = np.asarray(expected != actual, np.bool_)
    count = int(np.count_nonzero(differs))
    if not count:
        return EQUAL
    at = _index(int(np.argmax(differs)), expected.shape)
    return Measures(False, math.inf, math.inf, math.inf, math.nan, 0.0, 0.0, at, count, -math.inf, -math.inf)


def _blocks(expected: Array, actual: Array) -> Iterator[tuple[int, Array, Array]]:
    left, right = expected.reshape(-1), actual.reshape(-1)
    is_complex = "c" in (left.dtype.kind, right.dtype.kind)
    wide = np.complex128 if is_complex else np.float64
    for start in range(0, left.size, _BLOCK):
        end = start + _BLOCK
        yield start, left[start:end].astype(wide), right[start:end].astype(wide)


class _Sums:
    """Sums over the blocks of two arrays."""

    def __init__(self, expected: Array, actual: Array, tolerance: Tolerance, *, is_exact: bool) -> None:
        self.arrays = expected, actual
        self.shape = expected.shape
        self.count = expected.size
        self.criteria = tolerance.criteria
        self.has_atol = tolerance.atol is not None
        self.rtol = 0.0 if is_exact else tolerance.rtol
        self.largest = math.inf if tolerance.strict else tolerance.largest
        self.overflows = 0
        self.scale = 0.0
        marks = _MARKS * overflow_limit(name_of(expected.dtype))
        for _, e, a in _blocks(expected, actual):
            magnitude = np.abs(e)
            counts = np.isfinite(magnitude) & (magnitude < marks) & ~_are_overflows(a, e, self.largest)
            self.scale = max(self.scale, float(np.max(magnitude, where=counts, initial=0.0)))
        self.atol = self.rtol * self.scale if tolerance.atol is None else tolerance.atol
        self.absolute = self.relative = 0.0
        self.worst = 0
        # By criterion; the last entry is that of `close`.
        self.beyond = [0] * (len(self.criteria) + 1)
        self.squares = self.expected_squares = self.actual_squares = self.products = 0.0
        with np.errstate(all="ignore"):
            for start, e, a in _blocks(expected, actual):
                self._add(start, e, a)

    def _add(self, start: int, e: Array, a: Array) -> None:
        is_same = (e == a) | (np.isnan(e) & np.isnan(a))
        if math.isfinite(self.largest):
            overflows = _are_overflows(e, a, self.largest) | _are_overflows(a, e, self.largest)
            self.overflows += int(np.count_nonzero(overflows & ~is_same))
            is_same |= overflows
        error = np.abs(a - e)
        error = np.where(is_same, 0.0, np.where(np.isnan(error), np.inf, error))
        magnitude = np.abs(e)
        finite = np.isfinite(magnitude)
        relative = np.where(error == 0.0, 0.0, error / np.where(finite, magnitude, np.inf))
        relative = np.where(np.isinf(error) | np.isnan(relative), np.inf, relative)
        for number, criterion in enumerate((*self.criteria, Criterion())):
            beyond = error > self._allowed(criterion, np.where(finite, magnitude, 0.0))
            self.beyond[number] += int(np.count_nonzero(beyond))
        worst = int(np.argmax(error))
        if float(error[worst]) > self.absolute:
            self.absolute, self.worst = float(error[worst]), start + worst
        self.relative = max(self.relative, float(np.max(relative)))
        summed = finite & np.isfinite(a)
        e, a = e[summed], a[summed]
        self.squares += float(np.sum(error[summed] ** 2))
        self.expected_squares += float(np.sum(np.abs(e) ** 2))
        self.actual_squares += float(np.sum(np.abs(a) ** 2))
        self.products += float(np.sum(np.real(np.conj(e) * a)))

    def _allowed(self, criterion: Criterion, magnitude: Array) -> Array | float:
        """Returns the largest error of each element under a criterion."""
        threshold = criterion.threshold
        match criterion.metric:
            case Metric.MAX_ABS:
                return self.atol if threshold is None else threshold
            case Metric.MAX_REL:
                rtol = self.rtol if threshold is None else threshold
                return np.maximum(rtol * magnitude, self.atol if self.has_atol else 0.0)
            case Metric.QUANTILE if threshold is not None:
                return threshold
            case _:
                return self.atol + self.rtol * magnitude

    def measures(self) -> Measures:
        """Returns the measures."""
        is_finite = math.isfinite(self.absolute)
        rmse = math.sqrt(self.squares / self.count) if is_finite else math.inf
        cosine = self._cosine() if is_finite else math.nan
        root = math.sqrt(self.expected_squares / self.count)
        at = _index(self.worst, self.shape) if self.absolute else ()
        result = Measures(
            True, self.absolute, self.relative, rmse, cosine, self.scale, self.atol, at, self.beyond[-1],
            _decibels(root, rmse), _decibels(self.scale, rmse),
        )  # fmt: skip
        holds = [is_finite and self._holds(c, n, result, root) for n, c in enumerate(self.criteria)]
        counted = [n for n, c in enumerate(self.criteria) if c.metric in _BY_ELEMENT]
        return result._replace(
            is_within=all(holds),
            beyond=self.beyond[counted[0] if counted else -1],
            overflows=self.overflows,
            failed=tuple([self._reason(c, result) for c, held in zip(self.criteria, holds, strict=True) if not held]),
        )

    def _holds(self, criterion: Criterion, number: int, measures: Measures, root: float) -> bool:
        threshold = criterion.threshold
        match criterion.metric:
            case Metric.RMSE if threshold is None:
                return measures.rmse <= self.rtol * root or (self.has_atol and measures.rmse <= self.atol)
            case Metric.RMSE:
                return measures.rmse <= (threshold or 0.0)
            case Metric.COSINE | Metric.SNR | Metric.PSNR | Metric.TOP_K:
                return self._agreement(criterion, measures) >= self._least(criterion)
            case Metric.QUANTILE:
                return self.count - self.beyond[number] >= (criterion.parameter or 0.0) * self.count
            case _:
                return not self.beyond[number]

    def _agreement(self, criterion: Criterion, measures: Measures) -> float:
        """Returns a measure that is larger the better the arrays agree."""
        match criterion.metric:
            case Metric.TOP_K:
                return _top_share(*self.arrays, int(criterion.parameter or 1))
            case Metric.COSINE:
                return measures.cosine
            case Metric.SNR:
                return measures.snr
            case _:
                return measures.psnr

    def _least(self, criterion: Criterion) -> float:
        if criterion.threshold is not None:
            return criterion.threshold
        match criterion.metric:
            case Metric.TOP_K:
                return 1.0
            case Metric.COSINE:
                return 1 - self.rtol
            case _:
                return -20 * math.log10(self.rtol) if self.rtol else math.inf

    def _reason(self, criterion: Criterion, measures: Measures) -> str:
        """Returns why a criterion does not hold; nothing for `close`, of which the count says it."""
        unit = " dB" if criterion.metric in (Metric.SNR, Metric.PSNR) else ""
        match criterion.metric:
            case Metric.CLOSE:
                return ""
            case Metric.COSINE | Metric.SNR | Metric.PSNR | Metric.TOP_K:
                found, least = self._agreement(criterion, measures), self._least(criterion)
                name = str(criterion._replace(threshold=None))
                return f"{name} {found:.6g}{unit}, expected at least {least:.6g}{unit}"
            case Metric.RMSE:
                return f"rmse {measures.rmse:.3g}"
            case _:
                return f"{criterion}"

    def _cosine(self) -> float:
        """Returns the cosine: 1 for two arrays of zeros, 0 if only one has only zeros."""
        if self.absolute == 0.0:
            return 1.0
        lengths = math.sqrt(self.expected_squares) * math.sqrt(self.actual_squares)
        return min(self.products / lengths, 1.0) if lengths else 0.0


_BY_ELEMENT = (Metric.CLOSE, Metric.MAX_ABS, Metric.MAX_REL, Metric.QUANTILE)


def _are_overflows(infinite: Array, finite: Array, largest: float) -> Array:
    """Returns where one array has an infinity and the other a number of its sign that overflows the narrower type."""
    if infinite.dtype.kind == "c":
        return np.zeros(infinite.shape, np.bool_)
    return np.isinf(infinite) & (np.abs(finite) >= largest) & (np.sign(infinite) == np.sign(finite))


def _decibels(signal: float, noise: float) -> float:
    if not noise:
        return math.inf
    return 20 * math.log10(signal / noise) if signal and math.isfinite(noise) else -math.inf


def _top_share(expected: Array, actual: Array, count: int) -> float:
    """Returns the mean share of the largest elements of `actual` along the last axis that are among the largest of
    `expected`; of equal elements, the first are taken.
    """
    e, a = (np.atleast_1d(array).astype(np.float64) for array in (expected, actual))
    e, a = e.reshape(-1, e.shape[-1]), a.reshape(-1, a.shape[-1])
    count = min(count, e.shape[-1])
    chosen = np.argsort(-a, axis=-1, kind="stable")[:, :count]
    least = np.sort(e, axis=-1)[:, -count]
    return float(np.mean(np.take_along_axis(e, chosen, -1) >= least[:, None]))


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([int(part) for part in np.unravel_index(flat, shape)]) if shape else ()
