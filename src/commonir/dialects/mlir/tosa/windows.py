"""Operations of the tosa dialect that sum products: convolutions, pooling, matrices and Fourier transforms.

Images have their channels last. Integers are summed without their zero points, in 64 bits.
Source: MLIR tosa dialect; TOSA specification 1.0, tensor operators.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import partial
from math import cos, pi, sin
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, integers
from commonir.dialects.mlir.tosa.base import (
    EnumForm,
    NanMode,
    Tensor1D,
    Tensor3D,
    Tensor4D,
    Tensor5D,
    TosaOp,
    ZeroPoint,
    element,
    known_number,
    nan_mode,
    sizes,
    stated_shape,
    stored_element,
    tensor_like,
)
from commonir.dialects.mlir.tosa.layout import same_sizes
from commonir.dialects.mlir.tosa.numbers import extended, reciprocal_scale, saturated, scaled, without_zero_point
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, Shape, Type, f32, i64
from commonir.ods import attr_types, attribute, operand, result
from commonir.ods.fields import Check
from commonir.ods.operand_shapes import known_dims_of, static_dims
from commonir.ods.text_form import CustomForm
from commonir.ods.type_rules import SameOperandsAndResultElementType, SameOperandsAndResultShape
from commonir.symbolic import Dim

Pairs = tuple[tuple[int, int], ...]


_ACCUMULATORS = frozenset({"i32", "i48", "f16", "f32"})
_accumulates = Check("i32, i48, f16 or f32", lambda t: str(t) in _ACCUMULATORS)
_OF_FLOATS = {"f16": ("f16", "f32"), "bf16": ("f32",), "f32": ("f32",)}
_OF_CONVOLUTIONS = {"i8": ("i32",), "i16": ("i48",), "f8E5M2": ("f16",), **_OF_FLOATS}
"""The types that sums of an element type may have; any for those that are not listed."""


def _exactly(count: int) -> Check:
    return Check(f"{count} numbers", lambda v: isinstance(v, tuple) and len(v) == count)  # pyright: ignore[reportUnknownArgumentType]


_TO_CHANNELS_FIRST = {4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}
_TO_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def _channels_first(x: Value) -> Value:
    return core.transpose(x, _TO_CHANNELS_FIRST[len(known_dims_of(x))])


def _channels_last(x: Value) -> Value:
    return core.transpose(x, _TO_CHANNELS_LAST[len(known_dims_of(x))])


def _pairs(pads: Sequence[int]) -> Pairs:
    return tuple(zip(pads[::2], pads[1::2], strict=True))


def _given(x: Value, expected: ElementType) -> Value:
    """A sum in the type of the result."""
    element_type = element(x)
    if element_type is expected:
        return x
    return core.cast(x, expected) if element_type.is_float or expected.is_float else integers.truncated(x, expected)


def output_size(size: Dim | None, window: Dim | None, stride: int, dilation: int, pads: tuple[int, int]) -> Dim | None:
    """Returns the number of windows; None when a dim is dynamic or the stride is zero."""
    if not isinstance(size, int) or not isinstance(window, int) or stride < 1:
        return None
    return (size - 1 + pads[0] + pads[1] - (window - 1) * dilation) // stride + 1


def _wrong_strides(
    op: TosaOp,
    shape: Shape,
    windows: Sequence[Dim | None],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Pairs,
) -> Iterator[Diagnostic]:
    """Yields an error for each spatial axis where the last window does not end with the padded input."""
    for n, (d, w, s, e, (lo, hi)) in enumerate(zip(shape[1:], windows, strides, dilations, pads, strict=False)):
        if isinstance(d, int) and isinstance(w, int) and s > 0 and (d - 1 + lo + hi - (w - 1) * e) % s:
            message = f"C3: expected {d - 1 + lo + hi - (w - 1) * e} steps along spatial axis {n}"
            yield op.violated(f"{message} to be wholly divisible by the stride {s}")


def _check_accumulator(op: TosaOp, input: Value, type: Type, allowed: Container[str]) -> Iterator[Diagnostic]:
    if str(type) not in allowed:
        yield op.violated(f"C5: sums of {element(input)} cannot have the accumulator type {type}")


class _Convolution(TosaOp):
    """Base class of convolutions.

    C1: strides and dilations are positive, paddings not negative. C2: channels of input, weight, bias and output fit.
    C3: the result has the sizes that follow. C4: zero points have the element types of what they belong to. C5: the
    accumulator's type is that of sums of the elements.
    """

    input: Value = operand(Tensor4D)
    weight: Value = operand(Tensor4D)
    bias: Value = operand(Tensor1D)
    input_zp: Value = operand(ZeroPoint)
    weight_zp: Value = operand(ZeroPoint)
    acc_type: Type = attribute(attr_types.type_, check=_accumulates)
    output: Value = result(Tensor4D)

    def check(self, weight_channels: Dim | None, filters: Dim | None) -> Iterator[Diagnostic]:
        """Yields the faults of channels and types."""
        input, weight, bias, output = self.input, self.weight, self.bias, self.output
        allowed = _OF_CONVOLUTIONS.get(stored_element(input).name, _ACCUMULATORS)
        yield from _check_accumulator(self, input, self.acc_type, allowed)
        for zero, value, what in ((self.input_zp, input, "input"), (self.weight_zp, weight, "weight")):
            if stored_element(zero) != stored_element(value):
                message = f"C4: expect both operands {what} and {what} zero point to have one element type"
                yield self.violated(f"{message}, got {element(value)} and {element(zero)}")
        if element(input).is_float != element(weight).is_float:
            message = "expect both input and weight to be float or not together"
            yield self.violated(f"{message}, got {element(input)} and {element(weight)}")
        if element(bias) is not element(output):
            message = "expect both bias and output to have one element type"
            yield self.violated(f"{message}, got {element(bias)} and {element(output)}")
        shape, out, biases = stated_shape(input), stated_shape(output), stated_shape(bias)
        channels = None if shape is None else shape[-1]
        if isinstance(channels, int) and isinstance(weight_channels, int) and channels != weight_channels:
            yield self.violated(f"C2: expect {weight_channels} input channels as of the weight, got {channels}")
        result = None if out is None else out[-1]
        if isinstance(result, int) and isinstance(filters, int) and result != filters:
            yield self.violated(f"C2: expect {filters} output channels as of the weight, got {result}")
        count = None if biases is None else biases[0]
        if isinstance(count, int) and isinstance(result, int) and count not in (result, 1):
            yield self.violated(
                f"C2: bias channels expected to be equal to output channels ({result}) or 1, got {count}"
            )

    def check_numbers(self, positive: Sequence[int], padding: Sequence[int]) -> Iterator[Diagnostic]:
        """Yields the faults of strides, dilations and paddings."""
        if any(p < 0 for p in padding):
            yield self.violated(f"C1: expect all padding values to be >= 0, got {list(padding)}")
        if any(p < 1 for p in positive):
            yield self.violated(f"C1: expect all stride and dilation values to be >= 1, got {list(positive)}")

    def check_sizes(self, expected: Sequence[Dim | None]) -> Iterator[Diagnostic]:
        """Yields the faults of the spatial dims of the result."""
        result = stated_shape(self.output)
        if result is not None and not same_sizes(tuple(expected), result[1:-1]):
            shown = ", ".join(["?" if d is None else str(d) for d in expected])
            yield self.violated(f"C3: calculated output sizes ({shown}) did not match those of {self.output.type}")

    def convolved(
        self,
        x: Value,
        weight: Value,
        bias: Value,
        strides: Sequence[int],
        dilations: Sequence[int],
        pads: Pairs,
        groups: int = 1,
    ) -> Value:
        """The convolution of tensors with channels first, in the type of the result."""
        expected = element(bias)
        exact = x if not element(x).is_float else _given(x, expected)
        filters = weight if not element(weight).is_float else _given(weight, expected)
        summed = core.conv(exact, filters, None, tuple(strides), tuple(dilations), pads, groups)
        offsets = bias if expected.is_float else extended(bias)
        rank = len(known_dims_of(summed))
        offsets = core.reshape(offsets, (1, -1, *(1,) * (rank - 2)))
        return _channels_last(_given(core.add(summed, offsets), expected))


class _WindowConvolution(_Convolution):
    """A convolution by windows that move over the input."""

    pad: tuple[int, ...] = attribute(sizes, check=_exactly(4))
    stride: tuple[int, ...] = attribute(sizes, check=_exactly(2))
    dilation: tuple[int, ...] = attribute(sizes, check=_exactly(2))


class _SpatialConvolution(_WindowConvolution):
    """A convolution whose filters see all channels."""

    def _sizes(self) -> list[Dim | None] | None:
        shape, window = stated_shape(self.input), stated_shape(self.weight)
        if shape is None or window is None:
            return None
        pads = _pairs(self.pad)
        return [
            output_size(d, w, s, e, p)
            for d, w, s, e, p in zip(shape[1:-1], window[1:-1], self.stride, self.dilation, pads, strict=True)
        ]

    def infer_results(self) -> tuple[Type, ...] | None:
        shape, window, spatial = stated_shape(self.input), stated_shape(self.weight), self._sizes()
        if shape is None or window is None or spatial is None:
            return None
        return (tensor_like(element(self.bias), (shape[0], *spatial, window[0])),)

    def verify(self) -> Iterator[Diagnostic]:
        window = stated_shape(self.weight)
        yield from self.check_numbers((*self.stride, *self.dilation), self.pad)
        yield from self.check(None if window is None else window[-1], None if window is None else window[0])
        spatial, shape = self._sizes(), stated_shape(self.input)
        if spatial is not None and shape is not None and window is not None:
            yield from _wrong_strides(self, shape, window[1:-1], self.stride, self.dilation, _pairs(self.pad))
            yield from self.check_sizes(spatial)

    def reference(self, input: Value, weight: Value, bias: Value, input_zp: Value, weight_zp: Value) -> Value:
        x = _channels_first(without_zero_point(input, input_zp))
        w = _channels_first(without_zero_point(weight, weight_zp))
        return self.convolved(x, w, bias, self.stride, self.dilation, _pairs(self.pad))


class Conv2D(_SpatialConvolution, name="tosa.conv2d"):
    """2-D convolution: input NHWC, weight OHWI.

    C1: strides and dilations are positive, paddings not negative. C2: channels of input, weight, bias and output fit.
    C3: the result has the sizes that follow. C4: zero points have the element types of what they belong to. C5: the
    accumulator's type is that of sums of the elements.
    """

    local_bound: bool | None = attribute(attr_types.flag, default=None, elided=False)


class Conv3D(_SpatialConvolution, name="tosa.conv3d"):
    """3-D convolution: input NDHWC, weight ODHWI.

    C1: strides and dilations are positive, paddings not negative. C2: channels of input, weight, bias and output fit.
    C3: the result has the sizes that follow. C4: zero points have the element types of what they belong to. C5: the
    accumulator's type is that of sums of the elements.
    """

    input: Value = operand(Tensor5D)
    weight: Value = operand(Tensor5D)
    pad: tuple[int, ...] = attribute(sizes, check=_exactly(6))
    stride: tuple[int, ...] = attribute(sizes, check=_exactly(3))
    dilation: tuple[int, ...] = attribute(sizes, check=_exactly(3))
    output: Value = result(Tensor5D)
    local_bound: bool | None = attribute(attr_types.flag, default=None, elided=False)


class DepthwiseConv2D(_WindowConvolution, name="tosa.depthwise_conv2d"):
    """Depthwise 2-D convolution: input NHWC, weight [height, width, channel, multiplier].

    C1: strides and dilations are positive, paddings not negative. C2: channels of input, weight, bias and output fit.
    C3: the result has the sizes that follow. C4: zero points have the element types of what they belong to. C5: the
    accumulator's type is that of sums of the elements.
    """

    local_bound: bool | None = attribute(attr_types.flag, default=None, elided=False)

    def _shape(self) -> Shape | None:
        shape, window = stated_shape(self.input), stated_shape(self.weight)
        if shape is None or window is None:
            return None
        spatial = [
            output_size(d, w, s, e, p)
            for d, w, s, e, p in zip(shape[1:-1], window[:2], self.stride, self.dilation, _pairs(self.pad), strict=True)
        ]
        filters = window[2] * window[3] if isinstance(window[2], int) and isinstance(window[3], int) else None
        return (shape[0], *spatial, filters)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = self._shape()
        return None if shape is None else (tensor_like(element(self.bias), shape),)

    def verify(self) -> Iterator[Diagnostic]:
        window, shape = stated_shape(self.weight), self._shape()
        yield from self.check_numbers((*self.stride, *self.dilation), self.pad)
        yield from self.check(None if window is None else window[2], None if shape is None else shape[-1])
        before = stated_shape(self.input)
        if shape is not None and before is not None and window is not None:
            yield from _wrong_strides(self, before, window[:2], self.stride, self.dilation, _pairs(self.pad))
            yield from self.check_sizes(shape[1:-1])

    def reference(self, input: Value, weight: Value, bias: Value, input_zp: Value, weight_zp: Value) -> Value:
        height, width, channels, filters = static_dims(weight)
        x = _channels_first(without_zero_point(input, input_zp))
        w = core.transpose(without_zero_point(weight, weight_zp), (2, 3, 0, 1))
        w = core.reshape(w, (channels * filters, 1, height, width))
        return self.convolved(x, w, bias, self.stride, self.dilation, _pairs(self.pad), channels)


class TransposeConv2D(_Convolution, name="tosa.transpose_conv2d"):
    """Transposed 2-D convolution: input NHWC, weight OHWI.

    `out_pad` is added to the result, or taken from it where negative.

    C1: strides are positive. C2: channels of input, weight, bias and output fit. C3: the result has the sizes that
    follow. C4: zero points have the element types of what they belong to. C5: the accumulator's type is that of sums
    of the elements.
    """

    out_pad: tuple[int, ...] = attribute(sizes, check=_exactly(4))
    stride: tuple[int, ...] = attribute(sizes, check=_exactly(2))
    local_bound: bool | None = attribute(attr_types.flag, default=None, elided=False)

    def _spatial(self) -> list[Dim | None] | None:
        shape, window = stated_shape(self.input), stated_shape(self.weight)
        if shape is None or window is None:
            return None
        return [
            (d - 1) * s + lo + hi + w if isinstance(d, int) and isinstance(w, int) else None
            for d, w, s, (lo, hi) in zip(shape[1:-1], window[1:-1], self.stride, _pairs(self.out_pad), strict=True)
        ]

    def infer_results(self) -> tuple[Type, ...] | None:
        shape, window, spatial = stated_shape(self.input), stated_shape(self.weight), self._spatial()
        if shape is None or window is None or spatial is None:
            return None
        return (tensor_like(element(self.bias), (shape[0], *spatial, window[0])),)

    def verify(self) -> Iterator[Diagnostic]:
        window, spatial = stated_shape(self.weight), self._spatial()
        yield from self.check_numbers(self.stride, ())
        yield from self.check(None if window is None else window[-1], None if window is None else window[0])
        if spatial is not None:
            yield from self.check_sizes(spatial)

    def reference(self, input: Value, weight: Value, bias: Value, input_zp: Value, weight_zp: Value) -> Value:
        x = _channels_first(without_zero_point(input, input_zp))
        # A convolution of the input spread out by the stride, with mirrored filters.
        w = core.reverse(_channels_first(without_zero_point(weight, weight_zp)), (2, 3))
        *_, height, width = static_dims(w)
        x = _spread(_spread(x, 2, self.stride[0]), 3, self.stride[1])
        top, bottom, left, right = self.out_pad
        around = [height - 1 + top, height - 1 + bottom, width - 1 + left, width - 1 + right]
        padded = core.pad(x, (0, 0, max(around[0], 0), max(around[2], 0)), (0, 0, max(around[1], 0), max(around[3], 0)))
        whole = known_dims_of(padded)
        first = (0, 0, max(-around[0], 0), max(-around[2], 0))
        last = (whole[0], whole[1], whole[2] - max(-around[1], 0), whole[3] - max(-around[3], 0))
        return self.convolved(core.slice(padded, first, last, (1,) * 4), w, bias, (1, 1), (1, 1), ((0, 0), (0, 0)))


def _spread(x: Value, axis: int, stride: int) -> Value:
    """The elements along an axis with `stride - 1` zeros between them."""
    if stride == 1:
        return x
    shape = known_dims_of(x)
    rank = len(shape)
    after = tuple([stride - 1 if n == axis + 1 else 0 for n in range(rank + 1)])
    wide = core.pad(core.unsqueeze(x, (axis + 1,)), (0,) * (rank + 1), after)
    merged = core.reshape(wide, (*shape[:axis], shape[axis] * stride, *shape[axis + 1 :]))
    ends = (*shape[:axis], shape[axis] * stride - (stride - 1), *shape[axis + 1 :])
    return core.slice(merged, (0,) * rank, ends, (1,) * rank)


# -- pooling


class _Pool(TosaOp):
    """Base class of poolings. C1: kernel and strides are positive, paddings not negative. C2: paddings are smaller than
    the kernel. C3: the result has the sizes that follow.
    """

    input: Value = operand(Tensor4D)
    kernel: tuple[int, ...] = attribute(sizes, check=_exactly(2))
    stride: tuple[int, ...] = attribute(sizes, check=_exactly(2))
    pad: tuple[int, ...] = attribute(sizes, check=_exactly(4))
    output: Value = result(Tensor4D)

    def _sizes(self, shape: Shape) -> list[Dim | None]:
        axes = zip(shape[1:3], self.kernel, self.stride, _pairs(self.pad), strict=True)
        return [output_size(d, k, s, 1, p) for d, k, s, p in axes]

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.input)
        if shape is None:
            return None
        spatial = self._sizes(shape)
        return (tensor_like(element(self.input), (shape[0], *spatial, shape[-1])),)

    def verify(self) -> Iterator[Diagnostic]:
        kernel, stride, pad = self.kernel, self.stride, self.pad
        if any(k < 1 for k in kernel):
            yield self.violated(f"C1: expect all kernel values to be >= 1, got {list(kernel)}")
        if any(s < 1 for s in stride):
            yield self.violated(f"C1: expect all stride values to be >= 1, got {list(stride)}")
            return
        if any(p < 0 for p in pad):
            yield self.violated(f"C1: expect all padding values to be >= 0, got {list(pad)}")
        if any(p >= k for k, pair in zip(kernel, _pairs(pad), strict=True) for p in pair):
            message = f"C2: expected all padding to be less than the kernel, got {list(pad)} and {list(kernel)}"
            yield self.violated(message)
        shape, found = stated_shape(self.input), stated_shape(self.output)
        if shape is not None:
            yield from _wrong_strides(self, shape, kernel, stride, (1, 1), _pairs(pad))
        if shape is None or found is None:
            return
        spatial = self._sizes(shape)
        if not same_sizes((shape[0], *spatial, shape[-1]), found):
            yield self.violated(f"C3: calculated output sizes {spatial} did not match those of {self.output.type}")


class AvgPool2D(_Pool, name="tosa.avg_pool2d"):
    """2-D average pooling, NHWC; padding is not counted.

    C1: kernel and strides are positive, paddings not negative. C2: paddings are smaller than the kernel. C3: the result
    has the sizes that kernel, strides and padding give. C4: zero points have the element types of input and output.
    C5: the accumulator's type is that of sums of the elements.
    """

    input_zp: Value = operand(ZeroPoint)
    output_zp: Value = operand(ZeroPoint)
    acc_type: Type = attribute(attr_types.type_, check=_accumulates)

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        stored = stored_element(self.input).name
        allowed = ("i32",) if stored[:1] == "i" else _OF_FLOATS.get(stored, _ACCUMULATORS)
        yield from _check_accumulator(self, self.input, self.acc_type, allowed)
        for zero, value in ((self.input_zp, self.input), (self.output_zp, self.output)):
            if stored_element(zero) != stored_element(value):
                message = "C4: expect a zero point to have the element type of what it belongs to"
                yield self.violated(f"{message}, got {element(zero)} and {element(value)}")
            elif known_number(zero) not in (0, None) and stored_element(value).name not in ("i8", "ui8"):
                yield self.violated(f"zero point must be zero for elements of {element(value)}")

    def reference(self, input: Value, input_zp: Value, output_zp: Value) -> Value:
        pads, element_type = _pairs(self.pad), element(input)
        if element_type.is_float:
            wide = _channels_first(input)
            found = core.average_pool(wide, self.kernel, self.stride, (1, 1), pads, False, False)
            return _channels_last(found)
        x = _channels_first(without_zero_point(input, input_zp))
        summed = core.sum_pool(x, self.kernel, self.stride, (1, 1), pads, False)
        counts = self._counts(static_dims(x)[2:], static_dims(summed)[2:])
        factors = [reciprocal_scale(n) for n in counts]
        shape = static_dims(summed)[2:]
        multiplier = core.constant(data_of(i64, shape, [m for m, _ in factors]))
        shift = core.constant(data_of(i64, shape, [s for _, s in factors]))
        mean = scaled(summed, multiplier, shift, double_round=False)
        return _channels_last(saturated(core.add(mean, extended(core.reshape(output_zp, ()))), element_type))

    def _counts(self, sizes: Sequence[int], windows: Sequence[int]) -> list[int]:
        """Returns the number of elements of each window that are not padding, in row-major order."""
        per_axis: list[list[int]] = []
        for d, count, k, s, (lo, _) in zip(sizes, windows, self.kernel, self.stride, _pairs(self.pad), strict=True):
            per_axis.append([min(n * s - lo + k, d) - max(n * s - lo, 0) for n in range(count)])
        return [a * b for a in per_axis[0] for b in per_axis[1]]


class MaxPool2D(_Pool, name="tosa.max_pool2d"):
    """2-D max pooling, NHWC; `nan_mode` propagates or ignores NaN. C1: kernel and strides are positive, paddings not
    negative. C2: paddings are smaller than the kernel. C3: the result has the sizes that kernel, strides and padding
    give.
    """

    custom_form: ClassVar[CustomForm | None] = EnumForm()

    nan_mode: NanMode = attribute(nan_mode, default=NanMode.PROPAGATE)

    def verify(self) -> Iterator[Diagnostic]:
        if element(self.input) is not element(self.output):
            yield self.violated("expect input and output to have the same element type")
        yield from super().verify()

    def reference(self, input: Value) -> Value:
        x = _channels_first(input)
        pool = partial(core.max_pool, kernel=self.kernel, strides=self.stride, pads=_pairs(self.pad))
        if not element(x).is_float:
            return _channels_last(pool(x))
        missing = core.is_nan(x)
        largest = pool(core.select(missing, core.splat(float("-inf"), x), x))
        counted = core.logical_not(missing) if self.nan_mode is NanMode.IGNORE else missing
        some = core.greater(pool(core.cast(counted, f32)), core.scalar(0.0, f32))
        is_missing = core.logical_not(some) if self.nan_mode is NanMode.IGNORE else some
        return _channels_last(core.select(is_missing, core.splat(float("nan"), largest), largest))


# -- matrices


class MatMul(TosaOp, name="tosa.matmul"):
    """Batched matrix product. C1: the contracted sizes are equal, and so are the batches."""

    a: Value = operand(Tensor3D)
    b: Value = operand(Tensor3D)
    a_zp: Value = operand(ZeroPoint)
    b_zp: Value = operand(ZeroPoint)
    output: Value = result(Tensor3D)

    def verify(self) -> Iterator[Diagnostic]:
        for zero, value, what in ((self.a_zp, self.a, "a"), (self.b_zp, self.b, "b")):
            if stored_element(zero) != stored_element(value):
                message = f"expect {what} and {what}_zp to have the same element type"
                yield self.violated(f"{message}, got {element(value)} and {element(zero)}")
        a, b, c = stated_shape(self.a), stated_shape(self.b), stated_shape(self.output)
        if a is None or b is None:
            return
        if not same_sizes((a[0], a[2]), (b[0], b[1])):
            yield self.violated(f"C1: expect batches and summed axes to match, got {self.a.type} and {self.b.type}")
        elif c is not None and not same_sizes((a[0], a[1], b[2]), c):
            yield self.violated(f"C1: expected a result of {a[1]} by {b[2]}, found {self.output.type}")

    def reference(self, a: Value, b: Value, a_zp: Value, b_zp: Value) -> Value:
        expected = element(self.output)
        left, right = without_zero_point(a, a_zp), without_zero_point(b, b_zp)
        if element(left).is_float:
            left, right = _given(left, expected), _given(right, expected)
        return _given(core.matmul(left, right), expected)


# -- Fourier transforms


def _waves(size: int, count: int, element_type: ElementType) -> tuple[Value, Value]:
    """Cosines and sines of all angles of a transform: an axis of positions, one of frequencies."""
    angles = [2 * pi * (n * k % size) / size for n in range(size) for k in range(count)]
    return (
        core.constant(data_of(element_type, (size, count), [cos(a) for a in angles])),
        core.constant(data_of(element_type, (size, count), [sin(a) for a in angles])),
    )


def _transformed(real: Value, imag: Value, count: int, *, inverse: bool) -> tuple[Value, Value]:
    """The transform along the last two axes, `count` frequencies of the last one."""
    _, height, width = static_dims(real)
    element_type = element(real)
    for size, frequencies in ((width, count), (height, height)):
        even, odd = _waves(size, frequencies, element_type)
        a, b = core.matmul(real, even), core.matmul(imag, odd)
        c, d = core.matmul(imag, even), core.matmul(real, odd)
        real, imag = (core.sub(a, b), core.add(c, d)) if inverse else (core.add(a, b), core.sub(c, d))
        real, imag = core.transpose(real, (0, 2, 1)), core.transpose(imag, (0, 2, 1))
    return real, imag


class FFT2d(TosaOp, name="tosa.fft2d", traits=(SameOperandsAndResultElementType, SameOperandsAndResultShape)):
    """2-D discrete Fourier transform, or its unnormalized inverse, of real and imaginary parts."""

    input_real: Value = operand(Tensor3D)
    input_imag: Value = operand(Tensor3D)
    inverse: bool = attribute(attr_types.flag)
    local_bound: bool | None = attribute(attr_types.flag, default=None, elided=False)
    output_real: Value = result(Tensor3D)
    output_imag: Value = result(Tensor3D)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.input_real.type, self.input_real.type)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_powers(self, self.input_real, (1, 2))

    def reference(self, input_real: Value, input_imag: Value) -> tuple[Value, ...]:
        return _transformed(input_real, input_imag, static_dims(input_real)[2], inverse=self.inverse)


def _check_powers(op: TosaOp, value: Value, axes: Sequence[int]) -> Iterator[Diagnostic]:
    shape = stated_shape(value)
    if not element(value).is_float:
        yield op.violated(f"requires a floating-point type, found {element(value)}")
    for n in axes:
        size = None if shape is None else shape[n]
        if isinstance(size, int) and (size < 1 or size & (size - 1)):
            yield op.violated(f"expected {'height' if n == 1 else 'width'} to be a power of two, got {size}")


class RFFT2d(TosaOp, name="tosa.rfft2d", traits=(SameOperandsAndResultElementType,)):
    """2-D discrete Fourier transform of real input: the non-redundant frequencies."""

    input_real: Value = operand(Tensor3D)
    local_bound: bool | None = attribute(attr_types.flag, default=None, elided=False)
    output_real: Value = result(Tensor3D)
    output_imag: Value = result(Tensor3D)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.input_real)
        if shape is None:
            return None
        built = tensor_like(
            element(self.input_real), (*shape[:2], shape[2] // 2 + 1 if isinstance(shape[2], int) else None)
        )
        return (built, built)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_powers(self, self.input_real, (1, 2))

    def reference(self, input_real: Value) -> tuple[Value, ...]:
        zeros = core.mul(input_real, core.splat(0.0, input_real))
        return _transformed(input_real, zeros, static_dims(input_real)[2] // 2 + 1, inverse=False)
