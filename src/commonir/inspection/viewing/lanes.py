"""Draws a program of several ranks: a lane for each, with operations in the order that messages between them imply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import inf

from commonir.base.text import format_bytes, plural
from commonir.inspection.viewing.drawing import Drawing
from commonir.inspection.viewing.letters import shortened, tail_of, width_of
from commonir.inspection.viewing.rows import MAX_LANES, Rows, StepBox, lanes_shown, rows_of
from commonir.inspection.viewing.shapes import (
    Box,
    Curve,
    Group,
    Label,
    Polygon,
    Position,
    Ring,
    Segment,
    Shape,
    straight,
)
from commonir.inspection.viewing.styles import SMALL
from commonir.passes.timeline import Arrow, Point, RankStep, StepKind, Timeline

_MARGIN = 24
_PITCH, _HEIGHT = 52, 34
_GAP = _PITCH - _HEIGHT
_HEAD = 46
_MOST_LISTED = 16
"""Operations of a box that its tooltip lists one by one."""
_MOST_FOUND = 400
"""Operations of a box that a search finds besides."""

_CLASSES: Mapping[StepKind, str] = {
    StepKind.COMPUTES: "computes",
    StepKind.WAITS_FOR_SENDS: "computes",
    StepKind.SENDS: "sends",
    StepKind.RECEIVES: "receives",
    StepKind.EXCHANGES: "exchanges",
    StepKind.MEETS: "meets",
}


def draw_lanes(timeline: Timeline, name: str) -> Drawing:
    """Returns the drawing of the ranks of a program."""
    return _Drawing(timeline, name).draw()


class _Drawing:
    def __init__(self, timeline: Timeline, name: str) -> None:
        self._timeline = timeline
        self._name = name
        self._rows: Rows = rows_of(timeline)
        self._lanes = {lane.rank: lane for lane in timeline.lanes}
        self._shown = lanes_shown(timeline)
        few = len(self._shown) <= 8
        self._box = 190.0 if few else 160.0
        self._step = self._box + (110.0 if len(self._shown) <= 4 else 80.0 if few else 56.0)
        self._center = {rank: _MARGIN + self._box / 2 + n * self._step for n, rank in enumerate(self._shown)}
        self._by_point: dict[Point, list[Arrow]] = {}
        for arrow in timeline.arrows:
            for point in (arrow.source, arrow.target):
                if point is not None:
                    self._by_point.setdefault(point, []).append(arrow)
        self._alerts = tuple(self._find_alerts())
        self._left_out = tuple(self._find_left_out())
        self._first = _HEAD + 14.0

    def draw(self) -> Drawing:
        width = 2 * _MARGIN + (self._box + (len(self._shown) - 1) * self._step if self._shown else 0)
        last = self._rows.place(self._rows.total - 1) if self._rows.total else 0
        has_ends = any(box.is_stuck for box in self._rows.boxes)
        height = self._y(last) + _HEIGHT + (48.0 if has_ends else _MARGIN)
        shapes = [
            *self._lane_lines(height - _MARGIN),
            *self._gap(width),
            *self._meetings(),
            *[part for arrow in self._timeline.arrows for part in self._arrow(arrow)],
            *self._awaits(),
            *[self._drawn(box) for box in self._rows.boxes if box.rank in self._center],
            *self._ends(),
        ]
        heads, legend = tuple(self._heads(width)), dict(self._legend())
        reported = (self._name, self._summary(), self._alerts, self._left_out)
        return Drawing(width, height, tuple(shapes), heads, legend, *reported)

    # -- the text above

    def _summary(self) -> str:
        steps = sum(len(lane.steps) for lane in self._timeline.lanes)
        sizes = [arrow.size_bytes for arrow in self._timeline.arrows]
        known = format_bytes(sum(size or 0 for size in sizes))
        exchanged = [f"{plural(len(sizes), 'message')}, {known}"] if sizes else []
        exchanged += [f"{n:,} {kind}" for kind, n in Counter(map(self._kind_of, self._timeline.meetings)).items()]
        reported = [
            plural(self._timeline.world_size, "rank"),
            plural(steps, "operation"),
            *(exchanged or ["no messages"]),
        ]
        return " · ".join(reported)

    def _kind_of(self, together: Mapping[int, int]) -> str:
        """Returns the label of a step in which all ranks take part."""
        return next((self._lanes[rank].steps[step].title for rank, step in together.items()), "")

    def _find_alerts(self) -> Iterator[str]:
        cycle = self._timeline.cycle
        if cycle:
            waits = ", ".join(f"rank {a} for rank {b}" for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
            yield f"deadlock: these wait for each other forever: {waits}"
        stuck = sorted({box.rank for box in self._rows.boxes if box.is_stuck} - set(cycle))
        if stuck:
            verb = "waits" if len(stuck) == 1 else "wait"
            names = ", ".join(map(str, stuck[:_MOST_LISTED]))
            yield f"{'rank' if len(stuck) == 1 else 'ranks'} {names} {verb} forever"
        lost = sum(arrow.target is None for arrow in self._timeline.arrows)
        if lost:
            yield f"{plural(lost, 'message')} never received"

    def _find_left_out(self) -> Iterator[str]:
        rows, missing = self._rows, self._timeline.world_size - len(self._lanes)
        if missing:
            yield f"not there: {plural(missing, 'rank')}, taken to send what is received from them"
        if rows.longest > rows.alone:
            yield f"more than {plural(rows.alone, 'operation')} in a row that only compute are drawn as one box"
        if rows.resumes > rows.cut:
            hidden = sum(not self._is_shown(arrow) for arrow in self._timeline.arrows)
            steps = f"{plural(rows.hidden_steps, 'operation')} in {plural(rows.resumes - rows.cut, 'row')}"
            yield f"left out in the middle: {steps}, {plural(hidden, 'message')}"
        beyond = len({lane.rank for lane in self._timeline.lanes} - set(self._shown))
        if beyond:
            yield f"left out: {plural(beyond, 'rank')} beyond the first {MAX_LANES}, and their messages"

    def _is_shown(self, arrow: Arrow) -> bool:
        return any(box is not None for box in (self._box_of(arrow.source), self._box_of(arrow.target)))

    def _legend(self) -> Iterator[tuple[str, str]]:
        """Yields the styles of boxes and lines that the drawing has, with what they mean."""
        kinds = {_CLASSES[s.kind] for lane in self._timeline.lanes for s in lane.steps}
        for style in ("computes", "sends", "receives", "exchanges", "meets"):
            if style in kinds:
                yield style, {"exchanges": "receives and sends", "meets": "waits for all ranks"}.get(style, style)
        yield "idle", "waits"
        if any(box.is_stuck for box in self._rows.boxes):
            yield "await", "waits forever"
        if any(arrow.target is None for arrow in self._timeline.arrows):
            yield "lost", "never received"

    def _heads(self, width: float) -> Iterator[Shape]:
        yield Box("bar", -1, 0, width + 2, _HEAD)
        for rank, x in self._center.items():
            lane = self._lanes.get(rank)
            note = "not there" if lane is None else plural(len(lane.steps), "operation")
            yield Label("head", x, 20, f"rank {rank}", "middle")
            yield Label("sub", x, 36, note, "middle")

    # -- lanes

    def _y(self, place: float) -> float:
        """Returns the y coordinate of a row of the drawing."""
        return self._first + place * _PITCH

    def _top_of(self, box: StepBox) -> float:
        return self._y(self._rows.place(box.row))

    def _lane_lines(self, bottom: float) -> Iterator[Shape]:
        for rank, x in self._center.items():
            lane = self._lanes.get(rank)
            own = [box for box in self._rows.boxes if box.rank == rank]
            if lane is None:
                yield Segment("away", (x, self._first - 14), (x, bottom))
                continue
            end = self._first - 14
            for box in own:
                top = self._top_of(box)
                yield Segment("idle" if box.waits or box.is_stuck else "lane", (x, end), (x, top))
                end = top + _HEIGHT

    def _gap(self, width: float) -> Iterator[Shape]:
        rows = self._rows
        if rows.resumes == rows.cut:
            return
        top = self._y(rows.cut) + 6
        yield Box("gap", 0, top, width, _HEIGHT - 12)
        label = f"{plural(rows.resumes - rows.cut, 'row')} left out"
        yield Label("note", width / 2, top + 15, label, "middle")

    def _ends(self) -> Iterator[Shape]:
        """Yields the notes on blocked ranks, below their last boxes."""
        for box in self._rows.boxes:
            if not box.is_stuck or box.rank not in self._center:
                continue
            left = self._rows.unreached.get(box.rank, 0)
            notes = ["waits forever", *([f"{plural(left, 'operation')} not reached"] if left else [])]
            for n, note in enumerate(notes):
                y = self._top_of(box) + _HEIGHT + 15 + 14 * n
                yield Label("end", self._center[box.rank], y, note, "middle")

    # -- boxes

    def _drawn(self, box: StepBox) -> Shape:
        steps = self._lanes[box.rank].steps[box.first : box.last + 1]
        class_ = "stuck" if box.is_stuck else _CLASSES[steps[0].kind]
        x, top, room = self._center[box.rank] - self._box / 2, self._top_of(box), self._box - 14
        name, sub = self._labels(box, steps)
        if sub is None:
            sub = _named(steps[0], room)
        also = steps[_MOST_LISTED : _MOST_LISTED + _MOST_FOUND]
        return Group(
            "box",
            tuple(self._tooltip_lines(box, steps)),
            (
                Box(class_, x, top, self._box, _HEIGHT, 5),
                Label("name", x + 7, top + 14, shortened(name, 12, room)),
                Label("sub", x + 7, top + 27, shortened(sub, SMALL, room)),
            ),
            at=f"{box.rank}.{box.first}",
            also=" ".join([f"{step.title} {step.name}" for step in also]),
        )

    def _labels(self, box: StepBox, steps: Sequence[RankStep]) -> tuple[str, str | None]:
        """Returns the two lines of a box; None for the name of its operation and the type of its result."""
        step, arrows = steps[0], self._by_point.get(Point(box.rank, box.first), [])
        if len(steps) > 1 and step.kind in (StepKind.COMPUTES, StepKind.WAITS_FOR_SENDS):
            counts = Counter(s.title for s in steps).most_common()
            return plural(len(steps), "operation"), ", ".join(f"{n} {kind}" if n > 1 else kind for kind, n in counts)
        if step.kind in (StepKind.SENDS, StepKind.RECEIVES) and len(arrows) == 1:
            (arrow,) = arrows
            is_sent = step.kind is StepKind.SENDS
            other = f"→ rank {arrow.destination}" if is_sent else f"← rank {arrow.source.rank}"
            return f"{step.title} {other}", _message(arrow)
        if step.kind is StepKind.EXCHANGES and arrows:
            sizes = format_bytes(sum(arrow.size_bytes or 0 for arrow in arrows))
            return step.title, f"{plural(len(arrows), 'message')}, {sizes}"
        if box.is_stuck and (other := self._lanes[box.rank].waits_for) is not None:
            return f"{step.title} ← rank {other}", None
        return step.title, None

    def _tooltip_lines(self, box: StepBox, steps: Sequence[RankStep]) -> Iterator[str]:
        numbers = f"step {box.first}" if box.first == box.last else f"steps {box.first} to {box.last}"
        yield f"rank {box.rank}, {numbers} of {len(self._lanes[box.rank].steps)}"
        for step in steps[:_MOST_LISTED]:
            yield " ".join(filter(None, [step.title, _named(step)]))
        if len(steps) > _MOST_LISTED:
            yield f"and {len(steps) - _MOST_LISTED:,} more"
        for arrow in self._by_point.get(Point(box.rank, box.first), [])[:_MOST_LISTED]:
            yield f"rank {arrow.source.rank} → rank {arrow.destination}, {_message(arrow)}"
        if box.is_stuck:
            yield "waits forever"

    # -- messages

    def _box_of(self, point: Point | None) -> StepBox | None:
        box = None if point is None else self._rows.at.get(point)
        return box if box is not None and self._rows.is_shown(box.row) and box.rank in self._center else None

    def _meetings(self) -> Iterator[Shape]:
        for together in self._timeline.meetings:
            boxes = [box for r, n in together.items() if (box := self._box_of(Point(r, n))) is not None]
            rows = {box.row for box in boxes if not box.is_stuck}
            if len(boxes) > 1 and len(rows) == 1 and not any(box.is_stuck for box in boxes):
                y = self._top_of(boxes[0]) + _HEIGHT / 2
                ends = [self._center[box.rank] for box in boxes]
                yield Segment("meeting", (min(ends), y), (max(ends), y))

    def _arrow(self, arrow: Arrow) -> Iterator[Shape]:
        source, target = self._box_of(arrow.source), self._box_of(arrow.target)
        there, away = self._center.get(arrow.destination), self._center.get(arrow.source.rank)
        if there is None or away is None or (source is None and target is None):
            return
        sign = 1 if there > away else -1
        side, middle = sign * self._box / 2, _HEIGHT / 2
        begin = (away + side, self._top_of(source) + middle) if source else None
        end = (there - side, self._top_of(target) + middle) if target else None
        reported = (f"rank {arrow.source.rank} → rank {arrow.destination}", _message(arrow))
        lead: tuple[Position, ...] = ()
        tail: tuple[Position, ...] = ()
        if begin is None and end is not None:
            if arrow.source.step < 0:
                # A rank that is not there has a lane without boxes.
                begin = (away + side, end[1] - _PITCH)
                lead = ((away, begin[1]), (away, begin[1]), begin)
            else:
                begin = (end[0] - sign * 40, self._gap_top + _HEIGHT - 12)
        elif begin is not None and arrow.target is None:
            yield self._lost(begin, (there - side - sign * 14, begin[1] + _PITCH / 2), reported)
            return
        elif begin is not None and end is None:
            is_away = arrow.target is not None and arrow.target.step < 0
            end = (there - side, begin[1] + _PITCH) if is_away else (begin[0] + sign * 40, self._gap_top)
            tail = straight(end, (there, end[1])) if is_away else ()
        if begin is not None and end is not None:
            is_whole = bool(lead or tail or (source and target))
            line = self._route(begin, end, self._shown.index(arrow.source.rank)) if is_whole else _curve(begin, end)
            tip = _tip(begin, (there, end[1]) if tail else end)
            ends = (Point(arrow.source.rank, arrow.source.step), *([arrow.target] if arrow.target else []))
            joined = tuple([f"{point.rank}.{point.step}" for point in ends])
            yield Group("arrow", reported, (Curve("message", (*lead, *line, *tail)), tip), ends=joined)

    def _route(self, begin: Position, end: Position, lane: int) -> tuple[Position, ...]:
        """Returns a line beside the boxes: to the gap above its last row, along the gap, and into the box."""
        if abs(end[0] - begin[0]) < self._step:
            return _curve(begin, end)
        sign = 1 if end[0] > begin[0] else -1
        gutter = sign * (self._step - self._box)
        # Lines of different lanes lie side by side in the gap.
        height = end[1] - _HEIGHT / 2 - _GAP / 2 + (lane % 5 - 2) * 2.4
        first, last = (begin[0] + gutter, height), (end[0] - gutter, height)
        return (begin, *_bend(begin, first), *straight(first, last), *_bend(last, end))

    def _lost(self, begin: Position, end: Position, tooltip: tuple[str, ...]) -> Shape:
        """Returns a message that is not received: it ends in an open ring before the lane."""
        return Group("arrow", (*tooltip, "never received"), (Curve("lost", _curve(begin, end)), Ring("ring", end, 5)))

    @property
    def _gap_top(self) -> float:
        """The y coordinate of the gap for rows that are left out."""
        return self._y(self._rows.cut) + 6

    def _awaits(self) -> Iterator[Shape]:
        """Yields the lines between blocked ranks and those they wait for."""
        stuck = {box.rank: box for box in self._rows.boxes if box.is_stuck and box.rank in self._center}
        for rank, box in stuck.items():
            awaited = self._lanes[rank].waits_for
            if awaited is None or awaited not in self._center:
                continue
            sign = 1 if self._center[awaited] > self._center[rank] else -1
            begin = (self._center[rank] + sign * self._box / 2, self._top_of(box) + _HEIGHT / 2)
            other = stuck.get(awaited)
            height = begin[1] if other is None else self._top_of(other) + _HEIGHT / 2
            end = (self._center[awaited] - (sign * self._box / 2 if other is not None else 0), height)
            line = Curve("await", self._route(begin, end, rank))
            yield Group("arrow", (f"rank {rank} waits for rank {awaited}",), (line, _tip(begin, end, "point")))


def _message(arrow: Arrow) -> str:
    size = "" if arrow.size_bytes is None else format_bytes(arrow.size_bytes)
    return " · ".join(filter(None, ["" if arrow.tag is None else f"tag {arrow.tag}", size]))


def _named(step: RankStep, room: float = inf) -> str:
    """Returns the name of an operation and the type of its result; the name is shortened if needed."""
    kind = step.detail.removeprefix("tensor<").removesuffix(">") if step.detail.startswith("tensor<") else step.detail
    left = room - width_of(f" · {kind}" if kind else "", SMALL)
    return " · ".join(filter(None, [tail_of(step.name, SMALL, left), kind]))


def _bend(begin: Position, end: Position) -> tuple[Position, ...]:
    """Returns the points of a curve with horizontal ends, without its start point."""
    middle = (begin[0] + end[0]) / 2
    return (middle, begin[1]), (middle, end[1]), end


def _curve(begin: Position, end: Position) -> tuple[Position, ...]:
    return (begin, *_bend(begin, end))


def _tip(begin: Position, end: Position, style: str = "tip") -> Shape:
    (x, y), sign = end, 1 if end[0] >= begin[0] else -1
    return Polygon(style, (end, (x - 9 * sign, y - 4.5), (x - 9 * sign, y + 4.5)))
