"""Finds the messages that ranks of an ARK program exchange, by simulating communication without computing.

A message is identified by its source, destination and tag; equal ones arrive in the order of sending. A send does not
wait, a receive waits for its message, `DeviceSync` waits for all ranks. Ranks whose file is missing are assumed to send
all expected messages and to reach every `DeviceSync`. Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

from commonir.base.diagnostics import Code, Diagnostic
from commonir.base.file_codes import ARK_RANK, ARK_TAG
from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.dialects.ark.views import View
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Value
from commonir.passes.ark.views import view_of


class Key(NamedTuple):
    """The key of a message."""

    source: int
    destination: int
    tag: int


class Put(NamedTuple):
    """A rank sends a tensor to another one; `proxy` is the tensor that represents the destination buffer."""

    op: ark.ArkOp
    source: int
    destination: int
    tag: int
    payload: Value
    proxy: Value

    @property
    def key(self) -> Key:
        return Key(self.source, self.destination, self.tag)


class Take(NamedTuple):
    """A rank waits for a tensor of another one; `output` is where it expects it, None if it is only added."""

    op: ark.ArkOp
    source: int
    destination: int
    tag: int
    output: Value | None

    @property
    def key(self) -> Key:
        return Key(self.source, self.destination, self.tag)


class Meet(NamedTuple):
    """A rank waits for all others."""

    op: ark.ArkOp
    rank: int


Event = Put | Take | Meet


class Wrong(NamedTuple):
    """An error of an operation."""

    op: ark.ArkOp
    finding: Diagnostic


class Events(NamedTuple):
    """The messages of a rank in order, and the operations without a valid partner or tag."""

    events: tuple[Event, ...]
    faults: tuple[Wrong, ...]


class Landing(NamedTuple):
    """The view to which a message is written in the memory of the receiver."""

    view: View
    is_explicit: bool
    """Whether the rank that sends it says so: its view of the buffer is another one than that of what it sends."""


class Message(NamedTuple):
    """A sent and received tensor; `landing` is None if it is not written to memory."""

    put: Put
    take: Take
    landing: Landing | None


class Communication(NamedTuple):
    """The messages between the ranks of a program.

    `messages` are in the order of receiving. `blocked` are the operations at which ranks wait forever, `cycle` the
    ranks that wait for each other, each for the next one and the last for the first; it is empty when they wait for one
    that has ended. `unreceived` are the messages that no rank receives.
    """

    events: Mapping[int, tuple[Event, ...]]
    messages: tuple[Message, ...]
    blocked: Mapping[int, Take | Meet]
    cycle: tuple[int, ...]
    unreceived: tuple[Put, ...]
    faults: tuple[Wrong, ...]

    def taken_by(self) -> dict[Operation, list[Message]]:
        """Returns the messages that operations receive, by operation."""
        out: dict[Operation, list[Message]] = {}
        for message in self.messages:
            out.setdefault(message.take.op, []).append(message)
        return out


def events_of(rank: ark.Rank) -> Events:
    """Returns the messages of a rank in program order."""
    reading = _Reading(rank)
    events = tuple([event for op in rank.body.operations if isinstance(op, ark.ArkOp) for event in reading.of(op)])
    return Events(events, tuple(reading.faults))


class _Reading:
    """Reads the messages of operations from the buffers of their tensors."""

    def __init__(self, rank: ark.Rank) -> None:
        self.faults: list[Wrong] = []
        self._rank = rank
        self._rank_number = rank.rank

    def of(self, op: ark.ArkOp) -> Iterator[Event]:
        match op:
            case ark.Send():
                yield from self._put(op, op.input, op.output, self._sent_tags(op.input, op.output))
            case ark.SendPacket():
                yield from self._put(op, op.input, op.output, self._proxy_tags(op.output))
            case ark.Recv():
                source = _rank_of(op.input)
                tags = self._shared(self._mine(op.input, is_sent=True), _tags_for(op.output, source, is_sent=False))
                yield from self._take(op, source, tags, op.output)
            case ark.RecvPacket():
                source = _rank_of(op.input)
                yield from self._take(op, source, _tags_for(op.scratch, source, is_sent=False), op.output)
            case ark.RecvReduceSend() | ark.RecvReduceSendPacket():
                yield from self._reduce(op)
            case ark.DeviceSync():
                yield Meet(op, self._rank_number)
            case _:
                pass

    def _reduce(self, op: ark.RecvReduceSend | ark.RecvReduceSendPacket) -> Iterator[Event]:
        # An operation with more than seven other ranks breaks its own constraints, but a file may state any number.
        ranks = range(min(self._rank.world_size, ark.MAX_OTHER_RANKS + 1))
        others = [n for n in ranks if n != self._rank_number]
        for other in others:
            yield from self._take(op, other, _tags_for(op.scratch, other, is_sent=False), None)
        for proxy in op.proxies:
            yield from self._put(op, op.output, proxy, self._proxy_tags(proxy))

    def _put(self, op: ark.ArkOp, payload: Value, proxy: Value, tags: Sequence[int]) -> Iterator[Put]:
        destination = _rank_of(proxy)
        if self._is_valid_rank(op, destination):
            own = (
                f"[{destination}, TAG] in 'SendTags' of the buffer that is sent, and "
                if isinstance(op, ark.Send)
                else ""
            )
            help = f"put {own}[-1, TAG] in 'RecvTags' of its proxy"
            tag = self._only(op, tags, f"sent to rank {destination}", help)
            if tag is not None:
                yield Put(op, self._rank_number, destination, tag, payload, proxy)

    def _take(self, op: ark.ArkOp, source: int, tags: Sequence[int], output: Value | None) -> Iterator[Take]:
        if self._is_valid_rank(op, source):
            proxy = ", and [-1, TAG] in 'SendTags' of its proxy" if isinstance(op, ark.Recv) else ""
            help = f"put [{source}, TAG] in 'RecvTags' of the buffer that receives{proxy}"
            tag = self._only(op, tags, f"received from rank {source}", help)
            if tag is not None:
                yield Take(op, source, self._rank_number, tag, output)

    def _sent_tags(self, payload: Value, proxy: Value) -> Sequence[int]:
        return self._shared(self._proxy_tags(proxy), _tags_for(payload, _rank_of(proxy), is_sent=True))

    def _proxy_tags(self, proxy: Value) -> Sequence[int]:
        return self._mine(proxy, is_sent=False)

    def _mine(self, proxy: Value, *, is_sent: bool) -> Sequence[int]:
        """Returns the tags of a proxy for messages of this rank."""
        return sorted(
            {*_tags_for(proxy, ark.LOCAL, is_sent=is_sent), *_tags_for(proxy, self._rank_number, is_sent=is_sent)}
        )

    @staticmethod
    def _shared(first: Sequence[int], second: Sequence[int]) -> Sequence[int]:
        return [tag for tag in first if tag in second]

    def _is_valid_rank(self, op: ark.ArkOp, other: int) -> bool:
        if other in (self._rank_number, ark.LOCAL):
            own = self._rank_number
            message = f"{op.name}: the proxy must stand for a buffer of another rank, found one of this rank, {own}"
        elif not 0 <= other < self._rank.world_size:
            message = f"{op.name}: rank {other} does not exist, there are {self._rank.world_size}"
        else:
            return True
        self._add(op, ARK_RANK, message)
        return False

    def _only(self, op: ark.ArkOp, tags: Sequence[int], description: str, help: str) -> int | None:
        if len(tags) == 1:
            return tags[0]
        reason = f"has the tags {', '.join(map(str, tags))}, and one is needed" if tags else "has no tag on both sides"
        help = "give each message a tag of its own, or leave one of these" if tags else help
        self._add(op, ARK_TAG, f"{op.name}: what is {description} {reason}", help)
        return None

    def _add(self, op: ark.ArkOp, code: Code, message: str, help: str | None = None) -> None:
        self.faults.append(Wrong(op, Diagnostic(code, message, help=help)))


def _rank_of(proxy: Value) -> int:
    content = ark.view_of(proxy)
    return ark.LOCAL if content is None else content.buffer_rank


def _tags_for(value: Value, rank: int, *, is_sent: bool) -> Sequence[int]:
    """Returns the tags of the buffer of a tensor for messages to or from a rank."""
    content = ark.view_of(value)
    pairs = () if content is None else content.send_tags if is_sent else content.recv_tags
    return [tag for other, tag in pairs if other == rank]


def ranks_by_number(module: Module) -> dict[int, ark.Rank]:
    """Returns the ranks of a program; of several with one number, the first."""
    ranks: dict[int, ark.Rank] = {}
    for op in module.body.operations:
        if isinstance(op, ark.Rank):
            ranks.setdefault(op.rank, op)
    return ranks


def communicate(module: Module) -> Communication:
    """Returns the messages of all ranks. Takes the first of several ranks of one number."""
    return _Run(ranks_by_number(module)).run()


class _Run:
    """A simulation of all ranks."""

    def __init__(self, ranks: Mapping[int, ark.Rank]) -> None:
        read = {number: events_of(rank) for number, rank in ranks.items()}
        self._ranks = ranks
        self._events = {number: each.events for number, each in read.items()}
        self._found = tuple([wrong for each in read.values() for wrong in each.faults])
        self._at = dict.fromkeys(ranks, 0)
        self._sent: defaultdict[Key, deque[Put]] = defaultdict(deque)
        self._waiting: dict[Key, int] = {}
        self._meeting: set[int] = set()
        self._messages: list[Message] = []
        self._buffers = {number: _receiving(rank) for number, rank in ranks.items()}

    def run(self) -> Communication:
        ready = deque(sorted(self._ranks))
        while ready:
            self._advance(ready.popleft(), ready)
        blocked: dict[int, Take | Meet] = {}
        for number, events in self._events.items():
            event = events[self._at[number]] if self._at[number] < len(events) else None
            if event is not None and not isinstance(event, Put):
                blocked[number] = event
        unreceived = tuple([put for puts in self._sent.values() for put in puts])
        return Communication(
            self._events, tuple(self._messages), blocked, self._cycle(blocked), unreceived, self._found
        )

    def _advance(self, number: int, ready: deque[int]) -> None:
        """Runs a rank until it waits or ends; ranks that can then continue become ready."""
        events = self._events[number]
        while self._at[number] < len(events):
            event = events[self._at[number]]
            match event:
                case Put():
                    self._put(event, ready)
                case Take() if event.source in self._ranks:
                    if not self._sent[event.key]:
                        self._waiting[event.key] = number
                        return
                    put = self._sent[event.key].popleft()
                    self._messages.append(Message(put, event, self._landing(put, event)))
                case Take():
                    pass
                case Meet() if number not in self._meeting:
                    self._meeting.add(number)
                    if len(self._meeting) < len(self._ranks):
                        return
                    self._leave_meeting(number, ready)
                case Meet():
                    return
            self._at[number] += 1

    def _put(self, put: Put, ready: deque[int]) -> None:
        if put.destination not in self._ranks:
            return
        self._sent[put.key].append(put)
        waiting = self._waiting.pop(put.key, None)
        if waiting is not None:
            ready.append(waiting)

    def _leave_meeting(self, last: int, ready: deque[int]) -> None:
        """Lets all ranks that have met continue; the last one continues by itself."""
        for number in sorted(self._meeting - {last}):
            self._at[number] += 1
            ready.append(number)
        self._meeting.clear()

    def _landing(self, put: Put, take: Take) -> Landing | None:
        """Returns where a message lands: where the receiver expects it, unless the sender specifies it.

        A sender specifies it if its view of the destination buffer differs from that of the sent tensor.
        """
        if take.output is None:
            return None
        output_view = view_of(take.output)
        payload_view, proxy_view = view_of(put.payload), view_of(put.proxy)
        is_packet = isinstance(put.op, ark.SendPacket | ark.RecvReduceSendPacket) or isinstance(take.op, ark.RecvPacket)
        is_message = isinstance(put.op, ark.Send) and (payload_view.strides, payload_view.offsets) == (
            proxy_view.strides,
            proxy_view.offsets,
        )
        if is_packet or is_message:
            return Landing(output_view, is_explicit=False)
        content = self._buffers[take.destination].get((take.source, take.tag), ())
        buffer = output_view.buffer if output_view.buffer in content or len(content) != 1 else content[0]
        return Landing(proxy_view._replace(buffer=buffer), is_explicit=True)

    def _cycle(self, blocked: Mapping[int, Take | Meet]) -> tuple[int, ...]:
        """Returns ranks that wait for each other."""
        seen: set[int] = set()
        for start in sorted(blocked):
            path: list[int] = []
            current: int | None = start
            while current is not None and current not in seen:
                seen.add(current)
                path.append(current)
                current = self._waits_for(blocked[current], blocked)
            if current in path:
                return tuple(path[path.index(current) :])
        return ()

    def _waits_for(self, event: Take | Meet, blocked: Mapping[int, Take | Meet]) -> int | None:
        """Returns a rank that the event waits for and that waits itself; None if there is none."""
        if isinstance(event, Take):
            return event.source if event.source in blocked else None
        absent = [number for number in self._ranks if number not in self._meeting]
        return next((number for number in absent if number in blocked), None)


def _receiving(rank: ark.Rank) -> dict[tuple[int, int], list[int]]:
    """Returns the buffers of a rank that receive messages, by source and tag."""
    out: dict[tuple[int, int], list[int]] = {}
    for op in rank.body.operations:
        if isinstance(op, ark.HoldsView) and op.is_local(rank.rank):
            for pair in op.recv_tags:
                buffers = out.setdefault(pair, [])
                if op.buffer not in buffers:
                    buffers.append(op.buffer)
    return out
