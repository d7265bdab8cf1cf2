"""Gather and scatter operations of the mil dialect.

Until iOS 16 a negative position counts from the end. From iOS 17 it is out of range: an error with validate_indices,
which is found when running, and else the value read there is not specified (nothing outside of the tensor is touched);
here it still counts from the end, which is one such value. A position past the end is always an error when running.
Source: MIL operation reference, scatter_gather.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_6, CORE_ML_7, MilOp
from commonir.dialects.mil.operands import (
    NUMBERS,
    NUMBERS_OR_SHORT,
    STRING,
    AlongAxis,
    Condition,
    is_axis,
    rank_of,
    same_but_for,
    same_sizes,
)
from commonir.ir.operation import Value
from commonir.ir.types import i8, i16, i32, u8, u16
from commonir.ods import (
    attr_types,
    by_version,
    constraint,
    element_type,
    non_negative,
    operand,
    parameter,
    result,
    traits,
)
from commonir.ods.operand_shapes import known_dims_of, ranked_shape

INDICES = by_version(
    CoreML5=element_type(i32), CoreML6=element_type(i32, i16, u16), CoreML7=element_type(i32, i8, u8, i16, u16)
)
"""The element types of indices."""


class Validating(Protocol):
    """An operation that may check indices at run time."""

    @property
    def validate_indices(self) -> bool:
        """Returns whether it does."""
        ...


def _checked(op: Validating, indices: Value, x: Value, axis: int) -> Value:
    """Returns indices along an axis, checked at run time if the operation requires it."""
    return core.checked_positions(indices, core.dims((known_dims_of(x)[axis],))) if op.validate_indices else indices


def _checked_rows(op: Validating, indices: Value, x: Value, batch_dims: int = 0) -> Value:
    """Returns index tuples, checked at run time if the operation requires it."""
    if not op.validate_indices:
        return indices
    depth = ranked_shape(indices)[-1]
    limits = known_dims_of(x)[batch_dims : batch_dims + depth] if isinstance(depth, int) else ()
    return core.checked_positions(indices, core.dims(limits))


class Gather(AlongAxis, name="mil.gather", traits=(traits.Pure,)):
    """Gathers slices of x along an axis by index; a scalar index drops the axis.

    x and indices share the first batch_dims axes: the result has the axes of x before `axis`, those of indices after
    the shared ones, and those of x after `axis`. An index out of range gives an unspecified value; with
    validate_indices it is a runtime error.
    """

    x: Value = operand("T[*]")
    indices: Value = operand("P[*]", by_value=True)
    axis: int = parameter(attr_types.integer, spec="i32[]", default=0)
    batch_dims: int = parameter(attr_types.integer, spec="i32[]", default=0, check=non_negative, since=CORE_ML_6)
    validate_indices: bool = parameter(attr_types.flag, spec="i1[]", default=False, since=CORE_ML_7)
    output: Value = result("T[*]")
    T = NUMBERS_OR_SHORT
    P = INDICES

    @constraint("C2", since=CORE_ML_6)
    def _shares_batches(self) -> Condition:
        """batch_dims is at most axis and the rank of indices, and the first batch_dims axes of x and indices are
        equal.
        """
        if not is_axis(self.axis, rank_of(self.x)):
            return True  # C1
        if self.batch_dims > min(self.axis % rank_of(self.x), rank_of(self.indices)):
            return False
        shared = self.batch_dims
        return same_sizes(ranked_shape(self.indices)[:shared], ranked_shape(self.x)[:shared], "indices")

    def reference(self, x: Value, indices: Value) -> Value:
        indices = _checked(self, indices, x, self.axis)
        if not self.batch_dims:
            return core.gather(x, indices, self.axis)
        rank, batch = rank_of(x), self.batch_dims
        axis = self.axis % rank
        # [batch, between, axis, after] -> [batch, axis, between, after], and back with the new axes in its place.
        front = core.transpose(x, (*range(batch), axis, *range(batch, axis), *range(axis + 1, rank)))
        taken = core.gather_nd(front, core.unsqueeze(indices, (-1,)), batch)
        new, between = rank_of(indices) - batch, axis - batch
        first = batch + new
        order = (*range(batch), *range(first, first + between), *range(batch, first))
        return core.transpose(taken, (*order, *range(len(order), rank_of(taken))))


class GatherAlongAxis(AlongAxis, name="mil.gather_along_axis", traits=(traits.Pure,), same_rank="s i"):
    """Gathers elements of x by index along an axis; coordinates along the other axes stay the same.

    An index out of range gives an unspecified value; with validate_indices it is a runtime error.
    """

    x: Value = operand("T[s*]")
    indices: Value = operand("P[i*]")
    axis: int = parameter(attr_types.integer, spec="i32[]", default=0)
    validate_indices: bool = parameter(attr_types.flag, spec="i1[]", default=False, since=CORE_ML_7)
    output: Value = result("T[i*]")
    T = NUMBERS_OR_SHORT
    P = INDICES

    @constraint("C2")
    def _fit(self) -> Condition:
        """x and indices have the same sizes along the other axes."""
        return same_but_for(ranked_shape(self.indices), ranked_shape(self.x), self.axis, "indices")

    def reference(self, x: Value, indices: Value) -> Value:
        return core.gather_elements(x, _checked(self, indices, x, self.axis), self.axis)


class GatherNd(MilOp, name="mil.gather_nd", traits=(traits.Pure,)):
    """Gathers slices of x; each row of the last axis of indices is an index tuple, after batch_dims shared axes.

    An index out of range gives unspecified values; with validate_indices it is a runtime error.
    """

    x: Value = operand("T[*]")
    indices: Value = operand("P[*]")
    batch_dims: int = parameter(attr_types.integer, spec="i32[]", default=0, check=non_negative, since=CORE_ML_6)
    validate_indices: bool = parameter(attr_types.flag, spec="i1[]", default=False, since=CORE_ML_7)
    output: Value = result("T[*]")
    T = NUMBERS_OR_SHORT
    P = INDICES

    @constraint("C1")
    def _has_rows(self) -> bool:
        """the last axis of indices has a fixed size of at most the rank of x."""
        rows = ranked_shape(self.indices)[-1:]
        return bool(rows) and isinstance(rows[0], int) and rows[0] <= rank_of(self.x)

    @constraint("C2", since=CORE_ML_6)
    def _shares_batches(self) -> Condition:
        """the first batch_dims axes of x and indices are equal, and rows index at most the remaining axes."""
        rows = ranked_shape(self.indices)[-1:]
        depth = rows[0] if rows and isinstance(rows[0], int) else 0
        if self.batch_dims >= rank_of(self.indices) or self.batch_dims + depth > rank_of(self.x):
            return False
        shared = self.batch_dims
        return same_sizes(ranked_shape(self.indices)[:shared], ranked_shape(self.x)[:shared], "indices")

    def reference(self, x: Value, indices: Value) -> Value:
        batch = self.batch_dims
        return core.gather_nd(x, _checked_rows(self, indices, x, batch), batch)


class ScatterMode(Enum):
    """Combinations of an update with the element at its position."""

    UPDATE = "update"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    MAX = "max"
    MIN = "min"


_REDUCTIONS = {
    mode: core.Reduction.NONE if mode is ScatterMode.UPDATE else core.Reduction(mode.value) for mode in ScatterMode
}
SCATTER_MODE = attr_types.enumeration(ScatterMode)


class Scatter(MilOp, name="mil.scatter", traits=(traits.Pure,)):
    """A copy of data with updates combined into the slices at indices along an axis, in an unspecified order.

    Source: MIL operation reference, scatter (iOS 15). Its documentation gives update as the default mode; it is add.
    """

    data: Value = operand("T[s*]")
    indices: Value = operand("i32[*]")
    updates: Value = operand("T[*]")
    axis: int = parameter(attr_types.integer, spec="i32[]", default=0)
    mode: ScatterMode = parameter(SCATTER_MODE, spec=STRING, default=ScatterMode.ADD)
    validate_indices: bool = parameter(attr_types.flag, spec="i1[]", default=False, since=CORE_ML_7)
    output: Value = result("T[s*]")
    T = NUMBERS

    @constraint("C1")
    def _is_axis_of_data(self) -> bool:
        """axis is one of the axes of data."""
        return is_axis(self.axis, rank_of(self.data))

    @constraint("C2")
    def _fit(self) -> Condition:
        """updates has the shape of data with the axis replaced by the axes of indices."""
        sizes = ranked_shape(self.data)
        if not is_axis(self.axis, len(sizes)):
            return True  # C1
        at = self.axis % len(sizes)
        expected = (*sizes[:at], *ranked_shape(self.indices), *sizes[at + 1 :])
        return same_sizes(ranked_shape(self.updates), expected, "updates")

    def reference(self, data: Value, indices: Value, updates: Value) -> Value:
        indices = _checked(self, indices, data, self.axis)
        rank, new = rank_of(data), rank_of(indices)
        axis = self.axis % rank
        front = core.transpose(data, (axis, *range(axis), *range(axis + 1, rank)))
        last = rank_of(updates)
        slices = core.transpose(updates, (*range(axis, axis + new), *range(axis), *range(axis + new, last)))
        built = core.scatter_nd(front, core.unsqueeze(indices, (-1,)), slices, _REDUCTIONS[self.mode])
        return core.transpose(built, (*range(1, axis + 1), 0, *range(axis + 1, rank)))


class ScatterAlongAxis(MilOp, name="mil.scatter_along_axis", traits=(traits.Pure,), same_rank="s i"):
    """A copy of data with updates combined into the elements at indices along an axis.

    Source: MIL operation reference, scatter_along_axis (iOS 15). coremltools 9 ignores mode when it folds it.
    """

    data: Value = operand("T[s*]")
    indices: Value = operand("i32[i*]")
    updates: Value = operand("T[i*]")
    axis: int = parameter(attr_types.integer, spec="i32[]", default=0)
    mode: ScatterMode = parameter(SCATTER_MODE, spec=STRING, default=ScatterMode.ADD)
    validate_indices: bool = parameter(attr_types.flag, spec="i1[]", default=False, since=CORE_ML_7)
    output: Value = result("T[s*]")
    T = NUMBERS

    @constraint("C1")
    def _is_axis_of_data(self) -> bool:
        """axis is one of the axes of data."""
        return is_axis(self.axis, rank_of(self.data))

    @constraint("C2")
    def _fit(self) -> Condition:
        """data and indices have the same sizes along the other axes."""
        return same_but_for(ranked_shape(self.indices), ranked_shape(self.data), self.axis, "indices")

    def reference(self, data: Value, indices: Value, updates: Value) -> Value:
        indices = _checked(self, indices, data, self.axis)
        return core.scatter_elements(data, indices, updates, self.axis, _REDUCTIONS[self.mode])


class ScatterNd(MilOp, name="mil.scatter_nd", traits=(traits.Pure,)):
    """A copy of data with updates combined into slices; each row of the last axis of indices is an index tuple."""

    data: Value = operand("T[s*]")
    indices: Value = operand("i32[*]")
    updates: Value = operand("T[*]")
    mode: ScatterMode = parameter(SCATTER_MODE, spec=STRING, default=ScatterMode.ADD)
    validate_indices: bool = parameter(attr_types.flag, spec="i1[]", default=False, since=CORE_ML_7)
    output: Value = result("T[s*]")
    T = NUMBERS

    @constraint("C1")
    def _has_rows(self) -> bool:
        """the last axis of indices has a fixed size of at most the rank of data."""
        rows = ranked_shape(self.indices)[-1:]
        return bool(rows) and isinstance(rows[0], int) and rows[0] <= rank_of(self.data)

    @constraint("C2")
    def _fit(self) -> Condition:
        """updates has the axes of indices without the last, then those of data that rows do not index."""
        rows = ranked_shape(self.indices)[-1:]
        if not rows or not isinstance(rows[0], int) or rows[0] > rank_of(self.data):
            return True  # C1
        expected = (*ranked_shape(self.indices)[:-1], *ranked_shape(self.data)[rows[0] :])
        return same_sizes(ranked_shape(self.updates), expected, "updates")

    def reference(self, data: Value, indices: Value, updates: Value) -> Value:
        indices = _checked_rows(self, indices, data)
        return core.scatter_nd(data, indices, updates, _REDUCTIONS[self.mode])
