"""Finds the operations of ranks, and the messages, that only dropped outputs need.

A message goes with both of its ends: a send is needed where what it sends is. An operation that exchanges more than one
tensor, or waits for all ranks, stays.
Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from types import MappingProxyType

from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.dialects.ark.views import Views, overlap
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Value
from commonir.passes.ark.messages import Communication, Key, Message, Put, Take, communicate

_SENDS = (ark.Send, ark.SendPacket)
_RECEIVES = (ark.Recv, ark.RecvPacket)


class Needless(NamedTuple):
    """The needless operations of a rank, and the tags that others have without their messages."""

    operations: frozenset[ark.ArkOp]
    tags: Mapping[Operation, Mapping[str, object]]


NOTHING_NEEDLESS = Needless(frozenset(), MappingProxyType({}))


def needless_operations(module: Module, remaining: Mapping[ark.Rank, Collection[Value]]) -> Mapping[ark.Rank, Needless]:
    """Returns the needless operations of ranks, for some outputs that remain.

    Other ranks keep everything, and what they exchange stays.
    """
    exchange = _Exchange(communicate(module), remaining)
    needed: dict[ark.Rank, set[ark.ArkOp]] = {}
    count = -1
    while count < len(exchange.wanted):
        count = len(exchange.wanted)
        for rank, outputs in remaining.items():
            needed[rank] = _needed(rank, outputs, exchange)
            exchange.want(needed[rank])
    gone = {rank: frozenset([op for op in _operations(rank) if op not in needed[rank]]) for rank in remaining}
    keys = exchange.keys_without({op for ops in gone.values() for op in ops})
    return {
        rank: Needless(ops, {op: tags for op in rank.body.operations if (tags := _tags(op, rank.rank, keys))})
        for rank, ops in gone.items()
    }


def _operations(rank: ark.Rank) -> list[ark.ArkOp]:
    return [op for op in rank.body.operations if isinstance(op, ark.ArkOp)]


class _Exchange:
    """The messages of ranks, of which some ranks may lose operations.

    `removable` are the operations that send or receive one message and may go with its other end. `wanted` are the
    sends that are needed.
    """

    def __init__(self, communication: Communication, ranks: Collection[ark.Rank]) -> None:
        events = [e for each in communication.events.values() for e in each if isinstance(e, Put | Take)]
        counts = Counter([event.op for event in events])
        self._messages = communication.messages
        self.removable: set[ark.ArkOp] = set()
        self.wanted: set[ark.ArkOp] = set()
        for message in self._messages:
            ends = message.put.op, message.take.op
            if _is_plain(message) and all(counts[op] == 1 and ark.rank_of(op) in ranks for op in ends):
                self.removable.update(ends)
        self._sends = {m.take.op: m.put.op for m in self._messages if m.take.op in self.removable}

    def want(self, needed: Collection[ark.ArkOp]) -> None:
        """Adds the sends of what needed operations receive."""
        self.wanted.update([self._sends[op] for op in needed if op in self._sends])

    def stays(self, op: ark.ArkOp) -> bool:
        """Returns whether an operation is needed for what it exchanges."""
        if isinstance(op, ark.SendDone) and isinstance(op.input.owner, ark.ArkOp):
            return self.stays(op.input.owner)
        if op in self.removable:
            return op in self.wanted
        return isinstance(op, ark.CommunicationOp)

    def keys_without(self, gone: Collection[ark.ArkOp]) -> frozenset[Key]:
        """Returns the keys of which no message is left without some operations."""
        left = {m.put.key for m in self._messages if m.take.op not in gone}
        return frozenset([m.put.key for m in self._messages if m.take.op in gone]) - left


def _is_plain(message: Message) -> bool:
    """Returns whether a message goes from one operation to one tensor, the one that its receiver names."""
    ends = isinstance(message.put.op, _SENDS) and isinstance(message.take.op, _RECEIVES)
    return ends and (message.landing is None or not message.landing.is_explicit)


def _needed(rank: ark.Rank, outputs: Collection[Value], exchange: _Exchange) -> set[ark.ArkOp]:
    """Returns the operations that outputs and needed messages of a rank need."""
    views = rank.views
    values = {*outputs}
    dropped = {*rank.outputs} - values
    read: defaultdict[int, Views] = defaultdict(Views)
    for value in outputs:
        read[views[value].buffer].add(views[value].view)
    out: set[ark.ArkOp] = set()
    for op in reversed(_operations(rank)):
        if isinstance(op, ark.Noop) and op.input in dropped:
            continue
        if op not in exchange.removable or op in exchange.wanted or isinstance(op, _RECEIVES):
            holders = [] if op.is_virtual else [views[v] for v in op.written_tensors if v in views]
        else:
            # What a needless send writes is in a buffer of another rank.
            holders = []
        is_used = any(v in values for v in op.results) and not isinstance(op, ark.SendDone | ark.Send | ark.SendPacket)
        if (
            exchange.stays(op)
            or not op.results
            or is_used
            or any(not h.is_local(rank.rank) for h in holders)
            or any(overlap(other, h.view) for h in holders for other in read[h.buffer].near(h.view))
        ):
            out.add(op)
            values.update(op.operands)
            for holder in [] if op.is_virtual else [views[v] for v in op.read_tensors if v in views]:
                read[holder.buffer].add(holder.view)
    return out


def _tags(op: Operation, own: int, gone: Collection[Key]) -> dict[str, object]:
    """Returns the tags of the buffer of a tensor without those of some messages, where they are others."""
    if not isinstance(op, ark.HoldsView) or not gone:
        return {}
    at = own if op.is_local(own) else op.buffer_rank

    def number(rank: int) -> int:
        return own if rank == ark.LOCAL else rank

    sent = tuple([(rank, tag) for rank, tag in op.send_tags if Key(at, number(rank), tag) not in gone])
    received = tuple([(rank, tag) for rank, tag in op.recv_tags if Key(number(rank), at, tag) not in gone])
    return {} if (sent, received) == (op.send_tags, op.recv_tags) else {"send_tags": sent, "recv_tags": received}
