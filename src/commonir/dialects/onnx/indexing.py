"""ONNX operators that gather and scatter by index, and that sort elements.

Source: ONNX operator reference, default domain, versions 1 to 28.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_1,
    ANY_13,
    ANY_24,
    BOOLEAN,
    FLOATS_1,
    NUMBERS,
    NUMBERS_1,
    POSITIONS,
    WIDE_NUMBERS,
    OnnxOp,
    axis_from_start,
    element_of,
    rank_of,
    shape_of,
    single,
    single_size,
    tensor_type,
    with_unknown,
)
from commonir.ir.operation import Value
from commonir.ir.types import Type, f32, f64, i32, i64, string, u32, u64
from commonir.notation import NotationError, NotKnownError
from commonir.ods import attr_types, attribute, by_version, element_type, one_of, operand, result
from commonir.ods.patterns import version_number

INDEXED = by_version(opset1=ANY_1, opset13=ANY_13)
"""The element types of operators that only move elements; those that use it state their versions."""
SUMMED = by_version(opset11=element_type(i32, i64, u32, u64, f32, f64), opset14=WIDE_NUMBERS)


def one_hot(indices: Value, depth: Value, values: Value, axis: int) -> Value:
    """A new axis that is the second value at the position given and the first elsewhere."""
    size = single_size(depth, "depth")
    positions = core.cast(indices, i64)
    zero = core.scalar(0, i64)
    wrapped = core.add(positions, core.dims((size,), scalar=True))
    positions = core.select(core.less(positions, zero), wrapped, positions)
    off = core.reshape(core.slice(values, (0,), (1,), (1,)), ())
    on = core.reshape(core.slice(values, (1,), (2,), (1,)), ())
    return core.one_hot(positions, on, off, size, axis)


def triangle(input: Value, diagonal: Value, *, upper: bool) -> Value:
    """The elements on one side of a diagonal of the last two axes, and zero on the other."""
    shape = shape_of(input)[-2:]
    if len(shape) < 2:
        raise NotationError(f"expected matrices, found rank {len(shape)}")
    offset = core.sub(core.iota(shape, 1), core.iota(shape, 0))
    kept = core.greater_equal(offset, diagonal) if upper else core.less_equal(offset, diagonal)
    element = element_of(input)
    return core.select(kept, input, core.scalar("" if element is string else 0, element))


def of_version(reduction: str, since: str) -> str:
    """The reduction of a scattering operator, if its version has it. Raises: NotationError otherwise."""
    if reduction in ("max", "min") and version_number(since) < 18:
        raise NotationError(f"the reduction '{reduction}' is one of opset 18 and later")
    return reduction


def scattered(data: Value, indices: Value, updates: Value, axis: int, reduction: str = "none") -> Value:
    """A copy of a tensor with updates written to, or combined with, the elements at indices along an axis."""
    return core.scatter_elements(data, indices, updates, axis, core.Reduction(reduction))


class Gather(OnnxOp, name="onnx.Gather", since="opset1 opset11 opset13"):
    """Gathers slices of a tensor along an axis by index; a negative index counts from the end."""

    data: Value = operand("T")
    indices: Value = operand("Tind", by_value=True)
    axis: int = attribute(attr_types.integer, default=0)
    output: Value = result("T")
    T = INDEXED
    Tind = POSITIONS

    def reference(self, data: Value, indices: Value) -> Value:
        return core.gather(data, indices, self.axis)


class GatherElements(OnnxOp, name="onnx.GatherElements"):
    """Gathers elements by index along an axis; coordinates along the other axes stay the same."""

    data: Value = operand("T")
    indices: Value = operand("Tind")
    axis: int = attribute(attr_types.integer, default=0)
    output: Value = result("T")
    T = by_version(opset11=ANY_1, opset13=ANY_13)
    Tind = POSITIONS

    def reference(self, data: Value, indices: Value) -> Value:
        return core.gather_elements(data, indices, self.axis)


class GatherND(OnnxOp, name="onnx.GatherND", since="opset11 opset12 opset13"):
    """Gathers slices of a tensor; each row of the last axis of indices is an index tuple."""

    data: Value = operand("T")
    indices: Value = operand("i64")
    batch_dims: int = attribute(attr_types.integer, default=0, since="opset12")
    output: Value = result("T")
    T = INDEXED

    def reference(self, data: Value, indices: Value) -> Value:
        _check_rows(indices)
        return core.gather_nd(data, indices, self.batch_dims)


def _check_rows(indices: Value) -> None:
    """Raises: NotKnownError when the length of a position is data-dependent."""
    shape = shape_of(indices)
    if shape and not isinstance(shape[-1], int):
        raise NotKnownError("into how many axes a row of positions goes is not known before running")


class Compress(OnnxOp, name="onnx.Compress", since="opset9 opset11 opset28"):
    """Selects slices along an axis, or elements if no axis is given, where a condition is true.

    Slices beyond the end of the condition are not selected.
    """

    input: Value = operand("T")
    condition: Value = operand("T1", by_value=True)
    axis: int | None = attribute(attr_types.integer, default=None)
    output: Value = result("T")
    T = by_version(opset9=ANY_1, opset28=ANY_13)
    T1 = BOOLEAN

    def reference(self, input: Value, condition: Value) -> Value:
        positions = core.squeeze(core.non_zero(condition), (1,))
        if self.axis is None:
            return core.gather(core.reshape(input, (-1,)), positions, 0)
        return core.gather(input, positions, self.axis)


class ReverseSequence(OnnxOp, name="onnx.ReverseSequence"):
    """Reverses the first `sequence_lens` elements of each batch entry along the time axis."""

    input: Value = operand("T")
    sequence_lens: Value = operand("i64")
    batch_axis: int = attribute(attr_types.integer, default=1, check=one_of(0, 1))
    time_axis: int = attribute(attr_types.integer, default=0, check=one_of(0, 1))
    Y: Value = result("T")
    T = by_version(opset10=ANY_1, opset28=ANY_13)

    def reference(self, input: Value, sequence_lens: Value) -> Value:
        if rank_of(input) < 2 or self.batch_axis == self.time_axis:
            raise NotationError("expected an axis of batches and another one of time")
        return with_reversed_time(input, sequence_lens, self.time_axis)


def with_reversed_time(x: Value, lengths: Value, time_axis: int = 0) -> Value:
    """A tensor with the order of the first elements along an axis of time reversed, as many as each batch has.

    The first two axes are those of time and of batches.
    """
    sizes = shape_of(x)
    counts = core.reshape(lengths, (-1, 1) if time_axis == 1 else (1, -1))
    positions = core.iota((1, sizes[1]) if time_axis == 1 else (sizes[0], 1), time_axis)
    mirrored = core.sub(core.sub(counts, core.scalar(1, i64)), positions)
    source = core.select(core.less(positions, counts), mirrored, positions)
    spread = core.reshape(source, (*sizes[:2], *(1,) * (len(sizes) - 2)))
    return core.gather_elements(x, core.broadcast_to(spread, sizes), time_axis)


class ScatterND(OnnxOp, name="onnx.ScatterND", since="opset11 opset13 opset16 opset18"):
    """A copy of a tensor with updates written to, or combined with, slices; each row of indices is an index tuple."""

    data: Value = operand("T")
    indices: Value = operand("i64")
    updates: Value = operand("T")
    reduction: str = attribute(
        attr_types.string, default="none", check=one_of("none", "add", "mul", "max", "min"), since="opset16"
    )
    output: Value = result("T")
    T = INDEXED

    def reference(self, data: Value, indices: Value, updates: Value) -> Value:
        _check_rows(indices)
        return core.scatter_nd(data, indices, updates, core.Reduction(of_version(self.reduction, self.since)))


class ScatterElements(OnnxOp, name="onnx.ScatterElements", since="opset11 opset13 opset16 opset18"):
    """A copy of a tensor with updates written to, or combined with, the elements at indices along an axis."""

    data: Value = operand("T")
    indices: Value = operand("Tind")
    updates: Value = operand("T")
    reduction: str = attribute(
        attr_types.string, default="none", check=one_of("none", "add", "mul", "max", "min"), since="opset16"
    )
    axis: int = attribute(attr_types.integer, default=0)
    output: Value = result("T")
    T = INDEXED
    Tind = POSITIONS

    def reference(self, data: Value, indices: Value, updates: Value) -> Value:
        return scattered(data, indices, updates, self.axis, of_version(self.reduction, self.since))


class Scatter(OnnxOp, name="onnx.Scatter", since="opset9 opset11"):
    """A copy of a tensor with updates written to the elements at indices along an axis; from opset 11 on,
    `ScatterElements`.
    """

    deprecated_since = "opset11"
    successor = "ScatterElements"

    data: Value = operand("T")
    indices: Value = operand("Tind")
    updates: Value = operand("T")
    axis: int = attribute(attr_types.integer, default=0)
    output: Value = result("T")
    T = ANY_1
    Tind = POSITIONS

    def reference(self, data: Value, indices: Value, updates: Value) -> Value:
        return scattered(data, indices, updates, self.axis)


class TensorScatter(OnnxOp, name="onnx.TensorScatter", since="opset24"):
    """Writes an update into a copy of a cache along an axis, from the write index of each batch entry on, by default 0.
    In mode `circular` indices wrap around at the end.
    """

    past_cache: Value = operand("T")
    update: Value = operand("T")
    write_indices: Value | None = operand("i64", default=None)
    mode: str = attribute(attr_types.string, default="linear", check=one_of("linear", "circular"))
    axis: int = attribute(attr_types.integer, default=-2)
    present_cache: Value = result("T")
    T = ANY_24

    def reference(self, past_cache: Value, update: Value, write_indices: Value | None) -> Value:
        sizes, shape = shape_of(past_cache), shape_of(update)
        rank = len(shape)
        along = axis_from_start(self.axis, rank)
        if along == 0:
            raise NotationError("the axis of time is that of batches")
        positions = core.iota(tuple([n if a == along else 1 for a, n in enumerate(shape)]), along)
        if write_indices is not None:
            positions = core.add(positions, core.reshape(write_indices, (-1, *(1,) * (rank - 1))))
        if self.mode == "circular":
            positions = core.mod(positions, core.dims((sizes[along],), i64, True))
        return scattered(past_cache, core.broadcast_to(positions, shape), update, along)


class OneHot(OnnxOp, name="onnx.OneHot", since="opset9 opset11 opset28"):
    """One-hot encoding: a new axis with values[1] at the index and values[0] elsewhere.

    A negative index counts from the end.
    """

    indices: Value = operand("T1")
    depth: Value = operand("T2", by_value=True)
    values: Value = operand("T3")
    axis: int = attribute(attr_types.integer, default=-1)
    output: Value = result("T3")
    T1 = NUMBERS_1
    T2 = NUMBERS_1
    T3 = by_version(opset9=ANY_1, opset28=ANY_13)

    @property
    def counts_axes_in(self) -> Value:
        return self.output

    def infer_partially(self) -> tuple[Type, ...]:
        places, type = tensor_type(self.indices), tensor_type(self.values)
        if places.shape is None:
            return (type.with_shape(None),)
        a = axis_from_start(self.axis, len(places.shape) + 1)
        return (type.with_shape((*places.shape[:a], None, *places.shape[a:])),)

    def reference(self, indices: Value, depth: Value, values: Value) -> Value:
        return one_hot(indices, depth, values, self.axis)


class Trilu(OnnxOp, name="onnx.Trilu", since="opset14"):
    """The upper or lower triangle of matrices, from the k-th diagonal; zero elsewhere."""

    input: Value = operand("T")
    k: Value | None = operand("i64", default=None, by_value=True)
    upper: bool = attribute(attr_types.flag, default=True)
    output: Value = result("T")
    T = ANY_13

    def reference(self, input: Value, k: Value | None) -> Value:
        diagonal = core.scalar(0, i64) if k is None else core.reshape(k, ())
        return triangle(input, diagonal, upper=self.upper)


class NonZero(OnnxOp, name="onnx.NonZero"):
    """Indices of the nonzero elements, one column for each."""

    X: Value = operand("T")
    Y: Value = result("i64")
    T = by_version(opset9=ANY_1, opset13=ANY_13)

    def reference(self, X: Value) -> Value:
        return core.transpose(core.non_zero(X), (1, 0))


class Unique(OnnxOp, name="onnx.Unique"):
    """The distinct elements, or slices along an axis, in ascending order or in that of their first occurrence.

    Also returns the index of the first occurrence of each, for each element of the operand its index among them, and
    the number of occurrences of each.
    """

    X: Value = operand("T")
    sorted: bool = attribute(attr_types.flag, default=True)
    axis: int | None = attribute(attr_types.integer, default=None)
    Y: Value = result("T")
    indices: Value | None = result("i64", optional=True)
    inverse_indices: Value | None = result("i64", optional=True)
    counts: Value | None = result("i64", optional=True)
    T = by_version(opset11=ANY_1, opset28=ANY_13)

    def reference(self, X: Value) -> tuple[Value, ...]:
        return core.unique(X, self.axis, self.sorted)


class Cumulative(OnnxOp):
    """Base class of cumulative operations along an axis."""

    combine: ClassVar[Callable[[Value, int, bool, bool], Value]]
    x: Value = operand("T")
    axis: Value = operand("T2", by_value=True)
    reverse: bool = attribute(attr_types.flag, default=False)
    exclusive: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T")
    T2 = POSITIONS

    def infer_partially(self) -> tuple[Type, ...]:
        return (self.x.type,)

    def reference(self, x: Value, axis: Value) -> Value:
        return type(self).combine(x, single(axis, "axis"), self.exclusive, self.reverse)


class CumSum(Cumulative, name="onnx.CumSum"):
    """Cumulative sum along an axis: the sum of the elements up to each position."""

    combine = staticmethod(core.cumsum)
    T = SUMMED


class CumProd(Cumulative, name="onnx.CumProd", since="opset26"):
    """Cumulative product along an axis: the product of the elements up to each position."""

    combine = staticmethod(core.cumprod)
    T = WIDE_NUMBERS


class TopK(OnnxOp, name="onnx.TopK"):
    """The K largest or smallest elements along an axis in sorted order, and their indices; of equal ones, the first.

    They are sorted even if `sorted` is 0.
    """

    X: Value = operand("T")
    K: Value = operand("i64[1]", by_value=True, since="opset10", before=attribute(attr_types.integer, spelling="k"))
    sorted: bool = attribute(attr_types.flag, default=True, since="opset11")
    largest: bool = attribute(attr_types.flag, default=True, since="opset11")
    axis: int = attribute(attr_types.integer, default=-1)
    Values: Value = result("T")
    Indices: Value = result("I")
    T = by_version(opset1=FLOATS_1, opset10=FLOATS_1, opset11=NUMBERS_1, opset24=NUMBERS)
    I = element_type(i64)  # noqa: E741  the name of the standard

    def infer_partially(self) -> tuple[Type, ...]:
        type = with_unknown(tensor_type(self.X), (self.axis,))
        return type, type.with_element(i64)

    def reference(self, X: Value, K: Value) -> tuple[Value, ...]:
        return core.top_k(X, single_size(K, "K"), self.axis, self.largest)
