"""ONNX convolutions: plain, transposed, deformable and causal, and Col2Im.

Source: ONNX operator reference, default domain, Conv, ConvTranspose, DeformConv, Col2Im and CausalConvWithState.
"""

from __future__ import annotations

from math import prod

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_13,
    FLOATS,
    FLOATS_1,
    OnnxOp,
    element_of,
    fixed,
    image_sizes,
    known,
    sizes_of_rank,
    tensor_type,
)
from commonir.dialects.onnx.windows import AUTO_PAD, kernel_of, pad_pairs, per_axis, shared, window
from commonir.ir.operation import Value
from commonir.ir.types import Type, bf16, f16, f32, i64
from commonir.notation import NotationError, NotKnownError
from commonir.ods import attr_types, attribute, by_version, element_type, known_dims, one_of, operand, positive, result
from commonir.symbolic import Dim, element_count, floor_div


class Convolution(OnnxOp):
    """A filter moved over the spatial axes."""

    X: Value = operand("T")
    W: Value = operand("T")
    B: Value | None = operand("T", default=None)
    group: int = attribute(attr_types.integer, default=1, check=positive)
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    auto_pad: str = attribute(attr_types.string, default="NOTSET", check=AUTO_PAD)
    strides: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    dilations: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    kernel_shape: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    Y: Value = result("T")
    T = by_version(opset1=FLOATS_1, opset11=FLOATS_1, opset22=FLOATS)

    def convolved(self, X: Value, W: Value, B: Value | None) -> Value:
        """Returns the convolution."""
        found = window(self, X, kernel_of(W), self.dilations)
        return core.conv(found.x, W, B, found.strides, found.dilations, found.pads, self.group)


class Conv(Convolution, name="onnx.Conv"):
    """Convolution over any number of spatial axes, with zeros as padding."""

    def reference(self, X: Value, W: Value, B: Value | None) -> Value:
        return self.convolved(X, W, B)


class ConvTranspose(Convolution, name="onnx.ConvTranspose"):
    """Transposed convolution: the gradient of a convolution by its input."""

    output_padding: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    output_shape: tuple[int, ...] | None = attribute(attr_types.integers, default=None)

    def reference(self, X: Value, W: Value, B: Value | None) -> Value:
        kernel = kernel_of(W)
        rank = len(kernel)
        strides, dilations = per_axis(self.strides, rank, "strides"), per_axis(self.dilations, rank, "dilations")
        extra = list(self.output_padding or (0,) * rank)
        pads = pad_pairs(None if self.auto_pad == "VALID" else self.pads, rank)
        if self.output_shape or self.auto_pad.startswith("SAME"):
            sizes = image_sizes(X, "X")[2]
            if len(sizes) != rank or len(self.output_shape or sizes) < rank or len(extra) != rank:
                raise NotationError(f"a filter of {rank} axes for {len(sizes)} spatial axes")
            expected = (self.output_shape or ())[-rank:] or [n * s for n, s in zip(sizes, strides, strict=True)]
            totals: list[int] = []
            for a, (n, m, s, k, d) in enumerate(zip(sizes, expected, strides, kernel, dilations, strict=True)):
                total = s * (n - 1) + extra[a] + (k - 1) * d + 1 - m
                if not isinstance(total, int):
                    raise NotKnownError("padding for a fixed result needs sizes that are numbers")
                totals.append(max(total, 0))
                extra[a] += max(-total, 0)
            pads = shared(totals, self.auto_pad)
        return core.conv_transpose(X, W, B, strides, dilations, pads, tuple(extra), self.group)


class DeformConv(OnnxOp, name="onnx.DeformConv"):
    """Deformable convolution: a convolution that samples its input at displaced positions, by linear interpolation.

    offset has, for each offset group and each element of the filter, a displacement along each spatial axis; mask
    multiplies the sampled elements.
    """

    X: Value = operand("T")
    W: Value = operand("T")
    offset: Value = operand("T")
    B: Value | None = operand("T", default=None)
    mask: Value | None = operand("T", default=None)
    strides: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    offset_group: int = attribute(attr_types.integer, default=1, check=positive)
    kernel_shape: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    group: int = attribute(attr_types.integer, default=1, check=positive)
    dilations: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    Y: Value = result("T")
    T = by_version(opset19=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value, W: Value, offset: Value, B: Value | None, mask: Value | None) -> Value:
        kernel, (n, c, sizes), f = kernel_of(W), image_sizes(X, "X"), image_sizes(W, "W")[0]
        (_, _, out), rank, points = image_sizes(offset, "offset"), len(kernel), prod(kernel)
        if not len(sizes) == len(out) == rank:
            raise NotationError(f"a filter of {rank} axes for {len(sizes)} spatial axes, displaced along {len(out)}")
        groups = self.offset_group
        per_group = floor_div(c, groups)
        images = core.reshape(X, (n * groups, per_group, *sizes))
        # [n, groups, points, axis, out...] with the axes last, the last axis first.
        moved = core.reshape(offset, (n * groups, points, rank, *out))
        moved = core.transpose(moved, (0, 1, *range(3, 3 + rank), 2))
        places = core.add(core.reverse(moved, (-1,)), self._places(kernel, out, offset))
        read = core.grid_sample(images, places)
        if mask is not None:
            read = core.mul(read, core.reshape(mask, (n * groups, 1, points, *out)))
        columns = core.reshape(read, (n, self.group, floor_div(c, self.group) * points, element_count(out)))
        rows = core.reshape(W, (self.group, floor_div(f, self.group), -1))
        y = core.reshape(core.matmul(rows, columns), (n, f, *out))
        return y if B is None else core.add(y, core.reshape(B, (-1, *(1,) * rank)))

    def _places(self, kernel: tuple[int, ...], out: tuple[Dim, ...], like: Value) -> Value:
        """Returns the positions that each element of the filter reads without offsets, [points, out..., axis], the last
        axis first.
        """
        rank = len(kernel)
        strides, dilations = per_axis(self.strides, rank, "strides"), per_axis(self.dilations, rank, "dilations")
        pads = pad_pairs(self.pads, rank)
        shape = (*kernel, *out)
        axes: list[Value] = []
        for a in reversed(range(rank)):
            inner = core.mul(core.iota(shape, a, i64), core.scalar(dilations[a], i64))
            outer = core.mul(core.iota(shape, rank + a, i64), core.scalar(strides[a], i64))
            axes.append(core.sub(core.add(inner, outer), core.scalar(pads[a][0], i64)))
        stacked = core.reshape(core.stack(tuple(axes), -1), (prod(kernel), *out, rank))
        return core.cast(stacked, element_of(like))


