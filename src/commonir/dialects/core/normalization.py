"""Core normalizations and attention: composites.

Variances are biased (divided by the number of elements). Half precision is computed in single precision and rounded
once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from commonir.dialects.core.activation import per_channel, softmax
from commonir.dialects.core.base import FLOATS, CoreOp, axes_of, function, rank_of, tensor_type
from commonir.dialects.core.constants import constant, scalar, splat
from commonir.dialects.core.contraction import matmul
from commonir.dialects.core.elementwise import add, cast, div, equal, mul, narrowed, select, sqrt, sub, widened
from commonir.dialects.core.reduction import reduce_max, reduce_mean, reduce_sum
from commonir.dialects.core.shape import concat, reshape, split, squeeze, stack, unsqueeze
from commonir.ir.data import computed_data
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, i32
from commonir.notation import Constraint, NotationError, require
from commonir.ods import attr_types, attribute, constraint, element_type, known_data, operand, positive, result, traits
from commonir.ods.operand_shapes import known_dims_of
from commonir.symbolic import Dim


def _along(values: Value, axes: list[int], rank: int) -> Value:
    """A tensor that has the normalized axes in ascending order, shaped to be broadcast against all axes."""
    shape = tensor_type(values).shape or ()
    sizes: list[Dim] = [1] * (rank - axes[0]) if axes else []
    for a, n in zip(axes, shape, strict=True):
        sizes[a - axes[0]] = -1 if n is None else n
    wide = widened(values)
    return wide if len(sizes) == len(shape) else reshape(wide, tuple(sizes))


def _sizes_along(x: Value, axes: tuple[int, ...], items: Iterable[tuple[str, Value | None]]) -> object:
    """Returns whether tensors have the sizes of x along axes, in ascending order of axes."""
    shape = tensor_type(x).shape
    needed: tuple[Constraint, ...] = ()
    for name, value in items:
        sizes = None if value is None else tensor_type(value).shape
        if shape is None or sizes is None:
            continue
        expected = [shape[a] for a in axes_of(axes, len(shape), "C2")]
        if len(expected) != len(sizes):
            raise NotationError(f"{name} has rank {len(sizes)}, but {len(expected)} axes are normalized")
        for n, m in zip(sizes, expected, strict=True):
            needed += () if n is None or m is None else require(n, "==", m, f"size of {name}")
    return needed


class LayerNorm(CoreOp, name="core.layer_norm", traits=(traits.Pure,)):
    """Layer normalization: the tensor normalized to mean 0 and variance 1 over some axes, then scaled and shifted.

    C2: there is at least one axis, and axes are distinct.
    """

    x: Value = operand("T[s*]")
    scale: Value | None = operand("T[*]", default=None)
    bias: Value | None = operand("T[*]", default=None)
    axes: tuple[int, ...] = attribute(attr_types.integers, default=(-1,))
    epsilon: float = attribute(attr_types.number, default=1e-5)
    y: Value = result("T[s*]")
    T = FLOATS

    @constraint("C1")
    def parameters_fit(self) -> object:
        """Scale and bias have the sizes of x along axes, in ascending order of axes."""
        return _sizes_along(self.x, self.axes, (("scale", self.scale), ("bias", self.bias)))

    def reference(self, x: Value, scale: Value | None, bias: Value | None) -> Value:
        rank = rank_of(x)
        axes = _normalized(self.axes, rank, "C2")
        wide = widened(x)
        centred = sub(wide, reduce_mean(wide, tuple(axes), True))
        variance = reduce_mean(mul(centred, centred), tuple(axes), True)
        y = div(centred, sqrt(add(variance, splat(self.epsilon, wide))))
        if scale is not None:
            y = mul(y, _along(scale, axes, rank))
        return narrowed(y if bias is None else add(y, _along(bias, axes, rank)), x)


def _normalized(axes: tuple[int, ...], rank: int, label: str) -> list[int]:
    """Axes counted from the front, in ascending order. Raises: NotationError when there are none, or duplicates."""
    if not axes:
        raise NotationError("no axis is normalized", label=label)
    return axes_of(axes, rank, label)


class RmsNorm(CoreOp, name="core.rms_norm", traits=(traits.Pure,)):
    """RMS normalization: the tensor divided by its root mean square over some axes, then scaled.

    C2: there is at least one axis, and axes are distinct.
    """

    x: Value = operand("T[s*]")
    scale: Value | None = operand("T[*]", default=None)
    axes: tuple[int, ...] = attribute(attr_types.integers, default=(-1,))
    epsilon: float = attribute(attr_types.number, default=1e-5)
    y: Value = result("T[s*]")
    T = FLOATS

    @constraint("C1")
    def scale_fits(self) -> object:
        """Scale has the sizes of x along axes, in ascending order of axes."""
        return _sizes_along(self.x, self.axes, [("scale", self.scale)])

    def reference(self, x: Value, scale: Value | None) -> Value:
        rank = rank_of(x)
        axes = _normalized(self.axes, rank, "C2")
        wide = widened(x)
        square = reduce_mean(mul(wide, wide), tuple(axes), True)
        y = div(wide, sqrt(add(square, splat(self.epsilon, wide))))
        return narrowed(y if scale is None else mul(y, _along(scale, axes, rank)), x)


class L2Norm(CoreOp, name="core.l2_norm", traits=(traits.Pure,)):
    """L2 normalization: x / sqrt(sum of x^2 + epsilon) over some axes.

    C1: there is at least one axis, and axes are distinct.
    """

    x: Value = operand("T[s*]")
    axes: tuple[int, ...] = attribute(attr_types.integers)
    epsilon: float = attribute(attr_types.number, default=0.0)
    y: Value = result("T[s*]")
    T = FLOATS

    def reference(self, x: Value) -> Value:
        axes = _normalized(self.axes, rank_of(x), "C1")
        wide = widened(x)
        square = reduce_sum(mul(wide, wide), tuple(axes), True)
        return narrowed(div(wide, sqrt(add(square, splat(self.epsilon, wide)))), x)


class BatchNorm(CoreOp, name="core.batch_norm", traits=(traits.Pure,)):
    """Batch normalization: (x - mean) / sqrt(variance + epsilon) * scale + bias for each channel (axis 1)."""

    x: Value = operand("T[n, c, s*]")
    mean: Value = operand("T[c]")
    variance: Value = operand("T[c]")
    scale: Value | None = operand("T[c]", default=None)
    bias: Value | None = operand("T[c]", default=None)
    epsilon: float = attribute(attr_types.number, default=1e-5)
    y: Value = result("T[n, c, s*]")
    T = FLOATS

    def reference(self, x: Value, mean: Value, variance: Value, scale: Value | None, bias: Value | None) -> Value:
        wide = widened(x)
        deviation = sqrt(add(widened(variance), splat(self.epsilon, wide)))
        y = div(sub(wide, per_channel(widened(mean), x)), per_channel(deviation, x))
        if scale is not None:
            y = mul(y, per_channel(widened(scale), x))
        return narrowed(y if bias is None else add(y, per_channel(widened(bias), x)), x)


class InstanceNorm(CoreOp, name="core.instance_norm", traits=(traits.Pure,)):
    """Instance normalization: each channel (axis 1) of each sample normalized over its spatial axes, then scaled and
    shifted.

    C1: there is a spatial axis.
    """

    x: Value = operand("T[n, c, s*]")
    scale: Value | None = operand("T[c]", default=None)
    bias: Value | None = operand("T[c]", default=None)
    epsilon: float = attribute(attr_types.number, default=1e-5)
    y: Value = result("T[n, c, s*]")
    T = FLOATS

    def reference(self, x: Value, scale: Value | None, bias: Value | None) -> Value:
        axes = _normalized(tuple(range(2, rank_of(x))), rank_of(x), "C1")
        y = layer_norm(widened(x), None, None, tuple(axes), self.epsilon)
        if scale is not None:
            y = mul(y, per_channel(widened(scale), x))
        return narrowed(y if bias is None else add(y, per_channel(widened(bias), x)), x)


class GroupNorm(CoreOp, name="core.group_norm", traits=(traits.Pure,)):
    """Group normalization: each group of channels (axis 1) of each sample normalized to mean 0 and variance 1, then
    scaled and shifted by channel.
    """

    x: Value = operand("T[n, c, s*]")
    scale: Value | None = operand("T[c]", default=None)
    bias: Value | None = operand("T[c]", default=None)
    groups: int = attribute(attr_types.integer, default=1, check=positive)
    epsilon: float = attribute(attr_types.number, default=1e-5)
    y: Value = result("T[n, c, s*]")
    T = FLOATS

    @constraint("C1")
    def groups_are_of_equal_size(self) -> object:
        """The number of channels is divisible by groups."""
        channels = (tensor_type(self.x).shape or (None, None))[1]
        if channels is None or isinstance(channels, int):
            return channels is None or channels % self.groups == 0
        return require(channels % self.groups, "==", 0, "channels beyond groups of equal size")

    def reference(self, x: Value, scale: Value | None, bias: Value | None) -> Value:
        shape = known_dims_of(x)
        grouped = reshape(widened(x), (shape[0], self.groups, -1))
        y = reshape(layer_norm(grouped, None, None, (2,), self.epsilon), shape)
        if scale is not None:
            y = mul(y, per_channel(widened(scale), x))
        return narrowed(y if bias is None else add(y, per_channel(widened(bias), x)), x)


class Attention(CoreOp, name="core.attention", traits=(traits.Pure,)):
    """Scaled dot-product attention: softmax(query key^T * scale + mask) value over the last two axes; leading axes are
    shared.

    `scale` is 1 / sqrt(size of a query) by default. A bool mask keeps scores where it is true, another mask is added to
    them; masks are broadcast. A query whose keys are all masked gives NaN, or 0 with `masked_is_zero`.

    C1: the size of a query is static and positive unless scale is given.
    """

    query: Value = operand("T[b*, l, e]")
    key: Value = operand("T[b*, s, e]")
    value: Value = operand("T[b*, s, v]")
    mask: Value | None = operand("M[*]", default=None)
    scale: float | None = attribute(attr_types.number, default=None)
    masked_is_zero: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T[b*, l, v]")
    T = FLOATS
    M = FLOATS | element_type(boolean)

    @constraint("C2")
    def mask_has_a_meaning(self) -> object:
        """A mask is of bools or of the element type of query."""
        return self.mask is None or tensor_type(self.mask).element in (boolean, tensor_type(self.query).element)

    def reference(self, query: Value, key: Value, value: Value, mask: Value | None) -> Value:
        size = (tensor_type(query).shape or (None,))[-1]
        if self.scale is not None:
            scale = self.scale
        elif isinstance(size, int) and size > 0:
            scale = 1 / math.sqrt(size)
        else:
            raise NotationError(f"no scale is given, and the size of a query is {size}", label="C1")
        wide = widened(query)
        scores = matmul(mul(wide, splat(scale, wide)), widened(key), False, True)
        if mask is not None and tensor_type(mask).element is boolean:
            scores = select(mask, scores, splat(-math.inf, scores))
        elif mask is not None:
            scores = add(scores, widened(mask))
        weights = softmax(scores, -1)
        if mask is not None and self.masked_is_zero:
            weights = zero_where_masked(mask, weights)
        return narrowed(matmul(weights, widened(value)), query)


class RotaryEmbedding(CoreOp, name="core.rotary_embedding", traits=(traits.Pure,)):
    """Rotary position embedding: turns pairs (a, b) of elements of the last axis to (a cos - b sin, a sin + b cos).

    A pair is element i of the first half and element i of the second, or, with `interleaved`, two adjacent elements.
    Heads share the angles of a position. Elements beyond the p pairs are kept. Computed in the element type.
    """

    x: Value = operand("T[n, h, s, d]")
    cos: Value = operand("T[n, s, p]")
    sin: Value = operand("T[n, s, p]")
    interleaved: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T[n, h, s, d]")
    T = FLOATS

    @constraint("C1")
    def pairs_fit(self) -> object:
        """There are at most as many elements in pairs as on the last axis of x."""
        size, pairs = (tensor_type(self.x).shape or (None,))[-1], (tensor_type(self.cos).shape or (None,))[-1]
        return () if size is None or pairs is None else require(size, ">=", pairs * 2, "last axis of x")

    def reference(self, x: Value, cos: Value, sin: Value) -> Value:
        *lead, size = known_dims_of(x)
        pairs = known_dims_of(cos)[-1]
        kept: tuple[Value, ...] = ()
        if size != pairs * 2:
            x, rest = split(x, -1, (pairs * 2, size - pairs * 2))
            kept = (rest,)
        if self.interleaved:
            a, b = [squeeze(v, (-1,)) for v in split(reshape(x, (*lead, pairs, 2)), -1, (1, 1))]
        else:
            a, b = split(x, -1, (pairs, pairs))
        cos, sin = unsqueeze(cos, (1,)), unsqueeze(sin, (1,))
        turned = sub(mul(cos, a), mul(sin, b)), add(mul(sin, a), mul(cos, b))
        if not self.interleaved:
            return concat((*turned, *kept), -1)
        y = reshape(stack(turned, -1), (*lead, pairs * 2))
        return concat((y, *kept), -1) if kept else y


def zero_where_masked(mask: Value, y: Value) -> Value:
    """Weights or results of attention, with 0 for queries whose keys are all masked."""
    is_masked = _masked_queries(mask)
    return y if is_masked is None else select(is_masked, splat(0.0, y), y)


def _masked_queries(mask: Value) -> Value | None:
    """Returns for each query whether all of its keys are masked; None if a constant says that none is so."""
    is_bool, data = tensor_type(mask).element is boolean, known_data(mask)
    if data is not None:
        import numpy as np  # noqa: PLC0415  only where a mask is constant

        keys = data.array()
        masked = np.all(np.logical_not(keys) if is_bool else np.equal(keys, -math.inf), axis=-1, keepdims=True)
        type = TensorType(boolean, masked.shape)
        return constant(computed_data(type, lambda: masked)) if masked.any() else None
    if is_bool:
        return equal(reduce_max(cast(mask, i32), (-1,), True), scalar(0, i32))
    return equal(reduce_max(mask, (-1,), True), splat(-math.inf, mask))


layer_norm = function(LayerNorm)
rms_norm = function(RmsNorm)
l2_norm = function(L2Norm)
batch_norm = function(BatchNorm)
instance_norm = function(InstanceNorm)
group_norm = function(GroupNorm)
attention = function(Attention)
rotary_embedding = function(RotaryEmbedding)
