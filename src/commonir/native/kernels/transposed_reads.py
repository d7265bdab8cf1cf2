"""Reads across memory, as in transpositions: squares of elements are read along one axis and turned in registers.

What is computed from such reads alone is computed before it is turned, so that it is turned once.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import Function, LlvmValue
from commonir.notation import Access, Expr, children, free, walk
from commonir.runtime.kernel_graph.loop_kernel import Layouts, LoopKernel, read_of
from commonir.symbolic import linear_in, names


class TurnedExpressions(NamedTuple):
    """Expressions that only read across memory: reads stride along the last axis of the result, and are contiguous
    along another one. They are computed with vectors along that one, and turned.
    """

    expressions: tuple[Expr, ...]
    along: str
    last: str


def turned_expressions(kernel: LoopKernel, layouts: Layouts, lanes: int) -> TurnedExpressions | None:
    """Returns the largest expressions of a kernel that only read across memory; None if there are none, if the kernel
    has folds or reads positions from data, or if sizes are too small.
    """
    if not kernel.axes or kernel.steps[-1] != 1 or kernel.folds() or kernel.has_data_positions:
        return None
    last = kernel.axes[-1]
    extent = kernel.extents[last]
    if not isinstance(extent, int) or extent < 2:
        return None
    near: dict[Access, list[str]] = {}
    for a in kernel.accesses():
        read = read_of(a, layouts, kernel.extents)
        if a.dtype.kind != "bool" and linear_in(read.address, last)[0] not in (0, 1):
            guarded = {i for g in read.guards for i in names(g.position)}
            near[a] = [
                i
                for i in kernel.axes[:-1]
                if linear_in(read.address, i)[0] == 1
                and _has_vectors(kernel, i, lanes)
                and not guarded.intersection((i, last))
            ]
    axes = [i for of_read in near.values() for i in of_read]
    if not axes:
        return None
    along = max(reversed(kernel.axes[:-1]), key=axes.count)
    across = {a for a, of_read in near.items() if along in of_read}
    return TurnedExpressions(tuple(_largest_across(kernel.body, across, last)), along, last)


def _largest_across(body: Expr, across: Container[Access], last: str) -> list[Expr]:
    """Returns the largest parts of an expression in which all that depends on the last axis is read across memory."""
    out, pending, seen = list[Expr](), [body], set[Expr]()
    while pending:
        e = pending.pop()
        if e in seen:
            continue
        seen.add(e)
        reads = [x for x in walk(e) if isinstance(x, Access) and last in free(x)]
        if reads and e.dtype.kind != "bool" and all(x in across for x in reads):
            out.append(e)
        elif any(x in across for x in reads):
            pending += children(e)
    return out


def _has_vectors(kernel: LoopKernel, axis: str, lanes: int) -> bool:
    extent = kernel.extents[axis]
    return isinstance(extent, int) and extent >= lanes


def transposed(f: Function, rows: Sequence[LlvmValue]) -> list[LlvmValue]:
    """Returns the columns of a square of as many vectors as each has lanes, a power of two.

    Each stage interleaves the lanes of vectors that are half of the square apart.
    """
    count = len(rows)
    half = count // 2
    low = [lane for n in range(half) for lane in (n, count + n)]
    high = [lane + half for lane in low]
    stage = 1
    while stage < count:
        rows = [f.interleaved(rows[n], rows[n + half], order) for n in range(half) for order in (low, high)]
        stage *= 2
    return list(rows)
