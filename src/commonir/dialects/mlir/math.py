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
    """Absolute value of a float."""

    folded_for = None
    fn = staticmethod(core.abs)


class AbsI(_IntUnary, name="math.absi"):
    """Absolute value of a signed integer; the least integer stays negative."""

    fn = staticmethod(integers.absolute)


class Acos(_FloatUnary, name="math.acos"):
    """Arc cosine, in radians."""

    fn = staticmethod(core.acos)


class Acosh(_FloatUnary, name="math.acosh"):
    """Inverse hyperbolic cosine."""

    fn = staticmethod(core.acosh)


class Asin(_FloatUnary, name="math.asin"):
    """Arc sine, in radians."""

    fn = staticmethod(core.asin)


class Asinh(_FloatUnary, name="math.asinh"):
    """Inverse hyperbolic sine."""

    fn = staticmethod(core.asinh)


class Atan(_FloatUnary, name="math.atan"):
    """Arc tangent, in radians."""

    fn = staticmethod(core.atan)


class Atanh(_FloatUnary, name="math.atanh"):
    """Inverse hyperbolic tangent."""

    fn = staticmethod(core.atanh)


class Atan2(_FloatBinary, name="math.atan2"):
    """Arc tangent of lhs / rhs in the quadrant of the point (rhs, lhs), in radians."""

    fn = staticmethod(made_of(real_functions.in_single, real_functions.atan2))


class Cbrt(_FloatUnary, name="math.cbrt"):
    """Cube root."""

    folded_for = frozenset[ElementType]()
    fn = staticmethod(made_of(real_functions.in_single, real_functions.cbrt))


class Ceil(_FloatUnary, name="math.ceil"):
    """Rounds a float up to an integer."""

    folded_for = None
    fn = staticmethod(core.ceil)


