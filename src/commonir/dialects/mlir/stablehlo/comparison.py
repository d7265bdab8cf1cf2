"""Operations of the stablehlo dialect that compare elements, and choose among them or bounds.

Source: StableHLO specification, compare, select, clamp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, integers
from commonir.dialects.mlir.stablehlo import forms
from commonir.dialects.mlir.stablehlo.base import (
    AnyHlo,
    ComparisonDirection,
    ComparisonType,
    CompatibleElements,
    CompatibleOperandElements,
    HloOp,
    Truths,
    comparison_direction,
    comparison_type,
    element,
    is_quantized,
    kind_of,
    like,
    rank_of,
    stated_shape,
)
from commonir.dialects.mlir.stablehlo.number_types import is_complex_value, is_truth, lexicographic, zero
from commonir.ir.operation import Value
from commonir.ir.types import Type, boolean, integer_type
from commonir.notation import NotationError
from commonir.ods import attribute, operand, result, traits
from commonir.ods.operand_shapes import known_dims_of
from commonir.ods.text_form import CustomForm
from commonir.ods.type_rules import SameOperandsAndResultShape, are_compatible_shapes

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function2

_COMPARISONS: Mapping[ComparisonDirection, Function2] = {
    ComparisonDirection.EQ: core.equal,
    ComparisonDirection.NE: core.not_equal,
    ComparisonDirection.GE: core.greater_equal,
    ComparisonDirection.GT: core.greater,
    ComparisonDirection.LE: core.less_equal,
    ComparisonDirection.LT: core.less,
}


class Compare(
    HloOp,
    name="stablehlo.compare",
    traits=(traits.Elementwise, traits.Pure, CompatibleOperandElements, SameOperandsAndResultShape),
    assembly=(
        "$comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict `:` functional-type(operands, results)"
    ),
):
    """Compares elementwise in a direction; NaN is unordered, unless the comparison is of total order. C1: the
    comparison type fits the element type.
    """

    lhs: Value = operand(AnyHlo)
    rhs: Value = operand(AnyHlo)
    comparison_direction: ComparisonDirection = attribute(comparison_direction)
    compare_type: ComparisonType | None = attribute(comparison_type, default=None)
    result_: Value = result(Truths)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.lhs)
        other = stated_shape(self.rhs)
        if shape is not None and other is not None and len(shape) == len(other):
            shape = tuple([a if isinstance(a, int) else b for a, b in zip(shape, other, strict=True)])
        return (like(self.lhs.type, shape, boolean),)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        if is_complex_value(lhs):
            same = core.logical_and(
                core.equal(core.real(lhs), core.real(rhs)), core.equal(core.imag(lhs), core.imag(rhs))
            )
            if self.comparison_direction is ComparisonDirection.EQ:
                return same
            if self.comparison_direction is ComparisonDirection.NE:
                return core.logical_not(same)
            raise NotationError("complex numbers have no order")
        if self.compare_type is ComparisonType.TOTALORDER:
            lhs, rhs = total_order(lhs), total_order(rhs)
        elif is_truth(lhs) and self.comparison_direction not in (ComparisonDirection.EQ, ComparisonDirection.NE):
            lhs, rhs = integers.as_unsigned(lhs), integers.as_unsigned(rhs)
        return _COMPARISONS[self.comparison_direction](lhs, rhs)


def total_order(x: Value) -> Value:
    """Integers that are ordered as floats are when each, zeros and NaN too, has a place."""
    signed = integer_type(kind_of(x).bits)
    bits = core.bit_cast(x, signed)
    flipped = core.bitwise_xor(bits, core.splat((1 << (signed.bits - 1)) - 1, bits))
    return core.select(core.less(bits, zero(bits)), flipped, bits)


class Select(HloOp, name="stablehlo.select", traits=(traits.Elementwise, traits.Pure)):
    """Selects elements of the first value where the condition is true, else of the second. C1: the condition has rank 0
    or the shape of the values. C2: the values have one type.
    """

    custom_form: ClassVar[CustomForm | None] = forms.WordsForm(types=forms.SelectTypes())

    pred: Value = operand(Truths)
    on_true: Value = operand(AnyHlo)
    on_false: Value = operand(AnyHlo)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        return None if is_quantized(element(self.on_true)) else (_merged(self.on_true.type, self.on_false.type),)

    def verify(self) -> Iterator[Diagnostic]:
        a, b = self.on_true.type, self.on_false.type
        if not are_compatible_shapes(a, b) or (element(a) is not element(b) and not is_quantized(element(a))):
            yield self.violated(f"C2: requires compatible types for non-predicate operands, found {a} and {b}")
        if rank_of(self.pred) and not are_compatible_shapes(self.pred.type, a):
            yield self.violated(f"C1: requires the same shape for all operands, found {self.pred.type} and {a}")

    def reference(self, pred: Value, on_true: Value, on_false: Value) -> Value:
        return core.select(pred, on_true, on_false)


def _merged(a: Type, b: Type) -> Type:
    """The type of what may be either: sizes that one of them states."""
    first, second = getattr(a, "shape", None), getattr(b, "shape", None)
    if first is None or second is None or len(first) != len(second):
        return a
    return like(a, tuple([x if isinstance(x, int) else y for x, y in zip(first, second, strict=True)]))


class Clamp(HloOp, name="stablehlo.clamp", traits=(traits.Elementwise, traits.Pure, CompatibleElements)):
    """Clamps each element between a minimum and a maximum. C1: bounds have rank 0 or the shape of the operand."""

    custom_form: ClassVar[CustomForm | None] = forms.SAME_FORM

    min: Value = operand(AnyHlo)
    operand_: Value = operand(AnyHlo)
    max: Value = operand(AnyHlo)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        return None if is_quantized(element(self.operand_)) else (self.operand_.type,)

    def verify(self) -> Iterator[Diagnostic]:
        for what, bound in (("min", self.min), ("max", self.max)):
            if rank_of(bound) and not are_compatible_shapes(bound.type, self.operand_.type):
                message = f"C1: {what} shape {bound.type} is not scalar and is not compatible to operand shape"
                yield self.violated(f"{message} {self.operand_.type}")

    def reference(self, min: Value, operand: Value, max: Value) -> Value:
        if is_truth(operand):
            return core.logical_and(core.logical_or(operand, min), max)
        if is_complex_value(operand):
            larger = lexicographic(core.greater, operand, core.broadcast_to(min, known_dims_of(operand)))
            return lexicographic(core.less, larger, core.broadcast_to(max, known_dims_of(operand)))
        return core.minimum(core.maximum(operand, min), max)
