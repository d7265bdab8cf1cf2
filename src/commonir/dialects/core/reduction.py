"""Core operations that combine the elements of axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from commonir.dialects.core.base import (
    FLOATS,
    NUMBERS,
    REALS,
    CoreOp,
    accumulator,
    axes_of,
    axis_of,
    function,
    tensor_type,
)
from commonir.ir.operation import Value
from commonir.notation import Expr, Indices, Kernel, Tensor, cast, fold, identity, lift, select, total
from commonir.ods import attr_types, attribute, known_dims, operand, result, traits
from commonir.symbolic import Dim, element_count, index, largest, smallest


class Reduce(CoreOp, traits=(traits.Pure,)):
    """Elements along some axes combined into one; without axes, all of them. C1: axes are distinct."""

    fn: ClassVar[str] = ""
    x: Value = operand("T[s*]")
    axes: tuple[int, ...] = attribute(attr_types.integers, default=())
    keep_dims: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T[*]")
    T = NUMBERS

    def folded(self, s: Indices) -> tuple[Indices, list[Dim]]:
        """The indices to fold over and the axes of the result."""
        axes = axes_of(self.axes or range(len(s)), len(s))
        kept: list[Dim] = [1 if n in axes else i for n, i in enumerate(s) if self.keep_dims or n not in axes]
        return tuple([s[a] for a in axes]), kept

    def reference(self, x: Tensor, *, s: Indices) -> Kernel:
        over, kept = self.folded(s)
        wide = accumulator(x.dtype) if self.fn in ("add", "multiply") else x.dtype
        return cast(fold(self.fn, over, cast(x[s], wide)), x.dtype).by(*kept)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        """Shape arithmetic: the whole of a known vector."""
        known, combine = known_dims(self.x), _DIM_FOLDS.get(self.fn)
        if not known or combine is None or tensor_type(self.x).rank != 1:
            return None
        return (combine(known),)


_DIM_FOLDS: dict[str, Callable[[tuple[Dim, ...]], Dim]] = {
    "add": lambda known: sum(known[1:], known[0]),
    "multiply": element_count,
    "maximum": lambda known: largest(*known),
    "minimum": lambda known: smallest(*known),
}


class ReduceSum(Reduce, name="core.reduce_sum"):
    """Sum of the elements over some axes. C1: axes are distinct."""

    fn = "add"


class ReduceProd(Reduce, name="core.reduce_prod"):
    """Product of the elements over some axes. C1: axes are distinct."""

    fn = "multiply"


class ReduceMax(Reduce, name="core.reduce_max"):
    """Largest element over some axes; NaN if any is NaN. C1: axes are distinct."""

    fn = "maximum"
    T = REALS


class ReduceMin(Reduce, name="core.reduce_min"):
    """Smallest element over some axes; NaN if any is NaN. C1: axes are distinct."""

    fn = "minimum"
    T = REALS


class ReduceMean(Reduce, name="core.reduce_mean"):
    """Mean over some axes; NaN if there are no elements. C1: axes are distinct."""

    fn = "add"
    T = FLOATS

    def reference(self, x: Tensor, *, s: Indices) -> Kernel:
        over, kept = self.folded(s)
        count = element_count([x.shape[a] for a in axes_of(self.axes or range(len(s)), len(s))])
        wide = accumulator(x.dtype)
        return cast(total(over, cast(x[s], wide)) / lift(count, wide), x.dtype).by(*kept)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return None


class Cumulative(CoreOp, traits=(traits.Pure,)):
    """The elements up to each position along an axis combined into one.

    `exclusive` leaves the element itself out; `reverse` combines from the end.
    """

    fn: ClassVar[str] = ""
    x: Value = operand("T[s*]")
    axis: int = attribute(attr_types.integer)
    exclusive: bool = attribute(attr_types.flag, default=False)
    reverse: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T[s*]")
    T = NUMBERS

    def reference(self, x: Tensor, *, s: Indices) -> Expr:
        a = axis_of(self.axis, len(s))
        k = index("k")
        here, there = lift(s[a]), lift(k)
        first, last = (here, there) if self.reverse else (there, here)
        counts = first < last if self.exclusive else first <= last
        wide = accumulator(x.dtype)
        element = cast(x[(*s[:a], k, *s[a + 1 :])], wide)
        return cast(fold(self.fn, k, select(counts, element, lift(identity(self.fn, wide), wide))), x.dtype)


class CumSum(Cumulative, name="core.cumsum"):
    """Cumulative sum along an axis: the sum of the elements up to each position.

    `exclusive` leaves the element itself out; `reverse` sums from the end.
    """

    fn = "add"


class CumProd(Cumulative, name="core.cumprod"):
    """Cumulative product along an axis: the product of the elements up to each position.

    `exclusive` leaves the element itself out; `reverse` multiplies from the end.
    """

    fn = "multiply"


reduce_sum = function(ReduceSum)
reduce_prod = function(ReduceProd)
reduce_max = function(ReduceMax)
reduce_min = function(ReduceMin)
reduce_mean = function(ReduceMean)
cumsum = function(CumSum)
cumprod = function(CumProd)
