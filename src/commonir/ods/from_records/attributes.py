"""Attribute constraints of records: the Python value, the predicate, and the default of an attribute.

Source: MLIR operation definitions, attribute constraints, properties and `AttrDef`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any

from commonir.ir.attributes import ArrayAttr, Attribute, DataAttr, DialectAttr, StringAttr
from commonir.ir.data import data_of
from commonir.ir.types import ElementType, f32, f64, i8, i16, i32, i64, integer_type
from commonir.ods import attr_types, property_types
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import MISSING, Check, Missing
from commonir.ods.from_records.cpp_classes import of_dialect
from commonir.ods.from_records.enumerations import (
    dialect_attr_type,
    enumeration_of,
    has_word_form,
    number_attr_type,
    number_value,
    property_type,
)
from commonir.ods.from_records.expressions import normal
from commonir.ods.from_records.predicates import ALWAYS, Predicate, Predicates, both, each
from commonir.ods.from_records.types import Types, class_name
from commonir.ods.from_records.values import classes_of, flag_of, is_a, record_of, states, text_of
from commonir.ods.mlir_attr_types import (
    array_of,
    bool_,
    bool_array,
    float_array_of,
    integer_array,
    typed_float,
    typed_integer,
)
from commonir.ods.property_types import PropertyType
from commonir.tablegen import Record
from commonir.tablegen.values import DefRef

_NUMBER = re.compile(r"[+-]?\d+")
_REAL = re.compile(r"([+-]?\d+\.?\d*(?:[eE][+-]?\d+)?)f?")
_CAST = re.compile(r"static_cast<[\w:]+>\(([^()]*)\)")
_NAME = re.compile(r"[\w:]+")
_LIST = re.compile(r"(?:ArrayRef|SmallVector)<[\w:]+>(\{.*\})")
_DENSE = re.compile(r"RankedTensorType::get\(\{([\d, ]*)\}, \$_builder\.getIntegerType\((\d+)\)\)")


@dataclass(frozen=True, slots=True)
class AttributeCheck:
    """The type of an attribute and its predicate, which `summary` describes."""

    attr_type: AttrType[Any]
    summary: str
    admits: Callable[[Attribute], bool]
    unknown: tuple[str, ...] = ()


_PLAIN: Mapping[str, AttrType[Any]] = MappingProxyType(
    {
        "UnitAttr": attr_types.unit,
        "BoolAttr": bool_,
        "StringAttr": attr_types.string,
        "TypeAttr": attr_types.type_,
        "FlatSymbolRefAttr": attr_types.symbol,
        "DictionaryAttr": attr_types.dictionary,
        **{f"Dense{name}ArrayAttr": array_of(e) for name, e in {"I8": i8, "I16": i16, "I32": i32, "I64": i64}.items()},
        **{f"Dense{name}ArrayAttr": float_array_of(e) for name, e in {"F32": f32, "F64": f64}.items()},
        "DenseBoolArrayAttr": bool_array,
    }
)
"""Attribute types by storage class."""

_NAMED: Mapping[str, AttrType[Any]] = MappingProxyType(
    {
        "SymbolNameAttr": attr_types.symbol_name,
        "I32ArrayAttr": integer_array(i32),
        "I64ArrayAttr": integer_array(i64),
        "StrArrayAttr": attr_types.strings,
        "TypeArrayAttr": attr_types.types,
        "DictArrayAttr": attr_types.dictionaries,
    }
)
"""Attribute types by the name of the record."""

_OF_PROPERTIES: Mapping[str, PropertyType[Any]] = MappingProxyType(
    {
        "int64_t": property_types.integer(i64),
        "int32_t": property_types.integer(i32),
        "string": property_types.text,
        "bool": property_types.boolean,
        "_cls_UnitProp": property_types.unit,
    }
)
"""Property types by storage type; flags by their class."""

_ELEMENTS: Mapping[str, ElementType] = MappingProxyType({"SmallVector<int64_t>": i64, "SmallVector<int32_t>": i32})
"""Element types by the storage type of several numbers."""


class Attributes:
    """The attribute constraints of one load, each built once."""

    def __init__(self, types: Types, predicates: Predicates) -> None:
        self._types = types
        self._predicates = predicates
        self._checks: dict[Record, AttributeCheck] = {}
        self._attr_types: dict[Record, AttrType[Any]] = {}

    def check(self, record: Record) -> AttributeCheck:
        """Returns the check of a record."""
        result = self._checks.get(record)
        if result is None:
            result = self._checks[record] = self._check(record)
        return result

    def _check(self, record: Record) -> AttributeCheck:
        attr_type, summary = self.attr_type(record), text_of(record, "summary") or record.name_text
        if is_a(record, "DerivedAttr"):
            return AttributeCheck(attr_type, summary, lambda _: True)
        if is_a(record, "Property"):
            predicate = self._of_property(record)
            return AttributeCheck(attr_type, summary, predicate.holds, predicate.unknown)
        if is_a(record, "ConstantAttr"):
            expected = self.value(record)
            return AttributeCheck(attr_type, summary, lambda a: expected is None or a is expected)
        predicate = self._predicates.of(record)
        return AttributeCheck(attr_type, summary, predicate.holds, predicate.unknown)

    def _of_property(self, record: Record) -> Predicate:
        """Returns the predicate of a property's value; for a composed one, of its parts."""
        classes = classes_of(record)
        for parts in ("OptionalProp:p", "ArrayProp:elem"):
            of_each = record.record_arguments.get(parts)
            if isinstance(of_each, DefRef):
                return each(self._of_property(of_each.record))
        base = record_of(record, "baseProperty")
        if base is None:
            # The words of an enumeration determine its numbers.
            return ALWAYS if "EnumProp" in classes else self._predicates.of(record)
        confined = record.record_arguments.get("ConfinedProp:pred")
        predicate = self._of_property(base)
        return both(predicate, self._predicates.read(confined.record)) if isinstance(confined, DefRef) else predicate

    def condition(self, record: Record, attr_type: AttrType[Any]) -> Check | None:
        """Returns the condition on the value of a field beyond that of its attribute type; None if there is none."""
        check = self.check(record)
        if is_a(record, "Property"):
            return Check(check.summary, check.admits) if isinstance(attr_type, PropertyType) else None
        if attr_type in (attr_types.unit, attr_types.symbol_name):
            return None
        to_attribute = attr_type.to_attribute
        return Check(check.summary, lambda v: check.admits(to_attribute(v)))

    def attr_type(self, record: Record) -> AttrType[Any]:
        """Returns the attribute type of a record."""
        base = base_of(record)
        result = self._attr_types.get(base)
        if result is None:
            result = self._attr_types[base] = self._new_attr_type(base)
        return result

    def _new_attr_type(self, base: Record) -> AttrType[Any]:
        constraint = record_of(base, "attr") if is_a(base, "ConstantAttr") else None
        if constraint is not None:
            return self.attr_type(constraint)
        if base.name_text in _NAMED:
            return _NAMED[base.name_text]
        if is_a(base, "Property"):
            return self._property(base)
        if is_a(base, "EnumAttr"):
            return dialect_attr_type(base) if has_word_form(base) else _dialect_attribute(base)
        if is_a(base, "EnumAttrInfo"):
            return number_attr_type(base)
        if is_a(base, "AttrDef") and states(base, "mnemonic"):
            return _dialect_attribute(base)
        stored, of_value = class_name(text_of(base, "storageType")), record_of(base, "valueType")
        only = None if of_value is None else self._types.built(text_of(of_value, "builderCall"))
        if stored == "IntegerAttr" and isinstance(only, ElementType):
            return typed_integer(only)
        if stored == "FloatAttr" and isinstance(only, ElementType):
            return typed_float(only)
        if stored == "TypeAttr" and class_name(text_of(base, "returnType")) == "FunctionType":
            return attr_types.function_type
        return _PLAIN.get(stored, attr_types.any_attribute)

    def _property(self, base: Record) -> AttrType[Any]:
        """Returns the type of a property, composed of those of its parts; any attribute for unknown C++ types."""
        classes = classes_of(base)
        if "EnumProp" in classes:
            return property_type(base)
        if "OptionalProp" in classes:
            inner = self._part(base, "OptionalProp:p")
            # The printer determines whether the text of a value is in brackets.
            brackets = "some" in text_of(base, "printer")
            return attr_types.any_attribute if inner is None else property_types.optional(inner, is_plain=not brackets)
        if "IntArrayProp" in classes:
            element = _ELEMENTS.get(normal(text_of(base, "storageType")))
            return attr_types.any_attribute if element is None else property_types.integers(element)
        if "ArrayProp" in classes:
            item = self._part(base, "ArrayProp:elem")
            return attr_types.any_attribute if item is None else property_types.array(item)
        name = "_cls_UnitProp" if "_cls_UnitProp" in classes else normal(text_of(base, "storageType"))
        return _OF_PROPERTIES.get(name, attr_types.any_attribute)

    def _part(self, base: Record, name: str) -> PropertyType[Any] | None:
        """Returns the type of a part of a property."""
        part = base.record_arguments.get(name)
        attr_type = self.attr_type(part.record) if isinstance(part, DefRef) else None
        return attr_type if isinstance(attr_type, PropertyType) else None

    def default(self, record: Record) -> object | Missing | None:
        """Returns the default of an attribute: None for an optional one, MISSING for a required one.

        Raises: ValueError for a default in C++ that is not understood.
        """
        attr_type = self.attr_type(record)
        if attr_type is attr_types.unit:
            return False
        text = normal(text_of(record, "defaultValue"))
        is_property = is_a(record, "Property")
        if is_property and text in ("nullopt", "std::nullopt"):
            return attr_type.coerce(None) if isinstance(attr_type, PropertyType) else None
        if flag_of(record, "isOptional"):
            return None
        if not states(record, "defaultValue") or (is_property and not text):
            return MISSING
        return self.parsed(attr_type, base_of(record), text)

    def elided(self, record: Record) -> object:
        """Returns the value of an absent optional attribute; MISSING when none is declared.

        Raises: ValueError for a value in C++ that is not understood.
        """
        text = normal(text_of(record, "defaultValue"))
        attr_type = self.attr_type(record)
        if not text or attr_type is attr_types.unit or not flag_of(record, "isOptional"):
            return MISSING
        return self.parsed(attr_type, base_of(record), text)

    def parsed(self, attr_type: AttrType[Any], base: Record, text: str) -> object:
        """Returns the value of a C++ expression in an attribute type. Raises: ValueError when it is not understood."""
        info = record_of(base, "enum") or (base if is_a(base, "EnumInfo") else None)
        if info is not None and _NAME.fullmatch(text):
            case = enumeration_of(info).case_of(text)
            if case is not None:
                return attr_type.coerce(case.word)
        if text == "{}" and class_name(text_of(base, "storageType")) == "ArrayAttr":
            return attr_type.from_attribute(ArrayAttr(()))
        dense = _DENSE.search(normal(text_of(base, "constBuilderCall")))
        try:
            if dense is not None:
                return _contents(dense, text)
            return attr_type.coerce(_literal(text))
        except ValueError:
            raise ValueError(f"the default '{text}' is C++ that is not understood") from None

    def value(self, record: Record) -> Attribute | None:
        """Returns the attribute of a record that is a case of an enumeration or a constant; None for other records."""
        if is_a(record, "EnumCase"):
            return number_value(record)
        constraint = record_of(record, "attr")
        if not is_a(record, "ConstantAttr") or constraint is None:
            return None
        attr_type, text = self.attr_type(constraint), normal(text_of(record, "value"))
        try:
            result: Attribute = attr_type.to_attribute(self.parsed(attr_type, base_of(constraint), text))
        except ValueError:
            return None
        return result


