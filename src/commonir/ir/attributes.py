"""Attributes: constants attached to operations, interned and immutable.

An operation class stores its declared attributes as plain Python values and converts them with `ods`; the classes here
are the storage form, for attributes that no class declares and for the text form.
Source: MLIR builtin dialect, attributes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Self, TypeGuard

from commonir.ir.data import Data, rounded
from commonir.ir.interning import Interned
from commonir.ir.types import ElementType, IndexType, Type, f64, i64
from commonir.symbolic import Dim


class Attribute(Interned):
    """A compile-time constant."""

    __slots__ = ()


class UnitAttr(Attribute):
    """Present or not."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls._intern()


class BoolAttr(Attribute):
    """A truth value."""

    __slots__ = ("value",)

    value: bool

    def __new__(cls, value: bool) -> Self:
        return cls._intern(bool(value))


class IntegerAttr(Attribute):
    """An integer of a stated type."""

    __slots__ = ("value", "type")  # noqa: RUF023  the order of `_intern`

    value: int
    type: ElementType | IndexType

    def __new__(cls, value: int, type: ElementType | IndexType = i64) -> Self:
        return cls._intern(int(value), type)


class FloatAttr(Attribute):
    """A floating-point number of a stated type, rounded to it. 0.0 is not -0.0, and NaN equals itself."""

    __slots__ = ("value", "type")  # noqa: RUF023  the order of `_intern`

    value: float
    type: ElementType

    def __new__(cls, value: float, type: ElementType = f64) -> Self:
        held = rounded(float(value), type)
        return cls._intern(held, type, key=(struct.pack("<d", held), type))


class StringAttr(Attribute):
    """Text."""

    __slots__ = ("value",)

    value: str

    def __new__(cls, value: str) -> Self:
        return cls._intern(value)


class BytesAttr(Attribute):
    """Bytes that have no other meaning here; printed as a hexadecimal string."""

    __slots__ = ("value",)

    value: bytes

    def __new__(cls, value: bytes) -> Self:
        return cls._intern(value)


class ArrayAttr(Attribute):
    """A sequence of attributes."""

    __slots__ = ("values",)

    values: tuple[Attribute, ...]

    def __new__(cls, values: tuple[Attribute, ...]) -> Self:
        return cls._intern(values)


class DenseArrayAttr(Attribute):
    """A short sequence of numbers of one type: MLIR's `array<i64: 1, 2>`."""

    __slots__ = ("element", "values")

    element: ElementType
    values: tuple[int | float | bool, ...]

    def __new__(cls, element: ElementType, values: tuple[int | float | bool, ...]) -> Self:
        key = tuple(struct.pack("<d", v) if isinstance(v, float) else v for v in values)
        return cls._intern(element, values, key=(element, key))


class DimsAttr(Attribute):
    """A sequence of dimensions, some of which may be symbolic."""

    __slots__ = ("values",)

    values: tuple[Dim, ...]

    def __new__(cls, values: tuple[Dim, ...]) -> Self:
        return cls._intern(values)


class DictionaryAttr(Attribute):
    """Attributes by name, in the order given."""

    __slots__ = ("entries",)

    entries: tuple[tuple[str, Attribute], ...]

    def __new__(cls, entries: tuple[tuple[str, Attribute], ...]) -> Self:
        return cls._intern(entries)


class TypeAttr(Attribute):
    """A type."""

    __slots__ = ("type",)

    type: Type

    def __new__(cls, type: Type) -> Self:
        return cls._intern(type)


class SymbolRefAttr(Attribute):
    """The name of a symbol, perhaps nested: `@outer::@inner`."""

    __slots__ = ("path",)

    path: tuple[str, ...]

    def __new__(cls, *path: str) -> Self:
        return cls._intern(path)


class EnumAttr(Attribute):
    """A case of an enumeration, by its keyword."""

    __slots__ = ("keyword",)

    keyword: str

    def __new__(cls, keyword: str) -> Self:
        return cls._intern(keyword)


class DataAttr(Attribute):
    """The contents of a constant tensor. Two are the same attribute when they refer to the same `Data` object."""

    __slots__ = ("data",)

    data: Data

    def __new__(cls, data: Data) -> Self:
        return cls._intern(data, key=(id(data),))


class DialectAttr(Attribute):
    """An attribute of a dialect that has no class here: kept and printed as it was read.

    `type` is what follows its colon, as in `#ml_program.extern : tensor<4xi32>`.
    """

    __slots__ = ("dialect", "name", "body", "type")  # noqa: RUF023  the order of `_intern`

    dialect: str
    name: str
    body: str
    type: Type | None

    def __new__(cls, dialect: str, name: str, body: str = "", type: Type | None = None) -> Self:
        return cls._intern(dialect, name, body, type)


def is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a value is a tuple or a list, of whatever."""
    return isinstance(value, tuple | list)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, dict)


def attribute_of(value: object) -> Attribute:
    """The attribute that holds a plain Python value.

    Raises: TypeError when the value has no such form.
    """
    match value:
        case Attribute():
            return value
        case bool():
            return BoolAttr(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case bytes():
            return BytesAttr(value)
        case Type():
            return TypeAttr(value)
        case Data():
            return DataAttr(value)
        case _ if is_sequence(value):
            return ArrayAttr(tuple(map(attribute_of, value)))
        case _ if _is_mapping(value):
            return DictionaryAttr(tuple((str(k), attribute_of(v)) for k, v in value.items()))
        case _:
            raise TypeError(f"no attribute holds a {type(value).__name__}")


__all__ = [
    "ArrayAttr",
    "Attribute",
    "BoolAttr",
    "BytesAttr",
    "DataAttr",
    "DenseArrayAttr",
    "DialectAttr",
    "DictionaryAttr",
    "DimsAttr",
    "EnumAttr",
    "FloatAttr",
    "IntegerAttr",
    "StringAttr",
    "SymbolRefAttr",
    "TypeAttr",
    "UnitAttr",
    "attribute_of",
    "is_sequence",
]
