"""The steps of the ranks of an ARK program, and their waits. Source: ARK model files, execution rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from commonir.dialects import ark
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.passes.ark.messages import Communication, Meet, Put, Take, communicate, ranks_by_number
from commonir.passes.timeline import Arrow, Lane, Point, RankStep, StepKind, Timeline

_KINDS: Mapping[type[Operation], StepKind] = {
    ark.Send: StepKind.SENDS,
    ark.SendPacket: StepKind.SENDS,
    ark.SendDone: StepKind.WAITS_FOR_SENDS,
    ark.Recv: StepKind.RECEIVES,
    ark.RecvPacket: StepKind.RECEIVES,
    ark.RecvReduceSend: StepKind.EXCHANGES,
    ark.RecvReduceSendPacket: StepKind.EXCHANGES,
    ark.DeviceSync: StepKind.MEETS,
}


def timeline(module: Module) -> Timeline:
    """Returns the timeline of a program, without virtual operations; of several ranks with one number, that of the
    first.
    """
    ranks = ranks_by_number(module)
    communication = communicate(module)
    points: dict[Operation, Point] = {}
    for number, rank in ranks.items():
        points.update({op: Point(number, n) for n, op in enumerate(_running(rank))})
    lanes = [_lane(ranks[number], communication, points) for number in sorted(ranks)]
    return Timeline(
        max((rank.world_size for rank in ranks.values()), default=0),
        tuple(lanes),
        tuple(_arrows(communication, points)),
        tuple(_meetings(communication, points)),
        communication.cycle,
    )


def _running(rank: ark.Rank) -> Iterator[ark.ArkOp]:
    for op in rank.body.operations:
        if isinstance(op, ark.ArkOp) and not op.is_virtual:
            yield op


def _lane(rank: ark.Rank, communication: Communication, points: Mapping[Operation, Point]) -> Lane:
    steps = tuple([_step(op) for op in _running(rank)])
    blocked = communication.blocked.get(rank.rank)
    if blocked is None:
        return Lane(rank.rank, steps)
    waits_for = blocked.source if isinstance(blocked, Take) else None
    return Lane(rank.rank, steps, points[blocked.op].step, waits_for)


def _step(op: ark.ArkOp) -> RankStep:
    written = op.results[0] if op.results else None
    detail = "" if written is None else str(written.type)
    return RankStep(_KINDS.get(type(op), StepKind.COMPUTES), op.name.partition(".")[2], op.op_name, detail)


def _arrows(communication: Communication, points: Mapping[Operation, Point]) -> Iterator[Arrow]:
    """Yields messages in the order of receiving, then unreceived ones, and those of missing ranks."""
    for message in communication.messages:
        put, target = message.put, points[message.take.op]
        yield Arrow(points[put.op], target, put.destination, put.tag, ark.size_bytes(put.payload))
    for put in communication.unreceived:
        yield Arrow(points[put.op], None, put.destination, put.tag, ark.size_bytes(put.payload))
    present = communication.events
    for number, events in present.items():
        blocked = communication.blocked.get(number)
        for event in events:
            if event is blocked:
                break
            if isinstance(event, Put) and event.destination not in present:
                missing = Point(event.destination, -1)
                yield Arrow(points[event.op], missing, event.destination, event.tag, ark.size_bytes(event.payload))
            elif isinstance(event, Take) and event.source not in present:
                size_bytes = None if event.output is None else ark.size_bytes(event.output)
                yield Arrow(Point(event.source, -1), points[event.op], number, event.tag, size_bytes)


def _meetings(communication: Communication, points: Mapping[Operation, Point]) -> Iterator[Mapping[int, int]]:
    """Yields the steps of the k-th barrier of all ranks; a rank that does not reach it is left out."""
    met = [[points[e.op] for e in events if isinstance(e, Meet)] for events in communication.events.values()]
    for together in zip_longest(*met):
        yield {point.rank: point.step for point in together if point is not None}
