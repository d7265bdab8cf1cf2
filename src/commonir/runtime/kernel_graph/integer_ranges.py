"""Ranges of integers that follow from element types and constants, so that products take instructions for few bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.types import i32
from commonir.notation import Access, Apply, Cast, Const, Expr, free, limits
from commonir.runtime.kernel_graph.graph import KernelGraph

Array = NDArray[Any]

MOST_ELEMENTS = 1 << 16
"""Constants of more elements are not read for their range."""


class IntegerRange(NamedTuple):
    """The least and the largest value of a tensor. `is_shifted_byte` says that each is a byte minus the same number,
    so that any two, and any one and 0, are at most 255 apart.
    """

    low: int
    high: int
    is_shifted_byte: bool = False

    def is_within(self, other: IntegerRange) -> bool:
        """Returns whether all values are in another range."""
        return other.low <= self.low and self.high <= other.high


BYTES = IntegerRange(-(1 << 7), (1 << 7) - 1)

DIFFERENCES = IntegerRange(-255, 255)

SHORTS = IntegerRange(-(1 << 15), (1 << 15) - 1)

Ranges = Mapping[str, IntegerRange]


def integer_ranges(graph: KernelGraph) -> Ranges:
    """Returns the known ranges of constants of 32 bits, and those of nodes that are within 16 bits."""
    out: dict[str, IntegerRange] = {}
    for name, array in graph.constants.items():
        found = _range_of_array(array)
        if found is not None:
            out[name] = found
    for node in graph.nodes.values():
        if node.spec.element is i32 and not node.has_joins:
            found = range_of(node.kernel.body, out)
            if found is not None and found.is_within(SHORTS):
                out[node.name] = found._replace(is_shifted_byte=_is_shifted_byte(node.kernel.body))
    return out


def _range_of_array(array: Array) -> IntegerRange | None:
    """Returns the value of a small constant whose elements are equal, or the range of differences of bytes.

    Code depends on ranges, so they are not exact: layers share it.
    """
    if not 0 < array.size <= MOST_ELEMENTS or array.dtype.name not in ("int8", "uint8", "int32"):
        return None
    low, high = int(array.min()), int(array.max())
    known = IntegerRange(low, high)
    if low == high:
        return known
    return DIFFERENCES if array.dtype == np.int32 and known.is_within(DIFFERENCES) else None


def range_of(e: Expr, ranges: Ranges) -> IntegerRange | None:
    """Returns the range of an expression; None if it is not known."""
    match e:
        case Const(value=int(value)):
            return IntegerRange(value, value)
        case Cast(body=Access() as read) if e.dtype is i32 and read.tensor.name in ranges:
            return range_of(read, ranges)
        case Cast(body=body) if e.dtype is i32 and body.dtype.is_integer and body.dtype.bits <= 8:
            low, high = map(int, limits(body.dtype))
            return IntegerRange(low, high)
        case Access(tensor=tensor):
            found = ranges.get(tensor.name)
            if found is None or not tensor.steps:
                return found
            # A view may fill with zeros.
            return IntegerRange(min(found.low, 0), max(found.high, 0))
        case Apply(fn="subtract", args=(a, b)):
            left, right = range_of(a, ranges), range_of(b, ranges)
            if left is None or right is None:
                return None
            return IntegerRange(left.low - right.high, left.high - right.low)
        case _:
            return None


def _is_shifted_byte(e: Expr) -> bool:
    """Returns whether an expression is a byte, or one minus a number of its type that is the same everywhere."""
    if isinstance(e, Apply) and e.fn == "subtract":
        byte, number = e.args
        if free(number) or not isinstance(byte, Cast) or not byte.body.dtype.is_integer:
            return False
        low, high = map(int, limits(byte.body.dtype))
        is_one = isinstance(number, Cast) and number.body.dtype is byte.body.dtype
        is_inside = isinstance(number, Const) and isinstance(number.value, int) and low <= number.value <= high
        return (is_one or is_inside) and byte.body.dtype.bits == 8
    return isinstance(e, Cast) and e.body.dtype.is_integer and e.body.dtype.bits == 8
