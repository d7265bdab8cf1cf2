"""What the scalar functions and folds of index notation are on numpy arrays.

One table for every engine that computes with numpy. A function takes arrays of one dtype (and a condition) and gives
an array of the dtype that `notation/functions.py` says; with `out` it writes there.
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
    """The error function of each element, correct to the precision of doubles before it is rounded."""
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
