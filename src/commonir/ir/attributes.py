"""Attributes: constants attached to operations, interned and immutable.

An operation class stores its declared attributes as plain Python values and converts them with `ods`. The classes here
are their storage form: they hold undeclared attributes and are what the text form prints. Three have no spelling in
MLIR and are printed as attributes of the dialect `commonir`: dimensions that are expressions, bytes, and constants that
are elided; a case of an enumeration is printed as a string.
Source: MLIR builtin dialect, attributes; MLIR language reference, attributes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Self, TypeGuard

from commonir.ir.constant_text import DEFAULT_ELISION, Attribute, ConstantPrinter
from commonir.ir.data import Data
from commonir.ir.floats import bits_of, float_literal, float_of
from commonir.ir.literals import (
    bytes_of_text,
    contents_text,
    data_text,
    dims_text,
    float_text,
    key_text,
    literal_text,
    quoted,
    scalar_text,
    symbol_text,
    upstream_scalar_text,
)
from commonir.ir.types import ElementType, Type, boolean, f64, i64
from commonir.symbolic import Dim


class UnitAttr(Attribute):
    """An attribute without contents, whose presence is its meaning."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls._intern()

    def text(self, _printer: ConstantPrinter, /) -> str:
        return "unit"


class BoolAttr(Attribute):
    """A bool."""

    __slots__ = ("value",)

    value: bool

    def __new__(cls, value: bool) -> Self:
        return cls._intern(bool(value))

    def text(self, _printer: ConstantPrinter, /) -> str:
        return "true" if self.value else "false"


class IntegerAttr(Attribute):
    """An integer with its type."""

    __slots__ = ("value", "type")  # noqa: RUF023  the order of `_intern`

    value: int
    type: ElementType

    def __new__(cls, value: int, type: ElementType = i64) -> Self:
        return cls._intern(int(value), type)

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"{self.value} : {printer.type(self.type)}"

    def listed_text(self, printer: ConstantPrinter, /) -> str:
        return str(self.value) if printer.upstream and self.type is i64 else self.text(printer)

    def untyped_text(self, _printer: ConstantPrinter, /) -> str:
        return str(self.value)


class FloatAttr(Attribute):
    """A floating-point number with its type, rounded to it. 0.0 is not -0.0, and a NaN equals itself.

    `bits` is its code in its type; `value` is the nearest Python float, which types of more than 64 bits exceed.
    """

    __slots__ = ("value", "type", "bits")  # noqa: RUF023  the order of `_intern`

    value: float
    type: ElementType
    bits: int

    def __new__(cls, value: float, type: ElementType = f64, bits: int | None = None) -> Self:
        return cls.of_bits(bits_of(float(value), type.name) if bits is None else bits, type)

    @classmethod
    def of_bits(cls, bits: int, type: ElementType) -> Self:
        """Returns the attribute with these bits."""
        return cls._intern(float_of(bits, type.name), type, bits, key=(bits, type))

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"{self.untyped_text(printer)} : {printer.type(self.type)}"

    def listed_text(self, printer: ConstantPrinter, /) -> str:
        shown = self.untyped_text(printer)
        return shown if printer.upstream and self.type is f64 and "." in shown else f"{shown} : {self.type}"

    def untyped_text(self, printer: ConstantPrinter, /) -> str:
        return float_literal(self.bits, self.type.name) if printer.upstream else float_text(self.value, self.type)


class StringAttr(Attribute):
    """A string, with an optional type. Bytes that are not UTF-8 become surrogates, as Python escapes them."""

    __slots__ = ("value", "type")  # noqa: RUF023  the order of `_intern`

    value: str
    type: Type | None

    def __new__(cls, value: str, type: Type | None = None) -> Self:
        return cls._intern(value, type)

    def text(self, printer: ConstantPrinter, /) -> str:
        return self.untyped_text(printer) + ("" if self.type is None else f" : {printer.type(self.type)}")

    def untyped_text(self, _printer: ConstantPrinter, /) -> str:
        return quoted(self.value)


