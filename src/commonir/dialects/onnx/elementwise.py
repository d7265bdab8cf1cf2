"""ONNX operators that act element by element: arithmetic, comparison, logic, conversion.

Source: ONNX operator reference, default domain, versions 7 to 23.
"""

from __future__ import annotations

import functools

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_13,
    BOOLEAN,
    FLOATS,
    FLOATS_1,
    FLOATS_8,
    INTEGERS,
    INTEGERS_4,
    NUMBERS,
    POSITIONS,
    SIGNED_INTEGERS,
    STRING,
    OnnxOp,
    tensor_type,
)
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f4e2m1fn, f32, f64
from commonir.ods import attribute, element_type, kinds, operand, result


class UnaryX(OnnxOp):
    """A function of each element of `X`."""

    __slots__ = ()

    X: Value = operand("T")
    Y: Value = result("T")


class UnaryInput(OnnxOp):
    """A function of each element of `input`."""

    __slots__ = ()

    input: Value = operand("T")
    output: Value = result("T")


class Arithmetic(OnnxOp):
    """A function of two elements, operands broadcast as in numpy."""

    __slots__ = ()

    A: Value = operand("T")
    B: Value = operand("T")
    C: Value = result("T")


class Logic(OnnxOp):
    """A function of two truth values, operands broadcast as in numpy."""

    __slots__ = ()

    A: Value = operand("i1")
    B: Value = operand("i1")
    C: Value = result("i1")


class Comparison(OnnxOp):
    """A truth value of two elements, operands broadcast as in numpy."""

    __slots__ = ()

    A: Value = operand("T")
    B: Value = operand("T")
    C: Value = result("i1")


class Neg(UnaryX, name="onnx.Neg", since="opset13"):
    """The negative."""

    __slots__ = ()

    T = FLOATS | SIGNED_INTEGERS

    def reference(self, X: Value) -> Value:
        return core.neg(X)


class Exp(UnaryInput, name="onnx.Exp", since="opset13"):
    """e to the power of the element."""

    __slots__ = ()

    T = FLOATS

    def reference(self, input: Value) -> Value:
        return core.exp(input)


class Log(UnaryInput, name="onnx.Log", since="opset13"):
    """The natural logarithm."""

    __slots__ = ()

    T = FLOATS

    def reference(self, input: Value) -> Value:
        return core.log(input)


class Sqrt(UnaryX, name="onnx.Sqrt", since="opset13"):
    """The square root; NaN below zero."""

    __slots__ = ()

    T = FLOATS

    def reference(self, X: Value) -> Value:
        return core.sqrt(X)


class Reciprocal(UnaryX, name="onnx.Reciprocal", since="opset13"):
    """One divided by the element."""

    __slots__ = ()

    T = FLOATS

    def reference(self, X: Value) -> Value:
        return core.reciprocal(X)


class Sin7(UnaryInput, name="onnx.Sin", since="opset7"):
    """The sine of an angle in radians."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.sin(input)


class Sin(Sin7, name="onnx.Sin", since="opset22"):
    """As `Sin7`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Cos7(UnaryInput, name="onnx.Cos", since="opset7"):
    """The cosine of an angle in radians."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.cos(input)


class Cos(Cos7, name="onnx.Cos", since="opset22"):
    """As `Cos7`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Tan7(UnaryInput, name="onnx.Tan", since="opset7"):
    """The tangent of an angle in radians."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.tan(input)


class Tan(Tan7, name="onnx.Tan", since="opset22"):
    """As `Tan7`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Asin7(UnaryInput, name="onnx.Asin", since="opset7"):
    """The angle in radians whose sine is the element."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.asin(input)


class Asin(Asin7, name="onnx.Asin", since="opset22"):
    """As `Asin7`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Acos7(UnaryInput, name="onnx.Acos", since="opset7"):
    """The angle in radians whose cosine is the element."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.acos(input)


class Acos(Acos7, name="onnx.Acos", since="opset22"):
    """As `Acos7`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Atan7(UnaryInput, name="onnx.Atan", since="opset7"):
    """The angle in radians whose tangent is the element."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.atan(input)


class Atan(Atan7, name="onnx.Atan", since="opset22"):
    """As `Atan7`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Sinh9(UnaryInput, name="onnx.Sinh", since="opset9"):
    """The hyperbolic sine."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.sinh(input)


class Sinh(Sinh9, name="onnx.Sinh", since="opset22"):
    """As `Sinh9`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Cosh9(UnaryInput, name="onnx.Cosh", since="opset9"):
    """The hyperbolic cosine."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.cosh(input)


class Cosh(Cosh9, name="onnx.Cosh", since="opset22"):
    """As `Cosh9`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Tanh(UnaryInput, name="onnx.Tanh", since="opset13"):
    """The hyperbolic tangent."""

    __slots__ = ()

    T = FLOATS

    def reference(self, input: Value) -> Value:
        return core.tanh(input)


