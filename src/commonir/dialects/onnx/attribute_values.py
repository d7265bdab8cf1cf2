"""Values of the attributes of nodes, as files state them, and the fields of the definitions that they are for.

ONNX converts no attributes: an integer is neither a float nor a list of one. What a node states otherwise than its
definition is kept beside its operation, in `UNFIT_ATTRIBUTES`.

Source: onnx.proto of ONNX 1.23, `AttributeProto`; `OpSchema::Verify` of onnx.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import repeat
from types import MappingProxyType

from commonir.base.codes import WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic, Fix
from commonir.base.file_codes import QUESTIONABLE_MODEL
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.dialects.onnx.data_types import ELEMENTS
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BytesAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TypeAttr,
)
from commonir.ir.types import f32
from commonir.ods import Op, attr_types
from commonir.ods.definition import FieldLayout
from commonir.ods.fields import Field

UNFIT_ATTRIBUTES = "onnx.unfit_attributes"
"""Attributes of a node that its definition does not have, or whose values are of another type, by name."""

_STORED_AS_IS: Mapping[object, type] = MappingProxyType({attr_types.integer: int, attr_types.string: str})
"""Types of fields whose values are those of files."""

_NUMBER_IN_FILES: Mapping[object, type] = MappingProxyType(
    {attr_types.number: float, attr_types.numbers: float, attr_types.flag: int}
)
"""Types of fields that take other numbers elsewhere."""

_INTERNAL = "__"
"""Begins names of attributes that onnx's checker and runtimes ignore."""


class AttributeFault(NamedTuple):
    """Why an attribute is not one of a definition, and the value that it can only mean."""

    message: str
    help: str | None = None
    meant: object = None


def coerced(f: Field, value: object) -> object:
    """Returns the value of a field for one of a file. Raises: ValueError when it is not of the field's type."""
    if type(value) is _STORED_AS_IS.get(f.type):
        return value
    expected = _NUMBER_IN_FILES.get(f.type)
    if expected is not None and not _is_number_of(value, expected):
        shown = "a float" if expected is float else "an integer"
        raise ValueError(f"attribute '{f.spelling}': expected {shown}, found {value!r}")
    if f.type is attr_types.flag and value in (0, 1):
        value = bool(value)
    elif f.type is attr_types.element and isinstance(value, int):
        value = ELEMENTS.get(value, value)
    elif f.type is attr_types.number and isinstance(f.default, float) and FloatAttr(f.default, f32).value == value:
        # Defaults are written in decimal here, and in single precision in files.
        return f.default
    if f.type is None:
        return value
    try:
        return f.type.coerce(value)
    except ValueError as error:
        raise ValueError(f"attribute '{f.spelling}': {error}") from None


class Meant(NamedTuple):
    """The number or list that a value of another type stands for, and the value of the field."""

    stated: object
    value: object


def meant(f: Field, value: object) -> Meant | None:
    """Returns the only value of a field that a number or list of another type can stand for; None if none can."""
    for candidate in (_other_numbers(value), *_other_rank(value), *map(_other_numbers, _other_rank(value))):
        try:
            if candidate is not None:
                return Meant(candidate, coerced(f, candidate))
        except ValueError:
            continue
    return None


def value_in_file(attribute: Attribute) -> object:
    """Returns the value of an attribute without a definition as a reader has it."""
    match attribute:
        case FloatAttr() | IntegerAttr() | StringAttr():
            return attribute.value
        case BytesAttr(value=content):
            return content.decode("utf-8", "surrogateescape")
        case DenseArrayAttr(values=values):
            return tuple(values)
        case ArrayAttr(values=values):
            return tuple(map(value_in_file, values))
        case DataAttr(data=data):
            return data
        case TypeAttr(type=type):
            return type
        case _:
            return attribute