class BytesAttr(Attribute):
    """Uninterpreted bytes, printed as a hexadecimal string."""

    __slots__ = ("value",)

    value: bytes

    def __new__(cls, value: bytes) -> Self:
        return cls._intern(value)

    def text(self, _printer: ConstantPrinter, /) -> str:
        return f'#commonir.bytes<"0x{self.value.hex().upper()}">'


class ArrayAttr(Attribute):
    """A sequence of attributes."""

    __slots__ = ("values",)

    values: tuple[Attribute, ...]

    def __new__(cls, values: tuple[Attribute, ...]) -> Self:
        return cls._intern(values)

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"[{', '.join([printer.attribute(v, 'listed') for v in self.values])}]"


class DenseArrayAttr(Attribute):
    """A short sequence of numbers of one type: MLIR's `array<i64: 1, 2>`."""

    __slots__ = ("element", "values")

    element: ElementType
    values: tuple[int | float | bool, ...]

    def __new__(cls, element: ElementType, values: tuple[int | float | bool, ...]) -> Self:
        if element is boolean:
            values = tuple([bool(v) for v in values])  # 1 and True would share an entry of the table
        key = tuple(struct.pack("<d", v) if isinstance(v, float) else v for v in values)
        return cls._intern(element, values, key=(element, key))

    def text(self, printer: ConstantPrinter, /) -> str:
        shown = self.items_text(printer)
        return f"array<{printer.type(self.element)}{': ' if shown else ''}{shown}>"

    def items_text(self, printer: ConstantPrinter, /) -> str:
        """Returns the numbers as text, separated by commas."""
        write = upstream_scalar_text if printer.upstream else scalar_text
        return ", ".join([write(v, self.element) for v in self.values])


class DimsAttr(Attribute):
    """A sequence of dimensions, constant or symbolic."""

    __slots__ = ("values",)

    values: tuple[Dim, ...]

    def __new__(cls, values: tuple[Dim, ...]) -> Self:
        return cls._intern(values)

    def text(self, _printer: ConstantPrinter, /) -> str:
        return dims_text(self.values)


class DictionaryAttr(Attribute):
    """Attributes by name, in order."""

    __slots__ = ("entries",)

    entries: tuple[tuple[str, Attribute], ...]

    def __new__(cls, entries: tuple[tuple[str, Attribute], ...]) -> Self:
        return cls._intern(entries)

    def text(self, printer: ConstantPrinter, /) -> str:
        return entries_text(self.entries, printer)


class TypeAttr(Attribute):
    """A type."""

    __slots__ = ("type",)

    type: Type

    def __new__(cls, type: Type) -> Self:
        return cls._intern(type)

    def text(self, printer: ConstantPrinter, /) -> str:
        return printer.type(self.type)


class SymbolRefAttr(Attribute):
    """The name of a symbol, perhaps nested: `@outer::@inner`."""

    __slots__ = ("path",)

    path: tuple[str, ...]

    def __new__(cls, *path: str) -> Self:
        return cls._intern(path)

    def text(self, _printer: ConstantPrinter, /) -> str:
        return "::".join(map(symbol_text, self.path))


class EnumAttr(Attribute):
    """A case of an enumeration, by its keyword."""

    __slots__ = ("keyword",)

    keyword: str

    def __new__(cls, keyword: str) -> Self:
        return cls._intern(keyword)

    def text(self, _printer: ConstantPrinter, /) -> str:
        return quoted(self.keyword)


class DataAttr(Attribute):
    """The contents of a constant tensor, vector or memref of `type`, by default the type of the data.

    Two are the same attribute when they have the same type and refer to the same `Data` object, or to data with the
    same `identity`: few elements that are equal.
    """

    __slots__ = ("data", "type")

    data: Data
    type: Type

    def __new__(cls, data: Data, type: Type | None = None) -> Self:
        declared = data.type if type is None else type
        return cls._intern(data, declared, key=(declared, data.identity))

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"{self.untyped_text(printer)} : {printer.type(self.type)}"

    def untyped_text(self, printer: ConstantPrinter, /) -> str:
        return data_text(self.data, printer)


