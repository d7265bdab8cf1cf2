"""Rules of memory: tensors that are read after they were overwritten, and nodes that share memory without an edge.

Operations run in the order of the file, so neither is an error.
Limits: `_MAX_STEPS` comparisons for each rank; exceeding it is reported.
Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.file_codes import ARK_CLOBBERED, ARK_HAZARD
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.dialects.ark.views import View, overlap
from commonir.formats.ark.rules.faults import Fault, RankTensors, fault, number_of, place_of
from commonir.formats.ark.rules.graph import reached
from commonir.ir.operation import Value

_MAX_STEPS = 1_000_000
_SHOWN = 3


class _Written(NamedTuple):
    """The last write to a part of a buffer."""

    number: int
    op: ark.ArkOp


class _Part:
    """A part of a buffer that tensors are views of: what has happened to it, and the parts that have bytes of it."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.touching: list[_Part] = [self]
        self.written: _Written | None = None
        self.readers: list[int] = []


def memory_warnings(tensors: RankTensors) -> Iterator[Fault]:
    """Yields warnings about memory that an operation may read unexpectedly, and about orders that edges leave open."""
    return _Memory(tensors).warnings()


class _Memory:
    def __init__(self, tensors: RankTensors) -> None:
        self._tensors = tensors
        self._steps = 0
        self._parts = self._divided()
        # Pairs of nodes that must stay in order, with the buffer that both use.
        self._pairs: dict[tuple[int, int], int] = {}

    def _divided(self) -> dict[ark.HoldsView, _Part]:
        """The parts of local buffers, by the operations that say where tensors lie."""
        by_buffer: dict[int, dict[View, _Part]] = {}
        out: dict[ark.HoldsView, _Part] = {}
        for holder in self._tensors.holders:
            if self._tensors.is_local(holder):
                view = self._tensors.view_of(holder)
                parts = by_buffer.setdefault(holder.buffer, {})
                out[holder] = parts[view] if view in parts else parts.setdefault(view, _Part(view))
        for parts in by_buffer.values():
            if len(parts) > 1:
                self._link(sorted([(*part.view.span, part) for part in parts.values()], key=lambda each: each[:2]))
        return out

    def _link(self, parts: list[tuple[int, int, _Part]]) -> None:
        """Connects parts that have bytes in common, of those of a buffer, sorted by their first byte."""
        near: list[tuple[int, _Part]] = []
        for first, last, part in parts:
            near = [(stop, other) for stop, other in near if stop > first]
            self._steps += 2 * len(near)
            if self._steps > _MAX_STEPS:
                return
            for _, other in near:
                if overlap(other.view, part.view):
                    other.touching.append(part)
                    part.touching.append(other)
            near.append((last, part))

    def warnings(self) -> Iterator[Fault]:
        """Yields the warnings in the order of the file."""
        for op in self._tensors.ops:
            if op.is_virtual:
                continue
            for value in dict.fromkeys(op.read_tensors):
                part = self._part_of(value)
                if part is not None:
                    yield from self._read(op, value, part)
            for value in op.written_tensors:
                part = self._part_of(value)
                if part is not None:
                    self._write(op, part)
            if self._steps > _MAX_STEPS:
                message = f"memory was looked at up to here, in {_MAX_STEPS:,} comparisons of tensors"
                yield fault(op, ARK_HAZARD, message)
                break
        yield from self._open_pairs()

    def _part_of(self, value: Value) -> _Part | None:
        return self._parts.get(self._tensors.holder_of(value))

    def _read(self, op: ark.ArkOp, value: Value, part: _Part) -> Iterator[Fault]:
        number = number_of(value)
        self._steps += len(part.touching)
        newer: _Written | None = None
        for other in part.touching:
            if other.written is not None:
                self._pair(other.written.op.node, op.node, part)
                if other.written.number > max(number, -1 if newer is None else newer.number):
                    newer = other.written
        if newer is not None:
            writer = newer.op
            message = (
                f"{op.name} reads tensor {number} of buffer {part.view.buffer}, which node {ark.node_id_of(writer)}, "
                f"'{writer.op_name}', has overwritten as tensor {newer.number}"
            )
            yield fault(op, ARK_CLOBBERED, message, place_of(op, value), "read the newer tensor if that is meant")
        if not part.readers or part.readers[-1] != op.node:
            part.readers.append(op.node)

    def _write(self, op: ark.ArkOp, part: _Part) -> None:
        for other in part.touching:
            self._steps += 1 + len(other.readers)
            if other.written is not None:
                self._pair(other.written.op.node, op.node, part)
            for reader in other.readers:
                self._pair(reader, op.node, part)
        part.readers = []
        # Several tensors are written only by operations that give the first; those of other ranks lie elsewhere.
        part.written = _Written(op.result_id, op)

    def _pair(self, first: int, second: int, part: _Part) -> None:
        if first != second:
            self._pairs.setdefault((first, second), part.view.buffer)

    def _open_pairs(self) -> Iterator[Fault]:
        """One finding about all pairs of nodes that no chain of edges orders."""
        rank = self._tensors.rank
        before = [frozenset(ids) for ids in rank.producers]
        far = [pair for pair in self._pairs if not (pair[1] < len(before) and pair[0] in before[pair[1]])]
        inside = [pair for pair in far if max(pair) < len(before)]
        ordered = reached([list(ids) for ids in before], inside) if inside else set[tuple[int, int]]()
        left = sorted([pair for pair in inside if pair not in ordered], key=lambda pair: pair[::-1])
        if not left:
            return
        name = rank.node_id
        shown = [f"{name(a)} and {name(b)} use buffer {self._pairs[a, b]}" for a, b in left[:_SHOWN]]
        more = f", and {plural(len(left) - _SHOWN, 'other pair')}" if len(left) > _SHOWN else ""
        message = f"no edges order nodes that use the same bytes: {', '.join(shown)}{more}"
        help = "run nodes in the order of the file, or add edges between them"
        yield fault(next(op for op in self._tensors.ops if op.node == left[0][1]), ARK_HAZARD, message, help=help)
