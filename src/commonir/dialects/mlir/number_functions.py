"""Operations of arith, math and complex that are a function of the numbers they are given, element by element.

Source: MLIR arith, math and complex dialects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from commonir.dialects.mlir.number_attributes import FastMath, fastmath
from commonir.ir.operation import Value
from commonir.ods import MlirOp, attribute, operand, result, traits
from commonir.ods.type_constraints import FloatLike
from commonir.ods.type_rules import SameOperandsAndResultType

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function1, Function2


class FloatUnary(
    MlirOp,
    traits=(traits.Pure, traits.Elementwise, SameOperandsAndResultType),
    assembly="$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)",
):
    """A function of one floating-point number."""

    fn: ClassVar[Function1]

    operand: Value = operand(FloatLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    result_: Value = result(FloatLike)

    def reference(self, operand: Value) -> Value:
        return type(self).fn(operand)


class FloatBinary(
    MlirOp,
    traits=(traits.Pure, traits.Elementwise, SameOperandsAndResultType),
    assembly="$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)",
):
    """A function of two floating-point numbers."""

    fn: ClassVar[Function2]

    lhs: Value = operand(FloatLike)
    rhs: Value = operand(FloatLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    result_: Value = result(FloatLike)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return type(self).fn(lhs, rhs)
