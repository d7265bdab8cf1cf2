"""Filled tensors, ranges, one-hot encoding and sorting in the mil dialect.

Source: MIL operation reference, tensor_operation.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import WRONG_RESULT_TYPE
from commonir.base.diagnostics import Diagnostic
from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_6, CORE_ML_7, MilOp
from commonir.dialects.mil.elementwise import DATA_TYPE
from commonir.dialects.mil.operands import (
    BASIC,
    NUMBERS,
    NUMBERS_OR_SHORT,
    POSITIONS,
    STRING,
    AlongAxis,
    Condition,
    DataType,
    converted,
    element_of,
    is_axis,
    rank_of,
)
from commonir.ir.operation import Value
from commonir.ir.types import f32, i32, u16
from commonir.notation import require
from commonir.ods import (
    attr_types,
    by_version,
    constraint,
    element_type,
    known_dims,
    one_of,
    operand,
    parameter,
    result,
    traits,
)
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.symbolic import ceil_div, largest


class Fill(MilOp, name="mil.fill", traits=(traits.Pure,)):
    """A tensor of the given shape filled with a value, by default the fp32 number 0."""

    shape: Value = operand("i32[r]", by_value=True)
    value: Value | None = operand("T[]", default=None, constant=True)
    output: Value = result("any")
    T = BASIC

    def reference(self, shape: Value, value: Value | None) -> Value:
        scalar = core.scalar(0.0, f32) if value is None else value
        known = known_dims(shape)
        if known is not None:
            return core.fill(scalar, known)
        count = core.reduce_prod(shape, (), False)
        none = core.scalar(0, i32)
        positions = core.mul(core.range(none, count, core.scalar(1, i32)), none)
        return core.dynamic_reshape(core.gather(core.unsqueeze(scalar, (0,)), positions, 0), shape)


class FillLike(MilOp, name="mil.fill_like", traits=(traits.Pure,), since=CORE_ML_6):
    """A tensor of the shape of another filled with a value, by default the fp32 number 0."""

    ref_tensor: Value = operand("T[*]")
    value: Value | None = operand("U[]", default=None, constant=True)
    output: Value = result("any")
    T = BASIC
    U = BASIC

    def reference(self, ref_tensor: Value, value: Value | None) -> Value:
        return core.fill(core.scalar(0.0, f32) if value is None else value, known_dims_of(ref_tensor))


class Range1d(MilOp, name="mil.range_1d", traits=(traits.Pure,)):
    """Numbers from `start` (inclusive) to `end` (exclusive) by `step`."""

    end: Value = operand("T[]", by_value=True)
    start: Value = operand("T[]", by_value=True)
    step: Value = operand("T[]", by_value=True)
    output: Value = result("T[n]")
    T = NUMBERS

    def reference(self, end: Value, start: Value, step: Value) -> Value:
        first, last, by = [known_dims(v) for v in (start, end, step)]
        if first is None or last is None or by is None or not isinstance(by[0], int) or by[0] == 0:
            return core.range(start, end, step)
        if isinstance(first[0], int) and isinstance(last[0], int):
            return core.range(start, end, step)
        count = largest(ceil_div(last[0] - first[0], by[0]), 0)
        return core.add(core.mul(core.iota((count,), 0, element_of(start)), step), start)


class NonZero(MilOp, name="mil.non_zero", traits=(traits.Pure,)):
    """Indices of the nonzero elements, one row for each, in row-major order."""

    x: Value = operand("T[*]")
    output: Value = result("i32[count, rank]")
    T = BASIC

    def reference(self, x: Value) -> Value:
        return core.cast(core.non_zero(x), i32)


class OneHot(MilOp, name="mil.one_hot", traits=(traits.Pure,)):
    """One-hot encoding: a new axis with on_value at the index and off_value elsewhere; an index out of range gives
    off_value only.

    The defaults are the int32 numbers 1 and 0.
    """

    indices: Value = operand("i32[*]")
    one_hot_vector_size: Value = operand("i32[]", by_value=True)
    axis: int = parameter(attr_types.integer, spec="i32[]", default=-1)
    on_value: Value | None = operand("T[]", default=None, constant=True)
    off_value: Value | None = operand("T[]", default=None, constant=True)
    output: Value = result("T[*]")
    T = BASIC

    @constraint("C1")
    def _is_axis_of_result(self) -> bool:
        """axis is one of the axes of the result."""
        return is_axis(self.axis, rank_of(self.indices) + 1)

    @constraint("C2")
    def _is_size(self) -> bool:
        """one_hot_vector_size is not negative."""
        return all(not isinstance(d, int) or d >= 0 for d in known_dims(self.one_hot_vector_size) or ())

    @constraint("C3")
    def _share_type(self) -> bool:
        """on_value and off_value have the same type; one that is absent is int32."""
        on, off = (i32 if v is None else element_of(v) for v in (self.on_value, self.off_value))
        return on is off

    def reference(
        self, indices: Value, one_hot_vector_size: Value, on_value: Value | None, off_value: Value | None
    ) -> Value:
        rank = rank_of(indices)
        at = self.axis % (rank + 1)
        known = known_dims(one_hot_vector_size)
        if known is None:
            places = core.range(core.scalar(0, i32), one_hot_vector_size, core.scalar(1, i32))
        else:
            places = core.iota(known, 0, i32)
        along = core.unsqueeze(places, tuple(range(1, rank + 1 - at)))
        hot = core.equal(core.unsqueeze(indices, (at,)), along)
        on = core.scalar(1, i32) if on_value is None else on_value
        return core.select(hot, on, core.scalar(0, i32) if off_value is None else off_value)


class BandPart(MilOp, name="mil.band_part", traits=(traits.Pure,)):
    """Keeps a diagonal band of the matrices of the last two axes; the other elements become zero.

    The band reaches from `lower` below to `upper` above the diagonal; a negative number means no limit.
    """

    x: Value = operand("T[b*, m, n]")
    lower: int = parameter(attr_types.integer, spec="i32[]", default=-1)
    upper: int = parameter(attr_types.integer, spec="i32[]", default=-1)
    output: Value = result("T[b*, m, n]")
    T = BASIC

    def reference(self, x: Value) -> Value:
        return core.band_part(x, self.lower, self.upper)


class Cumsum(MilOp, name="mil.cumsum", traits=(traits.Pure,)):
    """Cumulative sum along an axis: the sum of the elements up to each position, with `exclusive` without the element
    itself.

    With `reverse` the sum runs from the end.
    """

    x: Value = operand("T[s*]")
    axis: int = parameter(attr_types.integer, spec="i32[]", default=0)
    exclusive: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    reverse: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    output: Value = result("T[s*]")
    T = NUMBERS

    @constraint("C1")
    def _is_axis_of_x(self) -> bool:
        """axis is -1 or one of the axes of x counted from the front."""
        return -1 <= self.axis < rank_of(self.x) and rank_of(self.x) > 0

    def reference(self, x: Value) -> Value:
        return core.cumsum(x, self.axis, self.exclusive, self.reverse)


class Argsort(AlongAxis, name="mil.argsort", traits=(traits.Pure,)):
    """Indices that sort the elements along an axis, largest first; of equal ones, the first (unspecified in MIL)."""

    x: Value = operand("T[s*]")
    axis: int = parameter(attr_types.integer, spec="i32[]", default=-1)
    ascending: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    output: Value = result("i32[s*]")
    T = NUMBERS

    def reference(self, x: Value) -> Value:
        return core.cast(core.argsort(x, self.axis, not self.ascending), i32)


class Topk(AlongAxis, name="mil.topk", traits=(traits.Pure,)):
    """The k largest elements along an axis in descending order and their indices; with `ascending`, the k smallest.

    A k of -1 selects all elements. Of equal elements, the first (unspecified in MIL). If `sort` is false, the order of
    the elements is unspecified; here they are sorted too. Indices are omitted if `return_indices` is false; the default
    of `output_indices_dtype` is int32.
    """

    x: Value = operand("T[*]")
    k: int = parameter(attr_types.integer, spec="K[]", default=1)
    axis: int = parameter(attr_types.integer, spec="i32[]", default=-1)
    ascending: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    sort: bool = parameter(attr_types.flag, spec="i1[]", default=True, since=CORE_ML_6)
    return_indices: bool = parameter(attr_types.flag, spec="i1[]", default=True, since=CORE_ML_6)
    output_indices_dtype: DataType | None = parameter(
        DATA_TYPE, spec=STRING, default=None, check=one_of(DataType.INT32, DataType.UINT16), since=CORE_ML_7
    )
    values: Value = result("T[*]")
    indices: Value | None = result("P[*]", optional=True)
    T = NUMBERS_OR_SHORT
    K = POSITIONS
    P = by_version(CoreML5=element_type(i32), CoreML7=element_type(i32, u16))

    @constraint("C2")
    def _fits(self) -> Condition:
        """k is positive and not larger than the axis; from iOS 17 it may be -1."""
        size = ranked_shape(self.x)[self.axis] if is_axis(self.axis, rank_of(self.x)) else None
        if self.k == -1:
            return self.since == CORE_ML_7
        return self.k > 0 and (size is None or require(self.k, "<=", size, "k"))

    @constraint("C3", since=CORE_ML_7)
    def _types_indices(self) -> bool:
        """output_indices_dtype is absent when return_indices is false."""
        return self.return_indices or self.output_indices_dtype is None

    def verify(self) -> Iterator[Diagnostic]:
        if self.return_indices and self.indices is None:
            yield Diagnostic(WRONG_RESULT_TYPE, f"{self.name}: indices are a result unless return_indices is false")

    def reference(self, x: Value) -> tuple[Value, ...]:
        size = known_dims_of(x)[self.axis]
        if self.k == -1 and not isinstance(size, int):
            positions = core.argsort(x, self.axis, not self.ascending)
            values = core.gather_elements(x, positions, self.axis)
        else:
            count = size if self.k == -1 and isinstance(size, int) else self.k
            values, positions = core.top_k(x, count, self.axis, not self.ascending)
        element = (self.output_indices_dtype or DataType.INT32).element
        return (values, converted(positions, element)) if self.return_indices else (values,)
