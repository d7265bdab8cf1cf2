"""Evaluation of small kernels: like `evaluation.py`, with reads as strided views where positions are affine.

No position is computed for the elements of a view: padding and dilation make a new array, everything else that index
notation says of affine positions is a choice of strides. What is read otherwise is left to direct evaluation.

A kernel that is evaluated again notes what is computed, in order, and is from then on the same calls of numpy on
other arrays of the same shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.notation import Access, Expr, Join, Kernel, name_of
from commonir.notation.expressions import Dilated, Flat, Padded, View
from commonir.runtime.evaluation import Applied, Factor, Scope, summed_products
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, Symbol, terms_of

Array = NDArray[Any]
Calculation = Callable[..., Array]

_Affine = tuple[int, tuple[tuple[str, int], ...]]
"""A position as a number and factors of indices."""

_FEW_PRODUCTS = 1 << 14
"""Products that are summed in one loop: finding a better order costs more."""


_NOTED_EVALUATION = 2
"""The evaluation that is noted: many kernels are evaluated only once."""

_FIXED_ELEMENTS = 1 << 14
"""Elements of positions and constants that notes may hold."""


_FOLDED_ELEMENTS = 64
"""Elements of what follows from positions and constants alone that notes hold instead of how it is computed."""


class SmallKernel:
    """A kernel whose extents are numbers, ready to be evaluated."""

    __slots__ = (
        "_body", "_dtype", "_evaluations", "_extents", "_full", "_is_empty", "_names", "_notes", "_order", "_ranges",
        "_shape",
    )  # fmt: skip

    def __init__(self, kernel: Kernel, extents: Mapping[str, int], names: Sequence[str]) -> None:
        axes = ["" if isinstance(a, int) else name_of(a) for a in kernel.axes]
        self._body = kernel.body
        self._names = names
        self._dtype = compute_dtype(kernel.dtype)
        self._extents = extents
        self._order = tuple([a for a in axes if a])
        self._ranges = {a: (0, extents[a]) for a in self._order}
        self._full = tuple([extents[a] for a in self._order])
        self._shape = tuple([extents[a] if a else 1 for a in axes])
        self._is_empty = 0 in self._shape
        self._notes: _Notes | None = None
        self._evaluations = 0

    @property
    def grid(self) -> int:
        """Elements of the grid of all indices: what is to be computed at most."""
        return prod(self._extents.values())

    def evaluate(self, operands: Sequence[Array]) -> Array:
        """The result for arrays of the operands; it may be a view of one of them.

        Raises: OutOfRange when a position that is read from data lies outside of its tensor.
        """
        if self._is_empty:
            return np.empty(self._shape, self._dtype)
        if self._notes is not None and self._notes.hold_for(operands):
            return self._notes.replayed(operands)
        self._evaluations += 1
        if self._evaluations != _NOTED_EVALUATION:
            arrays = dict(zip(self._names, operands, strict=True))
            return self._finished(StridedScope(self._order, self._ranges, self._extents, arrays, compute_dtype))
        notes = _Notes(operands)
        arrays = dict(zip(self._names, notes.given, strict=True))
        found = self._finished(_NotingScope(self._order, self._ranges, self._extents, arrays, compute_dtype, notes))
        notes.end(found)
        self._notes = notes if notes.fixed_elements <= _FIXED_ELEMENTS else None
        return found

    def _finished(self, scope: StridedScope) -> Array:
        found = scope.value(self._body)
        return scope.do(_Finishing(self._full, self._dtype, self._shape), found)


class _Finishing(NamedTuple):
    """A calculation: a value over the whole grid of a kernel, in the shape of the result."""

    full: tuple[int, ...]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def __call__(self, x: Array) -> Array:
        # numpy gives scalars where an array has no axes.
        found = np.asarray(x)
        if found.shape != self.full:
            found = np.array(np.broadcast_to(found, self.full))
        if found.dtype != self.dtype:
            found = found.astype(self.dtype)
        return found if self.full == self.shape else found.reshape(self.shape)


def _plain(function: Calculation, arrays: Sequence[Array], found: Array) -> Calculation:
    """The function of numpy alone, where nothing else has to be done to what it gives for arrays like these."""
    if isinstance(function, Applied) and isinstance(function.function, np.ufunc) and found.ndim:
        inner = function.function
        if np.asarray(inner(*arrays)).dtype == found.dtype:
            return inner
    return function


class _Step(NamedTuple):
    """A calculation on arrays in numbered places, whose result is put in another one."""

    function: Calculation
    places: tuple[int, ...]
    target: int


class _Notes:
    """What is computed of arrays, in order."""

    def __init__(self, operands: Sequence[Array]) -> None:
        # Views, because one array may be given for several operands, which are others the next time.
        self.given = [x.view() for x in operands]
        self._operands = [(x.shape, x.dtype) for x in operands]
        self._steps: list[_Step] = []
        # What is in each place: arrays that stay the same; nothing where there is an operand, or a result of a step.
        self._fixed: list[Array | None] = []
        self._result = -1
        # While notes are taken every array is held, so that none has the address of another one.
        self._held: list[Array] = []
        self._places: dict[int, int] = {}
        for x in self.given:
            self._place(x, None)

    def add(self, function: Calculation, arrays: Sequence[Array], found: Array) -> None:
        """Notes a calculation."""
        for x in arrays:
            if id(x) not in self._places:
                self._place(x, x)
        places = tuple([self._places[id(x)] for x in arrays])
        if all(self._fixed[n] is not None for n in places) and found.size <= _FOLDED_ELEMENTS:
            self._place(found, found)
        elif not (isinstance(function, _Finishing) and found is arrays[0]):
            self._steps.append(_Step(_plain(function, arrays, found), places, self._place(found, None)))

    def _place(self, x: Array, fixed: Array | None) -> int:
        place = self._places[id(x)] = len(self._fixed)
        self._held.append(x)
        self._fixed.append(fixed)
        return place

    def end(self, result: Array) -> None:
        """Ends the notes with what is to be given."""
        self._result = self._places[id(result)]
        self.given = []
        self._held.clear()
        self._places.clear()

    @property
    def fixed_elements(self) -> int:
        """Elements that are held from now on."""
        return sum([x.size for x in self._fixed if x is not None])

    def hold_for(self, operands: Sequence[Array]) -> bool:
        """Whether what was noted holds for other arrays: those of the same shapes and element types."""
        for x, (shape, dtype) in zip(operands, self._operands, strict=True):
            if x.shape != shape or x.dtype != dtype:
                return False
        return True

    def replayed(self, operands: Sequence[Array]) -> Array:
        """What the calculations give for other arrays."""
        at: list[Any] = self._fixed.copy()
        at[: len(operands)] = operands
        for function, places, target in self._steps:
            at[target] = function(*[at[n] for n in places])
        found: Array = at[self._result]
        return found


class StridedScope(Scope):
    """A scope in which affine reads are views."""

    def access(self, e: Access) -> Array:
        source = self.arrays[e.tensor.name]
        positions = _affine_positions(e)
        if positions is None or source.dtype.kind not in "biufc":
            return self.accessed(e)
        if not e.tensor.steps and self._is_whole(source, positions):
            return source
        seen = source
        for view, _ in e.tensor.steps:
            made = _viewing(view, seen.shape)
            if made is None:
                return self.accessed(e)
            seen = self.do(made, seen)
        made = self._strided(seen.shape, positions)
        return self.accessed(e) if made is None else self.do(made, seen)

    def accessed(self, e: Access) -> Array:
        """Elements that are no view."""
        return super().access(e)

    def _is_whole(self, source: Array, positions: Sequence[_Affine]) -> bool:
        """Whether positions are those of all elements of an array along the indices in scope."""
        if len(positions) != len(self.order):
            return False
        for (start, factors), name, size in zip(positions, self.order, source.shape, strict=True):
            if start or factors != ((name, 1),) or self.ranges[name] != (0, size):
                return False
        return True

    def _strided(self, sizes: tuple[int, ...], positions: Sequence[_Affine]) -> Calculation | None:
        """What takes the elements at affine positions of an array of some shape; None when one may lie outside."""
        offset = 0
        step = prod(sizes)
        strides: dict[str, int] = {}
        for (start, factors), size in zip(positions, sizes, strict=True):
            least = most = start
            step = step // size if size else 0
            for name, factor in factors:
                lo, hi = self.ranges[name]
                least += factor * (lo if factor > 0 else hi - 1)
                most += factor * (hi - 1 if factor > 0 else lo)
                start += factor * lo
                strides[name] = strides.get(name, 0) + factor * step
            if least < 0 or most >= size:
                return None
            offset += start * step
        shape: list[int] = []
        steps: list[int] = []
        for i in self.order:
            lo, hi = self.ranges[i]
            shape.append(hi - lo if i in strides else 1)
            steps.append(strides.get(i, 0))
        return partial(_elements, offset, shape, steps)

    def scope(
        self, order: tuple[str, ...], ranges: Mapping[str, tuple[int, int]], extents: Mapping[str, int]
    ) -> StridedScope:
        return StridedScope(order, ranges, extents, self.arrays, self.held)

    def sum_of_products(self, a: Factor, b: Factor, kept: Sequence[int]) -> Calculation:
        sizes = {**dict(zip(a.axes, a.array.shape, strict=True)), **dict(zip(b.axes, b.array.shape, strict=True))}
        is_small = prod(sizes.values()) <= _FEW_PRODUCTS
        return partial(summed_products, a.axes, b.axes, kept, not is_small)


class _NotingScope(StridedScope):
    """A scope that notes what is computed of operands."""

    def __init__(
        self,
        order: tuple[str, ...],
        ranges: Mapping[str, tuple[int, int]],
        extents: Mapping[str, int],
        arrays: Mapping[str, Array],
        held: Callable[[Any], np.dtype[Any]],
        notes: _Notes,
    ) -> None:
        super().__init__(order, ranges, extents, arrays, held)
        self._notes = notes

    def do(self, function: Calculation, *arrays: Array) -> Array:
        found = function(*arrays)
        self._notes.add(function, arrays, found)
        return found

    def accessed(self, e: Access) -> Array:
        """Elements at positions, as one calculation on these, which others may read at too."""
        order, ranges, extents, held, name = self.order, self.ranges, self.extents, self.held, e.tensor.name
        read = [p for p in e.at if isinstance(p, Expr)]

        def evaluated(source: Array, *positions: Array) -> Array:
            scope = StridedScope(order, ranges, extents, {name: source}, held)
            scope.values.update(zip(read, positions, strict=True))
            return scope.accessed(e)

        return self.do(evaluated, self.arrays[name], *[self.value(p) for p in read])

    def join(self, e: Join) -> Array:
        return self._as_a_whole(e)

    def _as_a_whole(self, e: Expr) -> Array:
        """An expression as one calculation on all operands, which may choose what to do by their elements."""
        order, ranges, extents, held, names = self.order, self.ranges, self.extents, self.held, tuple(self.arrays)

        def evaluated(*arrays: Array) -> Array:
            given = dict(zip(names, arrays, strict=True))
            return StridedScope(order, ranges, extents, given, held).value(e)

        return self.do(evaluated, *self.arrays.values())

    def scope(
        self, order: tuple[str, ...], ranges: Mapping[str, tuple[int, int]], extents: Mapping[str, int]
    ) -> StridedScope:
        return _NotingScope(order, ranges, extents, self.arrays, self.held, self._notes)


def _elements(offset: int, shape: list[int], steps: list[int], x: Array) -> Array:
    """Elements of an array by strides over its row-major order. Units: elements."""
    source = x if x.flags.c_contiguous else np.ascontiguousarray(x)
    size = source.itemsize
    return np.ndarray(shape, source.dtype, source, offset * size, [s * size for s in steps])


def _viewing(view: View, sizes: tuple[int, ...]) -> Calculation | None:
    """What gives an array of some shape through a view; None for a view that repeats elements."""
    match view:
        case Flat():
            return _flat
        case Padded(before=before, after=after, mode="constant", fill=fill):
            return _padding(sizes, before, after, fill)
        case Dilated(factors=factors):
            shape = [max((n - 1) * f + 1, 0) for n, f in zip(sizes, factors, strict=True)]
            return partial(_placed, shape, 0, tuple([slice(None, None, f) for f in factors]), ())
        case _:
            return None


def _flat(x: Array) -> Array:
    return x.reshape(-1)


def _padding(sizes: Sequence[int], before: Sequence[Dim], after: Sequence[Dim], fill: object) -> Calculation | None:
    """What puts a border around an array; negative amounts cut."""
    shape: list[int] = []
    inner: list[slice] = []
    outer: list[slice] = []
    for n, b, a in zip(sizes, before, after, strict=True):
        if not isinstance(b, int) or not isinstance(a, int) or n + b + a < 0:
            return None
        shape.append(n + b + a)
        inner.append(slice(max(b, 0), max(n + b + min(a, 0), 0)))
        outer.append(slice(max(-b, 0), max(n + min(a, 0), 0)))
    return partial(_placed, shape, fill, tuple(inner), tuple(outer))


def _placed(shape: Sequence[int], fill: object, inner: tuple[slice, ...], outer: tuple[slice, ...], x: Array) -> Array:
    """Some elements of an array in places of another one that is full of a number."""
    out = np.full(shape, fill, x.dtype)
    out[inner] = x[outer]
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
