"""Decides the layouts of values on ranks, by propagating shardings through operations.

A sharded value shards others: those computed from it, and those it is computed from or with. A trial propagates from
one place until nothing changes. At a conflict, the last value on the path whose sharding is optional stays replicated,
and its users take their shards of it; then the trial restarts.
"""

from __future__ import annotations

from collections.abc import Iterable

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import Op, traits
from commonir.passes.shard.elementary import Elementary, Node
from commonir.passes.shard.indices import Indices, Run
from commonir.passes.shard.layout import Partial, ShardLayout, Split, reshaped

_LINEAR = (core.Add, core.Reshape, core.Transpose, core.Squeeze, core.Unsqueeze, core.Slice, core.Reverse)
"""Operations that give a summand of their result for summands of all of their operands."""

_MAX_RESTARTS = 200
"""How often a trial starts again: each time, one value more stays whole."""


class Plan:
    """The layouts of values; those not in `layouts` are replicated.

    `cut_operands` are the operands, by operation and number, of which an operation takes a shard of a replicated value;
    `sharded` are the sharded operations, with the index; `forwards_summands` are operations that compute a summand of
    their result from summands of their operands.
    """

    def __init__(self, program: Elementary, ranks: int) -> None:
        self.program = program
        self.ranks = ranks
        self.layouts: dict[Value, ShardLayout] = {}
        self.cut_operands: dict[tuple[Node, int], Split] = {}
        self.sharded: dict[Node, Run] = {}
        self.forwards_summands: set[Node] = set()
        self.indices = Indices(ranks)

    def split_of(self, value: Value) -> Split | None:
        """Returns the sharding of a value; None if it has none."""
        layout = self.layouts.get(value)
        return layout if isinstance(layout, Split) else None

    def required_split(self, node: Node, number: int) -> Split | None:
        """Returns the sharding that an operation needs of an operand; None if it has none."""
        return self.split_of(node.op.operands[number]) or self.cut_operands.get((node, number))

    def adopt(self, trial: Trial) -> None:
        """Adds the results of a trial."""
        self.layouts |= {v: a.layout for v, a in trial.assigned.items()}
        self.cut_operands |= trial.cut_operands
        self.sharded |= trial.sharded


class Cause(NamedTuple):
    """The reason for the layout of a value: the value that it was propagated from, and whether it is optional."""

    layout: ShardLayout
    source: Value | None
    is_optional: bool


