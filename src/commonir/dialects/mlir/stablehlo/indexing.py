"""Operations of the stablehlo dialect that read and replace parts of tensors at positions that are data.

Source: StableHLO specification, gather, scatter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import bodies
from commonir.dialects.mlir.stablehlo.base import (
    AnyHlo,
    HloOp,
    Integers,
    ScatterPositions,
    StaticIntegers1D,
    axes,
    axis,
    element,
    is_quantized,
    like,
    numbers_given,
    numbers_in,
    rank_of,
    shape_of,
    stated_shape,
    transposed,
)
from commonir.dialects.mlir.stablehlo.dimension_numbers import GatherDims, ScatterDims, gather_dims, scatter_dims
from commonir.dialects.mlir.stablehlo.number_types import number_as
from commonir.dialects.mlir.stablehlo.reduction import check_reducer, numbers_returned
from commonir.ir.operation import Region, Value
from commonir.ir.types import Type, i64
from commonir.ods import attr_types, attribute, known_data, operand, region, result, traits
from commonir.ods.operand_shapes import known_dims_of
from commonir.ods.type_rules import all_element_types_match, are_compatible_shapes
from commonir.symbolic import Dim, element_count


def _check_axes(
    op: HloOp, label: str, name: str, axes: Sequence[int], rank: int, *, ordered: bool = False
) -> Iterator[Diagnostic]:
    """Yields the faults of a list of axes."""
    if len(set(axes)) != len(axes):
        yield op.violated(f"{label}: expects {name} to not repeat, got: {list(axes)}")
    elif ordered and list(axes) != sorted(axes):
        yield op.violated(f"{label}: expects {name} to be sorted, got: {list(axes)}")
    if any(not 0 <= d < rank for d in axes):
        yield op.violated(f"{label}: expects each element of {name} to be in range [0, {rank}), got: {list(axes)}")


Axes = tuple[Value, Sequence[int]]


def _check_shared(op: HloOp, label: str, operand: Axes, indices: Axes, vector: int) -> Iterator[Diagnostic]:
    """Yields the faults of axes that an operand and indices share, in pairs."""
    (x, own), (positions, theirs) = operand, indices
    rank, depth = rank_of(x), rank_of(positions)
    yield from _check_axes(op, label, "batching dims of the operand", own, rank, ordered=True)
    yield from _check_axes(op, label, "batching dims of the indices", theirs, depth)
    if vector in theirs:
        yield op.violated(f"{label}: expects batching dims of the indices not to include index_vector_dim {vector}")
    if len(own) != len(theirs):
        yield op.violated(f"{label}: batching dims of operand and indices should be of one size")
        return
    for a, b in zip(own, theirs, strict=True):
        if not (0 <= a < rank and 0 <= b < depth):
            continue
        size, count = shape_of(x)[a], shape_of(positions)[b]
        if isinstance(size, int) and isinstance(count, int) and size != count:
            yield op.violated(f"{label}: batching dims {a} and {b} should have one size, found {size} and {count}")


def _check_apart(op: HloOp, label: str, name: str, axes: Sequence[int], others: Sequence[int]) -> Iterator[Diagnostic]:
    """Reports the first axis that is listed twice."""
    both = next((d for d in others if d in axes), None)
    if both is not None:
        yield op.violated(f"{label}: has duplicated dimension from {name} and others: {both}")


def _batch_sizes(indices: Value, vector: int) -> tuple[Dim | None, ...]:
    shape = shape_of(indices)
    return tuple([d for n, d in enumerate(shape) if n != vector])


class _Gather(HloOp, traits=(traits.Pure,)):
    """Slices of a tensor that begin at computed positions."""

    def gathered_shape(
        self, operand: Value, indices: Value, dims: GatherDims, sizes: Sequence[int] | None
    ) -> tuple[Dim | None, ...] | None:
        """The shape of the result; None when the axes contradict each other."""
        batch = list(_batch_sizes(indices, dims.index_vector_dim))
        dropped = {*dims.collapsed_slice_dims, *dims.operand_batching_dims}
        rank = rank_of(operand)
        kept = [
            None if sizes is None else sizes[n]
            for n in range(rank)
            if n not in dropped and (sizes is None or n < len(sizes))
        ]
        if len(kept) != len(dims.offset_dims):
            return None
        total = len(batch) + len(kept)
        out: list[Dim | None] = []
        rest = iter(batch)
        inner = iter(kept)
        for n in range(total):
            if n in dims.offset_dims:
                out.append(next(inner, None))
            else:
                out.append(next(rest, None))
        return tuple(out)

    def check(
        self,
        operand: Value,
        indices: Value,
        dims: GatherDims,
        sizes: Sequence[int] | None,
        slice_sizes: Value | None = None,
    ) -> Iterator[Diagnostic]:
        """Yields the faults of the axes, and of slice sizes, which may be those of an operand."""
        rank, depth = rank_of(operand), rank_of(indices)
        if not 0 <= dims.index_vector_dim <= depth:
            yield self.violated(f"C2: index_vector_dim {dims.index_vector_dim} is out of bounds for start indices")
            return
        count = rank - len(dims.collapsed_slice_dims) - len(dims.operand_batching_dims)
        if count != len(dims.offset_dims):
            yield self.violated(
                f"C1: offset_dims size ({len(dims.offset_dims)}) plus others must equal the rank ({rank})"
            )
            return
        shape = shape_of(indices)
        vector = 1 if dims.index_vector_dim == depth else shape[dims.index_vector_dim]
        if isinstance(vector, int) and vector != len(dims.start_index_map):
            message = f"C3: start_index_map size ({len(dims.start_index_map)}) is not equal to size of index dimension"
            yield self.violated(f"{message} ({vector})")
        total = len(dims.offset_dims) + depth - (dims.index_vector_dim < depth)
        yield from _check_axes(self, "C4", "offset_dims", dims.offset_dims, total, ordered=True)
        yield from _check_axes(self, "C5", "collapsed_slice_dims", dims.collapsed_slice_dims, rank, ordered=True)
        yield from _check_axes(self, "C7", "start_index_map", dims.start_index_map, rank)
        operand_axes, index_axes = dims.operand_batching_dims, dims.start_indices_batching_dims
        yield from _check_shared(self, "C6", (operand, operand_axes), (indices, index_axes), dims.index_vector_dim)
        others = (*dims.start_index_map, *dims.collapsed_slice_dims)
        yield from _check_apart(self, "C6", "operand_batching_dims", operand_axes, others)
        if sizes is None:
            count = shape_of(slice_sizes)[0] if slice_sizes is not None else None
            if isinstance(count, int) and count != rank:
                yield self.violated(f"C8: slice_sizes size ({count}) not equal to operand rank ({rank})")
            return
        if len(sizes) != rank:
            yield self.violated(f"C8: slice_sizes size ({len(sizes)}) not equal to operand rank ({rank})")
            return
        for n, (size, whole) in enumerate(zip(sizes, shape_of(operand), strict=True)):
            if size < 0 or (isinstance(whole, int) and size > whole):
                yield self.violated(
                    f"C8: slice size ({size}) is out of bounds for operand dimension ({whole}) at index {n}"
                )
            elif n in (*dims.collapsed_slice_dims, *dims.operand_batching_dims) and size > 1:
                yield self.violated(f"C9: slice_sizes collapsed dimension {n} should <= 1 but got {size}")


class Gather(_Gather, name="stablehlo.gather", traits=(all_element_types_match("operand_", "result_"),)):
    """Gathers slices at start indices, which are clamped to the operand.

    C1: each axis of the operand is an offset, collapsed or batching dimension. C2: `index_vector_dim` is an axis of the
    start indices, or one after the last. C3: an index vector has an entry for each dimension of `start_index_map`. C4:
    offset dimensions are axes of the result, in ascending order. C5: collapsed dimensions are axes of the operand, in
    ascending order. C6: batching dimensions of operand and start indices correspond, and are neither collapsed nor in
    `start_index_map`. C7: `start_index_map` names axes of the operand, each once. C8: slice sizes are at most the sizes
    of the operand. C9: collapsed and batching dimensions have slices of size 1.
    """

    assembly = ""

    operand_: Value = operand(AnyHlo)
    start_indices: Value = operand(Integers)
    dimension_numbers: GatherDims = attribute(gather_dims)
    slice_sizes: tuple[int, ...] = attribute(axes)
    indices_are_sorted: bool | None = attribute(attr_types.flag, default=None)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = self.gathered_shape(self.operand_, self.start_indices, self.dimension_numbers, self.slice_sizes)
        return None if shape is None else (like(self.operand_.type, shape),)

    def verify(self) -> Iterator[Diagnostic]:
        yield from self.check(self.operand_, self.start_indices, self.dimension_numbers, self.slice_sizes)

    def reference(self, operand: Value, start_indices: Value) -> Value:
        return gathered(operand, start_indices, self.dimension_numbers, self.slice_sizes)


class DynamicGather(_Gather, name="stablehlo.dynamic_gather"):
    """Gathers slices of a computed size at start indices, which are clamped to the operand.

    Constraints C1 to C7 are those of a gather.
    """

    assembly = ""

    operand_: Value = operand(AnyHlo)
    start_indices: Value = operand(Integers)
    slice_sizes: Value = operand(StaticIntegers1D, by_value=True)
    dimension_numbers: GatherDims = attribute(gather_dims)
    indices_are_sorted: bool | None = attribute(attr_types.flag, default=None)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = self.gathered_shape(
            self.operand_, self.start_indices, self.dimension_numbers, numbers_given(self.slice_sizes)
        )
        return None if shape is None else (like(self.operand_.type, shape),)

    def verify(self) -> Iterator[Diagnostic]:
        dims, sizes = self.dimension_numbers, numbers_given(self.slice_sizes)
        yield from self.check(self.operand_, self.start_indices, dims, sizes, self.slice_sizes)

    def reference(self, operand: Value, start_indices: Value, slice_sizes: Value) -> Value:
        return gathered(operand, start_indices, self.dimension_numbers, numbers_in(slice_sizes))


def _rows(indices: Value, vector: int) -> tuple[Value, tuple[Dim, ...]]:
    """Positions with their numbers along the last axis, and the sizes of the other axes."""
    rank = len(known_dims_of(indices))
    wide = number_as(indices, i64)
    if vector == rank:
        wide = core.unsqueeze(wide, (rank,))
    elif vector != rank - 1:
        wide = transposed(wide, [*[n for n in range(rank) if n != vector], vector])
    return wide, known_dims_of(wide)[:-1]


def _column(rows: Value, n: int) -> Value:
    """One number of each position."""
    sizes = known_dims_of(rows)
    rank = len(sizes)
    if sizes[-1] == 1:
        return core.squeeze(rows, (rank - 1,))
    one = core.slice(rows, (*(0,) * (rank - 1), n), (*sizes[:-1], n + 1), (1,) * rank)
    return core.squeeze(one, (rank - 1,))


def _clamped(start: Value, last: Dim) -> Value:
    data = known_data(start)
    if data is not None and isinstance(last, int) and all(isinstance(v, int) and 0 <= v <= last for v in data.values()):
        return start
    return core.minimum(core.maximum(start, core.scalar(0, i64)), core.dims((last,), i64, True))


def _shared(n: int, batch: Sequence[Dim], vector: int) -> Value:
    """Positions along an axis of the indices that the operand shares."""
    place = n if n < vector else n - 1
    shape = [batch[k] if k == place else 1 for k in range(len(batch))]
    return core.reshape(core.iota((batch[place],)), tuple(shape))


def gathered(x: Value, indices: Value, dims: GatherDims, sizes: Sequence[int]) -> Value:
    """Slices of a tensor at positions."""
    whole = known_dims_of(x)
    rows, batch = _rows(indices, dims.index_vector_dim)
    dropped = (*dims.collapsed_slice_dims, *dims.operand_batching_dims)
    # Along an axis that a slice has whole there is nothing to position.
    moved = [n for n in range(len(whole)) if sizes[n] != whole[n] or n in dims.operand_batching_dims]
    if not moved and dims.start_index_map:
        moved = [dims.start_index_map[0]]
    fixed = [n for n in range(len(whole)) if n not in moved]
    inner = [n for n in moved if n not in dropped]
    spread = tuple([sizes[n] for n in inner])
    columns: list[Value] = []
    for n in moved:
        at: Value | None = None
        if n in dims.start_index_map:
            at = _clamped(_column(rows, dims.start_index_map.index(n)), whole[n] - sizes[n])
        elif n in dims.operand_batching_dims:
            at = _shared(
                dims.start_indices_batching_dims[dims.operand_batching_dims.index(n)], batch, dims.index_vector_dim
            )
        if at is not None and inner:
            at = core.reshape(at, (*known_dims_of(at), *(1,) * len(inner)))
        if n in inner:
            place = inner.index(n)
            along = core.reshape(
                core.iota((sizes[n],)), tuple([sizes[n] if k == place else 1 for k in range(len(inner))])
            )
            at = along if at is None else core.add(at, along)
        columns.append(core.scalar(0, i64) if at is None else at)
    source = transposed(x, [*moved, *fixed])
    if not moved:
        result = core.broadcast_to(x, (*batch, *whole))
    elif len(moved) == 1:
        result = core.gather(source, core.broadcast_to(columns[0], (*batch, *spread)), 0)
    else:
        full = [core.unsqueeze(core.broadcast_to(c, (*batch, *spread)), (len(batch) + len(spread),)) for c in columns]
        result = core.gather_nd(source, core.concat(tuple(full), len(batch) + len(spread)))
    return _arranged(result, dims, len(batch), [*inner, *fixed], dropped)


def _arranged(gathered: Value, dims: GatherDims, batch: int, order: Sequence[int], dropped: Sequence[int]) -> Value:
    """Returns the gathered elements with the axes of the indices first, in the order of the result's axes."""
    gone = [batch + n for n, d in enumerate(order) if d in dropped]
    if gone:
        gathered = core.squeeze(gathered, tuple(gone))
    left = [d for d in order if d not in dropped]
    rank = batch + len(left)
    places = dict(zip(dims.offset_dims, sorted(left), strict=True))
    outer = iter(range(batch))
    permutation = [batch + left.index(places[n]) if n in places else next(outer) for n in range(rank)]
    return transposed(gathered, permutation)


