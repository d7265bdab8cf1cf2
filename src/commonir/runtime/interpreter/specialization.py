"""Operations stated when running reaches them: for the shapes of their operands and the elements that they must know.

What an operation means may depend on data-dependent values: the rank of an operand, the axes of a reduction. Its
reference is then called with the types of the values at hand and with constants for what it reads the elements of, and
what it returns becomes a block that engines run like any other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Op, check_use, is_not_known, operations_behind
from commonir.ods.fields import Field, FieldKind
from commonir.rewrite.expand import append, expand
from commonir.runtime.instances import is_fixed, with_sizes
from commonir.runtime.interpreter.operations import data_of_array
from commonir.runtime.values import is_array, value_type

Array = NDArray[Any]

KNOWN_ELEMENTS = 1 << 12
"""Elements of an operand up to which they take part in the statement of an operation; larger ones are data."""

KEPT_STATEMENTS = 16
"""Statements kept for each operation."""


class Statement(NamedTuple):
    """A block that stands for an operation, and what stands in it for the operands that it still receives."""

    block: Block
    inputs: dict[int, Value]
    outputs: tuple[Value, ...]


class Statements:
    """The statements of the operations of a program, kept by types and known elements of operands."""

    def __init__(self) -> None:
        self._kept: dict[Op, _Kept] = {}

    def of(self, op: Op, operands: Sequence[Any], sizes: Mapping[str, int]) -> Statement:
        """Returns the statement of an operation for values of its operands.

        Raises: DiagnosticError when they contradict its definition.
        """
        kept = self._kept.get(op)
        if kept is None:
            kept = self._kept[op] = _Kept(op)
        read = [n for n in kept.may_read if _is_small(operands[n])]
        shapes = tuple([(v.type, x.shape if is_array(x) else None) for v, x in zip(op.operands, operands, strict=True)])
        attributes = with_sizes(op, sizes) if kept.mentions_sizes else {}
        key = (shapes, tuple([(n, _content_of(operands[n])) for n in read]), tuple(attributes.items()))
        result = kept.statements.get(key)
        if result is None:
            types = tuple([value_type(v, x) for v, x in zip(op.operands, operands, strict=True)])
            result = kept.statements[key] = _stated(op, operands, types, read, attributes)
            if len(kept.statements) > KEPT_STATEMENTS:
                kept.statements.popitem(last=False)
        kept.statements.move_to_end(key)
        return result


class _Kept:
    """What is known of an operation before it runs, and its statements so far."""

    def __init__(self, op: Op) -> None:
        self.may_read = _may_read(op)
        self.mentions_sizes = not all(map(is_fixed, op.stored_attributes.values()))
        self.statements: OrderedDict[object, Statement] = OrderedDict()


def _stated(
    op: Op, operands: Sequence[Any], types: Sequence[Type], read: Sequence[int], attributes: Mapping[str, object]
) -> Statement:
    """Returns the statement of an operation for operands of some types, of which it knows the elements of those that it
    reads.

    Raises: DiagnosticError when they contradict its definition.
    """
    try:
        return stated_by(op, operands, types, read, attributes)
    except DiagnosticError as error:
        small = [n for n, x in enumerate(operands) if is_array(x) and x.size <= KNOWN_ELEMENTS]
        if len(small) == len(read) or not is_not_known(error):
            raise
    # Not every operand whose elements an operation reads is declared to be one.
    return stated_by(op, operands, types, small, attributes)


def stated_by(
    op: Op, operands: Sequence[Any], types: Sequence[Type], read: Sequence[int], attributes: Mapping[str, object]
) -> Statement:
    """Returns the same, of what depends on the elements of no other operands.

    Raises: DiagnosticError when it does, or when operands contradict its definition.
    """
    values = [_constant(t, operands[n]) if n in read else Value(t) for n, t in enumerate(types)]
    built = op.clone_shallow(tuple(values), ())
    if attributes:
        built = built.with_attributes(**attributes)
    regions = _copied_regions(op)
    built.regions = tuple(regions.values())
    if not op.states_types:
        # What states its types was checked with them; here it has those that carry them.
        check_use(built)
    block = Block()
    constants = operations_behind([values[n] for n in read])
    for constant in constants:
        block.append(constant)
    outputs = append(block, expand(built, values, regions))
    block.append(core.Yield(outputs))
    for constant in constants:
        if not any(r.is_used for r in constant.results):
            constant.erase()
    inputs = {n: v for n, v in enumerate(values) if n not in read}
    return Statement(block, inputs, outputs)


def _copied_regions(op: Op) -> dict[str, Region]:
    """Copies of the regions of an operation by name; what they use from outside stays the same."""
    if not op.regions:
        return {}
    copied = clone(op)
    names = [f.name for f in op.layout.regions]
    return {name: region.take() for name, region in zip(names, copied.regions, strict=False)}


def _may_read(op: Op) -> list[int]:
    return [n for n, f in enumerate(op.operand_fields()) if reads_elements(f)]


def _is_small(x: object) -> bool:
    return is_array(x) and x.size <= KNOWN_ELEMENTS


def reads_elements(field: Field) -> bool:
    """Returns whether the elements of an operand may decide what an operation means."""
    return field.by_value or field.constant or field.kind is FieldKind.PARAMETER


def _constant(type: Type, array: Array) -> Value:
    assert isinstance(type, TensorType)
    return core.constant(data_of_array(type, array))


def _content_of(array: Array) -> object:
    """Returns the elements of an array in a form that can be compared."""
    return tuple(array.reshape(-1).tolist()) if array.dtype.kind == "O" else array.tobytes()
