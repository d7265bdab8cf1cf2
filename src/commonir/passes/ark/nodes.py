"""The nodes of a rank with their edges, from which the rank is built again after nodes were added or removed.

Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import ARK_EDGES
from commonir.dialects import ark
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ods import path_of
from commonir.passes.ark.copying import copied

Changes = Mapping[Operation, Mapping[str, object]]
"""Other attributes of operations and tensors, by name."""

_NO_CHANGES: Changes = MappingProxyType({})
_NOTHING: Mapping[str, object] = MappingProxyType({})


class Nodes:
    """The nodes of a rank with their operations and edges; removed nodes have no operations.

    Raises: DiagnosticError (E0276 for edges that are not those of a program, E0601).
    """

    def __init__(self, rank: ark.Rank) -> None:
        self.rank = rank
        self.ops: list[list[ark.ArkOp]] = [[] for _ in rank.producers]
        self.before = [dict.fromkeys(ids) for ids in rank.producers]
        self.after = [dict.fromkeys(ids) for ids in rank.consumers]
        self.changed: set[int] = set()
        """Nodes whose edges are others than before: these are stated in ascending order."""
        self.ids = [*rank.node_ids]
        """The ids of nodes in the file; empty where they are the places of nodes."""
        if len(self.before) != len(self.after):
            raise self._broken(f"{len(self.before)} nodes have producers, but {len(self.after)} have consumers")
        last = 0
        for op in rank.body.operations:
            if isinstance(op, ark.ArkOp):
                if not last <= op.node < len(self.ops):
                    raise self._broken(f"{op.name} '{op.op_name}' is of node {op.node}, after one of node {last}")
                last = op.node
                self._add(op)
            elif not isinstance(op, ark.Tensor):
                message = f"a program of ARK has no place for {op.name}"
                raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op)))
        for node, ids in enumerate(self.before):
            for other in ids:
                if not 0 <= other < node or node not in self.after[other]:
                    edge = f"node {rank.node_id(other)} to node {rank.node_id(node)}"
                    raise self._broken(f"the edge from {edge} is not one of both, in their order")
        if sum(map(len, self.before)) != sum(map(len, self.after)):
            raise self._broken("there are edges that are stated on one side only")

    def _broken(self, message: str) -> DiagnosticError:
        help = "`cir check` reports all errors"
        return DiagnosticError(Diagnostic(ARK_EDGES, message, where=self.rank.sym_name, help=help))

    def _add(self, op: ark.ArkOp) -> None:
        for value in op.operands:
            producer = value.owner
            if (
                isinstance(producer, ark.ArkOp)
                and producer.node != op.node
                and producer.node not in self.before[op.node]
            ):
                user, giver = map(self.rank.node_id, (op.node, producer.node))
                raise self._broken(f"node {user} uses a tensor of node {giver} without an edge from there")
        self.ops[op.node].append(op)

    def bridge(self, node: int) -> None:
        """Removes the edges of a node; its predecessors become predecessors of its successors."""
        before, after = self.before[node], self.after[node]
        for other in before:
            del self.after[other][node]
            self.after[other].update(after)
        for other in after:
            del self.before[other][node]
            self.before[other].update(before)
        self.changed.update(before, after)
        self.before[node], self.after[node] = {}, {}

    def remove(self, ops: Iterable[ark.ArkOp]) -> None:
        """Removes operations, and nodes that have no others."""
        removed = set(ops)
        for node, inside in enumerate(self.ops):
            self.ops[node] = [op for op in inside if op not in removed]
            if inside and not self.ops[node]:
                self.bridge(node)

    def insert(self, place: int, op: ark.ArkOp, *, before: Iterable[int] = (), after: Iterable[int] = ()) -> None:
        """Inserts a node with one operation at a place. `before` and `after` are the places of its predecessors and
        successors until now.
        """

        def moved(nodes: Iterable[int]) -> dict[int, None]:
            return {n + (n >= place): None for n in nodes}

        self.before, self.after = [moved(ids) for ids in self.before], [moved(ids) for ids in self.after]
        self.changed = set(moved(self.changed))
        self.ops.insert(place, [op])
        self.before.insert(place, moved(before))
        self.after.insert(place, moved(after))
        for other in self.before[place]:
            self.after[other][place] = None
        for other in self.after[place]:
            self.before[other][place] = None
        if self.ids:
            self.ids.insert(place, max(self.ids) + 1)

    def _edges(self, numbers: Mapping[int, int]) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
        """Returns the predecessors and successors of each remaining node, by new numbers."""
        before, after = (
            tuple([tuple([numbers[n] for n in self._listed(edges_of[node], node)]) for node in numbers])
            for edges_of in (self.before, self.after)
        )
        return before, after

    def _listed(self, ids: dict[int, None], node: int) -> list[int]:
        return sorted(ids) if node in self.changed else [*ids]

    def rebuilt(self, changes: Changes = _NO_CHANGES) -> ark.Rank:
        """Returns the rank with the remaining nodes, and with other attributes of some operations."""
        rank = self.rank
        remaining = [node for node, ops in enumerate(self.ops) if ops]
        body = Block()
        values: dict[Value, Value] = {}
        for number, node in enumerate(remaining):
            for op in self.ops[node]:
                for value in op.operands:
                    if value not in values:
                        body.append(_tensor(value, values, changes))
                body.append(copied(op, values, {**changes.get(op, _NOTHING), "node": number}))
        producers, consumers = self._edges({node: number for number, node in enumerate(remaining)})
        generation = rank.generation if remaining else ""
        ids = tuple([self.ids[node] for node in remaining]) if self.ids else ()
        parts = rank.rank, rank.world_size, generation, producers, consumers, Region([body])
        new_op = ark.Rank(rank.sym_name, *parts, () if ids == tuple(range(len(ids))) else ids)
        new_op.location = rank.location
        new_op.update_extra(rank.extra)
        return new_op


_VIEW = (
    "data_type",
    "buffer",
    "buffer_rank",
    "send_tags",
    "recv_tags",
    "strides",
    "offsets",
    "padded_shape",
    "pads",
    "is_external",
    "content",
)


def view_attributes(holder: ark.HoldsView) -> dict[str, object]:
    """Returns the attributes of an operation that say where its tensor is stored."""
    return {name: getattr(holder, name) for name in _VIEW}


def _tensor(value: Value, values: dict[Value, Value], changes: Changes) -> Operation:
    """Returns a tensor without producer that replaces one of a virtual operation, or a copy of one without producer."""
    producer = value.owner
    if isinstance(producer, ark.Tensor):
        return copied(producer, values, changes.get(producer, _NOTHING))
    if not isinstance(producer, ark.VirtualOp):
        message = f"tensor '{value.name}' of {value.type} is used before anything gives it"
        raise DiagnosticError(Diagnostic(ARK_EDGES, message))
    arguments = {"tensor_id": producer.result_id, **view_attributes(producer)}
    new_op = ark.Tensor.build(arguments, [value.type], producer.location)
    new_op.results[0].name = value.name
    values[value] = new_op.results[0]
    return new_op
