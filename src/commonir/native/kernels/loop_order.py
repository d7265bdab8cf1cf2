"""The order of a kernel's loops: which axes are outside of the one that vectors run along, and which inside."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.ir.types import f32
from commonir.notation import Access, Apply, Expr, Fold, free, put, walk
from commonir.runtime.kernel_graph.loop_kernel import Layouts, LoopKernel, read_of, vector_axis
from commonir.symbolic import Dim, extreme, index, linear_in, names

UNROLLED_POINTS = 32
"""Folds over at most this many points, such as windows, have no loop where vectors run outside of them."""

ACCUMULATORS = 4
"""Partial results of a fold, so that one does not wait for the other."""

NEAR = 4096
"""Elements between neighbours on an axis up to which vectors may run outside of its loop, whose lines stay cached."""

_COSTLY = frozenset({"exp", "exp2", "tanh", "erf", "log", "sin", "cos"})

_CHEAP = frozenset({"add", "subtract", "multiply", "negative", "maximum", "minimum"})


class LoopOrder(NamedTuple):
    """Axes of the loops outside of vectors and inside of them; `last` is the axis of vectors, if there is one.

    `vectors` of them are computed together, and `points` of the innermost axis.
    """

    outer: tuple[str, ...]
    last: str | None
    inner: tuple[str, ...] = ()
    vectors: int = 1
    points: int = 1


class KeptElements(NamedTuple):
    """A fold whose elements are costly and needed again: the expression of one, and the kernel that stores them."""

    fold: Fold
    element: Expr
    kernel: LoopKernel


def kept_elements(kernel: LoopKernel, order: LoopOrder) -> KeptElements | None:
    """Returns a fold whose elements are those that the result is computed from, each at its own position.

    They are stored where the result is to be, and read back.
    """
    if order.last is None or kernel.body.dtype is not f32:
        return None
    for e in kernel.folds():
        if len(e.over) != 1 or not isinstance(e.body, Apply) or e.body.fn not in _COSTLY or e.dtype is not f32:
            continue
        k = e.over[0]
        for axis in set(kernel.axes) - set(free(e)):
            element = put(e.body, {k: index(axis)})
            everything = {*free(e), axis} == set(kernel.axes)
            if everything and kernel.extents[axis] == kernel.extents[k] and element in walk(kernel.body):
                axes = tuple([k if a == axis else a for a in kernel.axes])
                if _runs_before(e, axis, order, kernel):
                    return KeptElements(e, element, kernel._replace(axes=axes))
    return None


def _runs_before(e: Fold, axis: str, order: LoopOrder, kernel: LoopKernel) -> bool:
    """Returns whether a fold is computed outside of the loop over an axis, with vectors of what the result has."""
    if axis == order.last:
        return not order.inner
    return order.inner == (axis,) and order.last in free(e) and not is_small(e, kernel.extents)


def is_small(e: Fold, extents: Mapping[str, Dim]) -> bool:
    """Returns whether a fold is over few points, of a known number."""
    sizes = [extents[i] for i in e.over]
    counts = [n for n in sizes if isinstance(n, int)]
    return len(counts) == len(sizes) and prod(counts) <= UNROLLED_POINTS


def loop_order(kernel: LoopKernel, layouts: Layouts) -> LoopOrder:
    """Returns the order in which as little as possible is computed twice."""
    last = vector_axis(kernel, layouts)
    large = [e for e in kernel.folds() if not is_small(e, kernel.extents) and set(free(e)) <= set(kernel.axes)]
    # What a fold does not depend on is inside of the loops that it does depend on.
    axes = sorted(kernel.axes, key=lambda a: sum(a not in free(e) for e in large if a != last))
    if last is None:
        return LoopOrder(tuple(axes), None)
    axes.remove(last)
    along = [e for e in large if last in free(e)]
    if along:
        inner = tuple([a for a in axes if any(a not in free(e) for e in along)])
        return LoopOrder(tuple([a for a in axes if a not in inner]), last, inner, ACCUMULATORS)
    if axes and _reuses_windows(kernel, axes[-1], last):
        return LoopOrder(tuple(axes[:-1]), last, tuple(axes[-1:]), 1, ACCUMULATORS)
    if axes and _repeats(kernel, axes[-1], last, layouts):
        return LoopOrder(tuple(axes[:-1]), last, tuple(axes[-1:]), 2)
    return LoopOrder(tuple(axes), last)


def _reuses_windows(kernel: LoopKernel, axis: str, last: str) -> bool:
    """Returns whether windows along vectors overlap along an axis, or read weights that are the same."""
    for e in kernel.folds():
        if last not in free(e) or not is_small(e, kernel.extents):
            continue
        reads = [a for a in walk(e.body) if isinstance(a, Access) and last in free(a)]
        if any(axis not in free(a) for a in reads):
            return True
        positions = [names(p) for a in reads for p in a.at if not isinstance(p, Expr)]
        if any(axis in p and any(i in e.over for i in p) for p in positions):
            return True
    return False


def interior_of(kernel: LoopKernel, axis: str, layouts: Layouts) -> range | None:
    """Returns the positions on an axis where no window reaches outside of its tensor; None if they are not known."""
    extent = kernel.extents[axis]
    guards = [g for a in kernel.accesses() for g in read_of(a, layouts, kernel.extents).guards]
    guards = [g for g in guards if axis in names(g.position)]
    if not isinstance(extent, int) or not guards or kernel.has_data_positions:
        return None
    first, stop = 0, extent
    for g in guards:
        step, rest = linear_in(g.position, axis)
        low, high = extreme(rest, kernel.extents, upper=False), extreme(rest, kernel.extents, upper=True)
        if g.kind != "inside" or not isinstance(step, int) or step < 1:
            return None
        if not isinstance(low, int) or not isinstance(high, int) or not isinstance(g.bound, int):
            return None
        first, stop = max(first, -(low // step)), min(stop, (g.bound - 1 - high) // step + 1)
    return range(first, stop) if first < stop else None


def with_range(kernel: LoopKernel, axis: str, part: range) -> LoopKernel:
    """Returns the kernel for a part of an axis, counted from its start."""
    step = kernel.steps[kernel.axes.index(axis)]
    body = put(kernel.body, {axis: index(axis) + part.start})
    return kernel._replace(
        offset=kernel.offset + part.start * step, body=body, extents={**kernel.extents, axis: len(part)}
    )


def _repeats(kernel: LoopKernel, axis: str, last: str, layouts: Layouts) -> bool:
    """Returns whether vectors that take long to compute are the same along an axis of near neighbours."""
    step = kernel.steps[kernel.axes.index(axis)]
    if not isinstance(step, int) or step > NEAR:
        return False
    same = [e for e in walk(kernel.body) if last in free(e) and axis not in free(e)]
    return any(_takes_long(e, kernel, last, layouts) for e in same)


def _takes_long(e: Expr, kernel: LoopKernel, last: str, layouts: Layouts) -> bool:
    if isinstance(e, Access):
        read = read_of(e, layouts, kernel.extents)
        return bool(read.data) or bool(read.guards) or linear_in(read.address, last)[0] not in (0, 1)
    return isinstance(e, Apply) and e.fn not in _CHEAP
