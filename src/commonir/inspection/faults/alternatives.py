"""Other values that the attributes of an operation may have: those of a counterpart, and what definitions allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import permutations

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import is_sequence
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.types import TensorType
from commonir.ods import Op
from commonir.ods.fields import Field, keyword_of

_NUMBERS = (1e-12, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.0, 0.01, 0.1, 0.2, 0.3, 0.5, 1.0)
"""Values of epsilons, slopes and factors that frameworks have as defaults."""

_MAX_PERMUTED = 4


class Alternative(NamedTuple):
    """Other values of attributes by name, and a text that states them."""

    values: Mapping[str, object]
    text: str


def counterpart_attributes(op: Op, counterpart: Op) -> Iterator[Alternative]:
    """Yields the attributes of an operation of the same name that differ, all together and each alone."""
    own, others = _values(op), _values(counterpart) if counterpart.name == op.name else {}
    differing = {n: v for n, v in others.items() if n in own and own[n] != v}
    for chosen in ([differing] if len(differing) > 1 else []) + [{n: v} for n, v in differing.items()]:
        texts = [f"{n} is {_text(own[n])} in the first program and {_text(v)} in the second" for n, v in chosen.items()]
        attributes = "attribute" if len(chosen) == 1 else "attributes"
        agrees = f"with {'that' if len(chosen) == 1 else 'those'} of the second the first agrees"
        yield Alternative(chosen, f"{attributes} {' and '.join(texts)}; {agrees}")


def alternatives(op: Op) -> Iterator[Alternative]:
    """Yields other values of each attribute of an operation."""
    if not op.results or op.constant_data() is not None:
        return
    own = _values(op)
    for field in op.layout.attributes:
        if field.name in own:
            for value in _others(field, own[field.name], op):
                instead = f"{field.name} = {_text(value)} instead of {_text(own[field.name])}"
                yield Alternative(
                    {field.name: value}, f"{op.name} with {instead} computes what the second program does"
                )


def with_alternative(module: Module, number: int, values: Mapping[str, object]) -> Module | None:
    """Returns a copy of a program whose n-th operation has other attributes; None if it cannot have them."""
    copy = clone(module)
    assert isinstance(copy, Module)
    op = [op for op in copy.main.body.operations if isinstance(op, Op)][number]
    try:
        built = op.with_attributes(**values)
    except DiagnosticError:
        return None
    if op.parent is None:
        return None
    op.parent.insert_before(op, built)
    for old, new in zip(op.results, built.results, strict=True):
        new.name = old.name
        old.replace_all_uses_with(new)
    op.erase()
    return copy


def _values(op: Op) -> dict[str, object]:
    try:
        decoded = op.decoded_attributes()
    except DiagnosticError:  # a parameter that is computed has no value here
        return dict(op.stored_attributes)
    return {field.name: value for field, value in zip(op.layout.attributes, decoded, strict=True)}


def _others(field: Field, value: object, op: Op) -> Iterator[object]:
    choices = field.check.choices if field.check is not None else ()
    if isinstance(value, Enum):
        choices = tuple(type(value))
    if choices:
        yield from (choice for choice in choices if choice != value)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        rank = max((v.type.rank or 0 for v in op.operands if isinstance(v.type, TensorType)), default=0)
        yield from (n for n in (*range(rank), 1) if n not in (value, value + rank))
    elif isinstance(value, float):
        yield from (number for number in _NUMBERS if number != value)
    elif is_sequence(value) and 0 < len(value) <= _MAX_PERMUTED:
        yield from (order for order in dict.fromkeys(permutations(value)) if order != tuple(value))


def _text(value: object) -> str:
    value = keyword_of(value)
    return f"'{value}'" if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else f"{value}"
