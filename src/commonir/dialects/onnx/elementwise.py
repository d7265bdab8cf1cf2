"""ONNX elementwise operators of one tensor: functions and tests.

Source: ONNX operator reference, default domain, versions 1 to 22.
"""

from __future__ import annotations

from typing import ClassVar

from commonir.dialects import core
from commonir.dialects.core.base import Function1
from commonir.dialects.onnx.base import (
    FLOATS,
    FLOATS_1,
    FLOATS_8,
    INTEGERS,
    NUMBERS,
    NUMBERS_1,
    SIGNED_INTEGERS,
    OnnxOp,
    element_of,
)
from commonir.ir.operation import Value
from commonir.ir.types import f32, f64
from commonir.ods import attr_types, attribute, by_version, element_type, operand, result

# Named after the versions in which the set of types changed.
FLOATS_6_13 = by_version(opset6=FLOATS_1, opset13=FLOATS)
FLOATS_7_22 = by_version(opset7=FLOATS_1, opset22=FLOATS)
FLOATS_9_22 = by_version(opset9=FLOATS_1, opset22=FLOATS)


class UnaryX(OnnxOp):
    """A function of each element of `X`."""

    X: Value = operand("T")
    Y: Value = result("T")
    fn: ClassVar[Function1]

    def reference(self, X: Value) -> Value:
        return type(self).fn(X)


class UnaryInput(OnnxOp):
    """A function of each element of `input`."""

    input: Value = operand("T")
    output: Value = result("T")
    fn: ClassVar[Function1]

    def reference(self, input: Value) -> Value:
        return type(self).fn(input)


class Neg(UnaryX, name="onnx.Neg"):
    """Negates each element."""

    T = by_version(opset6=FLOATS_1 | SIGNED_INTEGERS, opset13=FLOATS | SIGNED_INTEGERS)
    fn = core.neg


class Exp(UnaryInput, name="onnx.Exp"):
    """Natural exponential of each element."""

    T = FLOATS_6_13
    fn = core.exp


class Log(UnaryInput, name="onnx.Log"):
    """Natural logarithm of each element."""

    T = FLOATS_6_13
    fn = core.log


class Sqrt(UnaryX, name="onnx.Sqrt"):
    """Square root of each element; NaN below zero."""

    T = FLOATS_6_13
    fn = core.sqrt


class Reciprocal(UnaryX, name="onnx.Reciprocal"):
    """Reciprocal of each element."""

    T = FLOATS_6_13
    fn = core.reciprocal


class Sin(UnaryInput, name="onnx.Sin"):
    """Sine of each element, an angle in radians."""

    T = FLOATS_7_22
    fn = core.sin


class Cos(UnaryInput, name="onnx.Cos"):
    """Cosine of each element, an angle in radians."""

    T = FLOATS_7_22
    fn = core.cos


class Tan(UnaryInput, name="onnx.Tan"):
    """Tangent of each element, an angle in radians."""

    T = FLOATS_7_22
    fn = core.tan


class Asin(UnaryInput, name="onnx.Asin"):
    """Arc sine of each element, in radians."""

    T = FLOATS_7_22
    fn = core.asin


class Acos(UnaryInput, name="onnx.Acos"):
    """Arc cosine of each element, in radians."""

    T = FLOATS_7_22
    fn = core.acos


class Atan(UnaryInput, name="onnx.Atan"):
    """Arc tangent of each element, in radians."""

    T = FLOATS_7_22
    fn = core.atan


class Sinh(UnaryInput, name="onnx.Sinh"):
    """Hyperbolic sine of each element."""

    T = FLOATS_9_22
    fn = core.sinh


class Cosh(UnaryInput, name="onnx.Cosh"):
    """Hyperbolic cosine of each element."""

    T = FLOATS_9_22
    fn = core.cosh


class Tanh(UnaryInput, name="onnx.Tanh"):
    """Hyperbolic tangent of each element."""

    T = FLOATS_6_13
    fn = core.tanh


class Asinh(UnaryInput, name="onnx.Asinh"):
    """Inverse hyperbolic sine of each element."""

    T = FLOATS_9_22
    fn = core.asinh


class Acosh(UnaryInput, name="onnx.Acosh"):
    """Inverse hyperbolic cosine of each element."""

    T = FLOATS_9_22
    fn = core.acosh


class Atanh(UnaryInput, name="onnx.Atanh"):
    """Inverse hyperbolic tangent of each element."""

    T = FLOATS_9_22
    fn = core.atanh


class Erf(UnaryInput, name="onnx.Erf"):
    """Error function of each element; of integers, truncated."""

    T = by_version(opset9=NUMBERS_1, opset13=FLOATS)

    def reference(self, input: Value) -> Value:
        element = element_of(input)
        return core.erf(input) if element.is_float else core.cast(core.erf(core.cast(input, f64)), element)


class Floor(UnaryX, name="onnx.Floor"):
    """Rounds each element down."""

    T = FLOATS_6_13
    fn = core.floor


class Ceil(UnaryX, name="onnx.Ceil"):
    """Rounds each element up."""

    T = FLOATS_6_13
    fn = core.ceil


class Round(UnaryX, name="onnx.Round"):
    """Rounds each element to the nearest integer, ties to even."""

    T = by_version(opset11=FLOATS_1, opset22=FLOATS)
    fn = core.round


class Not(OnnxOp, name="onnx.Not", since="opset1"):
    """Elementwise logical not."""

    X: Value = operand("i1")
    Y: Value = result("i1")

    def reference(self, X: Value) -> Value:
        return core.logical_not(X)


class IsNaN(OnnxOp, name="onnx.IsNaN"):
    """Tests each element for NaN."""

    X: Value = operand("T1")
    Y: Value = result("i1")
    T1 = by_version(opset9=FLOATS_1, opset13=FLOATS, opset20=FLOATS | FLOATS_8)

    def reference(self, X: Value) -> Value:
        return core.is_nan(X)


class IsInf(OnnxOp, name="onnx.IsInf"):
    """Tests each element for an infinity of one of the selected signs."""

    X: Value = operand("T1")
    detect_negative: bool = attribute(attr_types.flag, default=True)
    detect_positive: bool = attribute(attr_types.flag, default=True)
    Y: Value = result("i1")
    T1 = by_version(opset10=element_type(f32, f64), opset20=FLOATS | FLOATS_8)

    def reference(self, X: Value) -> Value:
        zero = core.splat(0.0, X)
        result = core.is_inf(X)
        if not self.detect_negative:
            result = core.logical_and(result, core.greater(X, zero))
        if not self.detect_positive:
            result = core.logical_and(result, core.less(X, zero))
        return result


class BitwiseNot(UnaryX, name="onnx.BitwiseNot", since="opset18"):
    """Elementwise bitwise not."""

    T = INTEGERS
    fn = core.bitwise_not


class Abs(UnaryX, name="onnx.Abs"):
    """Absolute value of each element."""

    T = by_version(opset6=NUMBERS_1, opset13=NUMBERS)

    def reference(self, X: Value) -> Value:
        return X if element_of(X).kind == "uint" else core.abs(X)


class Sign(UnaryInput, name="onnx.Sign"):
    """Sign of each element: -1, 0 or 1."""

    T = by_version(opset9=NUMBERS_1, opset13=NUMBERS)

    def reference(self, input: Value) -> Value:
        if element_of(input).kind == "uint":
            return core.minimum(input, core.splat(1, input))
        return core.sign(input)