class Asinh9(UnaryInput, name="onnx.Asinh", since="opset9"):
    """The inverse hyperbolic sine."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.asinh(input)


class Asinh(Asinh9, name="onnx.Asinh", since="opset22"):
    """As `Asinh9`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Acosh9(UnaryInput, name="onnx.Acosh", since="opset9"):
    """The inverse hyperbolic cosine."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.acosh(input)


class Acosh(Acosh9, name="onnx.Acosh", since="opset22"):
    """As `Acosh9`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Atanh9(UnaryInput, name="onnx.Atanh", since="opset9"):
    """The inverse hyperbolic tangent."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.atanh(input)


class Atanh(Atanh9, name="onnx.Atanh", since="opset22"):
    """As `Atanh9`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Erf(UnaryInput, name="onnx.Erf", since="opset13"):
    """The error function."""

    __slots__ = ()

    T = FLOATS

    def reference(self, input: Value) -> Value:
        return core.erf(input)


class Floor(UnaryX, name="onnx.Floor", since="opset13"):
    """The largest integer that is not larger."""

    __slots__ = ()

    T = FLOATS

    def reference(self, X: Value) -> Value:
        return core.floor(X)


class Ceil(UnaryX, name="onnx.Ceil", since="opset13"):
    """The smallest integer that is not smaller."""

    __slots__ = ()

    T = FLOATS

    def reference(self, X: Value) -> Value:
        return core.ceil(X)


class Round11(UnaryX, name="onnx.Round", since="opset11"):
    """The nearest integer, of two the even one."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        return core.round(X)


class Round(Round11, name="onnx.Round", since="opset22"):
    """As `Round11`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Not(OnnxOp, name="onnx.Not", since="opset1"):
    """Whether the element is false."""

    __slots__ = ()

    X: Value = operand("i1")
    Y: Value = result("i1")

    def reference(self, X: Value) -> Value:
        return core.logical_not(X)


class IsNaN13(OnnxOp, name="onnx.IsNaN", since="opset13"):
    """Whether the element is not a number."""

    __slots__ = ()

    X: Value = operand("T1")
    Y: Value = result("i1")
    T1 = FLOATS

    def reference(self, X: Value) -> Value:
        return core.is_nan(X)


class IsNaN(IsNaN13, name="onnx.IsNaN", since="opset20"):
    """As `IsNaN13`, for more element types."""

    __slots__ = ()

    T1 = FLOATS | FLOATS_8


class BitwiseNot(UnaryX, name="onnx.BitwiseNot", since="opset18"):
    """Each bit inverted."""

    __slots__ = ()

    T = INTEGERS

    def reference(self, X: Value) -> Value:
        return core.bitwise_not(X)


class Abs(UnaryX, name="onnx.Abs", since="opset13"):
    """The absolute value."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, X: Value) -> Value:
        return X if tensor_type(X).element.kind == "uint" else core.abs(X)


class Sign(UnaryInput, name="onnx.Sign", since="opset13"):
    """-1, 0 or 1 as the element is negative, zero or positive."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, input: Value) -> Value:
        if tensor_type(input).element.kind == "uint":
            return core.minimum(input, core.splat(1, input))
        return core.sign(input)


