"""Memory of a graph's intermediate tensors: one arena, in which tensors share memory if their lifetimes allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.tuples import NamedTuple

MAX_ELEMENTS = (1 << 31) - 1
"""Elements of a tensor in a graph, whose positions have 32 bits."""

ALIGNMENT = 64
"""Bytes that the first element of each tensor is aligned to: a line of the cache, and the widest vector."""


LARGE_PAGES = 1 << 22
"""Bytes from which on numpy asks for large pages for an array."""

PAGE_BYTES = 1 << 21
"""Bytes of a large page."""


class Lifetime(NamedTuple):
    """The steps in which a tensor is needed, from the one that computes it to the last one that reads it."""

    first: int
    last: int


class Arena(NamedTuple):
    """Where tensors lie in the arena, in bytes from its start, and how large it is."""

    offsets: Mapping[str, int]
    size_bytes: int


def arena_of(sizes: Mapping[str, int], lifetimes: Mapping[str, Lifetime]) -> Arena:
    """Returns an assignment of tensors, given by their bytes, to the first gap in which each fits."""
    order = sorted(sizes, key=lambda name: lifetimes[name].first)
    placed: list[tuple[int, int, str]] = []
    offsets: dict[str, int] = {}
    total = 0
    for name in order:
        size = (sizes[name] + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        placed = [p for p in placed if lifetimes[p[2]].last >= lifetimes[name].first]
        start = first_gap(placed, size)
        offsets[name] = start
        placed = sorted([*placed, (start, start + size, name)])
        total = max(total, start + size)
    return Arena(offsets, total)


def first_gap(placed: Sequence[tuple[int, int, object]], size: int) -> int:
    """Returns the first position where a size fits between tensors: starts and ends, in order."""
    at = 0
    for start, stop, _ in placed:
        if start - at >= size:
            return at
        at = max(at, stop)
    return at
