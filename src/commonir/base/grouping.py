"""Finds the parts of a block that belong together: modules by name, and layers that repeat.

A group is an interval of the operations in program order, so nothing outside of it is both behind and before it. Names
such as `/model/layers.0/mlp/MatMul` divide a block into nested groups; otherwise equal sequences of operations that
follow one another do. Source: tandem repeats; the sequence of types is compared with itself, shifted by each period.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from commonir.base.tuples import NamedTuple

_FEWEST = 40
"""Blocks of fewer operations have no groups."""
_SMALLEST = 4
_DEEPEST = 8
_SHORTEST_PERIOD, _MOST_PERIODS = 6, 4000
_NEARLY_ALL = 0.8
_COVERED = 0.25
"""The part of a block that repeated layers must be."""


class Interval(NamedTuple):
    """The operations from `start` up to `stop`, as a group with a name, and the groups in it."""

    start: int
    stop: int
    label: str
    inner: tuple[Interval, ...] = ()


def intervals(paths: Sequence[Sequence[str]], types: Sequence[str], live: Sequence[int]) -> tuple[Interval, ...]:
    """Returns the groups of a block, disjoint and in order.

    `paths` has the names of the modules around each operation, `types` its name, and `live` the number of values that
    are computed before it and used by it or later.
    """
    count = len(paths)
    if count < _FEWEST:
        return ()
    if sum([bool(path) for path in paths]) > count / 2:
        return tuple(_named(paths, 0, count, 0))
    return tuple(_repeated(types, live, 0, count))


def _named(paths: Sequence[Sequence[str]], start: int, stop: int, depth: int) -> Iterator[Interval]:
    """Yields the runs of operations in one module; one that is nearly all of its parent is not a group."""
    bounds = [start, *[n for n in range(start + 1, stop) if _at(paths[n], depth) != _at(paths[n - 1], depth)], stop]
    for a, b in pairwise(bounds):
        label = _at(paths[a], depth)
        if not label or depth >= _DEEPEST:
            continue
        if b - a > _NEARLY_ALL * (stop - start):
            yield from _named(paths, a, b, depth + 1)
        elif b - a >= _SMALLEST:
            yield Interval(a, b, label, tuple(_named(paths, a, b, depth + 1)))


def _at(path: Sequence[str], depth: int) -> str:
    return path[depth] if depth < len(path) else ""


def _repeated(types: Sequence[str], live: Sequence[int], start: int, stop: int) -> Iterator[Interval]:
    """Yields layers that repeat: the longest sequence of them, then those before and behind it."""
    found = _longest(types[start:stop])
    if found is None:
        return
    first, period, length = found
    if period * (length // period) < _COVERED * len(types):
        return
    # Layers begin where the fewest values cross their border.
    offsets = range(min(period, length - 2 * period + 1))
    crossing = [sum(live[start + first + at : start + first + length + 1 : period]) for at in offsets]
    offset = min(offsets, key=lambda at: (crossing[at] / ((length - at) // period + 1), at))
    begin, count = start + first + offset, (length - offset) // period
    yield from _repeated(types, live, start, begin)
    for n in range(count):
        yield Interval(begin + n * period, begin + (n + 1) * period, f"layer {n + 1} of {count}")
    yield from _repeated(types, live, begin + count * period, stop)


def _longest(types: Sequence[str]) -> tuple[int, int, int] | None:
    """Returns where the longest sequence of repeated layers begins, its period, and its length; None without any."""
    import numpy as np  # noqa: PLC0415  only programs with many operations need it

    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(t, len(numbers)) for t in types], np.int64)
    best: tuple[int, int, int] | None = None
    most = 0
    for period in range(_SHORTEST_PERIOD, min(len(codes) // 2, _MOST_PERIODS) + 1):
        differs = np.flatnonzero(codes[:-period] != codes[period:])
        ends = np.concatenate([[-1], differs, [len(codes) - period]])
        runs = np.diff(ends) - 1
        at = int(runs.argmax())
        length = int(runs[at]) + period
        covered = length // period * period
        layer = codes[ends[at] + 1 : ends[at] + 1 + period]
        # A layer of one or two operations over and over is none.
        if length >= 2 * period and covered > most * 1.05 and len(np.unique(layer)) > 2:
            best, most = (int(ends[at]) + 1, period, length), covered
    return best


def live_counts(uses: Sequence[tuple[int, int]], count: int) -> list[int]:
    """Returns the number of values that cross the border before each operation, from pairs of maker and last user."""
    steps = [0] * (count + 2)
    for maker, user in uses:
        steps[maker + 1] += 1
        steps[user + 1] -= 1
    return list(accumulate(steps))[: count + 1]
