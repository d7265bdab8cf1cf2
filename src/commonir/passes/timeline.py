"""The steps of each rank in program order, and their dependencies on steps of other ranks.

A timeline has no times: a receive comes after its send, and at a meeting all ranks continue together.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.module import Function
from commonir.ir.operation import Operation
from commonir.ods import Op, traits
from commonir.passes.traffic import size_bytes


class StepKind(Enum):
    """The role of a step for other ranks."""

    COMPUTES = "computes"
    SENDS = "sends"
    WAITS_FOR_SENDS = "waits until what was sent may change"
    RECEIVES = "receives"
    EXCHANGES = "receives and sends"
    MEETS = "waits for all ranks"


class RankStep(NamedTuple):
    """An operation: `title` is its name without dialect, `name` that in the file, `detail` the type of its result."""

    kind: StepKind
    title: str
    name: str = ""
    detail: str = ""


class Point(NamedTuple):
    """A step of a rank, by its number; -1 is any step of a missing rank."""

    rank: int
    step: int


class Arrow(NamedTuple):
    """A message. `target` is None when it is not received; `tag` is None for messages of all-reduces."""

    source: Point
    target: Point | None
    destination: int
    tag: int | None
    size_bytes: int | None


class Lane(NamedTuple):
    """The steps of one rank. `stops_at` is the step at which it waits forever, for the rank `waits_for`."""

    rank: int
    steps: tuple[RankStep, ...]
    stops_at: int | None = None
    waits_for: int | None = None


class Timeline(NamedTuple):
    """The ranks of a program, in order. `meetings` are the steps at which all of them continue together, by rank.

    `cycle` are ranks that wait for each other forever, each for the next one and the last for the first.
    """

    world_size: int
    lanes: tuple[Lane, ...]
    arrows: tuple[Arrow, ...]
    meetings: tuple[Mapping[int, int], ...]
    cycle: tuple[int, ...] = ()


def core_timeline(functions: Sequence[Function]) -> Timeline:
    """Returns the timeline of a core program: `functions` are those of its ranks.

    Operations in loops and conditions are part of the step of the loop or condition.
    """
    lanes = [_core_lane(function) for function in functions]
    declared = {lane.rank: core.rank_of(f) or (0, 1) for lane, f in zip(lanes, functions, strict=True)}
    sent: defaultdict[tuple[int, int, int], deque[tuple[Point, int | None]]] = defaultdict(deque)
    received: list[tuple[tuple[int, int, int], Point]] = []
    meetings: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for function, lane in zip(functions, lanes, strict=True):
        count = 0
        for n, op in enumerate(_steps(function)):
            match op:
                case core.Send(x=x, destination=destination, tag=tag):
                    sent[lane.rank, destination, tag].append((Point(lane.rank, n), size_bytes(x)))
                case core.Recv(source=source, tag=tag):
                    received.append(((source, lane.rank, tag), Point(lane.rank, n)))
                case core.AllReduce() | core.Barrier():
                    meetings[count][lane.rank] = n
                    count += 1
                case _:
                    pass
    arrows: list[Arrow] = []
    missing: dict[Point, int] = {}
    for key, point in received:
        if sent[key]:
            source, message_bytes = sent[key].popleft()
            arrows.append(Arrow(source, point, key[1], key[2], message_bytes))
        elif key[0] in declared:
            missing.setdefault(point, key[0])
    for (_, destination, tag), left in sent.items():
        arrows += [Arrow(source, None, destination, tag, message_bytes) for source, message_bytes in left]
    stopped = [_stopped(lane, missing) for lane in lanes]
    world_size = max((declared_size for _, declared_size in declared.values()), default=0)
    return Timeline(world_size, tuple(stopped), tuple(sorted(arrows, key=_arrow_key)), tuple(meetings.values()))


def _arrow_key(arrow: Arrow) -> tuple[int, int, int]:
    return arrow.source.rank, arrow.source.step, arrow.destination


def _stopped(lane: Lane, missing: Mapping[Point, int]) -> Lane:
    first = min((point.step for point in missing if point.rank == lane.rank), default=None)
    return lane if first is None else lane._replace(stops_at=first, waits_for=missing[Point(lane.rank, first)])


def _steps(function: Function) -> Iterator[Operation]:
    for op in function.body.operations:
        if not (isinstance(op, Op) and (op.has_trait(traits.ConstantLike) or op.has_trait(traits.Terminator))):
            yield op


_CORE_KINDS: Mapping[type[Operation], StepKind] = {
    core.Send: StepKind.SENDS,
    core.Recv: StepKind.RECEIVES,
    core.AllReduce: StepKind.MEETS,
    core.Barrier: StepKind.MEETS,
}


def _core_lane(function: Function) -> Lane:
    rank, _ = core.rank_of(function) or (0, 1)
    steps = [
        RankStep(
            _CORE_KINDS.get(type(op), StepKind.COMPUTES),
            op.name.partition(".")[2],
            op.results[0].name if op.results else "",
            str(op.results[0].type) if op.results else "",
        )
        for op in _steps(function)
    ]
    return Lane(rank, tuple(steps))
