"""Groups elementwise steps on large arrays into runs that are computed block by block.

A pass over an array that exceeds the cache takes as long as moving it from and to memory. Steps that follow one another
and have equally many elements are therefore computed for one block after another, so that what a step reads is still
in the cache. This module decides which steps form a run and where blocks begin; it computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import lcm, prod
from typing import NamedTuple

from commonir.runtime.planner.array_graph import Constant, Map, Node, Shape, View, covers

LARGE_BYTES = 1 << 21
"""Arrays of fewer bytes stay in the cache between two steps."""

BLOCK_ELEMENTS = 1 << 15
"""Elements of a block: two or three arrays of it fit into the second-level cache."""

_MOST_STEPS = 1 << 12
"""Of a run with more steps, blocks are larger."""


class Piece(NamedTuple):
    """A part of an array: one index of each of the leading axes, and a range of the axis after them."""

    outer: tuple[int, ...]
    start: int
    stop: int

    def of(self, shape: Shape) -> tuple[int | slice, ...]:
        """Returns the index of the part of an array that is broadcast to the shape of the run's array."""
        if not shape:
            return ()
        leading = [0 if n == 1 else i for n, i in zip(shape, self.outer, strict=False)]
        return (*leading, slice(None) if shape[len(leading)] == 1 else slice(self.start, self.stop))


class Run:
    """Elementwise nodes that are computed block by block, in this order."""

    def __init__(self, first: Map) -> None:
        self.nodes: list[Map] = [first]
        self._granules = [_Granule(first.shape)]
        self._ids = {first.id}

    @property
    def last(self) -> Map:
        """The last node."""
        return self.nodes[-1]

    def accepts(self, node: Map) -> bool:
        """Returns whether a node can follow: it reads what the run computes element by element."""
        if node.size != self.last.size or not all(self.is_aligned(i) for i in node.inputs if _base(i).id in self._ids):
            return False
        granules = [*self._granules, _Granule(node.shape)]
        common = lcm(*[g.size for g in granules])
        return common <= BLOCK_ELEMENTS and all(g.boundary % common == 0 for g in granules)

    def add(self, node: Map) -> None:
        """Appends a node that the run accepts."""
        self.nodes.append(node)
        self._granules.append(_Granule(node.shape))
        self._ids.add(node.id)

    def is_aligned(self, node: Node) -> bool:
        """Returns whether the elements of a block of a node lie in the same block of its base."""
        return covers(node) and node.size == self.last.size

    def reads_aligned(self, base: Node) -> bool:
        """Returns whether all nodes that read a base do so element by element."""
        return all(self.is_aligned(i) for node in self.nodes for i in node.inputs if _base(i) is base)

    def blocks(self) -> Iterator[list[Piece]]:
        """Yields for each block the part of each node."""
        size, common = self.last.size, lcm(*[g.size for g in self._granules])
        most = max(BLOCK_ELEMENTS, size * len(self.nodes) // _MOST_STEPS)
        step = max(1, most // common) * common
        start = 0
        while start < size:
            ends = [(start // g.boundary + 1) * g.boundary for g in self._granules]
            stop = min(start + step, *ends)
            yield [g.piece(start, stop) for g in self._granules]
            start = stop


class _Granule:
    """How an array is cut: along the first axis whose slices are not larger than a block.

    Blocks are multiples of a slice (`size`) and do not cross a `boundary`. Units: elements.
    """

    __slots__ = ("_outer", "boundary", "size")

    def __init__(self, shape: Shape) -> None:
        axis = next((d for d in range(len(shape)) if prod(shape[d + 1 :]) <= BLOCK_ELEMENTS), 0)
        self._outer = shape[:axis]
        self.size = prod(shape[axis + 1 :])
        self.boundary = prod(shape[axis:])

    def piece(self, start: int, stop: int) -> Piece:
        """Returns the part from one element to another."""
        row, offset = divmod(start, self.boundary)
        outer: list[int] = []
        for n in reversed(self._outer):
            row, i = divmod(row, n)
            outer.insert(0, i)
        first = offset // self.size
        return Piece(tuple(outer), first, first + (stop - start) // self.size)


def runs_of(nodes: Sequence[Node]) -> list[Run]:
    """Returns the runs of at least two nodes in an order of evaluation."""
    found: list[Run] = []
    current: Run | None = None
    for node in nodes:
        if isinstance(node, (View, Constant)):
            continue
        if not isinstance(node, Map) or node.size_bytes < LARGE_BYTES or node.dtype.kind == "O":
            current = None
        elif current is not None and current.accepts(node):
            current.add(node)
        else:
            current = Run(node)
            found.append(current)
    return [run for run in found if len(run.nodes) > 1]


def _base(node: Node) -> Node:
    return node.inputs[0] if isinstance(node, View) else node
