"""Type constraints of records: sets of types by their predicates, with the only type of a set that has one.

Source: MLIR operation definitions, type constraints and `TypeDef`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from commonir.ir.types import (
    ComplexType,
    DialectType,
    ElementType,
    Type,
    element_named,
    index,
    integer_type,
    none,
    token,
)
from commonir.ods.from_records.cpp_classes import BUILTIN, Test, of_dialect
from commonir.ods.from_records.expressions import normal
from commonir.ods.from_records.predicates import Predicates
from commonir.ods.from_records.values import flag_of, has_arguments, is_a, record_of, text_of, title_of
from commonir.ods.patterns import TypeConstraint
from commonir.tablegen import Record, Records

_BUILDER = re.compile(r"\$_builder\.get(\w+)(?:<([\w:]+)>)?\((.*)\)")
_OF_PART = re.compile(r"ComplexType::get\((.*)\)")
_COMMENT = re.compile(r"/\*.*?\*/")
_NAMED = re.compile(r"(?:I(\d+)|(B?F\d+|TF32))Type")
_CLASS = re.compile(r"(?:B?Float)(\w+)Type")

_OWN_TYPES: Mapping[str, Type] = MappingProxyType(
    {"NoneType": none, "IndexType": index, "ml_program::TokenType": token}
)


def class_name(cpp: str) -> str:
    """Returns the name of a C++ class as predicates spell it."""
    return normal(cpp).removeprefix("::").strip()


def defined_classes(records: Records) -> dict[str, Test]:
    """Returns tests for the classes generated from definitions of types and attributes."""
    out: dict[str, Test] = {}
    for kind in ("TypeDef", "AttrDef"):
        for record in records.derived_from(kind):
            dialect = record_of(record, "dialect")
            mnemonic = text_of(record, "mnemonic")
            if dialect is not None and mnemonic:
                out[class_name(text_of(record, "cppType"))] = of_dialect(text_of(dialect, "name"), mnemonic)
    for record in records.derived_from("EnumAttrInfo"):
        if flag_of(record, "genSpecializedAttr"):
            out[class_name(text_of(record, "storageType"))] = BUILTIN["IntegerAttr"]
    return out


class Types:
    """The type constraints of one load, each built once."""

    def __init__(self, records: Records, predicates: Predicates) -> None:
        self._predicates = predicates
        self._built: dict[Record, TypeConstraint] = {}
        self._only: dict[str, Type] = dict(_OWN_TYPES)
        # Types with parameters by their C++ class.
        self._short: dict[str, str] = {}
        for record in records.derived_from("TypeDef"):
            dialect, name = record_of(record, "dialect"), class_name(text_of(record, "cppType"))
            mnemonic = text_of(record, "mnemonic")
            if dialect is None or name in self._only:
                continue
            if not has_arguments(record, "parameters"):
                self._only[name] = DialectType(text_of(dialect, "name"), mnemonic)
            elif mnemonic:
                self._short[name] = f"{text_of(dialect, 'name')}.{mnemonic}"

    def constraint(self, record: Record) -> TypeConstraint:
        """Returns the set of types that a record defines."""
        result = self._built.get(record)
        if result is None:
            result = self._built[record] = self._constraint(record)
        return result

    def _constraint(self, record: Record) -> TypeConstraint:
        title, title_and_predicate = title_of(record), self._predicates.of(record)
        summary = text_of(record, "summary") or title
        short = self._short.get(class_name(text_of(record, "cppType")), "")
        call = text_of(record, "builderCall")
        return TypeConstraint(
            title, summary, title_and_predicate.holds, self.built(call), short, is_buildable=bool(call)
        )

    def unknown(self, record: Record) -> tuple[str, ...]:
        """Returns the conditions of a record that are not understood."""
        return self._predicates.of(record).unknown

    def built(self, call: str) -> Type | None:
        """Returns the type that a builder call returns; None when there is none, or it is not understood."""
        text = normal(_COMMENT.sub("", call)).removesuffix(";").strip()
        of_part = _OF_PART.fullmatch(text)
        if of_part is not None:
            part = self.built(of_part[1])
            return ComplexType(part) if isinstance(part, ElementType) else None
        match = _BUILDER.fullmatch(text)
        if match is None:
            return None
        name, parameter, argument = match[1], match[2], match[3]
        if name == "Type" and parameter:
            return self._of_class(parameter.removeprefix("::"))
        if name in ("IndexType", "NoneType"):
            return _OWN_TYPES[name]
        if name == "IntegerType":
            return _integer(argument)
        named = _NAMED.fullmatch(name)
        return None if named is None else element_named(f"i{named[1]}" if named[1] else named[2].lower())

    def _of_class(self, name: str) -> Type | None:
        if name in self._only:
            return self._only[name]
        match = _CLASS.fullmatch(name)
        if match is None:
            return None
        stem = match[1]
        return element_named("bf16" if name.startswith("B") else f"f{stem}") or element_named(stem.lower())


def _integer(arguments: str) -> Type | None:
    width, _, sign = arguments.partition(",")
    if not width.strip().isdigit():
        return None
    match sign.strip():
        case "":
            return integer_type(int(width))
        case "true":
            return integer_type(int(width), "signed")
        case _:
            return integer_type(int(width), "unsigned")


def is_type(record: Record) -> bool:
    """Returns whether a record is a constraint on types."""
    return is_a(record, "TypeConstraint") and not is_a(record, "Attr")
