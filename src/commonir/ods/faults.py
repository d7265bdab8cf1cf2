"""Findings of definitions, in terms of the operation that the user wrote.

A reference builds other operations, whose definitions find what is wrong with the operands of the whole. `of_reference`
says it of the operation that has the reference: with its name and the names of its operands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from commonir.base.codes import VIOLATED_CONSTRAINT, WRONG_TYPE
from commonir.base.diagnostics import Code, Diagnostic
from commonir.ir.operation import Operation, Value
from commonir.ir.origins import TextLocation
from commonir.ods.definition import Definition
from commonir.ods.fields import FieldKind

_MOST_OPERANDS = 5
_OF_TYPES = (VIOLATED_CONSTRAINT, WRONG_TYPE)
Inputs = Sequence[Value | tuple[Value, ...] | None]
"""The arguments of a reference: for each operand a value, several, or None."""


class Fault(Diagnostic):
    """A violation of the definition of `op`. Its message is that name, the label of a constraint, and `text`, in which
    fields that Python has under other names are spelled as in files.
    """

    __slots__ = ("op", "text")

    def __init__(self, op: Definition, code: Code, text: str, *, label: str = "") -> None:
        text = _substituted(text, {f.name: f.spelling for f in op.layout.by_name.values()})
        super().__init__(code, f"{op.name}: {label and f'{label}: '}{text}", help=code.advice_for(op.name))
        self.op = op
        self.text = text


def of_reference(op: Definition, fault: Diagnostic, inputs: Inputs) -> Diagnostic:
    """Returns a finding of an operation in the reference of another one as a finding of the latter. `inputs` are the
    values for its operands in the reference.
    """
    if isinstance(fault, Fault):
        return fault if fault.op is op else _renamed(op, fault, inputs)
    name, _, _ = fault.message.partition(": ")
    dialect, point, _ = name.partition(".")
    is_of_another = bool(point) and " " not in name and dialect != op.name.partition(".")[0]
    return fault.prefixed(f"{op.name}: ") if is_of_another else fault


def with_operands(op: Definition, fault: Diagnostic) -> Diagnostic:
    """Returns a finding of an operation with a note on its operands, where their types matter and are not in sight."""
    is_about_types = isinstance(fault, Fault) and fault.code in _OF_TYPES and not fault.notes
    operands = list(_operands(op)) if is_about_types else []
    if 0 < len(operands) <= _MOST_OPERANDS and not isinstance(op.location, TextLocation):
        shown = [f"{name} '{v.name}': {v.type}" if v.name else f"{name}: {v.type}" for v, name in operands]
        fault.notes = (*fault.notes, f"operands: {', '.join(shown)}")
    return fault


def _renamed(op: Definition, fault: Fault, inputs: Inputs) -> Fault:
    own = _names(op, inputs)
    names = {name: _described(value, own) for value, name in _operands(fault.op)}
    result = Fault(op, fault.code, _substituted(fault.text, names))
    # The page of the whole does not list what its reference demands.
    result.help = None
    return result


def _names(op: Definition, inputs: Inputs) -> dict[Value, str]:
    """Returns the names of the operands of an operation, by their values in its reference."""
    out: dict[Value, str] = {}
    for f, value in zip(op.layout.formals, inputs, strict=False):
        if isinstance(value, Value):
            out.setdefault(value, f.spelling)
        else:
            out.update((v, f"{f.spelling}[{n}]") for n, v in enumerate(value or ()))
    return out


def _operands(op: Definition) -> Iterator[tuple[Value, str]]:
    """Yields the operands of an operation with the names that its own messages have for them."""
    for f in op.layout.inputs:
        value: object = op.field_value(f) if f.kind is FieldKind.OPERAND else op.bound_value(f)
        if isinstance(value, Value):
            yield value, f.spelling
        elif isinstance(value, tuple):
            yield from ((v, f"{f.spelling}{n}") for n, v in enumerate(value) if isinstance(v, Value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  of any field


def _described(value: Value, own: Mapping[Value, str]) -> str:
    """Returns the name of an operand, or what is said of a value that is computed from operands."""
    if value in own:
        return own[value]
    sources = dict.fromkeys(own[v] for v in _sources(value, own))
    if not sources:
        return "a constant"
    name = " and ".join(sources)
    same = [v for v in own if len(sources) == 1 and own[v] == name and v.type is value.type]
    return name if same else f"what is computed from {name}"


def _sources(value: Value, own: Mapping[Value, str]) -> Iterator[Value]:
    """Yields the operands from which a value of a reference is computed."""
    seen: set[Value] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in own:
            yield current
        elif isinstance(current.owner, Operation):
            pending += current.owner.operands


def _substituted(text: str, names: Mapping[str, str]) -> str:
    """Returns a message with other names of operands; the article "a" is not one."""
    changed = {name: new for name, new in names.items() if name != new}
    if not changed:
        return text
    words = "|".join(_pattern(name) for name in changed)
    return re.sub(words, lambda match: match[0].replace(match[0].strip("'"), changed[match[0].strip("'")]), text)


def _pattern(name: str) -> str:
    word = re.escape(name)
    return rf"'{word}'|(?<![\w'.]){word}(?![\w'(])" if name != "a" else r"'a'|(?<![\w'.])a(?= and |[,:;]|$)"
