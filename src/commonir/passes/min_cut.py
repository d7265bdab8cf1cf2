"""The cheapest separation of a graph into two sides.

Source: Ford and Fulkerson, Maximal flow through a network (1956), with shortest augmenting paths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from itertools import pairwise

UNLIMITED = 1 << 30
"""A cost that no separation pays."""


class MinCut:
    """Costs between nodes, which are paid when they come to different sides."""

    def __init__(self) -> None:
        self._left: dict[Hashable, dict[Hashable, int]] = {}
        self._first: dict[Hashable, int] = {}
        self._second: dict[Hashable, int] = {}

    def add_first(self, node: Hashable, cost: int) -> None:
        """Adds a cost of a node that is not on the first side."""
        self._first[node] = self._first.get(node, 0) + cost

    def add_second(self, node: Hashable, cost: int) -> None:
        """Adds a cost of a node that is not on the second side."""
        self._second[node] = self._second.get(node, 0) + cost

    def add(self, first: Hashable, second: Hashable, cost: int) -> None:
        """Adds a cost of one node on the first side and another one on the second side."""
        to = self._left.setdefault(first, {})
        to[second] = to.get(second, 0) + cost
        self._left.setdefault(second, {}).setdefault(first, 0)

    def first_side(self) -> tuple[set[Hashable], int]:
        """Returns the smallest first side that costs least, and how much less than no node on it that is."""
        dead: set[Hashable] = set()
        saved = 0
        for source, cost in self._first.items():
            remaining = cost
            while remaining and source not in dead:
                path, reached = self._path(source, dead)
                if path is None:
                    # What cannot reach the end now, never will.
                    dead |= reached
                    break
                remaining -= self._augment(path, remaining)
            saved += remaining
        return dead, saved

    def _path(self, source: Hashable, dead: set[Hashable]) -> tuple[list[Hashable] | None, set[Hashable]]:
        """Returns the shortest path from a node to one with a remaining cost of the second side."""
        before: dict[Hashable, Hashable | None] = {source: None}
        pending = deque([source])
        while pending:
            node = pending.popleft()
            if self._second.get(node, 0) > 0:
                path: list[Hashable] = []
                at: Hashable | None = node
                while at is not None:
                    path.append(at)
                    at = before[at]
                return path[::-1], set()
            for following, left in self._left.get(node, {}).items():
                if left > 0 and following not in before and following not in dead:
                    before[following] = node
                    pending.append(following)
        return None, set(before)

    def _augment(self, path: list[Hashable], most: int) -> int:
        steps = list(pairwise(path))
        flow = min(most, self._second[path[-1]], *[self._left[a][b] for a, b in steps])
        self._second[path[-1]] -= flow
        for a, b in steps:
            self._left[a][b] -= flow
            self._left[b][a] += flow
        return flow
