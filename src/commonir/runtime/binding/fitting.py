"""Converts arrays to the element type of an input where every element keeps its value, floats up to rounding."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of
from commonir.base.codes import INPUT_CONVERTED, WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Function
from commonir.ir.types import ElementType, TensorType
from commonir.runtime.binding.ports import names_of
from commonir.runtime.values import is_array

Array = NDArray[Any]
_NUMBERS = "biufcV"
"""Kinds of numpy dtypes that are numbers; those of ml_dtypes are `V`."""


class Misfit(NamedTuple):
    """The first element of an array that is not a value of a type."""

    value: str
    at: tuple[int, ...]


def fitted(array: Array, target: np.dtype[Any]) -> Array | Misfit | None:
    """Returns an array in another dtype, or its first element that does not fit; None if they are not both numbers.

    A float fits another float type unless it overflows. Everything else must keep its value exactly.
    """
    source = array.dtype
    if source == target:
        return array
    if source.kind not in _NUMBERS or target.kind not in _NUMBERS or (source.kind == "c" and target.kind != "c"):
        return None
    with np.errstate(all="ignore"):
        result = array.astype(target)
        if _is_float(source) and (_is_float(target) or target.kind == "c"):
            wrong = np.isfinite(array) & ~np.isfinite(result)
        elif _preserves(source, target):
            return result
        else:
            # A number beyond the range of integers may come back as another one, but never as itself.
            wrong = result.astype(source) != array
    if not np.any(wrong):
        return result
    at = tuple([int(n) for n in np.argwhere(wrong)[0]])
    return Misfit(str(array[at]), at)


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or dtype.name.startswith(("float", "bfloat"))


def _preserves(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Returns whether one dtype represents every value of the other. numpy considers i64 to f64 safe, which rounds."""
    if source.kind in "iu" and target.kind in "fc":
        return source.itemsize < 8 and np.can_cast(source, target, "safe")
    return np.can_cast(source, target, "safe")


def range_text(element: ElementType) -> str:
    """Returns the range of an element type for messages: that of integers, and the largest finite float."""
    if element.is_float:
        # By name, because its result is untyped in the stubs.
        largest = float(import_module("ml_dtypes").finfo(dtype_of(element.name)).max)
        return f"{element} has magnitudes up to {largest:.4g}"
    if element.is_integer:
        low, high = element.integer_limits
        return f"{element} has integers from {low} to {high}"
    return ""


def fitted_inputs(function: Function, arrays: Mapping[str, Any], findings: Diagnostics) -> dict[str, Any]:
    """Returns inputs of a function, floats of another type in the declared type, and reports these.

    All other inputs are converted when they are bound, and what does not fit is reported then.
    """
    types = dict(zip(names_of(function), [v.type for v in function.inputs], strict=True))
    out: dict[str, Any] = {}
    for name, value in arrays.items():
        type = types.get(name)
        out[name] = value
        if not isinstance(type, TensorType):
            continue
        if not is_array(value):
            # Python's numbers have no type that could be reported as converted.
            out[name] = _array_of(name, value)
            continue
        if not _is_float(value.dtype):
            continue
        result = _converted(value, type.element)
        if result is not None and not _preserves(value.dtype, result.dtype):
            out[name] = result
            how = "rounded" if type.element.is_float else "converted"
            findings.add(INPUT_CONVERTED, f"input '{name}': {name_of(value.dtype)} is {how} to {type.element}")
    return out


def _array_of(name: str, value: Any) -> Array:
    """Returns a number, nested lists or an object with `__array__` as an array. Raises: DiagnosticError (E0703)."""
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        message = f"input '{name}': numpy cannot convert it to an array: {str(error).partition('.')[0]}"
        raise DiagnosticError(Diagnostic(WRONG_INPUT, message)) from None


def _converted(array: Array, element: ElementType) -> Array | None:
    try:
        result = fitted(array, dtype_of(element.name))
        name_of(array.dtype)
    except KeyError:  # numpy has no such dtype, or the program no such type
        return None
    return result if isinstance(result, np.ndarray) else None
