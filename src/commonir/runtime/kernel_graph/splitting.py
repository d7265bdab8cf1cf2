"""Splits folds over many elements of values that have their channels last in memory.

The elements are first combined for each channel, over its positions, then over the channels of a group: vectors run
along channels, and fewer numbers are added to one another. A channel is a position on the axis that is last in memory.
Statistics of group, instance and layer normalization and global pools are such folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.notation import Access, Expr, Fold, Kernel, Tensor, free, put, replace, replace_accesses, rewrite, walk
from commonir.notation.digits import digits_of, with_digits
from commonir.runtime.kernel_graph.contraction import contraction_of
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, TensorSpec
from commonir.runtime.kernel_graph.layouts import preferred_last_axes
from commonir.runtime.kernel_graph.views import resolved
from commonir.symbolic import (
    Dim,
    DimExpr,
    floor_div,
    index,
    linear_in,
    modulo,
    names,
    substitute_indices,
    total,
    within,
)

FEW_POSITIONS = 64
"""Folds over fewer positions of a channel stay where they are."""


def split_folds(graph: KernelGraph) -> None:
    """Splits the folds over positions of channels in all nodes but contractions."""
    last = preferred_last_axes(graph)
    for node in list(graph.nodes.values()):
        if contraction_of(node, graph.constants) is None and any(name in last for name in node.reads):
            _split_folds_of(graph, node, last)


def _split_folds_of(graph: KernelGraph, node: KernelNode, last: Mapping[str, int]) -> None:
    skipped: set[Expr] = set()
    while True:
        # Inner folds first: those around them then read their results.
        folds = [e for e in walk(node.kernel.body) if isinstance(e, Fold) and e not in skipped]
        fold = next((e for e in reversed(folds) if not any(f in folds for f in _inside(e))), None)
        if fold is None:
            return
        if set(free(fold)) - set(_axes(node)) or not _Splitting(graph, node, fold, last).is_done():
            skipped.add(fold)


def _inside(fold: Fold) -> list[Expr]:
    return [e for e in walk(fold.body) if isinstance(e, Fold)]


def _axes(node: KernelNode) -> list[str]:
    return [name for a in node.kernel.axes for name in names(a)]


class _Channel(NamedTuple):
    """A position on an axis as digits: indices, longest step first, each with its extent and step."""

    digits: tuple[tuple[str, Dim, Dim], ...]
    size: Dim

    @property
    def indices(self) -> list[str]:
        """The names of the digits."""
        return [i for i, _, _ in self.digits]

    @property
    def position(self) -> Dim:
        """The position as an expression of the digits."""
        return total([index(i) * step for i, _, step in self.digits])

    def values(self, channel: str) -> dict[str, Dim]:
        """Returns the values of the indices at a channel."""
        return {i: modulo(floor_div(index(channel), step), extent) for i, extent, step in self.digits}


class _Splitting:
    """Replaces a fold of a node by a read of new nodes, or by a fold of one."""

    def __init__(self, graph: KernelGraph, node: KernelNode, fold: Fold, last: Mapping[str, int]) -> None:
        self._graph = graph
        self._node = node
        self._fold = fold
        self._last = last
        self._extents = dict(node.extents)

    def is_done(self) -> bool:
        """Splits the fold, if that is worth it; returns whether it did."""
        extents = self._extents
        body = replace_accesses(self._fold.body, lambda a: resolved(a, extents))
        over = self._fold.over
        digits = digits_of([p for a in _reads(body) for p in a.at if not isinstance(p, Expr)], extents)
        digits = {i: d for i, d in digits.items() if i in over}
        if digits:
            extents.update({name: extent for d in digits.values() for name, extent, _ in d})
            body = with_digits(body, digits, extents)
            over = tuple([name for i in over for name in ([n for n, _, _ in digits[i]] if i in digits else [i])])
        channel = _channel_of(body, extents, self._last)
        if channel is None:
            return False
        positions = tuple([i for i in over if i not in channel.indices])
        if not positions or _count([extents[i] for i in positions]) < FEW_POSITIONS:
            return False
        groups = tuple([i for i in over if i in channel.indices])
        # A result of few indices is computed once, not for each element of the node.
        is_statistic = any(i not in free(self._fold) and extents[i] != 1 for i in _axes(self._node))
        if not groups and not is_statistic:
            return False
        result = self._of_positions(body, positions, channel)
        if groups:
            result = Fold(self._fold.fn, groups, result)
            if is_statistic:
                result = self._new_node(result, [i for i in free(self._fold) if extents[i] != 1])
        self._replace(result)
        return True

    def _of_positions(self, body: Expr, positions: tuple[str, ...], channel: _Channel) -> Expr:
        """Returns a read of a new node, which combines the elements of each channel."""
        extents = self._extents
        others = [i for i in free(body) if i not in (*positions, *channel.indices) and extents[i] != 1]
        extents["channel"] = channel.size
        ones = {i: 0 for i in free(body) if i not in positions and extents[i] == 1}
        put_together = put(body, {**ones, **channel.values("channel")})
        of_channel = rewrite(put_together, lambda p: within(p, extents))
        read = self._new_node(Fold(self._fold.fn, positions, of_channel), [*others, "channel"])
        return put(read, {"channel": channel.position})

    def _new_node(self, body: Expr, axes: Sequence[str]) -> Access:
        """Returns a read of a new node at its own position."""
        used = {*axes, *[i for e in walk(body) if isinstance(e, Fold) for i in e.over]}
        names_left = (f"{self._node.name} part {n}" for n in count())
        name = next(n for n in names_left if n not in self._graph.nodes)
        spec = TensorSpec(tuple([self._extents[i] for i in axes]), body.dtype)
        body = put(body, {i: 0 for i in free(body) if i not in axes})
        kernel = Kernel(tuple(map(index, axes)), body)
        extents = {i: n for i, n in self._extents.items() if i in used}
        self._graph.add_before(self._node, KernelNode(name, kernel, extents, spec, self._node.origins))
        return Tensor(name, spec.shape, spec.element)[tuple(map(index, axes))]

    def _replace(self, result: Expr) -> None:
        node = self._node
        body = replace(node.kernel.body, {self._fold: result})
        used = {*_axes(node), *free(body), *[i for e in walk(body) if isinstance(e, Fold) for i in e.over]}
        extents = {i: n for i, n in self._extents.items() if i in used}
        self._graph.replace_kernel(node, Kernel(node.kernel.axes, body), extents)


def _count(dims: Sequence[Dim]) -> int:
    """Returns a number of points; sizes that are not known are long."""
    return prod([d if isinstance(d, int) else FEW_POSITIONS for d in dims])


def _reads(body: Expr) -> list[Access]:
    return [e for e in walk(body) if isinstance(e, Access)]


def _channel_of(body: Expr, extents: Mapping[str, Dim], last: Mapping[str, int]) -> _Channel | None:
    """Returns the channel that a fold reads; None if it reads no value along channels, or several channels."""
    found: set[_Channel | None] = set()
    for a in _reads(body):
        if a.tensor.name not in last:
            continue
        axis = last[a.tensor.name]
        position = a.at[axis]
        if a.tensor.steps or not isinstance(position, DimExpr):
            return None
        found.add(_as_digits(position, a.tensor.shape[axis], extents))
    return found.pop() if len(found) == 1 else None


def _as_digits(position: DimExpr, size: Dim, extents: Mapping[str, Dim]) -> _Channel | None:
    """Returns a position as digits; None if it does not reach every position of the axis exactly once."""
    steps: dict[str, int] = {}
    for i in names(position):
        step = linear_in(position, i)[0]
        if not isinstance(step, int) or step < 1:
            return None
        steps[i] = step
    if substitute_indices(position, dict.fromkeys(steps, 0)) != 0:
        return None
    expected: Dim = 1
    digits: list[tuple[str, Dim, Dim]] = []
    for i in sorted(steps, key=steps.__getitem__):
        if steps[i] != expected:
            return None
        digits.insert(0, (i, extents[i], steps[i]))
        expected = expected * extents[i]
    return _Channel(tuple(digits), size) if expected == size else None
