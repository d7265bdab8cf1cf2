"""One small operation of a definition, made from its declaration: what its documentation is shown at.

Operands have the names of their patterns as dimensions; attributes without a default are tried from a few plain values
of their kind, until the definition accepts the operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from commonir.base.diagnostics import DiagnosticError, InternalError
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, ElementType, TensorType, f32, i32
from commonir.notation import NotationError
from commonir.ods import attr_types
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import Field, FieldKind
from commonir.ods.known import Known
from commonir.ods.operation import Op
from commonir.ods.patterns import Pattern, wrapped
from commonir.symbolic import Dim, symbol

_RANKS = (2, 1, 3, 4)
_TRIALS = 8
_PREFERRED = (f32, i32)
_CLASSES = {"float": f32, "number": f32, "any": f32, "": f32, "int": i32}


def example_of(definition: type[Op]) -> Op | None:
    """Returns an operation of the definition, with all optional operands where it accepts them; None when none was
    found.
    """
    if definition.layout.regions:
        return None
    for whole, rank, trial in product((True, False), _RANKS, range(_TRIALS)):
        try:
            return definition(**_arguments(definition, rank, trial, whole))
        except (DiagnosticError, NotationError, InternalError, TypeError, ValueError, IndexError, KeyError):
            continue  # this guess does not fit the definition
    return None


def _arguments(definition: type[Op], rank: int, trial: int, whole: bool) -> dict[str, object]:
    out: dict[str, object] = {}
    for f in definition.layout.arguments:
        if f.kind is FieldKind.OPERAND:
            if f.variadic:
                out[f.name] = (_operand(definition, f, rank), _operand(definition, f, rank))
            elif f.is_required or whole:
                out[f.name] = _operand(definition, f, rank)
        elif f.is_required:
            found = _values(f.type, rank)
            out[f.name] = found[trial % len(found)]
    return out


def _operand(definition: type[Op], field: Field, rank: int) -> Value:
    type = _type(definition, field.pattern, rank)
    if field.pattern is not None and field.pattern.content is not None:
        return Value(wrapped(field.pattern.wrapper, _type(definition, field.pattern.content, rank)))
    if field.by_value:
        sizes = tuple([symbol(f"{field.spelling}{n}") for n in range(rank)])
        return Known(TensorType(type.element, (rank,)), sizes).result
    return Value(type)


def _type(definition: type[Op], pattern: Pattern | None, rank: int) -> TensorType:
    if pattern is None:
        return TensorType(f32, (symbol("m"), symbol("n")))
    shape: list[Dim] = []
    for name, many in pattern.dims if pattern.dims is not None else (("s", True),):
        if many:
            shape += [symbol(f"{name or 'd'}{n}") for n in range(rank)]
        else:
            shape.append(int(name) if name.isdigit() else symbol(name or "d"))
    return TensorType(_element(definition, pattern.element), tuple(shape))


def _element(definition: type[Op], name: str) -> ElementType:
    variable = definition.layout.variables.get(name)
    if variable is None:
        return ELEMENT_TYPES.get(name) or _CLASSES.get(name, f32)
    for e in _PREFERRED:
        if e in variable.elements:
            return e
    return min(variable.elements, key=lambda e: e.name)


def _values(kind: AttrType[Any] | None, rank: int) -> Sequence[object]:
    """Returns a few values of a kind."""
    match "" if kind is None else kind.name:
        case _ if kind is not None and kind.cases:
            return kind.cases
        case attr_types.integer.name:
            return (1, 0, 2)
        case attr_types.number.name:
            return (0.5, 1.0)
        case attr_types.flag.name | attr_types.unit.name:
            return (False, True)
        case attr_types.text.name | attr_types.symbol.name:
            return ("name",)
        case attr_types.texts.name:
            return (("name",),)
        case attr_types.element.name:
            return (f32, i32)
        case attr_types.type_.name:
            return (TensorType(f32, (2, 3)),)
        case attr_types.data.name:
            return (data_of(f32, (2,), (1.0, 2.0)), data_of(f32, (), (1.0,)))
        case attr_types.dim.name:
            return (symbol("n"), 2)
        case attr_types.integers.name:
            return ((1,) * rank, tuple(range(rank)), (0,), (1,), (0, 1), (1, 0), (1, 1), ())
        case attr_types.pairs.name:
            return (((1, 1),) * rank, ((0, 0),), ((0, 1), (0, 1)), ())
        case attr_types.dims.name:
            return (tuple([symbol(f"n{k}") for k in range(rank)]), (2, 3), (1,), ())
        case attr_types.numbers.name:
            return ((1.0,) * rank, (0.5,), (1.0, 2.0), ())
        case attr_types.flags.name:
            return ((False,) * rank, (True,), ())
        case _:
            return (None,)
