"""How much memory the ranks of an ARK program take, how long each buffer is needed, and how little would be enough.

ARK gives each buffer memory of its own for the whole run. The plan lets buffers share memory that are not needed at
once, and leaves alone what must stay: what a run finds in memory (inputs, weights, zeros that are read) is there from
the first step to the last one, for the next run finds it too; outputs stay to the end; other ranks may put data into a
buffer from the first step on; what is sent stays until `SendDone`.
Source: ARK model files, memory model and execution rules.
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
    """Returns the bytes and live ranges of the buffers of a rank. Buffers of other ranks count as nothing here."""
    uses = _Uses(rank, communication)
    sizes = buffer_bytes(uses.views)
    spans = {buffer: uses.lifetime(buffer) for buffer in sorted(sizes)}
    needed = {buffer: Lifetime(sizes[buffer], *span) for buffer, span in spans.items() if span is not None}
    offsets = dict(zip(needed, share_memory(list(needed.values()), _ALIGNMENT), strict=True))
    peak, at = peak_of(list(needed.values()))
    return RankSummary(
        rank=rank.rank,
        name=rank.sym_name,
        size_bytes=sum(sizes.values()),
        peak_bytes=peak,
        peak_operation=uses.labels[at] if uses.labels else "",
        reused_bytes=max((offsets[buffer] + sizes[buffer] for buffer in needed), default=0),
        buffers=tuple([uses.entry(b, sizes[b], span, offsets.get(b)) for b, span in spans.items()]),
    )


class _Uses:
    """Which operations of a rank use which buffers.

    `labels` are the names of the operations, in their order; `views` are those of local buffers.
    """

    def __init__(self, rank: ark.Rank, communication: Communication) -> None:
        self.labels: list[str] = []
        self._rank = rank
        holders = rank.views
        views = {holder: holder.view for holder in dict.fromkeys(holders.values()) if holder.is_local(rank.rank)}
        self.views = tuple(views.values())
        self._local = {value: views[holder] for value, holder in holders.items() if holder in views}
        self._taken = communication.taken_by()
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._written: dict[int, WrittenParts] = {}
        self._receiving: dict[int, set[tuple[int, int]]] = {}
        self._weights: set[int] = set()
        # Buffers of which something is read that nothing has written, and those that are needed to the end.
        self._is_found: set[int] = set()
        self._is_kept: set[int] = set()
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
                self._is_found.add(view.buffer)
        landed = [message.landing.view for message in self._taken.get(op, ()) if message.landing is not None]
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
        """Finds what is needed to the end, and no operation says so."""
        for buffers in self._pending.values():
            self._is_kept.update(buffers)
        untaken = {(put.source, put.tag) for put in communication.unreceived if put.destination == self._rank.rank}
        self._is_kept.update([buffer for buffer, pairs in self._receiving.items() if pairs & untaken])
        self._is_kept |= self._is_found | self._outputs

    def lifetime(self, buffer: int) -> tuple[int, int] | None:
        """The steps at which a buffer must exist; None for one that nothing uses."""
        if buffer not in self._first:
            return None
        is_live_at_start = buffer in self._is_found or buffer in self._receiving
        start = 0 if is_live_at_start else self._first[buffer]
        return start, len(self.labels) - 1 if buffer in self._is_kept else self._last[buffer]

    def entry(self, buffer: int, size_bytes: int, lives: tuple[int, int] | None, offset: int | None) -> BufferEntry:
        """Returns the report entry of a buffer."""
        first, last = self._first.get(buffer), self._last.get(buffer)
        return BufferEntry(
            buffer=buffer,
            name=self._names.get(buffer, ""),
            size_bytes=size_bytes,
            kinds=tuple(self._kinds(buffer)),
            first=first,
            last=last,
            first_operation="" if first is None else self.labels[first],
            last_operation="" if last is None else self.labels[last],
            lives_from=None if lives is None else lives[0],
            lives_to=None if lives is None else lives[1],
            offset=offset,
        )

    def _kinds(self, buffer: int) -> Iterator[str]:
        if buffer not in self._first:
            yield "unused"
            return
        groups = {
            "weight": self._weights,
            "input": self._inputs - self._weights,
            "output": self._outputs,
            "received": self._receiving.keys(),
        }
        result = [kind for kind, buffers in groups.items() if buffer in buffers]
        yield from result or ["scratch"]
