"""The operation of the same name in another version of its dialect, where it has the same meaning.

Proven by definitions, or by references where an attribute of one version is an operand of the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.ir.operation import Value
from commonir.ods import Op, check_operation
from commonir.ods.fields import FieldKind
from commonir.rewrite.equivalence import have_same_meaning
from commonir.rewrite.legalize import Context, Mismatch
from commonir.rewrite.target_versions import as_attribute

_Operand = Value | tuple[Value, ...] | None


def counterpart_of(op: Op, definition: type[Op], context: Context, operands: Sequence[_Operand]) -> Op | Mismatch:
    """Returns an operation on converted operands by another definition of the same name, or why there is none."""
    operand = dict(zip(op.formal_operands(), operands, strict=True))
    arguments = _arguments(op, definition, operand, context)
    if isinstance(arguments, Mismatch):
        return arguments
    count = len(definition.layout.results)
    if any(r.is_used for r in op.results[count:]) and not definition.layout.results[-1].variadic:
        return Mismatch(f"{op.name} has fewer results in {context.target}")
    result = definition.build(arguments, [r.type for r in op.results])
    errors = list(check_operation(result))
    used = max([r.index + 1 for r in op.results if r.is_used], default=1)
    if errors and used < len(op.results):
        # Another version may have other types of results that nothing uses.
        result = definition.build(arguments, [r.type for r in op.results[:used]])
        errors = list(check_operation(result))
    if errors:
        return Mismatch("; ".join(d.message for d in errors))
    if type(op).newest() is not definition.newest() and not _means_the_same(op, result, operand):
        return Mismatch(f"{op.name} has another meaning in {context.target}")
    return result


def _arguments(
    op: Op, definition: type[Op], operand: dict[str, Value | tuple[Value, ...] | None], context: Context
) -> dict[str, object] | Mismatch:
    """The arguments of a definition that are those of an operation of another version."""
    known = {f.name.lower(): f for f in definition.layout.arguments}
    regions = iter(context.regions)
    out: dict[str, object] = {}
    for f in op.layout.arguments:
        value: object = next(regions, None) if f.kind is FieldKind.REGION else op.field_value(f)
        expected = known.get(f.name.lower())
        if expected is None:
            if value not in (f.default, None, ()):
                return Mismatch(f"{op.name} has no '{f.spelling}' in {context.target}")
            continue
        if f.name in operand and (expected.kind is FieldKind.OPERAND or f.kind is FieldKind.OPERAND):
            value = operand[f.name]
        elif f.kind is expected.kind is FieldKind.PARAMETER and (bound := op.bound_value(f)) is not None:
            value = context.converted.get(bound, bound)
        if value is None and expected.kind is not f.kind:
            continue
        if isinstance(value, Value) and expected.kind is FieldKind.ATTRIBUTE:
            value = as_attribute(expected, value)
            if value is None:
                return Mismatch(f"'{f.spelling}' of {op.name} must be known before running in {context.target}")
        out[expected.name] = value
    missing = next((f.spelling for f in definition.layout.arguments if f.is_required and out.get(f.name) is None), None)
    return out if missing is None else Mismatch(f"{op.name} takes '{missing}' in {context.target}")


def _means_the_same(op: Op, new_op: Op, operand: dict[str, Value | tuple[Value, ...] | None]) -> bool:
    """Whether an operator of one version means the same as one of another, on the same operands."""
    arguments = operand | {f.name: op.field_value(f) for f in op.layout.attributes}
    return have_same_meaning(type(op).build(arguments, [r.type for r in op.results]), new_op)
