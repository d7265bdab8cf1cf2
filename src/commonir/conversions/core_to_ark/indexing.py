"""Rules for operations that pick elements: by numbers of rows, which `Embedding` looks up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from commonir.conversions.core_to_ark.building import BufferPlace
from commonir.conversions.core_to_ark.context import ArkContext, Built, rule, shape_of
from commonir.conversions.core_to_ark.places import MOST_AXES, BufferLayout, View, dense, view_of
from commonir.conversions.core_to_core.bands import band
from commonir.conversions.operands import element_of, require_computable
from commonir.dialects import ark, core
from commonir.dialects.core import axis_of
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import boolean, i32, i64
from commonir.ods import known_data
from commonir.rewrite.legalize import Mismatch

_MOST_LISTED = 1 << 20


@rule(core.Gather)
def gather(op: core.Gather, context: ArkContext, x: Value, positions: Value) -> Built:
    """Slices next to each other are a part of the tensor; all others are rows that are looked up."""
    place = context.place(x)
    axis = axis_of(op.axis, len(place.dims))
    shape, where = shape_of(op.y), shape_of(positions)
    data = known_data(positions)
    if data is not None and data.count <= _MOST_LISTED:
        dim = place.dims[axis]
        numbers = [int(n) + (dim if int(n) < 0 else 0) for n in data.values()]
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
        is_even = all(n == numbers[0] + k * step for k, n in enumerate(numbers))
        if is_even and step > 0 and numbers[0] >= 0 and numbers[-1] < dim:
            part = place.layout.part(axis, numbers[0], len(numbers), step)
            return context.reshaped(BufferPlace(place.buffer, part), shape)
    rest = [n for a, n in enumerate(place.dims) if a != axis]
    order = (axis, *[a for a in range(len(place.dims)) if a != axis])
    moved = BufferPlace(place.buffer, place.layout.permuted(order))
    table = context.reshaped(moved, (place.dims[axis], prod(rest)))
    if element_of(positions) not in (i32, i64):
        return Mismatch(f"numbers of rows are INT32 in ARK, not {element_of(positions)}")
    rows = looked_up(table, context.place(positions), (*where, prod(rest)), context)
    spread = context.reshaped(rows, (*where, *rest))
    back = (
        *range(len(where), len(where) + axis),
        *range(len(where)),
        *range(len(where) + axis, len(where) + len(rest)),
    )
    return BufferPlace(spread.buffer, spread.layout.permuted(back))


def looked_up(table: BufferPlace, positions: BufferPlace, dims: Sequence[int], context: ArkContext) -> BufferPlace:
    """Rows of a matrix by their numbers, under a shape."""
    view = view_of(table.layout, table.buffer.count)
    if view is None:
        table = context.dense(table)
        view = view_of(table.layout, table.buffer.count) or View(table.dims, table.dims, (0, 0))
    row = table.dims[1]
    numbers = positions if len(positions.dims) < MOST_AXES else context.reshaped(positions, (prod(positions.dims),))
    declared = view_of(numbers.layout, numbers.buffer.count)
    if declared is None:
        flat = context.dense(numbers)
        numbers = BufferPlace(flat.buffer, BufferLayout(flat.layout.start, (flat.layout.elements,), (1,)))
        declared = view_of(numbers.layout, numbers.buffer.count)
    if declared is None:
        raise ValueError("numbers of rows in a buffer of their own can be stated")
    shape = (*(1,) * (MOST_AXES - 1 - len(declared.shape)), *declared.shape, row)
    built = context.fresh(table.element, shape)
    reads = {
        "input": context.builder.read(numbers.buffer, declared),
        "weight": context.builder.read(table.buffer, view),
    }
    context.builder.op(ark.Embedding, reads, context.builder.write(built.buffer, View(shape, shape, (0,) * MOST_AXES)))
    return BufferPlace(built.buffer, dense(dims))


@rule(core.GatherElements)
def gather_elements(op: core.GatherElements, context: ArkContext, x: Value, positions: Value) -> Built:
    """Elements as rows of one element each: the number of a row is changes by all positions."""
    dims, where = shape_of(x), shape_of(positions)
    axis = axis_of(op.axis, len(dims))
    steps = dense(dims).steps
    dim = dims[axis]
    positions = core.cast(positions, i64)
    zero = core.splat(0, positions)
    counted = core.select(core.less(positions, zero), core.add(positions, core.splat(dim, positions)), positions)
    result = core.mul(counted, core.splat(steps[axis], counted))
    for a in range(len(dims)):
        if a != axis and where[a] > 1:
            require_computable(where[a])
            shape = tuple([where[a] if b == a else 1 for b in range(len(dims))])
            result = core.add(result, core.constant(data_of(i64, shape, [n * steps[a] for n in range(where[a])])))
    return core.gather(core.reshape(x, (prod(dims),)), result, 0)


@rule(core.GatherNd)
def gather_nd(op: core.GatherNd, context: ArkContext, x: Value, positions: Value) -> Built:
    """Rows by their numbers, which positions along several axes add up to."""
    dims, where = shape_of(x), shape_of(positions)
    depth, rest = where[-1], dims[op.batch + where[-1] :]
    if not depth:
        return Mismatch("rows of no positions")
    found = dims[: op.batch + depth]
    steps = dense(found).steps
    positions = core.cast(positions, i64)
    columns = core.split(positions, -1, (1,) * depth) if depth > 1 else (positions,)
    number: Value | None = None
    for column, dim, step in zip(columns, found[op.batch :], steps[op.batch :], strict=True):
        counted = core.select(
            core.less(column, core.splat(0, column)), core.add(column, core.splat(dim, column)), column
        )
        part = core.mul(counted, core.splat(step, counted))
        number = part if number is None else core.add(number, part)
    assert number is not None
    number = core.squeeze(number, (-1,))
    for axis in range(op.batch):
        shape = tuple([where[axis] if a == axis else 1 for a in range(len(where) - 1)])
        along = [n * steps[axis] for n in range(where[axis])]
        number = core.add(number, core.constant(data_of(i64, shape, along)))
    return core.gather(core.reshape(x, (prod(found), *rest)), number, 0)


@rule(core.ScatterElements)
def scatter_elements(
    op: core.ScatterElements, context: ArkContext, x: Value, positions: Value, updates: Value
) -> Built:
    """Each element is one of the tensor or of the updates, if it is known which."""
    dims, where = shape_of(x), shape_of(positions)
    data = known_data(positions)
    if data is None or data.count > _MOST_LISTED or op.reduction is not core.Reduction.NONE:
        return _NOT_SCATTERED
    axis = axis_of(op.axis, len(dims))
    steps = dense(dims).steps
    numbers: list[int] = []
    for at, position in zip(product(*map(range, where)), data.values(), strict=True):
        place = [*at[:axis], int(position) % dims[axis], *at[axis + 1 :]]
        numbers.append(sum(n * step for n, step in zip(place, steps, strict=True)))
    flat = core.reshape(x, (prod(dims),))
    return core.reshape(_with_rows(flat, numbers, core.reshape(updates, (prod(where),))), dims)


@rule(core.ScatterNd)
def scatter_nd(op: core.ScatterNd, context: ArkContext, x: Value, positions: Value, updates: Value) -> Built:
    """Each row is one of the tensor or of the updates, if it is known which."""
    dims, (*lead, depth) = shape_of(x), shape_of(positions)
    data = known_data(positions)
    if data is None or data.count > _MOST_LISTED or op.reduction is not core.Reduction.NONE:
        return _NOT_SCATTERED
    steps = dense(dims[:depth]).steps
    values = [int(v) for v in data.values()]
    rows = [values[n : n + depth] for n in range(0, len(values), depth)]
    numbers = [sum(p % n * step for p, n, step in zip(row, dims, steps, strict=False)) for row in rows]
    flat = core.reshape(x, (prod(dims[:depth]), *dims[depth:]))
    return core.reshape(_with_rows(flat, numbers, core.reshape(updates, (prod(lead), *dims[depth:]))), dims)


_NOT_SCATTERED = Mismatch("ARK writes to positions that are known before running, without combining values")


def _with_rows(x: Value, numbers: Sequence[int], updates: Value) -> Value:
    """Some rows of a tensor replaced by others, of several for one row by the last."""
    count = shape_of(x)[0]
    order = list(range(count))
    for n, number in enumerate(numbers):
        order[number] = count + n
    return listed(core.concat((x, updates), 0), 0, order)


@rule(core.OneHot)
def one_hot(op: core.OneHot, context: ArkContext, positions: Value, on: Value, off: Value) -> Built:
    dims = shape_of(op.y)
    axis = axis_of(op.axis, len(dims))
    positions = core.cast(positions, i64)
    shape = tuple([n if a == axis else 1 for a, n in enumerate(dims)])
    require_computable(dims[axis])
    rows = core.constant(data_of(i64, shape, range(dims[axis])))
    return core.select(core.equal(core.unsqueeze(positions, (axis,)), rows), on, off)


@rule(core.BandPart)
def band_part(op: core.BandPart, context: ArkContext, x: Value) -> Built:
    """Zeros where positions along the last two axes are too far apart."""
    rows, columns = shape_of(x)[-2:]
    element = element_of(x)
    return core.select(band(op, rows, columns), x, core.scalar(False if element is boolean else 0, element))


def listed(x: Value, axis: int, positions: Sequence[int]) -> Value:
    """The slices of a tensor along an axis at some positions."""
    return core.gather(x, core.constant(data_of(i64, (len(positions),), positions)), axis)