class IsInf10(OnnxOp, name="onnx.IsInf", since="opset10"):
    """Whether the element is an infinity of one of the signs asked for."""

    __slots__ = ()

    X: Value = operand("T1")
    detect_negative: bool = attribute(kinds.flag, default=True)
    detect_positive: bool = attribute(kinds.flag, default=True)
    Y: Value = result("i1")
    T1 = element_type(f32, f64)

    def reference(self, X: Value) -> Value:
        zero = core.splat(0.0, X)
        found = core.is_inf(X)
        if not self.detect_negative:
            found = core.logical_and(found, core.greater(X, zero))
        if not self.detect_positive:
            found = core.logical_and(found, core.less(X, zero))
        return found


class IsInf(IsInf10, name="onnx.IsInf", since="opset20"):
    """As `IsInf10`, for more element types."""

    __slots__ = ()

    T1 = FLOATS | FLOATS_8


class Add(Arithmetic, name="onnx.Add", since="opset14"):
    """The sum."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.add(A, B)


class Sub(Arithmetic, name="onnx.Sub", since="opset14"):
    """The difference."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.sub(A, B)


class Mul(Arithmetic, name="onnx.Mul", since="opset14"):
    """The product."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.mul(A, B)


class Div(Arithmetic, name="onnx.Div", since="opset14"):
    """The quotient; of integers, rounded toward zero."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.div(A, B)


class Equal13(Comparison, name="onnx.Equal", since="opset13"):
    """Whether both are equal."""

    __slots__ = ()

    T = NUMBERS | BOOLEAN

    def reference(self, A: Value, B: Value) -> Value:
        return core.equal(A, B)


class Equal(Equal13, name="onnx.Equal", since="opset19"):
    """As `Equal13`, for more element types."""

    __slots__ = ()

    T = NUMBERS | BOOLEAN | STRING


class Less(Comparison, name="onnx.Less", since="opset13"):
    """Whether the first is smaller."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.less(A, B)


class LessOrEqual(Comparison, name="onnx.LessOrEqual", since="opset16"):
    """Whether the first is not larger."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.less_equal(A, B)


class Greater(Comparison, name="onnx.Greater", since="opset13"):
    """Whether the first is larger."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.greater(A, B)


class GreaterOrEqual(Comparison, name="onnx.GreaterOrEqual", since="opset16"):
    """Whether the first is not smaller."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.greater_equal(A, B)


class And(Logic, name="onnx.And", since="opset7"):
    """Whether both are true."""

    __slots__ = ()

    def reference(self, A: Value, B: Value) -> Value:
        return core.logical_and(A, B)


class Or(Logic, name="onnx.Or", since="opset7"):
    """Whether either is true."""

    __slots__ = ()

    def reference(self, A: Value, B: Value) -> Value:
        return core.logical_or(A, B)


class Xor(Logic, name="onnx.Xor", since="opset7"):
    """Whether exactly one is true."""

    __slots__ = ()

    def reference(self, A: Value, B: Value) -> Value:
        return core.logical_xor(A, B)


class BitwiseAnd(Arithmetic, name="onnx.BitwiseAnd", since="opset18"):
    """The bits that are set in both."""

    __slots__ = ()

    T = INTEGERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.bitwise_and(A, B)


class BitwiseOr(Arithmetic, name="onnx.BitwiseOr", since="opset18"):
    """The bits that are set in either."""

    __slots__ = ()

    T = INTEGERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.bitwise_or(A, B)


class BitwiseXor(Arithmetic, name="onnx.BitwiseXor", since="opset18"):
    """The bits that are set in exactly one."""

    __slots__ = ()

    T = INTEGERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.bitwise_xor(A, B)


class Mod(Arithmetic, name="onnx.Mod", since="opset13"):
    """The remainder, with the sign of the divisor, or with `fmod` that of the dividend; floating point needs `fmod`."""

    __slots__ = ()

    fmod: bool = attribute(kinds.flag, default=False)
    T = NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.remainder(A, B) if self.fmod else core.mod(A, B)


