"""Protobuf messages as attributes and back, without loss: for what a file says that the program has no place for.

A message is a dictionary of the fields that it has, a repeated field an array, an enumeration its number; the bytes of
unknown fields stand under the empty name. Which attribute holds a scalar follows from the declared type of its field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.base.codes import WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.formats.protobuf.wire import unknown_fields
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    BytesAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from commonir.ir.types import f32, f64

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor
    from google.protobuf.message import Message

UNKNOWN_FIELDS = ""
"""The key of the bytes of unknown fields."""


def to_attribute(message: Message) -> DictionaryAttr:
    """The attribute form of a message. Nesting is limited by that of messages."""
    entries = [(field.name, field_attribute(field, value)) for field, value in message.ListFields()]
    unknown = unknown_fields(message)
    if unknown:
        entries.append((UNKNOWN_FIELDS, BytesAttr(unknown)))
    return DictionaryAttr(tuple(entries))


def field_attribute(field: FieldDescriptor, value: object) -> Attribute:
    """The attribute form of what a field holds."""
    if not field.is_repeated:
        return _held(field, value)
    return ArrayAttr(tuple([_held(field, item) for item in value]))  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType, reportUnknownArgumentType]  repeated fields are sequences


def _held(field: FieldDescriptor, value: object) -> Attribute:
    match value:
        case bool():
            return BoolAttr(value)
        case int():
            return IntegerAttr(value)
        case float():
            return FloatAttr(value, f32 if field.type == field.TYPE_FLOAT else f64)
        case str():
            return StringAttr(value)
        case bytes():
            return BytesAttr(value)
        case _:
            return to_attribute(value)  # pyright: ignore[reportArgumentType]  nothing else is left


def to_message(kind: type[Message], attribute: DictionaryAttr) -> Message:
    """The message that an attribute stands for.

    Raises: WRONG_ATTRIBUTE when it stands for none.
    """
    result = kind()
    merge_into(result, attribute)
    return result


def merge_into(message: Message, attribute: DictionaryAttr) -> None:
    """Puts the fields of an attribute form into a message: repeated ones are appended, others replaced or merged.

    Raises: WRONG_ATTRIBUTE when it is not a form of such a message.
    """
    # Heavy, and loaded already where there is a message.
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    name = message.DESCRIPTOR.name
    try:
        _fill(message, attribute, name)
    except (ValueError, TypeError, DecodeError) as error:
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, f"'{name}' cannot be written: {error}")) from None


def _fill(message: Message, attribute: DictionaryAttr, place: str) -> None:
    fields = message.DESCRIPTOR.fields_by_name
    for name, value in attribute.entries:
        where = f"{place}.{name}"
        field = fields.get(name)
        if name == UNKNOWN_FIELDS and isinstance(value, BytesAttr):
            message.MergeFromString(value.value)
        elif field is None:
            text = f"'{place}' has no field '{name}'"
            raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, text, help=did_you_mean(name, fields)))
        elif field.is_repeated:
            into = getattr(message, name)
            if not isinstance(value, ArrayAttr):
                raise _wrong(where, "an array", value)
            for n, item in enumerate(value.values):
                if field.message_type is None:
                    into.append(_scalar(name, item, f"{where}[{n}]"))
                else:
                    _fill(into.add(), _dictionary(item, f"{where}[{n}]"), f"{where}[{n}]")
        elif field.message_type is not None:
            nested = getattr(message, name)
            # A message that is there although it is empty differs from one that is not.
            nested.SetInParent()
            _fill(nested, _dictionary(value, where), where)
        else:
            setattr(message, name, _scalar(name, value, where))


def _dictionary(attribute: Attribute, where: str) -> DictionaryAttr:
    if not isinstance(attribute, DictionaryAttr):
        raise _wrong(where, "a dictionary", attribute)
    return attribute


def _scalar(name: str, attribute: Attribute, where: str) -> bool | float | str | bytes:
    match attribute:
        case BoolAttr() | FloatAttr() | StringAttr() | BytesAttr() | IntegerAttr():
            # Setting the field refuses a value of another type.
            return attribute.value
        case _:
            raise _wrong(where, f"a value for the field '{name}'", attribute)


def _wrong(where: str, expected: str, attribute: Attribute) -> DiagnosticError:
    message = f"'{where}': expected {expected}, found {type(attribute).__name__}"
    return DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, message))
