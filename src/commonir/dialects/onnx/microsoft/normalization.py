"""Normalizations of com.microsoft, some fused with an addition; and those that onnxruntime adds to the default domain.

Halves are computed in single precision and rounded once. Source: onnxruntime, contrib operator reference, version 1.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS, OnnxOp, element_of, rank_of, shape_of, sizes_of_rank, trailing_axes
from commonir.dialects.onnx.microsoft.quantized import HALF_OR_SINGLE, SINGLE
from commonir.dialects.onnx.quantization import HALF_AND_SINGLE, WHOLE
from commonir.ir.operation import Value
from commonir.ir.types import f32, f64, i32, i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, element_type, operand, result


def _inverse_root(x: Value, epsilon: float) -> Value:
    """1 / sqrt(x + epsilon)."""
    return core.rsqrt(core.add(x, core.splat(epsilon, x)))


def _covers(values: Value | None, x: Value, axes: tuple[int, ...]) -> bool:
    """Returns whether parameters have the type of x and just its normalized sizes, or there are none."""
    sizes = tuple([shape_of(x)[a] for a in axes])
    return values is None or (element_of(values) is element_of(x) and shape_of(values) == sizes)


class LayerNormalization(OnnxOp, name="onnx.onnxruntime.LayerNormalization", since="onnxruntime1"):
    """Layer normalization: the tensor normalized to mean 0 and variance 1 over its trailing axes, then scaled and
    shifted.

    onnxruntime registers it in the default domain for opsets before 17, in which ONNX adds it.
    """

    ignores_unknown_attributes = True
    removed_in = "opset17"

    X: Value = operand("T")
    Scale: Value = operand("V")
    B: Value | None = operand("V", default=None)
    axis: int = attribute(attr_types.integer, default=-1)
    epsilon: float = attribute(attr_types.number, default=1e-05)
    stash_type: int = attribute(attr_types.integer, default=1)
    Y: Value = result("V")
    Mean: Value | None = result("U", optional=True)
    InvStdDev: Value | None = result("U", optional=True)
    T = FLOATS
    U = element_type(f32, f64)
    V = FLOATS

    def reference(self, X: Value, Scale: Value, B: Value | None) -> tuple[Value, ...]:
        axes = trailing_axes(X, self.axis)
        wide = core.widened(X)
        mean = core.reduce_mean(wide, axes, True)
        centred = core.sub(wide, mean)
        variance = core.reduce_mean(core.mul(centred, centred), axes, True)
        if _covers(Scale, X, axes) and _covers(B, X, axes):
            y = core.layer_norm(X, Scale, B, axes, self.epsilon)
        else:
            normal = core.cast(core.layer_norm(X, None, None, axes, self.epsilon), element_of(Scale))
            y = core.mul(normal, Scale)
            y = y if B is None else core.add(y, B)
        return y, mean, _inverse_root(variance, self.epsilon)


class SimplifiedLayerNormalization(OnnxOp, name="onnx.onnxruntime.SimplifiedLayerNormalization", since="onnxruntime1"):
    """RMS normalization: the tensor divided by its root mean square over its trailing axes, then scaled.

    onnxruntime registers it in the default domain; the operator of ONNX is RMSNormalization.
    """

    ignores_unknown_attributes = True

    X: Value = operand("T")
    scale: Value = operand("V")
    axis: int = attribute(attr_types.integer, default=-1)
    epsilon: float = attribute(attr_types.number, default=1e-05)
    stash_type: int = attribute(attr_types.integer, default=1)
    Y: Value = result("V")
    inv_std_var: Value | None = result("U", optional=True)
    T = FLOATS
    U = element_type(f32, f64)
    V = FLOATS

    def reference(self, X: Value, scale: Value) -> tuple[Value, ...]:
        axes = trailing_axes(X, self.axis)
        wide = core.widened(X)
        mean = core.reduce_mean(core.mul(wide, wide), axes, True)
        if _covers(scale, X, axes):
            y = core.rms_norm(X, scale, axes, self.epsilon)
        else:
            y = core.mul(core.cast(core.rms_norm(X, None, axes, self.epsilon), element_of(scale)), scale)
        return y, _inverse_root(mean, self.epsilon)


class SkipNormalization(OnnxOp):
    """The sum of two tensors and a bias, normalized over the last axis."""

    input: Value = operand("T")
    skip: Value = operand("T")
    gamma: Value = operand("T")
    epsilon: float = attribute(attr_types.number, default=1e-12)
    output: Value = result("T")
    mean: Value | None = result("U", optional=True)
    inv_std_var: Value | None = result("U", optional=True)
    input_skip_bias_sum: Value | None = result("T", optional=True)
    T = HALF_AND_SINGLE
    U = SINGLE


def _summed(input: Value, skip: Value, bias: Value | None) -> Value:
    both = core.add(input, skip)
    return both if bias is None else core.add(both, bias)


class SkipLayerNormalization(SkipNormalization, name="onnx.microsoft.SkipLayerNormalization", since="microsoft1"):
    """Layer normalization of a sum: the sum of two tensors and a bias normalized to mean 0 and variance 1 over the last
    axis, then scaled and shifted.
    """

    beta: Value | None = operand("T", default=None)
    bias: Value | None = operand("T", default=None)

    def reference(
        self, input: Value, skip: Value, gamma: Value, beta: Value | None, bias: Value | None
    ) -> tuple[Value, ...]:
        x = _summed(input, skip, bias)
        wide = core.cast(x, f32)
        mean = core.reduce_mean(wide, (-1,), True)
        centred = core.sub(wide, mean)
        variance = core.reduce_mean(core.mul(centred, centred), (-1,), True)
        y = core.layer_norm(x, gamma, beta, (rank_of(x) - 1,), self.epsilon)
        return y, mean, _inverse_root(variance, self.epsilon), x


class SkipSimplifiedLayerNormalization(
    SkipNormalization, name="onnx.microsoft.SkipSimplifiedLayerNormalization", since="microsoft1"
):
    """RMS normalization of a sum: the sum of two tensors and a bias divided by its root mean square over the last axis,
    then scaled.
    """

    bias: Value | None = operand("T", default=None)

    def reference(self, input: Value, skip: Value, gamma: Value, bias: Value | None) -> tuple[Value, ...]:
        x = _summed(input, skip, bias)
        wide = core.cast(x, f32)
        square = core.reduce_mean(core.mul(wide, wide), (-1,), True)
        y = core.rms_norm(x, gamma, (rank_of(x) - 1,), self.epsilon)
        return y, core.reduce_mean(wide, (-1,), True), _inverse_root(square, self.epsilon), x


class EmbedLayerNormalization(OnnxOp, name="onnx.microsoft.EmbedLayerNormalization", since="microsoft1"):
    """Layer normalization of the sum of word, position and segment embeddings; also returns the number of unmasked
    words of each sequence, and the sum.
    """

    input_ids: Value = operand("T1")
    segment_ids: Value | None = operand("T1", optional=True)
    word_embedding: Value = operand("T")
    position_embedding: Value = operand("T")
    segment_embedding: Value | None = operand("T", optional=True)
    gamma: Value = operand("T")
    beta: Value = operand("T")
    mask: Value | None = operand("T1", default=None)
    position_ids: Value | None = operand("T1", default=None)
    epsilon: float = attribute(attr_types.number, default=1e-12)
    mask_index_type: int | None = attribute(attr_types.integer, default=None)
    output: Value = result("T")
    mask_index: Value | None = result("T1", optional=True)
    embedding_sum: Value | None = result("T", optional=True)
    T1 = WHOLE
    T = HALF_OR_SINGLE

    def reference(
        self,
        input_ids: Value,
        segment_ids: Value | None,
        word_embedding: Value,
        position_embedding: Value,
        segment_embedding: Value | None,
        gamma: Value,
        beta: Value,
        mask: Value | None,
        position_ids: Value | None,
    ) -> tuple[Value, ...]:
        batch, length = sizes_of_rank(input_ids, "input_ids", 2)
        places = core.iota((1, length), 1, i64) if position_ids is None else position_ids
        x = core.add(core.gather(word_embedding, input_ids, 0), core.gather(position_embedding, places, 0))
        if segment_ids is not None:
            if segment_embedding is None:
                raise NotationError("segment_ids and segment_embedding are given together")
            x = core.add(x, core.gather(segment_embedding, segment_ids, 0))
        if mask is None:
            kept = core.fill(core.scalar(0, i32), (batch,))
        else:
            kept = core.reduce_sum(core.cast(core.equal(mask, core.scalar(1, i32)), i32), (1,))
        return core.layer_norm(x, gamma, beta, (2,), self.epsilon), kept, x
