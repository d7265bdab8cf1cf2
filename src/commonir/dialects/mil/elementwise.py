"""Operations of the mil dialect that act element by element: arithmetic, comparison, logic, conversion.

Source: MIL operation reference, elementwise_unary, elementwise_binary and control_flow (select).
"""

from __future__ import annotations

from typing import ClassVar

from commonir.dialects import core
from commonir.dialects.core.base import Function1, Function2
from commonir.dialects.mil.base import CORE_ML_7, MilOp
from commonir.dialects.mil.operands import (
    BASIC,
    BASIC_OR_ALL,
    FLOATS,
    NUMBERS,
    OWN_FLOATS,
    STRING,
    TRUTH,
    DataType,
    element_of,
)
from commonir.ir.operation import Value
from commonir.ir.types import Type, boolean, f32, i32, tensor
from commonir.ods import are_compatible, attr_types, constraint, one_of, operand, parameter, result, traits

DATA_TYPE = attr_types.enumeration(DataType)


class Unary(MilOp, traits=(traits.Pure, traits.Elementwise)):
    """A scalar function of each element."""

    x: Value = operand("T[s*]")
    output: Value = result("T[s*]")
    T = FLOATS
    fn: ClassVar[Function1]

    def reference(self, x: Value) -> Value:
        return type(self).fn(x)


class Abs(Unary, name="mil.abs"):
    """Absolute value of each element; the least integer stays negative."""

    T = NUMBERS
    fn = core.abs


class Acos(Unary, name="mil.acos"):
    """Arc cosine of each element, in radians; NaN outside of [-1, 1]."""

    fn = core.acos


class Asin(Unary, name="mil.asin"):
    """Arc sine of each element, in radians; NaN outside of [-1, 1]."""

    fn = core.asin


class Atan(Unary, name="mil.atan"):
    """Arc tangent of each element, in radians."""

    fn = core.atan


class Atanh(Unary, name="mil.atanh"):
    """Inverse hyperbolic tangent of each element; NaN outside of [-1, 1]."""

    fn = core.atanh


class Ceil(Unary, name="mil.ceil"):
    """Rounds each element up to an integer."""

    fn = core.ceil


class Cos(Unary, name="mil.cos"):
    """Cosine of each element, an angle in radians."""

    fn = core.cos


class Cosh(Unary, name="mil.cosh"):
    """Hyperbolic cosine of each element."""

    fn = core.cosh


class Erf(Unary, name="mil.erf"):
    """Error function of each element."""

    fn = core.erf


class Exp(Unary, name="mil.exp"):
    """Natural exponential of each element."""

    fn = core.exp


class Exp2(Unary, name="mil.exp2"):
    """Base-2 exponential of each element; of integers, computed in single precision and truncated."""

    T = NUMBERS

    def reference(self, x: Value) -> Value:
        return core.exp2(x) if element_of(x).is_float else core.cast(core.exp2(core.cast(x, f32)), i32)


class Floor(Unary, name="mil.floor"):
    """Rounds each element down to an integer."""

    fn = core.floor


class Inverse(Unary, name="mil.inverse"):
    """Reciprocal of each element: 1 / (x + epsilon). The default of epsilon is large: 0.1 becomes 9.99."""

    epsilon: float = parameter(attr_types.number, spec="U[]", default=1e-4)
    U = OWN_FLOATS

    def reference(self, x: Value) -> Value:
        return core.reciprocal(core.add(x, core.splat(self.epsilon, like=x)))


class Log(Unary, name="mil.log"):
    """Natural logarithm of x + epsilon. The default of epsilon is the smallest fp32 number, and 0 in fp16."""

    epsilon: float = parameter(attr_types.number, spec="U[]", default=1e-45)
    U = OWN_FLOATS

    def reference(self, x: Value) -> Value:
        return core.log(core.add(x, core.splat(self.epsilon, like=x)))


class LogicalNot(Unary, name="mil.logical_not"):
    """Elementwise logical not."""

    T = TRUTH
    fn = core.logical_not


