"""Writes what a rank runs: the operations of a program on the parts that a plan gives the rank."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import DiagnosticError, InternalError
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import FunctionType, TensorType
from commonir.ods import Op, operations_behind, traits
from commonir.passes.remove_unused import remove_unused
from commonir.passes.shard.elementary import Node, written_out
from commonir.passes.shard.indices import on_parts
from commonir.passes.shard.layout import Partial, Split, part_of, part_type
from commonir.passes.shard.plan import Plan
from commonir.passes.transcribe import copied


class Unit:
    """An operation to write, on values of the elementary copy: one of the source, or a part of one.

    `needs` is the sharding of each operand, None for a whole one; `takes_summands` means that summands are passed
    on.
    """

    __slots__ = ("needs", "op", "operands", "results", "takes_summands")

    def __init__(
        self,
        op: Operation,
        operands: tuple[Value, ...],
        results: tuple[Value, ...],
        needs: tuple[Split | None, ...],
        *,
        takes_summands: bool = False,
    ) -> None:
        self.op = op
        self.operands = operands
        self.results = results
        self.needs = needs
        self.takes_summands = takes_summands


def units(plan: Plan, source: ml_program.Func) -> list[Unit]:
    """Returns the units that ranks run, in order: composites are kept unless they cannot run on shards."""
    out: list[Unit] = []
    for op in source.body.operations:
        nodes = plan.program.of_source.get(op)
        if not nodes:  # the terminator of the function, or an operation that only forwards an operand
            continue
        whole = _whole_unit(plan, op, nodes)
        if whole is not None:
            out.append(whole)
        else:
            out += [_unit_of(plan, node) for node in nodes]
    return out


def _unit_of(plan: Plan, node: Node) -> Unit:
    needs = tuple([plan.need(node, n) for n in range(len(node.op.operands))])
    return Unit(node.op, node.op.operands, node.op.results, needs, takes_summands=node in plan.handed_on)


def _whole_unit(plan: Plan, op: Operation, nodes: Sequence[Node]) -> Unit | None:
    """An operation of the source as one; None when it is to be written out."""
    values = plan.program.values
    operands, results = tuple([values[v] for v in op.operands]), tuple([values[v] for v in op.results])
    if not any(node.is_inner for node in nodes):
        (node,) = nodes
        handed_on = node in plan.handed_on
        return Unit(op, operands, results, _unit_of(plan, node).needs, takes_summands=handed_on)
    needs: dict[Value, set[Split | None]] = {}
    for node in nodes:
        for n, v in enumerate(node.op.operands):
            needs.setdefault(v, set()).add(plan.need(node, n))
    touched = any(need is not None for v in needs for need in needs[v])
    touched = touched or any(v in plan.layouts for node in nodes for v in node.op.results)
    if touched:
        if any(len(needs.get(v, ())) > 1 for v in operands) or not isinstance(op, Op):
            return None
        if any(plan.layouts.get(v) is Partial.SUM for node in nodes for v in node.op.results):
            return None
    unit = Unit(op, operands, results, tuple([next(iter(needs.get(v, {None}))) for v in operands]))
    return None if touched and not _is_inferred_from_shards(plan, unit, nodes) else unit


def _is_inferred_from_shards(plan: Plan, unit: Unit, nodes: Sequence[Node]) -> bool:
    """Whether a composite on parts consists of its elementary operations on parts."""
    ranks = plan.ranks
    operands = [
        Value(v.type if need is None else part_type(v.type, need, ranks))
        for v, need in zip(unit.operands, unit.needs, strict=True)
    ]
    try:
        result = written_out(copied(unit.op, tuple(operands)), operands, Block())
    except DiagnosticError:
        return False
    if result is None or len(result[0]) != len(nodes):
        return False
    for built, node in zip(result[0], nodes, strict=True):
        splits = [plan.split_of(v) for v in node.op.results]
        types = [
            v.type if s is None else part_type(v.type, s, ranks) for v, s in zip(node.op.results, splits, strict=True)
        ]
        if type(built) is not type(node.op) or [v.type for v in built.results] != types:
            return False
        if not _states_the_same(plan, built, node):
            return False
    return True


def _states_the_same(plan: Plan, new_op: Operation, node: Node) -> bool:
    """Whether the attributes of an operation on parts are those that it has in the plan."""
    if not (isinstance(new_op, Op) and isinstance(node.op, Op)):
        return False
    if new_op.has_trait(traits.ConstantLike):
        one, other = new_op.constant_data(), node.op.constant_data()
        return one is not None and other is not None and one.identity == other.identity
    expected = on_parts(node.op, new_op.operands, [plan.split_of(v) for v in node.op.results], plan.ranks)
    same = new_op.decoded_attributes() == expected.decoded_attributes()
    expected.operands = ()
    return same


class RankWriter:
    """Writes the function of one rank."""

    def __init__(self, plan: Plan, source: ml_program.Func, rank: int) -> None:
        self._plan = plan
        self._source = source
        self._rank = rank
        self._block = Block()
        self._values: dict[Value, Value] = {}
        self._sums: dict[Value, Value] = {}
        self._parts: dict[tuple[Value, Split], Value] = {}
        self._constants: dict[Value, Operation] = {}

    def function(self, todo: Sequence[Unit]) -> ml_program.Func:
        """The function, named after its rank."""
        plan, source = self._plan, self._source
        inputs = plan.program.inputs
        types = [v.type if (s := plan.split_of(v)) is None else part_type(v.type, s, plan.ranks) for v in inputs]
        self._block = Block(types, [v.name for v in inputs], source.body.label)
        self._values.update(zip(inputs, self._block.arguments, strict=True))
        for unit in todo:
            self._write(unit)
        outputs = tuple([self._value(v, plan.split_of(v)) for v in plan.program.outputs])
        self._block.append(ml_program.Return(outputs))
        remove_unused(self._block)
        result = ml_program.Func(
            f"rank{self._rank}",
            FunctionType(tuple(types), tuple([v.type for v in outputs])),
            Region([self._block]),
            source.output_names,
            source.sym_visibility,
            source.arg_attrs,
            source.res_attrs,
        )
        core.set_rank(result, self._rank, plan.ranks)
        return result

    def _write(self, unit: Unit) -> None:
        op = unit.op
        if isinstance(op, Op) and op.has_trait(traits.ConstantLike):
            self._constants[unit.results[0]] = op
            return
        if unit.takes_summands:
            operands = tuple([self._values[v] for v in unit.operands])
        else:
            operands = tuple([self._value(v, n) for v, n in zip(unit.operands, unit.needs, strict=True)])
        splits = [self._plan.split_of(v) for v in unit.results]
        if op.regions:
            built = self._with_regions(op, operands)
        elif isinstance(op, Op) and any(s is not None for s in (*unit.needs, *splits)):
            built = on_parts(op, operands, splits, self._plan.ranks)
        else:
            built = op.clone_shallow(operands, ())
        built.location = op.location
        self._block.append(built)
        for v, its, split in zip(unit.results, built.results, splits, strict=True):
            expected = v.type if split is None else part_type(v.type, split, self._plan.ranks)
            if its.type is not expected:
                raise InternalError(f"{op.name} on parts gives {its.type}, not {expected}")
            its.name = its.name or v.name
            self._values[v] = its

    def _with_regions(self, op: Operation, operands: tuple[Value, ...]) -> Operation:
        values = self._plan.program.values
        mapping = {v: self._value(values[v], None) for v in op.values_used if v in values}
        return clone(op, dict(mapping) | dict(zip(op.operands, operands, strict=True)))

    def _value(self, value: Value, need: Split | None) -> Value:
        """A value whole, or the part of it that this rank has."""
        layout = self._plan.layouts.get(value)
        if isinstance(layout, Split):
            if layout != need:
                raise InternalError(f"'{value.name}' is divided, and needed otherwise")
            return self._values[value]
        if need is None:
            return self._whole(value)
        key = (value, need)
        if key not in self._parts:
            constant = self._constants.get(value)
            data = constant.constant_data() if constant is not None else None
            if data is not None:
                built = core.constant(part_of(data, need, self._rank, self._plan.ranks))
            else:
                built = self._cut(self._whole(value), need)
            self._parts[key] = self._placed(built, value.name)
        return self._parts[key]

    def _whole(self, value: Value) -> Value:
        constant = self._constants.get(value)
        if constant is not None and value not in self._values:
            self._values[value] = self._block.append(constant.clone_shallow((), ())).results[0]
        if self._plan.layouts.get(value) is not Partial.SUM:
            return self._values[value]
        if value not in self._sums:
            summand = self._values[value]
            self._sums[value] = self._placed(core.all_reduce(summand), summand.name)
            summand.name = f"{summand.name}.part" if summand.name else ""
        return self._sums[value]

    def _placed(self, value: Value, name: str) -> Value:
        for op in operations_behind((value,)):
            self._block.append(op)
        value.name = name
        return value

    def _cut(self, value: Value, split: Split) -> Value:
        """The part of a whole value that this rank has."""
        type = value.type
        assert isinstance(type, TensorType)
        assert type.shape is not None
        sizes = tuple([d for d in type.shape if d is not None])
        (axis, period), ranks = split, self._plan.ranks
        size, part = sizes[axis], period // ranks
        if size == period:
            return _range(value, axis, self._rank * part, part)
        assert isinstance(size, int)
        blocks = core.reshape(value, (*sizes[:axis], size // period, period, *sizes[axis + 1 :]))
        chosen = _range(blocks, axis + 1, self._rank * part, part)
        return core.reshape(chosen, (*sizes[:axis], size // ranks, *sizes[axis + 1 :]))


def _range(value: Value, axis: int, first: int, count: int) -> Value:
    """Some positions of an axis, and all of the others."""
    type = value.type
    assert isinstance(type, TensorType)
    sizes = tuple([d for d in type.shape or () if d is not None])
    starts = tuple([first if n == axis else 0 for n in range(len(sizes))])
    stops = tuple([first + count if n == axis else d for n, d in enumerate(sizes)])
    return core.slice(value, starts, stops, (1,) * len(sizes))
