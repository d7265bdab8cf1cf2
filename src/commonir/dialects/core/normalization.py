"""Core normalizations and attention: composites.

Variances are biased (divided by the number of elements).
"""

from __future__ import annotations

import math

from commonir.dialects.core.activation import per_channel, softmax
from commonir.dialects.core.base import FLOATS, CoreOp, axis_of, function, tensor_type
from commonir.dialects.core.constants import splat
from commonir.dialects.core.contraction import matmul
from commonir.dialects.core.elementwise import add, div, mul, select, sqrt, sub
from commonir.dialects.core.reduction import reduce_mean, reduce_sum
from commonir.dialects.core.shape import reshape
from commonir.ir.operation import Value
from commonir.ir.types import boolean
from commonir.notation import NotationError
from commonir.ods import attribute, element_type, kinds, operand, result, traits
from commonir.symbolic import Dim


def _along(values: Value, axes: list[int], rank: int) -> Value:
    """A tensor that has the normalized axes in ascending order, shaped to be broadcast against all axes."""
    shape = tensor_type(values).shape or ()
    sizes: list[Dim] = [1] * (rank - axes[0]) if axes else []
    for a, n in zip(axes, shape, strict=True):
        sizes[a - axes[0]] = -1 if n is None else n
    return values if len(sizes) == len(shape) else reshape(values, tuple(sizes))


class LayerNorm(CoreOp, name="core.layer_norm", traits=(traits.Pure,)):
    """The tensor with mean 0 and variance 1 over some axes, then scaled and shifted.

    C1: scale and bias have the sizes of x along axes, in ascending order of axes.
    """

    __slots__ = ()

    x: Value = operand("T[s*]")
    scale: Value | None = operand("T[*]", default=None)
    bias: Value | None = operand("T[*]", default=None)
    axes: tuple[int, ...] = attribute(kinds.integers, default=(-1,))
    epsilon: float = attribute(kinds.number, default=1e-5)
    y: Value = result("T[s*]")
    T = FLOATS

    def reference(self, x: Value, scale: Value | None, bias: Value | None) -> Value:
        rank = len(tensor_type(x).shape or ())
        axes = sorted({axis_of(a, rank) for a in self.axes})
        for name, v in (("scale", scale), ("bias", bias)):
            if v is not None and len(tensor_type(v).shape or ()) != len(axes):
                raise NotationError(
                    f"{name} has rank {tensor_type(v).rank}, but {len(axes)} axes are normalized", label="C1"
                )
        centred = sub(x, reduce_mean(x, tuple(axes), True))
        variance = reduce_mean(mul(centred, centred), tuple(axes), True)
        y = div(centred, sqrt(add(variance, splat(self.epsilon, x))))
        if scale is not None:
            y = mul(y, _along(scale, axes, rank))
        return y if bias is None else add(y, _along(bias, axes, rank))


class RmsNorm(CoreOp, name="core.rms_norm", traits=(traits.Pure,)):
    """The tensor divided by the root of its mean square over some axes, then scaled."""

    __slots__ = ()

    x: Value = operand("T[s*]")
    scale: Value | None = operand("T[*]", default=None)
    axes: tuple[int, ...] = attribute(kinds.integers, default=(-1,))
    epsilon: float = attribute(kinds.number, default=1e-5)
    y: Value = result("T[s*]")
    T = FLOATS

    def reference(self, x: Value, scale: Value | None) -> Value:
        rank = len(tensor_type(x).shape or ())
        axes = sorted({axis_of(a, rank) for a in self.axes})
        y = div(x, sqrt(add(reduce_mean(mul(x, x), tuple(axes), True), splat(self.epsilon, x))))
        return y if scale is None else mul(y, _along(scale, axes, rank))


