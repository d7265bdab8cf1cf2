"""ONNX activations.

Source: ONNX operator reference, default domain, versions 1 to 28.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    FLOATS,
    FLOATS_1,
    FLOATS_1_22,
    NUMBERS_1,
    SIGNED_INTEGERS,
    WIDE_NUMBERS,
    WIDE_NUMBERS_1,
    OnnxOp,
    axis_from_start,
    element_of,
    rank_of,
    shape_of,
    whole,
)
from commonir.dialects.onnx.elementwise import FLOATS_6_13, UnaryInput, UnaryX
from commonir.ir.operation import Value
from commonir.ir.types import f32, i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, by_version, element_type, one_of, operand, result
from commonir.symbolic import element_count

FLOATS_6_22 = by_version(opset6=FLOATS_1, opset22=FLOATS)


class Relu(UnaryX, name="onnx.Relu"):
    """Rectified linear unit (ReLU): the element, or zero where it is negative."""

    T = by_version(opset6=FLOATS_1, opset13=FLOATS, opset14=FLOATS | SIGNED_INTEGERS)
    fn = core.relu


class LeakyRelu(UnaryX, name="onnx.LeakyRelu"):
    """Leaky ReLU: the element, or alpha times it where it is negative."""

    alpha: float = attribute(attr_types.number, default=0.01)
    T = by_version(opset6=FLOATS_1, opset16=FLOATS)

    def reference(self, X: Value) -> Value:
        return core.leaky_relu(X, self.alpha)


class PRelu(OnnxOp, name="onnx.PRelu"):
    """Parametric ReLU: the element, or slope times it where it is negative; slope is broadcast to x."""

    X: Value = operand("T")
    slope: Value = operand("T")
    Y: Value = result("T")
    T = by_version(opset7=FLOATS_1, opset9=WIDE_NUMBERS_1, opset16=WIDE_NUMBERS)

    def reference(self, X: Value, slope: Value) -> Value:
        zero = core.splat(0, X)
        return core.select(core.less(X, zero), core.mul(X, slope), X)


class PRelu6(OnnxOp, name="onnx.PRelu", since="opset6"):
    """The element, or slope times it where it is negative; the slope is shared, or one per channel (axis 1)."""

    X: Value = operand("T")
    slope: Value = operand("T")
    Y: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value, slope: Value) -> Value:
        is_one = shape_of(slope) in ((), (1,))
        if not is_one and rank_of(slope) != 1:
            raise NotationError(f"slopes of rank {rank_of(slope)}")
        wide = slope if is_one or rank_of(X) < 2 else core.per_channel(slope, X)
        return core.select(core.less(X, core.splat(0.0, X)), core.mul(X, wide), X)


class ThresholdedRelu(UnaryX, name="onnx.ThresholdedRelu"):
    """Thresholded ReLU: the element where it is larger than alpha, else zero."""

    alpha: float = attribute(attr_types.number, default=1.0)
    T = by_version(opset10=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value) -> Value:
        return core.select(core.greater(X, core.splat(self.alpha, X)), X, core.splat(0.0, X))


class Elu(UnaryX, name="onnx.Elu"):
    """Exponential linear unit (ELU): the element where it is positive, elsewhere alpha * (exp(x) - 1)."""

    alpha: float = attribute(attr_types.number, default=1.0)
    T = FLOATS_6_22

    def reference(self, X: Value) -> Value:
        return core.elu(X, self.alpha)


class Selu(UnaryX, name="onnx.Selu"):
    """Scaled ELU: gamma times the element where it is positive, elsewhere gamma * alpha * (exp(x) - 1)."""

    gamma: float = attribute(attr_types.number, default=1.0507010221481323)
    alpha: float = attribute(attr_types.number, default=1.6732631921768188)
    T = FLOATS_6_22

    def reference(self, X: Value) -> Value:
        return core.mul(core.elu(X, self.alpha), core.splat(self.gamma, X))


class Celu(UnaryX, name="onnx.Celu"):
    """Continuously differentiable ELU: the element where it is positive, elsewhere alpha * (exp(x / alpha) - 1)."""

    alpha: float = attribute(attr_types.number, default=1.0)
    T = by_version(opset12=element_type(f32), opset28=FLOATS)

    def reference(self, X: Value) -> Value:
        zero, alpha = core.splat(0.0, X), core.splat(self.alpha, X)
        bent = core.mul(alpha, core.sub(core.exp(core.div(X, alpha)), core.splat(1.0, X)))
        return core.add(core.maximum(X, zero), core.minimum(bent, zero))


class Sigmoid(UnaryX, name="onnx.Sigmoid"):
    """Logistic sigmoid: 1 / (1 + exp(-x))."""

    T = FLOATS_6_13
    fn = core.sigmoid


class HardSigmoid(UnaryX, name="onnx.HardSigmoid"):
    """Hard sigmoid: alpha * x + beta, limited to [0, 1]."""

    beta: float = attribute(attr_types.number, default=0.5)
    alpha: float = attribute(attr_types.number, default=0.2)
    T = FLOATS_6_22

    def reference(self, X: Value) -> Value:
        return core.hard_sigmoid(X, self.alpha, self.beta)


class HardSwish(UnaryX, name="onnx.HardSwish"):
    """Hard swish: x times the hard sigmoid of slope 1/6."""

    T = by_version(opset14=FLOATS_1, opset22=FLOATS)
    fn = core.hard_swish


class Swish(UnaryX, name="onnx.Swish", since="opset24"):
    """Swish: x times the sigmoid of alpha * x."""

    alpha: float = attribute(attr_types.number, default=1.0)
    T = FLOATS

    def reference(self, X: Value) -> Value:
        return swish(X, self.alpha)


def swish(x: Value, alpha: float) -> Value:
    """x times the sigmoid of alpha * x."""
    return core.silu(x) if alpha == 1 else core.mul(x, core.sigmoid(core.mul(x, core.splat(alpha, x))))


class SwiGLU(OnnxOp, name="onnx.SwiGLU", since="opset28"):
    """Swish-gated linear unit (SwiGLU): B times A times the sigmoid of alpha * A."""

    A: Value = operand("T[s*]")
    B: Value = operand("T[s*]")
    alpha: float = attribute(attr_types.number, default=1.0)
    Y: Value = result("T[s*]")
    T = FLOATS

    def reference(self, A: Value, B: Value) -> Value:
        return core.mul(swish(A, self.alpha), B)


class Mish(UnaryX, name="onnx.Mish"):
    """Mish: x times the hyperbolic tangent of log(1 + exp(x))."""

    T = by_version(opset18=FLOATS_1, opset22=FLOATS)
    fn = core.mish


class Softplus(UnaryX, name="onnx.Softplus"):
    """Softplus: log(1 + exp(x))."""

    T = FLOATS_1_22
    fn = core.softplus


class Softsign(UnaryInput, name="onnx.Softsign"):
    """Softsign: x / (1 + |x|)."""

    T = FLOATS_1_22
    fn = core.softsign


class Shrink(UnaryInput, name="onnx.Shrink", since="opset9"):
    """Shrinkage: x + bias below -lambd, x - bias above lambd, and zero between.

    For integers the attributes are truncated, and unsigned elements are never below -lambd.
    """

    bias: float = attribute(attr_types.number, default=0.0)
    lambd: float = attribute(attr_types.number, default=0.5)
    T = NUMBERS_1

    def reference(self, input: Value) -> Value:
        element_type = element_of(input)
        end, bias = (self.lambd, self.bias) if element_type.is_float else (whole(self.lambd), whole(self.bias))
        shift, zero = core.splat(abs(bias), input), core.splat(0, input)
        closer, farther = (core.sub, core.add) if bias >= 0 else (core.add, core.sub)
        above = core.select(core.greater(input, core.splat(end, input)), closer(input, shift), zero)
        if element_type.kind == "uint" and end >= 0:
            return above
        return core.select(core.less(input, core.splat(-end, input)), farther(input, shift), above)


class Gelu(UnaryX, name="onnx.Gelu", since="opset20"):
    """Gaussian error linear unit: x times the standard normal cumulative distribution function of x, exact or
    approximated by tanh.
    """

    approximate: str = attribute(attr_types.string, default="none", check=one_of("none", "tanh"))
    T = FLOATS

    def reference(self, X: Value) -> Value:
        exact = self.approximate == "none"
        return core.gelu(X, core.GeluForm.EXACT if exact else core.GeluForm.TANH)


class Softmax(UnaryInput, name="onnx.Softmax", since="opset13"):
    """Softmax: exponentials along an axis divided by their sum."""

    axis: int = attribute(attr_types.integer, default=-1)
    T = FLOATS

    def reference(self, input: Value) -> Value:
        return core.softmax(input, self.axis)


class LogSoftmax(UnaryInput, name="onnx.LogSoftmax", since="opset13"):
    """Log-softmax: the logarithm of the softmax."""

    axis: int = attribute(attr_types.integer, default=-1)
    T = FLOATS

    def reference(self, input: Value) -> Value:
        return core.log_softmax(input, self.axis)


class Hardmax(UnaryInput, name="onnx.Hardmax", since="opset13"):
    """Hardmax: 1 at the first of the largest elements along an axis, and 0 elsewhere."""

    axis: int = attribute(attr_types.integer, default=-1)
    T = FLOATS

    def reference(self, input: Value) -> Value:
        return hardmax(input, self.axis)


def hardmax(x: Value, axis: int) -> Value:
    """1 at the first of the largest elements along an axis, and 0 elsewhere."""
    at = axis_from_start(axis, rank_of(x))
    shape = tuple([n if a == at else 1 for a, n in enumerate(shape_of(x))])
    hot = core.equal(core.arg_max(x, at, True), core.iota(shape, at, i64))
    return core.select(hot, core.splat(1.0, x), core.splat(0.0, x))


def of_matrix(function: Callable[[Value, int], Value], x: Value, axis: int) -> Value:
    """A function of rows, for the tensor seen as a matrix whose rows begin with an axis."""
    shape = shape_of(x)
    at = axis if axis == len(shape) else axis_from_start(axis, len(shape))
    if at == len(shape) - 1:
        return function(x, -1)
    rows = core.reshape(x, (*shape[:at], element_count(shape[at:])))
    return core.reshape(function(rows, -1), shape)


class OfMatrix(UnaryInput):
    """A function of each row of the input flattened to a matrix at `axis`."""

    axis: int = attribute(attr_types.integer, default=1)
    T = FLOATS_1


class Softmax1(OfMatrix, name="onnx.Softmax", since="opset1 opset11"):
    """Exponentials divided by their sum over all axes from `axis` on."""

    def reference(self, input: Value) -> Value:
        return of_matrix(core.softmax, input, self.axis)


class LogSoftmax1(OfMatrix, name="onnx.LogSoftmax", since="opset1 opset11"):
    """The logarithm of the softmax over all axes from `axis` on."""

    def reference(self, input: Value) -> Value:
        return of_matrix(core.log_softmax, input, self.axis)


class Hardmax1(OfMatrix, name="onnx.Hardmax", since="opset1 opset11"):
    """1 at the first of the largest elements over all axes from `axis` on, and 0 elsewhere."""

    def reference(self, input: Value) -> Value:
        return of_matrix(hardmax, input, self.axis)
