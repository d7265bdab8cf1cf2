"""The range of integers that an expression may have: where sums of products stay exact in floats, BLAS computes them.

How large integers may be follows from their types, from constants, and from what is computed from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType
from commonir.notation import Access, Apply, Cast, Const, Dilated, Expr, Fold, Padded
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.values import compute_dtype

Array = NDArray[Any]

EXACT = ((np.dtype(np.float32), 2**24), (np.dtype(np.float64), 2**53))
"""Float types, and the magnitude up to which they have all integers."""


class Interval(NamedTuple):
    """The integers from `low` to `high`."""

    low: int
    high: int

    @property
    def magnitude(self) -> int:
        """The largest absolute value."""
        return max(-self.low, self.high)

    def is_within(self, other: Interval) -> bool:
        """Returns whether all integers are in another range."""
        return other.low <= self.low and self.high <= other.high


class IntegerRanges:
    """The ranges of the integers of tensors, which are added in the order of computing them."""

    def __init__(self, constants: Mapping[str, Array]) -> None:
        self._constants = constants
        self._known: dict[str, Interval] = {}

    def add(self, name: str, body: Expr) -> None:
        """Finds the range of a tensor with the elements of an expression."""
        if body.dtype.is_integer:
            self._known[name] = self.of(body)

    def of(self, e: Expr) -> Interval:
        """Returns the range of an integer expression; that of its type where results may not fit it."""
        limits = _limits(e.dtype)
        result = self._found(e)
        return result if result is not None and result.is_within(limits) else limits

    def _found(self, e: Expr) -> Interval | None:
        """Returns the range of an expression as if integers had no limit; None if it is not known."""
        match e:
            case Const(value=int(v)):
                return Interval(v, v)
            case Access(tensor=t):
                source = self.of_tensor(t.name)
                fills = [v.fill if isinstance(v, Padded) else 0 for v, _ in t.steps if isinstance(v, Padded | Dilated)]
                numbers = [int(f) for f in fills if isinstance(f, int | float) and float(f).is_integer()]
                if source is None or len(numbers) < len(fills):
                    return None
                return Interval(min([source.low, *numbers]), max([source.high, *numbers]))
            case Cast(body=body) if body.dtype.is_integer:
                return self.of(body)
            case Apply(fn=fn, args=args) if all(a.dtype.is_integer for a in args):
                return _of_function(fn, [self.of(a) for a in args])
            case Apply(fn="select", args=(_, a, b)):
                return _union(self.of(a), self.of(b))
            case Fold(fn="maximum" | "minimum", body=body):
                return self.of(body)
            case _:
                return None

    def of_tensor(self, name: str) -> Interval | None:
        """Returns the range of a tensor that was added, or of a constant; None for others."""
        result = self._known.get(name)
        constant = self._constants.get(name)
        if result is None and constant is not None and constant.size and constant.dtype.kind in "iu":
            result = self._known[name] = Interval(int(constant.min()), int(constant.max()))
        return result

    def exact_dtype(self, factors: tuple[Expr, Expr], terms: int, dtype: np.dtype[Any]) -> np.dtype[Any] | None:
        """Returns the float type that has all partial sums of a product; None if none has, or integers overflow."""
        a, b = [self.of(f).magnitude for f in factors]
        sums = [a * b * terms]
        for factor, other in ((factors[0], b), (factors[1], a)):
            array = self._constants.get(factor.tensor.name) if isinstance(factor, Access) else None
            if array is not None and array.size and array.ndim == 2:
                # Which of both axes is summed is not asked: the larger sum bounds both.
                absolute = np.abs(array.astype(np.float64))
                sums.append(int(max(absolute.sum(0).max(), absolute.sum(1).max())) * other)
        bound = min(sums)
        fitting = [d for d, limit in EXACT if bound <= min(limit, np.iinfo(dtype).max)]
        return fitting[0] if fitting else None


def ranges_of(graph: KernelGraph) -> IntegerRanges:
    """Returns the ranges of the integers of a graph."""
    out = IntegerRanges(graph.constants)
    for node in graph.nodes.values():
        out.add(node.name, node.kernel.body)
    return out


def _limits(element: ElementType) -> Interval:
    dtype = compute_dtype(element)
    if dtype.kind == "b":
        return Interval(0, 1)
    limits = np.iinfo(dtype)
    return Interval(int(limits.min), int(limits.max))


def _union(a: Interval, b: Interval) -> Interval:
    return Interval(min(a.low, b.low), max(a.high, b.high))


def _of_function(fn: str, inputs: list[Interval]) -> Interval | None:
    """Returns the range of a function of integers; None for functions of which it is not known."""
    match fn, inputs:
        case "add", [a, b]:
            return Interval(a.low + b.low, a.high + b.high)
        case "subtract", [a, b]:
            return Interval(a.low - b.high, a.high - b.low)
        case "multiply", [a, b]:
            corners = [x * y for x in a for y in b]
            return Interval(min(corners), max(corners))
        case "maximum", [a, b]:
            return Interval(max(a.low, b.low), max(a.high, b.high))
        case "minimum", [a, b]:
            return Interval(min(a.low, b.low), min(a.high, b.high))
        case "negative", [a]:
            return Interval(-a.high, -a.low)
        case _:
            return None
