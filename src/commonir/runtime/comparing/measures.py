"""Measures the difference of two arrays with bounded memory.

Differences are taken in double precision, block by block. NaN equals NaN, and infinity equals infinity of the same
sign: such elements count as equal and take no part in the sums. Compared with anything else, both are infinite
differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import name_of
from commonir.base.tuples import NamedTuple

Array = NDArray[Any]

_BLOCK = 1 << 18
"""Elements measured at a time; the temporary arrays take some megabytes."""


class Metric(Enum):
    """The criterion by which two arrays agree: `close`, `max-abs` and `max-rel` by element, the others as a whole."""

    CLOSE = "close"
    MAX_ABS = "max-abs"
    MAX_REL = "max-rel"
    RMSE = "rmse"
    COSINE = "cosine"


class Tolerance(NamedTuple):
    """The tolerance within which arrays agree.

    Without `atol`, the absolute tolerance of an array is `rtol` times its largest expected magnitude: elements near
    zero carry the rounding of the larger ones they were computed with. Integers, booleans and strings must be equal;
    a given `atol` holds for integers too. Under each metric arrays agree when, for elements e (expected) and a:

    - close: |a - e| <= atol + rtol |e| everywhere
    - max-abs: |a - e| <= atol everywhere
    - max-rel: |a - e| <= rtol |e| wherever |a - e| exceeds a given atol
    - rmse: the root of the mean square of a - e is at most rtol times that of e, or at most a given atol
    - cosine: 1 - cos of the angle between e and a is at most rtol
    """

    rtol: float
    atol: float | None = None
    metric: Metric = Metric.CLOSE


class Measures(NamedTuple):
    """Measures of the difference of an array a from the expected array e.

    `absolute` is the largest |a - e|, at index `at`; `relative` the largest |a - e| / |e|; `rmse` the root of the mean
    square of a - e; `cosine` that of the angle between them; `scale` the largest finite |e|; `beyond` the number of
    elements beyond the tolerance. `atol` is the absolute tolerance that was used.
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
    return _Sums(expected, actual, tolerance, is_exact=classes[0] == "int").measures()


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
    return Measures(False, math.inf, math.inf, math.inf, math.nan, 0.0, 0.0, at, count)


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
        self.shape = expected.shape
        self.count = expected.size
        self.metric = tolerance.metric
        self.has_atol = tolerance.atol is not None
        self.rtol = 0.0 if is_exact else tolerance.rtol
        self.scale = 0.0
        for _, e, _a in _blocks(expected, actual):
            magnitude = np.abs(e)
            self.scale = max(self.scale, float(np.max(magnitude, where=np.isfinite(magnitude), initial=0.0)))
        self.atol = self.rtol * self.scale if tolerance.atol is None else tolerance.atol
        self.absolute = self.relative = 0.0
        self.worst = 0
        self.beyond = 0
        self.squares = self.expected_squares = self.actual_squares = self.products = 0.0
        with np.errstate(all="ignore"):
            for start, e, a in _blocks(expected, actual):
                self._add(start, e, a)

    def _add(self, start: int, e: Array, a: Array) -> None:
        is_same = (e == a) | (np.isnan(e) & np.isnan(a))
        error = np.abs(a - e)
        error = np.where(is_same, 0.0, np.where(np.isnan(error), np.inf, error))
        magnitude = np.abs(e)
        finite = np.isfinite(magnitude)
        relative = np.where(error == 0.0, 0.0, error / np.where(finite, magnitude, np.inf))
        relative = np.where(np.isinf(error) | np.isnan(relative), np.inf, relative)
        allowed = self.rtol * np.where(finite, magnitude, 0.0)
        match self.metric:
            case Metric.MAX_ABS:
                beyond = error > self.atol
            case Metric.MAX_REL:
                beyond = (error > allowed) & (error > (self.atol if self.has_atol else 0.0))
            case _:
                beyond = error > self.atol + allowed
        self.beyond += int(np.count_nonzero(beyond))
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

    def measures(self) -> Measures:
        """Returns the measures."""
        is_finite = math.isfinite(self.absolute)
        rmse = math.sqrt(self.squares / self.count) if is_finite else math.inf
        cosine = self._cosine() if is_finite else math.nan
        match self.metric:
            case Metric.RMSE:
                root = math.sqrt(self.expected_squares / self.count)
                is_within = rmse <= self.rtol * root or (self.has_atol and rmse <= self.atol)
            case Metric.COSINE:
                is_within = 1 - cosine <= self.rtol  # false for NaN
            case _:
                is_within = self.beyond == 0
        at = _index(self.worst, self.shape) if self.absolute else ()
        return Measures(is_within, self.absolute, self.relative, rmse, cosine, self.scale, self.atol, at, self.beyond)

    def _cosine(self) -> float:
        """Returns the cosine: 1 for two arrays of zeros, 0 if only one has only zeros."""
        if self.absolute == 0.0:
            return 1.0
        lengths = math.sqrt(self.expected_squares) * math.sqrt(self.actual_squares)
        return min(self.products / lengths, 1.0) if lengths else 0.0


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([int(part) for part in np.unravel_index(flat, shape)]) if shape else ()
