"""Comparisons and choices of the arith dialect.

Source: MLIR arith dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from commonir.base.codes import VIOLATED_CONSTRAINT
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, integers, real_functions
from commonir.dialects.mlir.arith.base import ArithOp, Comparison, is_constant, is_number
from commonir.dialects.mlir.number_attributes import FastMath, fastmath
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import boolean, i64
from commonir.ods import attribute, operand, result
from commonir.ods.mlir_attr_types import numbered
from commonir.ods.text_form import ExtendsAssembly, FormReader, FormTask, FormWriter
from commonir.ods.type_constraints import AnyType, BoolLike, FloatLike, SignlessIntegerOrIndexLike
from commonir.ods.type_rules import SameTypeOperands, all_types_match, bools_like, types_match_with

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function2

TRUTH_OF_OPERANDS = types_match_with(
    "result type has i1 element type and same shape as operands", "lhs", "result_", bools_like
)


class CmpIPredicate(Enum):
    """Integer comparisons, on signed or unsigned numbers."""

    EQ = "eq"
    NE = "ne"
    SLT = "slt"
    SLE = "sle"
    SGT = "sgt"
    SGE = "sge"
    ULT = "ult"
    ULE = "ule"
    UGT = "ugt"
    UGE = "uge"


class CmpFPredicate(Enum):
    """Float comparisons: `o...` is false and `u...` is true when either operand is NaN."""

    FALSE = "false"
    OEQ = "oeq"
    OGT = "ogt"
    OGE = "oge"
    OLT = "olt"
    OLE = "ole"
    ONE = "one"
    ORD = "ord"
    UEQ = "ueq"
    UGT = "ugt"
    UGE = "uge"
    ULT = "ult"
    ULE = "ule"
    UNE = "une"
    UNO = "uno"
    TRUE = "true"


@cache
def integer_comparisons() -> Mapping[CmpIPredicate, Function2]:
    """Returns the function of each integer comparison."""
    return {
        CmpIPredicate.EQ: core.equal,
        CmpIPredicate.NE: core.not_equal,
        CmpIPredicate.SLT: integers.signed_comparison(core.less),
        CmpIPredicate.SLE: integers.signed_comparison(core.less_equal),
        CmpIPredicate.SGT: integers.signed_comparison(core.greater),
        CmpIPredicate.SGE: integers.signed_comparison(core.greater_equal),
        CmpIPredicate.ULT: integers.unsigned_comparison(core.less),
        CmpIPredicate.ULE: integers.unsigned_comparison(core.less_equal),
        CmpIPredicate.UGT: integers.unsigned_comparison(core.greater),
        CmpIPredicate.UGE: integers.unsigned_comparison(core.greater_equal),
    }


@cache
def _of_floats() -> Mapping[CmpFPredicate, Function2]:
    """Returns the function of each float comparison."""
    return {
        CmpFPredicate.FALSE: real_functions.always(False),
        CmpFPredicate.OEQ: core.equal,
        CmpFPredicate.OGT: core.greater,
        CmpFPredicate.OGE: core.greater_equal,
        CmpFPredicate.OLT: core.less,
        CmpFPredicate.OLE: core.less_equal,
        CmpFPredicate.ONE: real_functions.is_less_or_greater,
        CmpFPredicate.ORD: real_functions.is_ordered,
        CmpFPredicate.UEQ: real_functions.negated(real_functions.is_less_or_greater),
        CmpFPredicate.UGT: real_functions.negated(core.less_equal),
        CmpFPredicate.UGE: real_functions.negated(core.less),
        CmpFPredicate.ULT: real_functions.negated(core.greater_equal),
        CmpFPredicate.ULE: real_functions.negated(core.greater),
        CmpFPredicate.UNE: core.not_equal,
        CmpFPredicate.UNO: real_functions.is_unordered,
        CmpFPredicate.TRUE: real_functions.always(True),
    }


class CmpI(
    Comparison,
    name="arith.cmpi",
    traits=(SameTypeOperands, TRUTH_OF_OPERANDS),
    assembly="$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)",
):
    """Compares two integers elementwise under a signed or unsigned predicate."""

    predicate: CmpIPredicate = attribute(numbered(CmpIPredicate, i64))
    lhs: Value = operand(SignlessIntegerOrIndexLike)
    rhs: Value = operand(SignlessIntegerOrIndexLike)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return integer_comparisons()[self.predicate](lhs, rhs)


class CmpF(
    Comparison,
    name="arith.cmpf",
    traits=(SameTypeOperands, TRUTH_OF_OPERANDS),
    assembly="$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs)",
):
    """Compares two floats elementwise under an ordered or unordered predicate."""

    predicate: CmpFPredicate = attribute(numbered(CmpFPredicate, i64))
    lhs: Value = operand(FloatLike)
    rhs: Value = operand(FloatLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return _of_floats()[self.predicate](lhs, rhs)

    def folds(self, operands: Sequence[Data]) -> bool:  # noqa: ARG002  MLIR leaves those of tensors
        return is_number(self.lhs.type)


class _SelectForm(ExtendsAssembly):
    """`%condition, %a, %b : type`, with the type of the condition before it when that has a shape."""

    def read(self, reader: FormReader) -> FormTask:
        condition = reader.use()
        reader.expect(",")
        first = reader.use()
        reader.expect(",")
        second = reader.use()
        extra = reader.dictionary()
        reader.expect(":")
        type = declared = reader.type()
        if reader.take(","):
            type = reader.type()
        else:
            declared = boolean
        values = {
            "condition": reader.resolve(condition, declared),
            "true_value": reader.resolve(first, type),
            "false_value": reader.resolve(second, type),
        }
        return reader.make(values, [type], extra)
        yield

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, Select):
            writer.refuse()
        condition = op.condition.type
        before = "" if condition is boolean else f"{writer.type(condition)}, "
        writer.write(f" {writer.values(op.operands)}{writer.dictionary()} : {before}{writer.type(op.result_.type)}")


class Select(
    ArithOp,
    name="arith.select",
    traits=(all_types_match("true_value", "false_value", "result_"),),
    assembly="$condition `,` $true_value `,` $false_value attr-dict `:` type($condition) `,` type($result)",
):
    """Selects the first value where the condition is true, else the second; a scalar condition selects whole values.
    C1: the condition is a scalar bool or has the shape of the values.
    """

    custom_form = _SelectForm()

    condition: Value = operand(BoolLike)
    true_value: Value = operand(AnyType)
    false_value: Value = operand(AnyType)
    result_: Value = result(AnyType)

    def verify(self) -> Iterable[Diagnostic]:
        condition = self.condition.type
        if condition is not boolean and condition is not bools_like(self.result_.type):
            message = f"{self.name}: C1: failed to verify that condition is signless i1 or has matching shape"
            yield Diagnostic(VIOLATED_CONSTRAINT, message)

    def fold(self) -> Value | None:
        if self.true_value is self.false_value or is_constant(self.condition, 1):
            return self.true_value
        return self.false_value if is_constant(self.condition, 0) else None

    def reference(self, condition: Value, true_value: Value, false_value: Value) -> Value:
        return core.select(condition, true_value, false_value)
