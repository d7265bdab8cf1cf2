"""Parses numbers and bools as inputs of a function that takes scalars or tensors of rank 0."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.ir.module import Function
from commonir.ir.types import ElementType, TensorType, Type, boolean, handle, i64, index, is_collection
from commonir.runtime.binding.ports import names_of

_BOOLS = {"true": True, "false": False}
_INTEGER = re.compile(r"[+-]?(?:[0-9]{1,40}|0x[0-9A-Fa-f]{1,32})")
_MAX_LISTED = 8


def scalar_input(function: Function, name: str, text: str) -> NDArray[Any]:
    """Returns a number as an array of rank 0 in the element type of an input.

    Floats are rounded to the type. Raises: DiagnosticError (E0703) for an unknown input, one that is not a scalar, and
    for a number that is not a value of its type.
    """
    types = dict(zip(names_of(function), [v.type for v in function.inputs], strict=True))
    if name not in types:
        raise unknown_input(name, types)
    element = _element_of(types[name])
    if element is None:
        files = f"`{escape(name)}=@file.npy`, or a type and a generator: `{escape(name)}={_filled(types[name], text)}`"
        help = "give it as JSON, or a .json file" if is_collection(types[name]) else f"give {files}"
        raise _refusal(f"input '{escape(name)}' is {types[name]}, not one number or bool", help)
    try:
        return scalar_array(element, text)
    except (ValueError, OverflowError, KeyError):
        raise _refusal(f"input '{escape(name)}' is {types[name]}, which '{escape(text)}' is not a value of") from None


def unknown_input(name: str, names: Collection[str]) -> DiagnosticError:
    """Returns the error for an input that a function does not have."""
    listed = ", ".join([escape(n) for n in list(names)[:_MAX_LISTED]]) or "none"
    help = did_you_mean(name, names) or f"inputs are {listed}{', ..' if len(names) > _MAX_LISTED else ''}"
    return _refusal(f"the program has no input '{escape(name)}'", help)


def _element_of(type: Type) -> ElementType | None:
    if isinstance(type, TensorType) and type.shape in ((), None):
        type = type.element
    return type if isinstance(type, ElementType) else None


def _filled(type: Type, text: str) -> str:
    """Returns the text of an input that is a tensor filled with the number."""
    if not isinstance(type, TensorType):
        return f"f32[..]:{text}"
    shape = ",".join([str(n) if isinstance(n, int) else "N" for n in type.shape or ()])
    return f"{type.element}[{shape}]:{text}"


def _refusal(message: str, help: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic(WRONG_INPUT, message, help=help))


def scalar_array(element: ElementType, text: str) -> NDArray[Any]:
    """Returns a number or bool as an array of rank 0.

    Raises: ValueError, OverflowError for a text that is not a value of the type, KeyError for a type without dtype.
    """
    element = i64 if element is handle else element
    dtype = np.dtype(np.int64) if element is index else dtype_of(str(element))
    if element is boolean:
        return np.array(_bool(text), dtype)
    if element is index or element.is_integer:
        return np.array(_integer(text, element), dtype)
    if element.is_float:
        return _rounded(np.array(float(text)), dtype)
    if dtype.kind == "c":
        return _rounded(np.array(complex(text)), dtype)
    raise ValueError(text)


def _bool(text: str) -> bool:
    return _BOOLS[text] if text in _BOOLS else bool(("0", "1").index(text))


def _integer(text: str, element: ElementType) -> int:
    """Returns an integer. Raises: ValueError for other text, or an integer beyond the range of the type."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    number = int(text, 16 if "x" in text else 10)
    least, most = element.integer_limits
    if not least <= number <= most:
        raise ValueError(text)
    return number


def _rounded(value: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Returns a rounded number. Raises: ValueError for one beyond the range of the type."""
    with np.errstate(over="ignore", invalid="ignore"):
        result = value.astype(dtype)
    back = result.astype(value.dtype)
    if bool(np.isfinite(value)) != bool(np.isfinite(back)) or bool(np.isnan(value)) != bool(np.isnan(back)):
        raise ValueError
    return result
