"""Types of properties: values that MLIR stores in C++, with a text and an attribute.

The generic form has the attribute, an assembly format the text: an optional property without a value is `[]` in the
generic form and `none` in a format. The type of a property is composed of those of its parts.

Source: MLIR operation definitions, properties; `mlir/IR/Properties.td` of LLVM 22.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from commonir.ir.attributes import ArrayAttr, Attribute, BoolAttr, IntegerAttr, UnitAttr, is_sequence
from commonir.ir.literals import quoted
from commonir.ir.types import ElementType
from commonir.ods import attr_types
from commonir.ods.attr_types import AttrType, sequence_of, to_integer
from commonir.ods.mlir_attr_types import array_of
from commonir.ods.text_form import FormReader

T = TypeVar("T")


class PropertyType(AttrType[T]):
    """The type of a property: checks, stores and writes its values.

    `read` reads a value in a format; `starts` returns whether a value is next, for optional groups that begin with it.

    Raises: ValueError from `read` for an invalid value.
    """

    __slots__ = ("read", "starts")

    def __init__(
        self,
        attr_type: AttrType[T],
        *,
        spelled: Callable[[T], str],
        read: Callable[[FormReader], T],
        starts: Callable[[FormReader], bool],
    ) -> None:
        super().__init__(
            attr_type.name,
            attr_type.coerce,
            attr_type.to_attribute,
            attr_type.from_attribute,
            cases=attr_type.cases,
            spelled=spelled,
        )
        self.read = read
        self.starts = starts


def integer(type: ElementType) -> PropertyType[int]:
    """Returns the type of an integer, stored in an attribute of any type."""
    top = 1 << (type.bits - 1)

    def coerce(value: object) -> int:
        number = to_integer(value)
        if not -top <= number < top:
            raise ValueError(f"expected an integer of {type.bits} bits, found {number}")
        return number

    def decode(attr: Attribute) -> int:
        if not isinstance(attr, IntegerAttr):
            raise ValueError(f"expected an integer, found {attr!r}")
        return coerce(attr.value)

    attr_type = AttrType(f"{type} integer", coerce, lambda v: IntegerAttr(v, type), decode)
    return PropertyType(attr_type, spelled=str, read=lambda r: coerce(r.integer()), starts=lambda r: r.at_integer())


def _is_at_bool(reader: FormReader) -> bool:
    return reader.at("true") or reader.at("false")


def _read_bool(reader: FormReader) -> bool:
    word = reader.keyword()
    if word not in ("true", "false"):
        raise ValueError(f"expected true or false, found '{word}'")
    return word == "true"


boolean: PropertyType[bool] = PropertyType(
    attr_types.flag, spelled=lambda v: "true" if v else "false", read=_read_bool, starts=_is_at_bool
)
"""True or false."""

text: PropertyType[str] = PropertyType(
    attr_types.string, spelled=quoted, read=lambda r: r.string(), starts=lambda r: r.at_string()
)
"""A string."""

_SET, _UNSET = "unit", "unit_absent"


def _read_unit(reader: FormReader) -> bool:
    word = reader.keyword()
    if word not in (_SET, _UNSET):
        raise ValueError(f"expected '{_SET}' or '{_UNSET}', found '{word}'")
    return word == _SET


unit: PropertyType[bool] = PropertyType(
    AttrType(
        "unit property",
        attr_types.unit.coerce,
        lambda v: UnitAttr() if v else BoolAttr(False),
        lambda a: isinstance(a, UnitAttr) or attr_types.flag.from_attribute(a),
    ),
    spelled=lambda v: _SET if v else _UNSET,
    read=_read_unit,
    starts=lambda r: r.at(_SET) or r.at(_UNSET),
)
"""A flag; an optional group of a format can express it by its presence."""


def integers(type: ElementType) -> PropertyType[tuple[int, ...]]:
    """Returns the type of integers stored as a dense array."""
    return _in_brackets(array_of(type), integer(type))


def array(item: PropertyType[Any]) -> PropertyType[tuple[Any, ...]]:
    """Returns the type of any number of properties of one type."""

    def decode(attr: Attribute) -> tuple[object, ...]:
        if not isinstance(attr, ArrayAttr):
            raise ValueError(f"expected an array, found {attr!r}")
        return tuple([item.from_attribute(each) for each in attr.values])

    name = f"array of {item.name}"
    attr_type: AttrType[tuple[Any, ...]] = AttrType(
        name,
        sequence_of(item.coerce, name),
        lambda v: ArrayAttr(tuple([item.to_attribute(each) for each in v])),
        decode,
    )
    return _in_brackets(attr_type, item)


def _in_brackets(attr_type: AttrType[tuple[T, ...]], item: PropertyType[T]) -> PropertyType[tuple[T, ...]]:
    written = item.spelled or str

    def read(reader: FormReader) -> tuple[T, ...]:
        reader.expect("[")
        return tuple(reader.separated(lambda: item.read(reader), "]"))

    return PropertyType(
        attr_type, spelled=lambda v: f"[{', '.join(map(written, v))}]", read=read, starts=lambda r: r.at("[")
    )


def optional(inner: PropertyType[Any], *, is_plain: bool) -> PropertyType[tuple[Any, ...]]:
    """Returns the type of an optional property: a tuple of at most one value. If it `is_plain`, its text is that of the
    value.
    """

    def coerce(value: object) -> tuple[object, ...]:
        if value is None:
            return ()
        if is_sequence(value) and len(value) < 2:
            return tuple([inner.coerce(each) for each in value])
        return (inner.coerce(value),)

    def decode(attr: Attribute) -> tuple[object, ...]:
        if not isinstance(attr, ArrayAttr) or len(attr.values) > 1:
            raise ValueError(f"expected an array of at most one value, found {attr!r}")
        return tuple([inner.from_attribute(each) for each in attr.values])

    def spelled(value: tuple[object, ...]) -> str:
        if not value:
            return "none"
        shown = (inner.spelled or str)(value[0])
        return shown if is_plain else f"some<{shown}>"

    def read(reader: FormReader) -> tuple[object, ...]:
        if reader.take("none"):
            return ()
        if is_plain:
            return (inner.read(reader),)
        reader.expect("some")
        reader.expect("<")
        inner_value = inner.read(reader)
        reader.expect(">")
        return (inner_value,)

    def starts(reader: FormReader) -> bool:
        return reader.at("none") or (inner.starts(reader) if is_plain else reader.at("some"))

    attr_type: AttrType[tuple[Any, ...]] = AttrType(
        f"optional {inner.name}", coerce, lambda v: ArrayAttr(tuple([inner.to_attribute(e) for e in v])), decode
    )
    return PropertyType(attr_type, spelled=spelled, read=read, starts=starts)


def words(
    attr_type: AttrType[T], spelling: Callable[[T], str], separator: str, known: Mapping[str, object]
) -> PropertyType[T]:
    """Returns the type of words of an enumeration; for flags several, with a separator."""

    def one(reader: FormReader) -> str:
        return reader.string() if reader.at_string() else reader.keyword()

    def read(reader: FormReader) -> T:
        cases = [one(reader)]
        while separator and reader.take(separator):
            cases.append(one(reader))
        return attr_type.coerce("|".join(cases))

    return PropertyType(attr_type, spelled=spelling, read=read, starts=lambda r: r.at_string() or any(map(r.at, known)))


def named(word: str, inner: PropertyType[T]) -> PropertyType[T]:
    """Returns the type of a property in angle brackets after a word."""

    def read(reader: FormReader) -> T:
        reader.expect(word)
        reader.expect("<")
        result = inner.read(reader)
        reader.expect(">")
        return result

    written = inner.spelled or str
    return PropertyType(inner, spelled=lambda v: f"{word}<{written(v)}>", read=read, starts=lambda r: r.at(word))
