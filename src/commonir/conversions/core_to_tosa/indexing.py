"""Rules for elements at positions that are data, for order, and for operations that index notation states.

Positions are integers of 32 bits, as tosa.gather takes them. What has no rule of its own becomes operations on whole
tensors by its kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from commonir.conversions.core_to_core.all_pairs import AllPairs
from commonir.conversions.core_to_core.whole_tensors import kernel_value, of_kernels
from commonir.conversions.core_to_tosa.building import known
from commonir.conversions.core_to_tosa.layout import gathered
from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.dialects import core
from commonir.dialects.core.base import axis_of
from commonir.ir.operation import Value
from commonir.ir.types import i32
from commonir.notation import Kernel, ranges
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import element_count


def _computed(kernel: Kernel, operands: Mapping[str, Value]) -> Value:
    return kernel_value(kernel, ranges(kernel)[0], operands, i32)


_MOST_POSITIONS = 2**31
_PAIRS = AllPairs(_computed, i32)


@rule(core.GatherNd)
def gather_nd(op: core.GatherNd, context: Context, x: Value, positions: Value) -> Result:
    """Rows of a matrix for each of a batch, their positions made one number."""
    if element_of(op.positions).kind == "uint":
        return Mismatch("tosa computes with no unsigned integers")
    shape, where, batch = dims_of(op.x), dims_of(op.positions), op.batch
    (depth,) = known(where[-1:])
    addressed = known(shape[batch : batch + depth])
    if prod(addressed) > _MOST_POSITIONS:
        return Mismatch(f"a position of {prod(addressed):,} is not an i32")
    if not depth:
        remaining = (*shape[:batch], *(1,) * (len(where) - 1 - batch), *shape[batch:])
        return core.broadcast_to(core.reshape(x, remaining), dims_of(op.y))
    count, lead, rest = (
        element_count(where[batch:-1]),
        element_count(shape[:batch]),
        element_count(shape[batch + depth :]),
    )
    positions_ = positions if element_of(positions) is i32 else core.cast(positions, i32)
    rows = core.reshape(positions_, (lead, count, depth))
    dims = core.vector(tuple(addressed), i32)
    rows = core.select(core.less(rows, core.scalar(0, i32)), core.add(rows, dims), rows)
    strides = [known([element_count(addressed[n + 1 :])])[0] for n in range(depth)]
    flat = core.reduce_sum(core.mul(rows, core.vector(tuple(strides), i32)), (2,)) if depth > 1 else rows
    result = gathered(core.reshape(x, (lead, element_count(addressed), rest)), core.reshape(flat, (lead, count)))
    return core.reshape(result, dims_of(op.y))


@rule(core.ScatterElements)
def scatter_elements(op: core.ScatterElements, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    return _PAIRS.scattered_elements(op, x, positions, updates)


@rule(core.ScatterNd)
def scatter_nd(op: core.ScatterNd, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    return _PAIRS.scattered_rows(op, x, positions, updates)


@rule(core.ArgSort)
def argsort(op: core.ArgSort, context: Context, x: Value) -> Result:
    axis = axis_of(op.axis, rank_of(op.x))
    result = _PAIRS.order(x, axis, dims_of(op.x)[axis], descending=op.descending)
    return core.cast(result, element_of(op.results[0]))


@rule(core.TopK)
def top_k(op: core.TopK, context: Context, x: Value) -> Result:
    axis = axis_of(op.axis, rank_of(op.x))
    order = _PAIRS.order(x, axis, op.k, descending=op.largest)
    return _PAIRS.taken(x, order, axis), core.cast(order, element_of(op.results[1]))


@rule(core.CheckedPositions)
def checked_positions(op: core.CheckedPositions, context: Context, positions: Value, limits: Value) -> Result:
    """Compilers do not stop a program: positions outside stay as they are."""
    return positions


@rule(core.CoreOp)
def by_kernel(op: core.CoreOp, context: Context, *operands: Value | tuple[Value, ...] | None) -> Result:
    """A kernel, whatever operation it is of."""
    return of_kernels(op, operands, i32)
