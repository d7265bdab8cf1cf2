"""Where steps stand, against what messages and meetings force."""

from __future__ import annotations

import random
from itertools import pairwise

from commonir.inspection.viewing.rows import COMFORTABLE_ROWS, MAX_LANES, StepBox, lanes_shown, rows_of
from commonir.passes.timeline import Arrow, Lane, Point, RankStep, StepKind, Timeline

COMPUTES = RankStep(StepKind.COMPUTES, "Add")
SENDS, RECEIVES = RankStep(StepKind.SENDS, "Send"), RankStep(StepKind.RECEIVES, "Recv")
DONE, MEETS = RankStep(StepKind.WAITS_FOR_SENDS, "SendDone"), RankStep(StepKind.MEETS, "DeviceSync")


def _drawn(draw: random.Random) -> Timeline:
    """Ranks that do things in turn, so that no rank waits forever."""
    world = draw.randint(1, 5)
    steps: list[list[RankStep]] = [[] for _ in range(world)]
    arrows: list[Arrow] = []
    meetings: list[dict[int, int]] = []
    under_way: list[tuple[Point, int]] = []
    for _ in range(draw.randint(0, 60)):
        rank = draw.randrange(world)
        match draw.randrange(5):
            case 0 if world > 1:
                other_rank = draw.choice([n for n in range(world) if n != rank])
                under_way.append((Point(rank, len(steps[rank])), other_rank))
                steps[rank] += [SENDS, DONE] if draw.random() < 0.5 else [SENDS]
            case 1 if under_way:
                source, other_rank = under_way.pop(0)
                arrows.append(Arrow(source, Point(other_rank, len(steps[other_rank])), other_rank, 0, 4))
                steps[other_rank].append(RECEIVES)
            case 2 if world > 1:
                meetings.append({n: len(own) for n, own in enumerate(steps)})
                for own in steps:
                    own.append(MEETS)
            case _:
                steps[rank] += [COMPUTES] * draw.randint(1, 4)
    arrows += [Arrow(source, None, other_rank, 0, 4) for source, other_rank in under_way]
    lanes = tuple([Lane(n, tuple(own)) for n, own in enumerate(steps)])
    return Timeline(world, lanes, tuple(arrows), tuple(meetings))


def test_a_receive_stands_below_its_send_and_a_meeting_at_one_height() -> None:
    draw = random.Random(11)
    for _ in range(300):
        timeline = _drawn(draw)
        rows = rows_of(timeline)
        at = {point: box.row for point, box in rows.at.items()}
        assert len(at) == sum(len(lane.steps) for lane in timeline.lanes)
        for arrow in timeline.arrows:
            assert arrow.target is None or at[arrow.source] < at[arrow.target]
        for together in timeline.meetings:
            assert len({at[Point(rank, step)] for rank, step in together.items()}) == 1
        for lane in timeline.lanes:
            own = [rows.at[Point(lane.rank, n)] for n in range(len(lane.steps))]
            assert all(a is b or a.row < b.row for a, b in pairwise(own))
        assert not any(box.is_stuck for box in rows.boxes)


def test_rows_are_no_more_than_messages_force() -> None:
    lanes = (Lane(0, (COMPUTES, SENDS, COMPUTES)), Lane(1, (RECEIVES, COMPUTES)))
    rows = rows_of(Timeline(2, lanes, (Arrow(Point(0, 1), Point(1, 0), 1, 0, 4),), ()))
    assert rows.boxes == (
        StepBox(0, 0, 0, 0), StepBox(0, 1, 1, 1), StepBox(0, 2, 2, 2), StepBox(1, 0, 0, 2, waits=2),
        StepBox(1, 1, 1, 3),
    )  # fmt: skip


def test_waiting_for_the_end_of_a_send_is_part_of_it_where_it_follows() -> None:
    rows = rows_of(Timeline(1, (Lane(0, (SENDS, DONE, COMPUTES, DONE)),), (), ()))
    assert [(box.first, box.last) for box in rows.boxes] == [(0, 1), (2, 2), (3, 3)]


def test_long_runs_become_one_box_only_where_the_drawing_would_be_long() -> None:
    short = rows_of(Timeline(1, (Lane(0, (COMPUTES,) * COMFORTABLE_ROWS),), (), ()))
    assert (len(short.boxes), short.longest) == (COMFORTABLE_ROWS, 1)
    mixed = ((COMPUTES,) * 10 + (SENDS,)) * 20 + (COMPUTES,) * 3
    rows = rows_of(Timeline(1, (Lane(0, mixed),), (), ()))
    assert (rows.alone, rows.longest, rows.total) == (8, 10, 43)


def test_of_very_long_drawings_the_middle_is_left_out_and_counted() -> None:
    rows = rows_of(Timeline(1, (Lane(0, (COMPUTES, SENDS) * 1000),), (), ()))
    shown = sum(box.last - box.first + 1 for box in rows.boxes)
    assert (rows.total, rows.cut, rows.resumes) == (2000, 300, 1700)
    assert (shown, rows.hidden_steps) == (600, 1400)
    assert [rows.place(n) for n in (0, 299, 300, 1699, 1700, 1999)] == [0, 299, 300, 300, 301, 600]


def test_a_rank_that_waits_forever_stops_and_what_it_does_not_reach_is_counted() -> None:
    lanes = (Lane(0, (COMPUTES, RECEIVES, COMPUTES, COMPUTES), 1, 1), Lane(1, (RECEIVES,), 0, 0))
    rows = rows_of(Timeline(2, lanes, (), (), (0, 1)))
    assert [(box.rank, box.first, box.is_stuck) for box in rows.boxes] == [(0, 0, False), (1, 0, True), (0, 1, True)]
    assert rows.unreached == {0: 2, 1: 0}


def test_a_timeline_that_goes_round_in_a_cycle_ends() -> None:
    arrows = (Arrow(Point(0, 1), Point(1, 0), 1, 0, 4), Arrow(Point(1, 1), Point(0, 0), 0, 0, 4))
    rows = rows_of(Timeline(2, (Lane(0, (RECEIVES, SENDS)), Lane(1, (RECEIVES, SENDS))), arrows, ()))
    assert [(box.rank, box.first, box.is_stuck) for box in rows.boxes] == [(0, 0, True), (1, 0, True)]


def test_lanes_are_those_of_ranks_that_are_there_or_named_and_not_too_many() -> None:
    arrows = (Arrow(Point(0, 0), Point(3, -1), 3, 0, 4),)
    assert lanes_shown(Timeline(4, (Lane(0, (SENDS,)),), arrows, ())) == [0, 3]
    many = tuple([Lane(n, ()) for n in range(MAX_LANES + 5)])
    assert len(lanes_shown(Timeline(len(many), many, (), ()))) == MAX_LANES
