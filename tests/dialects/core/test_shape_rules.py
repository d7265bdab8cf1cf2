"""Shapes inferred with a symbol for every dimension agree with those inferred from numbers, and with execution.

The property that makes programs with flexible shapes safe: for numbers that satisfy the constraints of the symbolic
form both agree, and numbers are refused exactly when they break one. Each dimension has a symbol of its own, so two
that are never required to be equal are never merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from commonir.base.codes import VIOLATED_CONSTRAINT, WRONG_RESULT_TYPE, WRONG_TYPE
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.types import ELEMENT_TYPES, TensorType
from commonir.notation import Constraint
from commonir.ods import Form, Op, attr_types, infer, traits
from commonir.runtime.instances import with_static_dims
from commonir.runtime.interpreter.evaluation import OutOfRange
from commonir.symbolic import Dim, symbol

from tests.dialects.core.drawing import Array, Draw, element_of
from tests.dialects.core.running import Operands, built, definition, evaluated
from tests.dialects.core.test_results import MAKERS, ON_COLLECTIONS

DERIVED = [n for n in MAKERS if definition(n).form in (Form.KERNEL, Form.COMPOSITE)]
"""Operations whose shapes follow from their reference."""

SAMPLES, CHANGES = 12, 4

STRETCHING = frozenset(
    {"core.matmul", "core.attention", "core.broadcast_to", "core.dequantize", "core.quantize", "core.table_lookup"}
)
"""Operations besides the elementwise ones where an axis of size 1 is not like others: its size stays a number."""

# Axes (operand, axis from the end) whose size has to be a number.
FIXED = {"core.gather_nd": (1, -1), "core.scatter_nd": (1, -1), "core.attention": (0, -1)}


class Plan:
    """One operation in a symbolic form, with the sizes that its symbols stand for."""

    def __init__(self, name: str, draw: Draw, operands: Operands, attributes: dict[str, Any]) -> None:
        self.definition = definition(name)
        self.draw = draw
        self.sizes: dict[str, int] = {}
        self.stretches = name in STRETCHING or self.definition.has_trait(traits.Broadcastable)
        self.fixed = FIXED.get(name)
        self.shapes = [
            tuple([self._dims(n, u) for u in x]) if isinstance(x, tuple) else None if x is None else self._dims(n, x)
            for n, x in enumerate(operands)
        ]
        self.attributes = {k: self._attribute(k, v, attributes) for k, v in attributes.items()}
        self.elements = [
            tuple([element_of(u) for u in x]) if isinstance(x, tuple) else "" if x is None else element_of(x)
            for x in operands
        ]

    def _symbol(self, size: int) -> Dim:
        if self.stretches and size == 1:
            return 1
        name = f"n{len(self.sizes)}"
        self.sizes[name] = size
        return symbol(name, 0 if size == 0 else 1)

    def _dims(self, operand: int, x: Array) -> tuple[Dim, ...]:
        dims: list[Dim] = []
        for a, n in enumerate(x.shape):
            dims.append(n if self.fixed == (operand, a - x.ndim) else self._symbol(n))
        return tuple(dims)

    def _attribute(self, name: str, value: Any, attributes: dict[str, Any]) -> Any:
        field = self.definition.layout.by_name[name]
        if field.type is not attr_types.dims:
            return value
        return tuple([self._symbol(v) if v > 1 and self.draw.flag() else v for v in value])

    def changed(self) -> dict[str, int]:
        """Other sizes: one or two of them a little larger or smaller."""
        out = dict(self.sizes)
        least = 2 if self.stretches else 1
        for name in self.draw.random.permutation(list(out))[: self.draw.integer(1, 2)]:
            if out[name] > 0:
                out[name] = max(out[name] + self.draw.among(-5, -2, -1, -1, 1, 1, 2), least)
        return out

    def symbolic(self) -> Op:
        """The operation on operands of symbolic shape."""
        return self._built(self.shapes, self.attributes)

    def concrete(self, sizes: dict[str, int]) -> Op:
        """The operation on operands of the sizes given."""
        shapes: Any = with_static_dims(tuple(self.shapes), sizes)
        return self._built(shapes, {k: with_static_dims(v, sizes) for k, v in self.attributes.items()})

    def _built(self, shapes: Sequence[Any], attributes: dict[str, Any]) -> Op:
        operands: list[Any] = []
        for elements, dims in zip(self.elements, shapes, strict=True):
            if isinstance(elements, tuple):
                pairs = zip(elements, dims, strict=True)
                operands.append(tuple([Value(tensor(ELEMENT_TYPES[e], *d)) for e, d in pairs]))
            else:
                operands.append(Value(tensor(ELEMENT_TYPES[elements], *dims)) if elements else None)
        return built(self.definition, operands, attributes)


def shapes_of(op: Op, sizes: dict[str, int]) -> list[tuple[int, ...]]:
    """The inferred shapes of all results for sizes of the symbols."""
    out: list[tuple[int, ...]] = []
    for v in op.results:
        assert isinstance(v.type, TensorType)
        assert v.type.shape is not None
        shape: Any = with_static_dims(v.type.shape, sizes)
        out.append(shape)
    return out


def violated(constraints: Sequence[Constraint], sizes: dict[str, int]) -> list[Constraint]:
    return [c for c in constraints if not c.holds(sizes)]


def test_every_operation_with_a_derived_shape_takes_part() -> None:
    derived = {n for n in core.DIALECT.operations if definition(n).form in (Form.KERNEL, Form.COMPOSITE)}
    assert derived - ON_COLLECTIONS == set(DERIVED)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", DERIVED)
def test_symbolic_shapes_agree_with_numbers_and_with_execution(name: str) -> None:
    for number in range(SAMPLES):
        draw = Draw(f"shapes of {name}", number)
        case = MAKERS[name](draw)
        plan = Plan(name, draw, case.operands, case.attributes)
        op = plan.symbolic()
        where = f"sample {number}: {op.operands} {plan.attributes}"
        assert not violated(infer(op).constraints, plan.sizes), where
        assert shapes_of(op, plan.sizes) == [y.shape for y in case.expected], where
        assert shapes_of(plan.concrete(plan.sizes), {}) == [y.shape for y in case.expected], where
        result = evaluated(plan.concrete(plan.sizes), case.operands)
        assert [y.shape for y in result] == [y.shape for y in case.expected], where


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", [n for n in DERIVED if definition(n).layout.inputs])
def test_other_numbers_are_refused_exactly_when_a_constraint_is_false(name: str) -> None:
    for number in range(SAMPLES):
        draw = Draw(f"other sizes of {name}", number)
        case = MAKERS[name](draw)
        plan = Plan(name, draw, case.operands, case.attributes)
        op = plan.symbolic()
        for _ in range(CHANGES):
            sizes = plan.changed()
            wrong = violated(infer(op).constraints, sizes)
            where = f"sample {number}: {op.operands} {plan.attributes} {sizes}: {wrong}"
            try:
                placed = plan.concrete(sizes)
            except DiagnosticError as error:
                codes = {d.code for d in error.diagnostics}
                assert codes <= {VIOLATED_CONSTRAINT, WRONG_TYPE, WRONG_RESULT_TYPE}, where
                assert wrong, f"{where} refused: {error}"
                continue
            assert not wrong, where
            assert shapes_of(op, sizes) == shapes_of(placed, {}), where
            _check_execution(placed, draw)


def _check_execution(op: Op, draw: Draw) -> None:
    """Execution gives the inferred shapes; a position read from data may lie outside."""
    arrays = []
    for v in op.operands:
        assert isinstance(v.type, TensorType)
        arrays.append(draw.array(v.type.static_shape, v.type.element.name, 0, 1))
    try:
        result = evaluated(op, arrays)
    except OutOfRange:
        return
    assert [np.shape(y) for y in result] == shapes_of(op, {})
