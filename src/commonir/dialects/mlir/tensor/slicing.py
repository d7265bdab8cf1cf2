"""Operations of the tensor dialect that take parts of tensors, put them together and continue them.

Source: MLIR tensor dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, lifting
from commonir.dialects.mlir.tensor.base import (
    TensorOp,
    as_value,
    mixed,
    positions,
    rank_reduction,
    refined,
    sizes_text,
    static_sizes,
)
from commonir.dialects.mlir.tensor.elements import generated, wrong_body, zero
from commonir.ir.operation import Region, Value
from commonir.ir.types import DYNAMIC, Shape, TensorType, boolean, i64
from commonir.ods import attr_types, attribute, known_data, known_dims, operand, region, result, traits
from commonir.ods.mlir_attr_types import typed_integer
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.ods.type_constraints import AnyRankedTensor, AnySignlessIntegerOrIndex, Index, ranked_tensor_of
from commonir.ods.type_rules import element_of, types_match_with
from commonir.symbolic import Dim, at_least


class OffsetsSizesStrides(TensorOp):
    """Base of operations on a part of a tensor: along each axis an offset, a size and a stride."""

    static_offsets: tuple[int, ...] = attribute(positions)
    static_sizes: tuple[int, ...] = attribute(positions)
    static_strides: tuple[int, ...] = attribute(positions)

    def wrong_part(self, whole: Shape, *dynamic_: tuple[Value, ...]) -> Iterator[Diagnostic]:
        """Yields the faults of offsets, sizes and strides of a slice of a tensor of a shape."""
        static_ = (self.static_offsets, self.static_sizes, self.static_strides)
        lists = zip(("offset", "size", "stride"), static_, dynamic_, strict=True)
        for what, static, dynamic in lists:
            if len(static) != len(whole):
                yield self.violated(f"expected {len(whole)} {what} values, got {len(static)}")
            elif static.count(DYNAMIC) != len(dynamic):
                yield self.violated(f"expected {static.count(DYNAMIC)} dynamic {what} values")
            elif what != "stride" and (negative := [n for n in static if n < 0 and n != DYNAMIC]):
                yield self.violated(f"expected {what}s to be non-negative, but got {min(negative)}")

    def out_of_bounds(self, whole: Shape) -> Iterator[Diagnostic]:
        """Reports static slices that exceed the tensor."""
        rows = zip(whole, self.static_offsets, self.static_sizes, self.static_strides, strict=True)
        for axis, (n, offset, size, stride) in enumerate(rows):
            if not isinstance(n, int) or offset == DYNAMIC:
                continue
            if offset >= n:
                yield self.violated(f"offset {axis} is out-of-bounds: {offset} >= {n}")
                return
            if DYNAMIC in (size, stride):
                continue
            last = offset + (size - 1) * stride
            if last >= n:
                yield self.violated(f"slice along dimension {axis} runs out-of-bounds: {last} >= {n}")
                return

    def wrong_type(self, part: TensorType, expected: str, other: TensorType) -> Iterator[Diagnostic]:
        """Returns whether a tensor has the type of the part, or that without some axes of size 1."""
        if part.element is not other.element:
            yield self.violated(f"expected element type to be '{other.element}'")
        elif rank_reduction(self.static_sizes, static_sizes(part.shape or ())) is None:
            yield self.violated(
                f"{expected} {sizes_text(self.static_sizes, part.element)} or a rank-reduced version, found '{part}'"
            )

    def dropped(self, part: Value) -> tuple[int, ...]:
        """The axes of size 1 that the part is without."""
        shape = part.type.shape if isinstance(part.type, TensorType) else None
        return rank_reduction(self.static_sizes, static_sizes(shape or ())) or ()


class ExtractSlice(
    OffsetsSizesStrides,
    name="tensor.extract_slice",
    traits=(traits.Pure,),
    assembly="$source `` custom<DynamicIndexList>($offsets, $static_offsets)"
    " custom<DynamicIndexList>($sizes, $static_sizes) custom<DynamicIndexList>($strides, $static_strides)"
    " attr-dict `:` type($source) `to` type($result)",
):
    """Extracts a strided slice; dimensions of size 1 may be dropped. C1: there is an offset, a size and a stride for
    each axis. C2: a static slice lies within the source. C3: the result has the declared sizes.
    """

    result_name = "extracted_slice"

    source: Value = operand(AnyRankedTensor)
    offsets: tuple[Value, ...] = operand(Index, variadic=True)
    sizes: tuple[Value, ...] = operand(Index, variadic=True)
    strides: tuple[Value, ...] = operand(Index, variadic=True)
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        wrong = list(self.wrong_part(ranked_shape(self.source), self.offsets, self.sizes, self.strides))
        yield from wrong
        if not wrong:
            source, part = core.as_tensor(self.source.type), core.as_tensor(self.result_.type)
            yield from self.wrong_type(part, "expected type to be", source)
            yield from self.out_of_bounds(ranked_shape(self.source))

    def reference(
        self, source: Value, offsets: tuple[Value, ...], sizes: tuple[Value, ...], strides: tuple[Value, ...]
    ) -> Value:
        rows = zip(
            mixed(self.static_offsets, offsets),
            mixed(self.static_sizes, sizes),
            mixed(self.static_strides, strides),
            strict=True,
        )
        x = source
        for axis, (offset, size, stride) in enumerate(rows):
            x = taken(x, axis, offset, size, stride)
        gone = self.dropped(self.result_)
        return refined(core.squeeze(x, gone) if gone else x, self.result_.type)


def as_dim(number: int | Value) -> Dim | None:
    """A number as shape arithmetic knows it; None when it is data-dependent."""
    if not isinstance(number, Value):
        return number
    known = known_dims(number)
    return None if known is None or len(known) != 1 else known[0]


def taken(x: Value, axis: int, offset: int | Value, size: int | Value, stride: int | Value) -> Value:
    """Some positions of one axis."""
    rank = len(ranked_shape(x))
    first, count, step = as_dim(offset), as_dim(size), as_dim(stride)
    whole = ranked_shape(x)[axis]
    if first == 0 and step == 1 and count is not None and count == whole:
        return x
    # Where there may be nothing to take, the position behind the last one would lie before the first.
    is_plain = step == 1 or (count is not None and at_least(count, 1))
    if first is not None and count is not None and isinstance(step, int) and step > 0 and is_plain:

        def at(value: Dim, other: Dim) -> tuple[Dim, ...]:
            return tuple([value if a == axis else other for a in range(rank)])

        most = 2**63 - 1
        steps = tuple([step if a == axis else 1 for a in range(rank)])
        return core.slice(x, at(first, 0), at(first + (count - 1) * step + 1, most), steps)
    return core.gather(x, places(offset, size, stride), axis)


def places(offset: int | Value, size: int | Value, stride: int | Value) -> Value:
    """The positions of a part along one axis."""
    count = as_dim(size)
    zero_, one = core.scalar(0, i64), core.scalar(1, i64)
    counted = core.range(zero_, as_value(size), one) if count is None else core.iota((count,))
    return core.add(core.mul(counted, as_value(stride)), as_value(offset))


class Inserting(OffsetsSizesStrides):
    """Base of operations that put a tensor into a part of another one."""

    source: Value = operand(AnyRankedTensor)
    dest: Value = operand(AnyRankedTensor)
    offsets: tuple[Value, ...] = operand(Index, variadic=True)
    sizes: tuple[Value, ...] = operand(Index, variadic=True)
    strides: tuple[Value, ...] = operand(Index, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        wrong = list(self.wrong_part(ranked_shape(self.dest), self.offsets, self.sizes, self.strides))
        yield from wrong
        if not wrong:
            source, whole = core.as_tensor(self.source.type), core.as_tensor(self.dest.type)
            yield from self.wrong_type(source, "expected source type to be", whole)
            yield from self.out_of_bounds(ranked_shape(self.dest))


_INTO = (
    "$source `into` $dest `` custom<DynamicIndexList>($offsets, $static_offsets)"
    " custom<DynamicIndexList>($sizes, $static_sizes) custom<DynamicIndexList>($strides, $static_strides)"
    " attr-dict `:` type($source) `into` type($dest)"
)


class InsertSlice(
    Inserting,
    name="tensor.insert_slice",
    traits=(traits.Pure, types_match_with("expected result type to match dest type", "dest", "result_", lambda t: t)),
    assembly=_INTO,
):
    """Inserts a tensor into a strided slice of a copy of another; dimensions of size 1 may be missing.

    C1: there is an offset, a size and a stride for each axis. C2: a static slice lies within the destination. C3: the
    source has the declared sizes.
    """

    result_name = "inserted_slice"

    result_: Value = result(AnyRankedTensor)

    def reference(
        self,
        source: Value,
        dest: Value,
        offsets: tuple[Value, ...],
        sizes: tuple[Value, ...],
        strides: tuple[Value, ...],
    ) -> Value:
        first = mixed(self.static_offsets, offsets)
        counts = mixed(self.static_sizes, sizes)
        steps = mixed(self.static_strides, strides)
        gone = self.dropped(self.source)
        part = core.unsqueeze(source, gone) if gone else source
        partial = [
            a
            for a, (f, n, s) in enumerate(zip(first, counts, steps, strict=True))
            if not self._covers(dest, a, f, n, s)
        ]
        if not partial:
            return refined(part, self.dest.type)
        if len(partial) == 1 and steps[partial[0]] == 1:
            joined = _joined(part, dest, partial[0], as_dim(first[partial[0]]), as_dim(counts[partial[0]]))
            if joined is not None:
                return refined(joined, self.dest.type)
        return _scattered(part, dest, first, counts, steps)

    @staticmethod
    def _covers(dest: Value, axis: int, first: int | Value, count: int | Value, step: int | Value) -> bool:
        whole, known = ranked_shape(dest)[axis], as_dim(count)
        return as_dim(first) == 0 and as_dim(step) == 1 and known is not None and known == whole


def _joined(part: Value, dest: Value, axis: int, first: Dim | None, count: Dim | None) -> Value | None:
    """Returns the part along one axis with the elements of the destination before and after it."""
    whole = ranked_shape(dest)[axis]
    if not isinstance(first, int) or not isinstance(count, int) or not isinstance(whole, int):
        return None
    pieces = [part]
    if first > 0:
        pieces.insert(0, taken(dest, axis, 0, first, 1))
    if first + count < whole:
        pieces.append(taken(dest, axis, first + count, whole - first - count, 1))
    return core.concat(tuple(pieces), axis)


def _scattered(
    part: Value, dest: Value, first: Sequence[int | Value], counts: Sequence[int | Value], steps: Sequence[int | Value]
) -> Value:
    """A part put where it belongs element by element."""
    rank = len(first)
    sizes = known_dims_of(part)
    rows: list[Value] = []
    for axis, (f, n, s) in enumerate(zip(first, counts, steps, strict=True)):
        others = tuple([a for a in range(rank) if a != axis])
        along = places(f, n, s)
        spread = core.unsqueeze(along, others) if others else along
        rows.append(core.unsqueeze(core.broadcast_to(spread, tuple(sizes)), (rank,)))
    return core.scatter_nd(dest, core.concat(tuple(rows), rank), part)


class ParallelInsertSlice(Inserting, name="tensor.parallel_insert_slice", assembly=_INTO):
    """Inserts the result of one iteration of a parallel loop into a slice of a shared tensor.

    C1: there is an offset, a size and a stride for each axis. C2: a static slice lies within the destination. C3: the
    source has the declared sizes. C4: the parent is an operation that combines the results of iterations.
    """

    def verify(self) -> Iterator[Diagnostic]:
        holder = self.parent_op
        if holder is None or holder.name != "scf.forall.in_parallel":
            yield self.violated("expected InParallelOpInterface parent")
        yield from super().verify()


class Pad(
    TensorOp,
    name="tensor.pad",
    traits=(traits.Pure, traits.SingleBlock),
    assembly="$source (`nofold` $nofold^)? `low` `` custom<DynamicIndexList>($low, $static_low)"
    " `high` `` custom<DynamicIndexList>($high, $static_high) $region attr-dict"
    " `:` type($source) `to` type($result)",
):
    """Pads a tensor at both ends of each dimension with elements that a region computes from their indices. C1: low and
    high have one entry for each axis. C2: the result has the padded sizes.
    """

    result_name = "padded"

    source: Value = operand(AnyRankedTensor)
    low: tuple[Value, ...] = operand(Index, variadic=True)
    high: tuple[Value, ...] = operand(Index, variadic=True)
    static_low: tuple[int, ...] = attribute(positions)
    static_high: tuple[int, ...] = attribute(positions)
    region: Region = region(doc="computes an element of the padding from its indices")
    nofold: bool = attribute(attr_types.unit, default=False)
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        source, padded = ranked_shape(self.source), ranked_shape(self.result_)
        type = core.as_tensor(self.result_.type)
        if len(self.static_low) != len(source) or len(self.static_high) != len(source):
            result = f"({len(self.static_low)}, {len(self.static_high)})"
            yield self.violated(f"rank of low and high {result} must be that of the source ({len(source)})")
            return
        expected = [
            n + lo + hi if isinstance(n, int) and DYNAMIC not in (lo, hi) else DYNAMIC
            for n, lo, hi in zip(source, self.static_low, self.static_high, strict=True)
        ]
        fits = len(padded) == len(expected) and type.element is element_of(self.source.type)
        fits = fits and all(e in (DYNAMIC, n) or not isinstance(n, int) for e, n in zip(expected, padded, strict=True))
        # A size that follows may not be left open.
        if not fits or any(e != DYNAMIC and not isinstance(n, int) for e, n in zip(expected, padded, strict=True)):
            yield self.violated(
                f"specified type '{type}' does not match the inferred type {sizes_text(expected, type.element)}"
            )
        yield from wrong_body(self, self.region, len(padded), type.element)

    def reference(self, source: Value, low: tuple[Value, ...], high: tuple[Value, ...], *, region: Region) -> Value:
        before, after = mixed(self.static_low, low), mixed(self.static_high, high)
        fixed = _constant_of(region)
        if fixed is not None and (number := _number(fixed)) is not None:
            return refined(padded_with(source, before, after, number), self.result_.type)
        wide = refined(padded_with(source, before, after, 0), self.result_.type)
        sizes = known_dims_of(wide)
        inside = core.broadcast_to(core.scalar(1, i64), known_dims_of(source))
        mask = core.equal(padded_with(inside, before, after, 0), core.scalar(1, i64))
        around = generated(region, sizes) if fixed is None else fixed
        return core.select(mask, wide, around)


def _constant_of(body: Region) -> Value | None:
    """Returns the constant that a region yields at every position; None when it does not."""
    lifter = lifting.Lifting((), lambda _: core.scalar(0, i64))
    try:
        (value,) = lifter.values(body.block, {})
    except lifting.NotLiftable:
        return None
    block = body.block
    if any(v.is_used for v in block.arguments):
        return None
    return value


def _number(value: Value) -> float | None:
    """A constant as padding states it."""
    data = known_data(value)
    if data is None or data.count != 1 or not data.element.is_numeric or data.element.kind == "complex":
        return None
    (result,) = data.values()
    return result if isinstance(result, int | float) and abs(result) < 2**53 else None


def padded_with(x: Value, before: Sequence[int | Value], after: Sequence[int | Value], value: float) -> Value:
    """A tensor continued by a number."""
    lows, highs = [as_dim(n) for n in before], [as_dim(n) for n in after]
    fixed_low, fixed_high = [n for n in lows if isinstance(n, int)], [n for n in highs if isinstance(n, int)]
    element = core.tensor_type(x).element
    if element is boolean:
        return core.not_equal(padded_with(core.cast(x, i64), before, after, value), zero(i64))
    if len(fixed_low) == len(before) and len(fixed_high) == len(after):
        return core.pad(x, tuple(fixed_low), tuple(fixed_high), value=value)
    rows = [core.concat(tuple([core.unsqueeze(as_value(n), (0,)) for n in side]), 0) for side in (before, after)]
    return core.dynamic_pad(x, rows[0], rows[1], value=value)


class Concat(
    TensorOp,
    name="tensor.concat",
    traits=(traits.Pure,),
    assembly="`dim` `(` $dim `)` $inputs attr-dict `:` functional-type(operands, results)",
):
    """Concatenates tensors along an axis. C1: there is at least one input. C2: the inputs have the rank and element
    type of the result, and the dimension is one of its axes. C3: sizes along other axes agree, and those along the
    dimension add up.
    """

    result_name = "concat"

    dim: int = attribute(typed_integer(i64))
    inputs: tuple[Value, ...] = operand(AnyRankedTensor, variadic=True)
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        expected = core.as_tensor(self.result_.type)
        shape = ranked_shape(self.result_)
        if not self.inputs:
            yield self.violated("requires at least one input")
            return
        if not 0 <= self.dim < len(shape):
            yield self.violated("concatenation dim must be less than the tensor rank")
            return
        types = [core.as_tensor(v.type) for v in self.inputs]
        if any(len(t.shape or ()) != len(shape) for t in types):
            yield self.violated("rank of concatenated inputs must match result rank")
            return
        if any(t.element is not expected.element for t in types):
            yield self.violated("inputs and result element type must match")
        for axis, n in enumerate(shape):
            result = [(t.shape or ())[axis] for t in types]
            known = [d for d in result if isinstance(d, int)]
            if axis != self.dim:
                if len({*known, *([n] if isinstance(n, int) else [])}) > 1:
                    yield self.violated(f"static concatenation size mismatch along non-concatenated dimension {axis}")
                    return
            elif len(known) == len(result) and isinstance(n, int) and sum(known) != n:
                yield self.violated(
                    f"result type {expected} does not match inferred shape of concatenated dimension {axis}: "
                    f"{sum(known)}"
                )

    def reference(self, inputs: tuple[Value, ...]) -> Value:
        return refined(core.concat(inputs, self.dim), self.result_.type)


_Positions = ranked_tensor_of(AnySignlessIntegerOrIndex)


class _AtPositions(TensorOp):
    """Base of operations on slices at positions that are the rows of a tensor."""

    def wrong_dims(
        self, dims: Sequence[int], shape: Shape, positions_: Shape, what: str, where: str
    ) -> Iterator[Diagnostic]:
        """Yields the faults of the axes that rows of coordinates index."""
        if not dims:
            yield self.violated(f"{what}_dims must be non-empty")
        elif len(dims) > len(shape):
            yield self.violated(f"{what}_dims overflow {where} rank")
        elif any(d < 0 for d in dims):
            yield self.violated(f"{what}_dims value must be non-negative")
        elif any(d >= len(shape) for d in dims):
            yield self.violated(f"{what}_dims value must be smaller than {where} rank")
        elif any(b <= a for a, b in pairwise(dims)):
            yield self.violated(f"{what}_dims values must be strictly increasing")
        elif not positions_ or positions_[-1] != len(dims):
            yield self.violated(f"{what}_dims length must match the size of last dimension of indices")


def _slices(shape: Shape, dims: Sequence[int], leading: Shape, *, keep: bool) -> Shape:
    """Returns the shape of slices at positions: with the indexed axes as 1, or without them."""
    rest = [1 if a in dims else n for a, n in enumerate(shape) if keep or a not in dims]
    return (*leading, *rest)


class Gather(
    _AtPositions,
    name="tensor.gather",
    traits=(traits.Pure,),
    assembly="$source `[` $indices `]` `gather_dims` `(` $gather_dims `)` (`unique` $unique^)? attr-dict"
    " `:` functional-type(operands, results)",
):
    """Gathers slices of a tensor at indices; dimensions of the indices precede those of the slices.

    C1: an index has one entry for each of the gather dimensions, which are in ascending order. C2: these dimensions
    have size 1 in the result, or are dropped.
    """

    result_name = "gather"

    source: Value = operand(AnyRankedTensor)
    indices: Value = operand(_Positions)
    gather_dims: tuple[int, ...] = attribute(positions)
    unique: bool = attribute(attr_types.unit, default=False)
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        source, at = ranked_shape(self.source), ranked_shape(self.indices)
        wrong = list(self.wrong_dims(self.gather_dims, source, at, "gather", "source"))
        yield from wrong
        if wrong:
            return
        type = core.as_tensor(self.source.type)
        full, reduced = [type.with_shape(_slices(source, self.gather_dims, at[:-1], keep=k)) for k in (True, False)]
        if self.result_.type not in (full, reduced):
            expected = f"expected '{full}' or its rank-reduced variant '{reduced}'"
            yield self.violated(f"result type mismatch: {expected} (got: '{self.result_.type}')")

    def reference(self, source: Value, indices: Value) -> Value:
        dims = self.gather_dims
        rank = len(ranked_shape(source))
        others = [a for a in range(rank) if a not in dims]
        ordered = core.transpose(source, (*dims, *others))
        found = core.gather_nd(ordered, indices)
        leading = len(ranked_shape(indices)) - 1
        if len(ranked_shape(self.result_)) == leading + rank:
            found = core.unsqueeze(found, tuple([leading + d for d in dims]))
        return refined(found, self.result_.type)


class Scatter(
    _AtPositions,
    name="tensor.scatter",
    traits=(traits.Pure,),
    assembly="$source `into` $dest `[` $indices `]` `scatter_dims` `(` $scatter_dims `)` (`unique` $unique^)? attr-dict"
    " `:` functional-type(operands, results)",
):
    """Scatters slices into a copy of a tensor, at indices that differ.

    C1: an index has one entry for each of the scatter dimensions, which are in ascending order. C2: these dimensions
    have size 1 in the source, or are dropped. C3: the attribute `unique` is set. C4: the result has the type of `dest`.
    """

    result_name = "scatter"

    source: Value = operand(AnyRankedTensor)
    dest: Value = operand(AnyRankedTensor)
    indices: Value = operand(_Positions)
    scatter_dims: tuple[int, ...] = attribute(positions)
    unique: bool = attribute(attr_types.unit, default=False)
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        dest, at = ranked_shape(self.dest), ranked_shape(self.indices)
        wrong = list(self.wrong_dims(self.scatter_dims, dest, at, "scatter", "dest"))
        yield from wrong
        if wrong:
            return
        if not self.unique:
            yield self.violated("requires 'unique' attribute to be set")
        type = core.as_tensor(self.dest.type)
        full, reduced = [type.with_shape(_slices(dest, self.scatter_dims, at[:-1], keep=k)) for k in (True, False)]
        if self.source.type not in (full, reduced):
            expected = f"expected '{full}' or its rank-reduced variant '{reduced}'"
            yield self.violated(f"source type mismatch: {expected} (got: '{self.source.type}')")
        if self.result_.type is not self.dest.type:
            yield self.violated(f"result type '{self.result_.type}' must be that of dest, '{self.dest.type}'")

    def reference(self, source: Value, dest: Value, indices: Value) -> Value:
        dims = self.scatter_dims
        rank, leading = len(ranked_shape(dest)), len(ranked_shape(indices)) - 1
        others = [a for a in range(rank) if a not in dims]
        order = (*dims, *others)
        if len(ranked_shape(source)) == leading + rank:
            source = core.squeeze(source, tuple([leading + d for d in dims]))
        placed = core.scatter_nd(core.transpose(dest, order), indices, source)
        return core.transpose(placed, tuple([order.index(a) for a in range(rank)]))