def base_of(record: Record) -> Record:
    """Returns the base attribute of an optional, defaulted or confined one."""
    seen = 0
    while seen < 100:
        inner = record_of(record, "baseAttr") or record_of(record, "baseProperty")
        if inner is None:
            return record
        record, seen = inner, seen + 1
    return record


def _literal(text: str) -> object:
    text = _LIST.sub(r"\1", _CAST.sub(r"\1", text)).strip()
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        return text[1:-1]
    if text.startswith("{") and text.endswith("}"):
        items = [item.strip() for item in text[1:-1].split(",") if item.strip()]
        return tuple([_literal(item) for item in items])
    if _NUMBER.fullmatch(text):
        return int(text)
    match = _REAL.fullmatch(text)
    if match is not None:
        return float(match[1])
    raise ValueError(text)


def _contents(dense: re.Match[str], text: str) -> Attribute:
    """Returns integers as the contents of a tensor. Raises: ValueError when they do not fit its shape."""
    shape = tuple([int(n) for n in dense[1].split(",") if n.strip()])
    literal = _literal(text)
    numbers = attr_types.integers.coerce(literal)
    if len(numbers) != prod(shape):
        raise ValueError(text)
    return DataAttr(data_of(integer_type(int(dense[2])), shape, numbers))


def _dialect_attribute(record: Record) -> AttrType[Any]:
    """Returns the attribute type of a dialect attribute that a record defines. Custom forms omit its prefix before
    brackets.
    """
    owner, mnemonic = record_of(record, "dialect"), text_of(record, "mnemonic")
    dialect = "" if owner is None else text_of(owner, "name")
    is_it = of_dialect(dialect, mnemonic)

    def coerce(value: object) -> Attribute:
        if not isinstance(value, Attribute) or not is_it(value):
            raise ValueError(f"expected #{dialect}.{mnemonic}, found {value!r}")
        return value

    def decode(attr: Attribute) -> Attribute:
        if isinstance(attr, StringAttr) and attr.value.startswith("<") and attr.value.endswith(">"):
            return DialectAttr(dialect, mnemonic, attr.value[1:-1])
        return coerce(attr)

    name = f"{dialect}.{mnemonic}"
    return AttrType(name, coerce, lambda v: v, decode, prefix=name)
