"""Activations of the mil dialect.

Until iOS 16 parameters have the element type of x. From iOS 17 they may be of either floating-point type; they are
converted to the type of x.
Source: MIL operation reference, activation.
"""

from __future__ import annotations

from enum import Enum

from commonir.dialects import core
from commonir.dialects.mil.base import MilOp
from commonir.dialects.mil.elementwise import Unary
from commonir.dialects.mil.operands import (
    FLOATS,
    OWN_FLOATS,
    STRING,
    OverSpatialAxes,
    converted,
    element_of,
    is_axis,
    rank_of,
)
from commonir.ir.operation import Value
from commonir.ods import attr_types, constraint, known_data, operand, parameter, result, traits
from commonir.ods.operand_shapes import ranked_shape


class Alpha(Unary):
    """A function of each element with a parameter."""

    alpha: float = parameter(attr_types.number, spec="U[]")
    U = OWN_FLOATS


class AlphaBeta(Alpha):
    """A function of each element with two parameters."""

    beta: float = parameter(attr_types.number, spec="U[]")


class ClampedRelu(AlphaBeta, name="mil.clamped_relu"):
    """Clamped ReLU: min(x, beta) where x is not negative, elsewhere min(alpha * x, beta).

    Source: MIL operation reference, clamped_relu (iOS 15). coremltools 9 folds it wrongly when beta is negative.
    """

    def reference(self, x: Value) -> Value:
        return core.minimum(core.leaky_relu(x, self.alpha), core.splat(self.beta, like=x))


class Elu(Alpha, name="mil.elu"):
    """Exponential linear unit (ELU): the element where it is positive, elsewhere alpha * (exp(x) - 1)."""

    def reference(self, x: Value) -> Value:
        return core.elu(x, self.alpha)


class GeluMode(Enum):
    """Evaluations of the Gaussian cumulative distribution."""

    EXACT = "EXACT"
    TANH_APPROXIMATION = "TANH_APPROXIMATION"
    SIGMOID_APPROXIMATION = "SIGMOID_APPROXIMATION"


_GELU_FORMS = {
    GeluMode.EXACT: core.GeluForm.EXACT,
    GeluMode.TANH_APPROXIMATION: core.GeluForm.TANH,
    GeluMode.SIGMOID_APPROXIMATION: core.GeluForm.SIGMOID,
}


class Gelu(Unary, name="mil.gelu"):
    """Gaussian error linear unit: x times the standard normal cumulative distribution function of x.

    EXACT uses erf; TANH_APPROXIMATION is 0.5x (1 + tanh(sqrt(2/pi) (x + 0.044715x^3))); SIGMOID_APPROXIMATION is
    x sigmoid(1.702x).
    """

    mode: GeluMode = parameter(attr_types.enumeration(GeluMode), spec=STRING, default=GeluMode.EXACT)

    def reference(self, x: Value) -> Value:
        return core.gelu(x, _GELU_FORMS[self.mode])


class LeakyRelu(Alpha, name="mil.leaky_relu"):
    """Leaky ReLU: the element where it is not negative, elsewhere alpha * x."""

    def reference(self, x: Value) -> Value:
        return core.leaky_relu(x, self.alpha)


class LinearActivation(AlphaBeta, name="mil.linear_activation"):
    """Linear function of each element: alpha * x + beta."""

    def reference(self, x: Value) -> Value:
        return core.add(core.mul(x, core.splat(self.alpha, like=x)), core.splat(self.beta, like=x))


class Prelu(OverSpatialAxes, name="mil.prelu", traits=(traits.Pure,)):
    """Parametric ReLU: the element where it is not negative, elsewhere alpha * x, with an alpha for each channel (axis
    1).
    """

    alpha: Value = operand("U[c]", constant=True)
    output: Value = result("T[n, c, s*]")
    T = FLOATS
    U = OWN_FLOATS

    def _is_uniform(self) -> bool:
        data = known_data(self.alpha)
        slopes = [float(v) for v in data.values()] if data is not None else []
        return not slopes or max(slopes) - min(slopes) <= 1e-5

    def trace_key(self) -> object:
        return rank_of(self.x) == 4 or self._is_uniform()

    @constraint("C2")
    def _fits_rank(self) -> bool:
        """for rank 3 and 5, all alpha are equal, within 0.00001."""
        return rank_of(self.x) == 4 or self._is_uniform()

    def reference(self, x: Value, alpha: Value) -> Value:
        return core.prelu(x, converted(alpha, element_of(x)))


