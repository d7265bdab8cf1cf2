"""ONNX normalizations.

Half precision is computed in single precision and rounded once, whatever the `stash_type`; double precision in double.
Source: ONNX operator reference, default domain, versions 1 to 23.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    FLOATS,
    FLOATS_1,
    OnnxOp,
    axis_from_start,
    element_of,
    rank_of,
    shape_of,
    trailing_axes,
)
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, bf16, f32, f64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, by_version, element_type, one_of, operand, positive, result, same_as

INVERSE_DEVIATION_FLOOR = 1e-9
"""The number that mean variance normalization adds to the deviation."""


def _covers(values: Value | None, x: Value, axes: tuple[int, ...]) -> bool:
    """Returns whether parameters have just the normalized sizes of x, or there are none."""
    return values is None or shape_of(values) == tuple([shape_of(x)[a] for a in axes])


class LayerNormalization(OnnxOp, name="onnx.LayerNormalization", since="opset17"):
    """Layer normalization: the tensor normalized to mean 0 and variance 1 over its trailing axes, then scaled and
    shifted.
    """

    X: Value = operand("T")
    Scale: Value = operand("T")
    B: Value | None = operand("T", default=None)
    stash_type: int = attribute(attr_types.integer, default=1)
    epsilon: float = attribute(attr_types.number, default=1e-05)
    axis: int = attribute(attr_types.integer, default=-1)
    Y: Value = result("T")
    Mean: Value | None = result("U", optional=True)
    InvStdDev: Value | None = result("U", optional=True)
    T = FLOATS
    U = element_type(bf16, f32)

    def reference(self, X: Value, Scale: Value, B: Value | None) -> tuple[Value, ...]:
        axes = trailing_axes(X, self.axis)
        if _covers(Scale, X, axes) and _covers(B, X, axes):
            y = core.layer_norm(X, Scale, B, axes, self.epsilon)
        else:
            y = core.mul(core.layer_norm(X, None, None, axes, self.epsilon), Scale)
            y = y if B is None else core.add(y, B)
        wide = core.widened(X)
        mean = core.reduce_mean(wide, axes, True)
        centred = core.sub(wide, mean)
        variance = core.reduce_mean(core.mul(centred, centred), axes, True)
        inverse = core.rsqrt(core.add(variance, core.splat(self.epsilon, wide)))
        return (y, core.cast(mean, self._stashed), core.cast(inverse, self._stashed))

    def infer_partially(self) -> tuple[Type, ...]:
        stashed = TensorType(self._stashed, None)
        return (self.X.type, stashed, stashed)

    @property
    def _stashed(self) -> ElementType:
        return bf16 if self.stash_type == _BF16 else f32


_BF16 = 16
"""The number of bfloat16 in ONNX files."""


class RMSNormalization(OnnxOp, name="onnx.RMSNormalization", since="opset23"):
    """RMS normalization: the tensor divided by its root mean square over its trailing axes, then scaled."""

    X: Value = operand("T")
    scale: Value = operand("V")
    stash_type: int = attribute(attr_types.integer, default=1)
    epsilon: float = attribute(attr_types.number, default=1e-05)
    axis: int = attribute(attr_types.integer, default=-1)
    Y: Value = result("V")
    T = FLOATS
    V = FLOATS

    def reference(self, X: Value, scale: Value) -> Value:
        axes = trailing_axes(X, self.axis)
        if element_of(X) is element_of(scale) and _covers(scale, X, axes):
            return core.rms_norm(X, scale, axes, self.epsilon)
        return core.mul(core.narrowed(core.rms_norm(X, None, axes, self.epsilon), scale), scale)


def _normalized_channels(x: Value, scale: Value, bias: Value, mean: Value, variance: Value, epsilon: float) -> Value:
    """Each channel shifted, divided, scaled and shifted, in the widest of the element types."""
    elements = {element_of(v) for v in (x, scale, bias, mean, variance)}
    element = elements.pop() if len(elements) == 1 else f64 if f64 in elements else f32
    wide, m, v, s, b = [_as(element, given) for given in (x, mean, variance, scale, bias)]
    if rank_of(x) > 1:
        return core.narrowed(core.batch_norm(wide, m, v, s, b, epsilon), x)
    # A vector is a batch of one channel.
    column = core.batch_norm(core.unsqueeze(wide, (1,)), m, v, s, b, epsilon)
    return core.narrowed(core.squeeze(column, (1,)), x)


def _as(element: ElementType, value: Value) -> Value:
    return value if element_of(value) is element else core.cast(value, element)


def _statistics(x: Value, axes: tuple[int, ...]) -> tuple[Value, Value]:
    """Mean and biased variance over some axes, which are dropped."""
    wide = core.widened(x)
    mean = core.reduce_mean(wide, axes, True)
    centred = core.sub(wide, mean)
    return core.reduce_mean(wide, axes), core.reduce_mean(core.mul(centred, centred), axes)


def _running(before: Value, now: Value, momentum: float) -> Value:
    """The mean of a value and another that counts with what momentum leaves."""
    wide = core.widened(before)
    kept = core.mul(wide, core.splat(momentum, wide))
    new = _as(element_of(wide), now)
    return core.narrowed(core.add(kept, core.mul(new, core.splat(1 - momentum, wide))), before)


def _channel_axes(x: Value) -> tuple[int, ...]:
    """All axes but that of channels."""
    return tuple([a for a in range(rank_of(x)) if a != 1])


class BatchNormalization(OnnxOp, name="onnx.BatchNormalization"):
    """Batch normalization: (X - input_mean) / sqrt(input_var + epsilon) * scale + B for each channel.

    In training mode the mean and the variance are those of the batch, and the running ones are updated.
    """

    X: Value = operand("T")
    scale: Value = operand("T1")
    B: Value = operand("T1")
    input_mean: Value = operand("T2")
    input_var: Value = operand("T2")
    training_mode: bool = attribute(attr_types.flag, default=False)
    momentum: float = attribute(attr_types.number, default=0.9)
    epsilon: float = attribute(attr_types.number, default=1e-05)
    Y: Value = result("T")
    running_mean: Value | None = result("T2", optional=True)
    running_var: Value | None = result("T2", optional=True)
    T = FLOATS
    T1 = by_version(opset14=same_as("T"), opset15=FLOATS)
    T2 = FLOATS

    def reference(self, X: Value, scale: Value, B: Value, input_mean: Value, input_var: Value) -> tuple[Value, ...]:
        if not self.training_mode:
            return (_normalized_channels(X, scale, B, input_mean, input_var, self.epsilon),)
        mean, variance = _statistics(X, _channel_axes(X))
        return (
            _normalized_channels(X, scale, B, mean, variance, self.epsilon),
            _running(input_mean, mean, self.momentum),
            _running(input_var, variance, self.momentum),
        )


class BatchNormalization9(OnnxOp, name="onnx.BatchNormalization", since="opset7 opset9"):
    """Batch normalization: (X - mean) / sqrt(var + epsilon) * scale + B for each channel. Without `spatial`, each
    element of a sample has a mean and variance of its own.

    With more than one result it is in training mode: the mean and the variance are those of the batch, which are
    results too, and the running ones are updated.
    """

    X: Value = operand("T")
    scale: Value = operand("T")
    B: Value = operand("T")
    mean: Value = operand("T")
    var: Value = operand("T")
    spatial: int = attribute(attr_types.integer, default=1, until="opset9")
    momentum: float = attribute(attr_types.number, default=0.9)
    epsilon: float = attribute(attr_types.number, default=1e-05)
    Y: Value = result("T")
    mean_: Value | None = result("T", optional=True)
    var_: Value | None = result("T", optional=True)
    saved_mean: Value | None = result("T", optional=True)
    saved_var: Value | None = result("T", optional=True)
    T = FLOATS_1

    def trace_key(self) -> object:
        return self._is_training

    @property
    def _is_training(self) -> bool:
        return len(self.built_results or ()) > 1

    def reference(self, X: Value, scale: Value, B: Value, mean: Value, var: Value) -> tuple[Value, ...]:
        if self.spatial:
            return self._normalized(X, scale, B, mean, var)
        shape = shape_of(X)
        parameters = [core.reshape(v, (-1,)) for v in (scale, B, mean, var)]
        y, *rest = self._normalized(core.reshape(X, (shape[0], -1)), *parameters)
        return (core.reshape(y, shape), *[core.reshape(v, shape[1:]) for v in rest])

    def _normalized(self, X: Value, scale: Value, B: Value, mean: Value, var: Value) -> tuple[Value, ...]:
        if not self._is_training:
            return (_normalized_channels(X, scale, B, mean, var, self.epsilon),)
        now, variance = _statistics(X, _channel_axes(X))
        y = _normalized_channels(X, scale, B, now, variance, self.epsilon)
        moved = (_running(mean, now, self.momentum), _running(var, variance, self.momentum))
        return (y, *moved, core.narrowed(now, X), core.narrowed(variance, X))


class BatchNormalization6(BatchNormalization9, name="onnx.BatchNormalization", since="opset6"):
    """In training mode unless `is_test` is set."""

    is_test: int = attribute(attr_types.integer, default=0)
    spatial: int = attribute(attr_types.integer, default=1)

    @property
    def _is_training(self) -> bool:
        return not self.is_test


class InstanceNormalization(OnnxOp, name="onnx.InstanceNormalization"):
    """Instance normalization: each channel of each sample normalized over its spatial axes, then scaled and shifted."""

    input: Value = operand("T")
    scale: Value = operand("T")
    B: Value = operand("T")
    epsilon: float = attribute(attr_types.number, default=1e-05)
    output: Value = result("T")
    T = by_version(opset6=FLOATS_1, opset22=FLOATS)

    def reference(self, input: Value, scale: Value, B: Value) -> Value:
        return core.instance_norm(input, scale, B, self.epsilon)


class GroupNormalization(OnnxOp, name="onnx.GroupNormalization", since="opset21"):
    """Group normalization: each group of channels of each sample normalized to mean 0 and variance 1, then scaled and
    shifted by channel.
    """

    X: Value = operand("T[n, c, s*]")
    scale: Value = operand("T[k]")
    bias: Value = operand("T[k]")
    num_groups: int = attribute(attr_types.integer, check=positive)
    stash_type: int = attribute(attr_types.integer, default=1)
    epsilon: float = attribute(attr_types.number, default=1e-05)
    Y: Value = result("T")
    T = FLOATS

    def reference(self, X: Value, scale: Value, bias: Value) -> Value:
        return core.group_norm(X, scale, bias, self.num_groups, self.epsilon)


class GroupNormalization18(OnnxOp, name="onnx.GroupNormalization", since="opset18"):
    """Each group of channels of each sample normalized to mean 0 and variance 1, then scaled and shifted by group."""

    X: Value = operand("T[n, c, s*]")
    scale: Value = operand("T[k]")
    bias: Value = operand("T[k]")
    num_groups: int = attribute(attr_types.integer, check=positive)
    epsilon: float = attribute(attr_types.number, default=1e-05)
    Y: Value = result("T")
    T = FLOATS

    def reference(self, X: Value, scale: Value, bias: Value) -> Value:
        shape = shape_of(X)
        groups = core.reshape(X, (shape[0], self.num_groups, -1))
        return core.reshape(core.instance_norm(groups, scale, bias, self.epsilon), shape)


class MeanVarianceNormalization(OnnxOp, name="onnx.MeanVarianceNormalization"):
    """Mean-variance normalization: the tensor normalized to mean 0 and variance 1 over some axes.

    Axes that the tensor does not have are left out, as in onnxruntime: the default ones are those of images.
    """

    X: Value = operand("T")
    axes: tuple[int, ...] = attribute(attr_types.integers, default=(0, 2, 3))
    Y: Value = result("T")
    T = by_version(opset9=FLOATS_1, opset13=FLOATS)

    def reference(self, X: Value) -> Value:
        wide = core.widened(X)
        rank = rank_of(X)
        axes = tuple(sorted({axis_from_start(a, rank) for a in self.axes if a < rank}))
        if not axes:
            raise NotationError(f"a tensor of rank {rank} has none of the axes {list(self.axes)}")
        centred = core.sub(wide, core.reduce_mean(wide, axes, True))
        deviation = core.sqrt(core.reduce_mean(core.mul(centred, centred), axes, True))
        return core.narrowed(core.div(centred, core.add(deviation, core.splat(INVERSE_DEVIATION_FLOOR, wide))), X)


class LpNormalization(OnnxOp, name="onnx.LpNormalization"):
    """Lp normalization: the tensor divided by its L1 or L2 norm along an axis; zero where the norm is zero."""

    input: Value = operand("T")
    p: int = attribute(attr_types.integer, default=2, check=one_of(1, 2))
    axis: int = attribute(attr_types.integer, default=-1)
    output: Value = result("T")
    T = by_version(opset1=FLOATS_1, opset22=FLOATS)

    def reference(self, input: Value) -> Value:
        wide = core.widened(input)
        axes = (axis_from_start(self.axis, rank_of(input)),)
        if self.p == 1:
            norm = core.reduce_sum(core.abs(wide), axes, True)
        else:
            norm = core.sqrt(core.reduce_sum(core.mul(wide, wide), axes, True))
        zero = core.splat(0.0, wide)
        return core.narrowed(core.select(core.equal(norm, zero), zero, core.div(wide, norm)), input)


class LRN(OnnxOp, name="onnx.LRN"):
    """Local response normalization: x / (bias + alpha / size * sum of x^2)^beta, summed over a window of size channels
    (axis 1).
    """

    X: Value = operand("T[n, c, s*]")
    size: int = attribute(attr_types.integer, check=positive)
    bias: float = attribute(attr_types.number, default=1.0)
    beta: float = attribute(attr_types.number, default=0.75)
    alpha: float = attribute(attr_types.number, default=1e-4)
    Y: Value = result("T")
    T = by_version(opset1=FLOATS_1, opset13=FLOATS)

    def reference(self, X: Value) -> Value:
        shape, wide = shape_of(X), core.widened(X)
        # Channels become the first of two spatial axes, all others the second.
        squares = core.reshape(core.mul(wide, wide), (shape[0], 1, shape[1], -1))
        window = ((self.size - 1) // 2, self.size // 2)
        summed = core.reshape(core.sum_pool(squares, (self.size, 1), (), (), (window, (0, 0))), shape)
        base = core.add(core.mul(summed, core.splat(self.alpha / self.size, wide)), core.splat(self.bias, wide))
        return core.narrowed(core.div(wide, core.pow(base, core.splat(self.beta, wide))), X)
