"""Compares outputs with expected outputs.

Differences are taken in double precision. NaN equals NaN, and infinity equals infinity of the same sign; compared with
anything else, both are infinite errors. Integers, booleans and strings must be equal.

An element is within tolerance when `|actual - expected| <= atol + rtol * |expected|`, as in `numpy.allclose`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import flat_values, name_of
from commonir.comparing.measures import tolerance_of
from commonir.reports import OutputError

# The relative error to which many chained operations of a type may add up between two correct engines. It is some ten
# units in the last place for narrow types, which an engine may compute in a wider one, and a thousand for f32.
_RTOL = {"f64": 1e-9, "f32": 1e-4, "f16": 1e-2, "bf16": 5e-2}
_RTOL_NARROWER = 2e-1


def default_rtol(element_types: Iterable[str]) -> float:
    """Returns the relative tolerance of the narrowest float among some element types.

    Example:
        >>> default_rtol(["f32", "i32"]), default_rtol(["f32", "f16"])
        (0.0001, 0.01)
    """
    floats = [name for name in element_types if name.startswith(("f", "bf", "complex"))]
    tolerances = [_RTOL.get(name.removeprefix("complex<").removesuffix(">"), _RTOL_NARROWER) for name in floats]
    return max(tolerances, default=_RTOL["f32"])


def compare_outputs(
    expected: Mapping[str, object],
    actual: Mapping[str, object],
    *,
    rtol: float | Mapping[str, float],
    atol: float | Mapping[str, float] | None = None,
) -> tuple[OutputError, ...]:
    """Compares arrays by name, in the order of `expected`.

    Without `atol`, the absolute tolerance of an output is `rtol` times its largest expected magnitude: elements near
    zero carry the rounding of the larger ones they were computed with. Lists and maps are compared by element,
    under names such as `scores[0]`. Tolerances may be mappings by name; that of `rtol` has an entry for each output or
    for `*`.
    """
    arrays, expected_empty = flat_values(expected)
    actual_arrays, actual_empty = flat_values({name: actual[name] for name in expected if name in actual})
    errors = [
        compare_arrays(name, array, actual_arrays[name], rtol=_required(rtol, name), atol=tolerance_of(atol, name))
        if name in actual_arrays
        else _incomparable(name, array, 0.0, "there is no such output")
        for name, array in arrays.items()
    ]
    errors += [
        _incomparable(n, a, 0.0, "this output is not expected") for n, a in actual_arrays.items() if n not in arrays
    ]
    absent = [name for name in expected_empty if name not in actual_empty]
    return (*errors, *[OutputError(name, "", False, None, None, 0.0, 0.0, (), "has no value") for name in absent])


def _required(rtol: float | Mapping[str, float], name: str) -> float:
    found = tolerance_of(rtol, name)
    return _RTOL["f32"] if found is None else found


def compare_arrays(
    name: str, expected: NDArray[np.generic], actual: NDArray[np.generic], *, rtol: float, atol: float | None = None
) -> OutputError:
    """Compares one output; see `compare_outputs`."""
    if expected.shape != actual.shape:
        return _incomparable(name, expected, rtol, f"expected shape {list(expected.shape)}, found {list(actual.shape)}")
    if _type_text(expected) != _type_text(actual):
        return _incomparable(name, expected, rtol, f"expected {_type_text(expected)}, found {_type_text(actual)}")
    if not _is_float(expected):
        return _compare_exactly(name, expected, actual)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    left, right = expected.astype(wide), actual.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(right - left)
        magnitude = np.abs(left)
    is_same = (left == right) | (np.isnan(left) & np.isnan(right))
    error = np.where(is_same, 0.0, np.where(np.isnan(error), np.inf, error))
    scale = float(np.max(magnitude, where=np.isfinite(magnitude), initial=0.0))
    tolerance = rtol * scale if atol is None else atol
    worst = int(np.argmax(error)) if error.size else 0
    absolute = float(error.reshape(-1)[worst]) if error.size else 0.0
    return OutputError(
        name=name,
        type=_type_text(expected),
        is_within=bool(np.all(error <= tolerance + rtol * np.where(np.isfinite(magnitude), magnitude, 0.0))),
        absolute=absolute,
        relative=absolute / scale if scale else (math.inf if absolute else 0.0),
        atol=tolerance,
        rtol=rtol,
        at=_index(worst, error.shape),
    )


def _compare_exactly(name: str, expected: NDArray[np.generic], actual: NDArray[np.generic]) -> OutputError:
    differs = np.asarray(expected != actual)
    count = int(np.count_nonzero(differs))
    worst = int(np.argmax(differs)) if count else 0
    return OutputError(
        name=name,
        type=_type_text(expected),
        is_within=count == 0,
        absolute=None if count else 0.0,
        relative=None if count else 0.0,
        atol=0.0,
        rtol=0.0,
        at=_index(worst, differs.shape),
        note=f"{count} of {differs.size} elements differ" if count else "",
    )


def _incomparable(name: str, expected: NDArray[np.generic], rtol: float, note: str) -> OutputError:
    return OutputError(name, _type_text(expected), False, None, None, 0.0, rtol, (), note)


def _is_float(array: NDArray[np.generic]) -> bool:
    return _type_text(array).startswith(("f", "bf", "complex"))


def _type_text(array: NDArray[np.generic]) -> str:
    return name_of(array.dtype)


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(part) for part in np.unravel_index(flat, shape)) if math.prod(shape) else ()
