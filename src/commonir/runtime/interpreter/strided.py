"""Evaluates small kernels like `evaluation.py`, but reads at affine positions as strided views.

Padding and dilation copy the array; other reads at affine positions only choose strides. Reads at positions that are
not affine are left to direct evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.notation import Access, Expr, Kernel, Update, name_of
from commonir.notation.expressions import Dilated, Flat, Padded, View
from commonir.runtime.interpreter.evaluation import Factor, KernelGrid, evaluate_kernel, summed_products
from commonir.runtime.limits import check_array
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, Symbol, terms_of

Array = NDArray[Any]

_Affine = tuple[int, tuple[tuple[str, int], ...]]
"""An affine position: a constant, and the factor of each index."""

_FEW_PRODUCTS = 1 << 14
"""Up to this many products are summed in one loop, because optimizing the order costs more."""


def evaluate_small_kernel(kernel: Kernel, extents: Mapping[str, int], arrays: Mapping[str, Array]) -> Array:
    """Returns the result of a kernel for the arrays of its operands by name; it may be a view of one of them.

    Raises: OutOfRange when an index read from data is outside of the bounds of its tensor.
    """
    if isinstance(kernel.body, Update):
        return evaluate_kernel(kernel, extents, arrays, compute_dtype)
    axes = ["" if isinstance(a, int) else name_of(a) for a in kernel.axes]
    shape = tuple([extents[a] if a else 1 for a in axes])
    dtype = compute_dtype(kernel.dtype)
    if 0 in shape:
        return np.empty(shape, dtype)
    order = tuple([a for a in axes if a])
    grid = StridedGrid(order, {a: (0, extents[a]) for a in order}, extents, arrays, compute_dtype)
    # numpy returns scalars where an array has no axes.
    result = np.asarray(grid.value(kernel.body))
    full = tuple([extents[a] for a in order])
    if result.shape != full:
        result = np.array(np.broadcast_to(result, full))
    return result.astype(dtype, copy=False).reshape(shape)


class StridedGrid(KernelGrid):
    """A grid in which affine reads are views."""

    def access(self, e: Access) -> Array:
        source = self.arrays[e.tensor.name]
        positions = _affine_positions(e)
        if positions is None or source.dtype.kind not in "biufc":
            return super().access(e)
        if not e.tensor.steps and self._reads_all(source, positions):
            return source
        viewed: Array | None = source
        for view, _ in e.tensor.steps:
            viewed = None if viewed is None else _viewed(view, viewed)
        elements = None if viewed is None else self._elements(viewed, positions)
        return super().access(e) if elements is None else elements

    def _reads_all(self, source: Array, positions: Sequence[_Affine]) -> bool:
        """Returns whether an access reads all elements of an array, in order, along the indices in scope."""
        if len(positions) != len(self.order):
            return False
        for (start, factors), name, size in zip(positions, self.order, source.shape, strict=True):
            if start or factors != ((name, 1),) or self.ranges[name] != (0, size):
                return False
        return True

    def _elements(self, x: Array, positions: Sequence[_Affine]) -> Array | None:
        """Returns the elements at affine positions by strides over the row-major order; None if one may be outside."""
        offset = 0
        step = x.size
        strides: dict[str, int] = {}
        for (start, factors), size in zip(positions, x.shape, strict=True):
            low = high = start
            step = step // size if size else 0
            for name, factor in factors:
                lo, hi = self.ranges[name]
                low += factor * (lo if factor > 0 else hi - 1)
                high += factor * (hi - 1 if factor > 0 else lo)
                start += factor * lo
                strides[name] = strides.get(name, 0) + factor * step
            if low < 0 or high >= size:
                return None
            offset += start * step
        shape: list[int] = []
        steps: list[int] = []
        for i in self.order:
            lo, hi = self.ranges[i]
            shape.append(hi - lo if i in strides else 1)
            # Nothing is far from a single element, whatever the factor of its index.
            steps.append(strides.get(i, 0) * x.itemsize if hi - lo > 1 else 0)
        check_array(shape, x.itemsize)
        source = x if x.flags.c_contiguous else np.ascontiguousarray(x)
        return np.ndarray(shape, x.dtype, source, offset * x.itemsize, steps)

    def grid(
        self, order: tuple[str, ...], ranges: Mapping[str, tuple[int, int]], extents: Mapping[str, int]
    ) -> StridedGrid:
        return StridedGrid(order, ranges, extents, self.arrays, self.dtype_for)

    def sum_of_products(self, a: Factor, b: Factor, axes: Sequence[int]) -> Array:
        dims = {**dict(zip(a.axes, a.array.shape, strict=True)), **dict(zip(b.axes, b.array.shape, strict=True))}
        return summed_products(a, b, axes, in_best_order=prod(dims.values()) > _FEW_PRODUCTS)


def _viewed(view: View, x: Array) -> Array | None:
    """Returns an array with a view applied to it; None for a view that repeats elements."""
    if isinstance(view, Flat):
        return x.reshape(-1)
    placed = placement(view, x.shape)
    if placed is None:
        return None
    check_array(placed.shape, x.dtype.itemsize)
    out = np.full(placed.shape, placed.fill, x.dtype)
    out[placed.target] = x[placed.inside]
    return out


class Placement(NamedTuple):
    """A view as an array of one value in which some elements of another array lie: where, and which of them."""

    shape: tuple[int, ...]
    fill: object
    target: tuple[slice, ...]
    inside: tuple[slice, ...]


def placement(view: View, shape: Sequence[int]) -> Placement | None:
    """Returns the view of an array of some shape; None if it repeats elements. Negative paddings crop."""
    match view:
        case Dilated(factors=factors):
            stretched = tuple([max((n - 1) * f + 1, 0) for n, f in zip(shape, factors, strict=True)])
            return Placement(stretched, 0, tuple([slice(None, None, f) for f in factors]), ())
        case Padded(before=before, after=after, mode="constant", fill=fill):
            sides = zip(shape, before, after, strict=True)
            known = [(n, b, a) for n, b, a in sides if isinstance(b, int) and isinstance(a, int) and n + b + a >= 0]
            if len(known) < len(shape):
                return None
            target = tuple([slice(max(b, 0), max(n + b + min(a, 0), 0)) for n, b, a in known])
            inside = tuple([slice(max(-b, 0), max(n + min(a, 0), 0)) for n, b, a in known])
            return Placement(tuple([n + b + a for n, b, a in known]), fill, target, inside)
        case _:
            return None


@lru_cache(1 << 14)
def _affine_positions(e: Access) -> tuple[_Affine, ...] | None:
    """Returns the positions of an access; None when one is not affine."""
    affine = [None if isinstance(p, Expr) else _affine(p) for p in e.at]
    known = [p for p in affine if p is not None]
    return tuple(known) if len(known) == len(affine) else None


def _affine(p: Dim) -> _Affine | None:
    """Returns a position; None when it is not affine."""
    if isinstance(p, int):
        return p, ()
    start = 0
    factors: list[tuple[str, int]] = []
    for term, factor in terms_of(p).items():
        if not term:
            start = factor
        elif len(term) == 1 and isinstance(term[0], Symbol):
            factors.append((term[0].name, factor))
        else:
            return None
    return start, tuple(factors)
