"""Base classes of the operations of the arith dialect: elementwise on scalars, vectors and tensors.

Source: MLIR arith dialect.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from commonir.base.codes import WRONG_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.number_rules import Specified, always_specified
from commonir.ir.core_types import core_type
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, Type
from commonir.ods import MlirOp, known_data, operand, result, traits
from commonir.ods.type_constraints import BoolLike, SignlessIntegerOrIndexLike
from commonir.ods.type_rules import SameOperandsAndResultType, element_of

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function2


class ArithOp(MlirOp, traits=(traits.Pure, traits.Elementwise)):
    """Base of the operations of the arith dialect."""


def carried_element(value: Value) -> ElementType:
    """The element type of the tensor that carries a value in the core."""
    return core.as_tensor(core_type(value.type)).element


def is_constant(value: Value, number: float) -> bool:
    """Returns whether every element of a value is known to be a number; zeros have one sign here, and true is 1
    and -1.
    """
    data = known_data(value)
    result = None if data is None else data.splat()
    if result is True:
        return number in (1, -1)
    return isinstance(result, int | float) and result == number


def is_number(type: Type) -> bool:
    """Returns whether values of a type are single numbers, no vectors nor tensors of them."""
    return isinstance(type, ElementType) and element_of(type) is type


def is_float(value: Value, number: float) -> bool:
    """Returns whether every element of a value is known to be a number, zeros with their sign; NaN is NaN."""
    data = known_data(value)
    result = None if data is None else data.splat()
    if not isinstance(result, float):
        return False
    if math.isnan(number):
        return math.isnan(result)
    return result == number and math.copysign(1, result) == math.copysign(1, number)


class IntBinary(ArithOp, traits=(SameOperandsAndResultType,), assembly="$lhs `,` $rhs attr-dict `:` type($result)"):
    """A function of two integers that state no sign."""

    fn: ClassVar[Function2]

    lhs: Value = operand(SignlessIntegerOrIndexLike)
    rhs: Value = operand(SignlessIntegerOrIndexLike)
    result_: Value = result(SignlessIntegerOrIndexLike)

    neutral: ClassVar[int | None] = None
    """The second operand that leaves the first as it is."""
    is_specified: ClassVar[Specified] = staticmethod(always_specified)

    def fold(self) -> Value | None:
        return self.lhs if self.neutral is not None and is_constant(self.rhs, self.neutral) else None

    def folds(self, operands: Sequence[Data]) -> bool:
        return type(self).is_specified(operands)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return type(self).fn(lhs, rhs)


class Comparison(ArithOp):
    """A bool of two operands of one type."""

    result_: Value = result(BoolLike)


def bits_of(type: Type) -> int:
    """The width of the elements of a type; a position has 64 bits, a bool one."""
    element = element_of(type)
    return element.width if isinstance(element, ElementType) else 0


def cast_incompatible(op: MlirOp, source: Value, target: Value) -> Iterable[Diagnostic]:
    """The finding that an operation converts between types that it cannot convert."""
    message = f"{op.name}: operand type {source.type} and result type {target.type} are cast incompatible"
    yield Diagnostic(WRONG_TYPE, message)
