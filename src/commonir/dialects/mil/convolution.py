"""Convolutions of the mil dialect.

Source: MIL operation reference, conv.
"""

from __future__ import annotations

from enum import Enum

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_6, CORE_ML_7
from commonir.dialects.mil.operands import (
    FLOATS,
    OWN_FLOATS,
    STRING,
    Condition,
    OverSpatialAxes,
    converted,
    element_of,
    rank_of,
    same_size,
)
from commonir.dialects.mil.windows import PAD_TYPE, UNTIL_CORE_ML_5, PadType, has_one_per_axis, padded, paddings, spread
from commonir.ir.operation import Value
from commonir.ir.types import u8
from commonir.notation import NotKnownError
from commonir.ods import (
    attr_types,
    constraint,
    element_type,
    known_data,
    one_of,
    operand,
    parameter,
    positive,
    result,
    traits,
)
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.symbolic import Dim


class Conv(OverSpatialAxes, name="mil.conv", traits=(traits.Pure,), same_rank="s k o"):
    """Convolution over one to three spatial axes, without mirroring the filter.

    `pad` has the amounts before and after each spatial axis in turn, and applies only if `pad_type` is custom. With
    same, the result has the size of x divided by the stride, rounded up; if the padding is odd, the extra element is at
    the end.
    """

    x: Value = operand("T[n, i, s*]")
    weight: Value = operand("U[f, c, k*]")
    bias: Value | None = operand("U[f]", default=None, constant=True, relaxed_in=CORE_ML_7)
    strides: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", default=(), check=positive)
    pad_type: PadType = parameter(
        PAD_TYPE, spec=STRING, default=PadType.VALID, check=UNTIL_CORE_ML_5, relaxed_in=CORE_ML_6
    )
    pad: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", default=())
    dilations: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", default=(), check=positive)
    groups: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    output: Value = result("T[n, f, o*]")
    T = FLOATS
    U = OWN_FLOATS

    @constraint("C2")
    def _has_one_per_axis(self) -> bool:
        """strides and dilations have one number for each spatial axis, and pad has two."""
        return has_one_per_axis(rank_of(self.x) - 2, self.strides, self.dilations, self.pad)

    @constraint("C3")
    def _channels_fit(self) -> Condition:
        """x has groups times the channels of weight, and the number of filters is a multiple of groups."""
        filters, channels, *_ = ranked_shape(self.weight)
        if isinstance(filters, int) and filters % self.groups:
            return False
        return same_size(ranked_shape(self.x)[1], None if channels is None else channels * self.groups, "channels of x")

    def trace_key(self) -> object:
        return known_data(self.weight) is not None

    @constraint("C4")
    def _dilates_constants_only(self) -> bool:
        """weight is constant unless all dilations are 1."""
        return known_data(self.weight) is not None or all(d == 1 for d in self.dilations)

    def reference(self, x: Value, weight: Value, bias: Value | None) -> Value:
        element = element_of(x)
        kernel = _spatial(weight)
        strides, dilations = spread(self.strides, len(kernel)), spread(self.dilations, len(kernel))
        reach = tuple([(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)])
        amounts = paddings(self.pad_type, self.pad, known_dims_of(x)[2:], reach, strides)
        wide, pads = padded(x, amounts, reach, 0.0)
        offset = None if bias is None else converted(bias, element)
        return core.conv(wide, converted(weight, element), offset, strides, dilations, pads, self.groups)


def _spatial(weight: Value) -> tuple[int, ...]:
    """The size of the filter along the spatial axes."""
    sizes = [d for d in ranked_shape(weight)[2:] if isinstance(d, int)]
    if len(sizes) != rank_of(weight) - 2:
        raise NotKnownError("the size of the filter is not known before running")
    return tuple(sizes)


class QuantizationType(Enum):
    """Quantizations of an integer weight."""

    LINEAR = "linear"
    LUT = "lut"


