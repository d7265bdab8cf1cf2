"""Reports the memory of the ranks of an ARK program: bytes and lifetimes of buffers, and how much shared memory would
suffice.

ARK allocates each buffer for the whole run. The plan lets buffers share memory that are not live at the same time.
Inputs, weights, and zeros that are read are live from the first step to the last, because the next run reads them too;
outputs are live until the end; other ranks may write to a buffer from the first step on; a sent buffer is live until
`SendDone`. Source: ARK model files, memory model and execution rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.dialects import ark
from commonir.passes.ark.messages import Communication
from commonir.passes.ark.views import buffer_bytes, view_of
from commonir.passes.ark.written_parts import WrittenParts
from commonir.passes.share_memory import Lifetime, peak_of, share_memory
from commonir.reports import BufferEntry, RankSummary

_ALIGNMENT = max(element.bits // 8 for element in ark.DATA_TYPES.values())


def memory_of(rank: ark.Rank, communication: Communication) -> RankSummary:
    """Returns the bytes and lifetimes of the buffers of a rank, without buffers of other ranks."""
    uses = _Uses(rank, communication)
    sizes_bytes = buffer_bytes(uses.views)
    spans = {buffer: uses.lifetime(buffer) for buffer in sorted(sizes_bytes)}
    lifetimes = {buffer: Lifetime(sizes_bytes[buffer], *span) for buffer, span in spans.items() if span is not None}
    offsets = dict(zip(lifetimes, share_memory(list(lifetimes.values()), _ALIGNMENT), strict=True))
    peak, at = peak_of(list(lifetimes.values()))
    return RankSummary(
        rank=rank.rank,
        name=rank.sym_name,
        size_bytes=sum(sizes_bytes.values()),
        peak_bytes=peak,
        peak_operation=uses.labels[at] if uses.labels else "",
        reused_bytes=max((offsets[buffer] + sizes_bytes[buffer] for buffer in lifetimes), default=0),
        buffers=tuple([uses.entry(b, sizes_bytes[b], span, offsets.get(b)) for b, span in spans.items()]),
    )


class _Uses:
    """The uses of buffers by the operations of a rank.

    `labels` are the names of the operations, in order; `views` are those of local buffers.
    """

    def __init__(self, rank: ark.Rank, communication: Communication) -> None:
        self.labels: list[str] = []
        self._rank = rank
        holders = rank.views
        views = {holder: holder.view for holder in dict.fromkeys(holders.values()) if holder.is_local(rank.rank)}
        self.views = tuple(views.values())
        self._local = {value: views[holder] for value, holder in holders.items() if holder in views}
        self._messages_by_receiver = communication.taken_by()
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._written: dict[int, WrittenParts] = {}
        self._receiving: dict[int, set[tuple[int, int]]] = {}
        self._weights: set[int] = set()
        # Buffers of which something is read that nothing has written, and those that are needed to the end.
        self._read_before_written: set[int] = set()
        self._live_at_end: set[int] = set()
        # By the buffer of another rank those that are on their way to it.
        self._pending: dict[int, list[int]] = {}
        for op in rank.body.operations:
            if isinstance(op, ark.HoldsView) and op.is_local(rank.rank):
                self._declare(op)
            if isinstance(op, ark.ArkOp) and not op.is_virtual:
                self._run(op)
        self._inputs = {self._local[value].buffer for value in rank.inputs}
        self._outputs = {self._local[value].buffer for value in rank.outputs}
        self._keep(communication)

    def _declare(self, op: ark.HoldsView) -> None:
        declared = op.op_name if isinstance(op, ark.VirtualOp) else ""
        if declared or op.buffer not in self._names:
            self._names[op.buffer] = declared or f"%{op.result_.name}"
        if op.content is not None:
            self._weights.add(op.buffer)
        if op.recv_tags:
            self._receiving.setdefault(op.buffer, set()).update(op.recv_tags)

    def _run(self, op: ark.ArkOp) -> None:
        step = len(self.labels)
        self.labels.append(op.op_name or op.name.partition(".")[2])
        received = [op.scratch] if isinstance(op, ark.RecvReduceSend | ark.RecvReduceSendPacket) else []
        for value in op.read_tensors:
            view = self._local.get(value)
            if view is None:
                continue
            self._use(view.buffer, step)
            if value not in received and not self._parts_of(view.buffer).covers(view):
                self._read_before_written.add(view.buffer)
        landed = [
            message.landing.view for message in self._messages_by_receiver.get(op, ()) if message.landing is not None
        ]
        for view in [*landed, *[self._local[value] for value in op.written_tensors if value in self._local]]:
            self._use(view.buffer, step)
            self._parts_of(view.buffer).add(view)
        match op:
            case ark.Send():
                sent = self._pending.setdefault(view_of(op.output).buffer, [])
                sent += [self._local[op.input].buffer] if op.input in self._local else []
            case ark.SendDone():
                for buffer in self._pending.pop(view_of(op.input).buffer, ()):
                    self._use(buffer, step)
            case _:
                pass

    def _use(self, buffer: int, step: int) -> None:
        self._first.setdefault(buffer, step)
        self._last[buffer] = step

    def _parts_of(self, buffer: int) -> WrittenParts:
        return self._written.setdefault(buffer, WrittenParts())

    def _keep(self, communication: Communication) -> None:
        """Finds buffers that are live until the end although no operation uses them."""
        for buffers in self._pending.values():
            self._live_at_end.update(buffers)
        untaken = {(put.source, put.tag) for put in communication.unreceived if put.destination == self._rank.rank}
        self._live_at_end.update([buffer for buffer, pairs in self._receiving.items() if pairs & untaken])
        self._live_at_end |= self._read_before_written | self._outputs

    def lifetime(self, buffer: int) -> tuple[int, int] | None:
        """Returns the first and the last step at which a buffer is live; None for an unused one."""
        if buffer not in self._first:
            return None
        is_live_at_start = buffer in self._read_before_written or buffer in self._receiving
        start = 0 if is_live_at_start else self._first[buffer]
        return start, len(self.labels) - 1 if buffer in self._live_at_end else self._last[buffer]

    def entry(self, buffer: int, size_bytes: int, lives: tuple[int, int] | None, offset: int | None) -> BufferEntry:
        """Returns the report entry of a buffer."""
        first, last = self._first.get(buffer), self._last.get(buffer)
        return BufferEntry(
            buffer=buffer,
            name=self._names.get(buffer, ""),
            size_bytes=size_bytes,
            kinds=tuple(self._roles(buffer)),
            first=first,
            last=last,
            first_operation="" if first is None else self.labels[first],
            last_operation="" if last is None else self.labels[last],
            lives_from=None if lives is None else lives[0],
            lives_to=None if lives is None else lives[1],
            offset=offset,
        )

    def _roles(self, buffer: int) -> Iterator[str]:
        if buffer not in self._first:
            yield "unused"
            return
        groups = {
            "weight": self._weights,
            "input": self._inputs - self._weights,
            "output": self._outputs,
            "received": self._receiving.keys(),
        }
        result = [role for role, buffers in groups.items() if buffer in buffers]
        yield from result or ["scratch"]
