"""Elements put where data says, and elements in order, as kernels of index notation that look at all pairs.

There is no order among the points of an iteration space: each element of a result looks for what belongs to it, which
takes the square of a length. For targets that compute kernels, each in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.conversions.operands import dims_of, element_of
from commonir.dialects import core
from commonir.dialects.core.base import axis_of
from commonir.dialects.core.indexing import from_start
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean
from commonir.notation import Expr, Index, Kernel, Tensor, call, fold, identity, index, indices, lift, select, total
from commonir.rewrite.legalize import Mismatch, Result
from commonir.symbolic import Dim, element_count

_NOWHERE = -(2**31)
"""A position that no axis has, also when it counts from the end."""


class AllPairs(NamedTuple):
    """How a target computes kernels, and the integers that positions are there."""

    compute: Callable[[Kernel, Mapping[str, Value]], Value]
    kind: ElementType

    def scattered_elements(self, op: core.ScatterElements, x: Value, positions: Value, updates: Value) -> Result:
        """Each element looks along the axis of positions for those that are its own."""
        shape = dims_of(op.x)
        if 0 in dims_of(op.positions):
            return x
        axis = axis_of(op.axis, len(shape))
        positions = self._widened(self._as_positions(positions), shape, axis, _NOWHERE)
        updates = self._widened(updates, shape, axis, 0)
        xs, ps, us = traced("x", x), traced("positions", positions), traced("updates", updates)
        s, k = indices("s", len(shape)), index("k")
        place = (*s[:axis], k, *s[axis + 1 :])
        is_own = call("equal", from_start(ps[place], shape[axis]), lift(s[axis], self.kind))

        def update(at: Expr) -> Expr:
            return us[(*s[:axis], at, *s[axis + 1 :])]

        body = self._combined(op.reduction, xs[s], is_own, us[place], k, update)
        return self.compute(body.by(*s), {"x": x, "positions": positions, "updates": updates})

    def scattered_rows(self, op: core.ScatterNd, x: Value, positions: Value, updates: Value) -> Result:
        """Each element looks among all rows of positions for those that are its own."""
        shape = dims_of(op.x)
        *lead, depth = dims_of(op.positions)
        count = element_count(lead)
        if not isinstance(depth, int):
            return Mismatch("the number of positions in a row is not known before running")
        if count == 0:
            return x
        positions = core.reshape(self._as_positions(positions), (count, depth))
        updates = core.reshape(updates, (count, *shape[depth:]))
        xs, ps, us = traced("x", x), traced("positions", positions), traced("updates", updates)
        s, k = indices("s", len(shape)), index("k")
        is_own: Expr = lift(True, boolean)
        for d in range(depth):
            is_own = is_own & call("equal", from_start(ps[(k, d)], shape[d]), lift(s[d], self.kind))

        def update(at: Expr) -> Expr:
            return us[(at, *s[depth:])]

        body = self._combined(op.reduction, xs[s], is_own, us[(k, *s[depth:])], k, update)
        operands = {"x": x, "positions": positions, "updates": updates}
        return self.compute(body.by(*s).where({k: count}), operands)

    def order(self, x: Value, axis: int, count: Dim, *, descending: bool) -> Value:
        """The positions of the elements that come first along an axis."""
        ranks = self._ranks(x, axis, descending=descending)
        t = traced("ranks", ranks)
        s, i = indices("s", t.rank), index("i")
        is_here = call("equal", t[(*s[:axis], i, *s[axis + 1 :])], lift(s[axis], self.kind))
        body = total(i, select(is_here, lift(i, self.kind), lift(0, self.kind)))
        return self.compute(body.by(*s).where({s[axis]: count}), {"ranks": ranks})

    def taken(self, x: Value, order: Value, axis: int) -> Value:
        """The elements at positions along an axis."""
        t, o = traced("x", x), traced("order", order)
        s = indices("s", t.rank)
        return self.compute(t[(*s[:axis], o[s], *s[axis + 1 :])].by(*s), {"x": x, "order": order})

    def _as_positions(self, positions: Value) -> Value:
        return positions if element_of(positions) is self.kind else core.cast(positions, self.kind)

    def _widened(self, x: Value, shape: Sequence[Dim], axis: int, fill: float) -> Value:
        """A tensor continued to a shape along all axes but one."""
        own = dims_of(x)
        after = [0 if a == axis else n - m for a, (n, m) in enumerate(zip(shape, own, strict=True))]
        if all(n == 0 for n in after):
            return x
        t = traced("x", x)
        number = False if t.dtype is boolean else fill
        at = indices("i", t.rank)
        return self.compute(t.padded((0,) * t.rank, after, "constant", number)[at].by(*at), {"x": x})

    def _combined(
        self, how: core.Reduction, old: Expr, is_own: Expr, update: Expr, over: Index, at: Callable[[Expr], Expr]
    ) -> Expr:
        """An element and its updates: in the place of it the last one, or all of them combined with it."""
        nowhere, first = lift(-1, self.kind), lift(0, self.kind)
        last = fold("maximum", over, select(is_own, lift(over, self.kind), nowhere))

        def folded(fn: str) -> Expr:
            nothing = lift(identity(fn, update.dtype), update.dtype)
            return fold(fn, over, select(is_own, update, nothing))

        match how:
            case core.Reduction.NONE:
                return select(call("greater_equal", last, first), at(call("maximum", last, first)), old)
            case core.Reduction.ADD:
                return old + folded("add")
            case core.Reduction.SUB:
                return old - folded("add")
            case core.Reduction.MUL:
                return old * folded("multiply")
            case core.Reduction.DIV:
                return call("divide" if old.dtype.is_float else "truncated_divide", old, folded("multiply"))
            case core.Reduction.MAX:
                return call("maximum", old, folded("maximum"))
            case core.Reduction.MIN:
                return call("minimum", old, folded("minimum"))

    def _ranks(self, x: Value, axis: int, *, descending: bool) -> Value:
        """How many elements along an axis come before each one."""
        t = traced("x", x)
        s, j = indices("s", t.rank), index("j")
        mine, other = t[s], t[(*s[:axis], j, *s[axis + 1 :])]
        is_earlier = call("less", lift(j, self.kind), lift(s[axis], self.kind))
        goes_before = comes_first(mine, other, is_earlier, descending=descending)
        body = total(j, select(goes_before, lift(1, self.kind), lift(0, self.kind)))
        return self.compute(body.by(*s), {"x": x})


def traced(name: str, value: Value) -> Tensor:
    """A tensor for a kernel."""
    return Tensor(name, dims_of(value), element_of(value))


def comes_first(mine: Expr, other: Expr, is_earlier: Expr, *, descending: bool) -> Expr:
    """Whether another element comes before one; of equal ones the earlier does. NaN is larger than every number."""
    larger, smaller = (other, mine) if descending else (mine, other)
    is_before: Expr = call("greater", larger, smaller)
    is_equal: Expr = call("equal", mine, other)
    if mine.dtype.is_float:
        nan, other_nan = call("is_nan", larger), call("is_nan", smaller)
        is_before = is_before | (nan & ~other_nan)
        is_equal = is_equal | (nan & other_nan)
    return is_before | (is_equal & is_earlier)
