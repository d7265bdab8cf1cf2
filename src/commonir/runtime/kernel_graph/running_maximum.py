"""Softmax between two products for a block of columns at a time, with a running maximum.

A strip of whole rows leaves the caches where rows are long, and then has few rows, for which all keys and values are
read again. With blocks of columns a strip has many rows of any length. The exponentials of a block are relative to the
maximum so far; where a later block has a greater one, sums and products so far are multiplied by the exponential of
the difference.

Rows of negative infinities alone, and those with NaN, become NaN, as by the definition. Where the last block overlaps
the one before it, values of both that are infinite are also multiplied by 0, so that they become NaN.

Source: M. Milakov and N. Gimelshein, Online normalizer calculation for softmax (2018).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from commonir.base.tuples import NamedTuple
from commonir.ir.types import f32
from commonir.notation import (
    Access,
    Apply,
    Const,
    Expr,
    Fold,
    Kernel,
    Tensor,
    index,
    lift,
    put,
    replace,
    replace_accesses,
    select,
)
from commonir.runtime.kernel_graph.contraction import contraction_of, summed_products
from commonir.runtime.kernel_graph.fusing import fused_kernel
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, StripBlocks, TensorSpec
from commonir.symbolic import Dim, plain, smallest, symbol

LONG_ROW = 1024
"""Columns from which on equal blocks of them pay."""

LONGEST_ROW = 4096
"""Columns beyond which blocks pay though the last one overlaps that before it."""

BLOCK_COLUMNS = range(128, 513, 16)
"""The columns that a block may have: a strip of it fits the second-level cache beside its keys and values."""

BLOCK_ROWS = 64
"""The rows of a strip of blocks."""

BLOCK = "strip block"
"""The symbol of the number of a block."""

_ZERO = Const(0.0, f32)
_LOWEST = Const(float(np.finfo(np.float32).min), f32)
"""The maximum before the first block: finite, so that a block of negative infinities adds nothing."""

MOST_STATISTICS = 4
"""The most nodes that compute a softmax of long rows: a maximum, exponentials, their sum, and quotients."""


def compute_long_softmax_within(graph: KernelGraph, node: KernelNode) -> None:
    """Computes the statistics of a softmax of long rows within the node that reads them, where nothing else does."""
    kernel, extents = node.kernel, node.extents
    within, inside = node, {node.name: node}
    for _ in range(MOST_STATISTICS):
        producers = {n: p for n in within.reads if (p := graph.nodes.get(n)) and _is_statistic(graph, p, node)}
        fused = fused_kernel(within, producers) if producers else None
        if fused is None:
            break
        inside.update(producers)
        kernel, extents = fused
        within = KernelNode(node.name, kernel, extents, node.spec)
    if len(inside) == 1 or block_columns(within) is None:
        return
    if all(user in inside for name in inside if name != node.name for user in graph.users(name)):
        node.origins = tuple([o for n in inside.values() for o in n.origins])
        graph.replace_kernel(node, kernel, extents)


def _is_statistic(graph: KernelGraph, producer: KernelNode, node: KernelNode) -> bool:
    """Returns whether a node may be a part of a softmax, of the same rows as another node."""
    is_value = contraction_of(producer, graph.constants) is None and producer.strips is None
    return is_value and producer.name not in graph.outputs and producer.spec.shape[:-1] == node.spec.shape[:-1]


class StripParts(NamedTuple):
    """The parts of a strip, and which of them are computed for each block of columns."""

    parts: tuple[KernelNode, ...]
    blocks: StripBlocks


def block_columns(middle: KernelNode) -> int | None:
    """Returns the columns of a block of a node between two products; None if it has no long rows of a softmax."""
    columns = middle.spec.shape[-1]
    if not isinstance(columns, int) or columns < LONG_ROW or _softmax_operand(middle.kernel) is None:
        return None
    equal = max([n for n in BLOCK_COLUMNS if columns % n == 0], default=None)
    return BLOCK_COLUMNS[-1] if equal is None and columns > LONGEST_ROW else equal


def _first_column(size: int, columns: int) -> Dim:
    """Returns the first column of a block; the last block overlaps the one before it if they are not equal."""
    start = symbol(BLOCK, 0) * size
    return start if columns % size == 0 else smallest(start, columns - size)


def _softmax_operand(kernel: Kernel) -> Expr | None:
    """Returns the operand of which a kernel is the softmax along its last axis; None if it is none."""
    column, body = plain(kernel.axes[-1]), kernel.body
    if column is None or body.dtype is not f32 or not isinstance(body, Apply) or body.fn != "divide":
        return None
    match body.args:
        case (
            Apply(fn="exp", args=(Apply(fn="subtract", args=(x, Fold(fn="maximum", over=(k,), body=others))),)) as part,
            Fold(fn="add", over=(n,), body=every),
        ) if put(x, {column: index(k)}) == others and put(part, {column: index(n)}) == every:
            return x
        case _:
            return None


class _RunningValue(NamedTuple):
    """A value that is corrected for each block, with an axis of rows first: of the blocks before, and with this one.

    Code may compute some rows twice, so the one before stays until all are computed.
    """

    before: Tensor
    now: Tensor

    @classmethod
    def of(cls, node: KernelNode, what: str, shape: Sequence[Dim]) -> _RunningValue:
        """Returns a value that a node is computed from."""
        return cls(*[Tensor(f"{node.name} {when} {what}", tuple(shape), f32) for when in ("former", "present")])


def in_blocks(first: KernelNode, middle: KernelNode, last: KernelNode, row: str, size: int) -> StripParts:
    """Returns the parts of a strip of whole rows as those of blocks of columns; `row` is the row of the last one."""
    rows, columns = middle.spec.shape
    operand = _softmax_operand(middle.kernel)
    assert operand is not None
    assert isinstance(columns, int)
    start = _first_column(size, columns)
    scores, weights = Tensor(first.name, (rows, size), f32), Tensor(middle.name, (rows, size), f32)
    i, column, of_scores = [plain(axis) or "" for axis in (*middle.kernel.axes, first.kernel.axes[-1])]
    ((fold, _),) = summed_products(last.kernel.body)
    (k,) = fold.over
    here, there, axes = (index(i),), (index(row),), last.kernel.axes
    maximum, sums = [_RunningValue.of(last, what, (rows,)) for what in ("maximum", "sums")]
    products = _RunningValue.of(last, "products", last.spec.shape)

    def corrected(value: _RunningValue, at: Sequence[Dim], of_row: Sequence[Dim]) -> Expr:
        """Returns the sums before the block, relative to the maximum with it."""
        return value.before[at] * Apply("exp", (maximum.before[of_row] - maximum.now[of_row],))

    x = _of_block(operand, column, scores, start)
    score = _of_block(first.kernel.body, of_scores, scores, start)
    greatest = Apply("maximum", (maximum.before[here], Fold("maximum", (column,), x)))
    weight = Apply("exp", (x - maximum.now[here],))
    if columns % size:
        # Columns of the block before count once.
        weight = select(lift(index(column)) >= lift(symbol(BLOCK, 0) * size - start), weight, _ZERO)
    total = corrected(sums, here, here) + Fold("add", (column,), weights[middle.kernel.axes])
    product = corrected(products, axes, there) + Fold("add", (k,), _of_block(fold.body, k, weights, start))
    of_row, of_block = {i: rows}, {i: rows, column: size}
    of_result = {name: n for name, n in last.extents.items() if name != k}

    def stored(tensor: Tensor, like: KernelNode, kernel: Kernel, extents: Mapping[str, Dim]) -> KernelNode:
        return KernelNode(tensor.name, kernel, extents, TensorSpec(tensor.shape, f32), like.origins)

    before = [
        stored(maximum.before, middle, Kernel(here, _LOWEST), of_row),
        stored(sums.before, middle, Kernel(here, _ZERO), of_row),
        stored(products.before, last, Kernel(axes, _ZERO), of_result),
    ]
    inside = [
        stored(scores, first, Kernel(first.kernel.axes, score), {**first.extents, of_scores: size}),
        stored(maximum.now, middle, Kernel(here, greatest), of_block),
        stored(weights, middle, Kernel(middle.kernel.axes, weight), of_block),
        stored(sums.now, middle, Kernel(here, total), of_block),
        stored(products.now, last, Kernel(axes, product), {**last.extents, k: size}),
        stored(maximum.before, middle, Kernel(here, maximum.now[here]), of_row),
        stored(sums.before, middle, Kernel(here, sums.now[here]), of_row),
        stored(products.before, last, Kernel(axes, products.now[axes]), of_result),
    ]
    body = replace(last.kernel.body, {fold: products.now[axes] / sums.now[there]})
    result = KernelNode(last.name, Kernel(axes, body), of_result, last.spec, last.origins)
    blocks = StripBlocks(len(before), len(before) + len(inside), -(-columns // size), BLOCK)
    return StripParts((*before, *inside, result), blocks)


def _of_block(e: Expr, column: str, block: Tensor, start: Dim) -> Expr:
    """Returns an expression whose column counts from the first one of a block, as those of a tensor do."""

    def moved(a: Access) -> Expr:
        if a.tensor.name != block.name:
            return a
        *outer, position = a.at
        assert not isinstance(position, Expr)
        return Access(block, [*outer, position - start])

    return replace_accesses(put(e, {column: index(column) + start}), moved)
