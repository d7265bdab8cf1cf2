"""Operands and attributes without sense are refused with a coded finding or have a result: never a Python error."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from math import prod
from typing import Any

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.types import ELEMENT_TYPES, ElementType, TensorType
from commonir.ods import infer
from commonir.runtime.interpreter.evaluation import OutOfRange
from commonir.symbolic import symbol

from tests.dialects.core.drawing import Draw, element_of
from tests.dialects.core.running import Operand, built, constant_result, definition, evaluated, values_of
from tests.dialects.core.test_results import MAKERS

SAMPLES = 40
MOST_ELEMENTS = 1 << 12
MOST_WILD = 5
"""Operands of which all are wild at once."""


def _other(draw: Draw, value: Any) -> Any:
    """Another value of the same kind as an attribute."""
    match value:
        case bool():
            return not value
        case int():
            return draw.among(value, -1, 0, 1, value + 1, -value, 7, -9)
        case float():
            return draw.among(value, 0.0, -1.5, float("nan"), float("inf"), -float("inf"), 1e30)
        case tuple() if draw.flag():
            return tuple([_other(draw, v) for v in value])
        case tuple():
            return draw.among(value[1:], (*value, *value[:1]), value[::-1])
        case ElementType():
            return ELEMENT_TYPES[draw.among("i1", "i8", "ui8", "i64", "f16", "f32", "complex<f32>")]
        case Enum():
            return draw.among(*type(value))
        case _:
            return value


def _type(draw: Draw, x: Any, element: str) -> TensorType:
    """The type of an array, perhaps of another rank, size or element type, and perhaps not entirely known."""
    dims: list[Any] = list(x.shape)
    change = draw.integer(0, 6)
    if change == 0:
        dims = dims[1:]
    elif change == 1:
        dims.append(draw.integer(0, 3))
    elif change in (2, 3) and dims:
        dims[draw.integer(0, len(dims) - 1)] = draw.among(0, 1, 2, 5, None, symbol("N"), symbol("M", 0))
    elif change == 4:
        element = draw.among("i1", "i32", "f16", "f64", "ui8", "bf16", "complex<f32>")
    elif change == 5 and draw.flag():
        return TensorType(ELEMENT_TYPES[element], None)
    return tensor(ELEMENT_TYPES[element], *dims)


def _value(draw: Draw, x: Any) -> Value:
    return Value(_type(draw, x, element_of(x)))


def _wild(draw: Draw, x: Operand) -> Any:
    if isinstance(x, tuple):
        return tuple([_value(draw, u) for u in (x if draw.flag() else x[1:])])
    return None if x is None else _value(draw, x)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", MAKERS)
def test_wild_arguments_are_refused_with_a_code_or_have_a_result(name: str) -> None:
    seen: Counter[str] = Counter()
    for number in range(SAMPLES):
        draw = Draw(f"wild {name}", number)
        case = MAKERS[name](draw)
        attributes = {k: _other(draw, v) if draw.flag() else v for k, v in case.attributes.items()}
        # Of many operands only some are wild: else none of them would ever fit the others.
        count = len(case.operands)
        wild = [count <= MOST_WILD or draw.integer(1, count) == 1 for _ in case.operands]
        plain = values_of(case.operands)
        operands = [_wild(draw, x) if w else v for x, v, w in zip(case.operands, plain, wild, strict=True)]
        try:
            op = built(definition(name), operands, attributes)
        except DiagnosticError as error:
            assert all(d.code.id.startswith("E05") for d in error.diagnostics)
            seen["refused"] += 1
            continue
        seen["made"] += 1
        infer(op)
        types = [v.type for v in (*op.operands, *op.results)]
        static = [
            t for t in types if isinstance(t, TensorType) and t.is_static and prod(t.static_shape) <= MOST_ELEMENTS
        ]
        if len(static) < len(types):
            continue
        arrays = [draw.array(t.static_shape, t.element.name, 0, 2) for t in static[: len(op.operands)]]
        try:
            result = constant_result(op) or evaluated(op, arrays)
        except (OutOfRange, DiagnosticError):
            seen["failed"] += 1
            continue
        assert [y.shape for y in result] == [t.static_shape for t in static[len(op.operands) :]]
    assert seen["made"]


def test_every_core_operation_takes_part() -> None:
    assert set(MAKERS) <= set(core.DIALECT.operations)
