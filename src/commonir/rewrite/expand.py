"""Expands a composite operation by one level: calls its reference with the actual operands, and folds the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonir.base.codes import VIOLATED_CONSTRAINT, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Origin
from commonir.ir.types import TensorType
from commonir.notation import NotationError, NotKnownError
from commonir.ods import (
    Derived,
    Op,
    infer,
    known_data,
    known_dims,
    known_elements,
    not_known,
    operations_behind,
    results_of,
    traits,
)
from commonir.ods.faults import Fault, of_reference
from commonir.ods.inference import PlacedOperations, missing_operands
from commonir.ods.requiring import Requiring

_LARGE = 1 << 12
"""References do not read the elements of larger constants."""


class Expansion:
    """The expansion of an operation: the values of its results, and the new operations that define them, in order."""

    __slots__ = ("operations", "results")

    def __init__(self, results: tuple[Value, ...], operations: list[Operation]) -> None:
        self.results = results
        self.operations = operations


Regions = Mapping[str, Region | tuple[Region, ...]]


def expand(op: Op, operands: Sequence[Value], regions: Regions | None = None, *, is_final: bool = False) -> Expansion:
    """Returns the expansion of a composite on other operands, by one level. The new operations are detached.

    `operands` are flat, as `op.operands`. A trace of inference is copied if possible, because a reference returns
    the same for equal types and known elements. With `is_final`, the operation is not specialized at run time, so its
    dynamic form is used if it has no other.

    Raises: DiagnosticError (E0504) when the reference does not apply to these operands; E0509 when it is
    data-dependent.
    """
    if op.results and not op.regions and not op.infers_types and _can_reuse_trace(op, operands):
        derived = infer(op)
        if not derived.is_data_dependent:
            return _copied(derived, op, operands)
    if absent := missing_operands(op):
        raise DiagnosticError(*[Fault(op, WRONG_OPERAND_COUNT, f"operand '{f.name}' is missing") for f in absent])
    replacement = dict(zip(op.operands, operands, strict=True))
    grouped: list[Value | tuple[Value, ...] | None] = []
    for f in op.layout.formals:
        v: Value | tuple[Value, ...] | None = op.field_value(f)
        if isinstance(v, tuple):
            grouped.append(tuple([replacement[u] for u in v]))
        else:
            grouped.append(None if v is None else replacement[v])
    outer_regions = (regions or {}).values()
    placed = PlacedOperations([r for each in outer_regions for r in ((each,) if isinstance(each, Region) else each)])
    try:
        returned = op.reference(*grouped, **(regions or {}))
    except NotKnownError as reason:
        returned = _dynamic_form(op, grouped) if is_final and not regions else None
        if returned is None:
            raise DiagnosticError(not_known(op, reason)) from None
    except NotationError as error:
        raise DiagnosticError(Fault(op, VIOLATED_CONSTRAINT, str(error))) from None
    except DiagnosticError as error:
        raise DiagnosticError(*[of_reference(op, d, grouped) for d in error.diagnostics]) from None
    if isinstance(returned, Operation) and not returned.results:
        return Expansion((), [*operations_behind(returned.operands), returned])
    if isinstance(returned, Requiring):
        first = [*operations_behind(returned.required.operands), returned.required]
        others = [built for built in operations_behind(returned.results, placed=placed) if built not in first]
        return Expansion(returned.results, [*first, *others])
    outputs = results_of(returned)
    outputs = outputs[: len(op.results)] if op.results else outputs
    return Expansion(outputs, operations_behind(outputs, placed=placed))


def _dynamic_form(op: Op, grouped: Sequence[Value | tuple[Value, ...] | None]) -> Any:
    """Returns the form of an operation that takes dims at run time; None if there is none."""
    try:
        return op.dynamic_reference(*grouped)
    except (NotKnownError, NotationError):
        return None


def _can_reuse_trace(op: Op, operands: Sequence[Value]) -> bool:
    """Returns whether the trace of inference is valid for other operands: a call would return the same results."""
    read = {v for f in op.layout.inputs if f.by_value and isinstance(v := op.field_value(f), Value)}
    for traced, operand in zip(op.operands, operands, strict=True):
        type = operand.type
        if traced.type is not type or not isinstance(type, TensorType) or type.shape is None or None in type.shape:
            return False
        if traced in read:
            if traced is not operand and known_elements(traced) != known_elements(operand):
                return False
        elif not (type.is_static and type.count > _LARGE) and is_known(operand):
            # References may read small constants of operands without `by_value` too.
            return False
    return True


def is_known(value: Value) -> bool:
    """Returns whether the elements of a value are known, perhaps as symbolic expressions."""
    return known_dims(value) is not None or known_data(value) is not None


def _copied(derived: Derived, op: Op, operands: Sequence[Value]) -> Expansion:
    """Copies the trace of a reference onto the operands of an operation."""
    mapping = dict(zip(op.operands, operands, strict=True))
    values: dict[Value, Value] = {}
    for placeholder, value in zip(derived.inputs, op.grouped_operands(), strict=True):
        if isinstance(value, tuple):
            values.update(zip(placeholder, [mapping[v] for v in value], strict=True))
        elif value is not None:
            values[placeholder] = mapping[value]
    built = [clone(inner, values) for inner in derived.body]
    # Trailing results that are not requested are omitted.
    return Expansion(tuple([values.get(v, v) for v in derived.outputs[: len(op.results)]]), built)


def append(block: Block, expansion: Expansion, location: Origin | None = None) -> tuple[Value, ...]:
    """Appends an expansion to a block, folding shape arithmetic, and returns the results."""
    replaced: dict[Value, Value] = {}
    for op in expansion.operations:
        simpler = folded(op)
        if simpler is None:
            block.append(op)
            op.location = op.location or location
            continue
        owner = simpler.owner
        if isinstance(owner, Operation) and owner.parent is None:
            block.append(owner)
            owner.location = location
        op.results[0].replace_all_uses_with(simpler)
        replaced[op.results[0]] = simpler
        op.erase()
    return tuple([_last(v, replaced) for v in expansion.results])


def _last(value: Value, replaced: dict[Value, Value]) -> Value:
    while value in replaced:
        value = replaced[value]
    return value


def equal_value(op: Op) -> Value | None:
    """Returns the existing value that an operation folds to; None when there is none, or when types must be known."""
    try:
        return op.fold()
    except NotKnownError:
        return None


def folded(op: Operation) -> Value | None:
    """Returns a simpler value for the only result: an equal operand, or a vector of known dims; None otherwise."""
    if not isinstance(op, Op) or len(op.results) != 1 or op.has_trait(traits.ConstantLike):
        return None
    simpler = equal_value(op)
    if simpler is not None:
        return simpler
    type = op.results[0].type
    if not isinstance(type, TensorType) or not type.element.is_integer or type.rank not in (0, 1):
        return None
    dims = known_dims(op.results[0])
    if dims is None:
        return None
    return core.Dims(dims, type.element, type.rank == 0).y
