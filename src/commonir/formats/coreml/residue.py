"""Fields of a message without a form in the module, preserved so that a file can be written without loss.

Two kinds of fields have no form in the module: those of later versions of the format, and some that no tool is known
to write (documentation of constants, attributes of tensor types, variadic dimensions). They are kept as bytes by the
place of the message they belong to, such as `inputs['x'].value.arguments[0].value`; merging the bytes into the message
at that place restores them, because merging is what protobuf defines for repeated parts of one message. Constants and
types that could not be decoded are kept whole, at a place that ends in `=`.

Programs, functions, blocks and operations each have a residue of their own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonir.formats.coreml.types import UNKNOWN_RANK
from commonir.formats.protobuf.wire import unknown_fields
from commonir.ir.attributes import BytesAttr, DictionaryAttr

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor
    from google.protobuf.message import Message

# Messages that keep their residue themselves.
_HOLDERS = frozenset({"Function", "Block", "Operation"})
# Fields of known messages that the module has no room for.
_WITHOUT_FORM: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"TensorType": ("attributes",), "UnknownDimension": ("variadic",), "Value": ("docString",)}
)
_TENSOR_TYPE = "TensorType"
_RANK = "rank"
_DIMENSIONS = "dimensions"
_TYPE = "ValueType"
WHOLE = "="
"""Ends the place of a constant or type that is kept whole, because it could not be decoded."""
_STEP = re.compile(r"(?P<field>\w+)(?:\[(?:(?P<index>\d+)|'(?P<key>.*?)')\])?(?:\.|$)", re.DOTALL)


def residue_of(message: Message, undecoded: Collection[str] = ()) -> DictionaryAttr | None:
    """The residue of one message without that of the parts of a program inside; None when there is none.

    `undecoded` are the places of constants and types that could not be decoded: they are kept whole.
    """
    result: dict[str, bytes] = {}
    pending: list[tuple[Message, str]] = [(message, "")]
    while pending:
        at, path = pending.pop()
        if path in undecoded:
            result[path + WHOLE] = at.SerializeToString()
            continue
        preserved = _kept_fields(at)
        if preserved:
            result[path] = preserved
        pending.extend(reversed([(m, f"{path}.{step}" if path else step) for m, step in _children(at)]))
    return (
        DictionaryAttr(tuple([(path, BytesAttr(preserved)) for path, preserved in result.items()])) if result else None
    )


def _kept_fields(message: Message) -> bytes:
    """The bytes of the fields of a message itself that have no form in a module."""
    return unknown_fields(message, _without_form(message))


def _without_form(message: Message) -> tuple[str, ...]:
    """The fields of a message itself that are known and have no form in a module."""
    kind = message.DESCRIPTOR.name
    fields = _WITHOUT_FORM.get(kind, ())
    # In a module, a type with a variadic dimension has an unknown rank.
    has_shape = kind != _TENSOR_TYPE or not any(d.unknown.variadic for d in getattr(message, _DIMENSIONS))
    return fields if has_shape else (*fields, _RANK, _DIMENSIONS)


def _children(message: Message) -> Iterator[tuple[Message, str]]:
    without_form = _without_form(message)
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.name in _HOLDERS or field.name in without_form:
            continue
        if not field.is_repeated:
            yield value, field.name
            continue
        for n, item in enumerate(value):
            yield item, f"{field.name}['{item.key}']" if _is_map(field) else f"{field.name}[{n}]"


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.name.endswith("Entry")


def restore(message: Message, residue: Mapping[str, bytes]) -> None:
    """Puts the residue of a message back. What belongs to a place that the program no longer has is left out.

    A constant that was kept whole is put back only where there is no value now.

    Raises: ValueError when a place or its bytes are not of this message.
    """
    for path, preserved in residue.items():
        is_whole = path.endswith(WHOLE)
        place = _descend(message, path.removesuffix(WHOLE), makes_entries=is_whole)
        if place is None:
            continue
        if is_whole and (place.DESCRIPTOR.name == _TYPE or place.WhichOneof("value") is None):
            # What could be read of a malformed type or constant is part of what was kept.
            place.Clear()
        elif is_whole:
            continue
        place.SetInParent()
        _merge(place, preserved)


def _merge(message: Message, content: bytes) -> None:
    # Heavy, and loaded already where there is a message.
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    try:
        part = type(message).FromString(content)
    except DecodeError as error:
        raise ValueError(f"what was kept of a {message.DESCRIPTOR.name} is damaged: {error}") from None
    if message.DESCRIPTOR.name == _TENSOR_TYPE and getattr(message, _RANK) != UNKNOWN_RANK:
        # The program has a shape now.
        part.ClearField(_RANK)
        part.ClearField(_DIMENSIONS)
    message.MergeFrom(part)


def _descend(message: Message, path: str, *, makes_entries: bool) -> Message | None:
    """The part of a message at a place; None when it is not there."""
    at = message
    for step in _STEP.finditer(path):
        field = at.DESCRIPTOR.fields_by_name.get(step["field"])
        if field is None or field.message_type is None or field.is_repeated is (step["index"] is step["key"] is None):
            raise ValueError(f"a {message.DESCRIPTOR.name} has no place '{path}'")
        value = getattr(at, field.name)
        if step["index"] is not None:
            n = int(step["index"])
            if n >= len(value):
                return None
            at = value[n]
        elif step["key"] is not None:
            expected = step["key"]
            result = next((entry for entry in value if entry.key == expected), None)
            if result is None and not makes_entries:
                return None
            at = value.add(key=expected) if result is None else result
        elif at.HasField(field.name) or (makes_entries and step.end() == len(path)):
            at = value
        else:
            return None
    return at
