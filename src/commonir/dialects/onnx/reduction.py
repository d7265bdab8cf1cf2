"""ONNX reductions.

Source: ONNX operator reference, default domain, versions 13 to 20.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.dialects import core
from commonir.dialects.onnx.base import BOOLEAN, NUMBERS, WIDE_NUMBERS, OnnxOp, fixed, rank_of
from commonir.ir.operation import Value
from commonir.ir.types import i8, u8
from commonir.notation import NotationError
from commonir.ods import attribute, element_type, kinds, operand, result


class Reduction(OnnxOp):
    """A function of all elements along some axes; along all of them without `axes`, unless told to do nothing."""

    __slots__ = ()

    data: Value = operand("T")
    axes: Value | None = operand("i64", default=None, by_value=True)
    keepdims: bool = attribute(kinds.flag, default=True)
    noop_with_empty_axes: bool = attribute(kinds.flag, default=False)
    reduced: Value = result("T")

    def over_axes(
        self, fold: Callable[[Value, tuple[int, ...], bool], Value], data: Value, axes: Value | None
    ) -> Value:
        """The fold over the axes that the operands name."""
        named = () if axes is None else fixed(axes, "axes")
        if not named and self.noop_with_empty_axes:
            return data
        return fold(data, named or tuple(range(rank_of(data))), self.keepdims)


class ArgReduction(OnnxOp):
    """The position of an extreme element along an axis; of equal ones, the first unless told otherwise."""

    __slots__ = ()

    data: Value = operand("T")
    axis: int = attribute(kinds.integer, default=0)
    keepdims: bool = attribute(kinds.flag, default=True)
    select_last_index: bool = attribute(kinds.flag, default=False)
    reduced: Value = result("i64")

    def position(self, find: Callable[[Value, int, bool], Value], data: Value) -> Value:
        """The position of the first of the extreme elements."""
        if self.select_last_index:
            raise NotationError("the last of equal elements has no meaning in the core yet")
        return find(data, self.axis, self.keepdims)


def sum_of_squares(data: Value, axes: tuple[int, ...], keep: bool) -> Value:
    """The sum of squares over some axes."""
    return core.reduce_sum(core.mul(data, data), axes, keep)


def root_of_squares(data: Value, axes: tuple[int, ...], keep: bool) -> Value:
    """The root of the sum of squares over some axes."""
    return core.sqrt(sum_of_squares(data, axes, keep))


class ReduceSum(Reduction, name="onnx.ReduceSum", since="opset13"):
    """The sum over some axes."""

    __slots__ = ()

    T = WIDE_NUMBERS

    def reference(self, data: Value, axes: Value | None) -> Value:
        return self.over_axes(core.reduce_sum, data, axes)


class ReduceMean(Reduction, name="onnx.ReduceMean", since="opset18"):
    """The mean over some axes."""

    __slots__ = ()

    T = WIDE_NUMBERS

    def reference(self, data: Value, axes: Value | None) -> Value:
        return self.over_axes(core.reduce_mean, data, axes)


class ReduceMax18(Reduction, name="onnx.ReduceMax", since="opset18"):
    """The largest element over some axes."""

    __slots__ = ()

    T = WIDE_NUMBERS | element_type(i8, u8)

    def reference(self, data: Value, axes: Value | None) -> Value:
        return self.over_axes(core.reduce_max, data, axes)


class ReduceMax(ReduceMax18, name="onnx.ReduceMax", since="opset20"):
    """As `ReduceMax18`, for more element types."""

    __slots__ = ()

    T = WIDE_NUMBERS | BOOLEAN | element_type(i8, u8)


class ReduceMin18(Reduction, name="onnx.ReduceMin", since="opset18"):
    """The smallest element over some axes."""

    __slots__ = ()

    T = WIDE_NUMBERS | element_type(i8, u8)

    def reference(self, data: Value, axes: Value | None) -> Value:
        return self.over_axes(core.reduce_min, data, axes)


class ReduceMin(ReduceMin18, name="onnx.ReduceMin", since="opset20"):
    """As `ReduceMin18`, for more element types."""

    __slots__ = ()

    T = WIDE_NUMBERS | BOOLEAN | element_type(i8, u8)


class ReduceProd(Reduction, name="onnx.ReduceProd", since="opset18"):
    """The product over some axes."""

    __slots__ = ()

    T = WIDE_NUMBERS

    def reference(self, data: Value, axes: Value | None) -> Value:
        return self.over_axes(core.reduce_prod, data, axes)


class ReduceL2(Reduction, name="onnx.ReduceL2", since="opset18"):
    """The root of the sum of squares over some axes."""

    __slots__ = ()

    T = WIDE_NUMBERS

    def reference(self, data: Value, axes: Value | None) -> Value:
        return self.over_axes(root_of_squares, data, axes)


class ReduceSumSquare(Reduction, name="onnx.ReduceSumSquare", since="opset18"):
    """The sum of squares over some axes."""

    __slots__ = ()

    T = WIDE_NUMBERS

    def reference(self, data: Value, axes: Value | None) -> Value:
        return self.over_axes(sum_of_squares, data, axes)


class ArgMax(ArgReduction, name="onnx.ArgMax", since="opset13"):
    """The position of the largest element along an axis."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, data: Value) -> Value:
        return self.position(core.arg_max, data)


class ArgMin(ArgReduction, name="onnx.ArgMin", since="opset13"):
    """The position of the smallest element along an axis."""

    __slots__ = ()

    T = NUMBERS

    def reference(self, data: Value) -> Value:
        return self.position(core.arg_min, data)
