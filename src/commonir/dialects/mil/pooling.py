"""Pooling in the mil dialect.

Source: MIL operation reference, pool.
"""

from __future__ import annotations

import math

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_6
from commonir.dialects.mil.operands import FLOATS, STRING, OverSpatialAxes, rank_of
from commonir.dialects.mil.windows import PAD_TYPE, UNTIL_CORE_ML_5, PadType, has_one_per_axis, padded, paddings, spread
from commonir.ir.operation import Value
from commonir.notation import NotKnownError
from commonir.ods import attr_types, constraint, parameter, positive, result, traits
from commonir.ods.operand_shapes import known_dims_of


class Pool(OverSpatialAxes, traits=(traits.Pure,), same_rank="s o"):
    """One value for each window of one to three spatial axes.

    With ceil_mode a window may reach beyond the end, if it starts within x or the padding before it.
    """

    kernel_sizes: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", check=positive)
    pad_type: PadType = parameter(PAD_TYPE, spec=STRING, check=UNTIL_CORE_ML_5, relaxed_in=CORE_ML_6)
    strides: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", default=(), check=positive)
    pad: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", default=())
    ceil_mode: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    output: Value = result("T[n, c, o*]")
    T = FLOATS

    @constraint("C2")
    def _has_one_per_axis(self) -> bool:
        """kernel_sizes and strides have one number for each spatial axis, and pad has two."""
        rank = rank_of(self.x) - 2
        return len(self.kernel_sizes) == rank and has_one_per_axis(rank, self.strides, (), self.pad)

    @constraint("C3")
    def _may_overhang(self) -> bool:
        """with ceil_mode there are one or two spatial axes, pad_type is valid or custom, and pad is symmetric."""
        if not self.ceil_mode:
            return True
        declared = self.pad_type in (PadType.VALID, PadType.CUSTOM)
        return rank_of(self.x) <= 4 and declared and self.pad[::2] == self.pad[1::2]

    def windows(self, x: Value, fill: float) -> tuple[Value, tuple[int, ...], tuple[tuple[int, int], ...]]:
        """The operand, strides and the padding that the pooling operation has to add."""
        strides = spread(self.strides, len(self.kernel_sizes))
        amounts = paddings(self.pad_type, self.pad, known_dims_of(x)[2:], self.kernel_sizes, strides)
        wide, pads = padded(x, amounts, self.kernel_sizes, fill)
        return wide, strides, pads


class AvgPool(Pool, name="mil.avg_pool"):
    """Average pooling: the mean of each window. Padding counts as zeros unless exclude_padding_from_average is set.

    Source: MIL operation reference, avg_pool (iOS 15). The divisor of a window that reaches beyond the end is not
    documented; here, as in PyTorch, it counts x and its padding.
    """

    exclude_padding_from_average: bool = parameter(attr_types.flag, spec="i1[]", default=False)

    def reference(self, x: Value) -> Value:
        wide, strides, pads = self.windows(x, 0.0)
        if wide is not x and self.exclude_padding_from_average:
            raise NotKnownError("the amount of padding is not known before running")
        counts = not self.exclude_padding_from_average
        return core.average_pool(wide, self.kernel_sizes, strides, (), pads, self.ceil_mode, counts)


class MaxPool(Pool, name="mil.max_pool"):
    """Max pooling: the largest element of each window; padding is less than any element."""

    def reference(self, x: Value) -> Value:
        wide, strides, pads = self.windows(x, -math.inf)
        return core.max_pool(wide, self.kernel_sizes, strides, (), pads, self.ceil_mode)


class L2Pool(Pool, name="mil.l2_pool"):
    """L2 pooling: the root of the sum of the squares of each window; padding is zero."""

    @constraint("C4")
    def _has_few_axes(self) -> bool:
        """there are one or two spatial axes."""
        return rank_of(self.x) <= 4

    def reference(self, x: Value) -> Value:
        wide, strides, pads = self.windows(x, 0.0)
        squares = core.mul(wide, wide)
        return core.sqrt(core.sum_pool(squares, self.kernel_sizes, strides, (), pads, self.ceil_mode))
