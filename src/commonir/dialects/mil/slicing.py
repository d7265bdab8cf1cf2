"""Parts of tensors in the mil dialect: slices, windows, borders, reversed axes.

Bounds that are computed by the program are allowed; then the sizes of the result are not known.
Source: MIL operation reference, tensor_operation and tensor_transformation.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.core.shape import slice_range
from commonir.dialects.mil.base import CORE_ML_8, MilOp
from commonir.dialects.mil.operands import (
    ALL,
    BASIC_OR_ALL,
    FLOATS,
    NUMBERS,
    POSITIONS,
    STRING,
    Condition,
    OverAxes,
    all_hold,
    converted,
    every_axis,
    is_axis,
    rank_of,
    same_size,
)
from commonir.dialects.mil.shape import element_at
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import boolean, i32
from commonir.notation import require
from commonir.ods import (
    attr_types,
    by_version,
    constraint,
    known_dims,
    non_negative,
    operand,
    parameter,
    positive,
    result,
    traits,
)
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.symbolic import Dim, floor_div

Window = tuple[tuple[Dim, Dim], ...]
"""For each axis where a part begins and ends."""


class Part(NamedTuple):
    """A slice of a tensor: strides, and where begin and end are left out or an axis is dropped.

    Where `squeezed`, only the element at begin is taken; end and stride do not matter there.
    """

    stride: tuple[int, ...] | None
    begin_mask: tuple[bool, ...] | None
    end_mask: tuple[bool, ...] | None
    squeeze_mask: tuple[bool, ...] | None

    def fits(self, x: Value, begin: Value) -> Condition:
        """Returns the condition that begin, end or size, stride and the masks have an entry for each axis of a
        tensor.
        """
        rank = rank_of(x)
        if any(v is not None and len(v) != rank for v in self):
            return False
        return same_size(ranked_shape(begin)[0], rank, "length of begin")

    def moves(self) -> bool:
        """Returns whether no stride is 0, but for those that do not matter."""
        strides = self.stride or ()
        return all(s != 0 or q for s, q in zip(strides, self.squeeze_mask or (False,) * len(strides), strict=False))

    def window(self, x: Value, begin: Value, end: Value) -> Window | None:
        """Returns starts and stops on each axis, within the tensor; None if they are computed, or there are strides."""
        sizes = known_dims_of(x)
        first, last = known_dims(begin), known_dims(end)
        none = (False,) * len(sizes)
        masks = (self.begin_mask or none, self.end_mask or none, self.squeeze_mask or none)
        steps = tuple([1 if q else s for q, s in zip(masks[2], self.stride or (1,) * len(sizes), strict=True)])
        if first is None or last is None or any(s != 1 for s in steps):
            return None
        out: list[tuple[Dim, Dim]] = []
        for n, a, b in zip(sizes, *_bounds(sizes, first, last, steps, masks), strict=True):
            start, size = slice_range(n, a, b, 1)
            out.append((start, start + size))
        return tuple(out)

    def of(self, x: Value, begin: Value, end: Value) -> Value:
        """The part of a tensor between two bounds, which may be computed by the program."""
        sizes = known_dims_of(x)
        none = (False,) * len(sizes)
        masks = (self.begin_mask or none, self.end_mask or none, self.squeeze_mask or none)
        steps = tuple([1 if q else s for q, s in zip(masks[2], self.stride or (1,) * len(sizes), strict=True)])
        first, last = known_dims(begin), known_dims(end)
        if first is not None and last is not None:
            starts, stops = _bounds(sizes, first, last, steps, masks)
            cut = core.slice(x, starts, stops, steps)
        else:
            lows, highs = _computed_bounds(sizes, converted(begin, i32), converted(end, i32), steps, masks)
            cut = core.dynamic_slice(x, lows, highs, steps)
        dropped = tuple([n for n, q in enumerate(masks[2]) if q])
        return core.squeeze(cut, dropped) if dropped else cut


def _with_window(x: Value, update: Value, window: Window, axis: int) -> Value:
    """Returns a tensor with a window replaced; up to an axis the tensor is within it."""
    sizes = known_dims_of(x)
    if axis == len(sizes):
        return update
    start, stop = window[axis]
    bounds = [(0, start), (start, stop), (stop, sizes[axis])]
    parts: list[Value] = []
    for n, (a, b) in enumerate(bounds):
        if a == b and n != 1:
            continue
        starts = tuple([a if i == axis else 0 for i in range(len(sizes))])
        stops = tuple([b if i == axis else d for i, d in enumerate(sizes)])
        part = x if (a, b) == (0, sizes[axis]) else core.slice(x, starts, stops, (1,) * len(sizes))
        parts.append(_with_window(part, update, window, axis + 1) if n == 1 else part)
    return parts[0] if len(parts) == 1 else core.concat(tuple(parts), axis)


Masks = tuple[tuple[bool, ...], tuple[bool, ...], tuple[bool, ...]]
"""Of begin, end and squeeze, one entry for each axis."""


def _open_bounds(sizes: tuple[Dim, ...], steps: tuple[int, ...]) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """Returns the bounds that replace omitted ones. A stop before the first element is less than the negated dim."""
    starts = tuple([0 if s > 0 else n - 1 for n, s in zip(sizes, steps, strict=True)])
    stops = tuple([n if s > 0 else -1 - n for n, s in zip(sizes, steps, strict=True)])
    return starts, stops


def _bounds(
    sizes: tuple[Dim, ...], begin: tuple[Dim, ...], end: tuple[Dim, ...], steps: tuple[int, ...], masks: Masks
) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """Starts and stops of each axis."""
    open_starts, open_stops = _open_bounds(sizes, steps)
    starts = [o if m else b for o, m, b in zip(open_starts, masks[0], begin, strict=True)]
    stops = [o if m else e for o, m, e in zip(open_stops, masks[1], end, strict=True)]
    for n, squeezed in enumerate(masks[2]):
        if squeezed:
            stops[n] = sizes[n] if starts[n] == -1 else starts[n] + 1
    return tuple(starts), tuple(stops)


def _computed_bounds(
    sizes: tuple[Dim, ...], begin: Value, end: Value, steps: tuple[int, ...], masks: Masks
) -> tuple[Value, Value]:
    """The same as vectors, where begin or end is computed by the program."""
    open_starts, open_stops = _open_bounds(sizes, steps)
    starts = core.select(_flags(masks[0]), core.dims(open_starts, i32), begin)
    stops = core.select(_flags(masks[1]), core.dims(open_stops, i32), end)
    if any(masks[2]):
        after = core.add(starts, core.scalar(1, i32))
        is_last = core.equal(starts, core.scalar(-1, i32))
        stops = core.select(_flags(masks[2]), core.select(is_last, core.dims(sizes, i32), after), stops)
    return starts, stops


def _flags(values: tuple[bool, ...]) -> Value:
    return core.constant(data_of(boolean, (len(values),), values))


class _WithPart(Protocol):
    x: Value
    begin: Value
    stride: tuple[int, ...] | None
    begin_mask: tuple[bool, ...] | None
    end_mask: tuple[bool, ...] | None
    squeeze_mask: tuple[bool, ...] | None


def _part(op: _WithPart) -> Part:
    return Part(op.stride, op.begin_mask, op.end_mask, op.squeeze_mask)


class _OfSlice(MilOp):
    """Base of operations on a slice of x."""

    @constraint("C1")
    def _has_one_per_axis(self: _WithPart) -> Condition:
        """begin, end, stride and the masks have an entry for each axis of x."""
        return _part(self).fits(self.x, self.begin)

    @constraint("C2")
    def _moves(self: _WithPart) -> bool:
        """no stride is 0, except where squeeze_mask is true."""
        return _part(self).moves()


class SliceByIndex(_OfSlice, name="mil.slice_by_index", traits=(traits.Pure,)):
    """Strided slice: for each axis a Python slice begin:end:stride.

    Where begin_mask or end_mask is true, that bound is omitted. Where squeeze_mask is true, the axis is dropped, as if
    indexed by begin (by 0 if begin_mask is true too); end and stride are ignored.
    """

    x: Value = operand("T[*]")
    begin: Value = operand("U[r]", by_value=True)
    end: Value = operand("U[r]", by_value=True)
    stride: tuple[int, ...] | None = parameter(attr_types.integers, spec="U[*]", default=None)
    begin_mask: tuple[bool, ...] | None = parameter(attr_types.flags, spec="i1[*]", default=None)
    end_mask: tuple[bool, ...] | None = parameter(attr_types.flags, spec="i1[*]", default=None)
    squeeze_mask: tuple[bool, ...] | None = parameter(attr_types.flags, spec="i1[*]", default=None)
    output: Value = result("T[*]")
    T = BASIC_OR_ALL
    U = POSITIONS

    def reference(self, x: Value, begin: Value, end: Value) -> Value:
        return _part(self).of(x, begin, end)


class SliceUpdate(_OfSlice, name="mil.slice_update", traits=(traits.Pure,), since=CORE_ML_8):
    """A copy of x in which the slice of begin, end, stride and masks, as in slice_by_index, is replaced by
    update.
    """

    x: Value = operand("T[s*]")
    update: Value = operand("T[*]")
    begin: Value = operand("U[r]", by_value=True)
    end: Value = operand("U[r]", by_value=True)
    stride: tuple[int, ...] | None = parameter(attr_types.integers, spec="U[*]", default=None)
    begin_mask: tuple[bool, ...] | None = parameter(attr_types.flags, spec="i1[*]", default=None)
    end_mask: tuple[bool, ...] | None = parameter(attr_types.flags, spec="i1[*]", default=None)
    squeeze_mask: tuple[bool, ...] | None = parameter(attr_types.flags, spec="i1[*]", default=None)
    output: Value = result("T[s*]")
    T = ALL
    U = POSITIONS

    @constraint("C3")
    def _fits(self) -> bool:
        """update has the shape of the slice, and x has rank 1 or more."""
        dropped = sum(self.squeeze_mask or ())
        return rank_of(self.x) > 0 and rank_of(self.update) == rank_of(self.x) - dropped

    def reference(self, x: Value, update: Value, begin: Value, end: Value) -> Value:
        sizes = known_dims_of(x)
        window = _part(self).window(x, begin, end)
        if window is not None:
            shape = tuple([b - a for a, b in window])
            squeezed = self.squeeze_mask or (False,) * len(shape)
            kept = [d for d, is_squeezed in zip(shape, squeezed, strict=True) if not is_squeezed]
            for n, (a, b) in enumerate(zip(kept, ranked_shape(update), strict=True)):
                if b is not None:
                    require(a, "==", b, f"axis {n} of update", label="C3")
            return _with_window(x, core.reshape(update, shape), window, 0)
        flat = core.reshape(x, (-1,))
        every = core.reshape(core.iota(known_dims_of(flat), 0, i32), sizes)
        positions = _part(self).of(every, begin, end)
        for n, (a, b) in enumerate(zip(ranked_shape(positions), ranked_shape(update), strict=True)):
            if a is not None and b is not None:
                require(a, "==", b, f"axis {n} of update", label="C3")
        updated = core.scatter_elements(flat, core.reshape(positions, (-1,)), core.reshape(update, (-1,)))
        return core.reshape(updated, sizes)


class SliceBySize(MilOp, name="mil.slice_by_size", traits=(traits.Pure,)):
    """Slice: for each axis `size` elements from `begin` on; a size of -1 takes all remaining ones.

    A negative begin counts from the end.

    Source: MIL operation reference, slice_by_size (iOS 15). coremltools 9 folds a size of 0 as -1.
    """

    x: Value = operand("T[*]")
    begin: Value = operand("U[r]", by_value=True)
    size: Value = operand("U[r]", by_value=True)
    output: Value = result("T[*]")
    T = BASIC_OR_ALL
    U = POSITIONS

    @constraint("C1")
    def _has_one_per_axis(self) -> Condition:
        """begin and size have an entry for each axis of x."""
        return same_size(ranked_shape(self.begin)[0], rank_of(self.x), "length of begin")

    @constraint("C2")
    def _are_sizes(self) -> bool:
        """every size is at least -1."""
        return all(not isinstance(n, int) or n >= -1 for n in known_dims(self.size) or ())

    def reference(self, x: Value, begin: Value, size: Value) -> Value:
        sizes = known_dims_of(x)
        steps = (1,) * len(sizes)
        first, expected = known_dims(begin), known_dims(size)
        if first is not None and expected is not None:
            starts = [b + n if isinstance(b, int) and b < 0 else b for b, n in zip(first, sizes, strict=True)]
            stops = [n if w == -1 else b + w for b, w, n in zip(starts, expected, sizes, strict=True)]
            return core.slice(x, tuple(starts), tuple(stops), steps)
        whole, none = core.dims(sizes, i32), core.scalar(0, i32)
        low, count = converted(begin, i32), converted(size, i32)
        low = core.select(core.less(low, none), core.add(low, whole), low)
        high = core.select(core.less(count, none), whole, core.add(low, count))
        cut = core.dynamic_slice(x, low, high, steps)
        return cut if expected is None or expected.count(-1) > 1 else core.reshape(cut, expected)


class SlidingWindows(MilOp, name="mil.sliding_windows", traits=(traits.Pure,)):
    """Windows of `size` elements along an axis, each `stride` after the one before; elements are along a new axis after
    it.
    """

    x: Value = operand("T[*]")
    axis: int = parameter(attr_types.integer, spec="i32[]")
    size: int = parameter(attr_types.integer, spec="i32[]", check=positive)
    stride: int = parameter(attr_types.integer, spec="i32[]", default=1, check=positive)
    output: Value = result("T[*]")
    T = by_version(CoreML5=NUMBERS, CoreML7=ALL)

    @constraint("C1")
    def _is_axis_of_x(self) -> bool:
        """axis is one of the axes of x."""
        return is_axis(self.axis, rank_of(self.x))

    @constraint("C2")
    def _fits(self) -> Condition:
        """a window fits into the axis."""
        whole = ranked_shape(self.x)[self.axis] if is_axis(self.axis, rank_of(self.x)) else None
        return True if whole is None else require(self.size, "<=", whole, "size of a window")

    def reference(self, x: Value) -> Value:
        count = floor_div(known_dims_of(x)[self.axis] - self.size, self.stride) + 1
        shape = (count, self.size)
        starts = core.mul(core.iota(shape, 0, i32), core.scalar(self.stride, i32))
        return core.gather(x, core.add(starts, core.iota(shape, 1, i32)), self.axis)


class BorderMode(Enum):
    """Values outside of a tensor: a constant, x mirrored about its border element, or its border element."""

    CONSTANT = "constant"
    REFLECT = "reflect"
    REPLICATE = "replicate"


_PAD_MODES = {
    BorderMode.CONSTANT: core.PadMode.CONSTANT,
    BorderMode.REFLECT: core.PadMode.REFLECT,
    BorderMode.REPLICATE: core.PadMode.EDGE,
}


class Pad(MilOp, name="mil.pad", traits=(traits.Pure,)):
    """Pads the last axes: `pad` has the amounts before and after each, the outermost axis first."""

    x: Value = operand("T[*]")
    pad: Value = operand("i32[p]", by_value=True)
    mode: BorderMode = parameter(attr_types.enumeration(BorderMode), spec=STRING, default=BorderMode.CONSTANT)
    constant_val: float = parameter(attr_types.number, spec="T[]", default=0.0)
    output: Value = result("T[*]")
    T = FLOATS

    @constraint("C1")
    def _has_two_per_axis(self) -> bool:
        """pad has two numbers for each padded axis; a pad that is not constant has them for all axes of x."""
        (count,) = ranked_shape(self.pad)
        if not isinstance(count, int):
            return True
        most = 2 * rank_of(self.x)
        return count == most or (count < most and count % 2 == 0 and known_dims(self.pad) is not None)

    @constraint("C2")
    def _extends(self) -> bool:
        """no number of pad is negative."""
        return all(not isinstance(n, int) or n >= 0 for n in known_dims(self.pad) or ())

    @constraint("C3")
    def _mirrors_inside(self) -> Condition:
        """amounts of reflect padding are less than the size of the axis."""
        known = known_dims(self.pad)
        if self.mode is not BorderMode.REFLECT or known is None or len(known) > 2 * rank_of(self.x):
            return True
        sizes = ranked_shape(self.x)[rank_of(self.x) - len(known) // 2 :]
        amounts = [(p, sizes[n // 2]) for n, p in enumerate(known)]
        return all_hold([p == 0 or n is None or require(p, "<", n, "amount of pad") for p, n in amounts])

    def reference(self, x: Value, pad: Value) -> Value:
        known = known_dims(pad)
        fixed = [n for n in known or () if isinstance(n, int)]
        if known is None or len(fixed) != len(known):
            return self._padded_by(x, pad)
        outer = (0,) * (rank_of(x) - len(fixed) // 2)
        return core.pad(
            x, outer + tuple(fixed[::2]), outer + tuple(fixed[1::2]), _PAD_MODES[self.mode], self.constant_val
        )

    def _padded_by(self, x: Value, pad: Value) -> Value:
        """The same where the amounts are computed by the program: axis by axis, the source of each position is
        gathered.
        """
        none, one = core.scalar(0, i32), core.scalar(1, i32)
        (count,) = ranked_shape(pad)
        outer = rank_of(x) - (count // 2 if isinstance(count, int) else rank_of(x))
        for axis in range(outer, rank_of(x)):
            size = core.dim(x, axis, i32)
            last = core.sub(size, one)
            before = element_at(pad, 2 * (axis - outer))
            stop = core.add(size, element_at(pad, 2 * (axis - outer) + 1))
            positions = core.range(core.neg(before), stop, one)
            inside = core.logical_and(core.greater_equal(positions, none), core.less(positions, size))
            if self.mode is BorderMode.REFLECT:
                positions = core.sub(last, core.abs(core.sub(last, core.abs(positions))))
            else:
                positions = core.minimum(core.maximum(positions, none), last)
            x = core.gather(x, positions, axis)
            if self.mode is BorderMode.CONSTANT:
                keep = core.reshape(inside, (-1, *(1,) * (rank_of(x) - axis - 1)))
                x = core.select(keep, x, core.splat(self.constant_val, like=x))
        return x


class Crop(MilOp, name="mil.crop", traits=(traits.Pure,)):
    """Crops the last two axes: removes elements at their beginning and end."""

    x: Value = operand("T[*]")
    crop_height: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", check=non_negative)
    crop_width: tuple[int, ...] = parameter(attr_types.integers, spec="i32[*]", check=non_negative)
    output: Value = result("T[*]")
    T = FLOATS

    @constraint("C1")
    def _has_images(self) -> bool:
        """x has rank 3 or more."""
        return rank_of(self.x) >= 3

    @constraint("C2")
    def _have_two(self) -> bool:
        """crop_height and crop_width have two numbers each."""
        return len(self.crop_height) == len(self.crop_width) == 2

    def reference(self, x: Value) -> Value:
        sizes = known_dims_of(x)
        (top, bottom), (left, right) = self.crop_height, self.crop_width
        starts = (*(0,) * (len(sizes) - 2), top, left)
        stops = (*sizes[:-2], sizes[-2] - bottom, sizes[-1] - right)
        return core.slice(x, starts, stops, (1,) * len(sizes))


class Reverse(OverAxes, name="mil.reverse", traits=(traits.Pure,)):
    """Reverses the order of the elements along some axes, along all if none are given."""

    x: Value = operand("T[s*]")
    axes: tuple[int, ...] | None = parameter(attr_types.integers, spec="i32[*]", default=None)
    output: Value = result("T[s*]")
    T = BASIC_OR_ALL

    def reference(self, x: Value) -> Value:
        return core.reverse(x, every_axis(self.axes, rank_of(x)))


class ReverseSequence(MilOp, name="mil.reverse_sequence", traits=(traits.Pure,)):
    """Reverses the first `lengths` elements of each batch entry along an axis."""

    x: Value = operand("T[s*]")
    lengths: Value = operand("U[b]")
    seq_axis: int = parameter(attr_types.integer, spec="i32[]", default=0)
    batch_axis: int = parameter(attr_types.integer, spec="i32[]", default=0)
    output: Value = result("T[s*]")
    T = BASIC_OR_ALL
    U = POSITIONS

    @constraint("C1")
    def _are_axes(self) -> bool:
        """seq_axis and batch_axis are axes of x."""
        return is_axis(self.seq_axis, rank_of(self.x)) and is_axis(self.batch_axis, rank_of(self.x))

    @constraint("C2")
    def _has_one_per_batch(self) -> Condition:
        """lengths has one number for each batch entry."""
        if not is_axis(self.batch_axis, rank_of(self.x)):
            return True  # C1
        return same_size(ranked_shape(self.lengths)[0], ranked_shape(self.x)[self.batch_axis], "length of lengths")

    def reference(self, x: Value, lengths: Value) -> Value:
        sizes = known_dims_of(x)
        along = self.batch_axis % len(sizes)
        counts = core.reshape(converted(lengths, i32), (-1, *(1,) * (len(sizes) - along - 1)))
        positions = core.iota(sizes, self.seq_axis, i32)
        mirrored = core.sub(core.sub(counts, core.scalar(1, i32)), positions)
        source = core.select(core.less(positions, counts), mirrored, positions)
        return core.gather_elements(x, source, self.seq_axis)
