"""Values against what a case expects: element types, then shapes, then elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.onnx_suite.cases import Array, Value

RANDOM_OPERATORS = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)
"""Operators whose elements nothing fixes."""

BFLOAT16_RTOL = 2.0**-6
"""Two units in the last place, as the runner of onnx allows."""


class Disagreement(Exception):
    """A value is not what is expected; `error` is the largest difference, relative to the largest magnitude."""

    def __init__(self, message: str, error: float | None = None) -> None:
        super().__init__(message)
        self.error = error


def compare_all(
    actual: Sequence[Value],
    expected: Sequence[Value],
    rtol: float,
    atol: float,
    error: float = 0.0,
    *,
    is_random: bool = False,
) -> None:
    """Compares the outputs of a model; `error` is allowed besides, relative to the largest magnitude of each output.

    Raises: Disagreement, for the first that differs.
    """
    if len(actual) != len(expected):
        raise Disagreement(f"{len(actual)} outputs instead of {len(expected)}")
    for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
        allowed = atol + error * _scale(np.asarray(other)) if error and not isinstance(other, list) else atol
        compare(one, other, rtol, allowed, f"output {number}", is_random=is_random)


def compare(
    actual: Value, expected: Value, rtol: float, atol: float, where: str = "value", *, is_random: bool = False
) -> None:
    """Compares one value with what is expected. Raises: Disagreement."""
    if expected is None or actual is None:
        if actual is not expected:
            raise Disagreement(f"{where} is {_kind(actual)} instead of {_kind(expected)}")
        return
    if isinstance(expected, list | tuple):
        if not isinstance(actual, list | tuple):
            raise Disagreement(f"{where} is {_kind(actual)} instead of {_kind(expected)}")
        if len(actual) != len(expected):
            raise Disagreement(f"{where} has {len(actual)} elements instead of {len(expected)}")
        for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
            compare(one, other, rtol, atol, f"{where}[{number}]", is_random=is_random)
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        if list(actual) != list(expected):
            raise Disagreement(f"{where} has the keys {list(actual)[:4]} instead of {list(expected)[:4]}")
        for key, other in expected.items():
            compare(actual[key], other, rtol, atol, f"{where}[{key!r}]", is_random=is_random)
        return
    one, other = np.asarray(actual), np.asarray(expected)
    if _type_name(one) != _type_name(other):
        raise Disagreement(f"{where} is of {_type_name(one)} instead of {_type_name(other)}")
    if one.shape != other.shape:
        raise Disagreement(f"{where} has shape {one.shape} instead of {other.shape}")
    if not is_random:
        _compare_elements(one, other, rtol, atol, where)


def _compare_elements(actual: Array, expected: Array, rtol: float, atol: float, where: str) -> None:
    if actual.dtype.kind in "OSU":
        if [_text(v) for v in actual.ravel()] != [_text(v) for v in expected.ravel()]:
            raise Disagreement(f"{where} has other texts: {actual.ravel()[:4]} instead of {expected.ravel()[:4]}")
        return
    if actual.dtype.name == "bfloat16":
        rtol = max(rtol, BFLOAT16_RTOL)
    # ml_dtypes are not promoted by numpy.
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    one, other = actual.astype(wide), expected.astype(wide)
    if np.array_equal(actual, expected) or np.allclose(one, other, rtol, atol, equal_nan=True):
        return
    with np.errstate(all="ignore"):
        difference = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0, np.abs(one - other))
    error = float(np.max(difference)) / (_scale(expected) or 1.0)
    count = int(np.sum(~np.isclose(one, other, rtol, atol, equal_nan=True)))
    raise Disagreement(f"{where} differs in {count} of {one.size} elements, by {error:.1e}", error)


def _scale(array: Array) -> float:
    """The largest magnitude; 0 of what holds no numbers."""
    if array.dtype.kind in "OSU":
        return 0.0
    wide = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    return float(np.max(wide, where=np.isfinite(wide), initial=0.0))


def _type_name(array: Array) -> str:
    return "string" if array.dtype.kind in "OSU" else array.dtype.name


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _kind(value: Value) -> str:
    if value is None:
        return "absent"
    return "a sequence" if isinstance(value, list | tuple) else "a tensor"
