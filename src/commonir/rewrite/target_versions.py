"""Rebuilds operations of a target with their definitions in the requested version of its dialect."""

from __future__ import annotations

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.operation import Value
from commonir.ods import Dialect, Op, known_data
from commonir.ods.fields import Field, FieldKind
from commonir.rewrite.equivalence import have_same_meaning
from commonir.rewrite.legality import Mismatch, Target


def versioned(op: Op, dialect: Dialect, target: Target) -> Op | Mismatch:
    """Returns an operation with the definition of the requested version; a different definition replaces the
    operation.
    """
    definition = dialect.find(op.name, target.version)
    if definition is type(op) or not op.name.startswith(f"{target.dialect}."):
        return op
    if definition is None:
        known = dialect.operations.get(op.name)
        first = dialect.version_text(known[0].since) if known else "another dialect"
        return Mismatch(f"{op.name} needs {first}, the target is {target}")
    arguments: dict[str, object] = {}
    known = definition.layout.by_name
    for f in op.layout.arguments:
        value = op.field_value(f)
        expected = known.get(f.name)
        if expected is not None and expected.kind is FieldKind.ATTRIBUTE and isinstance(value, Value):
            arguments[f.name] = as_attribute(expected, value)
            if arguments[f.name] is None:
                return Mismatch(f"'{f.spelling}' of {op.name} must be known before running in {target}")
        elif expected is not None:
            arguments[f.name] = value
        elif value not in (f.default, None, ()):
            return Mismatch(
                f"'{f.spelling}' of {op.name} needs {_first_with(op, f.name, dialect)}, the target is {target}"
            )
    required = [f.name for f in definition.layout.arguments if f.is_required]
    missing = next((name for name in required if arguments.get(name) is None), None)
    if missing is not None:
        return Mismatch(f"{op.name} takes '{missing}' in {target}")
    try:
        result = definition(**arguments)
    except DiagnosticError as error:
        return Mismatch("; ".join(f"{d.message} in {target}" for d in error.diagnostics))
    fault = next((d.message for d in result.verify() if d.is_error), None)
    if fault is not None:
        return Mismatch(f"{fault} in {target}")
    if definition.reference is not type(op).reference and not have_same_meaning(op, result):
        return Mismatch(f"{op.name} has a different meaning in {target}")
    if any(r.is_used for r in op.results[len(result.results) :]):
        return Mismatch(f"{op.name} has fewer results in {target}")
    op.regions = ()
    for old, new in zip(op.results, result.results, strict=False):
        new.name = old.name
        old.replace_all_uses_with(new)
    op.erase()
    return result


def _first_with(op: Op, field: str, dialect: Dialect) -> str:
    """Returns the first version in which an operation has a field."""
    return dialect.version_text(next(d.since for d in dialect.operations[op.name] if field in d.layout.by_name))


def as_attribute(field: Field, value: Value) -> object:
    """Returns the value of an attribute that is an operand in another version; None when it is not known."""
    data = known_data(value)
    if data is None or field.type is None or field.type.from_elements is None:
        return None
    try:
        return field.type.from_elements(data.shape, data.values())
    except ValueError:
        return None
