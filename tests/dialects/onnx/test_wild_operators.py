"""Operators with operands and attributes that make no sense are refused with a finding: never a Python error."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import onnx
from commonir.ir import Value
from commonir.ir.data import Data, data_of
from commonir.ir.types import ELEMENT_TYPES, TensorType, boolean, f4e2m1fn, f16, f32, f64, i4, i8, i64, string, u8
from commonir.ods import Form, Op
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.patterns import ElementClass
from commonir.rewrite.expand import expand
from commonir.symbolic import symbol

SAMPLES = 40
N = symbol("N")
_INTEGERS = (0, 1, -1, 2, 3, 5, -7, 10**12, 2**63 - 1)
_NUMBERS = (0.0, 1.0, -2.0, 0.5, 1e300, float("nan"), float("inf"))
_TEXTS = ("", "NONE", "mean", "sum", "LINEAR", "LEFT", "DENSE", "constant", "linear", "LEAF", "BRANCH_LEQ", "x")
_ELEMENTS = (f32, f64, f16, u8, i8, i4, i64, boolean, string, f4e2m1fn)
_WITH_TYPES = {"onnx.custom", "onnx.call"}
OPERATORS = sorted(
    name
    for name, (*_, newest) in onnx.DIALECT.operations.items()
    if newest.since and not newest.layout.regions and name not in _WITH_TYPES
)


class Wild:
    """A source of arguments."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def among(self, values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def several(self, values: Any) -> tuple[Any, ...]:
        return tuple([self.among(values) for _ in range(int(self.random.integers(0, 6)))])

    def chance(self, of: float) -> bool:
        return self.random.random() < of

    def attribute(self, field: Field) -> Any:
        if self.chance(0.3) and field.default is not MISSING:
            return field.default
        match field.type and field.type.name:
            case "integer":
                return self.among(_INTEGERS)
            case "bool":
                return self.chance(0.5)
            case "float":
                return self.among(_NUMBERS)
            case "string":
                return self.among(_TEXTS)
            case "integers":
                return self.several(_INTEGERS[:7])
            case "floats":
                return self.several(_NUMBERS)
            case "strings":
                return self.several(_TEXTS)
            case "an element type":
                return self.among(_ELEMENTS)
            case "data":
                return self._data()
            case _:
                return None if field.default is MISSING else field.default

    def _data(self) -> Data:
        element, count = self.among((f32, f64, u8, i64, string)), int(self.random.integers(0, 4))
        return data_of(element, (count,), ("q" if element is string else 1,) * count)

    def operand(self, definition: type[Op], field: Field) -> Value:
        assert field.pattern is not None
        variable = definition.layout.variables.get(field.pattern.element)
        if isinstance(variable, ElementClass) and not self.chance(0.05):
            element = self.among(sorted(variable.members, key=lambda m: m.name))
        else:
            element = ELEMENT_TYPES.get(field.pattern.element) or self.among(_ELEMENTS)
        if self.chance(0.05):
            return Value(TensorType(element, None))
        rank = self.among((0, 1, 2, 2, 3, 4))
        sizes = (1, 2, 3, 4, N, 0, None) if self.chance(0.4) else (2, 3)
        kind = TensorType(element, tuple([self.among(sizes) for _ in range(rank)]))
        plain = kind.is_static and kind.element.is_integer and kind.element.bits >= 8
        if plain and self.chance(0.5):
            numbers = [self.among((0, 1, 2)) for _ in range(kind.count)]
            return onnx.Initializer(data_of(element, kind.static_shape, numbers)).output
        return Value(kind)

    def arguments(self, definition: type[Op]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for field in definition.layout.arguments:
            if field.kind is FieldKind.ATTRIBUTE:
                out[field.name] = self.attribute(field)
            elif field.variadic:
                out[field.name] = tuple([self.operand(definition, field) for _ in range(self.among((0, 1, 2, 4)))])
            else:
                is_absent = field.optional and self.chance(0.4)
                out[field.name] = None if is_absent else self.operand(definition, field)
        return out


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", OPERATORS)
def test_arguments_without_sense_give_findings(name: str) -> None:
    wild = Wild(zlib.crc32(name.encode()))
    for _ in range(SAMPLES):
        definition = wild.among(onnx.DIALECT.operations[name])
        try:
            op = definition(**wild.arguments(definition))
            if op.form is Form.COMPOSITE:
                expand(op, op.operands)
        except DiagnosticError as error:
            assert error.diagnostics