class L2Norm(CoreOp, name="core.l2_norm", traits=(traits.Pure,)):
    """The tensor divided by the root of the sum of its squares over some axes, plus epsilon under the root."""

    __slots__ = ()

    x: Value = operand("T[s*]")
    axes: tuple[int, ...] = attribute(kinds.integers)
    epsilon: float = attribute(kinds.number, default=0.0)
    y: Value = result("T[s*]")
    T = FLOATS

    def reference(self, x: Value) -> Value:
        return div(x, sqrt(add(reduce_sum(mul(x, x), self.axes, True), splat(self.epsilon, x))))


class BatchNorm(CoreOp, name="core.batch_norm", traits=(traits.Pure,)):
    """Each channel (axis 1) shifted by a given mean and divided by the root of a given variance, then scaled and shifted."""

    __slots__ = ()

    x: Value = operand("T[n, c, s*]")
    mean: Value = operand("T[c]")
    variance: Value = operand("T[c]")
    scale: Value | None = operand("T[c]", default=None)
    bias: Value | None = operand("T[c]", default=None)
    epsilon: float = attribute(kinds.number, default=1e-5)
    y: Value = result("T[n, c, s*]")
    T = FLOATS

    def reference(self, x: Value, mean: Value, variance: Value, scale: Value | None, bias: Value | None) -> Value:
        deviation = sqrt(add(variance, splat(self.epsilon, x)))
        y = div(sub(x, per_channel(mean, x)), per_channel(deviation, x))
        if scale is not None:
            y = mul(y, per_channel(scale, x))
        return y if bias is None else add(y, per_channel(bias, x))


class InstanceNorm(CoreOp, name="core.instance_norm", traits=(traits.Pure,)):
    """Each channel (axis 1) of each sample with mean 0 and variance 1 over its spatial axes, then scaled and shifted."""

    __slots__ = ()

    x: Value = operand("T[n, c, s*]")
    scale: Value | None = operand("T[c]", default=None)
    bias: Value | None = operand("T[c]", default=None)
    epsilon: float = attribute(kinds.number, default=1e-5)
    y: Value = result("T[n, c, s*]")
    T = FLOATS

    def reference(self, x: Value, scale: Value | None, bias: Value | None) -> Value:
        axes = tuple(range(2, len(tensor_type(x).shape or ())))
        y = layer_norm(x, None, None, axes, self.epsilon)
        if scale is not None:
            y = mul(y, per_channel(scale, x))
        return y if bias is None else add(y, per_channel(bias, x))


class Attention(CoreOp, name="core.attention", traits=(traits.Pure,)):
    """softmax(query key^T * scale + mask) value over the last two axes; leading axes are shared.

    Without `scale` it is one over the root of the size of a query. A mask of truth values keeps what is true, another mask is
    added; it is broadcast.
    """

    __slots__ = ()

    query: Value = operand("T[b*, l, e]")
    key: Value = operand("T[b*, s, e]")
    value: Value = operand("T[b*, s, v]")
    mask: Value | None = operand("M[*]", default=None)
    scale: float | None = attribute(kinds.number, default=None)
    y: Value = result("T[b*, l, v]")
    T = FLOATS
    M = FLOATS | element_type(boolean)

    def reference(self, query: Value, key: Value, value: Value, mask: Value | None) -> Value:
        size = (tensor_type(query).shape or (None,))[-1]
        if self.scale is not None:
            scale = self.scale
        elif isinstance(size, int):
            scale = 1 / math.sqrt(size)
        else:
            raise NotationError("the size of a query must be fixed when no scale is given")
        scores = matmul(mul(query, splat(scale, query)), key, False, True)
        if mask is not None and tensor_type(mask).element is boolean:
            scores = select(mask, scores, splat(-math.inf, scores))
        elif mask is not None:
            scores = add(scores, mask)
        return matmul(softmax(scores, -1), value)


layer_norm = function(LayerNorm)
rms_norm = function(RmsNorm)
l2_norm = function(L2Norm)
batch_norm = function(BatchNorm)
instance_norm = function(InstanceNorm)
attention = function(Attention)