class Round(Unary, name="mil.round"):
    """Rounds each element to the nearest integer, ties to even."""

    fn = core.round


class Rsqrt(Unary, name="mil.rsqrt"):
    """Reciprocal square root of each element: 1 / sqrt(x + epsilon). The default of epsilon is 0 in fp16."""

    epsilon: float = parameter(attr_types.number, spec="U[]", default=1e-12)
    U = OWN_FLOATS

    def reference(self, x: Value) -> Value:
        return core.rsqrt(core.add(x, core.splat(self.epsilon, like=x)))


class Sign(Unary, name="mil.sign"):
    """Sign of each element: -1, 0 or 1."""

    T = NUMBERS
    fn = core.sign


class Sin(Unary, name="mil.sin"):
    """Sine of each element, an angle in radians."""

    fn = core.sin


class Sinh(Unary, name="mil.sinh"):
    """Hyperbolic sine of each element."""

    fn = core.sinh


class Sqrt(Unary, name="mil.sqrt"):
    """Square root of each element; NaN below zero."""

    fn = core.sqrt


class Square(Unary, name="mil.square"):
    """Square of each element."""

    T = NUMBERS

    def reference(self, x: Value) -> Value:
        return core.mul(x, x)


class Tan(Unary, name="mil.tan"):
    """Tangent of each element, an angle in radians."""

    fn = core.tan


class Tanh(Unary, name="mil.tanh"):
    """Hyperbolic tangent of each element."""

    fn = core.tanh


class Threshold(Unary, name="mil.threshold"):
    """Elementwise maximum of x and alpha."""

    alpha: float = parameter(attr_types.number, spec="T[]")
    T = NUMBERS

    def reference(self, x: Value) -> Value:
        return core.maximum(x, core.splat(self.alpha, like=x))


class Clip(Unary, name="mil.clip"):
    """Clamps each element to the range from alpha to beta: min(max(x, alpha), beta)."""

    alpha: float = parameter(attr_types.number, spec="T[]")
    beta: float = parameter(attr_types.number, spec="T[]")

    @constraint("C1", since=CORE_ML_7)
    def _is_range(self) -> bool:
        """alpha is less than beta."""
        return self.alpha < self.beta

    def reference(self, x: Value) -> Value:
        return core.clip(x, self.alpha, self.beta)


class Cast(MilOp, name="mil.cast", traits=(traits.Pure, traits.Elementwise)):
    """Converts each element to another type.

    Float to integer truncates; results for values out of range are unspecified. A number becomes true when it is not
    zero, and a bool becomes 0 or 1.
    """

    x: Value = operand("T[s*]")
    dtype: DataType = parameter(
        DATA_TYPE,
        spec=STRING,
        check=one_of(DataType.INT32, DataType.FP16, DataType.FP32, DataType.BOOL),
        relaxed_in=CORE_ML_7,
    )
    output: Value = result("U[s*]")
    T = BASIC_OR_ALL
    U = BASIC_OR_ALL

    def reference(self, x: Value) -> Value:
        return core.cast(x, self.dtype.element)


class Binary(MilOp, traits=(traits.Pure, traits.Elementwise, traits.Broadcastable)):
    """A scalar function of two elements of one type, operands broadcast as in numpy."""

    x: Value = operand("T[*]")
    y: Value = operand("T[*]")
    output: Value = result("T[*]")
    T = NUMBERS
    fn: ClassVar[Function2]

    def reference(self, x: Value, y: Value) -> Value:
        return type(self).fn(x, y)


class Add(Binary, name="mil.add", traits=(traits.Commutative,)):
    """Elementwise sum of two tensors, with broadcasting."""

    fn = core.add


class Sub(Binary, name="mil.sub"):
    """Elementwise difference of two tensors, with broadcasting."""

    fn = core.sub


class Mul(Binary, name="mil.mul", traits=(traits.Commutative,)):
    """Elementwise product of two tensors, with broadcasting."""

    def reference(self, x: Value, y: Value) -> Value:
        return core.mul(x, y)