class Pow(OnnxOp, name="onnx.Pow", since="opset15"):
    """The first to the power of the second, in the type of the first."""

    __slots__ = ()

    X: Value = operand("T")
    Y: Value = operand("T1")
    Z: Value = result("T")
    T = FLOATS | POSITIONS
    T1 = NUMBERS

    def reference(self, X: Value, Y: Value) -> Value:
        base, exponent = tensor_type(X).element, tensor_type(Y).element
        if base is exponent:
            return core.pow(X, Y)
        if base.is_integer and exponent.is_float:
            return core.cast(core.pow(core.cast(X, exponent), Y), base)
        return core.pow(X, core.cast(Y, base))


class Max(OnnxOp, name="onnx.Max", since="opset13"):
    """The largest of any number of tensors, broadcast; NaN when any is NaN."""

    __slots__ = ()

    data: tuple[Value, ...] = operand("T", variadic=True)
    max: Value = result("T")
    T = NUMBERS

    def reference(self, data: tuple[Value, ...]) -> Value:
        return functools.reduce(core.maximum, data)


class Min(OnnxOp, name="onnx.Min", since="opset13"):
    """The smallest of any number of tensors, broadcast; NaN when any is NaN."""

    __slots__ = ()

    data: tuple[Value, ...] = operand("T", variadic=True)
    min: Value = result("T")
    T = NUMBERS

    def reference(self, data: tuple[Value, ...]) -> Value:
        return functools.reduce(core.minimum, data)


class Where(OnnxOp, name="onnx.Where", since="opset16"):
    """The first where the condition holds, else the second; all three broadcast."""

    __slots__ = ()

    condition: Value = operand("i1")
    X: Value = operand("T")
    Y: Value = operand("T")
    output: Value = result("T")
    T = ANY_13

    def reference(self, condition: Value, X: Value, Y: Value) -> Value:
        return core.select(condition, X, Y)


class Clip(OnnxOp, name="onnx.Clip", since="opset13"):
    """The element limited to a range, either end of which may be open."""

    __slots__ = ()

    input: Value = operand("T")
    min: Value | None = operand("T[]", default=None)
    max: Value | None = operand("T[]", default=None)
    output: Value = result("T")
    T = NUMBERS

    def reference(self, input: Value, min: Value | None, max: Value | None) -> Value:
        low = input if min is None else core.maximum(input, min)
        return low if max is None else core.minimum(low, max)


class Cast13(OnnxOp, name="onnx.Cast", since="opset13"):
    """The element converted to another type; floating point to integer drops the fraction."""

    __slots__ = ()

    input: Value = operand("T1")
    to: ElementType = attribute(kinds.element)
    output: Value = result("T2")
    T1 = NUMBERS | BOOLEAN | STRING
    T2 = NUMBERS | BOOLEAN | STRING

    def reference(self, input: Value) -> Value:
        return core.cast(input, self.to)


class Cast19(Cast13, name="onnx.Cast", since="opset19"):
    """As `Cast13`, with `saturate`."""

    __slots__ = ()

    saturate: bool = attribute(kinds.flag, default=True)
    T1 = NUMBERS | FLOATS_8 | BOOLEAN | STRING
    T2 = NUMBERS | FLOATS_8 | BOOLEAN | STRING


class Cast21(Cast19, name="onnx.Cast", since="opset21"):
    """As `Cast19`, for more element types."""

    __slots__ = ()

    T1 = NUMBERS | FLOATS_8 | INTEGERS_4 | BOOLEAN | STRING
    T2 = NUMBERS | FLOATS_8 | INTEGERS_4 | BOOLEAN | STRING


class Cast(Cast21, name="onnx.Cast", since="opset23"):
    """As `Cast21`, for more element types."""

    __slots__ = ()

    T1 = NUMBERS | FLOATS_8 | INTEGERS_4 | BOOLEAN | STRING | element_type(f4e2m1fn)
    T2 = NUMBERS | FLOATS_8 | INTEGERS_4 | BOOLEAN | STRING | element_type(f4e2m1fn)
