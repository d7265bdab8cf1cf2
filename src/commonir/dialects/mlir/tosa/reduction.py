"""Operations of the tosa dialect that combine the elements along an axis, which keeps its place with size 1.

Source: MLIR tosa dialect; TOSA specification 1.0, reduction operators and argmax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.tosa.base import (
    AnyTosaTensor,
    AtLeast1D,
    EnumForm,
    NanMode,
    TosaOp,
    axis,
    element,
    nan_mode,
    stated_shape,
    tensor_like,
)
from commonir.ir.operation import Value
from commonir.ir.types import Shape, TensorType, Type, boolean, i32
from commonir.ods import attribute, operand, result
from commonir.ods.text_form import CustomForm

Reduction = Callable[[Value, tuple[int, ...], bool], Value]


def check_axis(op: TosaOp, axis: int, shape: Shape | None) -> Iterator[Diagnostic]:
    """Yields the faults of an axis of a tensor."""
    if axis < 0 or (shape is not None and axis >= max(len(shape), 1)):
        rank = "" if shape is None else f" of rank {len(shape)}"
        yield op.violated(f"expect the axis {axis} to be one of a tensor{rank}")


class _Reduction(TosaOp):
    """One value of the elements along an axis. C1: the axis is one of the operand. C2: the result has size 1 there, and
    the other sizes of the operand.
    """

    fn: ClassVar[Reduction]

    input: Value = operand(AtLeast1D)
    axis: int = attribute(axis)
    output: Value = result(AtLeast1D)

    def infer_results(self) -> tuple[Type, ...] | None:
        type = self.input.type
        shape = stated_shape(self.input)
        if shape is None or not 0 <= self.axis < len(shape) or not isinstance(type, TensorType):
            return None
        return (tensor_like(type.element, (*shape[: self.axis], 1, *shape[self.axis + 1 :])),)

    def verify(self) -> Iterator[Diagnostic]:
        result = stated_shape(self.output)
        yield from check_axis(self, self.axis, stated_shape(self.input) or result)
        if element(self.input) is not element(self.output):
            message = f"requires one element type, found {element(self.input)} and {element(self.output)}"
            yield self.violated(message)
        size = result[self.axis] if result is not None and 0 <= self.axis < len(result) else 1
        if isinstance(size, int) and size != 1:
            yield self.violated(f"C2: expect reduced dimension size to be 1, got {size}")

    def reference(self, input: Value) -> Value:
        return type(self).fn(input, (self.axis,), True)


def _all(x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    return core.cast(core.reduce_min(core.cast(x, i32), axes, keep), boolean)


def _any(x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    return core.cast(core.reduce_max(core.cast(x, i32), axes, keep), boolean)


class _TruthReduction(_Reduction):
    """One bool of those along an axis. C3: the elements are bools."""

    def verify(self) -> Iterator[Diagnostic]:
        yield from super().verify()
        if element(self.input) is not boolean:
            yield self.violated(f"C3: expect elements to be i1, found {element(self.input)}")


class ReduceAll(_TruthReduction, name="tosa.reduce_all"):
    """Reduces an axis by logical and. C1: the axis is one of the operand. C2: the result has size 1 there, and the
    other sizes of the operand. C3: the elements are bools.
    """

    fn = _all


class ReduceAny(_TruthReduction, name="tosa.reduce_any"):
    """Reduces an axis by logical or. C1: the axis is one of the operand. C2: the result has size 1 there, and the other
    sizes of the operand. C3: the elements are bools.
    """

    fn = _any


class ReduceProduct(_Reduction, name="tosa.reduce_product"):
    """Reduces an axis to its product. C1: the axis is one of the operand. C2: the result has size 1 there, and the
    other sizes of the operand.
    """

    fn = core.reduce_prod


class ReduceSum(_Reduction, name="tosa.reduce_sum"):
    """Reduces an axis to its sum; integers wrap. C1: the axis is one of the operand. C2: the result has size 1 there,
    and the other sizes of the operand.
    """

    fn = core.reduce_sum


class _Extreme(_Reduction):
    """The largest or the smallest, NaN where one is NaN unless it is ignored."""

    custom_form: ClassVar[CustomForm | None] = EnumForm()
    worst: ClassVar[float]
    """The value that replaces a NaN that is ignored."""

    nan_mode: NanMode = attribute(nan_mode, default=NanMode.PROPAGATE)

    def reference(self, input: Value) -> Value:
        if not element(input).is_float:
            return type(self).fn(input, (self.axis,), True)
        missing = core.is_nan(input)
        found = type(self).fn(core.select(missing, core.splat(self.worst, input), input), (self.axis,), True)
        counted = _all if self.nan_mode is NanMode.IGNORE else _any
        return core.select(counted(missing, (self.axis,), True), core.splat(float("nan"), input), found)


class ReduceMax(_Extreme, name="tosa.reduce_max"):
    """Reduces an axis to its maximum; `nan_mode` propagates or ignores NaN. C1: the axis is one of the operand. C2: the
    result has size 1 there, and the other sizes of the operand.
    """

    fn = core.reduce_max
    worst = float("-inf")


class ReduceMin(_Extreme, name="tosa.reduce_min"):
    """Reduces an axis to its minimum; `nan_mode` propagates or ignores NaN. C1: the axis is one of the operand. C2: the
    result has size 1 there, and the other sizes of the operand.
    """

    fn = core.reduce_min
    worst = float("inf")


class ArgMax(TosaOp, name="tosa.argmax"):
    """The index of the largest element along an axis, which is dropped; the first index among equal elements.

    A NaN is larger than every number, unless it is ignored: then it is smaller.

    C1: the axis is one of the operand's. C2: the result is of integers. C3: the result has the other sizes of the
    operand.
    """

    custom_form: ClassVar[CustomForm | None] = EnumForm()

    input: Value = operand(AtLeast1D)
    axis: int = attribute(axis)
    nan_mode: NanMode = attribute(nan_mode, default=NanMode.PROPAGATE)
    output: Value = result(AnyTosaTensor)

    def verify(self) -> Iterator[Diagnostic]:
        shape, found = stated_shape(self.input), stated_shape(self.output)
        yield from check_axis(self, self.axis, shape)
        if element(self.output).is_float:
            yield self.violated(f"C2: result tensor is not of integer type, but of {element(self.output)}")
        if shape is None or found is None or not 0 <= self.axis < len(shape):
            return
        rest = (*shape[: self.axis], *shape[self.axis + 1 :])
        if len(rest) != len(found) or any(
            isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(rest, found, strict=True)
        ):
            shown = ", ".join(["?" if d is None else str(d) for d in rest])
            yield self.violated(f"C3: expected output shape '{shown}', got {self.output.type}")

    def reference(self, input: Value) -> Value:
        expected = element(self.output)
        if not element(input).is_float:
            return core.arg_max(input, self.axis, False, expected)
        missing = core.is_nan(input)
        lowest = core.select(missing, core.splat(float("-inf"), input), input)
        found = core.arg_max(lowest, self.axis, False, expected)
        first_missing = core.arg_max(core.cast(missing, i32), self.axis, False, expected)
        if self.nan_mode is NanMode.PROPAGATE:
            return core.select(_any(missing, (self.axis,), False), first_missing, found)
        # Among numbers of which the largest is minus infinity, a NaN counts as none.
        numbers = core.cast(core.logical_not(missing), i32)
        first_number = core.arg_max(numbers, self.axis, False, expected)
        highest = core.reduce_max(lowest, (self.axis,), False)
        return core.select(core.equal(highest, core.splat(float("-inf"), highest)), first_number, found)
