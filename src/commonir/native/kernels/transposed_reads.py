"""Reads across memory, as in transpositions: squares of elements are read along one axis and turned in registers."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import Function, LlvmValue
from commonir.notation import Access
from commonir.runtime.kernel_graph.loop_kernel import Layouts, LoopKernel, read_of
from commonir.symbolic import linear_in, names


class TransposedRead(NamedTuple):
    """A read that strides along the last axis of the result, and is contiguous along another one."""

    access: Access
    along: str
    last: str


def transposed_read(kernel: LoopKernel, layouts: Layouts, lanes: int) -> TransposedRead | None:
    """Returns the only read across memory of a kernel without folds; None if there is none, or sizes are too small."""
    if not kernel.axes or kernel.steps[-1] != 1 or kernel.folds():
        return None
    last, found = kernel.axes[-1], list[TransposedRead]()
    extent = kernel.extents[last]
    if not isinstance(extent, int) or extent < 2:
        return None
    for a in kernel.accesses():
        read = read_of(a, layouts, kernel.extents)
        if read.data:
            return None
        if linear_in(read.address, last)[0] in (0, 1):
            continue
        near = [i for i in kernel.axes[:-1] if linear_in(read.address, i)[0] == 1 and _has_vectors(kernel, i, lanes)]
        if (
            not near
            or a.dtype.kind == "bool"
            or any(i in names(g.position) for g in read.guards for i in (*near, last))
        ):
            return None
        found.append(TransposedRead(a, near[-1], last))
    return found[0] if len(found) == 1 else None


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
