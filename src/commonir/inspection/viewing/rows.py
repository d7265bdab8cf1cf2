"""Assigns the steps of a timeline to rows: a receive is below its send, and a collective operation at one height.

Consecutive computing steps share a box if there are many, and the middle of very long drawings is left out, with the
number of its steps.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.passes.timeline import Lane, Point, StepKind, Timeline

COMFORTABLE_ROWS = 100
"""A figure of more rows has longer runs of steps in one box."""
MAX_ROWS = 600
MAX_BOXES = 4_000
MAX_LANES = 32
_MOST_ALONE = (1 << 30, 16, 8, 4, 2, 1)
"""How many steps in a row may be boxes of their own, in the order in which this is tried."""

_MERGED = frozenset({StepKind.COMPUTES, StepKind.WAITS_FOR_SENDS})
"""Kinds of steps that may share a box: other ranks do not take part in them."""


class StepBox(NamedTuple):
    """Consecutive steps of a rank in a row of the drawing.

    `waits` is the number of rows by which it is lower because it waits. `is_stuck`: it waits forever.
    """

    rank: int
    first: int
    last: int
    row: int
    waits: int = 0
    is_stuck: bool = False

    @property
    def size(self) -> int:
        """The number of its steps."""
        return self.last - self.first + 1


class Rows(NamedTuple):
    """All boxes of a drawing.

    Rows from `cut` to `resumes` are left out; both are `total` when none are. `alone` is the largest number of
    consecutive steps with boxes of their own, `longest` the largest number in one box. `hidden_steps` counts the steps
    in rows that are left out, `unreached` those that a rank does not reach, by rank.
    """

    boxes: tuple[StepBox, ...]
    at: Mapping[Point, StepBox]
    total: int
    cut: int
    resumes: int
    alone: int
    longest: int
    hidden_steps: int
    unreached: Mapping[int, int]

    def is_shown(self, row: int) -> bool:
        """Returns whether a row is drawn."""
        return row < self.cut or row >= self.resumes

    def place(self, row: int) -> int:
        """Returns the index of a row in the drawing, or that of the gap if it is left out."""
        if row < self.cut:
            return row
        return self.cut if row < self.resumes else row - self.resumes + self.cut + (self.resumes > self.cut)


def rows_of(timeline: Timeline) -> Rows:
    """Returns the rows of a timeline."""
    boxes, total, alone = _fitting(timeline)
    room = max(20, min(MAX_ROWS, MAX_BOXES // max(1, len(timeline.lanes))))
    cut, resumes = (total, total) if total <= room else (room // 2, total - (room - room // 2))
    shown = [box for box in boxes if box.row < cut or box.row >= resumes]
    lanes = {lane.rank: lane.steps for lane in timeline.lanes}
    reached = dict.fromkeys(lanes, 0)
    for box in boxes:
        reached[box.rank] = max(reached[box.rank], box.last + 1)
    runs = [box.size for box in boxes if lanes[box.rank][box.first].kind in _MERGED]
    return Rows(
        boxes=tuple(shown),
        at={Point(box.rank, step): box for box in boxes for step in range(box.first, box.last + 1)},
        total=total,
        cut=cut,
        resumes=resumes,
        alone=alone,
        longest=max(runs, default=0),
        hidden_steps=sum(box.size for box in boxes) - sum(box.size for box in shown),
        unreached={rank: len(steps) - reached[rank] for rank, steps in lanes.items()},
    )


def _fitting(timeline: Timeline) -> tuple[list[StepBox], int, int]:
    """Returns the boxes of a drawing that is not too long, its number of rows, and the longest run of separate
    boxes.
    """
    for alone in _MOST_ALONE:
        boxes = _Placing(timeline, alone).run()
        total = max((box.row for box in boxes), default=-1) + 1
        if total <= COMFORTABLE_ROWS or alone == _MOST_ALONE[-1]:
            return boxes, total, alone
    raise AssertionError("the last number is always taken")


def _runs(lane: Lane, alone: int) -> Iterator[tuple[int, int]]:
    """Yields the first and last steps of boxes: a step that communicates is separate, others form runs.

    A step that waits for a send directly before it is part of its box.
    """
    start = 0
    steps = lane.steps
    for n in range(len(steps) + 1):
        kind = steps[n].kind if n < len(steps) else None
        if kind in _MERGED:
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
    """Simulates all ranks, box by box."""

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
        self._out: list[StepBox] = []
        self._stuck: set[int] = set()

    def run(self) -> list[StepBox]:
        while self._ready:
            self._advance(self._ready.popleft())
        for rank in self._lanes:
            if self._at[rank] < len(self._boxes[rank]) and rank not in self._stuck:
                # Nothing says that it waits forever, but it does.
                self._place(rank, self._row[rank] + 1, is_stuck=True)
        return sorted(self._out, key=lambda box: (box.row, box.rank))

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
        """Lets all ranks of a collective operation continue; returns False if one of them has not reached it."""
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
        self._out.append(StepBox(rank, first, last, row, row - self._row[rank] - 1, is_stuck))
        self._row[rank] = row
        if is_stuck:
            self._stuck.add(rank)
            return
        self._at[rank] += 1
        for step in range(first, last + 1):
            self._done[Point(rank, step)] = row
            self._ready.extend(self._waiting.pop(Point(rank, step), ()))


def lanes_shown(timeline: Timeline) -> Sequence[int]:
    """Returns the ranks that have a lane: those of the program, and those that they communicate with."""
    named = {lane.rank for lane in timeline.lanes}
    for arrow in timeline.arrows:
        named.update((arrow.source.rank, arrow.destination))
    return sorted(named)[:MAX_LANES]
