"""Predicates on whole operations (`PredOpTrait`): comparisons of types of operands, results and attributes.

C++ that is not understood makes a predicate unknown. Source: MLIR operation definitions, traits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from operator import eq, ge, gt, le, lt, ne
from types import MappingProxyType

from commonir.ir.attributes import Attribute
from commonir.ir.operation import Operation, Value
from commonir.ods.definition import Definition
from commonir.ods.from_records.expressions import MissingProperty, normal, path_of, unwrapped
from commonir.ods.from_records.predicates import Predicates
from commonir.ods.from_records.values import is_a, record_of, records_of, text_of
from commonir.ods.type_rules import type_of_attribute
from commonir.tablegen import Record

OperationTest = Callable[[Operation], bool]
_Quantity = Callable[[Operation], object]

_MAX_DEPTH = 20
_VALUE = r"(?:\$_op\.getOperand\((\d+)\)|\$_op\.getResult\((\d+)\)|\$(?!_)(\w+))"
_TYPE = re.compile(rf"{_VALUE}\.getType\(\)")
_ELEMENT = re.compile(rf"getElementTypeOrSelf\({_VALUE}\)")
_COUNT = re.compile(r"\$_op\.getNum(Operands|Results)\(\)")
_COMPARISON = re.compile(r"(.*?) (==|!=|<=|>=|<|>) (.*)", re.DOTALL)
# Numbers and types, of which only numbers are ordered.
_OPERATORS: Mapping[str, Callable[[object, object], bool]] = MappingProxyType(  # pyright: ignore[reportAssignmentType]
    {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
)


def operation_test(record: Record, predicates: Predicates, depth: int = 0) -> OperationTest | None:
    """Returns the test of a predicate on an operation; None when it is not understood."""
    if depth > _MAX_DEPTH:
        return None
    if not is_a(record, "CombinedPred"):
        return _comparison(unwrapped(normal(text_of(record, "predExpr"))))
    kind = record_of(record, "kind")
    if kind is not None and kind.name_text == "PredCombinerSubstLeaves":
        return _substituted(record, predicates)
    parts = [operation_test(child, predicates, depth + 1) for child in records_of(record, "children")]
    tests = [part for part in parts if part is not None]
    if len(tests) < len(parts) or kind is None:
        return None
    match kind.name_text:
        case "PredCombinerAnd":
            return lambda op: all(test(op) for test in tests)
        case "PredCombinerOr":
            return lambda op: any(test(op) for test in tests)
        case "PredCombinerNot":
            return lambda op: not any(test(op) for test in tests)
        case _:
            return None


def _substituted(record: Record, predicates: Predicates) -> OperationTest | None:
    """Returns the test of a predicate on a part of the operation."""
    child = next(records_of(record, "children"), None)
    of = _quantity(normal(text_of(record, "replacement")))
    if child is None or of is None:
        return None
    inner = predicates.read(child, text_of(record, "pattern"))
    if inner.unknown:
        return None

    def test(op: Operation) -> bool:
        try:
            return inner.holds(of(op))
        except MissingProperty:
            return False

    return test


def _comparison(text: str) -> OperationTest | None:
    match = _COMPARISON.fullmatch(text)
    if match is None or "&&" in text or "||" in text:
        return None
    left, right = _quantity(match[1]), _quantity(match[3])
    if left is None or right is None:
        return None
    compare = _OPERATORS[match[2]]

    def test(op: Operation) -> bool:
        try:
            return compare(left(op), right(op))
        except (MissingProperty, TypeError):
            return False

    return test


def _quantity(text: str) -> _Quantity | None:
    """Returns the function of a type, a part of a type, or a number of values; None when it is not understood."""
    text = text.replace("::mlir::", "").removeprefix("::").strip()
    if text.isdigit():
        number = int(text)
        return lambda _: number
    count = _COUNT.fullmatch(text)
    if count is not None:
        return (lambda op: len(op.operands)) if count[1] == "Operands" else (lambda op: len(op.results))
    match = _TYPE.search(text) or _ELEMENT.search(text)
    if match is None:
        return None
    inner = "$_self" if match.re is _TYPE else "getElementTypeOrSelf($_self)"
    path = path_of(text[: match.start()] + inner + text[match.end() :])
    operand, result, name = match[1], match[2], match[3]
    if path is None:
        return None

    def quantity(op: Operation) -> object:
        return path(_type_of(op, operand, result, name))

    return quantity


def _type_of(op: Operation, operand: str | None, result: str | None, name: str | None) -> object:
    """Returns the type of an operand or result by number, or of a field by name."""
    values: list[object] = []
    if operand is not None:
        values = [*op.operands[int(operand) :]]
    elif result is not None:
        values = [*op.results[int(result) :]]
    elif isinstance(op, Definition):
        values = [*_values_of(op, name or "")]
    for value in values[:1]:
        return value.type if isinstance(value, Value) else type_of_attribute(value)
    raise MissingProperty


def _values_of(op: Definition, name: str) -> Iterator[object]:
    field = next((f for f in op.layout.by_name.values() if f.spelling == name), None)
    value: object = None if field is None else op.field_value(field)
    if isinstance(value, tuple):
        yield from value
    elif isinstance(value, Value | Attribute):
        yield value
