"""Computes bounds of integer values of a program from the operations that compute them, and known values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean
from commonir.notation import limits
from commonir.ods import known_data

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

_DEEPEST = 16
"""Operations that are looked behind, one after another."""


class Range(NamedTuple):
    """The least and the largest number that elements may be."""

    low: int
    high: int

    @property
    def magnitude(self) -> int:
        """The largest magnitude."""
        return max(-self.low, self.high)


def integer_range(value: Value, depth: int = _DEEPEST) -> Range:
    """The range of the elements of a tensor of integers or bools."""
    element = tensor_type(value).element
    whole = _range_of(element)
    result = _made(value, depth)
    # Numbers that do not fit lose bits.
    fits = result is not None and whole.low <= result.low and result.high <= whole.high
    return result if fits and result is not None else whole


def _range_of(element: ElementType) -> Range:
    if element is boolean:
        return Range(0, 1)
    if not element.is_integer:
        raise ValueError(f"{element} is not a type of integers")
    low, high = limits(element)
    return Range(int(low), int(high))


def _made(value: Value, depth: int) -> Range | None:
    """The range that follows from the operation that makes a value, before bits are lost."""
    data = known_data(value)
    if data is not None:
        array = _integers_of(data)
        return Range(int(array.min()), int(array.max())) if array.size else Range(0, 0)
    match value.owner if depth else None:
        case core.Cast(x=x) if not tensor_type(x).element.is_float:
            return integer_range(x, depth - 1)
        case core.Reshape(x=x) | core.Transpose(x=x) | core.Slice(x=x):
            return integer_range(x, depth - 1)
        case core.Pad(x=x, value=fill):
            inner = integer_range(x, depth - 1)
            return Range(min(inner.low, int(fill)), max(inner.high, int(fill)))
        case core.Neg(x=x):
            inner = integer_range(x, depth - 1)
            return Range(-inner.high, -inner.low)
        case core.Abs(x=x):
            return Range(0, integer_range(x, depth - 1).magnitude)
        case core.Add(a=a, b=b):
            left, right = integer_range(a, depth - 1), integer_range(b, depth - 1)
            return Range(left.low + right.low, left.high + right.high)
        case core.Sub(a=a, b=b):
            left, right = integer_range(a, depth - 1), integer_range(b, depth - 1)
            return Range(left.low - right.high, left.high - right.low)
        case core.Mul(a=a, b=b):
            left, right = integer_range(a, depth - 1), integer_range(b, depth - 1)
            products = [m * n for m in left for n in right]
            return Range(min(products), max(products))
        case _:
            return None


def _integers_of(data: Data) -> Integers:
    """The elements of a constant of integers."""
    import numpy as np  # noqa: PLC0415  only where contents are asked for

    return data.array().astype(np.int64)


def known_integers(value: Value, depth: int = _DEEPEST) -> Integers | None:
    """The elements of a tensor of integers that is a constant, or constants that are converted, shaped and shifted."""
    element = tensor_type(value).element
    if not element.is_integer:
        return None
    data = known_data(value)
    if data is not None:
        return _integers_of(data)
    result: Integers | None = None
    match value.owner if depth else None:
        case core.Cast(x=x):
            result = known_integers(x, depth - 1)
        case core.Reshape(x=x, y=y):
            inner = known_integers(x, depth - 1)
            result = None if inner is None else inner.reshape(tensor_type(y).static_shape)
        case core.Sub(a=a, b=b):
            left, right = known_integers(a, depth - 1), known_integers(b, depth - 1)
            result = None if left is None or right is None else left - right
        case _:
            pass
    if result is None or not result.size:
        return result
    low, high = _range_of(element)
    return result if low <= result.min() and result.max() <= high else None
