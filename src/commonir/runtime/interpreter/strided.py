"""Evaluates small kernels like `evaluation.py`, but reads at affine positions as strided views.

Padding and dilation copy the array; other reads at affine positions only choose strides. Reads at positions that are
not affine are left to direct evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.notation import Access, Expr, Kernel, name_of
from commonir.notation.expressions import Dilated, Flat, Padded, View
from commonir.runtime.interpreter.evaluation import Factor, KernelGrid, summed_products
from commonir.runtime.limits import check_array
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, Symbol, terms_of

Array = NDArray[Any]
Calculation = Callable[..., Array]

_Affine = tuple[int, tuple[tuple[str, int], ...]]
"""An affine position: a constant, and the factor of each index."""

_FEW_PRODUCTS = 1 << 14
"""Up to this many products are summed in one loop, because optimizing the order costs more."""


def evaluate_small_kernel(kernel: Kernel, extents: Mapping[str, int], arrays: Mapping[str, Array]) -> Array:
    """Returns the result of a kernel for the arrays of its operands by name; it may be a view of one of them.

    Raises: OutOfRange when an index read from data is outside of the bounds of its tensor.
    """
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
        viewed = source
        for view, _ in e.tensor.steps:
            apply = _view_function(view, viewed.shape)
            if apply is None:
                return super().access(e)
            viewed = apply(viewed)
        apply = self._view_of(viewed.shape, positions)
        return super().access(e) if apply is None else apply(viewed)

    def _reads_all(self, source: Array, positions: Sequence[_Affine]) -> bool:
        """Returns whether an access reads all elements of an array, in order, along the indices in scope."""
        if len(positions) != len(self.order):
            return False
        for (start, factors), name, size in zip(positions, self.order, source.shape, strict=True):
            if start or factors != ((name, 1),) or self.ranges[name] != (0, size):
                return False
        return True

    def _view_of(self, source_shape: tuple[int, ...], positions: Sequence[_Affine]) -> Calculation | None:
        """Returns a function that reads affine positions of an array of some shape; None if one may be out of range."""
        offset = 0
        step = prod(source_shape)
        strides: dict[str, int] = {}
        for (start, factors), size in zip(positions, source_shape, strict=True):
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
            steps.append(strides.get(i, 0) if hi - lo > 1 else 0)
        return partial(_elements, offset, shape, steps)

    def grid(
        self, order: tuple[str, ...], ranges: Mapping[str, tuple[int, int]], extents: Mapping[str, int]
    ) -> StridedGrid:
        return StridedGrid(order, ranges, extents, self.arrays, self.dtype_for)

    def sum_of_products(self, a: Factor, b: Factor, axes: Sequence[int]) -> Array:
        dims = {**dict(zip(a.axes, a.array.shape, strict=True)), **dict(zip(b.axes, b.array.shape, strict=True))}
        return summed_products(a, b, axes, in_best_order=prod(dims.values()) > _FEW_PRODUCTS)


def _elements(offset: int, shape: list[int], steps: list[int], x: Array) -> Array:
    """Returns elements of an array by strides over its row-major order. Units: elements."""
    source = x if x.flags.c_contiguous else np.ascontiguousarray(x)
    itemsize = source.itemsize
    check_array(shape, itemsize)
    return np.ndarray(shape, source.dtype, source, offset * itemsize, [s * itemsize for s in steps])


def _view_function(view: View, source_shape: tuple[int, ...]) -> Calculation | None:
    """Returns a function that applies a view to an array of some shape; None for a view that repeats elements."""
    match view:
        case Flat():
            return _flat
        case Padded(before=before, after=after, mode="constant", fill=fill):
            return _padding(source_shape, before, after, fill)
        case Dilated(factors=factors):
            shape = [max((n - 1) * f + 1, 0) for n, f in zip(source_shape, factors, strict=True)]
            return partial(_placed, shape, 0, tuple([slice(None, None, f) for f in factors]), ())
        case _:
            return None


def _flat(x: Array) -> Array:
    return x.reshape(-1)


def _padding(
    source_shape: Sequence[int], before: Sequence[Dim], after: Sequence[Dim], fill: object
) -> Calculation | None:
    """Returns a function that pads an array; negative amounts crop."""
    sides = zip(source_shape, before, after, strict=True)
    known = [(n, b, a) for n, b, a in sides if isinstance(b, int) and isinstance(a, int) and n + b + a >= 0]
    if len(known) < len(source_shape):
        return None
    return partial(_placed, [n + b + a for n, b, a in known], fill, *padding_slices(known))


def padding_slices(sides: Sequence[tuple[int, int, int]]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Returns where in a padded array the elements of another lie, and which of them, from sizes and paddings before
    and after each axis.
    """
    target = tuple([slice(max(b, 0), max(n + b + min(a, 0), 0)) for n, b, a in sides])
    return target, tuple([slice(max(-b, 0), max(n + min(a, 0), 0)) for n, b, a in sides])


def _placed(
    shape: Sequence[int], fill: object, target: tuple[slice, ...], source: tuple[slice, ...], x: Array
) -> Array:
    """Returns a filled array with some elements of another array written to it."""
    check_array(shape, x.dtype.itemsize)
    out = np.full(shape, fill, x.dtype)
    out[target] = x[source]
    return out


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
