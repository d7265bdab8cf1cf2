"""Describes the differences between two versions of an operation, from their definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.ods.fields import Check, Field, FieldKind
from commonir.ods.operation import Op


def changes_between(older: type[Op], newer: type[Op]) -> str:
    """Returns a sentence on what a later version of an operation changed; "" when fields, types and constraints are the
    same.
    """
    text = "; ".join([*_fields(older, newer), *_types(older, newer), *_constraints(older, newer)])
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _fields(older: type[Op], newer: type[Op]) -> Iterator[str]:
    before, after = older.layout.by_name, newer.layout.by_name
    added = [f"`{f.spelling}`" for f in after.values() if f.name not in before]
    if added:
        yield f"adds {_enumerated(added)}"
    removed = [f"`{f.spelling}`" for f in before.values() if f.name not in after]
    if removed:
        yield f"removes {_enumerated(removed)}"
    for f in after.values():
        was = before.get(f.name, f)
        if was.kind is not f.kind:
            article = "a" if f.kind is FieldKind.PARAMETER else "an"
            yield f"`{f.spelling}` becomes {article} {f.kind.name.lower()}"
        elif was.is_required and not f.is_required:
            yield f"`{f.spelling}` is optional"
        if was.constant and not f.constant:
            yield f"`{f.spelling}` need not be constant"
        if was.check is not None and f.check is None:
            yield f"`{f.spelling}` {_relaxation(f, was.check)}"


def _relaxation(field: Field, check: Check) -> str:
    """Returns the additional values that a field may have after a check was removed."""
    cases = () if field.type is None else field.type.cases
    allowed = [f"`{case}`" for case in cases if field.type is not None and not check.holds(field.type.coerce(case))]
    return f"may also be {_enumerated(allowed, 'or')}" if allowed else f"need not be {check.text}"


def _types(older: type[Op], newer: type[Op]) -> Iterator[str]:
    variables = {
        f.pattern.element: newer.layout.variables.get(f.pattern.element)
        for f in newer.layout.by_name.values()
        if f.pattern is not None
    }
    separated: dict[str, list[str]] = {}
    for f in newer.layout.by_name.values():
        was = older.layout.by_name.get(f.name, f).pattern
        if f.pattern is not None and was is not None and f.pattern.element != was.element and was.element in variables:
            separated.setdefault(f.pattern.element, []).append(f"`{f.spelling}`")
    for name, fields in separated.items():
        verb = "has an element type of its" if len(fields) == 1 else "have an element type of their"
        yield f"{_enumerated(fields)} {verb} own, `{name}`"
    for name, variable in variables.items():
        was = older.layout.variables.get(name)
        added = () if was is None or variable is None or name in separated else variable.elements - was.elements
        if added:
            yield f"`{name}` may also be {_enumerated(sorted([e.name for e in added]), 'or')}"


def _constraints(older: type[Op], newer: type[Op]) -> Iterator[str]:
    labels = {c.label for c in older.layout.constraints.values()}
    added = [c.label for c in newer.layout.constraints.values() if c.label not in labels]
    if added:
        yield f"adds the constraint {_enumerated(added)}"


def _enumerated(names: Sequence[str], word: str = "and") -> str:
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), names[-1])))
