"""ONNX reductions.

From opset 13 (`ReduceSum`) or 18 on, the axes are an operand; before, an attribute.
Source: ONNX operator reference, default domain, versions 1 to 28.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    BOOLEAN,
    BYTES,
    FLOATS,
    NUMBERS,
    NUMBERS_1,
    WIDE_NUMBERS,
    WIDE_NUMBERS_1,
    OnnxOp,
    axis_from_start,
    element_of,
    fixed,
    rank_of,
    shape_of,
    tensor_type,
)
from commonir.ir.operation import Value
from commonir.ir.types import Type, boolean, f64, i64, u8
from commonir.ods import attr_types, attribute, by_version, known_dims, operand, result
from commonir.symbolic import element_count

_NUMBERS = by_version(opset1=WIDE_NUMBERS_1, opset11=WIDE_NUMBERS_1, opset13=WIDE_NUMBERS, opset18=WIDE_NUMBERS)
_LOGARITHMS = by_version(
    opset1=WIDE_NUMBERS_1, opset11=WIDE_NUMBERS_1, opset13=WIDE_NUMBERS, opset18=WIDE_NUMBERS, opset28=FLOATS
)
_EXTREMES = by_version(
    opset1=WIDE_NUMBERS_1, opset11=WIDE_NUMBERS_1, opset12=WIDE_NUMBERS_1 | BYTES, opset13=WIDE_NUMBERS | BYTES,
    opset18=WIDE_NUMBERS | BYTES, opset20=WIDE_NUMBERS | BYTES | BOOLEAN,
)  # fmt: skip

Axes = tuple[int, ...] | None
"""The axes that are folded, all of them named; None where nothing is."""
Combine = Callable[[Value, Axes, bool], Value]


class Reduction(OnnxOp):
    """Reduces some axes; all of them without `axes`, unless `noop_with_empty_axes` is set.

    An axis that is named twice is reduced once, as in onnxruntime.
    """

    combine: ClassVar[Combine]
    data: Value = operand("T")
    axes: Value | None = operand(
        "i64", default=None, by_value=True, since="opset18", before=attribute(attr_types.integers, default=None)
    )
    keepdims: bool = attribute(attr_types.flag, default=True)
    noop_with_empty_axes: bool = attribute(attr_types.flag, default=False, since="opset18")
    reduced: Value = result("T")

    def infer(self) -> tuple[Type, ...]:
        """Returns the types even for unknown axes: a single one removes one axis, and `keepdims` preserves the rank."""
        type = tensor_type(self.data)
        named, count = self._named()
        if count == 0 and self.noop_with_empty_axes:
            return (type,)
        if type.shape is None:
            return (type.with_shape(() if count == 0 and not self.keepdims else None),)
        rank = len(type.shape)
        if named is None:
            left = (
                rank if self.keepdims else rank - 1 if count == 1 else None
            )  # of several axes, one may be named twice
            return (type.with_shape(None if left is None else (None,) * left),)
        folded = {axis_from_start(a, rank) for a in named} or set(range(rank))
        kept = [1 if a in folded else n for a, n in enumerate(type.shape) if self.keepdims or a not in folded]
        return (type.with_shape(tuple(kept)),)

    def _named(self) -> tuple[tuple[int, ...] | None, int | None]:
        """The axes that are named, if known, and how many they are."""
        given: Value | None = self.as_operand("axes")
        if given is None:
            return (), 0
        elements, count = known_dims(given), (tensor_type(given).shape or (None,))[0]
        if elements is not None:
            return tuple([a for a in elements if isinstance(a, int)]), len(elements)
        return (() if count == 0 else None), count if isinstance(count, int) else None

    def reference(self, data: Value, axes: Value | None) -> Value:
        rank = rank_of(data)
        named, _ = self._named()
        if named is None and axes is not None:
            named = fixed(axes, "axes")
        named = tuple(dict.fromkeys([axis_from_start(a, rank) for a in named or ()]))
        is_folded = named or not self.noop_with_empty_axes
        return type(self).combine(data, named or tuple(range(rank)) if is_folded else None, self.keepdims)


def _folded(fold: Callable[[Value, tuple[int, ...], bool], Value]) -> Combine:
    """A fold that may be over no axis."""

    def combine(data: Value, axes: Axes, keep: bool) -> Value:
        return data if axes is None else fold(data, axes, keep)

    return combine


sum_along = _folded(core.reduce_sum)
product_along = _folded(core.reduce_prod)


def mean_along(data: Value, axes: Axes, keep: bool) -> Value:
    """The mean; of integers, rounded toward zero."""
    if axes is None or element_of(data).is_float:
        return _folded(core.reduce_mean)(data, axes, keep)
    shape = shape_of(data)
    count = element_count([shape[axis_from_start(a, len(shape))] for a in axes])
    return core.div(core.reduce_sum(data, axes, keep), core.dims((count,), element_of(data), True))


def _extreme(fold: Callable[[Value, tuple[int, ...], bool], Value]) -> Combine:
    """The largest or the smallest element, false being smaller than true."""

    def combine(data: Value, axes: Axes, keep: bool) -> Value:
        if axes is None:
            return data
        if element_of(data) is not boolean:
            return fold(data, axes, keep)
        return core.cast(fold(core.cast(data, u8), axes, keep), boolean)

    return combine


largest_along = _extreme(core.reduce_max)
smallest_along = _extreme(core.reduce_min)


def absolute_sum_along(data: Value, axes: Axes, keep: bool) -> Value:
    """The sum of absolute values."""
    return sum_along(data if element_of(data).kind == "uint" else core.abs(data), axes, keep)


def square_sum_along(data: Value, axes: Axes, keep: bool) -> Value:
    """The sum of squares."""
    return sum_along(core.mul(data, data), axes, keep)


def _as_real(data: Value) -> Value:
    """Operands of roots and logarithms: integers in double precision, half precision in single."""
    return core.widened(data) if element_of(data).is_float else core.cast(data, f64)


def root_of_squares_along(data: Value, axes: Axes, keep: bool) -> Value:
    """The root of the sum of squares; of integers, without its fraction."""
    return core.narrowed(core.sqrt(square_sum_along(_as_real(data), axes, keep)), data)


def log_of_sum_along(data: Value, axes: Axes, keep: bool) -> Value:
    """The logarithm of the sum; of integers, without its fraction."""
    return core.narrowed(core.log(sum_along(_as_real(data), axes, keep)), data)


def log_of_exponentials_along(data: Value, axes: Axes, keep: bool) -> Value:
    """The logarithm of the sum of exponentials, in a form that does not overflow."""
    if axes is None:
        return data
    x = _as_real(data)
    largest = core.reduce_max(x, axes, True)
    # An infinite one must not be subtracted from itself.
    shift = core.select(core.is_inf(largest), core.splat(0.0, x), largest)
    summed = core.add(core.log(core.reduce_sum(core.exp(core.sub(x, shift)), axes, True)), shift)
    return core.narrowed(summed if keep else core.squeeze(summed, axes), data)


class ReduceSum(Reduction, name="onnx.ReduceSum"):
    """Sum of the elements over some axes."""

    combine = staticmethod(sum_along)
    axes: Value | None = operand(
        "i64", default=None, by_value=True, since="opset13", before=attribute(attr_types.integers, default=None)
    )
    noop_with_empty_axes: bool = attribute(attr_types.flag, default=False, since="opset13")
    T = by_version(opset1=WIDE_NUMBERS_1, opset11=WIDE_NUMBERS_1, opset13=WIDE_NUMBERS)


class ReduceMean(Reduction, name="onnx.ReduceMean"):
    """Mean over some axes."""

    combine = staticmethod(mean_along)
    T = _NUMBERS


class ReduceMax(Reduction, name="onnx.ReduceMax"):
    """Largest element over some axes."""

    combine = staticmethod(largest_along)
    T = _EXTREMES


class ReduceMin(Reduction, name="onnx.ReduceMin"):
    """Smallest element over some axes."""

    combine = staticmethod(smallest_along)
    T = _EXTREMES


class ReduceProd(Reduction, name="onnx.ReduceProd"):
    """Product of the elements over some axes."""

    combine = staticmethod(product_along)
    T = _NUMBERS


class ReduceL1(Reduction, name="onnx.ReduceL1"):
    """L1 norm: the sum of absolute values over some axes."""

    combine = staticmethod(absolute_sum_along)
    T = _NUMBERS


class ReduceL2(Reduction, name="onnx.ReduceL2"):
    """L2 norm: the root of the sum of squares over some axes."""

    combine = staticmethod(root_of_squares_along)
    T = _NUMBERS


class ReduceSumSquare(Reduction, name="onnx.ReduceSumSquare"):
    """Sum of the squares over some axes."""

    combine = staticmethod(square_sum_along)
    T = _NUMBERS


class ReduceLogSum(Reduction, name="onnx.ReduceLogSum"):
    """Natural logarithm of the sum over some axes."""

    combine = staticmethod(log_of_sum_along)
    T = _LOGARITHMS


class ReduceLogSumExp(Reduction, name="onnx.ReduceLogSumExp"):
    """Natural logarithm of the sum of the exponentials over some axes."""

    combine = staticmethod(log_of_exponentials_along)
    T = _LOGARITHMS


class ArgReduction(OnnxOp):
    """The position of an extreme element along an axis; of equal ones, the first by default."""

    data: Value = operand("T")
    axis: int = attribute(attr_types.integer, default=0)
    keepdims: bool = attribute(attr_types.flag, default=True)
    select_last_index: bool = attribute(attr_types.flag, default=False, since="opset12")
    reduced: Value = result("i64")
    T = by_version(opset1=NUMBERS_1, opset11=NUMBERS_1, opset13=NUMBERS)

    def position(self, find: Callable[[Value, int, bool], Value], data: Value) -> Value:
        """The position of the first or last of the extreme elements."""
        if not self.select_last_index:
            return find(data, self.axis, self.keepdims)
        axis = axis_from_start(self.axis, rank_of(data))
        last = core.dims((shape_of(data)[axis] - 1,), i64, True)
        return core.sub(last, find(core.reverse(data, (axis,)), axis, self.keepdims))


class ArgMax(ArgReduction, name="onnx.ArgMax"):
    """The position of the largest element along an axis."""

    def reference(self, data: Value) -> Value:
        return self.position(core.arg_max, data)


class ArgMin(ArgReduction, name="onnx.ArgMin"):
    """The position of the smallest element along an axis."""

    def reference(self, data: Value) -> Value:
        return self.position(core.arg_min, data)
