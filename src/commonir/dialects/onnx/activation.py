"""ONNX activations.

Source: ONNX operator reference, default domain, versions 1 to 23.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS, FLOATS_1, SIGNED_INTEGERS, WIDE_NUMBERS, OnnxOp
from commonir.dialects.onnx.elementwise import UnaryInput, UnaryX
from commonir.ir.operation import Value
from commonir.ods import attribute, kinds, one_of, operand, result


class Relu(UnaryX, name="onnx.Relu", since="opset14"):
    """The element, or zero where it is negative."""

    __slots__ = ()

    T = FLOATS | SIGNED_INTEGERS

    def reference(self, X: Value) -> Value:
        return core.relu(X)


class LeakyRelu(UnaryX, name="onnx.LeakyRelu", since="opset16"):
    """The element, or alpha times it where it is negative."""

    __slots__ = ()

    alpha: float = attribute(kinds.number, default=0.01)
    T = FLOATS

    def reference(self, X: Value) -> Value:
        return core.leaky_relu(X, self.alpha)


class Elu6(UnaryX, name="onnx.Elu", since="opset6"):
    """The element where it is positive, elsewhere alpha * (exp(x) - 1)."""

    __slots__ = ()

    alpha: float = attribute(kinds.number, default=1.0)
    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        return core.elu(X, self.alpha)


class Elu(Elu6, name="onnx.Elu", since="opset22"):
    """As `Elu6`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Sigmoid(UnaryX, name="onnx.Sigmoid", since="opset13"):
    """1 / (1 + exp(-x))."""

    __slots__ = ()

    T = FLOATS

    def reference(self, X: Value) -> Value:
        return core.sigmoid(X)


class HardSigmoid6(UnaryX, name="onnx.HardSigmoid", since="opset6"):
    """alpha * x + beta, limited to [0, 1]."""

    __slots__ = ()

    beta: float = attribute(kinds.number, default=0.5)
    alpha: float = attribute(kinds.number, default=0.2)
    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        return core.hard_sigmoid(X, self.alpha, self.beta)


class HardSigmoid(HardSigmoid6, name="onnx.HardSigmoid", since="opset22"):
    """As `HardSigmoid6`, for more element types."""

    __slots__ = ()

    T = FLOATS


class HardSwish14(UnaryX, name="onnx.HardSwish", since="opset14"):
    """x times the hard sigmoid of slope 1/6."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        return core.hard_swish(X)


class HardSwish(HardSwish14, name="onnx.HardSwish", since="opset22"):
    """As `HardSwish14`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Softplus1(UnaryX, name="onnx.Softplus", since="opset1"):
    """log(1 + exp(x))."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        return core.softplus(X)


class Softplus(Softplus1, name="onnx.Softplus", since="opset22"):
    """As `Softplus1`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Softsign1(UnaryInput, name="onnx.Softsign", since="opset1"):
    """x / (1 + |x|)."""

    __slots__ = ()

    T = FLOATS_1

    def reference(self, input: Value) -> Value:
        return core.softsign(input)


class Softsign(Softsign1, name="onnx.Softsign", since="opset22"):
    """As `Softsign1`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Softmax(UnaryInput, name="onnx.Softmax", since="opset13"):
    """Exponentials along an axis divided by their sum."""

    __slots__ = ()

    axis: int = attribute(kinds.integer, default=-1)
    T = FLOATS

    def reference(self, input: Value) -> Value:
        return core.softmax(input, self.axis)


class LogSoftmax(UnaryInput, name="onnx.LogSoftmax", since="opset13"):
    """The logarithm of the softmax."""

    __slots__ = ()

    axis: int = attribute(kinds.integer, default=-1)
    T = FLOATS

    def reference(self, input: Value) -> Value:
        return core.log_softmax(input, self.axis)


class PRelu(OnnxOp, name="onnx.PRelu", since="opset16"):
    """The element, or slope times it where it is negative; slope is broadcast to x."""

    __slots__ = ()

    X: Value = operand("T")
    slope: Value = operand("T")
    Y: Value = result("T")
    T = WIDE_NUMBERS

    def reference(self, X: Value, slope: Value) -> Value:
        zero = core.splat(0, X)
        return core.select(core.less(X, zero), core.mul(X, slope), X)


class Gelu(UnaryX, name="onnx.Gelu", since="opset20"):
    """x times the probability that a standard normal variable is below it, exactly or by a hyperbolic tangent."""

    __slots__ = ()

    approximate: str = attribute(kinds.text, default="none", check=one_of("none", "tanh"))
    T = FLOATS

    def reference(self, X: Value) -> Value:
        exact = self.approximate == "none"
        return core.gelu(X, core.GeluForm.EXACT if exact else core.GeluForm.TANH)