class Conflict(Exception):
    """A sharding that cannot be propagated through an operation. `value` is the one that it came from."""

    def __init__(self, node: Node | None, value: Value | None, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.value = value
        self.reason = reason


class Seed(NamedTuple):
    """The start of a trial: sharded values, or an operation that is sharded along an index."""

    values: tuple[tuple[Value, Split], ...] = ()
    node: Node | None = None
    run: Run | None = None
    period: int = 0


class Trial:
    """The consequences of a sharding. `batch` forbids sums over the batch, and allows sharded inputs and outputs.

    `barred` are operations of the source that are skipped. `replicated` are the values that stay replicated, with the
    reason.
    """

    def __init__(self, plan: Plan, seed: Seed, *, batch: bool = False, barred: Iterable[Operation] = ()) -> None:
        self.plan = plan
        self.seed = seed
        self.batch = batch
        self.barred = set(barred)
        self.replicated: dict[Value, str] = {} if batch else dict.fromkeys(plan.program.inputs, "inputs are whole")
        self.reasons: list[Conflict] = []
        self._clear()

    def _clear(self) -> None:
        self.assigned: dict[Value, Cause] = {}
        self.cut_operands: dict[tuple[Node, int], Split] = {}
        self.sharded: dict[Node, Run] = {}
        self._pending: list[tuple[Node, Value | None]] = []

    def run(self) -> None:
        """Propagates the sharding. Raises: Conflict if that is not possible."""
        for _ in range(_MAX_RESTARTS):
            self._clear()
            try:
                self._follow()
            except Conflict as conflict:
                self.reasons.append(conflict)
                replicated = self._last_optional(conflict.value)
                if replicated is None:
                    raise
                self.replicated[replicated] = conflict.reason
            else:
                return
        raise self.reasons[-1]

    def _last_optional(self, value: Value | None) -> Value | None:
        """Returns the last value on the path to one whose sharding is optional; None if there is none."""
        while value is not None:
            cause = self.assigned.get(value)
            if cause is None:
                return None
            if cause.is_optional and value in self.plan.program.shared:
                return value
            value = cause.source
        return None

    def _follow(self) -> None:
        for value, split in self.seed.values:
            self._assign(value, split, None, None, is_optional=False)
        if self.seed.node is not None and self.seed.run is not None:
            self._shard(self.seed.node, self.seed.run, self.seed.period, None)
        position = 0
        while position < len(self._pending):
            node, cause = self._pending[position]
            position += 1
            self._propagate(node, cause)

    def _layout(self, value: Value) -> ShardLayout:
        cause = self.assigned.get(value)
        return self.plan.layouts.get(value) if cause is None else cause.layout

    def _split(self, value: Value) -> Split | None:
        layout = self._layout(value)
        return layout if isinstance(layout, Split) else None

    # -- operations

    def _propagate(self, node: Node, cause: Value | None) -> None:
        """Shards an operation that uses or computes sharded values."""
        if node.source in self.barred:
            return
        result = [(False, n, s) for n, v in enumerate(node.op.operands) if (s := self._split(v)) is not None]
        result += [(True, n, s) for n, v in enumerate(node.op.results) if (s := self._split(v)) is not None]
        op = node.kernel
        if op is None or len(node.used) > len(node.op.operands):
            raise Conflict(node, cause, f"{node.op.name} is not divided")
        if isinstance(op, core.Reshape):
            self._reshape(node, op, cause)
            return
        is_result, number, split = result[0]
        run = self.plan.indices.run_at(op, is_result, number, split.axis)
        if run is None:
            raise Conflict(node, cause, f"{name_of(node)} needs the whole of axis {split.axis}")
        for is_result, number, other_split in result:
            if run.at(is_result, number) != (other_split.axis,) or other_split.period != split.period:
                raise Conflict(node, cause, f"{name_of(node)} would be divided in two ways")
        self._shard(node, run, split.period, cause)

    def _reshape(self, node: Node, op: core.Reshape, cause: Value | None) -> None:
        operand_split, result_split = self._split(op.x), self._split(op.y)
        shapes = [v.type.shape if isinstance(v.type, TensorType) else None for v in (op.x, op.y)]
        dims = [tuple([d for d in s or () if d is not None]) for s in shapes]
        ranks = self.plan.ranks
        if operand_split is not None:
            split = reshaped(operand_split, dims[0], dims[1], ranks)
            if split is None or result_split not in (None, split):
                raise Conflict(node, cause, f"{name_of(node)} cannot be divided in {ranks} parts")
            self._assign(op.y, split, node, cause, is_optional=False)
        elif result_split is not None:
            split = reshaped(result_split, dims[1], dims[0], ranks)
            if split is None:
                raise Conflict(node, cause, f"{name_of(node)} cannot be divided in {ranks} parts")
            self._require(node, 0, split, op.y)

    def _shard(self, node: Node, run: Run, period: int, cause: Value | None) -> None:
        op = node.kernel
        assert op is not None
        if not self.plan.indices.may_shard(op, run, period):
            raise Conflict(node, cause, f"{name_of(node)} cannot be divided in {self.plan.ranks} parts")
        if run.is_summed and self.batch:
            raise Conflict(node, cause, f"{name_of(node)} sums over the batch")
        if self.plan.sharded.get(node, run) != run:
            raise Conflict(node, cause, f"{name_of(node)} would be divided in two ways")
        self.sharded[node] = run
        for n in range(len(op.results)):
            for axis in run.at(True, n):
                self._assign(op.results[n], Split(axis, period), node, cause, is_optional=False)
            if run.is_summed:
                self._assign(op.results[n], Partial.SUM, node, cause, is_optional=False)
        for n in range(len(op.operands)):
            for axis in run.at(False, n):
                self._require(node, n, Split(axis, period), cause)

    # -- values

    def _require(self, node: Node, number: int, split: Split, source: Value | None) -> None:
        """Shards an operand of an operation, or takes the shard of a replicated one."""
        value = node.op.operands[number]
        layout = self._layout(value)
        if layout == split:
            return
        if isinstance(layout, Split):
            raise Conflict(node, source, f"{name_of(node)} would need an operand that is divided otherwise")
        if layout is Partial.SUM or value in self.replicated or self._is_constant(value):
            self.cut_operands[node, number] = split
        else:
            self._assign(value, split, node, source, is_optional=True)

    def _is_constant(self, value: Value) -> bool:
        maker = self.plan.program.makers.get(value)
        return maker is not None and isinstance(maker.op, Op) and maker.op.has_trait(traits.ConstantLike)

    def _assign(
        self, value: Value, layout: ShardLayout, node: Node | None, source: Value | None, *, is_optional: bool
    ) -> None:
        current = self._layout(value)
        if current == layout:
            return
        if current is not None or (value in self.replicated and value not in dict(self.seed.values)):
            raise Conflict(node, source, f"{_node_text(node)} would divide a value in two ways")
        ports = (*self.plan.program.inputs, *self.plan.program.outputs)
        if isinstance(layout, Split) and value in ports and not self._may_shard_port(value, layout):
            if is_optional and value in self.plan.program.shared:
                self.assigned[value] = Cause(layout, source, is_optional)
                source = value
            raise Conflict(node, source, f"'{value.name}' is given whole")
        self.assigned[value] = Cause(layout, source, is_optional)
        if isinstance(layout, Split):
            maker = self.plan.program.makers.get(value)
            users = self.plan.program.users.get(value, [])
            self._pending += [(n, value) for n in (*users, *([maker] if maker is not None else []))]

    def _may_shard_port(self, value: Value, split: Split) -> bool:
        """Returns whether an input or output may be sharded: in data parallelism, along an axis in one block."""
        shape = value.type.shape if isinstance(value.type, TensorType) else None
        return self.batch and shape is not None and shape[split.axis] == split.period


def _node_text(node: Node | None) -> str:
    return "an input" if node is None else name_of(node)


def name_of(node: Node) -> str:
    """Returns the name of an operation in messages."""
    named = node.source.first_name or node.op.first_name
    return f"{node.source.name} '{named}'" if named else node.source.name


def forward_summands(plan: Plan) -> None:
    """Moves sums over ranks behind operations that only move or add summands, so that there are fewer of them."""
    program = plan.program
    for node in program.nodes:
        op = node.op
        if not isinstance(op, Op) or node.is_inner or len(op.results) != 1 or op.results[0] in plan.layouts:
            continue
        if not isinstance(op, _LINEAR) or len(set(op.operands)) != len(op.operands):
            continue
        summands = [v for v in op.operands if plan.layouts.get(v) is Partial.SUM and v not in program.outputs]
        is_single_use = all(len(program.users.get(v, ())) == 1 for v in summands)
        is_cut = any((node, n) in plan.cut_operands for n in range(len(op.operands)))
        counts = [v.type.count if isinstance(v.type, TensorType) and v.type.is_static else -1 for v in op.operands]
        type = op.results[0].type
        count = type.count if isinstance(type, TensorType) and type.is_static else -1
        if len(summands) == len(op.operands) and is_single_use and not is_cut and all(count <= n for n in counts):
            plan.layouts[op.results[0]] = Partial.SUM
            plan.forwards_summands.add(node)