class Relu(Unary, name="mil.relu"):
    """Rectified linear unit (ReLU): the element, or zero where it is negative."""

    def reference(self, x: Value) -> Value:
        return core.relu(x)


class Relu6(Unary, name="mil.relu6"):
    """ReLU6: the element limited to [0, 6]."""

    def reference(self, x: Value) -> Value:
        return core.clip(x, 0.0, 6.0)


class ScaledTanh(AlphaBeta, name="mil.scaled_tanh"):
    """Scaled hyperbolic tangent: alpha * tanh(beta * x)."""

    def reference(self, x: Value) -> Value:
        return core.mul(core.tanh(core.mul(x, core.splat(self.beta, like=x))), core.splat(self.alpha, like=x))


class Sigmoid(Unary, name="mil.sigmoid"):
    """Logistic sigmoid: 1 / (1 + exp(-x))."""

    fn = core.sigmoid


class SigmoidHard(AlphaBeta, name="mil.sigmoid_hard"):
    """Hard sigmoid: alpha * x + beta, limited to [0, 1].

    Source: MIL operation reference, sigmoid_hard (iOS 15). Its documentation names defaults, but there are none.
    """

    def reference(self, x: Value) -> Value:
        return core.hard_sigmoid(x, self.alpha, self.beta)


class Silu(Unary, name="mil.silu"):
    """Sigmoid linear unit (SiLU): x times its sigmoid."""

    fn = core.silu


class Softmax(MilOp, name="mil.softmax", traits=(traits.Pure,)):
    """Softmax: exponentials along an axis divided by their sum; a row of minus infinities gives NaN."""

    x: Value = operand("T[s*]")
    axis: int = parameter(attr_types.integer, spec="i32[]", default=-1)
    output: Value = result("T[s*]")
    T = FLOATS

    @constraint("C1")
    def _is_axis_of_x(self) -> bool:
        """axis is one of the axes of x."""
        return is_axis(self.axis, rank_of(self.x))

    def reference(self, x: Value) -> Value:
        return core.softmax(x, self.axis)


class Softplus(Unary, name="mil.softplus"):
    """Softplus: log(1 + exp(x)), in a form that does not overflow."""

    fn = core.softplus


class SoftplusParametric(MilOp, name="mil.softplus_parametric", traits=(traits.Pure,)):
    """Parametric softplus: alpha * log(1 + exp(beta * x)), with an alpha and a beta for each channel (axis 1).

    Source: MIL operation reference, softplus_parametric (iOS 15). coremltools 9 folds it in a form that overflows.
    """

    x: Value = operand("T[n, c, s*]")
    alpha: Value = operand("U[c]", constant=True)
    beta: Value = operand("U[c]", constant=True)
    output: Value = result("T[n, c, s*]")
    T = FLOATS
    U = OWN_FLOATS

    @constraint("C1")
    def _has_spatial_axes(self) -> bool:
        """x has rank 3 or more."""
        return rank_of(self.x) >= 3

    def reference(self, x: Value, alpha: Value, beta: Value) -> Value:
        inner = core.mul(x, per_channel(beta, x))
        return core.mul(core.softplus(inner), per_channel(alpha, x))


class Softsign(Unary, name="mil.softsign"):
    """Softsign: x / (1 + |x|)."""

    fn = core.softsign


class ThresholdedRelu(Alpha, name="mil.thresholded_relu"):
    """Thresholded ReLU: the element where it is at least alpha, elsewhere zero."""

    def reference(self, x: Value) -> Value:
        return core.select(core.greater_equal(x, core.splat(self.alpha, like=x)), x, core.splat(0.0, like=x))


def per_channel(values: Value, x: Value) -> Value:
    """A vector in the element type of x, shaped to be broadcast along axis 1 of it."""
    spatial = (1,) * (rank_of(x) - 2)
    (count,) = ranked_shape(values)
    return core.reshape(converted(values, element_of(x)), (-1 if count is None else count, *spatial))
