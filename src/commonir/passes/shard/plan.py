"""Decides how the values of a program lie on ranks, by following divisions through what operations mean.

One value that is divided divides others: what is computed from it, and what it is computed from or together with. A
trial follows this from one place until nothing changes. Where a division cannot go on, the last value that was only
wanted divided, and need not be, stays whole, and its part is taken where it is used; then the trial starts again.
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

_MOST_STARTS = 200
"""How often a trial starts again: each time, one value more stays whole."""


class Plan:
    """How values lie on ranks. What is not in `layouts` is whole on each.

    `taken` are the operands, by operation and number, of which an operation takes a part of a whole value; `divided`
    are the operations whose work is divided, with the index; `handed_on` those that give a summand of what they are
    given a summand of.
    """

    def __init__(self, program: Elementary, ranks: int) -> None:
        self.program = program
        self.ranks = ranks
        self.layouts: dict[Value, ShardLayout] = {}
        self.taken: dict[tuple[Node, int], Split] = {}
        self.divided: dict[Node, Run] = {}
        self.handed_on: set[Node] = set()
        self.indices = Indices(ranks)

    def split_of(self, value: Value) -> Split | None:
        """How a value is divided, if it is."""
        layout = self.layouts.get(value)
        return layout if isinstance(layout, Split) else None

    def need(self, node: Node, number: int) -> Split | None:
        """How an operation needs an operand divided, if it does."""
        return self.split_of(node.op.operands[number]) or self.taken.get((node, number))

    def adopt(self, trial: Trial) -> None:
        """Takes over what a trial found."""
        self.layouts |= {v: a.layout for v, a in trial.assigned.items()}
        self.taken |= trial.taken
        self.divided |= trial.divided


class Cause(NamedTuple):
    """How a value comes to its layout: from which other one, and whether it was only wanted so."""

    layout: ShardLayout
    source: Value | None
    is_wanted: bool


class Conflict(Exception):
    """A division that cannot go on at an operation. `value` is what it came from."""

    def __init__(self, node: Node | None, value: Value | None, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.value = value
        self.reason = reason


class Seed(NamedTuple):
    """Where a trial begins: values that are divided, or an operation that is divided along an index."""

    values: tuple[tuple[Value, Split], ...] = ()
    node: Node | None = None
    run: Run | None = None
    period: int = 0


class Trial:
    """The consequences of a sharding. `batch` demands no sum over the batch, and lets inputs and outputs be sharded.

    `barred` are operations of the source that are not looked at. `whole` are the values that stay whole though they are
    wanted divided, with the reason.
    """

    def __init__(self, plan: Plan, seed: Seed, *, batch: bool = False, barred: Iterable[Operation] = ()) -> None:
        self.plan = plan
        self.seed = seed
        self.batch = batch
        self.barred = set(barred)
        self.whole: dict[Value, str] = {} if batch else dict.fromkeys(plan.program.inputs, "inputs are whole")
        self.reasons: list[Conflict] = []
        self._clear()

    def _clear(self) -> None:
        self.assigned: dict[Value, Cause] = {}
        self.taken: dict[tuple[Node, int], Split] = {}
        self.divided: dict[Node, Run] = {}
        self._pending: list[tuple[Node, Value | None]] = []

    def run(self) -> None:
        """Follows the division. Raises: Conflict, when it cannot be."""
        for _ in range(_MOST_STARTS):
            self._clear()
            try:
                self._follow()
            except Conflict as conflict:
                self.reasons.append(conflict)
                kept = self._only_wanted(conflict.value)
                if kept is None:
                    raise
                self.whole[kept] = conflict.reason
            else:
                return
        raise self.reasons[-1]

    def _only_wanted(self, value: Value | None) -> Value | None:
        """The last value on the way to one that need not be divided."""
        while value is not None:
            cause = self.assigned.get(value)
            if cause is None:
                return None
            if cause.is_wanted and value in self.plan.program.shared:
                return value
            value = cause.source
        return None

    def _follow(self) -> None:
        for value, split in self.seed.values:
            self._assign(value, split, None, None, is_wanted=False)
        if self.seed.node is not None and self.seed.run is not None:
            self._divide(self.seed.node, self.seed.run, self.seed.period, None)
        at = 0
        while at < len(self._pending):
            node, cause = self._pending[at]
            at += 1
            self._settle(node, cause)

    def _layout(self, value: Value) -> ShardLayout:
        cause = self.assigned.get(value)
        return self.plan.layouts.get(value) if cause is None else cause.layout

    def _split(self, value: Value) -> Split | None:
        layout = self._layout(value)
        return layout if isinstance(layout, Split) else None

    # -- operations

    def _settle(self, node: Node, cause: Value | None) -> None:
        """Divides what an operation has to do with values that are divided."""
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
        for is_result, number, other in result:
            if run.at(is_result, number) != (other.axis,) or other.period != split.period:
                raise Conflict(node, cause, f"{name_of(node)} would be divided in two ways")
        self._divide(node, run, split.period, cause)

    def _reshape(self, node: Node, op: core.Reshape, cause: Value | None) -> None:
        given, built = self._split(op.x), self._split(op.y)
        shapes = [v.type.shape if isinstance(v.type, TensorType) else None for v in (op.x, op.y)]
        sizes = [tuple([d for d in s or () if d is not None]) for s in shapes]
        ranks = self.plan.ranks
        if given is not None:
            split = reshaped(given, sizes[0], sizes[1], ranks)
            if split is None or built not in (None, split):
                raise Conflict(node, cause, f"{name_of(node)} cannot be divided in {ranks} parts")
            self._assign(op.y, split, node, cause, is_wanted=False)
        elif built is not None:
            split = reshaped(built, sizes[1], sizes[0], ranks)
            if split is None:
                raise Conflict(node, cause, f"{name_of(node)} cannot be divided in {ranks} parts")
            self._want(node, 0, split, op.y)

    def _divide(self, node: Node, run: Run, period: int, cause: Value | None) -> None:
        op = node.kernel
        assert op is not None
        if not self.plan.indices.may_divide(op, run, period):
            raise Conflict(node, cause, f"{name_of(node)} cannot be divided in {self.plan.ranks} parts")
        if run.is_summed and self.batch:
            raise Conflict(node, cause, f"{name_of(node)} sums over the batch")
        if self.plan.divided.get(node, run) != run:
            raise Conflict(node, cause, f"{name_of(node)} would be divided in two ways")
        self.divided[node] = run
        for n in range(len(op.results)):
            for axis in run.at(True, n):
                self._assign(op.results[n], Split(axis, period), node, cause, is_wanted=False)
            if run.is_summed:
                self._assign(op.results[n], Partial.SUM, node, cause, is_wanted=False)
        for n in range(len(op.operands)):
            for axis in run.at(False, n):
                self._want(node, n, Split(axis, period), cause)

    # -- values

    def _want(self, node: Node, number: int, split: Split, source: Value | None) -> None:
        """Divides an operand of an operation, or takes the part of a whole one."""
        value = node.op.operands[number]
        layout = self._layout(value)
        if layout == split:
            return
        if isinstance(layout, Split):
            raise Conflict(node, source, f"{name_of(node)} would need an operand that is divided otherwise")
        if layout is Partial.SUM or value in self.whole or self._is_constant(value):
            self.taken[node, number] = split
        else:
            self._assign(value, split, node, source, is_wanted=True)

    def _is_constant(self, value: Value) -> bool:
        maker = self.plan.program.makers.get(value)
        return maker is not None and isinstance(maker.op, Op) and maker.op.has_trait(traits.ConstantLike)

    def _assign(
        self, value: Value, layout: ShardLayout, node: Node | None, source: Value | None, *, is_wanted: bool
    ) -> None:
        known = self._layout(value)
        if known == layout:
            return
        if known is not None or (value in self.whole and value not in dict(self.seed.values)):
            raise Conflict(node, source, f"{_of(node)} would divide a value in two ways")
        ports = (*self.plan.program.inputs, *self.plan.program.outputs)
        if isinstance(layout, Split) and value in ports and not self._may_be_given(value, layout):
            if is_wanted and value in self.plan.program.shared:
                self.assigned[value] = Cause(layout, source, is_wanted)
                source = value
            raise Conflict(node, source, f"'{value.name}' is given whole")
        self.assigned[value] = Cause(layout, source, is_wanted)
        if isinstance(layout, Split):
            maker = self.plan.program.makers.get(value)
            users = self.plan.program.users.get(value, [])
            self._pending += [(n, value) for n in (*users, *([maker] if maker is not None else []))]

    def _may_be_given(self, value: Value, split: Split) -> bool:
        """Whether parts of an input or output in the order of ranks are the whole."""
        shape = value.type.shape if isinstance(value.type, TensorType) else None
        return self.batch and shape is not None and shape[split.axis] == split.period


def _of(node: Node | None) -> str:
    return "an input" if node is None else name_of(node)


def name_of(node: Node) -> str:
    """Returns the name of an operation in messages."""
    named = node.source.first_name or node.op.first_name
    return f"{node.source.name} '{named}'" if named else node.source.name


def hand_on_summands(plan: Plan) -> None:
    """Lets operations that only move or add summands do so before these are summed, so that it is done once."""
    program = plan.program
    for node in program.nodes:
        op = node.op
        if not isinstance(op, Op) or node.is_inner or len(op.results) != 1 or op.results[0] in plan.layouts:
            continue
        if not isinstance(op, _LINEAR) or len(set(op.operands)) != len(op.operands):
            continue
        summands = [v for v in op.operands if plan.layouts.get(v) is Partial.SUM and v not in program.outputs]
        alone = all(len(program.users.get(v, ())) == 1 for v in summands)
        taken = any((node, n) in plan.taken for n in range(len(op.operands)))
        sizes = [v.type.count if isinstance(v.type, TensorType) and v.type.is_static else -1 for v in op.operands]
        type = op.results[0].type
        count = type.count if isinstance(type, TensorType) and type.is_static else -1
        if len(summands) == len(op.operands) and alone and not taken and all(count <= n for n in sizes):
            plan.layouts[op.results[0]] = Partial.SUM
            plan.handed_on.add(node)
