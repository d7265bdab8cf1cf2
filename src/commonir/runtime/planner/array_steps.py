"""Implements the nodes of array programs by numpy calls that write to existing arrays.

Contractions use BLAS through `numpy.matmul`, everything else ufuncs with `out`. Floating-point rules are numpy's; sums
may be formed in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.diagnostics import InternalError
from commonir.runtime.interpreter.array_functions import ARRAY_FUNCTIONS, FOLD_FUNCTIONS, convert, copy, round_to_half
from commonir.runtime.limits import OutOfRange
from commonir.runtime.planner.array_graph import (
    Checked,
    Concat,
    Copy,
    InnerProduct,
    Lookup,
    Map,
    Node,
    Opaque,
    PlacedNode,
    Product,
    Reduce,
    Scan,
    Take,
    WindowProduct,
)

Array = NDArray[Any]
ArrayStep = Callable[[], object]


PART_ELEMENTS = 1 << 18
"""Windows are copied and multiplied in parts of this many elements, which stay in the second-level cache."""

CLIPPED_SIZE = 4096
"""From this many elements on, `numpy.clip` is faster than a ufunc in spite of its overhead."""


def evaluate(node: Node, inputs: Sequence[Array]) -> Array:
    """Returns the array of a node for arrays of its inputs."""
    out: Array = np.empty(node.shape, node.dtype)
    if isinstance(node, PlacedNode):
        out[...] = node.fill
    with np.errstate(all="ignore"):
        for step in bind(node, inputs, out):
            step()
    return out


def bind(node: Node, inputs: Sequence[Array], out: Array) -> list[ArrayStep]:
    """Returns the calls that compute a node from fixed arrays into a fixed array."""
    match node:
        case Map():
            return _map(node, inputs, out)
        case Copy():
            return [partial(copy, inputs[0], out)]
        case Reduce():
            return _reduce(node, inputs[0], out)
        case InnerProduct():
            return [partial(np.vecdot, inputs[0], inputs[1], out=out)]
        case Product():
            return [partial(np.matmul, inputs[0], inputs[1], out=out)]
        case WindowProduct():
            return _window_product(node, inputs[0], inputs[1], out)
        case Scan():
            return _scan(node, inputs[0], out)
        case PlacedNode():
            cut = tuple(slice(a, a + s * n, s) for a, s, n in zip(node.start, node.step, inputs[0].shape, strict=True))
            return [partial(np.copyto, out[cut], inputs[0])]
        case Concat():
            return _concat(node, inputs, out)
        case Take():
            return [partial(np.take, inputs[0], inputs[1], node.axis, out, "clip")]
        case Lookup():
            return [partial(_lookup, inputs[0], tuple(inputs[1:]), out)]
        case Checked():
            return [partial(_check, inputs[0], out, node.bound, node.description)]
        case Opaque():
            return [partial(_call, node, tuple(inputs), (out,))]
        case _:
            raise InternalError(f"no step for {type(node).__name__}")


def bind_parts(node: Opaque, inputs: Sequence[Array], outs: Sequence[Array | None]) -> list[ArrayStep]:
    """Returns the call of an opaque node with an array for each of its results; None for unused ones."""
    return [partial(_call, node, tuple(inputs), tuple(outs))]


def _map(node: Map, inputs: Sequence[Array], out: Array) -> list[ArrayStep]:
    match node.fn:
        case "cast":
            if node.dtype.kind == "b":
                return [partial(np.not_equal, inputs[0], inputs[0].dtype.type(0), out=out)]
            return [partial(convert, inputs[0], out)]
        case "round to half":
            return [partial(round_to_half, inputs[0], out)]
        case "clip":
            return [partial(np.clip, *inputs, out)]
        case "maximum" | "minimum" if inputs[0].dtype.kind == "f" and inputs[1].ndim == 0 and out.size >= CLIPPED_SIZE:
            # Unlike `clip`, these two ufuncs have no vectorized loop for a scalar operand.
            infinity = out.dtype.type(np.inf)
            limits = (inputs[1], infinity) if node.fn == "maximum" else (-infinity, inputs[1])
            return [partial(np.clip, inputs[0], *limits, out)]
        case "select":
            condition, a, b = inputs
            if _is_selected_by_bits(inputs, out):
                return [_Select(condition, a, b, out)]
            copy_selected = partial(np.copyto, out, a, "no", condition)
            return [copy_selected] if np.may_share_memory(b, out) else [partial(np.copyto, out, b), copy_selected]
        case _:
            function = ARRAY_FUNCTIONS[node.fn]
            if isinstance(function, np.ufunc):
                return [partial(function, *inputs, out=out)]
            return [partial(_store, function, tuple(inputs), out)]


def _is_selected_by_bits(inputs: Sequence[Array], out: Array) -> bool:
    """Returns whether elements may be chosen as integers: all arrays are contiguous or single numbers."""
    if (
        out.size < CLIPPED_SIZE
        or out.itemsize not in _INTEGERS
        or out.dtype.kind == "O"
        or inputs[0].shape != out.shape
    ):
        return False
    return all(x.ndim == 0 or (x.shape == out.shape and x.flags.c_contiguous) for x in inputs)


_INTEGERS = {4: np.dtype(np.int32), 8: np.dtype(np.int64)}
_SELECTED_ELEMENTS = 1 << 14
_SAMPLE = 1 << 10


class _Select:
    """Elements of one array where a mask is set, of another one elsewhere.

    Copying under a mask takes up to ten times as long where the mask changes often, because of mispredicted branches:
    such elements are chosen by operations on their bits, in parts that stay in the cache.
    """

    def __init__(self, condition: Array, a: Array, b: Array, out: Array) -> None:
        self._condition, self._a, self._b, self._out = condition, a, b, out
        integer = _INTEGERS[out.itemsize]
        flat = [x if x.ndim == 0 else x.reshape(-1) for x in (a, b, out)]
        self._codes = [x.view(integer) for x in flat]
        self._mask = condition.reshape(-1)
        self._scratch = np.empty((2, min(_SELECTED_ELEMENTS, out.size)), integer)

    def __call__(self) -> None:
        if self._is_mixed():
            self._by_bits()
            return
        if not np.may_share_memory(self._b, self._out):
            np.copyto(self._out, self._b)
        np.copyto(self._out, self._a, "no", self._condition)

    def _is_mixed(self) -> bool:
        """Returns whether one in 32 elements of some samples differs from the next one."""
        mask = self._mask
        changes = 0
        for start in (0, mask.size // 2, mask.size - _SAMPLE - 1):
            changes += np.count_nonzero(mask[start : start + _SAMPLE] != mask[start + 1 : start + _SAMPLE + 1])
        return bool(changes * 32 > 3 * _SAMPLE)

    def _by_bits(self) -> None:
        """Computes `b ^ ((a ^ b) & -mask)`."""
        a, b, out = self._codes
        for start in range(0, out.size, _SELECTED_ELEMENTS):
            part = slice(start, start + _SELECTED_ELEMENTS)
            piece = out[part]
            flags, codes = self._scratch[:, : piece.size]
            other = b[part] if b.ndim else b
            np.subtract(0, self._mask[part], out=flags, dtype=flags.dtype)
            np.bitwise_xor(a[part] if a.ndim else a, other, out=codes)
            np.bitwise_and(codes, flags, out=codes)
            np.bitwise_xor(codes, other, out=piece)


def _store(function: Callable[..., Array], inputs: tuple[Array, ...], out: Array) -> None:
    out[...] = function(*inputs)


def _reduce(node: Reduce, source: Array, out: Array) -> list[ArrayStep]:
    """Returns a fold along axes; a sum of floats along the last ones is a faster product with a vector of ones."""
    first = source.ndim - len(node.axes)
    last = node.axes == tuple(range(first, source.ndim))
    if node.fn == "add" and last and source.dtype.kind == "f" and source.size and source.flags.c_contiguous:
        rows = out.size
        ones = np.ones(source.size // rows, source.dtype)
        return [partial(np.matmul, source.reshape(rows, -1), ones, out=out.reshape(rows))]
    return [partial(FOLD_FUNCTIONS[node.fn].reduce, source, node.axes, source.dtype, out)]


def _scan(node: Scan, source: Array, out: Array) -> list[ArrayStep]:
    order = tuple(slice(None, None, -1) if d == node.axis and node.reverse else slice(None) for d in range(source.ndim))
    source, result = source[order], out[order]
    accumulate = FOLD_FUNCTIONS[node.fn].accumulate
    if not node.exclusive:
        return [partial(accumulate, source, node.axis, source.dtype, result)]
    before = (slice(None),) * node.axis
    first, others = result[(*before, slice(0, 1))], result[(*before, slice(1, None))]
    body = source[(*before, slice(None, -1))]
    start = FOLD_FUNCTIONS[node.fn].identity
    return [partial(np.copyto, first, start, "unsafe"), partial(accumulate, body, node.axis, source.dtype, others)]


def _window_product(node: WindowProduct, a: Array, view: Array, out: Array) -> list[ArrayStep]:
    """Returns copies of parts of the view, along its first axis of columns, each with a product."""
    first = view.ndim - node.columns
    batch = first - node.rows
    rows, inner, count = prod(view.shape[batch:first]), prod(view.shape[first + 1 :]), view.shape[first]
    part = min(max(1, PART_ELEMENTS // (rows * inner)), count)
    buffer = np.empty(rows * inner * part, view.dtype)
    steps: list[ArrayStep] = []
    for n, index in enumerate(np.ndindex(view.shape[:batch])):
        left = a if a.ndim == 2 else a[n % a.shape[0]]
        product = out if out.ndim == 2 else out[n]
        for start in range(0, count, part):
            piece = view[index][(*(slice(None),) * node.rows, slice(start, start + part))]
            copied = buffer[: piece.size]
            columns = product[:, start * inner : start * inner + piece.size // rows]
            steps.append(partial(np.copyto, copied.reshape(piece.shape), piece))
            steps.append(partial(np.matmul, left, copied.reshape(rows, -1), out=columns))
    return steps


def _concat(node: Concat, inputs: Sequence[Array], out: Array) -> list[ArrayStep]:
    steps: list[ArrayStep] = []
    start = 0
    for x in inputs:
        size = x.shape[node.axis]
        steps.append(partial(np.copyto, out[(slice(None),) * node.axis + (slice(start, start + size),)], x))
        start += size
    return steps


def _lookup(source: Array, positions: tuple[Array, ...], out: Array) -> None:
    out[...] = source[positions]


def _check(positions: Array, out: Array, bound: int, description: str) -> None:
    if positions.size == 1:  # as in most loops; reductions take twenty times as long
        low = high = positions.item()
    else:
        low, high = positions.min(initial=0), positions.max(initial=0)
    if low < 0 or high >= bound:
        raise OutOfRange(f"position {low if low < 0 else high} on {description}, which has size {bound}")
    np.copyto(out, positions)


def _call(node: Opaque, inputs: tuple[Array, ...], outs: tuple[Array | None, ...]) -> None:
    for out, result in zip(outs, node.run(*inputs), strict=True):
        if out is not None:
            np.copyto(out, result, "unsafe")
