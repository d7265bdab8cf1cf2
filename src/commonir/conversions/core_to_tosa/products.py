"""Rules for products of matrices, convolutions and pooling: channels come last there, and matrices in stacks."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.core_to_core.transposed_convolutions import as_convolution
from commonir.conversions.core_to_tosa.building import channels_first, channels_last, known, numbers, zero_point
from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.dialects import core
from commonir.dialects.core.base import accumulator
from commonir.dialects.mlir import tosa
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim, element_count

_FLOATS_ONLY = Mismatch("tosa multiplies matrices of floats, and of integers of few bits only")


@rule(core.MatMul)
def matmul(op: core.MatMul, context: Context, a: Value, b: Value) -> Result:
    """Stacks of matrices; one matrix on the right side of a stack multiplies all of its rows."""
    element = element_of(op.a)
    if not element.is_float or element.bits > 32:
        return _FLOATS_ONLY
    a = core.unsqueeze(a, (0,)) if rank_of(a) == 1 else _turned(a) if op.transpose_a else a
    b = core.unsqueeze(b, (1,)) if rank_of(b) == 1 else _turned(b) if op.transpose_b else b
    left, right = dims_of(a), dims_of(b)
    if len(right) == 2:
        a3, b3 = core.reshape(a, (1, element_count(left[:-1]), left[-1])), core.reshape(b, (1, *right))
    else:
        rank = max(len(left), len(right))
        batch = dims_of(op.y)[: rank - 2]
        stacked = [_stacked(v, batch) for v in (a, b)]
        a3, b3 = stacked
    wide = accumulator(element)
    zero = zero_point(context, element)
    type = TensorType(wide, (dims_of(a3)[0], dims_of(a3)[1], dims_of(b3)[2]))
    result = tosa.MatMul.build({"a": a3, "b": b3, "a_zp": zero, "b_zp": zero}, [type]).results[0]
    shaped = core.reshape(result, dims_of(op.y))
    return shaped if wide is element else core.cast(shaped, element)


def _turned(x: Value) -> Value:
    rank = rank_of(x)
    return core.transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def _stacked(x: Value, batch: Sequence[Dim]) -> Value:
    """A stack of matrices for all of a batch."""
    shape = dims_of(x)
    expected = (*batch, *shape[-2:])
    whole = x if shape == expected else core.broadcast_to(x, expected)
    return core.reshape(whole, (element_count(batch), *shape[-2:]))


@rule(core.Linear)
def linear(op: core.Linear, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    y = core.matmul(x, core.transpose(weight, (1, 0)))
    return y if bias is None else core.add(y, bias)


def _fitting(
    x: Value, window: Sequence[int], strides: Sequence[int], pads: Sequence[tuple[int, int]]
) -> tuple[Value, list[int]] | Mismatch:
    """An image with channels last and its padding, without what lies behind the last window: tosa allows no rest."""
    shape = list(dims_of(x))
    amounts: list[int] = []
    spatial = known(shape[1:-1])
    for axis, (n, k, s, (low, high)) in enumerate(zip(spatial, window, strides, pads, strict=True)):
        rest = (n + low + high - k) % s
        cut = max(rest - high, 0)
        shape[axis + 1] = n - cut
        amounts += [low, high - (rest - cut)]
    if tuple(shape) != dims_of(x):
        if not all(isinstance(n, int) for n in shape):
            return Mismatch("tosa asks for sizes that are numbers here")
        x = core.slice(x, (0,) * len(shape), tuple(shape), (1,) * len(shape))
    return x, amounts


@rule(core.Conv)
def conv(op: core.Conv, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    element = element_of(op.x)
    spatial = rank_of(op.x) - 2
    pads = op.pads or ((0, 0),) * spatial
    if not element.is_float or element.bits > 32:
        return _FLOATS_ONLY
    if spatial == 1:
        return _as_image(op, x, weight, bias)
    if spatial not in (2, 3) or min([n for pair in pads for n in pair]) < 0:
        return Mismatch("tosa convolves along two or three axes, and padding does not cut")
    filters, channels, *window = known(dims_of(op.weight))
    by_channel = op.groups > 1 and channels == 1 and spatial == 2
    if op.groups > 1 and not by_channel:
        return _in_groups(op, x, weight, bias)
    ones = (1,) * spatial
    strides, dilations = op.strides or ones, op.dilations or ones
    reach = [(k - 1) * d + 1 for k, d in zip(window, dilations, strict=True)]
    fitted = _fitting(channels_last(x), reach, strides, pads)
    if isinstance(fitted, Mismatch):
        return fitted
    wide = accumulator(element)
    row = core.cast(bias, wide) if bias is not None and wide is not element else bias
    arguments = {
        "input": fitted[0],
        "weight": _depthwise(weight, op.groups) if by_channel else channels_last(weight),
        "bias": numbers(context, wide, (filters,), (0.0,) * filters) if row is None else row,
        "input_zp": zero_point(context, element),
        "weight_zp": zero_point(context, element),
        "pad": tuple(fitted[1]),
        "stride": tuple(strides),
        "dilation": tuple(dilations),
        "acc_type": wide,
    }
    definition = tosa.DepthwiseConv2D if by_channel else tosa.Conv2D if spatial == 2 else tosa.Conv3D
    shape = dims_of(op.y)
    result = definition.build(arguments, [TensorType(wide, (shape[0], *shape[2:], shape[1]))]).results[0]
    y = channels_first(result)
    return y if wide is element else core.cast(y, element)


@rule(core.ConvTranspose)
def conv_transpose(op: core.ConvTranspose, context: Context, x: Value, weight: Value, bias: Value | None) -> Result:
    """Of images without gaps in the filters and in one group; any other is a convolution of elements laid apart."""
    element, spatial = element_of(op.x), rank_of(op.x) - 2
    if not element.is_float or element.bits > 32:
        return _FLOATS_ONLY
    strides = op.strides or (1,) * spatial
    pads, extra = op.pads or ((0, 0),) * spatial, op.output_padding or (0,) * spatial
    kernel = known(dims_of(op.weight)[2:])
    added = [(-low, e - high) for (low, high), e in zip(pads, extra, strict=True)]
    cuts_much = any(n <= -k for k, pair in zip(kernel, added, strict=True) for n in pair)
    if spatial != 2 or op.groups > 1 or any(d != 1 for d in op.dilations) or cuts_much:
        return as_convolution(op, x, weight, bias)
    wide = accumulator(element)
    filters = known(dims_of(op.y)[1:2])[0]
    row = core.cast(bias, wide) if bias is not None and wide is not element else bias
    arguments = {
        "input": channels_last(x),
        "weight": core.transpose(weight, (1, 2, 3, 0)),
        "bias": numbers(context, wide, (filters,), (0.0,) * filters) if row is None else row,
        "input_zp": zero_point(context, element),
        "weight_zp": zero_point(context, element),
        "out_pad": tuple([n for pair in added for n in pair]),
        "stride": tuple(strides),
        "acc_type": wide,
    }
    shape = dims_of(op.y)
    result = tosa.TransposeConv2D.build(arguments, [TensorType(wide, (shape[0], *shape[2:], shape[1]))]).results[0]
    y = channels_first(result)
    return y if wide is element else core.cast(y, element)


def _depthwise(weight: Value, groups: int) -> Value:
    """Filters of single channels, [height, width, channel, filter of the channel]."""
    filters, _, height, width = known(dims_of(weight))
    return core.transpose(core.reshape(weight, (groups, filters // groups, height, width)), (2, 3, 0, 1))


def _as_image(op: core.Conv, x: Value, weight: Value, bias: Value | None) -> Value:
    """A convolution along one axis as one of an image of one row."""
    built = core.conv(
        core.unsqueeze(x, (2,)),
        core.unsqueeze(weight, (2,)),
        bias,
        strides=(1, *(op.strides or (1,))),
        dilations=(1, *(op.dilations or (1,))),
        pads=((0, 0), *(op.pads or ((0, 0),))),
        groups=op.groups,
    )
    return core.squeeze(built, (2,))


def _in_groups(op: core.Conv, x: Value, weight: Value, bias: Value | None) -> Value:
    """Groups one by one."""
    channels, filters = dims_of(op.weight)[1], known(dims_of(op.weight))[0]
    inputs = core.split(x, 1, (channels,) * op.groups)
    weights = core.split(weight, 0, (filters // op.groups,) * op.groups)
    rows = (None,) * op.groups if bias is None else core.split(bias, 0, (filters // op.groups,) * op.groups)
    parts = zip(inputs, weights, rows, strict=True)
    built = [core.conv(u, w, r, op.strides, op.dilations, op.pads) for u, w, r in parts]
    return core.concat(tuple(built), 1)


def _in_a_row(op: core.Pool, x: Value) -> core.Pool | None:
    """Pooling along one axis as that of an image of one row; None along more."""
    if len(op.kernel) != 1:
        return None
    changes: dict[str, object] = {"kernel": (1, *op.kernel)}
    for name, one in (("strides", 1), ("dilations", 1), ("pads", (0, 0))):
        entries = op.field_value(op.layout.by_name[name])
        if isinstance(entries, tuple) and entries:
            changes[name] = (one, *entries)
    arguments = {f.name: op.field_value(f) for f in op.layout.attributes}
    images: list[TensorType] = []
    for y in op.results:
        batch, channels, dim = dims_of(y)
        images.append(TensorType(element_of(y), (batch, channels, 1, dim)))
    return type(op).build({**arguments, **changes, "x": core.unsqueeze(x, (2,))}, images)


@rule(core.Pool)
def pool_in_a_row(op: core.Pool, context: Context, x: Value) -> Result:
    """Of one axis, as of an image."""
    wide = _in_a_row(op, x)
    if wide is None:
        return Mismatch("tosa pools along two axes, in windows without gaps")
    return tuple([core.squeeze(y, (2,)) for y in wide.results])


@rule(core.SumPool)
def sum_pool(op: core.SumPool, context: Context, x: Value) -> Result:
    """The mean with zeros around, times the number of elements of a window."""
    if op.ceil_mode or len(op.kernel) != 2 or not element_of(op.x).is_float:
        return Mismatch("tosa sums no windows that reach beyond padding, nor integers")
    mean = core.average_pool(x, op.kernel, op.strides, op.dilations, op.pads, count_include_pad=True)
    return core.mul(mean, core.splat(float(op.kernel[0] * op.kernel[1]), mean))


def _pooled(op: core.Pool, x: Value) -> tuple[Value, list[int], tuple[int, ...]] | Mismatch:
    """An image with channels last, its padding and the strides, for windows of two axes without gaps."""
    if len(op.kernel) != 2 or any(d != 1 for d in op.dilations):
        return Mismatch("tosa pools along two axes, in windows without gaps")
    strides = op.strides or (1, 1)
    pads = list(op.pads or ((0, 0), (0, 0)))
    dims, y_dims = known(dims_of(op.x)[2:]), known(dims_of(op.y)[2:])
    for axis in range(2):
        low, high = pads[axis]
        reach = (y_dims[axis] - 1) * strides[axis] + op.kernel[axis]
        pads[axis] = low, max(reach - dims[axis] - low, high if not op.ceil_mode else 0)
    if any(p >= k for pair, k in zip(pads, op.kernel, strict=True) for p in pair):
        return Mismatch("tosa pads by less than a window")
    fitted = _fitting(channels_last(x), op.kernel, strides, pads)
    return fitted if isinstance(fitted, Mismatch) else (*fitted, strides)


@rule(core.MaxPool)
def max_pool(op: core.MaxPool, context: Context, x: Value) -> Result:
    pooled = _pooled(op, x)
    if isinstance(pooled, Mismatch):
        return pooled
    if element_of(op.x).kind == "uint":
        return Mismatch("tosa computes with no unsigned integers")
    arguments = {"input": pooled[0], "kernel": op.kernel, "stride": pooled[2], "pad": tuple(pooled[1])}
    shape = dims_of(op.y)
    type = TensorType(element_of(op.x), (shape[0], *shape[2:], shape[1]))
    return channels_first(tosa.MaxPool2D.build(arguments, [type]).results[0])


@rule(core.AveragePool)
def average_pool(op: core.AveragePool, context: Context, x: Value) -> Result:
    """Padding does not count there; where it does, zeros are put around before."""
    if op.count_include_pad and op.pads and not op.ceil_mode:
        before, after = [(0, 0, *[p[side] for p in op.pads]) for side in (0, 1)]
        return core.average_pool(core.pad(x, before, after), op.kernel, op.strides, op.dilations)
    if op.count_include_pad and op.ceil_mode:
        return Mismatch("tosa counts no padding")
    pooled = _pooled(op, x)
    if isinstance(pooled, Mismatch):
        return pooled
    element = element_of(op.x)
    zero = zero_point(context, element)
    arguments = {
        "input": pooled[0],
        "input_zp": zero,
        "output_zp": zero,
        "kernel": op.kernel,
        "stride": pooled[2],
        "pad": tuple(pooled[1]),
        "acc_type": accumulator(element),
    }
    shape = dims_of(op.y)
    type = TensorType(element, (shape[0], *shape[2:], shape[1]))
    return channels_first(tosa.AvgPool2D.build(arguments, [type]).results[0])
