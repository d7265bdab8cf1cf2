"""Rules for core normalizations."""

from __future__ import annotations

import math

from commonir.conversions.core_to_onnx.building import constant, filled, vector
from commonir.conversions.operands import axes_from_start, dims_of, element_of, rank_of, shape_of
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import f64
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.LayerNorm)
def layer_norm(op: core.LayerNorm, context: Context, x: Value, scale: Value | None, bias: Value | None) -> Result:
    trailing = _Trailing(context, x, op.axes)
    scale = trailing.scale_or_ones(scale)
    if trailing.first is None or scale is None:
        return Mismatch(f"onnx.LayerNormalization {trailing.needs}")
    return onnx.LayerNormalization(x, scale, bias, axis=trailing.first, epsilon=op.epsilon).Y


@rule(core.RmsNorm)
def rms_norm(op: core.RmsNorm, context: Context, x: Value, scale: Value | None) -> Result:
    trailing = _Trailing(context, x, op.axes)
    scale = trailing.scale_or_ones(scale)
    if trailing.first is None or scale is None:
        return Mismatch(f"onnx.RMSNormalization {trailing.needs}")
    return onnx.RMSNormalization(x, scale, axis=trailing.first, epsilon=op.epsilon).Y


class _Trailing:
    """The axes of a normalization, if they are trailing ones: `first` is the first of them, counted from the end."""

    def __init__(self, context: Context, x: Value, axes: tuple[int, ...]) -> None:
        self.context = context
        self.x = x
        rank = rank_of(x)
        self.axes = axes_from_start(axes, rank)
        is_trailing = bool(self.axes) and self.axes == tuple(range(self.axes[0], rank))
        self.first = self.axes[0] - rank if is_trailing else None

    @property
    def needs(self) -> str:
        """The reason why such an operator cannot be used, for a message."""
        return "normalizes trailing axes, and needs a scale: their sizes are not fixed"

    def scale_or_ones(self, scale: Value | None) -> Value | None:
        """Returns the scale, or ones; None for sizes that are not fixed."""
        if scale is not None or self.first is None:
            return scale
        shape = [d for d in shape_of(self.x)[self.axes[0] :] if isinstance(d, int)]
        if len(shape) < len(self.axes):
            return None
        return constant(self.context, element_of(self.x), tuple(shape), (1.0,) * math.prod(shape))


@rule(core.BatchNorm)
def batch_norm(
    op: core.BatchNorm, context: Context, x: Value, mean: Value, variance: Value, *affine: Value | None
) -> Result:
    filled_in = _affine(context, x, *affine)
    if filled_in is None:
        return _needs_channels(onnx.BatchNormalization)
    return onnx.BatchNormalization(x, *filled_in, mean, variance, epsilon=op.epsilon).Y


@rule(core.InstanceNorm)
def instance_norm(op: core.InstanceNorm, context: Context, x: Value, *affine: Value | None) -> Result:
    filled_in = _affine(context, x, *affine)
    if filled_in is None:
        return _needs_channels(onnx.InstanceNormalization)
    return onnx.InstanceNormalization(x, *filled_in, epsilon=op.epsilon).output


@rule(core.GroupNorm)
def group_norm(op: core.GroupNorm, context: Context, x: Value, *affine: Value | None) -> Result:
    filled_in = _affine(context, x, *affine)
    if filled_in is None:
        return _needs_channels(onnx.GroupNormalization)
    return onnx.GroupNormalization(x, *filled_in, num_groups=op.groups, epsilon=op.epsilon).Y


def _affine(context: Context, x: Value, scale: Value | None, bias: Value | None) -> tuple[Value, Value] | None:
    """Returns scale and bias of each channel, neutral ones if absent; None if these are of an unknown number."""
    count = shape_of(x)[1]
    if not isinstance(count, int) and (scale is None or bias is None):
        return None
    known = count if isinstance(count, int) else 0
    return scale or filled(context, 1.0, x, known), bias or filled(context, 0.0, x, known)


def _needs_channels(operator: type[onnx.OnnxOp]) -> Mismatch:
    return Mismatch(f"{operator.name} needs scale and bias, and the number of channels is not fixed")


# The axes of batches and heads, and those of matrices.
_ATTENTION_RANK = 4


@rule(core.Attention)
def attention(
    op: core.Attention, context: Context, query: Value, key: Value, value: Value, mask: Value | None
) -> Result:
    # Of rank 3, heads are part of the last axis, and here there is one.
    heads = 1 if rank_of(query) == _ATTENTION_RANK - 1 else None
    if heads is None and rank_of(query) != _ATTENTION_RANK:
        return Mismatch("onnx.Attention has an axis of batches and one of heads")
    if mask is not None and not op.masked_is_zero:
        return Mismatch("onnx.Attention gives 0 for a query whose keys are all masked")
    if mask is not None and (rank_of(mask) < 2 or shape_of(mask)[-1] != shape_of(key)[-2]):
        return Mismatch("a mask of onnx.Attention has an element for each key")
    rows = shape_of(query)[-2]
    if mask is not None and shape_of(mask)[-2] != rows:
        # onnxruntime takes only masks with all rows.
        ones = (1,) * (rank_of(mask) - 2)
        mask = onnx.Expand(mask, vector(context, (*ones, dims_of(query)[-2], 1))).output
    if mask is not None and heads is not None and rank_of(mask) == _ATTENTION_RANK - 1:
        mask = onnx.Unsqueeze(mask, vector(context, (1,))).expanded
    few = [_before_repeating(v, context) for v in (op.key, op.value)]
    if few[0] is not None and few[1] is not None and shape_of(few[0])[1] == shape_of(few[1])[1]:
        key, value = few[0], few[1]
    return onnx.Attention(query, key, value, mask, scale=op.scale, q_num_heads=heads, kv_num_heads=heads).Y


def _before_repeating(value: Value, context: Context) -> Value | None:
    """Returns the converted value whose heads, one after another, are repeated to a value; None if they are not."""
    match value.owner:
        case core.Reshape(x=Value(owner=core.BroadcastTo(x=Value(owner=core.Unsqueeze(x=few, axes=(2,)))) as wide)):
            batches, heads, *matrix = dims_of(few)
            times = dims_of(wide.y)[2] if len(matrix) == 2 else 0
            is_repeated = dims_of(wide.y) == (batches, heads, times, *matrix)
            fits = is_repeated and dims_of(value) == (batches, heads * times, *matrix)
            return context.converted.get(few) if fits else None
        case _:
            return None


@rule(core.RotaryEmbedding)
def rotary_embedding(op: core.RotaryEmbedding, context: Context, x: Value, cos: Value, sin: Value) -> Result:
    size, pairs = shape_of(x)[-1], shape_of(cos)[-1]
    if element_of(x) is f64 or not isinstance(pairs, int):
        return Mismatch("onnx.RotaryEmbedding has a fixed number of pairs, and no double precision")
    count = 0 if size == pairs * 2 else pairs * 2
    return onnx.RotaryEmbedding(x, cos, sin, rotary_embedding_dim=count, interleaved=op.interleaved).Y
