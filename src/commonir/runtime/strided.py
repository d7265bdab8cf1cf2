"""Evaluation of small kernels: like `evaluation.py`, with reads as strided views where positions are affine.

No position is computed for the elements of a view: padding and dilation make a new array, everything else that index
notation says of affine positions is a choice of strides. What is read otherwise is left to direct evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.notation import Access, Expr, Kernel, name_of
from commonir.notation.expressions import Dilated, Flat, Padded, View
from commonir.runtime.evaluation import Scope
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, Symbol, terms_of

Array = NDArray[Any]

_Affine = tuple[int, tuple[tuple[str, int], ...]]
"""A position as a number and factors of indices."""

_FEW_PRODUCTS = 1 << 14
"""Products that are summed in one loop: finding a better order costs more."""


class SmallKernel:
    """A kernel whose extents are numbers, ready to be evaluated."""

    __slots__ = ("_body", "_dtype", "_extents", "_full", "_order", "_ranges", "_shape")

    def __init__(self, kernel: Kernel, extents: Mapping[str, int]) -> None:
        axes = ["" if isinstance(a, int) else name_of(a) for a in kernel.axes]
        self._body = kernel.body
        self._dtype = compute_dtype(kernel.dtype)
        self._extents = extents
        self._order = tuple([a for a in axes if a])
        self._ranges = {a: (0, extents[a]) for a in self._order}
        self._full = tuple([extents[a] for a in self._order])
        self._shape = tuple([extents[a] if a else 1 for a in axes])

    def evaluate(self, arrays: Mapping[str, Array]) -> Array:
        """The result for arrays of the operands, by name; it may be a view of one of them.

        Raises: OutOfRange when a position that is read from data lies outside of its tensor.
        """
        if 0 in self._shape:
            return np.empty(self._shape, self._dtype)
        scope = StridedScope(self._order, self._ranges, self._extents, arrays, compute_dtype)
        # numpy gives scalars where an array has no axes.
        found = np.asarray(scope.value(self._body))
        if found.shape != self._full:
            found = np.array(np.broadcast_to(found, self._full))
        if found.dtype != self._dtype:
            found = found.astype(self._dtype)
        return found if self._full == self._shape else found.reshape(self._shape)


class StridedScope(Scope):
    """A scope in which affine reads are views."""

    def access(self, e: Access) -> Array:
        source = self.arrays[e.tensor.name]
        positions = _affine_positions(e)
        if positions is None or source.dtype.kind not in "biufc":
            return super().access(e)
        if not e.tensor.steps and self._is_whole(source, positions):
            return source
        seen: Array | None = source
        for view, _ in e.tensor.steps:
            seen = _viewed(view, seen) if seen is not None else None
        found = None if seen is None else self._strided(seen, positions)
        return super().access(e) if found is None else found

    def _is_whole(self, source: Array, positions: Sequence[_Affine]) -> bool:
        """Whether positions are those of all elements of an array along the indices in scope."""
        if len(positions) != len(self.order):
            return False
        for (start, factors), name, size in zip(positions, self.order, source.shape, strict=True):
            if start or factors != ((name, 1),) or self.ranges[name] != (0, size):
                return False
        return True

    def _strided(self, source: Array, positions: Sequence[_Affine]) -> Array | None:
        """The elements at affine positions; None when one may lie outside."""
        offset = 0
        strides: dict[str, int] = {}
        for (start, factors), size, stride in zip(positions, source.shape, source.strides, strict=True):
            least = most = start
            for name, factor in factors:
                lo, hi = self.ranges[name]
                least += factor * (lo if factor > 0 else hi - 1)
                most += factor * (hi - 1 if factor > 0 else lo)
                start += factor * lo
                strides[name] = strides.get(name, 0) + factor * stride
            if least < 0 or most >= size:
                return None
            offset += start * stride
        if not source.flags.c_contiguous:
            return self._strided(np.ascontiguousarray(source), positions)
        shape: list[int] = []
        steps: list[int] = []
        for i in self.order:
            lo, hi = self.ranges[i]
            shape.append(hi - lo if i in strides else 1)
            steps.append(strides.get(i, 0))
        return np.ndarray(shape, source.dtype, source, offset, steps)

    def scope(
        self, order: tuple[str, ...], ranges: Mapping[str, tuple[int, int]], extents: Mapping[str, int]
    ) -> StridedScope:
        return StridedScope(order, ranges, extents, self.arrays, self.held)

    def sum_of_products(
        self, a: Array, a_axes: Sequence[int], b: Array, b_axes: Sequence[int], kept: Sequence[int]
    ) -> Array:
        sizes = {**dict(zip(a_axes, a.shape, strict=True)), **dict(zip(b_axes, b.shape, strict=True))}
        is_small = prod(sizes.values()) <= _FEW_PRODUCTS
        return np.asarray(np.einsum(a, a_axes, b, b_axes, kept, optimize=not is_small))


def _viewed(view: View, x: Array) -> Array | None:
    """An array through a view; None for one that repeats elements."""
    match view:
        case Flat():
            return x.reshape(-1)
        case Padded(before=before, after=after, mode="constant", fill=fill):
            return _padded(x, before, after, fill)
        case Dilated(factors=factors):
            shape = [max((n - 1) * f + 1, 0) for n, f in zip(x.shape, factors, strict=True)]
            out = np.zeros(shape, x.dtype)
            out[tuple([slice(None, None, f) for f in factors])] = x
            return out
        case _:
            return None


def _padded(x: Array, before: Sequence[Dim], after: Sequence[Dim], fill: object) -> Array | None:
    """An array with a border; negative amounts cut."""
    shape: list[int] = []
    inner: list[slice] = []
    outer: list[slice] = []
    for n, b, a in zip(x.shape, before, after, strict=True):
        if not isinstance(b, int) or not isinstance(a, int) or n + b + a < 0:
            return None
        shape.append(n + b + a)
        inner.append(slice(max(b, 0), max(n + b + min(a, 0), 0)))
        outer.append(slice(max(-b, 0), max(n + min(a, 0), 0)))
    out = np.full(shape, fill, x.dtype)
    out[tuple(inner)] = x[tuple(outer)]
    return out


@lru_cache(1 << 14)
def _affine_positions(e: Access) -> tuple[_Affine, ...] | None:
    """The positions of elements that are read; None when one is not affine."""
    found = [None if isinstance(p, Expr) else _affine(p) for p in e.at]
    known = [p for p in found if p is not None]
    return tuple(known) if len(known) == len(found) else None


def _affine(p: Dim) -> _Affine | None:
    """A position; None when it is not affine."""
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
