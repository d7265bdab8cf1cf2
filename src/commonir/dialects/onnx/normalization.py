"""ONNX normalizations and attention.

Source: ONNX operator reference, default domain, versions 6 to 23.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import BOOLEAN, FLOATS, FLOATS_1, NUMBERS, OnnxOp, rank_of, trailing_axes
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, bf16, f32
from commonir.notation import NotationError
from commonir.ods import attribute, element_type, kinds, operand, result


def attention(op: Attention, query: Value, key: Value, value: Value, mask: Value | None) -> Value:
    """Attention of operands with an axis of heads, as many for keys as for queries."""
    is_plain = op.past_key is None and not op.is_causal and not op.softcap and op.q_num_heads is None
    if not is_plain or not rank_of(query) == rank_of(key) == rank_of(value) == 4:
        raise NotationError("this form of attention has no meaning in the core yet")
    return core.attention(query, key, value, mask, op.scale)


class LayerNormalization(OnnxOp, name="onnx.LayerNormalization", since="opset17"):
    """The tensor with mean 0 and variance 1 over its trailing axes, then scaled and shifted."""

    __slots__ = ()

    X: Value = operand("T")
    Scale: Value = operand("T")
    B: Value | None = operand("T", default=None)
    stash_type: int = attribute(kinds.integer, default=1)
    epsilon: float = attribute(kinds.number, default=1e-05)
    axis: int = attribute(kinds.integer, default=-1)
    Y: Value = result("T")
    Mean: Value | None = result("U", optional=True)
    InvStdDev: Value | None = result("U", optional=True)
    T = FLOATS
    U = element_type(bf16, f32)

    def reference(self, X: Value, Scale: Value, B: Value | None) -> Value:
        return core.layer_norm(X, Scale, B, trailing_axes(X, self.axis), self.epsilon)


class RMSNormalization(OnnxOp, name="onnx.RMSNormalization", since="opset23"):
    """The tensor divided by the root of its mean square over its trailing axes, then scaled."""

    __slots__ = ()

    X: Value = operand("T")
    scale: Value = operand("V")
    stash_type: int = attribute(kinds.integer, default=1)
    epsilon: float = attribute(kinds.number, default=1e-05)
    axis: int = attribute(kinds.integer, default=-1)
    Y: Value = result("V")
    T = FLOATS
    V = FLOATS

    def reference(self, X: Value, scale: Value) -> Value:
        return core.rms_norm(X, scale, trailing_axes(X, self.axis), self.epsilon)


class BatchNormalization(OnnxOp, name="onnx.BatchNormalization", since="opset15"):
    """Each channel shifted by a mean and divided by the root of a variance, then scaled and shifted."""

    __slots__ = ()

    X: Value = operand("T")
    scale: Value = operand("T1")
    B: Value = operand("T1")
    input_mean: Value = operand("T2")
    input_var: Value = operand("T2")
    training_mode: bool = attribute(kinds.flag, default=False)
    momentum: float = attribute(kinds.number, default=0.9)
    epsilon: float = attribute(kinds.number, default=1e-05)
    Y: Value = result("T")
    running_mean: Value | None = result("T2", optional=True)
    running_var: Value | None = result("T2", optional=True)
    T = FLOATS
    T1 = FLOATS
    T2 = FLOATS

    def reference(self, X: Value, scale: Value, B: Value, input_mean: Value, input_var: Value) -> Value:
        return core.batch_norm(X, input_mean, input_var, scale, B, self.epsilon)


class InstanceNormalization6(OnnxOp, name="onnx.InstanceNormalization", since="opset6"):
    """Each channel of each sample with mean 0 and variance 1, then scaled and shifted."""

    __slots__ = ()

    input: Value = operand("T")
    scale: Value = operand("T")
    B: Value = operand("T")
    epsilon: float = attribute(kinds.number, default=1e-05)
    output: Value = result("T")
    T = FLOATS_1

    def reference(self, input: Value, scale: Value, B: Value) -> Value:
        return core.instance_norm(input, scale, B, self.epsilon)


class InstanceNormalization(InstanceNormalization6, name="onnx.InstanceNormalization", since="opset22"):
    """As `InstanceNormalization6`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Attention(OnnxOp, name="onnx.Attention", since="opset23"):
    """softmax(Q K^T * scale + mask) V for each head."""

    __slots__ = ()

    Q: Value = operand("T1")
    K: Value = operand("T1")
    V: Value = operand("T2")
    attn_mask: Value | None = operand("U", default=None)
    past_key: Value | None = operand("T1", default=None)
    past_value: Value | None = operand("T2", default=None)
    qk_matmul_output_mode: int = attribute(kinds.integer, default=0)
    softcap: float = attribute(kinds.number, default=0.0)
    softmax_precision: ElementType | None = attribute(kinds.element, default=None)
    kv_num_heads: int | None = attribute(kinds.integer, default=None)
    q_num_heads: int | None = attribute(kinds.integer, default=None)
    scale: float | None = attribute(kinds.number, default=None)
    is_causal: bool = attribute(kinds.flag, default=False)
    Y: Value = result("T1")
    present_key: Value | None = result("T1", optional=True)
    present_value: Value | None = result("T2", optional=True)
    qk_matmul_output: Value | None = result("T1", optional=True)
    T1 = FLOATS
    T2 = FLOATS
    U = NUMBERS | BOOLEAN

    def reference(
        self, Q: Value, K: Value, V: Value, attn_mask: Value | None, past_key: Value | None, past_value: Value | None
    ) -> Value:
        return attention(self, Q, K, V, attn_mask)