class ClampF(
    MathOp,
    name="math.clampf",
    traits=(SameOperandsAndResultType,),
    assembly="$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)",
):
    """Clamps a float to a range; NaN if any operand is NaN."""

    folded_for = frozenset[ElementType]()

    value: Value = operand(FloatLike)
    min: Value = operand(FloatLike)
    max: Value = operand(FloatLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    result_: Value = result(FloatLike)

    def reference(self, value: Value, min: Value, max: Value) -> Value:
        return real_functions.clamp(value, min, max)


class CopySign(_FloatBinary, name="math.copysign"):
    """The magnitude of the first operand with the sign of the second."""

    folded_for = None
    fn = staticmethod(real_functions.copy_sign)


class Cos(_FloatUnary, name="math.cos"):
    """Cosine of an angle in radians."""

    fn = staticmethod(core.cos)


class Cosh(_FloatUnary, name="math.cosh"):
    """Hyperbolic cosine."""

    fn = staticmethod(core.cosh)


class CountLeadingZeros(_IntUnary, name="math.ctlz"):
    """Counts the leading zero bits."""

    fn = staticmethod(integers.count_leading_zeros)


class CountTrailingZeros(_IntUnary, name="math.cttz"):
    """Counts the trailing zero bits."""

    fn = staticmethod(integers.count_trailing_zeros)


class CtPop(_IntUnary, name="math.ctpop"):
    """Counts the bits that are set."""

    fn = staticmethod(integers.count_ones)


class Erf(_FloatUnary, name="math.erf"):
    """Error function."""

    fn = staticmethod(core.erf)


class Erfc(_FloatUnary, name="math.erfc"):
    """Complementary error function: 1 - erf(x)."""

    fn = staticmethod(real_functions.erfc)


class Exp(_FloatUnary, name="math.exp"):
    """Natural exponential."""

    fn = staticmethod(core.exp)


class Exp2(_FloatUnary, name="math.exp2"):
    """Base-2 exponential."""

    fn = staticmethod(core.exp2)


class ExpM1(_FloatUnary, name="math.expm1"):
    """Natural exponential minus one, accurate near zero."""

    fn = staticmethod(made_of(real_functions.in_single, real_functions.expm1))


class Floor(_FloatUnary, name="math.floor"):
    """Rounds a float down to an integer."""

    folded_for = None
    fn = staticmethod(core.floor)


class Fma(
    MathOp,
    name="math.fma",
    traits=(SameOperandsAndResultType,),
    assembly="$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)",
):
    """Fused multiply-add: a * b + c, rounded once."""

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
    """Raises a float to a signed integer power."""

    folded_for = frozenset[ElementType]()

    lhs: Value = operand(FloatLike)
    rhs: Value = operand(SignlessIntegerOrIndexLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    result_: Value = result(FloatLike)

    def reference(self, lhs: Value, rhs: Value) -> Value:
        return real_functions.float_power(lhs, rhs)


class IPowI(
    MathOp, name="math.ipowi", traits=(SameOperandsAndResultType,), assembly="$lhs `,` $rhs attr-dict `:` type($result)"
):
    """Raises a signed integer to a signed integer power; negative powers truncate to zero, except of 1 and -1."""

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
    """Tests for a finite number."""

    fn = staticmethod(real_functions.is_finite)


class IsInf(_Classification, name="math.isinf"):
    """Tests for an infinity of either sign."""

    fn = staticmethod(core.is_inf)


class IsNaN(_Classification, name="math.isnan"):
    """Tests for NaN."""

    fn = staticmethod(core.is_nan)


class IsNormal(_Classification, name="math.isnormal"):
    """Tests for a normal number: neither zero, subnormal, infinite nor NaN."""

    fn = staticmethod(real_functions.is_normal)


class Log(_FloatUnary, name="math.log"):
    """Natural logarithm."""

    folded_from = 0.0
    fn = staticmethod(core.log)


class Log10(_FloatUnary, name="math.log10"):
    """Base-10 logarithm."""

    folded_from = 0.0
    fn = staticmethod(real_functions.log10)


class Log1p(_FloatUnary, name="math.log1p"):
    """Natural logarithm of one plus the operand, accurate near zero."""

    folded_from = -1.0
    fn = staticmethod(made_of(real_functions.in_single, real_functions.log1p))


class Log2(_FloatUnary, name="math.log2"):
    """Base-2 logarithm."""

    folded_from = 0.0
    fn = staticmethod(real_functions.log2)


class PowF(_FloatBinary, name="math.powf"):
    """Raises a float to a floating-point power."""

    fn = staticmethod(core.pow)


class Round(_FloatUnary, name="math.round"):
    """Rounds a float to the nearest integer, halves away from zero."""

    fn = staticmethod(made_of(real_functions.in_single, real_functions.round_away))


class RoundEven(_FloatUnary, name="math.roundeven"):
    """Rounds a float to the nearest integer, halves to even."""

    folded_for = None
    fn = staticmethod(core.round)


class Rsqrt(_FloatUnary, name="math.rsqrt"):
    """Reciprocal square root."""

    folded_for = frozenset[ElementType]()
    fn = staticmethod(core.rsqrt)


class Sin(_FloatUnary, name="math.sin"):
    """Sine of an angle in radians."""

    fn = staticmethod(core.sin)


class Sincos(
    MathOp,
    name="math.sincos",
    traits=(SameOperandsAndResultShape, all_types_match("operand", "sin", "cos")),
    assembly="$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)",
):
    """Sine and cosine of an angle in radians."""

    folded_for = frozenset[ElementType]()

    operand: Value = operand(FloatLike)
    fastmath: FastMath = attribute(fastmath, default=FastMath.NONE)
    sin: Value = result(FloatLike)
    cos: Value = result(FloatLike)

    def reference(self, operand: Value) -> tuple[Value, ...]:
        return core.sin(operand), core.cos(operand)


class Sinh(_FloatUnary, name="math.sinh"):
    """Hyperbolic sine."""

    fn = staticmethod(core.sinh)


class Sqrt(_FloatUnary, name="math.sqrt"):
    """Square root; NaN for negative numbers."""

    folded_from = 0.0
    fn = staticmethod(core.sqrt)


class Tan(_FloatUnary, name="math.tan"):
    """Tangent of an angle in radians."""

    fn = staticmethod(core.tan)


class Tanh(_FloatUnary, name="math.tanh"):
    """Hyperbolic tangent."""

    fn = staticmethod(core.tanh)


class Trunc(_FloatUnary, name="math.trunc"):
    """Rounds a float toward zero to an integer."""

    fn = staticmethod(core.truncate)


DIALECT = Dialect(
    "math",
    definitions_in(globals(), "math"),
    summary="Functions of numbers beyond arithmetic, on scalars, vectors and tensors; as in MLIR.",
    constants="arith.constant",
    own="commonir.ods.own_forms:NOTHING",
)
