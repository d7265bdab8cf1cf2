"""Computes the fields of an operation for a file: the inverse of what `building.py` does with a `Statement`.

Both forms of a program, messages and text, are written from it. What was read comes out as it was: the order of inputs
and attributes, the way a parameter is bound, the name that the operation states.

Source: MIL specification, Argument, Op.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects.mil.base import OPERATION_NAME
from commonir.dialects.mil.program import (
    MAP_ORDER,
    PARAMETERS,
    UNNAMED,
    UNUSUAL,
    Compound,
    CompoundConstant,
    CompoundLiteral,
    Literal,
    attribute_value,
)
from commonir.formats.coreml.building import CONST, DIALECT, ORDER_SEPARATOR
from commonir.formats.coreml.literals import parameter_data, plain_data
from commonir.formats.coreml.names import FunctionNames
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.data import Data, TextData
from commonir.ir.operation import Operation, Value
from commonir.ir.types import string, tensor
from commonir.ods import Op
from commonir.ods.fields import BOUND, MISSING, Field, FieldKind

PREFIX = f"{DIALECT}."

_TEXT = tensor(string)

Refuse = Callable[[str], None]
"""Receives why a part of an operation has no form in a file."""
Inputs = dict[str, Sequence[Value | Data]]


class OperationForm(NamedTuple):
    """The fields of an operation, in the order of the file.

    An input is bound to values, or to the constant of a parameter that the module holds as a Python value.
    """

    kind: str
    inputs: list[tuple[str, Sequence[Value | Data]]]
    attributes: list[tuple[str, Data | Compound]]


def form_of(op: Operation, names: FunctionNames, refuse: Refuse) -> OperationForm:
    """Returns the fields of an operation without its results and blocks; `refuse` gets what a file cannot express."""
    kind = CONST if isinstance(op, CompoundConstant) else op.name.removeprefix(PREFIX)
    input_order, attribute_order = _orders(op)
    if isinstance(op, Op) and PARAMETERS not in op.extra:
        inputs = _inputs(op, input_order, refuse)
    else:
        inputs = _named_inputs(op, refuse)
    attributes = _attributes(op, names, refuse)
    return OperationForm(
        kind,
        [(key, inputs[key]) for key in _ordered(inputs, input_order)],
        [(key, attributes[key]) for key in _ordered(attributes, attribute_order)],
    )


def literal_of(value: Value) -> Literal | CompoundLiteral | None:
    """The literal that a value is; None when it has a name."""
    return value.owner if isinstance(value.owner, Literal | CompoundLiteral) else None


def constant_of(attribute: Attribute) -> Data | Compound:
    """The constant for an undeclared attribute.

    Raises: ValueError when there is none.
    """
    try:
        return attribute_value(attribute)
    except ValueError:
        return plain_data(attribute)


# -- inputs


def _inputs(op: Op, order: Sequence[str], refuse: Refuse) -> Inputs:
    out: Inputs = {}
    for f in op.layout.inputs:
        stored = op.attribute_values[op.places[f].attribute] if f.kind is FieldKind.PARAMETER else BOUND
        if stored is not BOUND:
            if stored is not MISSING and stored is not None and stored != f.default:
                try:
                    out[f.spelling] = (parameter_data(op, f, stored),)
                except (ValueError, TypeError) as error:
                    refuse(f"parameter '{f.spelling}': {error}")
            continue
        content: Value | tuple[Value, ...] | None = (
            op.bound_value(f) if f.kind is FieldKind.PARAMETER else op.field_value(f)
        )
        if isinstance(content, tuple):
            # A parameter that is bound to no value at all differs from one that is not bound.
            if content or f.spelling in order:
                out[f.spelling] = content
        elif content is not None:
            out[f.spelling] = (content,)
    return out


def _named_inputs(op: Operation, refuse: Refuse) -> Inputs:
    """The inputs of an operation that keeps their names itself: of an unknown one, or of one that takes any."""
    stored = op.extra.get(PARAMETERS)
    entries = stored.entries if isinstance(stored, DictionaryAttr) else ()
    out: Inputs = {}
    start = 0
    for key, count in entries:
        end = start + (count.value if isinstance(count, IntegerAttr) else 0)
        out[key] = op.operands[start:end]
        start = end
    if start != len(op.operands):
        refuse(f"'{PARAMETERS}' names {start} operands, found {len(op.operands)}")
    return out


# -- attributes


def _attributes(op: Operation, names: FunctionNames, refuse: Refuse) -> dict[str, Data | Compound]:
    out: dict[str, Data | Compound] = {}
    declared = op.extra.get(OPERATION_NAME)
    if declared is None and UNNAMED not in op.extra:
        out[OPERATION_NAME] = TextData(_TEXT, (_made_name(op, names),))
    if isinstance(op, Op):
        for f in op.layout.attributes:
            stored = op.attribute_values[op.places[f].attribute]
            if f.kind is not FieldKind.ATTRIBUTE or stored is MISSING or stored is None:
                continue
            if isinstance(stored, Data | Compound):
                out[f.spelling] = stored
                continue
            try:
                out[f.spelling] = _unusual(op, f, stored) or parameter_data(op, f, stored)
            except (ValueError, TypeError) as error:
                refuse(f"attribute '{f.spelling}': {error}")
    for key, content in op.extra.items():
        # Names with a dot are those of other dialects, which no name of the format can be.
        if "." not in key:
            try:
                out[key] = constant_of(content)
            except ValueError as error:
                refuse(f"attribute '{key}': {error}")
    return out


def _unusual(op: Op, field: Field, stored: object) -> Data | None:
    """The constant that the file has for an attribute, if it is kept and still has its value."""
    preserved = op.extra.get(UNUSUAL)
    content = dict(preserved.entries).get(field.spelling) if isinstance(preserved, DictionaryAttr) else None
    data = None if content is None else attribute_value(content)
    if not isinstance(data, Data) or field.type is None or field.type.from_elements is None:
        return None
    return data if field.type.from_elements(data.shape, data.values()) == stored else None


def _made_name(op: Operation, names: FunctionNames) -> str:
    """The name for an operation that states none."""
    return names[op.results[0]] if op.results else names.fresh(op.name.removeprefix(PREFIX))


# -- order


def _orders(op: Operation) -> tuple[list[str], list[str]]:
    """The inputs and the attributes of an operation in the order of its file, as far as it is known."""
    stored = op.extra.get(MAP_ORDER)
    if not isinstance(stored, StringAttr):
        return [], []
    inputs, _, attributes = stored.value.partition(ORDER_SEPARATOR)
    return inputs.split(" "), attributes.split(" ")


def _ordered(keys: Collection[str], order: Sequence[str]) -> list[str]:
    """Keys in a stated order, followed by those that it lacks in alphabetical order."""
    known = [key for key in dict.fromkeys(order) if key in keys]
    return [*known, *sorted(set(keys).difference(known))]
