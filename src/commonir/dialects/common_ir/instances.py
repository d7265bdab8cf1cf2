"""Instances of functions: copies of their bodies for the operand types of one call.

Source: Common IR specification, function definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from commonir.dialects import onnx
from commonir.dialects.common_ir.ordering import ordered
from commonir.dialects.common_ir.shape_checks import shape_check
from commonir.ir.attributes import Attribute
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ods import Op, attr_types, attribute, traits
from commonir.ods.declared_types import declared_type

_T = TypeVar("_T", bound=Operation)


class FunctionInstance(
    onnx.FunctionInstance,
    name="common_ir.function_instance",
    traits=(traits.IsolatedFromAbove, traits.SingleBlock),
):
    """A function with the operand types and attribute values of one call; it does not occur in programs."""

    declared: tuple[str, ...] = attribute(attr_types.strings, doc="the declared types of its parameters and outputs")

    def result_check(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> Operation | None:
        names = [f"{self.sym_name}.{v.name}" for v in (*self.inputs, *self.outputs)]
        return shape_check(names, list(map(declared_type, self.declared)), (*inputs, *outputs))


def fill_beside(
    holder: Operation,
    new_op: _T,
    source: Block,
    block: Block,
    values: dict[Value, Value],
    actual: Mapping[str, Attribute] | None = None,
) -> _T:
    """Copies the operations of a graph or function to a block of a new operation, in an order that data and control
    edges allow. `values` are those that stand for the inputs, and receives the others.

    The operation stands beside `holder` without being part of the program, so that calls inside find what they call.
    Raises: CyclicOrder; DiagnosticError (E0505) where an actual attribute does not fit.
    """
    new_op.parent = holder.parent
    for op in ordered(source):
        block.append(copied(op, values, actual))
    return new_op


def copied(source: Operation, values: dict[Value, Value], actual: Mapping[str, Attribute] | None) -> Operation:
    """A copy of an operation and of what is nested in it, in which actual attributes, if any, replace references."""
    regions: dict[Operation, list[Region]] = {}
    order = list(source.walk())
    for op in order:
        copies: list[Region] = []
        for r in op.regions:
            blocks: list[Block] = []
            for b in r.blocks:
                block = Block([a.type for a in b.arguments], [a.name for a in b.arguments], b.label)
                values.update(zip(b.arguments, block.arguments, strict=True))
                blocks.append(block)
            copies.append(Region(blocks))
        regions[op] = copies
    result: dict[Operation, Operation] = {}
    # What stands in an inner block before the operation around it: its results are needed by what follows inside.
    for op in innermost_first(source):
        copy = op.clone_shallow(tuple([values.get(v, v) for v in op.operands]), tuple(regions[op]))
        if isinstance(copy, Op) and actual is not None:
            copy = onnx.with_actual_attributes(copy, actual)
        values.update(zip(op.results, copy.results, strict=True))
        result[op] = copy
        for r, target in zip(op.regions, regions[op], strict=True):
            for b, into in zip(r.blocks, target.blocks, strict=True):
                for inner in b.operations:
                    into.append(result[inner])
    return result[source]


def innermost_first(op: Operation) -> Iterable[Operation]:
    """An operation after everything nested in it, in order of the program otherwise."""
    pending: list[tuple[Operation, bool]] = [(op, False)]
    while pending:
        at, is_ready = pending.pop()
        if is_ready or not at.regions:
            yield at
            continue
        pending.append((at, True))
        nested = [c for r in at.regions for b in r.blocks for c in b.operations]
        pending.extend((c, False) for c in reversed(nested))
