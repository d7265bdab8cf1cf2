"""Floating-point arithmetic of the arith dialect: IEEE 754, each operation rounded to the nearest number.

Source: MLIR arith dialect.
"""

from __future__ import annotations

import math
from typing import ClassVar

from commonir.dialects.lazy_core import core, real_functions
from commonir.dialects.mlir.arith.base import is_constant, is_float
from commonir.dialects.mlir.number_attributes import FastMath
from commonir.dialects.mlir.number_functions import FloatBinary, FloatUnary
from commonir.ir.operation import Operation, Value
from commonir.ods import traits


class NegF(FloatUnary, name="arith.negf"):
    """Negates a float."""

    fn = staticmethod(core.neg)

    def fold(self) -> Value | None:
        source = self.operand.owner
        return source.operand if isinstance(source, Operation) and isinstance(source, NegF) else None


class AddF(FloatBinary, name="arith.addf", traits=(traits.Commutative,)):
    """Floating-point addition."""

    fn = staticmethod(core.add)

    def fold(self) -> Value | None:
        return self.lhs if is_float(self.rhs, -0.0) else None


class SubF(FloatBinary, name="arith.subf"):
    """Floating-point subtraction."""

    fn = staticmethod(core.sub)

    def fold(self) -> Value | None:
        return self.lhs if is_float(self.rhs, 0.0) else None


class MulF(FloatBinary, name="arith.mulf", traits=(traits.Commutative,)):
    """Floating-point multiplication."""

    fn = staticmethod(core.mul)

    def fold(self) -> Value | None:
        if is_constant(self.rhs, 1.0):
            return self.lhs
        is_finite = FastMath.NNAN in self.fastmath and FastMath.NSZ in self.fastmath
        return self.rhs if is_finite and is_constant(self.rhs, 0.0) else None


class DivF(FloatBinary, name="arith.divf"):
    """Floating-point division."""

    fn = staticmethod(core.div)

    def fold(self) -> Value | None:
        return self.lhs if is_constant(self.rhs, 1.0) else None


class RemF(FloatBinary, name="arith.remf"):
    """Floating-point remainder of a division truncated toward zero; it has the sign of the dividend."""

    fn = staticmethod(core.remainder)


class _Extreme(FloatBinary, traits=(traits.Commutative,)):
    """`neutral` is the number that is never chosen."""

    neutral: ClassVar[float] = math.nan

    def fold(self) -> Value | None:
        return self.lhs if self.lhs is self.rhs or is_float(self.rhs, self.neutral) else None


class MaximumF(_Extreme, name="arith.maximumf"):
    """Floating-point maximum that propagates NaN; +0.0 is larger than -0.0."""

    neutral = -math.inf
    fn = staticmethod(real_functions.larger)


class MaxNumF(_Extreme, name="arith.maxnumf"):
    """Floating-point maximum that ignores NaN: if one operand is NaN, the other."""

    fn = staticmethod(real_functions.larger_number)


class MinimumF(_Extreme, name="arith.minimumf"):
    """Floating-point minimum that propagates NaN; -0.0 is smaller than +0.0."""

    neutral = math.inf
    fn = staticmethod(real_functions.smaller)


class MinNumF(_Extreme, name="arith.minnumf"):
    """Floating-point minimum that ignores NaN: if one operand is NaN, the other."""

    fn = staticmethod(real_functions.smaller_number)
