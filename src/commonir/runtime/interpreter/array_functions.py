"""The scalar functions and folds of index notation on numpy arrays.

All engines that compute with numpy use these tables. A function takes arrays of one dtype (and a condition) and
returns an array of the dtype defined in `notation/functions.py`, written to `out` if that is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
ArrayFunction = Callable[..., Array]


def erf(x: Array) -> Array:
    """Returns the error function of each element, correct to the precision of doubles before it is rounded."""
    exact = np.frompyfunc(math.erf, 1, 1)(np.asarray(x, np.float64))
    return np.asarray(exact, np.float64).astype(x.dtype)


def _truncated_divide(x: Array, y: Array) -> Array:
    """Integer division toward zero."""
    return np.floor_divide(x - np.fmod(x, y), y)


def _power(x: Array, y: Array) -> Array:
    """Powers; integer powers with a negative exponent have no specified value, and numpy would refuse them."""
    if np.asarray(y).dtype.kind == "i":
        return np.power(x, np.maximum(y, np.zeros((), y.dtype)))
    return np.power(x, y)


def _select(condition: Array, x: Array, y: Array) -> Array:
    return np.where(condition, x, y)


_BLOCK = 1 << 15
"""Elements processed together by several passes, so that they stay in cache."""

_TRANSPOSED_ROWS = 64
"""Rows of a matrix that are transposed together, so that cache lines are reused."""


_FEW = 1 << 11
"""Up to this many elements a single numpy call is faster than several."""


def convert(source: Array, out: Array) -> None:
    """Writes the elements of an array into one of another dtype, as a C cast does.

    Half precision is converted to single precision exactly, five times as fast as by numpy.
    """
    if source.dtype != np.float16 or out.dtype != np.float32 or source.shape != out.shape or source.size < _FEW:
        np.copyto(out, source, "unsafe")
    elif _is_transposed(source):
        for k in range(0, source.shape[1], _TRANSPOSED_ROWS):
            part = source[:, k : k + _TRANSPOSED_ROWS].T
            wide = np.empty(part.shape, np.float32)
            convert(part, wide)
            np.copyto(out[:, k : k + _TRANSPOSED_ROWS], wide.T)
    elif source.flags.c_contiguous and out.flags.c_contiguous:
        halves, singles = source.reshape(-1), out.reshape(-1)
        for k in range(0, halves.size, _BLOCK):
            _widen(halves[k : k + _BLOCK], singles[k : k + _BLOCK])
    else:
        np.copyto(out, source)


def _widen(source: Array, out: Array) -> None:
    """Shifts the bits and corrects the bias of the exponent (15 to 127) by a multiplication.

    That is exact, and normalizes subnormal numbers too. Infinities and NaN are left to numpy.
    """
    bits = out.view(np.int32)
    np.copyto(bits, source.view(np.int16))
    np.left_shift(bits, 13, bits)
    np.bitwise_and(bits, np.int32(~0x70000000), bits)
    np.multiply(out, np.float32(2.0**112), out)
    # Infinities and NaN have become numbers from 2^16 on, which half precision does not have.
    if out.max() >= 2.0**16 or out.min() <= -(2.0**16):
        np.copyto(out, source)


def round_to_half(source: Array, out: Array) -> None:
    """Writes single precision rounded to half precision, ties to even, four times as fast as by two casts of numpy.

    Both may be the same array.
    """
    if source.size < _FEW or not source.flags.c_contiguous or not out.flags.c_contiguous or source.shape != out.shape:
        np.copyto(out, source.astype(np.float16))
        return
    flat, expected = source.reshape(-1), out.reshape(-1)
    step, near = np.empty((2, min(_BLOCK, flat.size)), np.float32)
    for k in range(0, flat.size, _BLOCK):
        part = flat[k : k + _BLOCK]
        _round(part, step[: part.size], near[: part.size], expected[k : k + _BLOCK])


_HALF_MAX = 65520.0
"""From here on numbers are infinite in half precision."""


def _round(x: Array, step: Array, near: Array, out: Array) -> None:
    """Rounds by adding and subtracting a number so large that the sum has the precision of a half.

    It is 1.5 * 2^(e + 13) for a number with the exponent e, or for -14 if that is larger (subnormal halves).
    """
    if not (x.max() < _HALF_MAX and x.min() > -_HALF_MAX):
        np.copyto(out, x.astype(np.float16))
        return
    bits = step.view(np.int32)
    np.bitwise_and(x.view(np.int32), np.int32(0x7F800000), out=bits)
    np.maximum(bits, np.int32((127 - 14) << 23), out=bits)
    np.add(bits, np.int32(13 << 23), out=bits)
    np.multiply(step, np.float32(1.5), out=step)
    np.add(x, step, out=near)
    np.subtract(near, step, out=near)
    np.copysign(near, x, out=out)


def copy(source: Array, out: Array) -> None:
    """Copies an array; a matrix in column-major order is copied by groups of rows."""
    if not _is_transposed(source):
        np.copyto(out, source)
        return
    for k in range(0, source.shape[1], _TRANSPOSED_ROWS):
        np.copyto(out[:, k : k + _TRANSPOSED_ROWS], source[:, k : k + _TRANSPOSED_ROWS])


def _is_transposed(source: Array) -> bool:
    """Returns whether an array is a large matrix in column-major order."""
    return source.ndim == 2 and source.size > _BLOCK and source.flags.f_contiguous and not source.flags.c_contiguous


ARRAY_FUNCTIONS: Mapping[str, ArrayFunction] = MappingProxyType(
    {
        "add": np.add,
        "subtract": np.subtract,
        "multiply": np.multiply,
        "divide": np.true_divide,
        "floor_divide": np.floor_divide,
        "truncated_divide": _truncated_divide,
        "remainder": np.remainder,
        "truncated_remainder": np.fmod,
        "power": _power,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "negative": np.negative,
        "absolute": np.absolute,
        "sign": np.sign,
        "exp": np.exp,
        "exp2": np.exp2,
        "log": np.log,
        "sqrt": np.sqrt,
        "sin": np.sin,
        "cos": np.cos,
        "tan": np.tan,
        "asin": np.arcsin,
        "acos": np.arccos,
        "atan": np.arctan,
        "sinh": np.sinh,
        "cosh": np.cosh,
        "tanh": np.tanh,
        "asinh": np.arcsinh,
        "acosh": np.arccosh,
        "atanh": np.arctanh,
        "erf": erf,
        "floor": np.floor,
        "ceil": np.ceil,
        "round": np.rint,
        "truncate": np.trunc,
        "is_nan": np.isnan,
        "is_inf": np.isinf,
        "logical_and": np.logical_and,
        "logical_or": np.logical_or,
        "logical_xor": np.logical_xor,
        "logical_not": np.logical_not,
        "bitwise_and": np.bitwise_and,
        "bitwise_or": np.bitwise_or,
        "bitwise_xor": np.bitwise_xor,
        "bitwise_not": np.invert,
        "shift_left": np.left_shift,
        "shift_right": np.right_shift,
        "less": np.less,
        "less_equal": np.less_equal,
        "equal": np.equal,
        "not_equal": np.not_equal,
        "greater": np.greater,
        "greater_equal": np.greater_equal,
        "select": _select,
    }
)
"""Every function of `notation.FUNCTIONS`."""

FOLD_FUNCTIONS: Mapping[str, np.ufunc] = MappingProxyType(
    {
        "add": np.add,
        "multiply": np.multiply,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "logical_and": np.logical_and,
        "logical_or": np.logical_or,
    }
)
"""Every fold of `notation.FOLDS`."""
