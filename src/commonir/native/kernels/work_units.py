"""How the work of a kernel is divided: into units, numbered along its outermost loops, of which a call does a range.

A schedule states its number of units once, before its loops, and receives the range of those to do
(`WorkDivision.part`). It runs the loops that units are numbered by through `Units.loop`, the outermost first: each has
a number of rounds, and a number of units in each round. Loops inside of a unit are plain ones. The units of a kernel
may be done in any order and by any thread, so each writes elements of its own, or the same values as another one.

Threads do not appear here: how many units make a block that a thread takes is decided where kernels are called.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from math import prod

from commonir.llvm.llvm_ir import Function, LlvmValue
from commonir.notation import Access, Apply, Expr, Fold, children, free
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel
from commonir.symbolic import Dim

BLOCK_COST = 1 << 17
"""The cost of the least work that is worth a block of its own, some 2 microseconds."""

LOOP_COST = 8
"""The cost of an operation on an element in a loop: that of as many multiplications and additions of a contraction."""

STREAMED_COST = 4
"""The cost of a term of a product whose factor is read for it alone: memory is slower than multiplications."""

FUNCTION_COST = 48
"""The cost of an elementary function, such as an exponential."""

_ARITHMETIC = frozenset(
    {"add", "subtract", "multiply", "divide", "negative", "absolute", "maximum", "minimum", "select"}
)
"""Functions of few instructions; those that are not listed are elementary ones or rare."""

ENOUGH_UNITS = 64
"""Loops are divided into at least this many units of work, if they have as many rounds and vectors."""

ALL_UNITS = 1 << 62
"""The end of a range that has all units of any kernel."""

SYMBOLIC_EXTENT = 64
"""The size that costs are estimated for where it is not known."""


class Units:
    """The range of units that a function, or a round of a loop inside of it, does; all of them unless it is divided."""

    __slots__ = ("_f", "_first", "_last")

    def __init__(self, f: Function, first: LlvmValue | None = None, last: LlvmValue | None = None) -> None:
        self._f = f
        self._first = first
        self._last = last

    @property
    def is_whole(self) -> bool:
        """Whether all units are done, and nothing is known of them."""
        return self._first is None

    def range(self, count: LlvmValue) -> tuple[LlvmValue, LlvmValue]:
        """Returns the first unit and the one after the last, of so many units in all."""
        if self._first is None or self._last is None:
            return self._f.integer(0), count
        return self._first, self._last

    def split(self, at: LlvmValue) -> tuple[Units, Units]:
        """Returns the ranges of the units before a number and of the others, which are numbered from there."""
        f = self._f
        if self._first is None or self._last is None:
            return self, self
        first = f.intrinsic("smax", self._first - at, f.integer(0))
        return Units(f, self._first, f.intrinsic("smin", self._last, at)), Units(f, first, self._last - at)

    def scaled(self, factor: int) -> Units:
        """Returns the range in numbers of which a unit has so many."""
        if self._first is None or self._last is None:
            return self
        return Units(self._f, self._first * factor, self._last * factor)

    @contextmanager
    def if_any(self) -> Generator[None]:
        """Runs the body if there are units to do."""
        if self._first is None or self._last is None:
            yield
            return
        with self._f.when(self._first.compare("slt", self._last)):
            yield

    @contextmanager
    def loop(self, rounds: LlvmValue, units: LlvmValue) -> Generator[tuple[LlvmValue, Units]]:
        """Runs the body for the rounds that have some of the units, and yields the range of them in a round.

        Each round has the same number of units.
        """
        f = self._f
        if self._first is None or self._last is None:
            with f.loop(f.integer(0), rounds) as i:
                yield i, self
            return
        if units.number == 1:
            with f.loop(self._first, self._last) as i:
                yield i, Units(f)
            return
        each = units if units.number is not None else f.intrinsic("smax", units, f.integer(1))
        start = f.binary("sdiv", "sdiv", self._first, each)
        stop = f.binary("sdiv", "sdiv", self._last + (each - 1), each)
        with f.loop(start, stop) as i:
            before = i * units
            first = f.intrinsic("smax", self._first - before, f.integer(0))
            last = f.intrinsic("smin", self._last - before, units)
            yield i, Units(f, first, last)


class WorkDivision:
    """The units of a function in all, and the range of them that a call does.

    `is_divided` is false where all the work is too little for two blocks: then every call does all of it. A schedule
    that does some work again for each range of units sets `prepares`.
    """

    def __init__(self, first: LlvmValue, last: LlvmValue, *, is_divided: bool) -> None:
        self._first = first
        self._last = last
        self._is_divided = is_divided
        self._stated: Dim = 0
        self.prepares = False

    @property
    def units(self) -> Dim:
        """The number of units of all parts so far."""
        return self._stated if self._is_divided else 1

    def part(self, f: Function, units: Dim, size: Callable[[Dim], LlvmValue]) -> Units:
        """Returns the range of units to do in the next loops, which have so many; `size` gives the value of a size."""
        if not self._is_divided:
            return Units(f)
        before, self._stated = self._stated, self._stated + units
        first = f.intrinsic("smax", self._first - size(before), f.integer(0)) if before != 0 else self._first
        return Units(f, first, f.intrinsic("smin", self._last - size(before), size(units)))


def is_worth_dividing(cost: int) -> bool:
    """Returns whether work of a cost is worth two blocks."""
    return cost >= 2 * BLOCK_COST


def points_of(extents: Iterable[Dim]) -> int:
    """Returns the number of points in some ranges, with a guess for sizes that are not known."""
    return prod([n if isinstance(n, int) else SYMBOLIC_EXTENT for n in extents])


def axes_of_units(axes: tuple[str, ...], extents: Mapping[str, Dim]) -> tuple[str, ...]:
    """Returns the outermost axes whose rounds are units of work: as many as give enough of them."""
    n = 0
    while n < len(axes) and points_of([extents[a] for a in axes[:n]]) < ENOUGH_UNITS:
        n += 1
    return axes[:n]


def rounds_of_unit(kernel: LoopKernel, over: Sequence[str], last: str, step: int) -> int:
    """Returns the rounds that a unit has of the loop over the last axis, in steps; 0 where it has whole rows.

    A row is not divided where a fold is computed once for all of it.
    """
    rows = points_of([kernel.extents[a] for a in over])
    if rows >= ENOUGH_UNITS or any(last not in free(e) for e in kernel.folds()):
        return 0
    return max(1, points_of([kernel.extents[last]]) * rows // (ENOUGH_UNITS * step))


def term_cost_of(rows: Iterable[Dim]) -> int:
    """Returns the cost of a term of a product whose right factor is read for each of so many rows at once."""
    return max(1, STREAMED_COST // max(1, points_of(rows)))


def cost_of(kernel: LoopKernel, contractions: Container[Expr] = (), term_cost: int = 1) -> int:
    """Returns an estimate of the cost of a kernel, in multiplications and additions of a contraction.

    Every expression is computed once for each point of the indices that it depends on, except for contractions, whose
    terms have a cost of their own.
    """
    cost = LOOP_COST * points_of([kernel.extents[a] for a in kernel.axes])
    pending: list[Expr] = [kernel.body]
    seen: set[Expr] = set()
    while pending:
        e = pending.pop()
        if e in seen:
            continue
        seen.add(e)
        names = free(e.body) if isinstance(e, Fold) else free(e)
        points = points_of([kernel.extents[i] for i in dict.fromkeys(names)])
        cost += points * (term_cost if e in contractions else _cost_of_one(e))
        if e not in contractions:
            pending += children(e)
    return cost


def _cost_of_one(e: Expr) -> int:
    """Returns the cost of an expression for one point; reading is part of what reads."""
    match e:
        case Apply(fn=fn):
            return LOOP_COST if fn in _ARITHMETIC or e.dtype.kind != "float" else FUNCTION_COST
        case Access() | Fold():
            return LOOP_COST
        case _:
            return 0
