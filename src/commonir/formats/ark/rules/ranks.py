"""Rules of all ranks of a program together: who they are, the tags of their buffers, and what they exchange.

Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from commonir.base.diagnostics import Code, Diagnostic
from commonir.base.file_codes import ARK_DEADLOCK, ARK_RANK, ARK_RANKS, ARK_TAG, ARK_TAG_ORDER, ARK_UNRECEIVED
from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.formats.ark.rules.faults import Fault, RankTensors, fault, field_of
from commonir.formats.ark.rules.messages import message_faults
from commonir.ir.module import Module
from commonir.passes.ark.messages import Communication, Key, Meet, Put, Take, Wrong, communicate


def identity_faults(ranks: Sequence[ark.Rank]) -> Iterator[Fault]:
    """Ranks of another number of ranks than the first, and of one number."""
    first = ranks[0]
    seen: dict[int, ark.Rank] = {}
    for rank in ranks:
        if rank.world_size != first.world_size:
            message = f"rank {rank.rank} is of {rank.world_size} ranks, but rank {first.rank} of {first.world_size}"
            yield _of_rank(rank, message, "WorldSize")
        if rank.rank in seen:
            yield _of_rank(rank, f"there are two files of rank {rank.rank}", "Rank")
        seen[rank.rank] = rank


def _of_rank(rank: ark.Rank, message: str, where: str) -> Fault:
    return Fault(rank, 0, Diagnostic(ARK_RANKS, message, where=where))


def communication_faults(module: Module, tensors: Mapping[int, RankTensors]) -> Iterator[Fault]:
    """Yields findings about the messages between ranks; `tensors` are those of each rank."""
    result = communicate(module)
    yield from [Fault(w.op, w.op.node, w.finding) for w in result.faults]
    # Errors of operations are not reported again for their buffers, except for tags of ranks that cannot be meant.
    reported = {(ark.view_of(v), c) for wrong in result.faults for v in wrong.op.operands for c in _covered(wrong)}
    tag_faults = [each for each in _Tags(tensors).faults() if (each.op, each.finding.code) not in reported]
    yield from tag_faults
    yield from message_faults(result, tensors)
    if tag_faults or result.faults:
        # Who waits for whom follows from tags.
        return
    yield from _waiting(result)
    for put in _lost(result):
        message = f"{put.op.name}: rank {put.destination} does not receive what is sent to it with tag {put.tag}"
        yield fault(put.op, ARK_UNRECEIVED, message)
    yield from _orders(result)


def _covered(wrong: Wrong) -> tuple[Code, ...]:
    """Returns the codes of findings about buffers that an error of an operation that names them makes superfluous."""
    return (ARK_TAG,) if wrong.finding.code is ARK_TAG else (ARK_TAG, ARK_RANK)


def _lost(communication: Communication) -> list[Put]:
    """Returns the messages that would not be received even if no rank waited forever."""
    expected = Counter([e.key for events in communication.events.values() for e in events if isinstance(e, Take)])
    expected.subtract([message.take.key for message in communication.messages])
    lost: list[Put] = []
    for put in communication.unreceived:
        expected[put.key] -= 1
        if expected[put.key] < 0:
            lost.append(put)
    return lost


class _Stated(NamedTuple):
    """Where a buffer states a tag."""

    holder: ark.HoldsView
    node: int
    field: str


class _Tags:
    """The tags that buffers of ranks state: messages by source, destination and tag."""

    def __init__(self, tensors: Mapping[int, RankTensors]) -> None:
        self._ranks = set(tensors)
        self._sent: dict[Key, _Stated] = {}
        self._received: dict[Key, _Stated] = {}
        # What the proxies of a receiver say does not make a buffer of it one that receives.
        self._expected: dict[Key, _Stated] = {}
        self._found: list[Fault] = []
        for each in tensors.values():
            nodes = each.nodes()
            seen: set[int] = set()
            for holder in each.holders:
                if holder.buffer not in seen and (holder.send_tags or holder.recv_tags):
                    seen.add(holder.buffer)
                    self._add(each, holder, nodes.get(holder, 0))

    def _add(self, tensors: RankTensors, holder: ark.HoldsView, node: int) -> None:
        rank, me = tensors.rank, tensors.rank.rank
        is_local = tensors.is_local(holder)
        for name, pairs in (("SendTags", holder.send_tags), ("RecvTags", holder.recv_tags)):
            seen: set[tuple[int, int]] = set()
            for n, (other, tag) in enumerate(pairs):
                declared = _Stated(holder, node, f"Buffer.{name}[{n}]")
                key = (ark.LOCAL if other == me else other, tag)
                if key in seen:
                    self._refuse(declared, ARK_TAG, f"buffer {holder.buffer} has [{other}, {tag}] twice in '{name}'")
                    continue
                seen.add(key)
                if is_local:
                    other_rank = other
                elif other in (ark.LOCAL, me):
                    other_rank = holder.buffer_rank
                else:
                    continue
                if other_rank in (ark.LOCAL, me) or not 0 <= other_rank < rank.world_size:
                    is_self = other_rank in (ark.LOCAL, me)
                    reason = "is the rank itself" if is_self else f"does not exist, there are {rank.world_size}"
                    message = f"rank {other_rank}, to which a tag of buffer {holder.buffer} belongs, {reason}"
                    self._refuse(declared, ARK_RANK, message)
                elif (name == "SendTags") is is_local:
                    self._sent.setdefault(Key(me, other_rank, tag), declared)
                elif is_local:
                    self._received.setdefault(Key(other_rank, me, tag), declared)
                else:
                    self._expected.setdefault(Key(other_rank, me, tag), declared)

    def _refuse(self, declared: _Stated, code: Code, message: str) -> None:
        place = field_of(declared.holder, declared.field)
        self._found.append(Fault(declared.holder, declared.node, Diagnostic(code, message, where=place)))

    def faults(self) -> Iterator[Fault]:
        """Tags that only one side states."""
        yield from self._found
        received = self._received | self._expected
        sides = ((self._sent, self._received, "RecvTags"), (received, self._sent, "SendTags"))
        for one, other, expected in sides:
            for key, declared in one.items():
                source, destination, tag = key
                if key in other or not {source, destination} <= self._ranks:
                    continue
                near, far = (source, destination) if expected == "RecvTags" else (destination, source)
                message = f"no buffer of rank {far} has [{near}, {tag}] in its '{expected}'"
                help = f"buffer {declared.holder.buffer} of rank {near} expects it: let both sides state one tag"
                place = field_of(declared.holder, declared.field)
                yield Fault(declared.holder, declared.node, Diagnostic(ARK_TAG, message, where=place, help=help))


def _place(event: Put | Take | Meet) -> str:
    """An operation as notes call it."""
    return f"node {ark.node_id_of(event.op)}, {event.op.name} '{event.op.op_name}'"


class _Waits:
    """The wait graph of a deadlock."""

    def __init__(self, communication: Communication) -> None:
        self.blocked = communication.blocked
        self._ranks = sorted(communication.events)

    def next_of(self, rank: int) -> int:
        """The rank that one waits for: one that waits itself, before one that has ended."""
        event = self.blocked[rank]
        if isinstance(event, Take):
            return event.source
        late = [n for n in self._ranks if not isinstance(self.blocked.get(n), Meet)]
        return next((n for n in late if n in self.blocked), late[0])

    def note(self, rank: int) -> str:
        """Where a rank waits, and for what."""
        event, other = self.blocked[rank], self.next_of(rank)
        if isinstance(event, Take):
            return f"rank {rank} waits at {_place(event)}, for rank {other} to send with tag {event.tag}"
        return f"rank {rank} waits at {_place(event)}, for rank {other} to come to its own"


def _waiting(communication: Communication) -> Iterator[Fault]:
    """A finding for each cycle of ranks that wait for each other, and for each rank that waits for one that has ended;
    notes list those that wait because of them.
    """
    waits = _Waits(communication)
    roots: dict[int, int] = {}
    cycles: dict[int, list[int]] = {}
    for start in sorted(waits.blocked):
        path: list[int] = []
        at = start
        while at in waits.blocked and at not in roots and at not in path:
            path.append(at)
            at = waits.next_of(at)
        if at in path:
            cycle = path[path.index(at) :]
            cycles[min(cycle)] = cycle
            root = min(cycle)
        else:
            root = roots.get(at, path[-1] if path else at)
        roots |= dict.fromkeys(path, root)
    for root in sorted(set(roots.values())):
        cycle = cycles.get(root, [root])
        behind = [rank for rank in sorted(roots) if roots[rank] == root and rank not in cycle]
        event = waits.blocked[root]
        if root in cycles:
            shown = " -> ".join([f"rank {n}" for n in (*cycle, cycle[0])])
            message = f"ranks wait for each other: {shown}"
        else:
            message = f"{event.op.name}: rank {root} waits forever, {_reason(event, waits.next_of(root))}"
        finding = Diagnostic(ARK_DEADLOCK, message, notes=[waits.note(n) for n in (*cycle, *behind)])
        yield Fault(event.op, event.op.node, finding)


def _reason(event: Take | Meet, other: int) -> str:
    if isinstance(event, Meet):
        return f"rank {other} ends without coming to it"
    if isinstance(event.op, ark.RecvReduceSend | ark.RecvReduceSendPacket):
        return f"rank {other} sends no part of the sum with tag {event.tag}"
    return f"rank {other} ends without sending with tag {event.tag}"


def _orders(communication: Communication) -> Iterator[Fault]:
    """Pairs of ranks whose messages are received in another order than they are sent."""
    sent: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    taken: defaultdict[tuple[int, int], list[Take]] = defaultdict(list)
    for events in communication.events.values():
        for event in events:
            # Packets have a flag that marks their arrival.
            if isinstance(event, Put) and isinstance(event.op, ark.Send):
                sent[event.source, event.destination].append(event.tag)
            elif isinstance(event, Take) and isinstance(event.op, ark.Recv):
                taken[event.source, event.destination].append(event)
    for (source, destination), takes in taken.items():
        tags = sent[source, destination]
        if sorted(tags) != sorted([take.tag for take in takes]):
            continue
        wrong = next(((take, tag) for take, tag in zip(takes, tags, strict=True) if take.tag != tag), None)
        if wrong is not None:
            take, tag = wrong
            message = f"{take.op.name}: receives tag {take.tag} of rank {source}, which has sent tag {tag} before"
            yield fault(take.op, ARK_TAG_ORDER, f"{message} (rank {destination})")
