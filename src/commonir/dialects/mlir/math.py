"""The math dialect of MLIR: functions of numbers beyond arithmetic, element by element.

Results may differ from the exact ones by some units in the last place.
Source: MLIR math dialect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from commonir.dialects.lazy_core import core, integers, made_of, real_functions
from commonir.dialects.mlir.number_attributes import FastMath, fastmath
from commonir.dialects.mlir.number_functions import FloatBinary, FloatUnary
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean, f32, f64
from commonir.ods import Dialect, MlirOp, attribute, definitions_in, operand, result, traits
from commonir.ods.type_constraints import BoolLike, FloatLike, SignlessIntegerOrIndexLike
from commonir.ods.type_rules import (
    SameNonScalars,
    SameOperandsAndResultShape,
    SameOperandsAndResultType,
    all_types_match,
    bools_like,
    types_match_with,
)

if TYPE_CHECKING:
    from commonir.dialects.core.base import Function1


class MathOp(MlirOp, traits=(traits.Pure, traits.Elementwise)):
    """Base of the operations of the math dialect.

    `folded_for` are the types of operands of which constants are computed before running: those that the C library
    knows, if nothing else is said, all of them when None. Those below `folded_from` are left, and so is its opposite
    where that is zero.
    """

    folds_in_double = True

    folded_for: ClassVar[frozenset[ElementType] | None] = frozenset({f32, f64})
    folded_from: ClassVar[float | None] = None

    def folds(self, operands: Sequence[Data]) -> bool:
        if self.folded_from is not None and any(
            math.copysign(1, float(v) - self.folded_from) < 0 for v in operands[0].values()
        ):
            return False
        return self.folded_for is None or operands[0].element in self.folded_for


class _FloatUnary(FloatUnary, MathOp):
    """A function of one floating-point number."""


class _FloatBinary(FloatBinary, MathOp):
    """A function of two floating-point numbers."""


class _Classification(
    MathOp,
    traits=(
        types_match_with(
            "result type has i1 element type and same shape as operands", "operand", "result_", bools_like
        ),
    ),
    assembly="$operand attr-dict `:` type($operand)",
):
    """Base class of predicates on floating-point numbers."""

    folds_in_double = False

    fn: ClassVar[Function1]

    operand: Value = operand(FloatLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    result_: Value = result(BoolLike)

    def reference(self, operand: Value) -> Value:
        return type(self).fn(operand)

    def folds(self, operands: Sequence[Data]) -> bool:
        # MLIR leaves tensors of different numbers.
        return operands[0].splat() is not None


class _IntUnary(MathOp, traits=(SameOperandsAndResultType,), assembly="$operand attr-dict `:` type($result)"):
    """A function of one integer."""

    folded_for = None

    fn: ClassVar[Function1]

    operand: Value = operand(SignlessIntegerOrIndexLike)
    result_: Value = result(SignlessIntegerOrIndexLike)

    def reference(self, operand: Value) -> Value:
        return type(self).fn(operand)


class AbsF(_FloatUnary, name="math.absf"):
    """The number without its sign."""

    folded_for = None
    fn = staticmethod(core.abs)


class AbsI(_IntUnary, name="math.absi"):
    """The signed number without its sign; the least one stays as it is."""

    fn = staticmethod(integers.absolute)


class Acos(_FloatUnary, name="math.acos"):
    """The angle in radians whose cosine is the number."""

    fn = staticmethod(core.acos)


class Acosh(_FloatUnary, name="math.acosh"):
    """The inverse hyperbolic cosine."""

    fn = staticmethod(core.acosh)


class Asin(_FloatUnary, name="math.asin"):
    """The angle in radians whose sine is the number."""

    fn = staticmethod(core.asin)


class Asinh(_FloatUnary, name="math.asinh"):
    """The inverse hyperbolic sine."""

    fn = staticmethod(core.asinh)


class Atan(_FloatUnary, name="math.atan"):
    """The angle in radians whose tangent is the number."""

    fn = staticmethod(core.atan)


class Atanh(_FloatUnary, name="math.atanh"):
    """The inverse hyperbolic tangent."""

    fn = staticmethod(core.atanh)


class Atan2(_FloatBinary, name="math.atan2"):
    """The angle in radians of the point whose ordinate is the first number and whose abscissa is the second."""

    fn = staticmethod(made_of(real_functions.in_single, real_functions.atan2))


class Cbrt(_FloatUnary, name="math.cbrt"):
    """The cube root of each element."""

    folded_for = frozenset[ElementType]()
    fn = staticmethod(made_of(real_functions.in_single, real_functions.cbrt))


class Ceil(_FloatUnary, name="math.ceil"):
    """The least integer that is not below the number."""

    folded_for = None
    fn = staticmethod(core.ceil)


class ClampF(
    MathOp,
    name="math.clampf",
    traits=(SameOperandsAndResultType,),
    assembly="$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)",
):
    """The number, or the end of the range that it lies beyond; NaN when any of them is."""

    folded_for = frozenset[ElementType]()

    value: Value = operand(FloatLike)
    min: Value = operand(FloatLike)
    max: Value = operand(FloatLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    result_: Value = result(FloatLike)

    def reference(self, value: Value, min: Value, max: Value) -> Value:
        return real_functions.clamp(value, min, max)


class CopySign(_FloatBinary, name="math.copysign"):
    """The first number with the sign of the second."""

    folded_for = None
    fn = staticmethod(real_functions.copy_sign)


class Cos(_FloatUnary, name="math.cos"):
    """The cosine of an angle in radians."""

    fn = staticmethod(core.cos)


class Cosh(_FloatUnary, name="math.cosh"):
    """The hyperbolic cosine."""

    fn = staticmethod(core.cosh)


class CountLeadingZeros(_IntUnary, name="math.ctlz"):
    """Number of zero bits before the first bit that is set."""

    fn = staticmethod(integers.count_leading_zeros)


class CountTrailingZeros(_IntUnary, name="math.cttz"):
    """Number of zero bits after the last bit that is set."""

    fn = staticmethod(integers.count_trailing_zeros)


class CtPop(_IntUnary, name="math.ctpop"):
    """Number of bits that are set."""

    fn = staticmethod(integers.count_ones)


class Erf(_FloatUnary, name="math.erf"):
    """The error function."""

    fn = staticmethod(core.erf)


class Erfc(_FloatUnary, name="math.erfc"):
    """One less the error function."""

    fn = staticmethod(real_functions.erfc)


class Exp(_FloatUnary, name="math.exp"):
    """e to the power of the number."""

    fn = staticmethod(core.exp)


class Exp2(_FloatUnary, name="math.exp2"):
    """2 to the power of the number."""

    fn = staticmethod(core.exp2)


class ExpM1(_FloatUnary, name="math.expm1"):
    """e to the power of the number, less one."""

    fn = staticmethod(made_of(real_functions.in_single, real_functions.expm1))


class Floor(_FloatUnary, name="math.floor"):
    """The largest integer that is not above the number."""

    folded_for = None
    fn = staticmethod(core.floor)


class Fma(
    MathOp,
    name="math.fma",
    traits=(SameOperandsAndResultType,),
    assembly="$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)",
):
    """The product of two numbers and the sum with a third, rounded once."""

    folded_for = frozenset[ElementType]()

    a: Value = operand(FloatLike)
    b: Value = operand(FloatLike)
    c: Value = operand(FloatLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    result_: Value = result(FloatLike)

    def reference(self, a: Value, b: Value, c: Value) -> Value:
        return real_functions.fma(a, b, c)


class FPowI(
    MathOp,
    name="math.fpowi",
    traits=(SameOperandsAndResultShape, SameNonScalars, all_types_match("lhs", "result_")),
    assembly="$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs) `,` type($rhs)",
):
    """A floating-point number to the power of a signed integer."""

    folded_for = frozenset[ElementType]()

    lhs: Value = operand(FloatLike)
    rhs: Value = operand(SignlessIntegerOrIndexLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    result_: Value = result(FloatLike)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return real_functions.float_power(lhs, rhs)


class IPowI(
    MathOp,
    name="math.ipowi",
    traits=(SameOperandsAndResultType,),
    assembly="$lhs `,` $rhs attr-dict `:` type($result)",
):
    """A signed integer to the power of another; what a negative power leaves is zero, but for 1 and -1."""

    folded_for = None

    lhs: Value = operand(SignlessIntegerOrIndexLike)
    rhs: Value = operand(SignlessIntegerOrIndexLike)
    result_: Value = result(SignlessIntegerOrIndexLike)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return integers.power(lhs, rhs)

    def folds(self, operands: Sequence[Data]) -> bool:
        # Zero to a negative power is a quotient by zero; of one bit, true is -1.
        bases, powers = ([int(v) for v in d.values()] for d in operands)
        is_truth = operands[0].element is boolean
        return not any(not b and (p if is_truth else p < 0) for b, p in zip(bases, powers, strict=True))


class IsFinite(_Classification, name="math.isfinite"):
    """True where the number is neither infinite nor NaN."""

    fn = staticmethod(real_functions.is_finite)


class IsInf(_Classification, name="math.isinf"):
    """True where the number is an infinity of either sign."""

    fn = staticmethod(core.is_inf)


class IsNaN(_Classification, name="math.isnan"):
    """True where it is not a number."""

    fn = staticmethod(core.is_nan)


class IsNormal(_Classification, name="math.isnormal"):
    """True where the number is neither zero, subnormal, infinite nor NaN."""

    fn = staticmethod(real_functions.is_normal)


class Log(_FloatUnary, name="math.log"):
    """The natural logarithm."""

    folded_from = 0.0
    fn = staticmethod(core.log)


class Log10(_FloatUnary, name="math.log10"):
    """The logarithm to base 10."""

    folded_from = 0.0
    fn = staticmethod(real_functions.log10)


class Log1p(_FloatUnary, name="math.log1p"):
    """The natural logarithm of one plus the number."""

    folded_from = -1.0
    fn = staticmethod(made_of(real_functions.in_single, real_functions.log1p))


class Log2(_FloatUnary, name="math.log2"):
    """The logarithm to base 2."""

    folded_from = 0.0
    fn = staticmethod(real_functions.log2)


class PowF(_FloatBinary, name="math.powf"):
    """The first number to the power of the second."""

    fn = staticmethod(core.pow)


class Round(_FloatUnary, name="math.round"):
    """The nearest integer; halves go away from zero."""

    fn = staticmethod(made_of(real_functions.in_single, real_functions.round_away))


class RoundEven(_FloatUnary, name="math.roundeven"):
    """The nearest integer; halves go to the even one."""

    folded_for = None
    fn = staticmethod(core.round)


class Rsqrt(_FloatUnary, name="math.rsqrt"):
    """One divided by the square root."""

    folded_for = frozenset[ElementType]()
    fn = staticmethod(core.rsqrt)


class Sin(_FloatUnary, name="math.sin"):
    """The sine of an angle in radians."""

    fn = staticmethod(core.sin)


class Sincos(
    MathOp,
    name="math.sincos",
    traits=(SameOperandsAndResultShape, all_types_match("operand", "sin", "cos")),
    assembly="$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)",
):
    """The sine and the cosine of an angle in radians."""

    folded_for = frozenset[ElementType]()

    operand: Value = operand(FloatLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    sin: Value = result(FloatLike)
    cos: Value = result(FloatLike)

    def reference(self, operand: Value) -> tuple[Value, ...]:
        return core.sin(operand), core.cos(operand)


class Sinh(_FloatUnary, name="math.sinh"):
    """The hyperbolic sine."""

    fn = staticmethod(core.sinh)


class Sqrt(_FloatUnary, name="math.sqrt"):
    """The square root; NaN below zero."""

    folded_from = 0.0
    fn = staticmethod(core.sqrt)


class Tan(_FloatUnary, name="math.tan"):
    """The tangent of an angle in radians."""

    fn = staticmethod(core.tan)


class Tanh(_FloatUnary, name="math.tanh"):
    """The hyperbolic tangent."""

    fn = staticmethod(core.tanh)


class Trunc(_FloatUnary, name="math.trunc"):
    """The number without its fraction."""

    fn = staticmethod(core.truncate)


DIALECT = Dialect(
    "math",
    definitions_in(globals(), "math"),
    summary="Functions of numbers beyond arithmetic, on scalars, vectors and tensors alike; as in MLIR.",
    constants="arith.constant",
    own="commonir.ods.own_forms:NOTHING",
)
