"""Writes the function of each rank: the operations of a program on the shards of a plan."""

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
from commonir.passes.shard.indices import on_shards
from commonir.passes.shard.layout import Partial, Split, shard_of, shard_type
from commonir.passes.shard.plan import Plan
from commonir.passes.transcribe import copied


class Unit:
    """An operation to write, with values of the elementary copy: one of the source, or one of its expansion.

    `splits` are the shardings of operands, None for replicated ones; with `takes_summands`, summands are not summed
    first.
    """

    __slots__ = ("op", "operands", "results", "splits", "takes_summands")

    def __init__(
        self,
        op: Operation,
        operands: tuple[Value, ...],
        results: tuple[Value, ...],
        splits: tuple[Split | None, ...],
        *,
        takes_summands: bool = False,
    ) -> None:
        self.op = op
        self.operands = operands
        self.results = results
        self.splits = splits
        self.takes_summands = takes_summands


def units(plan: Plan, source: ml_program.Func) -> list[Unit]:
    """Returns the units that ranks run, in order: composites are preserved unless they cannot run on shards."""
    out: list[Unit] = []
    for op in source.body.operations:
        nodes = plan.program.of_source.get(op)
        if not nodes:  # the terminator of the function, or an operation that only forwards an operand
            continue
        unit = _whole_unit(plan, op, nodes)
        if unit is not None:
            out.append(unit)
        else:
            out += [_unit_of(plan, node) for node in nodes]
    return out


def _unit_of(plan: Plan, node: Node) -> Unit:
    splits = tuple([plan.required_split(node, n) for n in range(len(node.op.operands))])
    return Unit(node.op, node.op.operands, node.op.results, splits, takes_summands=node in plan.forwards_summands)


def _whole_unit(plan: Plan, op: Operation, nodes: Sequence[Node]) -> Unit | None:
    """Returns an operation of the source as one unit; None if it must be expanded."""
    values = plan.program.values
    operands, results = tuple([values[v] for v in op.operands]), tuple([values[v] for v in op.results])
    if not any(node.is_inner for node in nodes):
        (node,) = nodes
        passed_on = node in plan.forwards_summands
        return Unit(op, operands, results, _unit_of(plan, node).splits, takes_summands=passed_on)
    splits_of: dict[Value, set[Split | None]] = {}
    for node in nodes:
        for n, v in enumerate(node.op.operands):
            splits_of.setdefault(v, set()).add(plan.required_split(node, n))
    touched = any(split is not None for v in splits_of for split in splits_of[v])
    touched = touched or any(v in plan.layouts for node in nodes for v in node.op.results)
    if touched:
        if any(len(splits_of.get(v, ())) > 1 for v in operands) or not isinstance(op, Op):
            return None
        if any(plan.layouts.get(v) is Partial.SUM for node in nodes for v in node.op.results):
            return None
    unit = Unit(op, operands, results, tuple([next(iter(splits_of.get(v, {None}))) for v in operands]))
    return None if touched and not _is_inferred_from_shards(plan, unit, nodes) else unit


def _is_inferred_from_shards(plan: Plan, unit: Unit, nodes: Sequence[Node]) -> bool:
    """Returns whether a composite on shards expands to its elementary operations on shards."""
    ranks = plan.ranks
    operands = [
        Value(v.type if split is None else shard_type(v.type, split, ranks))
        for v, split in zip(unit.operands, unit.splits, strict=True)
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
            v.type if s is None else shard_type(v.type, s, ranks) for v, s in zip(node.op.results, splits, strict=True)
        ]
        if type(built) is not type(node.op) or [v.type for v in built.results] != types:
            return False
        if not _states_the_same(plan, built, node):
            return False
    return True


def _states_the_same(plan: Plan, new_op: Operation, node: Node) -> bool:
    """Returns whether an operation on shards has the attributes that it has in the plan."""
    if not (isinstance(new_op, Op) and isinstance(node.op, Op)):
        return False
    if new_op.has_trait(traits.ConstantLike):
        data, expected_data = new_op.constant_data(), node.op.constant_data()
        return data is not None and expected_data is not None and data.identity == expected_data.identity
    expected = on_shards(node.op, new_op.operands, [plan.split_of(v) for v in node.op.results], plan.ranks)
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

    def function(self, rank_units: Sequence[Unit]) -> ml_program.Func:
        """Returns the function, named after its rank."""
        plan, source = self._plan, self._source
        inputs = plan.program.inputs
        types = [v.type if (s := plan.split_of(v)) is None else shard_type(v.type, s, plan.ranks) for v in inputs]
        self._block = Block(types, [v.name for v in inputs], source.body.label)
        self._values.update(zip(inputs, self._block.arguments, strict=True))
        for unit in rank_units:
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
            operands = tuple([self._value(v, n) for v, n in zip(unit.operands, unit.splits, strict=True)])
        splits = [self._plan.split_of(v) for v in unit.results]
        if op.regions:
            built = self._with_regions(op, operands)
        elif isinstance(op, Op) and any(s is not None for s in (*unit.splits, *splits)):
            built = on_shards(op, operands, splits, self._plan.ranks)
        else:
            built = op.clone_shallow(operands, ())
        built.location = op.location
        self._block.append(built)
        for v, result, split in zip(unit.results, built.results, splits, strict=True):
            expected = v.type if split is None else shard_type(v.type, split, self._plan.ranks)
            if result.type is not expected:
                raise InternalError(f"{op.name} on parts gives {result.type}, not {expected}")
            result.name = result.name or v.name
            self._values[v] = result

    def _with_regions(self, op: Operation, operands: tuple[Value, ...]) -> Operation:
        values = self._plan.program.values
        mapping = {v: self._value(values[v], None) for v in op.values_used if v in values}
        return clone(op, dict(mapping) | dict(zip(op.operands, operands, strict=True)))

    def _value(self, value: Value, split: Split | None) -> Value:
        """Returns a value, whole or as the shard of this rank."""
        layout = self._plan.layouts.get(value)
        if isinstance(layout, Split):
            if layout != split:
                raise InternalError(f"'{value.name}' is divided, and needed otherwise")
            return self._values[value]
        if split is None:
            return self._whole(value)
        key = (value, split)
        if key not in self._parts:
            constant = self._constants.get(value)
            data = constant.constant_data() if constant is not None else None
            if data is not None:
                built = core.constant(shard_of(data, split, self._rank, self._plan.ranks))
            else:
                built = self._cut(self._whole(value), split)
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
        """Returns the shard of a whole value for this rank."""
        type = value.type
        assert isinstance(type, TensorType)
        assert type.shape is not None
        dims = tuple([d for d in type.shape if d is not None])
        (axis, period), ranks = split, self._plan.ranks
        dim, part = dims[axis], period // ranks
        if dim == period:
            return _range(value, axis, self._rank * part, part)
        assert isinstance(dim, int)
        blocks = core.reshape(value, (*dims[:axis], dim // period, period, *dims[axis + 1 :]))
        chosen = _range(blocks, axis + 1, self._rank * part, part)
        return core.reshape(chosen, (*dims[:axis], dim // ranks, *dims[axis + 1 :]))


def _range(value: Value, axis: int, first: int, count: int) -> Value:
    """Returns a range of positions of an axis."""
    type = value.type
    assert isinstance(type, TensorType)
    dims = tuple([d for d in type.shape or () if d is not None])
    starts = tuple([first if n == axis else 0 for n in range(len(dims))])
    stops = tuple([first + count if n == axis else d for n, d in enumerate(dims)])
    return core.slice(value, starts, stops, (1,) * len(dims))
