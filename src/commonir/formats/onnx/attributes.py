"""Attributes of nodes and functions: which field holds which kind, and their values without a definition.

Source: onnx.proto of ONNX 1.23, `AttributeProto`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any

from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.formats.onnx.declaring import Repeated
from commonir.formats.onnx.messages import AttributeProto, field_number
from commonir.ir.attributes import ArrayAttr, Attribute, BytesAttr, DenseArrayAttr, FloatAttr, IntegerAttr, StringAttr
from commonir.ir.types import f32, i64


class AttributeType(IntEnum):
    """Kinds of attributes by their numbers."""

    UNDEFINED = 0
    FLOAT = 1
    INT = 2
    STRING = 3
    TENSOR = 4
    GRAPH = 5
    FLOATS = 6
    INTS = 7
    STRINGS = 8
    TENSORS = 9
    GRAPHS = 10
    SPARSE_TENSOR = 11
    SPARSE_TENSORS = 12
    TYPE_PROTO = 13
    TYPE_PROTOS = 14


_FIELDS = {
    AttributeType.FLOAT: "f",
    AttributeType.INT: "i",
    AttributeType.STRING: "s",
    AttributeType.TENSOR: "t",
    AttributeType.GRAPH: "g",
    AttributeType.FLOATS: "floats",
    AttributeType.INTS: "ints",
    AttributeType.STRINGS: "strings",
    AttributeType.TENSORS: "tensors",
    AttributeType.GRAPHS: "graphs",
    AttributeType.SPARSE_TENSOR: "sparse_tensor",
    AttributeType.SPARSE_TENSORS: "sparse_tensors",
    AttributeType.TYPE_PROTO: "tp",
    AttributeType.TYPE_PROTOS: "type_protos",
}

VALUE_NUMBERS: Mapping[int, int] = MappingProxyType(
    {int(kind): field_number(AttributeProto, name) for kind, name in _FIELDS.items()}
)
"""Numbers of the fields that hold the value of an attribute, by its kind."""

_KINDS = {number: kind for kind, number in VALUE_NUMBERS.items()}
# The last four are of Common IR, where the type of an attribute is the number of its field.
_VALUE_FIELDS = {
    field_number(AttributeProto, name): name for name in (*_FIELDS.values(), "shape", "shapes", "value", "values")
}
_REPEATED = frozenset(
    {
        AttributeType.FLOATS,
        AttributeType.INTS,
        AttributeType.STRINGS,
        AttributeType.TENSORS,
        AttributeType.GRAPHS,
        AttributeType.SPARSE_TENSORS,
        AttributeType.TYPE_PROTOS,
    }
)


def kind_of(proto: AttributeProto) -> int:
    """The kind of an attribute: what it states, else what it holds, as files before IR version 2 leave it."""
    declared = proto.type
    if declared:
        return declared
    return next((_KINDS[f.number] for f, _ in proto.ListFields() if f.number in _KINDS), AttributeType.UNDEFINED)


def misplaced_value_in(proto: AttributeProto) -> str | None:
    """Returns why the fields of an attribute do not hold one value of its type; None if they do.

    A missing value is accepted: proto3 does not write zeros. A reference to an attribute of a function has no value.
    Source: `check_attribute` of onnx's checker.
    """
    numbers = [f.number for f, _ in proto.ListFields() if f.number in _VALUE_FIELDS]
    if not numbers:
        return None
    first = _VALUE_FIELDS[numbers[0]]
    if proto.ref_attr_name:
        return f"it refers to '{escape(proto.ref_attr_name)}', so the field '{first}' must be absent"
    if len(numbers) > 1:
        return f"expected one value, found the fields '{first}' and '{_VALUE_FIELDS[numbers[1]]}'"
    expected = _VALUE_FIELDS.get(VALUE_NUMBERS.get(proto.type, proto.type), first)
    return None if expected == first else f"its type needs the field '{expected}', found '{first}'"


def is_repeated(kind: int) -> bool:
    """Whether attributes of a kind hold any number of values."""
    return kind in _REPEATED


def text_of(content: bytes) -> str:
    """A text as it is held here; bytes that are not UTF-8 come out again as they were."""
    return content.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """The inverse of `text_of`."""
    return text.encode("utf-8", "surrogateescape")


class PlainValue(NamedTuple):
    """A kind of attributes that are numbers or texts: the number of the field that holds the value, and what makes a
    Python value of it.
    """

    number: int
    decoded: Callable[[Any], object]


def _texts_of(contents: Repeated[bytes]) -> tuple[str, ...]:
    return tuple(map(text_of, contents[:]))


def _numbers_of(values: Repeated[Any]) -> tuple[Any, ...]:
    return tuple(values[:])


PLAIN_VALUES: Mapping[int, PlainValue] = MappingProxyType(
    {
        int(kind): PlainValue(VALUE_NUMBERS[kind], decoded)
        for kind, decoded in {
            AttributeType.FLOAT: float,
            AttributeType.INT: int,
            AttributeType.STRING: text_of,
            AttributeType.FLOATS: _numbers_of,
            AttributeType.INTS: _numbers_of,
            AttributeType.STRINGS: _texts_of,
        }.items()
    }
)
"""Kinds of attributes that are numbers or texts, by their numbers."""


def value_of(proto: AttributeProto, kind: int) -> object:
    """Returns the content of the field that holds the value of an attribute of a type."""
    return getattr(proto, _FIELDS[AttributeType(kind)])


def literal_of(proto: AttributeProto, kind: int) -> Attribute | None:
    """The attribute form of a number, text or list of them; None for other kinds."""
    match kind:
        case AttributeType.FLOAT:
            return FloatAttr(proto.f, f32)
        case AttributeType.INT:
            return IntegerAttr(proto.i)
        case AttributeType.STRING:
            return _text(proto.s)
        case AttributeType.FLOATS:
            return DenseArrayAttr(f32, tuple(proto.floats))
        case AttributeType.INTS:
            return DenseArrayAttr(i64, tuple(proto.ints))
        case AttributeType.STRINGS:
            return ArrayAttr(tuple(map(_text, proto.strings)))
        case _:
            return None


def _text(content: bytes) -> Attribute:
    try:
        return StringAttr(content.decode())
    except UnicodeDecodeError:
        return BytesAttr(content)


def write_literal(value: Attribute, into: AttributeProto) -> bool:
    """Fills in a number, text or list of them; False for an attribute that is none."""
    match value:
        case FloatAttr(value=number):
            into.type, into.f = AttributeType.FLOAT, number
        case IntegerAttr(value=number):
            into.type, into.i = AttributeType.INT, number
        case StringAttr() | BytesAttr():
            into.type, into.s = AttributeType.STRING, _bytes(value)
        case DenseArrayAttr(element=element, values=values):
            if element.is_integer:
                into.type = AttributeType.INTS
                into.ints.extend(values)
            else:
                into.type = AttributeType.FLOATS
                into.floats.extend(values)
        case ArrayAttr(values=values) if all(isinstance(v, StringAttr | BytesAttr) for v in values):
            into.type = AttributeType.STRINGS
            into.strings.extend([_bytes(v) for v in values])
        case _:
            return False
    return True


def _bytes(value: Attribute) -> bytes:
    if isinstance(value, BytesAttr):
        return value.value
    return bytes_of(value.value) if isinstance(value, StringAttr) else b""