class ConvQuantized(Conv, name="mil.conv_quantized"):
    """Convolution with a quantized weight: weight * quant_scale + quant_bias. The bias is not quantized.

    Source: MIL operation reference, conv_quantized (iOS 15, experimental).
    """

    weight: Value = operand("U[f, c, k*]")
    bias: Value | None = operand("U[f]", default=None, constant=True)
    pad_type: PadType = parameter(PAD_TYPE, spec=STRING, default=PadType.VALID, check=UNTIL_CORE_ML_5)
    quantization_type: QuantizationType = parameter(attr_types.enumeration(QuantizationType), spec=STRING)  # pyright: ignore[reportGeneralTypeIssues]  by name
    nbits: int = parameter(attr_types.integer, spec="i32[]", default=8, check=one_of(*range(1, 9)))
    quant_scale: Value = operand("T[*]", constant=True)  # pyright: ignore[reportGeneralTypeIssues]  by name
    quant_bias: Value = operand("T[*]", constant=True)  # pyright: ignore[reportGeneralTypeIssues]  by name
    U = element_type(u8)

    @constraint("C5")
    def _fits_filters(self) -> Condition:
        """quant_scale and quant_bias have one number, or one for each filter."""
        filters = ranked_shape(self.weight)[0]
        return all(ranked_shape(v) in ((), (1,), (filters,)) for v in (self.quant_scale, self.quant_bias))

    @constraint("C6")
    def _is_linear(self) -> bool:
        """quantization_type is linear: with lut there is no parameter that holds the table."""
        return self.quantization_type is QuantizationType.LINEAR

    def reference(  # pyright: ignore[reportIncompatibleMethodOverride]  it has operands of its own
        self, x: Value, weight: Value, bias: Value | None, quant_scale: Value, quant_bias: Value
    ) -> Value:
        element = element_of(x)

        def for_filters(v: Value) -> Value:
            return v if rank_of(v) == 0 else core.reshape(v, (-1, *(1,) * (rank_of(weight) - 1)))

        numbers = core.add(core.mul(core.cast(weight, element), for_filters(quant_scale)), for_filters(quant_bias))
        return super().reference(x, numbers, None if bias is None else core.cast(bias, element))


class ConvTranspose(OverSpatialAxes, name="mil.conv_transpose", traits=(traits.Pure,), same_rank="s k o"):
    """Transposed convolution, the gradient of a convolution by its input: each element of x spreads the filter over the
    result.

    Without output_shape the spatial sizes are (size - 1) * stride + (kernel - 1) * dilation + 1, minus pad when
    `pad_type` is custom, and size * stride when it is same. output_shape takes precedence; elements that it adds are at
    the end.
    """

    weight: Value = operand("U[c, g, k*]", constant=True, relaxed_in=CORE_ML_7)
    bias: Value | None = operand("U[f]", default=None, constant=True, relaxed_in=CORE_ML_7)
    pad: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", default=())
    output_shape: tuple[int, ...] | None = parameter(attr_types.integers, spec="i32[*]", default=None)
    pad_type: PadType = parameter(PAD_TYPE, spec=STRING, default=PadType.VALID, check=UNTIL_CORE_ML_5)
    strides: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", default=(), check=positive)
    dilations: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", default=(), check=positive)
    groups: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    output: Value = result("T[n, f, o*]")
    T = FLOATS
    U = OWN_FLOATS

    @constraint("C2")
    def _has_one_per_axis(self) -> bool:
        """strides and dilations have one number for each spatial axis, and pad has two."""
        return has_one_per_axis(rank_of(self.x) - 2, self.strides, self.dilations, self.pad)

    @constraint("C3")
    def _groups_fit(self) -> bool:
        """groups divides the channels of x."""
        channels = ranked_shape(self.x)[1]
        return not isinstance(channels, int) or channels % self.groups == 0

    @constraint("C4")
    def _states_whole_shape(self) -> Condition:
        """output_shape has all axes, with the batch size of x and the channels of the result."""
        if self.output_shape is None:
            return True
        if len(self.output_shape) != rank_of(self.x):
            return False
        filters = ranked_shape(self.weight)[1]
        if isinstance(filters, int) and filters * self.groups != self.output_shape[1]:
            return False
        return same_size(ranked_shape(self.x)[0], self.output_shape[0], "batch of output_shape")

    def reference(self, x: Value, weight: Value, bias: Value | None) -> Value:
        element = element_of(x)
        kernel = _spatial(weight)
        strides, dilations = spread(self.strides, len(kernel)), spread(self.dilations, len(kernel))
        pads: list[tuple[int, int]] = []
        extra: list[int] = []
        for axis, (k, s, d) in enumerate(zip(kernel, strides, dilations, strict=True)):
            before, after = self._cropped(axis, known_dims_of(x)[2 + axis], (k - 1) * d + 1, s)
            pads.append((before, max(after, 0)))
            extra.append(max(-after, 0))
        offset = None if bias is None else converted(bias, element)
        return core.conv_transpose(
            x, converted(weight, element), offset, strides, dilations, tuple(pads), tuple(extra), self.groups
        )

    def _cropped(self, axis: int, size: Dim, reach: int, stride: int) -> tuple[int, int]:
        """Returns how much to cut from the full result of one axis at the beginning and the end; negative where it
        grows.
        """
        full = (size - 1) * stride + reach
        declared = None if self.output_shape is None else self.output_shape[2 + axis]
        if self.pad_type is PadType.CUSTOM:
            before, after = (self.pad or (0, 0) * (axis + 1))[2 * axis : 2 * axis + 2]
            return before, after if declared is None else _fixed(full - before - declared)
        if self.pad_type is PadType.VALID:
            return 0, 0 if declared is None else _fixed(full - declared)
        total = reach - stride if declared is None else _fixed(full - declared)
        before = max(total, 0) // 2
        return before, total - before


def _fixed(size: Dim) -> int:
    if not isinstance(size, int):
        raise NotKnownError("the size of a spatial axis is not known before running")
    return size
