"""Attribute types of MLIR's definitions: numbers of a declared type, and enumerations in their three forms.

Source: MLIR operation definitions, attribute constraints and enumeration attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, Flag
from typing import TypeVar

from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DialectAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from commonir.ir.types import ElementType, boolean
from commonir.ods.attr_types import (
    AttrType,
    WordsForm,
    case_of,
    flag,
    flags,
    numbers,
    sequence_of,
    to_integer,
    to_number,
)

E = TypeVar("E", bound=Enum)
F = TypeVar("F", bound=Flag)
N = TypeVar("N", int, float, bool)

_integers = sequence_of(to_integer, "integers")


def typed_integer(type: ElementType) -> AttrType[int]:
    """Returns the type of integers stored with an integer type."""

    def decode(attr: Attribute) -> int:
        if not isinstance(attr, IntegerAttr) or attr.type is not type:
            raise ValueError(f"expected an integer of type {type}, found {attr!r}")
        return attr.value

    return AttrType(f"{type} integer", to_integer, lambda v: IntegerAttr(v, type), decode, elides_type=True)


def _bool(attr: Attribute) -> bool:
    if isinstance(attr, IntegerAttr) and attr.type is boolean:
        return attr.value != 0
    return flag.from_attribute(attr)


bool_: AttrType[bool] = AttrType("bool", flag.coerce, BoolAttr, _bool, elides_type=True)
"""The type of bools, which texts may have as `1 : i1`, in custom forms `1`."""


def typed_float(type: ElementType) -> AttrType[float]:
    """Returns the type of numbers stored as floats of a type."""

    def decode(attr: Attribute) -> float:
        if not isinstance(attr, FloatAttr) or attr.type is not type:
            raise ValueError(f"expected a float of type {type}, found {attr!r}")
        return attr.value

    return AttrType(f"{type} float", to_number, lambda v: FloatAttr(v, type), decode, elides_type=True)


def array_of(type: ElementType) -> AttrType[tuple[int, ...]]:
    """Returns the type of integers stored as a dense array: `array<i32: 1, 2>`, in custom forms `[1, 2]`."""
    return _dense(type, _integers)


def float_array_of(type: ElementType) -> AttrType[tuple[float, ...]]:
    """Returns the type of floats stored as a dense array: `array<f32: 1.0>`, in custom forms `[1.0]`."""
    return _dense(type, numbers.coerce)


def _dense(type: ElementType, coerce: Callable[[object], tuple[N, ...]]) -> AttrType[tuple[N, ...]]:
    def decode(attr: Attribute) -> tuple[N, ...]:
        if not isinstance(attr, DenseArrayAttr) or attr.element is not type:
            raise ValueError(f"expected a dense array of {type}, found {attr!r}")
        return coerce(attr.values)

    name = f"array of {type}"
    return AttrType(name, coerce, lambda v: DenseArrayAttr(type, v), decode, elides_type=True, element=type)


bool_array: AttrType[tuple[bool, ...]] = _dense(boolean, flags.coerce)
"""The type of bools stored as a dense array: `array<i1: true>`, in custom forms `[true]`."""


def integer_array(type: ElementType) -> AttrType[tuple[int, ...]]:
    """Returns the type of integers stored as an array of attributes: `[1, 2]`."""

    def decode(attr: Attribute) -> tuple[int, ...]:
        if not isinstance(attr, ArrayAttr):
            raise ValueError(f"expected an array of integers, found {attr!r}")
        out: list[int] = []
        for v in attr.values:
            if not isinstance(v, IntegerAttr) or v.type is not type:
                raise ValueError(f"expected an integer of type {type}, found {v!r}")
            out.append(v.value)
        return tuple(out)

    return AttrType(
        f"array of {type}", _integers, lambda v: ArrayAttr(tuple([IntegerAttr(n, type) for n in v])), decode
    )


def _keyword(attr: Attribute) -> object:
    """Returns an attribute as the keyword of a custom form; other attributes unchanged."""
    match attr:
        case StringAttr(value=value):
            return value
        case EnumAttr(keyword=keyword):
            return keyword
        case _:
            return attr


def numbered(cases: type[E], type: ElementType, numbers: Mapping[E, int] | None = None) -> AttrType[E]:
    """Returns the type of an enumeration stored as an integer; custom forms have its keyword, the value of the case.

    `numbers` has the integers, if they are not consecutive from 0.
    """
    known = numbers or {case: n for n, case in enumerate(cases)}
    by_number = {n: case for case, n in known.items()}
    coerce = case_of(cases)

    def decode(attr: Attribute) -> E:
        if isinstance(attr, IntegerAttr) and attr.type is type:
            if attr.value not in by_number:
                raise ValueError(f"{attr.value} is the number of no case of {', '.join(str(c.value) for c in cases)}")
            return by_number[attr.value]
        return coerce(_keyword(attr))

    return AttrType(
        cases.__name__,
        coerce,
        lambda v: IntegerAttr(known[v], type),
        decode,
        cases=tuple([str(c.value) for c in cases]),
        spelled=lambda v: str(v.value),
    )


def dialect_enumeration(cases: type[E], name: str, *, mnemonic: str = "") -> AttrType[E]:
    """Returns the type of an enumeration stored as a dialect attribute: `#tosa.nan_mode<IGNORE>` for `tosa.nan_mode`.

    Custom forms have its keyword. With a `mnemonic`, `name` is the dialect and the text is `#index<cmp_predicate slt>`.
    """
    coerce = case_of(cases)
    words = tuple([str(c.value) for c in cases])
    dialect, _, own = name.partition(".")

    def stored(value: E) -> Attribute:
        word = str(value.value)
        return DialectAttr(dialect, "", f"{mnemonic} {word}") if mnemonic else DialectAttr(dialect, own, word)

    def of_words(text: str) -> Attribute:
        return stored(coerce(text))

    def decode(attr: Attribute) -> E:
        if isinstance(attr, DialectAttr) and attr.dialect == dialect and attr.body is not None:
            if not mnemonic and attr.mnemonic == own:
                return coerce(attr.body)
            if mnemonic and not attr.mnemonic and attr.body.startswith(f"{mnemonic} "):
                return coerce(attr.body.removeprefix(mnemonic).strip())
        return coerce(_keyword(attr))

    return AttrType(
        cases.__name__,
        coerce,
        stored,
        decode,
        cases=words,
        form=WordsForm(dialect, mnemonic or own, words, of_words, has_brackets=not mnemonic),
        # MLIR prints a blank before the keyword in every format.
        spelled=lambda v: f" {v.value}" if mnemonic else str(v.value),
    )


def dialect_flags(cases: type[F], name: str, *, separator: str = ", ") -> AttrType[F]:
    """Returns the type of a set of flags stored as a dialect attribute: `#arith.fastmath<nnan,ninf>`.

    Custom forms have the part in angle brackets, including these. The keyword of a flag is its name in lower case; a
    member that combines several flags, or none, is printed instead of them.
    """
    dialect, _, own = name.partition(".")
    members = {m.lower(): case for m, case in cases.__members__.items()}
    single = {m: case for m, case in members.items() if case.value and case.value & (case.value - 1) == 0}

    def words(value: F) -> str:
        combined = next((m for m, case in members.items() if case == value), None)
        return combined or separator.join([m for m, case in single.items() if case in value])

    def coerce(value: object) -> F:
        if isinstance(value, cases):
            return value
        if not isinstance(value, str):
            raise ValueError(f"expected some of {', '.join(members)}, found {value!r}")
        out = cases(0)
        for word in value.strip("<> ").split(","):
            if word.strip() not in members:
                raise ValueError(f"expected some of {', '.join(members)}, found '{word.strip()}'")
            out |= members[word.strip()]
        return out

    def stored(value: F) -> Attribute:
        return DialectAttr(dialect, own, words(value))

    def of_words(text: str) -> Attribute:
        return stored(coerce(text))

    def decode(attr: Attribute) -> F:
        if isinstance(attr, DialectAttr) and (attr.dialect, attr.mnemonic) == (dialect, own):
            return coerce(attr.body)
        return coerce(_keyword(attr))

    return AttrType(
        cases.__name__,
        coerce,
        stored,
        decode,
        form=WordsForm(dialect, own, tuple(members), of_words, takes_several=True),
        spelled=lambda v: f"<{words(v)}>",
    )