class Col2Im(OnnxOp, name="onnx.Col2Im", since="opset18"):
    """Rearranges column blocks back into images; elements of overlapping blocks are added."""

    input: Value = operand("T")
    image_shape: Value = operand("i64", by_value=True)
    block_shape: Value = operand("i64", by_value=True)
    strides: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    dilations: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    output: Value = result("T")
    T = ANY_13

    def reference(self, input: Value, image_shape: Value, block_shape: Value) -> Value:
        image, block = known(image_shape, "image_shape"), fixed(block_shape, "block_shape")
        rank, points = len(block), prod(block)
        strides, dilations = per_axis(self.strides, rank, "strides"), per_axis(self.dilations, rank, "dilations")
        pads, (n, rows, _) = pad_pairs(self.pads, rank), sizes_of_rank(input, "input", 3)
        if len(image) != rank or points < 1:
            raise NotationError(f"an image of {len(image)} axes and blocks of {block}")
        channels = floor_div(rows, points)
        if not isinstance(channels, int):
            raise NotKnownError("the number of channels is not known before running")
        counts: list[Dim] = []
        extra: list[int] = []
        for m, k, s, d, (lo, hi) in zip(image, block, strides, dilations, pads, strict=True):
            reach = m + lo + hi - (k - 1) * d - 1
            counts.append(floor_div(reach, s) + 1)
            left = reach - floor_div(reach, s) * s
            if not isinstance(left, int):
                raise NotKnownError("the size of the image is not known before running")
            extra.append(left)
        columns = core.reshape(input, (n * channels, points, *counts))
        # Each element of a block goes to its own place: a filter of ones, one at a time.
        ones = core.equal(core.iota((points, points), 0, i64), core.iota((points, points), 1, i64))
        filters = core.reshape(core.cast(ones, element_of(input)), (points, 1, *block))
        y = core.conv_transpose(columns, filters, None, strides, dilations, pads, tuple(extra))
        return core.reshape(y, (n, channels, *image))

    def infer_partially(self) -> tuple[Type, ...]:
        type, sizes = tensor_type(self.input), tensor_type(self.image_shape).shape
        count = sizes[0] if sizes is not None and len(sizes) == 1 else None
        if not type.shape or not isinstance(count, int):
            return (type.with_shape(None),)
        image = known_dims(self.image_shape) or (None,) * count
        return (type.with_shape((type.shape[0], None, *image)),)


class CausalConvWithState(OnnxOp, name="onnx.CausalConvWithState", since="opset27"):
    """Causal convolution: a depthwise convolution with preceding elements only; a state holds those before the first.

    Returns the result, optionally multiplied by its sigmoid, and the next state.
    """

    input: Value = operand("T")
    weight: Value = operand("T")
    bias: Value | None = operand("T", default=None)
    past_state: Value | None = operand("T", default=None)
    activation: str = attribute(attr_types.string, default="none", check=one_of("none", "silu", "swish"))
    output: Value = result("T")
    present_state: Value = result("T")
    T = element_type(bf16, f16, f32)

    def reference(
        self, input: Value, weight: Value, bias: Value | None, past_state: Value | None
    ) -> tuple[Value, Value]:
        n, c, length = sizes_of_rank(input, "input", 3)
        sizes_of_rank(weight, "weight", 3)
        (size,) = kernel_of(weight)
        if not isinstance(c, int):
            raise NotKnownError("the number of channels is not known before running")
        if past_state is None:
            joined = core.pad(input, (0, 0, size - 1), (0, 0, 0))
        else:
            joined = core.concat((past_state, input), 2)
        y = core.conv(joined, weight, bias, groups=c)
        state = core.slice(joined, (0, 0, length), (n, c, length + size - 1), (1, 1, 1))
        return (y if self.activation == "none" else core.silu(y)), state