class RealDiv(Binary, name="mil.real_div"):
    """Elementwise quotient with broadcasting; of integers, truncated toward zero.

    Source: MIL operation reference, real_div (iOS 15); integers as coremltools 9 folds them.
    """

    def reference(self, x: Value, y: Value) -> Value:
        return core.div(x, y)


class FloorDiv(Binary, name="mil.floor_div"):
    """Elementwise quotient with broadcasting, rounded down."""

    fn = core.floor_div


class Mod(Binary, name="mil.mod"):
    """Elementwise remainder of a division rounded down; it has the sign of the divisor."""

    fn = core.mod


class Pow(Binary, name="mil.pow"):
    """Elementwise power: the first to the power of the second."""

    def reference(self, x: Value, y: Value) -> Value:
        return core.pow(x, y)


class Maximum(Binary, name="mil.maximum", traits=(traits.Commutative,)):
    """Elementwise maximum with broadcasting; of a number and NaN, unspecified in MIL and NaN here."""

    fn = core.maximum


class Minimum(Binary, name="mil.minimum", traits=(traits.Commutative,)):
    """Elementwise minimum with broadcasting; of a number and NaN, unspecified in MIL and NaN here."""

    fn = core.minimum


class Comparison(MilOp, traits=(traits.Pure, traits.Elementwise, traits.Broadcastable)):
    """A bool of two numbers of one type, operands broadcast as in numpy."""

    x: Value = operand("T[*]")
    y: Value = operand("T[*]")
    output: Value = result("i1[*]")
    T = NUMBERS
    fn: ClassVar[Function2]

    def reference(self, x: Value, y: Value) -> Value:
        return type(self).fn(x, y)


class Equal(Comparison, name="mil.equal", traits=(traits.Commutative,)):
    """Tests elementwise whether both are equal."""

    def reference(self, x: Value, y: Value) -> Value:
        return core.equal(x, y)


class NotEqual(Comparison, name="mil.not_equal", traits=(traits.Commutative,)):
    """Tests elementwise whether both differ."""

    def reference(self, x: Value, y: Value) -> Value:
        return core.not_equal(x, y)


class Greater(Comparison, name="mil.greater"):
    """Tests elementwise whether the first is larger."""

    fn = core.greater


class GreaterEqual(Comparison, name="mil.greater_equal"):
    """Tests elementwise whether the first is larger or equal."""

    fn = core.greater_equal


class Less(Comparison, name="mil.less"):
    """Tests elementwise whether the first is smaller."""

    fn = core.less


class LessEqual(Comparison, name="mil.less_equal"):
    """Tests elementwise whether the first is smaller or equal."""

    fn = core.less_equal


class LogicalAnd(Binary, name="mil.logical_and", traits=(traits.Commutative,)):
    """Elementwise logical and."""

    T = TRUTH
    fn = core.logical_and


class LogicalOr(Binary, name="mil.logical_or", traits=(traits.Commutative,)):
    """Elementwise logical or."""

    T = TRUTH
    fn = core.logical_or


class LogicalXor(Binary, name="mil.logical_xor", traits=(traits.Commutative,)):
    """Elementwise logical exclusive or."""

    T = TRUTH
    fn = core.logical_xor


class Select(MilOp, name="mil.select", traits=(traits.Pure, traits.Elementwise, traits.Broadcastable)):
    """Selects the first value where the condition is true, else the second; all three are broadcast.

    coremltools 9 ignores the condition in shape inference; a result declared so has the shape of all three
    nevertheless.
    """

    cond: Value = operand("i1[*]")
    a: Value = operand("T[*]")
    b: Value = operand("T[*]")
    output: Value = result("T[*]")
    T = BASIC

    def may_declare(self, number: int, declared: Type) -> bool:  # noqa: ARG002  there is one result
        without = core.select(Value(tensor(boolean)), Value(self.a.type), Value(self.b.type))
        return are_compatible(declared, without.type)

    def reference(self, cond: Value, a: Value, b: Value) -> Value:
        return core.select(cond, a, b)
