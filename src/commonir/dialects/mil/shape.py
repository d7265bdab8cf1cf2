"""Shapes and layout in the mil dialect: operations that move elements without changing them.

From iOS 17 they also take integers of 8 and 16 bits.
Source: MIL operation reference, tensor_operation and tensor_transformation.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_7, MilOp
from commonir.dialects.mil.operands import (
    ALL,
    BASIC,
    BASIC_OR_ALL,
    POSITIONS,
    AlongAxis,
    Condition,
    all_hold,
    are_axes,
    converted,
    every_axis,
    is_axis,
    rank_of,
    same_but_for,
    same_size,
    same_sizes,
)
from commonir.ir.operation import Value
from commonir.ir.types import i32, i64
from commonir.notation import NotationError, require
from commonir.ods import (
    attr_types,
    constraint,
    known_data,
    known_dims,
    non_negative,
    operand,
    parameter,
    positive,
    result,
    traits,
)
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.symbolic import Dim, element_count


class Shape(MilOp, name="mil.shape", traits=(traits.Pure,)):
    """The shape of a tensor, as a vector."""

    x: Value = operand("T[*]")
    output: Value = result("i32[r]")
    T = BASIC

    def reference(self, x: Value) -> Value:
        return core.shape_of(x, i32)


class Identity(MilOp, name="mil.identity", traits=(traits.Pure,)):
    """Returns its operand, which may be a tensor, a list or a dictionary."""

    x: Value = operand("any")
    output: Value = result("any")

    def reference(self, x: Value) -> Value:
        return x


class Reshape(MilOp, name="mil.reshape", traits=(traits.Pure,)):
    """Reshapes a tensor, in row-major order.

    One dim of -1 is inferred. A dim of 0 is the dim of x along the same axis; from iOS 17 on, axes correspond from the
    last one on, and 0 is 1 where x has no such axis.
    """

    x: Value = operand("T[*]")
    shape: Value = operand("U[r]", by_value=True)
    output: Value = result("T[*]")
    T = BASIC_OR_ALL
    U = POSITIONS

    def _copied_sizes(self, x: tuple[Dim | None, ...], rank: int) -> tuple[Dim | None, ...]:
        """Returns the size that 0 stands for, at each place of the shape. Raises: NotationError when there is none."""
        if self.since == CORE_ML_7:
            return ((1,) * (rank - len(x)) + x)[-rank:]
        if len(x) != rank:
            raise NotationError(f"a size of 0 in a shape of rank {rank} for x of rank {len(x)}")
        return x

    @constraint("C1")
    def _has_one_rest(self) -> bool:
        """at most one dim is -1, and none is less."""
        numbers = [d for d in known_dims(self.shape) or () if isinstance(d, int)]
        return numbers.count(-1) <= 1 and all(d >= -1 for d in numbers)

    @constraint("C2")
    def _copies_sizes(self) -> bool:
        """until iOS 16, with a dim of 0, the result has the rank of x."""
        known = known_dims(self.shape)
        if known is not None and 0 in known:
            self._copied_sizes(ranked_shape(self.x), len(known))
        return True

    @constraint("C3")
    def _keeps_elements(self) -> Condition:
        """the number of elements stays the same."""
        known, source = known_dims(self.shape), ranked_shape(self.x)
        numbers = [d for d in source if d is not None]
        if known is None or known.count(-1) > 1 or len(numbers) != len(source):
            return True
        try:
            shape = core.resolved_shape(self._resolved(known, tuple(numbers)), tuple(numbers))
        except NotationError:
            return True  # C2
        return require(element_count(shape), "==", element_count(tuple(numbers)), "number of elements")

    def _resolved(self, shape: tuple[Dim, ...], x: tuple[Dim, ...]) -> tuple[Dim, ...]:
        if 0 not in shape:
            return shape
        copied = self._copied_sizes(x, len(shape))
        sizes = [c if d == 0 else d for d, c in zip(shape, copied, strict=True)]
        return tuple([d for d in sizes if d is not None])

    def reference(self, x: Value, shape: Value) -> Value:
        known, sizes = known_dims(shape), known_dims_of(x)
        if known is not None:
            return core.reshape(x, self._resolved(known, sizes))
        expected = converted(shape, i32)
        (rank,) = ranked_shape(shape)
        if isinstance(rank, int):
            try:
                copied = self._copied_sizes(sizes, rank)
            except NotationError:
                return core.dynamic_reshape(x, expected)
            source = core.dims(tuple([d for d in copied if d is not None]), i32)
            expected = core.select(core.equal(expected, core.splat(0, like=expected)), source, expected)
        return core.dynamic_reshape(x, expected)


class ReshapeLike(MilOp, name="mil.reshape_like", traits=(traits.Pure,), since="CoreML6 CoreML7"):
    """Reshapes x to the concatenation of slices of the shapes of other tensors.

    Slice k is begins[k]:ends[k] of the shape of ref_tensors[k], or begins[k]: where end_masks[k] is true.

    C2: the number of elements stays the same.
    """

    x: Value = operand("T[*]")
    ref_tensors: tuple[Value, ...] = operand("any[*]", variadic=True)
    begins: tuple[Value, ...] = operand("i32[]", variadic=True, constant=True)
    ends: tuple[Value, ...] = operand("i32[]", variadic=True, constant=True)
    end_masks: tuple[Value, ...] = operand("i1[]", variadic=True, constant=True)
    output: Value = result("T[*]")
    T = BASIC_OR_ALL

    def trace_key(self) -> object:
        return tuple([_scalar(v) for v in (*self.begins, *self.ends, *self.end_masks)])

    @constraint("C1")
    def _are_as_many(self) -> bool:
        """there are as many begins, ends and end_masks as ref_tensors."""
        return len({len(self.ref_tensors), len(self.begins), len(self.ends), len(self.end_masks)}) == 1

    def _shape(self, refs: tuple[Value, ...]) -> tuple[Dim, ...]:
        shape: list[Dim] = []
        for ref, begin, end, masked in zip(refs, self.begins, self.ends, self.end_masks, strict=True):
            shape += known_dims_of(ref)[_scalar(begin) : None if _scalar(masked) else _scalar(end)]
        return tuple(shape)

    def reference(
        self,
        x: Value,
        ref_tensors: tuple[Value, ...],
        begins: tuple[Value, ...],  # noqa: ARG002  read as constants
        ends: tuple[Value, ...],  # noqa: ARG002
        end_masks: tuple[Value, ...],  # noqa: ARG002
    ) -> Value:
        shape = self._shape(ref_tensors)
        require(element_count(shape), "==", element_count(known_dims_of(x)), "number of elements", label="C2")
        return core.reshape(x, shape)


def _scalar(value: Value) -> int:
    data = known_data(value)
    if data is None:
        raise NotationError("a bound must be constant")
    return int(data.values()[0])


class ExpandDims(MilOp, name="mil.expand_dims", traits=(traits.Pure,)):
    """Inserts axes of size 1; positions are those in the result."""

    x: Value = operand("T[*]")
    axes: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]")
    output: Value = result("T[*]")
    T = BASIC_OR_ALL

    @constraint("C1")
    def _are_axes(self) -> bool:
        """axes are different axes of the result."""
        return are_axes(self.axes, rank_of(self.x) + len(self.axes))

    def reference(self, x: Value) -> Value:
        return core.unsqueeze(x, self.axes)


class Squeeze(MilOp, name="mil.squeeze", traits=(traits.Pure,)):
    """Removes axes of size 1: those listed, or all of them.

    A listed axis of another or an unknown size stays.
    """

    x: Value = operand("T[*]")
    axes: tuple[int, ...] | None = parameter(attr_types.integers, spec="i32[*]", default=None)
    output: Value = result("T[*]")
    T = BASIC_OR_ALL

    @constraint("C1")
    def _has_axes(self) -> bool:
        """x has rank 1 or more."""
        return rank_of(self.x) > 0

    @constraint("C2")
    def _are_axes(self) -> bool:
        """axes are different axes of x."""
        return self.axes is None or are_axes(self.axes, rank_of(self.x))

    def reference(self, x: Value) -> Value:
        sizes = known_dims_of(x)
        return core.squeeze(x, tuple([a for a in every_axis(self.axes, len(sizes)) if sizes[a] == 1]))


class Transpose(MilOp, name="mil.transpose", traits=(traits.Pure,)):
    """Permutes the axes: axis `n` of the result is axis `perm[n]` of x."""

    x: Value = operand("T[*]")
    perm: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]")
    output: Value = result("T[*]")
    T = BASIC_OR_ALL

    @constraint("C1")
    def _names_every_axis(self) -> bool:
        """perm names every axis of x once."""
        return len(self.perm) == rank_of(self.x) and are_axes(self.perm, rank_of(self.x))

    def reference(self, x: Value) -> Value:
        return core.transpose(x, self.perm)


class Flatten2d(AlongAxis, name="mil.flatten2d", traits=(traits.Pure,)):
    """Flattens to a matrix: the axes before `axis` become its rows, the others its columns."""

    x: Value = operand("T[*]")
    axis: int = parameter(attr_types.integer, spec="i32[]", default=1)
    output: Value = result("T[rows, columns]")
    T = BASIC

    def reference(self, x: Value) -> Value:
        sizes = known_dims_of(x)
        at = self.axis % len(sizes)
        return core.reshape(x, (element_count(sizes[:at]), element_count(sizes[at:])))


class Concat(MilOp, name="mil.concat", traits=(traits.Pure,)):
    """Concatenates tensors along an axis; scalars give a vector.

    With `interleave` element k of the result along the axis comes from operand k mod n, n being their number.

    Source: MIL operation reference, concat (iOS 15). coremltools 9 ignores interleave when it folds it.
    """

    values: tuple[Value, ...] = operand("T[*]", variadic=True)
    axis: int = parameter(attr_types.integer, spec="i32[]")
    interleave: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    output: Value = result("T[*]")
    T = ALL

    @constraint("C1")
    def _has_axis(self) -> bool:
        """there is at least one operand, and axis is one of its axes; that of a scalar is 0."""
        return bool(self.values) and is_axis(self.axis, max(rank_of(self.values[0]), 1))

    @constraint("C2")
    def _fit(self) -> Condition:
        """the operands have the same sizes along the other axes."""
        first = ranked_shape(self.values[0]) if self.values else ()
        result = [same_but_for(ranked_shape(v), first, self.axis, f"operand {n}") for n, v in enumerate(self.values)]
        return all_hold(result)

    @constraint("C3")
    def _interleave_equals(self) -> Condition:
        """with interleave, the operands have the same shape."""
        return not self.interleave or _are_equal(self.values)

    def reference(self, values: tuple[Value, ...]) -> Value:
        if rank_of(values[0]) == 0:
            values = tuple([core.unsqueeze(v, (0,)) for v in values])
        if not self.interleave:
            return core.concat(values, self.axis)
        at, sizes = self.axis % rank_of(values[0]), known_dims_of(values[0])
        return core.reshape(core.stack(values, at + 1), (*sizes[:at], sizes[at] * len(values), *sizes[at + 1 :]))


def _are_equal(values: tuple[Value, ...]) -> Condition:
    """Returns the condition that tensors have one shape."""
    first = ranked_shape(values[0]) if values else ()
    return all_hold([same_sizes(ranked_shape(v), first, f"operand {n}") for n, v in enumerate(values)])


class Stack(MilOp, name="mil.stack", traits=(traits.Pure,)):
    """Stacks tensors of one shape along a new axis."""

    values: tuple[Value, ...] = operand("T[*]", variadic=True)
    axis: int = parameter(attr_types.integer, spec="i32[]")
    output: Value = result("T[*]")
    T = ALL

    @constraint("C1")
    def _has_axis(self) -> bool:
        """there is at least one operand, and axis is one of the axes of the result."""
        return bool(self.values) and is_axis(self.axis, rank_of(self.values[0]) + 1)

    @constraint("C2")
    def _are_equal(self) -> Condition:
        """the operands have the same shape."""
        return _are_equal(self.values)

    def reference(self, values: tuple[Value, ...]) -> Value:
        return core.stack(values, self.axis)


class Split(AlongAxis, name="mil.split", traits=(traits.Pure,)):
    """Splits a tensor along an axis, into given sizes or a number of equal parts."""

    x: Value = operand("T[*]")
    axis: int = parameter(attr_types.integer, spec="i32[]")
    num_splits: int | None = parameter(attr_types.integer, spec="i32[]", default=None, check=positive)
    split_sizes: tuple[int, ...] | None = parameter(
        attr_types.integers, spec="i32[*]", default=None, check=non_negative
    )
    outputs: tuple[Value, ...] = result("T[*]", variadic=True)
    T = BASIC

    @constraint("C2")
    def _states_pieces(self) -> bool:
        """num_splits or split_sizes is given, and they agree on the number of pieces."""
        if self.split_sizes is None:
            return self.num_splits is not None
        return self.num_splits in (None, len(self.split_sizes))

    @constraint("C3")
    def _add_up(self) -> Condition:
        """split_sizes add up to the size of the axis, and num_splits alone divides it."""
        sizes = ranked_shape(self.x)
        whole = sizes[self.axis] if is_axis(self.axis, len(sizes)) else None
        if self.split_sizes is not None:
            return same_size(sum(self.split_sizes), whole, "sum of split_sizes")
        return not isinstance(whole, int) or self.num_splits is None or whole % self.num_splits == 0

    def reference(self, x: Value) -> tuple[Value, ...]:
        if self.split_sizes is not None:
            return core.split(x, self.axis, self.split_sizes)
        count = self.num_splits or 1
        return core.split(x, self.axis, (known_dims_of(x)[self.axis] // count,) * count)


class Tile(MilOp, name="mil.tile", traits=(traits.Pure,)):
    """Repeats a tensor along each axis."""

    x: Value = operand("T[*]")
    reps: Value = operand("i32[r]", by_value=True)
    output: Value = result("T[*]")
    T = BASIC

    @constraint("C1")
    def _has_one_per_axis(self) -> Condition:
        """reps has one number for each axis of x."""
        return same_size(ranked_shape(self.reps)[0], rank_of(self.x), "length of reps")

    @constraint("C2")
    def _are_positive(self) -> bool:
        """every number of reps is positive."""
        return all(not isinstance(d, int) or d > 0 for d in known_dims(self.reps) or ())

    def reference(self, x: Value, reps: Value) -> Value:
        known = known_dims(reps)
        if known is not None:
            return core.tile(x, known)
        # Axis by axis, the positions 0, 1, ... modulo its size.
        for axis in range(rank_of(x)):
            size = core.dim(x, axis, i32)
            count = core.mul(size, element_at(reps, axis))
            positions = core.range(core.scalar(0, i32), count, core.scalar(1, i32))
            x = core.gather(x, core.mod(positions, size), axis)
        return x


def element_at(vector: Value, position: int) -> Value:
    """One element of a vector, as a scalar."""
    return core.gather(vector, core.scalar(position, i64), 0)
