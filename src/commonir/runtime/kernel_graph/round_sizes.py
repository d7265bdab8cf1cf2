"""Sizes that change from round to round in a loop: symbols of its states, which get another value after each round.

A loop that appends to a state, as generated tokens to a sequence, has a symbol for the size in a round. What the next
round has there is an expression of the sizes in this one.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import symbols_of
from commonir.runtime.kernel_graph.building import NotAKernel, spec_of
from commonir.runtime.kernel_graph.control import RoundSize
from commonir.symbolic import Dim, plain_symbol, symbol, symbols


class LoopSizes(NamedTuple):
    """The symbols of a loop that change, and those that its results have, with their values after the last round."""

    changing: tuple[RoundSize, ...]
    results: tuple[tuple[str, Dim], ...]


def loop_sizes(op: core.While, given: Sequence[Value]) -> LoopSizes:
    """Returns the sizes that change in a loop whose body yields the `given` values.

    Raises: NotAKernel for types that change in another way, and for stacked slices whose sizes change.
    """
    count = len(op.initial)
    outside = set(symbols_of([v.type for v in (*op.initial, *_captured(op))]))
    changing: dict[str, RoundSize] = {}
    for block in (op.body.block, op.condition.block):
        for values in zip(op.initial, block.arguments, given[:count], strict=True):
            for first, here, following in _dims(op, *values):
                if not first == here == following:
                    _add(op, changing, outside, RoundSize(_symbol(op, here), first, following))
    results: dict[str, Dim] = {}
    for y, a in zip(op.ys, op.body.block.arguments, strict=False):
        for after, here in _dims(op, y, a):
            if after != here and results.setdefault(_symbol(op, after), here) != here:
                raise _differ(op)
    for y, v in zip(op.ys[count:], given[count:], strict=True):
        (rounds, *sizes), slice_sizes = spec_of(y).shape, spec_of(v).shape
        if tuple(sizes) != slice_sizes or any(s in changing for d in sizes for s in symbols(d)):
            raise NotAKernel(f"{op.name}: stacked slices whose sizes may change")
        name = _symbol(op, rounds)
        _add(op, changing, outside, RoundSize(name, 0, symbol(name, 0) + 1))
    if set(results) & (set(changing) | outside):
        raise _differ(op)
    return LoopSizes(tuple(changing.values()), tuple(results.items()))


def _add(op: core.While, changing: dict[str, RoundSize], outside: set[str], size: RoundSize) -> None:
    if size.symbol in outside or changing.setdefault(size.symbol, size) != size:
        raise _differ(op)


def _dims(op: core.While, *values: Value) -> list[tuple[Dim, ...]]:
    """Returns the sizes of values along each axis. Raises: NotAKernel when they differ in more than these."""
    specs = [spec_of(v) for v in values]
    if len({(spec.element, len(spec.shape)) for spec in specs}) > 1:
        raise _differ(op)
    return list(zip(*[spec.shape for spec in specs], strict=True))


def _symbol(op: core.While, dim: Dim) -> str:
    name = plain_symbol(dim)
    if name is None:
        raise _differ(op)
    return name


def _captured(op: core.While) -> list[Value]:
    """Returns the values from outside that regions of a loop read."""
    inside = {v for inner in op.walk() if inner is not op for v in inner.results}
    inside.update([a for inner in op.walk() for r in inner.regions for a in r.block.arguments])
    return [v for inner in op.walk() if inner is not op for v in inner.operands if v not in inside]


def _differ(op: core.While) -> NotAKernel:
    return NotAKernel(f"{op.name}: values whose types change")
