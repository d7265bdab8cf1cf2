"""Core activations: composites of elementwise operations and reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum

from commonir.dialects.core.base import FLOATS, REALS, SIGNED, CoreOp, axis_of, function, rank_of, tensor_type
from commonir.dialects.core.constants import splat
from commonir.dialects.core.elementwise import (
    abs,
    add,
    div,
    erf,
    exp,
    greater,
    greater_equal,
    log,
    maximum,
    minimum,
    mul,
    narrowed,
    neg,
    select,
    sqrt,
    sub,
    tanh,
    widened,
)
from commonir.dialects.core.reduction import reduce_max, reduce_sum
from commonir.dialects.core.shape import reshape
from commonir.ir.operation import Value
from commonir.ir.types import ElementType
from commonir.notation import limits
from commonir.ods import attr_types, attribute, constraint, operand, result, traits


class Activation(CoreOp, traits=(traits.Pure, traits.Elementwise)):
    """A function of each element."""

    x: Value = operand("T[s*]")
    y: Value = result("T[s*]")
    T = FLOATS


class Rsqrt(Activation, name="core.rsqrt"):
    """Reciprocal square root of each element."""

    def reference(self, x: Value) -> Value:
        return div(splat(1.0, x), sqrt(x))


class Reciprocal(Activation, name="core.reciprocal"):
    """Reciprocal of each element."""

    def reference(self, x: Value) -> Value:
        return div(splat(1.0, x), x)


class Clip(CoreOp, name="core.clip", traits=(traits.Pure, traits.Elementwise)):
    """Clamps each element to a range; NaN stays NaN, and the upper bound wins if it is below the lower one.

    An infinite bound has no effect. For integers, bounds are rounded toward the inside of the range. C1: no bound is
    NaN.
    """

    x: Value = operand("T[s*]")
    low: float = attribute(attr_types.number)
    high: float = attribute(attr_types.number)
    y: Value = result("T[s*]")
    T = REALS

    @constraint("C1")
    def bounds_are_numbers(self) -> object:
        """No bound is NaN."""
        return not math.isnan(self.low) and not math.isnan(self.high)

    def reference(self, x: Value) -> Value:
        element = tensor_type(x).element
        y = x
        if self.low > -math.inf:
            y = maximum(y, splat(_bound(math.ceil, self.low, element), x))
        if self.high < math.inf:
            y = minimum(y, splat(_bound(math.floor, self.high, element), x))
        return y


def _bound(to_integer: Callable[[float], int], bound: float, element: ElementType) -> float:
    """A bound as a value of the element type, which for integers is the nearest one inside the range."""
    if not element.is_integer:
        return bound
    low, high = limits(element)
    return high if bound > high else low if bound < low else to_integer(bound)


class Relu(CoreOp, name="core.relu", traits=(traits.Pure, traits.Elementwise)):
    """Rectified linear unit (ReLU): the element, or zero where it is negative."""

    x: Value = operand("T[s*]")
    y: Value = result("T[s*]")
    T = SIGNED

    def reference(self, x: Value) -> Value:
        return maximum(x, splat(0, x))


class LeakyRelu(Activation, name="core.leaky_relu"):
    """Leaky ReLU: the element, or alpha times it where it is negative."""

    alpha: float = attribute(attr_types.number, default=0.01)

    def reference(self, x: Value) -> Value:
        return select(greater_equal(x, splat(0.0, x)), x, mul(x, splat(self.alpha, x)))


class Elu(Activation, name="core.elu"):
    """Exponential linear unit (ELU): the element where it is positive, elsewhere alpha * (exp(x) - 1)."""

    alpha: float = attribute(attr_types.number, default=1.0)

    def reference(self, x: Value) -> Value:
        zero, one = splat(0.0, x), splat(1.0, x)
        bent = mul(sub(exp(minimum(x, zero)), one), splat(self.alpha, x))
        return select(greater(x, zero), x, bent)


class Prelu(CoreOp, name="core.prelu", traits=(traits.Pure,)):
    """Parametric ReLU: the element, or slope times it where it is negative; one slope for each channel (axis 1)."""

    x: Value = operand("T[n, c, s*]")
    slope: Value = operand("T[c]")
    y: Value = result("T[n, c, s*]")
    T = FLOATS

    def reference(self, x: Value, slope: Value) -> Value:
        wide = per_channel(slope, x)
        return select(greater_equal(x, splat(0.0, x)), x, mul(x, wide))


def per_channel(values: Value, like: Value) -> Value:
    """A vector shaped to be broadcast along axis 1 of another value."""
    spatial = (1,) * (rank_of(like) - 2)
    (size,) = tensor_type(values).shape or (None,)
    return reshape(values, (-1 if size is None else size, *spatial))


class Sigmoid(Activation, name="core.sigmoid"):
    """Logistic sigmoid: 1 / (1 + exp(-x)), which is 0 where exp(-x) overflows; of half precision, rounded once."""

    def reference(self, x: Value) -> Value:
        wide = widened(x)
        one = splat(1.0, wide)
        return narrowed(div(one, add(one, exp(neg(wide)))), x)


class HardSigmoid(Activation, name="core.hard_sigmoid"):
    """Hard sigmoid: alpha * x + beta, limited to [0, 1]."""

    alpha: float = attribute(attr_types.number, default=0.2)
    beta: float = attribute(attr_types.number, default=0.5)

    def reference(self, x: Value) -> Value:
        line = add(mul(x, splat(self.alpha, x)), splat(self.beta, x))
        return clip(line, 0.0, 1.0)


class HardSwish(Activation, name="core.hard_swish"):
    """Hard swish: x times the hard sigmoid of slope 1/6."""

    def reference(self, x: Value) -> Value:
        return mul(x, hard_sigmoid(x, 1 / 6, 0.5))


class Silu(Activation, name="core.silu"):
    """Sigmoid linear unit (SiLU): x times its sigmoid."""

    def reference(self, x: Value) -> Value:
        return mul(x, sigmoid(x))


class Softplus(Activation, name="core.softplus"):
    """Softplus: log(1 + exp(x)), in a form that does not overflow; its absolute error is that of a number near 1."""

    def reference(self, x: Value) -> Value:
        bend = log(add(splat(1.0, x), exp(neg(abs(x)))))
        return add(maximum(x, splat(0.0, x)), bend)


class Mish(Activation, name="core.mish"):
    """Mish: x times the hyperbolic tangent of its softplus."""

    def reference(self, x: Value) -> Value:
        return mul(x, tanh(softplus(x)))


class Softsign(Activation, name="core.softsign"):
    """Softsign: x / (1 + |x|)."""

    def reference(self, x: Value) -> Value:
        return div(x, add(splat(1.0, x), abs(x)))


class GeluForm(Enum):
    """Evaluations of the Gaussian cumulative distribution."""

    EXACT = "exact"
    TANH = "tanh"
    SIGMOID = "sigmoid"


class Gelu(Activation, name="core.gelu"):
    """Gaussian error linear unit: x times the standard normal cumulative distribution function of x.

    EXACT: x (1 + erf(x / sqrt 2)) / 2. TANH: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. SIGMOID: x
    sigmoid(1.702 x).
    """

    approximation: GeluForm = attribute(attr_types.enumeration(GeluForm), default=GeluForm.EXACT)

    def reference(self, x: Value) -> Value:
        half, one = splat(0.5, x), splat(1.0, x)
        match self.approximation:
            case GeluForm.EXACT:
                weight = mul(half, add(one, erf(mul(x, splat(math.sqrt(0.5), x)))))
            case GeluForm.TANH:
                cube = mul(mul(x, x), x)
                inner = mul(add(x, mul(cube, splat(0.044715, x))), splat(math.sqrt(2 / math.pi), x))
                weight = mul(half, add(one, tanh(inner)))
            case GeluForm.SIGMOID:
                weight = sigmoid(mul(x, splat(1.702, x)))
        return mul(x, weight)


class Softmax(CoreOp, name="core.softmax", traits=(traits.Pure,)):
    """Softmax: exponentials along an axis divided by their sum; of half precision, rounded once.

    A row of minus infinities gives NaN, as does one with an infinity or a NaN.
    """

    x: Value = operand("T[s*]")
    axis: int = attribute(attr_types.integer, default=-1)
    y: Value = result("T[s*]")
    T = FLOATS

    def reference(self, x: Value) -> Value:
        axis, wide = (axis_of(self.axis, rank_of(x)),), widened(x)
        powers = exp(sub(wide, reduce_max(wide, axis, True)))
        return narrowed(div(powers, reduce_sum(powers, axis, True)), x)


class LogSoftmax(CoreOp, name="core.log_softmax", traits=(traits.Pure,)):
    """Log-softmax: the logarithm of the softmax, in a form that does not underflow; of half precision, rounded once."""

    x: Value = operand("T[s*]")
    axis: int = attribute(attr_types.integer, default=-1)
    y: Value = result("T[s*]")
    T = FLOATS

    def reference(self, x: Value) -> Value:
        axis, wide = (axis_of(self.axis, rank_of(x)),), widened(x)
        shifted = sub(wide, reduce_max(wide, axis, True))
        return narrowed(sub(shifted, log(reduce_sum(exp(shifted), axis, True))), x)


rsqrt = function(Rsqrt)
reciprocal = function(Reciprocal)
clip = function(Clip)
relu = function(Relu)
leaky_relu = function(LeakyRelu)
elu = function(Elu)
prelu = function(Prelu)
sigmoid = function(Sigmoid)
hard_sigmoid = function(HardSigmoid)
hard_swish = function(HardSwish)
silu = function(Silu)
softplus = function(Softplus)
mish = function(Mish)
softsign = function(Softsign)
gelu = function(Gelu)
softmax = function(Softmax)
log_softmax = function(LogSoftmax)
