"""Converts ARK programs to another generation of model files, newer or older.

Fields that only one generation has must follow from the rest of the program, or have no effect; otherwise the
conversion is refused. Nodes of several operations are split where a generation has one operation per node. Source: ARK
model files, generations v1 to v4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.dialects import ark
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.passes.ark.copying import copied


def in_generation(module: Module, generation: str) -> Module:
    """Returns the program for files of a generation; ranks of this generation stay as they are.

    Raises: DiagnosticError (E0601) with everything that files of the generation cannot express.
    """
    if generation not in ark.GENERATIONS:
        help = did_you_mean(generation, ark.GENERATIONS) or f"generations: {', '.join(ark.GENERATIONS)}"
        message = f"there is no generation '{generation}' of ARK files"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))
    result = Module(module.extra, module.entry)
    diagnostics: list[Diagnostic] = []
    for op in module.body.operations:
        if isinstance(op, ark.Rank):
            changed = _RankConversion(op, generation)
            result.body.append(changed.rank())
            diagnostics += changed.diagnostics
        else:
            message = f"a program of ARK has no place for {op.name}"
            diagnostics.append(Diagnostic(UNSUPPORTED_CONVERSION, message))
    if diagnostics:
        raise DiagnosticError(*diagnostics)
    return result


class _RankConversion:
    """A copy of a rank in another generation. `diagnostics` are the facts that it cannot express."""

    def __init__(self, rank: ark.Rank, generation: str) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._rank = rank
        self._generation = generation
        self._values: dict[Value, Value] = {}

    def rank(self) -> ark.Rank:
        """Returns the copy."""
        rank, body = self._rank, Block()
        ops = [op for op in rank.body.operations if isinstance(op, ark.ArkOp)]
        producers, consumers = rank.producers, rank.consumers
        numbers = {op: op.node for op in ops}
        if self._generation not in ark.MERGING_GENERATIONS and len(ops) != len(producers):
            numbers = {op: n for n, op in enumerate(ops)}
            producers, consumers = _divided(rank, ops)
        for op in rank.body.operations:
            body.append(self._copy(op, numbers))
        generation = self._generation if producers else ""
        number, world = rank.rank, rank.world_size
        ids = rank.node_ids if producers is rank.producers else ()
        new_op = ark.Rank(rank.sym_name, number, world, generation, producers, consumers, Region([body]), ids)
        new_op.location = rank.location
        return new_op

    def _copy(self, op: Operation, numbers: dict[ark.ArkOp, int]) -> Operation:
        if not isinstance(op, ark.ArkOp | ark.Tensor):
            self._refuse(op, f"a program of ARK has no place for {op.name}")
            return op.clone_shallow((), ())
        changed: dict[str, object] = {}
        if isinstance(op, ark.ArkOp):
            changed["node"] = numbers[op]
            if _is_later(op.first_generation, self._generation):
                self._refuse(op, f"'{op.name.partition('.')[2]}' came with generation {op.first_generation}")
        if isinstance(op, ark.HoldsView):
            changed |= self._view(op)
        if isinstance(op, ark.Matmul):
            changed |= self._product(op)
        return copied(op, self._values, changed)

    def _view(self, op: ark.HoldsView) -> dict[str, object]:
        shape = ark.dims_of(op.results[0])
        if any(pad != 1 for pad in op.pads or ()) and self._generation != ark.V1:
            self._refuse(op, f"tensor '{op.results[0].name}' has the pads {list(op.pads or ())}, which are not one")
        padded = op.padded_shape or shape
        if padded != shape and self._generation == ark.V1:
            message = f"tensor '{op.results[0].name}' of the shape {list(shape)} is padded to {list(padded)}"
            self._refuse(op, message)
        if op.is_external and self._generation != ark.V4:
            self._refuse(op, f"the memory of buffer {op.buffer} is given from outside")
        is_v1 = self._generation == ark.V1
        return {
            "pads": (op.pads or (1,) * len(shape)) if is_v1 else None,
            "padded_shape": None if is_v1 else padded,
            "is_external": bool(op.is_external) if self._generation == ark.V4 else None,
        }

    def _product(self, op: ark.Matmul) -> Mapping[str, object]:
        derived = op.derived_arguments()
        if self._generation == ark.V1:
            return derived
        for name, value in derived.items():
            declared: object = getattr(op, name)
            if declared is not None and declared != value:
                self._refuse(op, f"'{name}' says something else than the tensors, {list(value)}")
        return dict.fromkeys(derived)

    def _refuse(self, op: Operation, message: str) -> None:
        name = f" '{op.op_name}'" if isinstance(op, ark.ArkOp) and op.op_name else ""
        where = f"{self._rank.sym_name}.{op.name}{name}"
        reason = f"files of generation {self._generation} cannot say this: {message}"
        self.diagnostics.append(Diagnostic(UNSUPPORTED_CONVERSION, reason, where=where))


def _is_later(first: str, second: str) -> bool:
    return ark.GENERATIONS.index(first) > ark.GENERATIONS.index(second)


Lists = tuple[tuple[int, ...], ...]


def _divided(rank: ark.Rank, ops: Sequence[ark.ArkOp]) -> tuple[Lists, Lists]:
    """Returns the edges of a program with a node for each operation: between producers and users of tensors, and for
    other edges between nodes, from the last operation of one to the first of the other.
    """
    numbers = {op: n for n, op in enumerate(ops)}
    inside: list[list[int]] = [[] for _ in rank.producers]
    for n, op in enumerate(ops):
        if op.node < len(inside):
            inside[op.node].append(n)
    edges = set(_by_tensors(ops, numbers))
    reported = {(ops[a].node, ops[b].node) for a, b in edges}
    for b, declared in enumerate(rank.producers):
        for a in declared:
            if (a, b) not in reported and a < len(inside) and inside[a] and inside[b]:
                edges.add((inside[a][-1], inside[b][0]))
    before: list[list[int]] = [[] for _ in ops]
    after: list[list[int]] = [[] for _ in ops]
    for a, b in sorted(edges):
        before[b].append(a)
        after[a].append(b)
    return tuple(map(tuple, before)), tuple(map(tuple, after))


def _by_tensors(ops: Sequence[ark.ArkOp], numbers: dict[ark.ArkOp, int]) -> Iterator[tuple[int, int]]:
    for n, op in enumerate(ops):
        for value in op.operands:
            owner = value.owner
            if isinstance(owner, ark.ArkOp):
                yield numbers[owner], n
