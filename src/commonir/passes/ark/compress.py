"""Compresses ARK programs as ARK does before it writes a model file: removes virtual operations, merges nodes.

The tensors of virtual operations remain as views of their buffers, without their names (W0601). Predecessors of a
virtual operation become predecessors of its successors. In files whose nodes have several operations, a node is then
merged into its last predecessor, if all other successors of this predecessor depend on the node too. Nodes are visited
from the last one to the first. Works in place.

A merged operation runs earlier than before, perhaps before another one that uses the same memory, because edges do not
express this. ARK does the same; it is reported (W0276).
Limits: `_MAX_NODES` merged nodes of a rank; `_MAX_STEPS` examined pairs of memory uses of a rank.
Source: ARK model files, execution rules and writer rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from commonir.base.codes import LOST_IN_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import ARK_CLOBBERED, LIMIT_EXCEEDED
from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.dialects.ark.views import View, overlap
from commonir.ir.module import Module
from commonir.ods import path_of
from commonir.passes.ark.contents import propagate_contents
from commonir.passes.ark.nodes import Nodes
from commonir.passes.ark.views import view_of

_MAX_NODES = 1 << 16
_MAX_STEPS = 1 << 20


def compress(module: Module, findings: Diagnostics | None = None) -> int:
    """Compresses the ranks of a program and returns the number of removed nodes; `findings` receives warnings.

    Raises: DiagnosticError (E0276 for edges that are not those of a program, E0302, E0601).
    """
    removed = 0
    diagnostics = Diagnostics() if findings is None else findings
    for rank in [op for op in module.body.operations if isinstance(op, ark.Rank)]:
        nodes = _Merging(rank)
        nodes.ids.clear()
        nodes.remove_virtual()
        if rank.generation in ark.MERGING_GENERATIONS:
            nodes.merge()
        diagnostics.extend(_lost_names(rank))
        diagnostics.extend(_moved_too_far(rank, nodes))
        built = nodes.rebuilt()
        propagate_contents(rank, built)
        removed += len(rank.producers) - len(built.producers)
        block = rank.parent
        assert block is not None
        block.insert_before(rank, built)
        rank.erase()
    return removed


class _Merging(Nodes):
    """The nodes of a rank, of which those of virtual operations are removed, and others merged."""

    def remove_virtual(self) -> None:
        """Removes virtual operations, and nodes that have no others."""
        for node, ops in enumerate(self.ops):
            self.ops[node] = [op for op in ops if not op.is_virtual]
            if ops and not self.ops[node]:
                self.bridge(node)

    def merge(self) -> None:
        """Merges nodes into predecessors, from the last node to the first."""
        if len(self.ops) > _MAX_NODES:
            message = f"nodes of a rank of {len(self.ops):,} nodes are not merged, at most {_MAX_NODES:,} are"
            raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, where=self.rank.sym_name))
        ancestors = self._ancestors()
        follows: dict[int, int] = {}
        for node in reversed(range(len(self.ops))):
            before = self.before[node]
            if not before:
                continue
            # Of those that it comes after only the last one can come after all others.
            target = max(before)
            comes_last = all(other == target or ancestors[target] >> other & 1 for other in before)
            if comes_last and all(other == node or ancestors[other] >> node & 1 for other in self.after[target]):
                self._merge_edges(target, node)
                # Nothing else is merged into it: all else that comes after it comes after this node.
                assert target not in follows
                follows[target] = node
        merged = {*follows.values()}
        for node, ops in enumerate(self.ops):
            current = None if node in merged else follows.get(node)
            while current is not None:
                ops += self.ops[current]
                self.ops[current] = []
                current = follows.get(current)

    def _ancestors(self) -> list[int]:
        """Returns the ancestors of each node as bits. Merging does not change them for pairs of remaining nodes."""
        ancestors: list[int] = []
        for ids in self.before:
            bits = 0
            for other in ids:
                bits |= ancestors[other] | 1 << other
            ancestors.append(bits)
        return ancestors

    def _merge_edges(self, target: int, node: int) -> None:
        before, after = self.before[node], self.after[node]
        for other in before:
            del self.after[other][node]
            if other != target:
                self.after[other][target] = None
                self.before[target][other] = None
        for other in after:
            del self.before[other][node]
            self.before[other][target] = None
            self.after[target][other] = None
        self.changed.update(before, after)
        self.before[node], self.after[node] = {}, {}


def _lost_names(rank: ark.Rank) -> Iterator[Diagnostic]:
    ports = dict.fromkeys([value.owner for value in (*rank.initial, *rank.outputs)])
    names = [f"'{op.op_name}'" for op in ports if isinstance(op, ark.VirtualOp) and op.op_name]
    if names:
        message = f"names of inputs and outputs go, numbers of tensors take their place: {', '.join(names)}"
        yield Diagnostic(LOST_IN_CONVERSION, message, where=rank.sym_name)


# -- memory


class _Use(NamedTuple):
    """A use of a part of a buffer by an operation: its positions before and after merging."""

    op: ark.ArkOp
    before: int
    after: int
    view: View
    is_written: bool


def _moved_too_far(rank: ark.Rank, nodes: _Merging) -> Iterator[Diagnostic]:
    """Yields warnings about operations that now run before others that use the same memory."""
    order = [op for ops in nodes.ops for op in ops]
    positions = {op: n for n, op in enumerate(sorted(order, key=lambda op: op.index_in_block))}
    if [positions[op] for op in order] == [*range(len(order))]:
        return
    views = rank.views
    by_buffer: dict[int, list[_Use]] = {}
    for after, op in enumerate(order):
        for values, is_written in ((op.read_tensors, False), (op.written_tensors, True)):
            for value in values:
                content = views.get(value)
                if content is not None and content.is_local(rank.rank):
                    use = _Use(op, positions[op], after, view_of(content.result_), is_written)
                    by_buffer.setdefault(content.buffer, []).append(use)
    steps = 0
    for uses in by_buffer.values():
        for use, other in _overtaken(sorted(uses, key=lambda use: use.before)):
            steps += 1
            if steps > _MAX_STEPS:
                message = "not all uses of the same memory were examined: run `cir check` on the result"
                yield Diagnostic(ARK_CLOBBERED, message, where=rank.sym_name)
                return
            if (use.is_written or other.is_written) and overlap(use.view, other.view):
                yield _warning(use, other)


def _overtaken(uses: Sequence[_Use]) -> Iterator[tuple[_Use, _Use]]:
    """Yields pairs of uses of a buffer whose order has changed."""
    latest = [*accumulate([use.after for use in uses], max)]
    for n, use in enumerate(uses):
        for at in range(n - 1, -1, -1):
            if latest[at] <= use.after:
                break
            if uses[at].after > use.after:
                yield use, uses[at]


def _warning(use: _Use, other: _Use) -> Diagnostic:
    does = "reads what it overwrites" if use.is_written and not other.is_written else "writes what it uses"
    message = (
        f"{_op_text(use.op)} is merged into an earlier node and now runs before {_op_text(other.op)}, which {does}"
    )
    return Diagnostic(ARK_CLOBBERED, message, where=path_of(use.op))


def _op_text(op: ark.ArkOp) -> str:
    return f"'{op.op_name}'" if op.op_name else op.name