class Scatter(HloOp, name="stablehlo.scatter", traits=(traits.Pure, traits.SameVariadicOperandSize)):
    """Combines slices at scatter indices with updates by a region; updates out of bounds are skipped.

    C1: each axis of the inputs is a window, inserted or batching dimension. C2: `index_vector_dim` is an axis of the
    scatter indices, or one after the last. C3: an index vector has an entry for each dimension of
    `scatter_dims_to_operand_dims`. C4: lists of dimensions name axes, each once. C5: the region combines values of the
    element types of the inputs.
    """

    assembly = ""

    inputs: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    scatter_indices: Value = operand(ScatterPositions)
    updates: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    scatter_dimension_numbers: ScatterDims = attribute(scatter_dims)
    update_computation: Region = region(doc="combines an element with an update")
    indices_are_sorted: bool | None = attribute(attr_types.flag, default=None)
    unique_indices: bool | None = attribute(attr_types.flag, default=None)
    results_: tuple[Value, ...] = result(AnyHlo, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        result = numbers_returned(self.update_computation)
        if len(result) != len(self.inputs) or any(is_quantized(element(v)) for v in result):
            return None
        return tuple([like(v.type, stated_shape(x), element(v)) for v, x in zip(result, self.inputs, strict=True)])

    def verify(self) -> Iterator[Diagnostic]:
        dims = self.scatter_dimension_numbers
        if not self.inputs or len(self.inputs) != len(self.updates):
            yield self.violated("expects as many updates as inputs, and at least one")
            return
        rank, depth = rank_of(self.inputs[0]), rank_of(self.scatter_indices)
        if not 0 <= dims.index_vector_dim <= depth:
            yield self.violated("C2: expects scatter index leaf dimension to be within [0, rank(scatter_indices) + 1.")
            return
        if rank != len(dims.update_window_dims) + len(dims.inserted_window_dims) + len(dims.input_batching_dims):
            yield self.violated("C1: expects rank-of operand to match size-of windows, inserted and batching dims")
            return
        shape = shape_of(self.scatter_indices)
        vector = 1 if dims.index_vector_dim == depth else shape[dims.index_vector_dim]
        if isinstance(vector, int) and vector != len(dims.scatter_dims_to_operand_dims):
            message = (
                f"C3: scatter op has {len(dims.scatter_dims_to_operand_dims)} elements in scatter_dims_to_operand_dims"
            )
            yield self.violated(f"{message} and the bound of index_vector_dim is {vector}")
        wide = rank_of(self.updates[0])
        yield from _check_axes(self, "C4", "update_window_dims", dims.update_window_dims, wide, ordered=True)
        yield from _check_axes(self, "C4", "inserted_window_dims", dims.inserted_window_dims, rank, ordered=True)
        yield from _check_axes(self, "C4", "scatter_dims_to_operand_dims", dims.scatter_dims_to_operand_dims, rank)
        batch = depth - (dims.index_vector_dim < depth)
        if wide != batch + len(dims.update_window_dims):
            yield self.violated(f"C1: expects updates tensor must be of rank {batch + len(dims.update_window_dims)}")
        else:
            yield from self._check_sizes()
        operand_axes, index_axes = dims.input_batching_dims, dims.scatter_indices_batching_dims
        shared = (self.inputs[0], operand_axes), (self.scatter_indices, index_axes)
        yield from _check_shared(self, "C4", *shared, dims.index_vector_dim)
        others = (*dims.scatter_dims_to_operand_dims, *dims.inserted_window_dims)
        yield from _check_apart(self, "C4", "input_batching_dims", operand_axes, others)
        scalars = [_scalar_like(v) for v in self.updates]
        yield from check_reducer(self, self.update_computation, scalars, "C5", self.inputs)

    def _check_sizes(self) -> Iterator[Diagnostic]:
        """Of updates: those of windows are not larger than the inputs, the others are those of the positions."""
        dims, shape = self.scatter_dimension_numbers, shape_of(self.updates[0])
        for n, v in enumerate(self.updates[1:], 1):
            if not are_compatible_shapes(self.updates[0].type, v.type):
                yield self.violated(f"C1: not all updates have compatible shapes, that at {n} is {v.type}")
        gone = {*dims.inserted_window_dims, *dims.input_batching_dims}
        whole = [d for n, d in enumerate(shape_of(self.inputs[0])) if n not in gone]
        for n, limit in zip(dims.update_window_dims, whole, strict=False):
            size = shape[n] if 0 <= n < len(shape) else None
            if isinstance(size, int) and isinstance(limit, int) and size > limit:
                message = f"C1: expects bounds of windows not to exceed those of the operand. For dimension {n}"
                yield self.violated(f"{message}, updates bound is {size}, operand bound is {limit}")
        outer = [d for n, d in enumerate(shape) if n not in dims.update_window_dims]
        for n, (size, count) in enumerate(
            zip(outer, _batch_sizes(self.scatter_indices, dims.index_vector_dim), strict=False)
        ):
            if isinstance(size, int) and isinstance(count, int) and size != count:
                message = f"C1: expects bounds of the scatter dimensions to be the same. For scatter dimension {n}"
                yield self.violated(f"{message}, updates bound is {size}, scatter_indices bound is {count}")

    def reference(
        self,
        inputs: tuple[Value, ...],
        scatter_indices: Value,
        updates: tuple[Value, ...],
        *,
        update_computation: Region,
    ) -> tuple[Value, ...]:
        return _scattered_windows(inputs, scatter_indices, updates, self.scatter_dimension_numbers, update_computation)


def _scalar_like(v: Value) -> Value:
    return Value(like(v.type, ()))


def _scattered_windows(
    inputs: Sequence[Value], indices: Value, updates: Sequence[Value], dims: ScatterDims, body: Region
) -> tuple[Value, ...]:
    whole, wide = known_dims_of(inputs[0]), known_dims_of(updates[0])
    rows, batch = _rows(indices, dims.index_vector_dim)
    dropped = (*dims.inserted_window_dims, *dims.input_batching_dims)
    window = dict(zip([n for n in range(len(whole)) if n not in dropped], dims.update_window_dims, strict=True))
    positioned = dims.scatter_dims_to_operand_dims
    fixed = [n for n, at in window.items() if n not in positioned and wide[at] == whole[n]]
    moved = [n for n in range(len(whole)) if n not in fixed]
    inner = [n for n in moved if n in window]
    outer = [n for n in range(len(wide)) if n not in dims.update_window_dims]
    order = [*outer, *[window[n] for n in inner], *[window[n] for n in fixed]]
    spread = tuple([wide[window[n]] for n in inner])
    columns: list[Value] = []
    valid: Value | None = None
    for n in moved:
        at: Value | None = None
        if n in positioned:
            at = _column(rows, positioned.index(n))
        elif n in dims.input_batching_dims:
            shared = dims.scatter_indices_batching_dims[dims.input_batching_dims.index(n)]
            at = _shared(shared, batch, dims.index_vector_dim)
        if at is not None and inner:
            at = core.reshape(at, (*known_dims_of(at), *(1,) * len(inner)))
        if n in inner:
            place = inner.index(n)
            size = spread[place]
            along = core.reshape(core.iota((size,)), tuple([size if k == place else 1 for k in range(len(inner))]))
            at = along if at is None else core.add(at, along)
        at = core.scalar(0, i64) if at is None else at
        columns.append(at)
        inside = core.logical_and(
            core.greater_equal(at, core.scalar(0, i64)), core.less(at, core.dims((whole[n],), i64, True))
        )
        valid = inside if valid is None else core.logical_and(valid, inside)
    count, rest = element_count([*batch, *spread]), tuple([whole[n] for n in fixed])
    flat_index = _flat(columns, [whole[n] for n in moved], (*batch, *spread), valid, count)
    total = element_count([whole[n] for n in moved])
    flat = tuple([core.reshape(transposed(x, [*moved, *fixed]), (total, *rest)) for x in inputs])
    arguments = tuple([core.reshape(transposed(u, order), (count, *rest)) for u in updates])
    result = bodies.scattered(flat, flat_index, arguments, body)
    back = [[*moved, *fixed].index(n) for n in range(len(whole))]
    shape = tuple([whole[n] for n in (*moved, *fixed)])
    return tuple([transposed(core.reshape(v, shape), back) for v in result])


def _flat(
    columns: Sequence[Value], sizes: Sequence[Dim], shape: Sequence[Dim], valid: Value | None, count: Dim
) -> Value:
    """Positions in row-major order, [count, 1]; -1 for those outside."""
    at: Value = core.scalar(0, i64)
    for column, size in zip(columns, sizes, strict=True):
        at = core.add(core.mul(at, core.dims((size,), i64, True)), column)
    if valid is not None:
        at = core.select(valid, at, core.scalar(-1, i64))
    return core.reshape(core.broadcast_to(at, tuple(shape)), (count, 1))


class TorchIndexSelect(HloOp, name="stablehlo.torch_index_select", traits=(traits.Pure,)):
    """Selects slices along an axis by indices, per batch."""

    assembly = ""

    operand_: Value = operand(AnyHlo)
    index: Value = operand(AnyHlo)
    dim: int = attribute(axis)
    batch_dims: int = attribute(axis)
    result_: Value = result(AnyHlo)

    def reference(self, operand: Value, index: Value) -> Value:
        sizes, places = known_dims_of(operand), known_dims_of(index)
        at = self.dim % len(sizes)
        shared = self.batch_dims % max(len(places), 1) if places else 0
        batch = tuple(range(shared))
        dims = GatherDims(
            (*range(shared, at), *range(at + len(places) - shared, len(sizes) + len(places) - shared - 1)),
            (at,),
            batch,
            batch,
            (at,),
            len(places),
        )
        parts = [1 if n == at or n < shared else d for n, d in enumerate(sizes)]
        known = [d for d in parts if isinstance(d, int)]
        return gathered(operand, index, dims, known)