def attribute_fault(name: str, layout: FieldLayout, attribute_name: str, value: Attribute) -> AttributeFault | None:
    """Returns why an attribute is not one of the operator `name` with these fields; None if it is, or is ignored."""
    place = layout.spelled.get(attribute_name)
    if place is None:
        if attribute_name.startswith(_INTERNAL):
            return None
        help = did_you_mean(attribute_name, layout.spelled)
        return AttributeFault(f"{name} has no attribute '{escape(attribute_name)}'", help)
    if place >= len(layout.attributes):
        return AttributeFault(f"attribute '{escape(attribute_name)}': expected a graph")
    f, content = layout.attributes[place], value_in_file(value)
    try:
        coerced(f, content)
    except ValueError as error:
        return AttributeFault(str(error), None, meant(f, content))
    return None


def unfit_attributes(op: Op) -> Mapping[str, Attribute]:
    """Returns the attributes that the node of an operation states otherwise than the operation has them.

    A value that was changed since is that of the operation.
    """
    stated = op.extra.get(UNFIT_ATTRIBUTES)
    if not isinstance(stated, DictionaryAttr):
        return {}
    fields = {f.spelling: f for f in op.layout.attributes}
    result: dict[str, Attribute] = {}
    for name, value in stated.entries:
        f = fields.get(name)
        read = None if f is None else meant(f, value_in_file(value))
        if f is None or (read is not None and read.value == op.field_value(f)):
            result[name] = value
    return result


def unfit_faults(op: Op, *, ignores_unknown: bool = False) -> Iterator[Diagnostic]:
    """Yields an error for each attribute that the node of an operation states otherwise than its definition; a warning
    for one without a meaning if the operator `ignores_unknown` ones.
    """
    for name, value in unfit_attributes(op).items():
        fault = attribute_fault(op.name, op.layout, name, value)
        if fault is not None and ignores_unknown and name not in op.layout.spelled:
            yield Diagnostic(QUESTIONABLE_MODEL, f"{fault.message}, which is ignored", help=fault.help)
        elif fault is not None:
            yield fault_found(fault, name, value, partial(_state_as_meant, op, name))


def fault_found(fault: AttributeFault, name: str, value: Attribute, apply: partial[None]) -> Diagnostic:
    """Returns the error for an attribute; `apply` states it as it can only be meant."""
    fix = None
    if isinstance(fault.meant, Meant):
        stated = fault.meant.stated
        fix = Fix(f"stated attribute '{escape(name)}' as {stated!r} instead of {value_in_file(value)!r}", apply)
    return Diagnostic(WRONG_ATTRIBUTE, fault.message, help=fault.help, fix=fix)


def _state_as_meant(op: Op, name: str) -> None:
    stated = op.extra.get(UNFIT_ATTRIBUTES)
    rest = [(n, v) for n, v in stated.entries if n != name] if isinstance(stated, DictionaryAttr) else []
    op.set_extra(UNFIT_ATTRIBUTES, DictionaryAttr(tuple(rest)) if rest else None)


def _other_numbers(value: object) -> object:
    """Returns integers as floats, and floats as integers; None where they are not equal."""
    match value:
        case tuple():
            items: list[object] = [_other_numbers(v) for v in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  of anything
            return None if None in items or not items else tuple(items)
        case bool():
            return None
        case int():
            return float(value) if FloatAttr(float(value), f32).value == value else None
        case float():
            return int(value) if value.is_integer() else None
        case _:
            return None


def _other_rank(value: object) -> tuple[object, ...]:
    """Returns a number as a list of one, or the number of such a list."""
    match value:
        case int() | float():
            return ((value,),)
        case (int() | float() as only,):
            return (only,)
        case _:
            return ()


def _is_number_of(value: object, expected: type) -> bool:
    """Returns whether a value of a file, or each of a list, is of a type of numbers, or is not a number at all."""
    if isinstance(value, tuple):
        return all(map(_is_number_of, value, repeat(expected)))  # pyright: ignore[reportUnknownArgumentType]  of anything
    return isinstance(value, expected) or not isinstance(value, int | float)
