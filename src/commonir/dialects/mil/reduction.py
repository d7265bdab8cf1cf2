"""Reductions of the mil dialect: elements along axes combined into one.

Integers give integers: where a mean, root or logarithm is not whole, it is computed exactly or in single precision and
truncated.
Source: MIL operation reference, reduction.
"""

from __future__ import annotations

from abc import abstractmethod

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_7
from commonir.dialects.mil.elementwise import DATA_TYPE
from commonir.dialects.mil.operands import (
    NUMBERS,
    STRING,
    AlongAxis,
    DataType,
    OverAxes,
    converted,
    element_of,
    every_axis,
    rank_of,
)
from commonir.ir.operation import Value
from commonir.ir.types import f32, i32, u16
from commonir.ods import attr_types, by_version, element_type, one_of, operand, parameter, result, traits
from commonir.ods.operand_shapes import known_dims_of
from commonir.symbolic import element_count


class Reduction(OverAxes, traits=(traits.Pure,)):
    """Elements along axes combined into one; along all axes when none are given."""

    x: Value = operand("T[*]")
    axes: tuple[int, ...] | None = parameter(attr_types.integers, spec="i32[*]", default=None)
    keep_dims: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    output: Value = result("T[*]")
    T = NUMBERS

    @abstractmethod
    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        """The elements of a tensor combined over axes, of which there is at least one."""

    def reference(self, x: Value) -> Value:
        axes = every_axis(self.axes, rank_of(x))
        if axes:
            return self.reduced(x, axes, self.keep_dims)
        # No axes, or a scalar: each element is combined with no other. The core reads () as all axes.
        return self.reduced(core.unsqueeze(x, (0,)), (0,), False)


def _in_float(x: Value) -> Value:
    """A number in a floating-point type."""
    return x if element_of(x).is_float else core.cast(x, f32)


class ReduceL1Norm(Reduction, name="mil.reduce_l1_norm"):
    """L1 norm: the sum of the absolute values over some axes."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        return core.reduce_sum(core.abs(x), axes, keep_dims)


class ReduceL2Norm(Reduction, name="mil.reduce_l2_norm"):
    """L2 norm: the root of the sum of the squares over some axes."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        wide = _in_float(x)
        root = core.sqrt(core.reduce_sum(core.mul(wide, wide), axes, keep_dims))
        return converted(root, element_of(x))


class ReduceLogSum(Reduction, name="mil.reduce_log_sum"):
    """Natural logarithm of the sum over some axes."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        summed = core.reduce_sum(_in_float(x), axes, keep_dims)
        return converted(core.log(summed), element_of(x))


class ReduceLogSumExp(Reduction, name="mil.reduce_log_sum_exp"):
    """Natural logarithm of the sum of the exponentials over some axes, computed relative to the largest element."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        wide = _in_float(x)
        top = core.reduce_max(wide, axes, True)
        summed = core.reduce_sum(core.exp(core.sub(wide, top)), axes, keep_dims)
        shift = top if keep_dims else core.squeeze(top, axes)
        return converted(core.add(core.log(summed), shift), element_of(x))


class ReduceMax(Reduction, name="mil.reduce_max"):
    """Largest element over some axes."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        return core.reduce_max(x, axes, keep_dims)


class ReduceMean(Reduction, name="mil.reduce_mean"):
    """Mean over some axes; of integers, truncated toward zero."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        if element_of(x).is_float:
            return core.reduce_mean(x, axes, keep_dims)
        count = element_count(tuple([known_dims_of(x)[a] for a in axes]))
        return core.div(core.reduce_sum(x, axes, keep_dims), core.dims((count,), i32, True))


class ReduceMin(Reduction, name="mil.reduce_min"):
    """Smallest element over some axes."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        return core.reduce_min(x, axes, keep_dims)


class ReduceProd(Reduction, name="mil.reduce_prod"):
    """Product of the elements over some axes."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        return core.reduce_prod(x, axes, keep_dims)


class ReduceSum(Reduction, name="mil.reduce_sum"):
    """Sum of the elements over some axes."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        return core.reduce_sum(x, axes, keep_dims)


class ReduceSumSquare(Reduction, name="mil.reduce_sum_square"):
    """Sum of the squares over some axes."""

    def reduced(self, x: Value, axes: tuple[int, ...], keep_dims: bool) -> Value:
        return core.reduce_sum(core.mul(x, x), axes, keep_dims)


class ArgReduction(AlongAxis, traits=(traits.Pure,)):
    """The position of an extreme element along an axis; of equal ones, the first (unspecified in MIL)."""

    x: Value = operand("T[*]")
    axis: int = parameter(attr_types.integer, spec="i32[]", default=-1)
    keep_dims: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    output_dtype: DataType = parameter(
        DATA_TYPE, spec=STRING, default=DataType.INT32, check=one_of(DataType.INT32, DataType.UINT16), since=CORE_ML_7
    )
    output: Value = result("P[*]")
    T = NUMBERS
    P = by_version(CoreML5=element_type(i32), CoreML7=element_type(i32, u16))


class ReduceArgmax(ArgReduction, name="mil.reduce_argmax"):
    """The position of the largest element along an axis; of equal ones, the first (unspecified in MIL)."""

    def reference(self, x: Value) -> Value:
        return core.arg_max(x, self.axis, self.keep_dims, self.output_dtype.element)


class ReduceArgmin(ArgReduction, name="mil.reduce_argmin"):
    """The position of the smallest element along an axis; of equal ones, the first (unspecified in MIL)."""

    def reference(self, x: Value) -> Value:
        return core.arg_min(x, self.axis, self.keep_dims, self.output_dtype.element)
