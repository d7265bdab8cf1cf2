"""Normalizations of the mil dialect. Variances are biased: divided by the number of elements.

From iOS 17 scales, offsets and epsilon may be of either floating-point type; they are converted to the type of x.
Source: MIL operation reference, normalization.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mil.base import MilOp
from commonir.dialects.mil.operands import (
    FLOATS,
    OWN_FLOATS,
    Condition,
    OverAxes,
    OverSpatialAxes,
    all_hold,
    are_axes,
    converted,
    element_of,
    every_axis,
    rank_of,
    same_sizes,
)
from commonir.ir.operation import Value
from commonir.ods import attr_types, constraint, operand, parameter, positive, result, traits
from commonir.ods.operand_shapes import known_dims_of, ranked_shape


def _converted(values: Value | None, x: Value) -> Value | None:
    return None if values is None else converted(values, element_of(x))


class BatchNorm(OverSpatialAxes, name="mil.batch_norm", traits=(traits.Pure,)):
    """Batch normalization: (x - mean) / sqrt(variance + epsilon) * gamma + beta for each channel (axis 1)."""

    mean: Value = operand("U[c]", constant=True)
    variance: Value = operand("U[c]", constant=True)
    gamma: Value | None = operand("U[c]", default=None, constant=True)
    beta: Value | None = operand("U[c]", default=None, constant=True)
    epsilon: float = parameter(attr_types.number, spec="U[]", default=1e-5)
    output: Value = result("T[n, c, s*]")
    T = FLOATS
    U = OWN_FLOATS

    def reference(self, x: Value, mean: Value, variance: Value, gamma: Value | None, beta: Value | None) -> Value:
        element = element_of(x)
        centre, spread = converted(mean, element), converted(variance, element)
        return core.batch_norm(x, centre, spread, _converted(gamma, x), _converted(beta, x), self.epsilon)


class InstanceNorm(MilOp, name="mil.instance_norm", traits=(traits.Pure,)):
    """Instance normalization: each channel (axis 1) of each sample normalized over its spatial axes, then scaled and
    shifted.
    """

    x: Value = operand("T[n, c, s*]")
    gamma: Value | None = operand("U[c]", default=None, constant=True)
    beta: Value | None = operand("U[c]", default=None, constant=True)
    epsilon: float = parameter(attr_types.number, spec="U[]", default=1e-5)
    output: Value = result("T[n, c, s*]")
    T = FLOATS
    U = OWN_FLOATS

    @constraint("C1")
    def _has_spatial_axes(self) -> bool:
        """x has rank 3 or 4."""
        return rank_of(self.x) in (3, 4)

    def reference(self, x: Value, gamma: Value | None, beta: Value | None) -> Value:
        return core.instance_norm(x, _converted(gamma, x), _converted(beta, x), self.epsilon)


class L2Norm(MilOp, name="mil.l2_norm", traits=(traits.Pure,)):
    """L2 normalization: x / sqrt(sum of x^2 + epsilon), over the last three axes."""

    x: Value = operand("T[s*]")
    epsilon: float = parameter(attr_types.number, spec="U[]", default=1e-6)
    output: Value = result("T[s*]")
    T = FLOATS
    U = OWN_FLOATS

    @constraint("C1")
    def _has_three_axes(self) -> bool:
        """x has rank 3 or more."""
        return rank_of(self.x) >= 3

    def reference(self, x: Value) -> Value:
        return core.l2_norm(x, (-3, -2, -1), self.epsilon)


class LayerNorm(OverAxes, name="mil.layer_norm", traits=(traits.Pure,)):
    """Layer normalization: the tensor normalized to mean 0 and variance 1 over axes (default: all), then scaled and
    shifted.

    Source: MIL operation reference, layer_norm (iOS 15). coremltools 9 does not check beta.
    """

    x: Value = operand("T[s*]")
    axes: tuple[int, ...] | None = parameter(attr_types.integers, spec="i32[*]", default=None)
    gamma: Value | None = operand("U[*]", default=None, constant=True)
    beta: Value | None = operand("U[*]", default=None, constant=True)
    epsilon: float = parameter(attr_types.number, spec="U[]", default=1e-5)
    output: Value = result("T[s*]")
    T = FLOATS
    U = OWN_FLOATS

    @constraint("C2")
    def _fit_axes(self) -> Condition:
        """gamma and beta have the sizes of x along axes, in ascending order of axes."""
        rank = rank_of(self.x)
        if self.axes is not None and not are_axes(self.axes, rank):
            return True  # C1
        expected = [ranked_shape(self.x)[a] for a in every_axis(self.axes, rank)]
        arguments = [(name, v) for name, v in (("gamma", self.gamma), ("beta", self.beta)) if v is not None]
        return all_hold([same_sizes(ranked_shape(v), expected, name) for name, v in arguments])

    def reference(self, x: Value, gamma: Value | None, beta: Value | None) -> Value:
        axes = every_axis(self.axes, rank_of(x))
        return core.layer_norm(x, _converted(gamma, x), _converted(beta, x), axes, self.epsilon)


class LocalResponseNorm(MilOp, name="mil.local_response_norm", traits=(traits.Pure,)):
    """Local response normalization: x / (k + alpha / size * sum of x^2)^beta, summed over a window of size channels
    (axis 1).

    The window reaches size div 2 channels back and (size - 1) div 2 ahead.

    Source: MIL operation reference, local_response_norm (iOS 15); the window of even sizes as in PyTorch.
    """

    x: Value = operand("T[n, c, s*]")
    size: int = parameter(attr_types.integer, spec="i32[]", check=positive)
    alpha: float = parameter(attr_types.number, spec="U[]", default=1e-4)
    beta: float = parameter(attr_types.number, spec="U[]", default=0.75)
    k: float = parameter(attr_types.number, spec="U[]", default=1.0)
    output: Value = result("T[n, c, s*]")
    T = FLOATS
    U = OWN_FLOATS

    def reference(self, x: Value) -> Value:
        shape = known_dims_of(x)
        # Channels become the first of two spatial axes, all others the second.
        squares = core.reshape(core.mul(x, x), (shape[0], 1, shape[1], -1))
        window = (self.size // 2, (self.size - 1) // 2)
        summed = core.reshape(core.sum_pool(squares, (self.size, 1), (), (), (window, (0, 0))), shape)
        scaled = core.mul(summed, core.splat(self.alpha / self.size, like=x))
        return core.div(x, core.pow(core.add(scaled, core.splat(self.k, like=x)), core.splat(self.beta, like=x)))
