"""Enumerations of records as attribute types: integers, dialect attributes, and sets of flags.

Source: MLIR operation definitions, enumerations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import Enum, Flag
from typing import Any

from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, DialectAttr, EnumAttr, IntegerAttr, StringAttr
from commonir.ir.literals import quoted
from commonir.ir.types import integer_type
from commonir.ods import property_types
from commonir.ods.attr_types import AttrType
from commonir.ods.from_records.values import flag_of, is_a, number_of, record_of, records_of, text_of
from commonir.ods.property_types import PropertyType
from commonir.tablegen import Record

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_FORMAT = re.compile(r"\s*(?:`([<({\[])`)?\s*\$value\s*(?:`([>)}\]])`)?\s*")


class Case(NamedTuple):
    """One case: its name in C++, its number, and its keyword in texts."""

    symbol: str
    number: int
    word: str
    is_group: bool


class Enumeration(NamedTuple):
    """The contents of an enumeration record. `separator` is written between the keywords of flags."""

    name: str
    bits: int
    cases: tuple[Case, ...]
    is_flags: bool
    separator: str
    groups_first: bool

    def case_of(self, symbol: str) -> Case | None:
        """Returns the case with a C++ name, which may be qualified."""
        own = symbol.rpartition("::")[2]
        return next((case for case in self.cases if case.symbol == own), None)


def enumeration_of(record: Record) -> Enumeration:
    """Returns the enumeration of an `EnumInfo` record."""
    cases = [
        Case(text_of(each, "symbol"), number_of(each, "value"), text_of(each, "str"), _is_group(each))
        for each in records_of(record, "enumerants")
    ]
    return Enumeration(
        text_of(record, "className") or record.name_text,
        number_of(record, "bitwidth", 32),
        tuple(cases),
        is_a(record, "BitEnumBase"),
        text_of(record, "separator") or "|",
        flag_of(record, "printBitEnumPrimaryGroups"),
    )


def faults_of_enumeration(record: Record) -> Iterator[str]:
    """Yields why an `EnumInfo` record is invalid: cases share a name, keyword or number, or a number does not fit."""
    enumeration = enumeration_of(record)
    numbers = [] if enumeration.is_flags else [str(case.number) for case in enumeration.cases]
    for what, values in (
        ("symbol", [case.symbol for case in enumeration.cases]),
        ("keyword", [case.word for case in enumeration.cases]),
        ("number", numbers),
    ):
        twice = [value for value, count in Counter(values).items() if count > 1]
        if twice:
            yield f"two cases have the {what} '{twice[0]}'"
    for case in enumeration.cases:
        if not case.symbol.isidentifier():
            yield f"'{case.symbol}' is not a name in C++"
        if not -(1 << (enumeration.bits - 1)) <= case.number < 1 << enumeration.bits:
            yield f"number {case.number} of '{case.symbol}' does not fit in {enumeration.bits} bits"


def _is_group(case: Record) -> bool:
    return is_a(case, "BitEnumCaseGroup", "BitEnumAttrCaseGroup")


def canonical(enumeration: Enumeration) -> Callable[[Sequence[str]], str]:
    """Returns a function from words of a set of flags to the text that mlir-opt prints for them."""
    words = _Words(enumeration)
    return lambda given: words.text(words.coerce("|".join(given)))


def _enumeration(base: type[Enum], name: str, members: dict[str, str | int]) -> type[Enum]:
    return base(name, members)  # pyright: ignore[reportReturnType]  a class: type checkers know only literal members


class _Words:
    """The two forms of the values of an enumeration: members of a Python enumeration, and words."""

    def __init__(self, enumeration: Enumeration) -> None:
        self.enumeration = enumeration
        self.is_plain = not enumeration.is_flags
        # Python reserves names with an underscore on both sides.
        names = [c.symbol.strip("_") or "_" for c in enumeration.cases]
        values = [c.word if self.is_plain else c.number for c in enumeration.cases]
        self.members = _enumeration(
            Enum if self.is_plain else Flag, enumeration.name, dict(zip(names, values, strict=True))
        )
        self.by_word: dict[str, Enum] = {
            c.word: self.members(value) for c, value in zip(enumeration.cases, values, strict=True)
        }
        self.numbers: dict[Enum, int] = (
            {self.by_word[c.word]: c.number for c in enumeration.cases} if self.is_plain else {}
        )

    def number(self, value: Enum) -> int:
        return self.numbers[value] if self.is_plain else int(value.value)

    def of_number(self, number: int) -> Enum:
        if not self.is_plain:
            return self.members(number)
        result = next((m for m, n in self.numbers.items() if n == number), None)
        if result is None:
            raise ValueError(f"{number} is the number of no case of {', '.join(self.by_word)}")
        return result

    def text(self, value: Enum) -> str:
        """Returns the words of a value."""
        if self.is_plain:
            return str(value.value)
        left = number = int(value.value)
        zero = next((c.word for c in self.enumeration.cases if c.number == 0), "")
        if number == 0:
            return zero
        words: list[str] = []
        for c in self.enumeration.cases:
            if self.enumeration.groups_first and c.is_group and c.number & left == c.number:
                words.append(c.word)
                left &= ~c.number
        rest = [c for c in self.enumeration.cases if c.number and not (self.enumeration.groups_first and c.is_group)]
        words += [c.word for c in rest if c.number & left == c.number]
        return self.enumeration.separator.join(words)

    def coerce(self, value: object) -> Enum:
        if isinstance(value, self.members):
            return value
        if not isinstance(value, str):
            raise ValueError(f"expected {'some' if not self.is_plain else 'one'} of {self._known()}, found {value!r}")
        words = [value] if self.is_plain else re.split(r"[|,]", value.strip("<> "))
        result: list[Enum] = []
        for word in words:
            if word.strip() not in self.by_word:
                raise ValueError(f"expected one of {self._known()}, found '{word.strip()}'")
            result.append(self.by_word[word.strip()])
        if self.is_plain:
            return result[0]
        number = 0
        for member in result:
            number |= int(member.value)
        return self.members(number)

    def _known(self) -> str:
        return ", ".join(self.by_word)


def _keyword(text: str) -> str:
    """Returns a keyword as text: in quotes if it is not a bare identifier."""
    return text if _WORD.fullmatch(text) else quoted(text)


def _word_of(attr: Attribute) -> object:
    return attr.value if isinstance(attr, StringAttr) else attr.keyword if isinstance(attr, EnumAttr) else None


def number_attr_type(record: Record) -> AttrType[Any]:
    """Returns the type of an enumeration stored as an integer."""
    enumeration = enumeration_of(record)
    words, type = _Words(enumeration), integer_type(enumeration.bits)

    def decode(attr: Attribute) -> Enum:
        if isinstance(attr, IntegerAttr):
            if attr.type is not type:
                raise ValueError(f"expected a number of type {type}, found {attr!r}")
            return words.of_number(attr.value)
        word = _word_of(attr)
        return words.coerce(word.strip("<>") if isinstance(word, str) else word)

    return AttrType(
        enumeration.name,
        words.coerce,
        lambda v: IntegerAttr(words.number(v), type),
        decode,
        cases=tuple(words.by_word),
        spelled=lambda v: _keyword(words.text(v)),
    )


def property_type(record: Record) -> PropertyType[Any]:
    """Returns the type of a property that is an enumeration.

    It is stored as an integer, or as a dialect attribute if the record is declared so; both are read.
    """
    info, form = record_of(record, "enum") or record, record_of(record, "attrForm")
    enumeration = enumeration_of(info)
    words = _Words(enumeration)
    of_dialect = None if form is None else dialect_attr_type(form)

    def decode(attr: Attribute) -> Enum:
        if isinstance(attr, IntegerAttr):
            return words.of_number(attr.value)
        if of_dialect is None:
            raise ValueError(f"expected the number of one of {', '.join(words.by_word)}, found {attr!r}")
        return words.members(of_dialect.from_attribute(attr).value)

    def stored(value: Enum) -> Attribute:
        if of_dialect is not None and flag_of(record, "storeInCustomAttribute"):
            return of_dialect.to_attribute(of_dialect.coerce(words.text(value)))
        return IntegerAttr(words.number(value), integer_type(enumeration.bits))

    def said(value: Enum) -> str:
        return _keyword(words.text(value)) if words.is_plain else words.text(value)

    attr_type: AttrType[Any] = AttrType(enumeration.name, words.coerce, stored, decode, cases=tuple(words.by_word))
    result = property_types.words(
        attr_type, said, enumeration.separator.strip() if enumeration.is_flags else "", words.by_word
    )
    mnemonic = text_of(record, "mnemonic")
    return property_types.named(mnemonic, result) if mnemonic else result


def has_word_form(record: Record) -> bool:
    """Returns whether the format of an `EnumAttr` is the word alone or in brackets."""
    return _FORMAT.fullmatch(text_of(record, "assemblyFormat")) is not None


def dialect_attr_type(record: Record) -> AttrType[Any]:
    """Returns the type of an enumeration stored as a dialect attribute: `#tosa.nan_mode<IGNORE>`.

    One whose format has no angle brackets is `#index<cmp_predicate slt>`, and custom forms of operations have only the
    word, with other brackets if the format has some.
    """
    info, owner = record_of(record, "enum"), record_of(record, "dialect")
    enumeration = enumeration_of(info or record)
    words, dialect, mnemonic = (
        _Words(enumeration),
        "" if owner is None else text_of(owner, "name"),
        text_of(record, "mnemonic"),
    )
    match = _FORMAT.fullmatch(text_of(record, "assemblyFormat"))
    # Upstream writes a blank before a word without brackets, independently of the enclosing format.
    before, after = (match[1] or " ", match[2] or "") if match is not None else (" ", "")

    def shown(value: Enum) -> str:
        return words.text(value) if enumeration.is_flags else _keyword(words.text(value))

    def stored(value: Enum) -> Attribute:
        if before == "<":
            return DialectAttr(dialect, mnemonic, shown(value))
        return DialectAttr(dialect, "", f"{mnemonic}{before}{shown(value)}{after}")

    def decode(attr: Attribute) -> Enum:
        text: object = _word_of(attr)
        if isinstance(attr, DialectAttr) and attr.dialect == dialect and attr.body is not None:
            if attr.mnemonic == mnemonic:
                text = attr.body
            elif not attr.mnemonic and attr.body.startswith(f"{mnemonic}{before}"):
                text = attr.body.removeprefix(mnemonic)
        if isinstance(text, str):
            text = text.strip().removeprefix(before).removesuffix(after).strip()
            text = text[1:-1] if text.startswith('"') and text.endswith('"') and len(text) > 1 else text
        return words.coerce(text)

    return AttrType(
        enumeration.name,
        words.coerce,
        stored,
        decode,
        cases=tuple(words.by_word) if before == " " else (),
        spelled=lambda v: f"{before}{shown(v)}{after}",
        # A single word is read as such.
        prefix=f"{dialect}.{mnemonic}" if before != " " or enumeration.is_flags else "",
    )


def number_value(record: Record) -> IntegerAttr:
    """Returns the attribute of a case of an enumeration."""
    return IntegerAttr(number_of(record, "value"), integer_type(number_of(record, "width", 32)))
