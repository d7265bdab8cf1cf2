"""Checks of the record of an operation that do not depend on its assembly format.

Names and the accessors that MLIR generates for them, dags, positions of variadic fields, traits and builders.
Source: MLIR operation definitions; the cases of mlir-tblgen 22.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from commonir.ods.from_records.values import (
    arguments_of,
    dag_operator,
    flag_of,
    flat_traits,
    is_a,
    record_of,
    records_of,
    text_of,
    value_of,
)
from commonir.tablegen import Record
from commonir.tablegen.values import Dag, DefRef, String

_NAME = re.compile(r"[A-Za-z0-9_$.-]+")
_OPERATORS: Mapping[str, str] = MappingProxyType({"results": "outs", "regions": "region", "successors": "successor"})
_ENTITIES: Mapping[str, str] = MappingProxyType(
    {"arguments": "operand", "results": "result", "regions": "region", "successors": "successor"}
)
_CLASSES: Mapping[str, str] = MappingProxyType({"regions": "Region", "successors": "Successor"})
_VARIADIC: Mapping[str, str] = MappingProxyType({"regions": "VariadicRegion", "successors": "VariadicSuccessor"})
_MANY = ("Variadic", "Optional", "VariadicOfVariadic")
_OF_OTHERS = ("AttrInterface", "TypeInterface", "NativeAttrTrait", "NativeTypeTrait")
_RESERVED = ("AttributeNames", "Attributes", "Operation")
_SEGMENTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "arguments": ("AttrSizedOperandSegments", "SameVariadicOperandSize"),
        "results": ("AttrSizedResultSegments", "SameVariadicResultSize"),
    }
)


def faults_of(record: Record) -> Iterator[str]:
    """Yields why the record of an operation is invalid."""
    if not _NAME.fullmatch(text_of(record, "opName")):
        yield f"'{text_of(record, 'opName')}' is not a name of an operation"
    yield from _faults_of_dags(record)
    yield from _faults_of_names(record)
    yield from _faults_of_segments(record)
    yield from _faults_of_traits(record)
    yield from _faults_of_builders(record)


def _faults_of_dags(record: Record) -> Iterator[str]:
    for name, operator in _OPERATORS.items():
        if dag_operator(record, name) not in ("", operator):
            yield f"'{name}' is a dag of '{operator}', not '{dag_operator(record, name)}'"
    for name, variadic in _VARIADIC.items():
        items = list(arguments_of(record, name))
        for n, (item, label) in enumerate(items):
            if not is_a(item, _CLASSES[name]):
                yield f"'{item.name_text}' in '{name}' is not a {_ENTITIES[name]}"
            elif is_a(item, variadic) and n < len(items) - 1:
                yield f"only the last {_ENTITIES[name]} can be variadic"
            elif is_a(item, variadic) and name == "regions" and not label:
                yield "a variadic region needs a name"
    for item, label in arguments_of(record, "arguments"):
        constraint = _constraint(item)
        if is_a(constraint, "DerivedAttr"):
            yield f"derived attribute '{label}' is a field of the operation, not an argument"
        elif is_a(constraint, "AttrConstraint", "Attr", "Property") and not label:
            yield f"attribute '{constraint.name_text}' needs a name"
    for item, label in arguments_of(record, "results"):
        if is_a(_constraint(item), "VariadicOfVariadic"):
            yield f"result '{label}' is variadic of variadic, which only operands can be"


def _constraint(item: Record) -> Record:
    """Returns the constraint of an argument or result, also inside `Arg<..>` and `Res<..>`."""
    return (record_of(item, "constraint") or item) if is_a(item, "OpVariable") else item


def is_attribute(item: Record) -> bool:
    """Returns whether an argument is an attribute or a property."""
    return is_a(_constraint(item), "AttrConstraint", "Attr", "Property")


def _faults_of_names(record: Record) -> Iterator[str]:
    """Yields names of fields whose accessors are the same, or those of every operation."""
    seen: dict[str, tuple[str, str]] = {}
    for name, entity in _ENTITIES.items():
        for item, label in arguments_of(record, name):
            what = "attribute" if name == "arguments" and is_attribute(item) else entity
            if not label:
                continue
            accessor = _camel(label)
            if accessor in seen:
                before, same = seen[accessor]
                shared = f"two fields of the name '{label}'" if same == label else f"one accessor, 'get{accessor}'"
                yield f"{before} and {what} '{label}': {shared}"
            seen[accessor] = f"{what} '{label}'", label
            if accessor in _RESERVED or (what != "attribute" and _overlaps(record, accessor)):
                yield f"the accessor 'get{accessor}' of {what} '{label}' is one that every operation has"


def _camel(name: str) -> str:
    """Returns a name as part of an accessor: `AttributeNames` for `attribute_names`."""
    return "".join([part[:1].upper() + part[1:] for part in name.split("_")])


def _overlaps(record: Record, accessor: str) -> bool:
    """Returns whether every operation has an accessor, which means something else for this one."""
    match accessor:
        case "Operands":
            operands = [item for item, _ in arguments_of(record, "arguments") if not is_attribute(item)]
            return len(operands) != 1 or not is_a(_constraint(operands[0]), *_MANY)
        case "Regions":
            regions = [item for item, _ in arguments_of(record, "regions")]
            return len(regions) != 1 or not is_a(regions[0], "VariadicRegion")
        case "Type":
            return len(list(arguments_of(record, "results"))) != 1
        case _:
            return False


def _faults_of_segments(record: Record) -> Iterator[str]:
    """Yields contradictions between variadic operands or results and the traits that say how many values each has."""
    traits = {each.name_text for each in flat_traits(record)}
    for name, (sized, equal) in _SEGMENTS.items():
        many = sum(is_a(_constraint(item), *_MANY) for item, _ in arguments_of(record, name))
        entities = f"{_ENTITIES[name]}s"
        if sized in traits and equal in traits:
            yield f"'{sized}' and '{equal}' contradict each other"
        elif many > 1 and sized not in traits and equal not in traits:
            yield f"{many} variadic {entities} need the trait '{sized}' or '{equal}'"
        elif many < 2 and sized in traits:
            yield f"'{sized}' needs two variadic {entities}, found {many}"


def _faults_of_traits(record: Record) -> Iterator[str]:
    before: set[Record] = set()
    for trait in flat_traits(record):
        if is_a(trait, *_OF_OTHERS):
            yield f"trait '{trait.name_text}' is one of types or attributes, not of operations"
        missing = [each.name_text for each in records_of(trait, "dependentTraits") if each not in before]
        if missing:
            yield f"trait '{trait.name_text}' needs '{missing[0]}' before it"
        before.add(trait)
    traits = {each.name_text for each in before}
    operands = [_constraint(item) for item, _ in arguments_of(record, "arguments") if not is_attribute(item)]
    has_attributes = any(is_attribute(item) for item, _ in arguments_of(record, "arguments"))
    if "SameOperandsAndResultType" in traits and not operands:
        yield "'SameOperandsAndResultType' needs an operand"
    if "FirstAttrDerivedResultType" in traits and not has_attributes:
        yield "'FirstAttrDerivedResultType' needs an attribute"


def _faults_of_builders(record: Record) -> Iterator[str]:
    builders = list(records_of(record, "builders"))
    if flag_of(record, "skipDefaultBuilders") and not builders:
        yield "'skipDefaultBuilders' needs 'builders'"
    for builder in builders:
        yield from _faults_of_builder(builder)


def _faults_of_builder(builder: Record) -> Iterator[str]:
    dag = value_of(builder, "dagParams")
    if not isinstance(dag, Dag):
        return
    if dag_operator(builder, "dagParams") != "ins":
        yield "the parameters of a builder are a dag of 'ins'"
    for value, label in dag.args:
        stated = value.record if isinstance(value, DefRef) else None
        if not isinstance(value, String) and (stated is None or not is_a(stated, "CArg")):
            yield f"parameter '{label or ''}' of a builder is neither a C++ type in quotes nor CArg<..>"
    has_default = [_is_default_argument(value) for value, _ in dag.args]
    if has_default != sorted(has_default):
        yield "parameters with default values are the last of a builder"


def _is_default_argument(value: object) -> bool:
    """Returns whether a parameter of a builder has a default value: `CArg<"int", "42">`."""
    inner: object = getattr(value, "record", None)
    return isinstance(inner, Record) and bool(text_of(inner, "defaultValue"))
