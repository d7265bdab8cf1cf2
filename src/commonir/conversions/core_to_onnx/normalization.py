"""Rules for core normalizations."""

from __future__ import annotations

import math

from commonir.conversions.core_to_onnx.building import constant, filled
from commonir.conversions.operands import axes_from_start, element_of, rank_of, shape_of
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.LayerNorm)
def layer_norm(op: core.LayerNorm, context: Context, x: Value, scale: Value | None, bias: Value | None) -> Result:
    rank = rank_of(x)
    axes = axes_from_start(op.axes, rank)
    if not axes or axes != tuple(range(axes[0], rank)):
        return Mismatch("onnx.LayerNormalization normalizes trailing axes only")
    if scale is None:
        shape = [d for d in shape_of(x)[axes[0] :] if isinstance(d, int)]
        if len(shape) != len(axes):
            return Mismatch("onnx.LayerNormalization needs a scale, and the normalized sizes are not fixed")
        scale = constant(context, element_of(x), tuple(shape), (1.0,) * math.prod(shape))
    return onnx.LayerNormalization(x, scale, bias, axis=axes[0] - rank, epsilon=op.epsilon).Y


@rule(core.BatchNorm)
def batch_norm(
    op: core.BatchNorm, context: Context, x: Value, mean: Value, variance: Value, *affine: Value | None
) -> Result:
    scale, bias = affine
    filler = _Filler(context, x)
    if not filler.suffices(scale, bias):
        return Mismatch("onnx.BatchNormalization needs scale and bias, and the number of channels is not fixed")
    return onnx.BatchNormalization(
        x, filler.or_neutral(scale, 1.0), filler.or_neutral(bias, 0.0), mean, variance, epsilon=op.epsilon
    ).Y


@rule(core.InstanceNorm)
def instance_norm(op: core.InstanceNorm, context: Context, x: Value, scale: Value | None, bias: Value | None) -> Result:
    filler = _Filler(context, x)
    if not filler.suffices(scale, bias):
        return Mismatch("onnx.InstanceNormalization needs scale and bias, and the number of channels is not fixed")
    return onnx.InstanceNormalization(
        x, filler.or_neutral(scale, 1.0), filler.or_neutral(bias, 0.0), epsilon=op.epsilon
    ).output


class _Filler:
    """Neutral values for absent operands, one for each channel."""

    def __init__(self, context: Context, x: Value) -> None:
        self.context = context
        self.x = x
        dim = shape_of(x)[1]
        self.count = dim if isinstance(dim, int) else None

    def suffices(self, *operands: Value | None) -> bool:
        """Whether what is absent can be filled in."""
        return self.count is not None or all(v is not None for v in operands)

    def or_neutral(self, operand: Value | None, neutral: float) -> Value:
        """The operand, or as many neutral values as there are channels."""
        return filled(self.context, neutral, self.x, self.count or 0) if operand is None else operand