class SparseAttr(Attribute):
    """The elements of a tensor at given positions; all others are zero. `indices` have rank 2, one
    position per row, or rank 1, a list of positions.
    """

    __slots__ = ("indices", "values", "type")  # noqa: RUF023  the order of `_intern`

    indices: Data
    values: Data
    type: Type

    def __new__(cls, indices: Data, values: Data, type: Type) -> Self:
        return cls._intern(indices, values, type, key=(indices.type, indices.identity, values.identity, type))

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"{self.untyped_text(printer)} : {printer.type(self.type)}"

    def untyped_text(self, printer: ConstantPrinter, /) -> str:
        if not self.values.count:
            return "sparse<>"
        return f"sparse<{literal_text(self.indices, printer)}, {contents_text(self.values, printer)}>"


class DistinctAttr(Attribute):
    """An attribute that equals only itself, not others of the same content."""

    __slots__ = ("number", "content")  # noqa: RUF023  the order of `_intern`

    number: int
    content: Attribute | None

    def __new__(cls, number: int, content: Attribute | None = None) -> Self:
        return cls._intern(number, content)

    def text(self, printer: ConstantPrinter, /) -> str:
        number = printer.number(self) if printer.upstream else self.number
        return f"distinct[{number}]<{'' if self.content is None else printer.attribute(self.content)}>"


class DialectAttr(Attribute):
    """A dialect attribute that has no class here, stored and printed as it was read: `#dialect.mnemonic<body>`.

    `mnemonic` is "" for the form `#dialect<body>`; `body` is None without brackets. `type` is the type after the
    colon, as in `#ml_program.extern : tensor<4xi32>`.
    """

    __slots__ = ("dialect", "mnemonic", "body", "type")  # noqa: RUF023  the order of `_intern`

    dialect: str
    mnemonic: str
    body: str | None
    type: Type | None

    def __new__(cls, dialect: str, mnemonic: str, body: str | None = None, type: Type | None = None) -> Self:
        return cls._intern(dialect, mnemonic, body, type)

    def text(self, printer: ConstantPrinter, /) -> str:
        return self.untyped_text(printer) + ("" if self.type is None else f" : {printer.type(self.type)}")

    def untyped_text(self, _printer: ConstantPrinter, /) -> str:
        name = f".{self.mnemonic}" if self.mnemonic else ""
        return f"#{self.dialect}{name}{'' if self.body is None else f'<{self.body}>'}"


def entries_text(entries: Iterable[tuple[str, Attribute]], printer: ConstantPrinter) -> str:
    """Returns attributes by name, in braces, sorted in mlir-opt's text; a unit attribute is its name alone."""
    ordered = sorted(entries, key=_name_bytes) if printer.upstream else entries
    return f"{{{', '.join([entry_text_of(name, value, printer) for name, value in ordered])}}}"


def _name_bytes(entry: tuple[str, Attribute]) -> bytes:
    return bytes_of_text(entry[0])


def entry_text_of(name: str, value: Attribute, printer: ConstantPrinter) -> str:
    """Returns one entry of a dictionary."""
    return key_text(name) if isinstance(value, UnitAttr) else f"{key_text(name)} = {printer.attribute(value)}"


def attribute_text(attr: Attribute, elide: int | None = DEFAULT_ELISION) -> str:
    """Returns an attribute as the generic form prints it, with constants of more than `elide` elements elided."""
    return attr.text(ConstantPrinter(elide))


def is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    """Returns whether a value is a tuple or a list."""
    return isinstance(value, tuple | list)


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, dict)


def attribute_of(value: object) -> Attribute:
    """Returns the attribute that stores a plain Python value.

    Raises: TypeError for a value of an unsupported type.
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
            raise TypeError(f"no attribute can store a {type(value).__name__}")
