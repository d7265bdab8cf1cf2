"""Where the steps of a timeline stand below each other: a receive below its send, a meeting at one height.

Steps that compute and follow each other become one box where they would take too much room, and of pictures that are
still too long the middle is left out. What is left out is counted.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from commonir.passes.timeline import Lane, Point, StepKind, Timeline

COMFORTABLE_ROWS = 100
"""A picture of more rows has longer runs of steps in one box."""
MAX_ROWS = 600
MAX_BOXES = 4_000
MAX_LANES = 32
_MOST_ALONE = (1 << 30, 16, 8, 4, 2, 1)
"""How many steps in a row may be boxes of their own, in the order in which this is tried."""


class Box(NamedTuple):
    """Steps of a rank, from the first to the last, in a row of the picture.

    `waits` is how many rows it stands below the one before because it waits. `is_stuck`: it waits for ever.
    """

    rank: int
    first: int
    last: int
    row: int
    waits: int = 0
    is_stuck: bool = False


class Rows(NamedTuple):
    """All boxes of a picture. Rows from `cut` on are left out, up to `resumes`; both are `total` when none are.

    `alone` is how many steps in a row are boxes of their own at most; `hidden_steps` counts the steps in rows that
    are left out, `unreached` those that no rank comes to, by rank.
    """

    boxes: tuple[Box, ...]
    at: Mapping[Point, Box]
    total: int
    cut: int
    resumes: int
    alone: int
    longest: int
    hidden_steps: int
    unreached: Mapping[int, int]

    def is_shown(self, row: int) -> bool:
        """Whether a row is drawn."""
        return row < self.cut or row >= self.resumes

    def place(self, row: int) -> int:
        """The row of the picture that a row is, or that of the gap for one that is left out."""
        if row < self.cut:
            return row
        return self.cut if row < self.resumes else row - self.resumes + self.cut + (self.resumes > self.cut)


def rows_of(timeline: Timeline) -> Rows:
    """Where everything stands."""
    best: tuple[list[Box], int] = ([], 0)
    alone = 0
    for alone in _MOST_ALONE:
        boxes = _Placing(timeline, alone).run()
        count = max((box.row for box in boxes), default=-1) + 1
        best = boxes, count
        if count <= COMFORTABLE_ROWS:
            break
    boxes, count = best
    room = max(20, min(MAX_ROWS, MAX_BOXES // max(1, len(timeline.lanes))))
    cut, resumes = (count, count) if count <= room else (room // 2, count - (room - room // 2))
    kept = [box for box in boxes if box.row < cut or box.row >= resumes]
    at = {Point(box.rank, step): box for box in boxes for step in range(box.first, box.last + 1)}
    reached = {lane.rank: 0 for lane in timeline.lanes}
    for box in boxes:
        reached[box.rank] = max(reached[box.rank], box.last + 1)
    return Rows(
        tuple(kept),
        at,
        count,
        cut,
        resumes,
        alone,
        max((box.last - box.first + 1 for box in boxes), default=0),
        sum(box.last - box.first + 1 for box in boxes) - sum(box.last - box.first + 1 for box in kept),
        {lane.rank: len(lane.steps) - reached[lane.rank] for lane in timeline.lanes},
    )


def _runs(lane: Lane, alone: int) -> Iterator[tuple[int, int]]:
    """First and last steps of boxes: steps that communicate, each by itself, and runs of those that do not.

    What waits for a send that it follows is part of its box.
    """
    start = 0
    steps = lane.steps
    for n in range(len(steps) + 1):
        kind = steps[n].kind if n < len(steps) else None
        if kind in (StepKind.COMPUTES, StepKind.WAITS_FOR_SENDS):
            continue
        yield from _divided(start, n - 1, alone)
        if n == len(steps):
            return
        last = n
        while kind is StepKind.SENDS and last + 1 < len(steps) and steps[last + 1].kind is StepKind.WAITS_FOR_SENDS:
            last += 1
        yield n, last
        start = last + 1


def _divided(first: int, last: int, alone: int) -> Iterator[tuple[int, int]]:
    if last - first + 1 > alone:
        yield first, last
    else:
        yield from ((n, n) for n in range(first, last + 1))


class _Placing:
    """Lets all ranks run, box by box."""

    def __init__(self, timeline: Timeline, alone: int) -> None:
        self._lanes = {lane.rank: lane for lane in timeline.lanes}
        self._boxes = {lane.rank: list(_runs(lane, alone)) for lane in timeline.lanes}
        self._at = dict.fromkeys(self._lanes, 0)
        self._row = dict.fromkeys(self._lanes, -1)
        self._done: dict[Point, int] = {}
        self._sources: defaultdict[Point, list[Point]] = defaultdict(list)
        for arrow in timeline.arrows:
            if arrow.target is not None and arrow.source.step >= 0 and arrow.source.rank in self._lanes:
                self._sources[arrow.target].append(arrow.source)
        self._meeting = {Point(r, n): m for m in timeline.meetings for r, n in m.items()}
        self._waiting: defaultdict[Point, list[int]] = defaultdict(list)
        self._ready = deque(sorted(self._lanes))
        self._out: list[Box] = []

    def run(self) -> list[Box]:
        while self._ready:
            self._advance(self._ready.popleft())
        for rank, lane in self._lanes.items():
            if self._at[rank] < len(self._boxes[rank]) and not self._is_stuck(lane):
                # Nothing says that it waits for ever, but it does.
                self._place(rank, self._row[rank] + 1, is_stuck=True)
        return sorted(self._out, key=lambda box: (box.row, box.rank))

    def _is_stuck(self, lane: Lane) -> bool:
        return lane.stops_at is not None and any(b.is_stuck and b.rank == lane.rank for b in self._out)

    def _advance(self, rank: int) -> None:
        boxes = self._boxes[rank]
        while self._at[rank] < len(boxes):
            first, last = boxes[self._at[rank]]
            stops = self._lanes[rank].stops_at
            if stops is not None and first <= stops <= last:
                self._place(rank, self._row[rank] + 1, is_stuck=True)
                return
            sources = self._sources.get(Point(rank, first), ())
            awaited = next((source for source in sources if source not in self._done), None)
            if awaited is not None:
                self._waiting[awaited].append(rank)
                return
            together = self._meeting.get(Point(rank, first))
            if together is not None:
                if self._meet(together):
                    continue
                return
            row = max([self._row[rank], *[self._done[source] for source in sources]]) + 1
            self._place(rank, row)

    def _meet(self, together: Mapping[int, int]) -> bool:
        """Lets all ranks of a meeting go on; False as long as one of them has not come to it."""
        if any(self._next(rank) != step for rank, step in together.items()):
            return False
        row = max(self._row[rank] for rank in together) + 1
        for rank in together:
            self._place(rank, row)
            self._ready.append(rank)
        return True

    def _next(self, rank: int) -> int:
        boxes, at = self._boxes[rank], self._at[rank]
        return boxes[at][0] if at < len(boxes) else -1

    def _place(self, rank: int, row: int, *, is_stuck: bool = False) -> None:
        first, last = self._boxes[rank][self._at[rank]]
        self._out.append(Box(rank, first, last, row, row - self._row[rank] - 1, is_stuck))
        self._row[rank] = row
        self._at[rank] += not is_stuck
        for step in range(first, last + 1) if not is_stuck else ():
            self._done[Point(rank, step)] = row
            self._ready.extend(self._waiting.pop(Point(rank, step), ()))


def lanes_shown(timeline: Timeline) -> Sequence[int]:
    """The ranks that have a lane: those that are there, and those that they send to or receive from."""
    named = {lane.rank for lane in timeline.lanes}
    for arrow in timeline.arrows:
        named.update((arrow.source.rank, arrow.destination))
    return sorted(named)[:MAX_LANES]


__all__ = ["MAX_LANES", "Box", "Rows", "lanes_shown", "rows_of"]
