"""Evaluates kernels directly: every expression as an array over the grid of the indices in scope.

It is simple rather than fast, because other engines are compared with it. Each index is an axis of the grid, in order:
the axes of the result, then those of the folds around an expression. An expression evaluates to an array that
broadcasts to its grid, of the dtype of its element type, so every operation rounds to that type. Large grids are split
along the axes of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import InternalError
from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType, bf16, f16
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Expr,
    Fold,
    Join,
    Kernel,
    Position,
    Tensor,
    Update,
    free,
    identity,
    index,
    name_of,
    piece_extents,
    resolve,
    walk,
)
from commonir.runtime.interpreter.array_functions import ARRAY_FUNCTIONS, FOLD_FUNCTIONS
from commonir.runtime.limits import OutOfRange, check_array
from commonir.runtime.values import declared_dtype
from commonir.symbolic import Dim, Floor, Max, Mod, Symbol, names, plain, terms_of

Array = NDArray[Any]

DtypeFor = Callable[[ElementType], np.dtype[Any]]
"""Returns the dtype for values of an element type."""

GRID_ELEMENTS = 1 << 22
"""A kernel with a larger grid is evaluated in pieces, with arrays of some tens of megabytes."""


def evaluate_kernel(
    kernel: Kernel, extents: Mapping[str, int], arrays: Mapping[str, Array], dtype_for: DtypeFor = declared_dtype
) -> Array:
    """Returns the result of a kernel for the arrays of its operands by name.

    Raises: OutOfRange when an index read from data is outside of the bounds of its tensor.
    """
    if isinstance(kernel.body, Update):
        return _updated(kernel, kernel.body, extents, arrays, dtype_for)
    axes = tuple("" if isinstance(a, int) else name_of(a) for a in kernel.axes)
    shape = tuple(extents[a] if a else 1 for a in axes)
    out = np.empty(shape, dtype_for(kernel.dtype))
    named = [(a, n) for a, n in zip(axes, shape, strict=True) if a]
    view = out.reshape([n for _, n in named])
    with np.errstate(all="ignore"):
        for ranges in _pieces(kernel.body, named, extents):
            grid = KernelGrid(tuple(ranges), ranges, extents, arrays, dtype_for)
            part = view[(*(slice(lo, hi) for lo, hi in ranges.values()), ...)]
            part[...] = grid.value(kernel.body)
    return out


def _updated(
    kernel: Kernel, update: Update, extents: Mapping[str, int], arrays: Mapping[str, Array], dtype_for: DtypeFor
) -> Array:
    """Returns the result of a kernel that updates elements."""
    out = evaluate_kernel(Kernel(kernel.axes, update.start), extents, arrays, dtype_for)
    ranges = {i: (0, extents[i]) for i in update.over}
    shape = [extents[i] for i in update.over]
    if 0 in shape:
        return out
    with np.errstate(all="ignore"):
        grid = KernelGrid(update.over, ranges, extents, arrays, dtype_for)
        updates = np.broadcast_to(grid.value(update.body), shape)
        result = Tensor("result", out.shape, kernel.dtype)
        # Axes that are updated along all of their length, in order, are slices.
        whole = 0
        for p, i, n in zip(reversed(update.at), reversed(update.over), reversed(out.shape), strict=False):
            if isinstance(p, Expr) or plain(p) != i or extents[i] != n or _uses(update.at[: -whole - 1], i):
                break
            whole += 1
        last = len(update.over) - whole
        moved = update.at[: len(update.at) - whole]
        at = [grid.checked(p, result, n) if isinstance(p, Expr) else grid.positions(p) for n, p in enumerate(moved)]
        where = tuple([np.broadcast_to(p.reshape(p.shape[:last]), shape[:last]) for p in at])
        if where:
            _apply_updates(out, where, updates, update.fn)
        else:
            # Each of several updates of the whole is an update of the only slice of one more axis.
            _apply_updates(out[None], (np.zeros(shape[:last], np.intp),), updates, update.fn)
    return out


def _uses(at: Sequence[Dim | Expr], name: str) -> bool:
    return any(name in (free(p) if isinstance(p, Expr) else names(p)) for p in at)


def _apply_updates(out: Array, where: tuple[Array, ...], updates: Array, fn: str | None) -> None:
    """Changes the elements, or slices, at some positions, in order of the updates."""
    if fn is None:
        out[where] = updates
        return
    function = ARRAY_FUNCTIONS[fn]
    if isinstance(function, np.ufunc):
        function.at(out, where, updates)
        return
    for n in np.ndindex(where[0].shape):
        place = tuple([w[n] for w in where])
        out[place] = function(out[place], updates[n])


def _pieces(
    body: Expr, axes: Sequence[tuple[str, int]], extents: Mapping[str, int]
) -> Iterator[dict[str, tuple[int, int]]]:
    """Yields ranges of the result's axes that cover it, each with a grid of at most `GRID_ELEMENTS` where possible."""
    full = {a: (0, n) for a, n in axes}
    if any(n == 0 for _, n in axes):
        return
    if prod(max(n, 1) for n in extents.values()) <= GRID_ELEMENTS:
        yield full
        return
    joined = {e.along for e in walk(body) if isinstance(e, Join)}
    largest = grid_size(body, dict(extents))
    pending = [full]
    while pending:
        ranges = pending.pop()
        elements = largest * prod(hi - lo for lo, hi in ranges.values()) // max(prod(n for _, n in axes), 1)
        cut = next((a for a, (lo, hi) in ranges.items() if hi - lo > 1 and a not in joined), None)
        if elements <= GRID_ELEMENTS or cut is None:
            yield ranges
            continue
        lo, hi = ranges[cut]
        middle = (lo + hi) // 2
        pending += [{**ranges, cut: (middle, hi)}, {**ranges, cut: (lo, middle)}]


def evaluation_bytes(kernel: Kernel, extents: Mapping[str, int]) -> int:
    """Returns the bytes of the result of a kernel, and of arrays that take more memory than one for a piece should."""
    axes = [name_of(a) for a in kernel.axes if not isinstance(a, int)]
    joined = {e.along for e in walk(kernel.body) if isinstance(e, Join)}
    cut = prod([extents[a] for a in axes if a not in joined])
    grid = grid_size(kernel.body, extents) // max(cut, 1)
    result = prod([extents[a] for a in axes])
    item_bytes = declared_dtype(kernel.dtype).itemsize
    return (result + (grid if grid > GRID_ELEMENTS else 0)) * item_bytes


def grid_size(body: Expr, extents: Mapping[str, int]) -> int:
    """Returns the number of elements of the largest array in the evaluation."""
    return max(prod(max(extents.get(i, 1), 1) for i in free(e)) for e in walk(body))


class Factor(NamedTuple):
    """An operand of a sum of products, and the positions of its axes in the grid."""

    array: Array
    axes: list[int]


class KernelGrid:
    """The grid over which a kernel is evaluated: indices in order, with their ranges. `values` caches expressions."""

    def __init__(
        self,
        order: tuple[str, ...],
        ranges: Mapping[str, tuple[int, int]],
        extents: Mapping[str, int],
        arrays: Mapping[str, Array],
        dtype_for: DtypeFor,
    ) -> None:
        self.dtype_for = dtype_for
        self.order = order
        self.ranges = ranges
        self.extents = extents
        self.arrays = arrays
        self.values: dict[Expr, Array] = {}

    def grid(
        self, order: tuple[str, ...], ranges: Mapping[str, tuple[int, int]], extents: Mapping[str, int]
    ) -> KernelGrid:
        """Returns a grid of other indices on the same operands."""
        return KernelGrid(order, ranges, extents, self.arrays, self.dtype_for)

    def value(self, e: Expr) -> Array:
        """Returns the values of an expression: an array with an axis for each index, full or of size 1."""
        result = self.values.get(e)
        if result is None:
            result = self.values[e] = self._computed(e)
        return result

    def _computed(self, e: Expr) -> Array:
        dtype = self.dtype_for(e.dtype)
        match e:
            case Const(value=v):
                return np.full((1,) * len(self.order), v, dtype)
            case Position(at=p):
                return self.positions(p).astype(dtype)
            case Access():
                return self.access(e)
            case Cast(body=body):
                operand = self.value(body)
                if rounds_to_half(body, e.dtype):
                    operand = _converted(dtype_of(e.dtype.name), operand)
                elif e.dtype.is_integer and operand.dtype is not dtype_of(body.dtype.name):
                    # The dtype is wider: it is rounded before it is converted to an integer.
                    operand = _converted(dtype_of(body.dtype.name), operand)
                return _converted(dtype, operand)
            case Apply(fn=fn, args=args):
                computed = ARRAY_FUNCTIONS[fn](*[self.value(a) for a in args])
                return np.asarray(computed).astype(dtype, copy=False)
            case Fold():
                return self.fold(e)
            case Join():
                return self.join(e)
            case _:
                raise InternalError(f"no evaluation of {type(e).__name__}")

    def index_values(self, name: str) -> Array:
        """Returns the values of an index along its axis of the grid."""
        lo, hi = self.ranges[name]
        check_array((hi - lo,), np.dtype(np.int64).itemsize)
        return np.arange(lo, hi).reshape([-1 if i == name else 1 for i in self.order])

    def positions(self, p: Dim, data: Mapping[str, Array] | None = None) -> Array:
        """Returns the values of an index expression; `data` has values of names that are not indices."""
        if isinstance(p, int):
            return np.full((1,) * len(self.order), p, np.int64)
        out: Array | int = 0
        for m, c in terms_of(p).items():
            term: Array | int = c
            for a in m:
                match a:
                    case Symbol():
                        factor = data[a.name] if data is not None and a.name in data else self.index_values(a.name)
                    case Floor():
                        factor = self.positions(a.num, data) // self.positions(a.den, data)
                    case Mod():
                        factor = self.positions(a.num, data) % self.positions(a.den, data)
                    case Max():
                        factor = self.positions(a.args[0], data)
                        for y in a.args[1:]:
                            factor = np.maximum(factor, self.positions(y, data))
                term = term * factor
            out = out + term
        return np.asarray(out)

    def access(self, e: Access) -> Array:
        """Returns the elements that an access reads, with the guards of its views."""
        source = self.arrays[e.tensor.name]
        if not e.tensor.steps and (direct := self.direct(source, e.at)) is not None:
            return direct
        data: dict[str, Array] = {}
        at: list[Dim] = []
        for n, p in enumerate(e.at):
            if isinstance(p, Expr):
                data[f"data {n}"] = self.checked(p, e.tensor, n)
                at.append(index(f"data {n}"))
            else:
                at.append(p)
        real, guards = resolve(e.tensor, at)
        positions = [self.positions(p, data) for p in real]
        shape = np.broadcast_shapes((1,) * len(self.order), *(w.shape for w in positions))
        if source.size == 0:
            out: Array = np.zeros(shape, source.dtype)
        else:
            # Elements at positions outside of the tensor are replaced below by the fill value of the failing guard.
            inside = tuple(np.clip(w, 0, n - 1) for w, n in zip(positions, source.shape, strict=True))
            out = np.asarray(source[inside]).reshape(shape)
        for g in reversed(guards):
            p, bound = self.positions(g.position, data), self.positions(g.bound, data)
            holds = (p >= 0) & (p < bound) if g.kind == "inside" else p % bound == 0
            out = np.where(holds, out, np.asarray(g.fill, source.dtype))
        return out

    def checked(self, p: Expr, tensor: Tensor, axis: int) -> Array:
        """Returns positions read from data, after checking that they are in range."""
        positions = self.value(p).astype(np.int64)
        size = tensor.shape[axis]
        assert isinstance(size, int)
        outside = positions[(positions < 0) | (positions >= size)]
        if outside.size:
            raise OutOfRange(f"position {outside.flat[0]} on axis {axis} of '{tensor.name}', which has size {size}")
        return positions

    def direct(self, source: Array, at: Sequence[Dim | Expr]) -> Array | None:
        """Returns a view if each position is a number or a different index; None otherwise."""
        used: list[str] = []
        cut: list[slice | int] = []
        for p in at:
            if isinstance(p, Expr):
                return None
            if isinstance(p, int):
                cut.append(p)
                continue
            name = plain(p)
            if name is None or name in used:
                return None
            used.append(name)
            cut.append(slice(*self.ranges[name]))
        # With an ellipsis it is a view even if all positions are numbers.
        view = source[(*cut, ...)].transpose(sorted(range(len(used)), key=lambda d: self.order.index(used[d])))
        dims = iter(view.shape)
        return view.reshape([next(dims) if i in used else 1 for i in self.order])

    def fold(self, e: Fold) -> Array:
        """Returns the values of a fold, reduced over a grid with the folded indices as last axes."""
        ranges = {**self.ranges, **{i: (0, self.extents[i]) for i in e.over}}
        outer = tuple(i for i in self.order if i not in e.over)
        inner = self.grid((*outer, *e.over), ranges, self.extents)
        dtype = self.dtype_for(e.dtype)
        match e:
            case Fold(fn="add", body=Apply(fn="multiply", args=(x, y))) if dtype.kind in "fc":
                out = inner.inner_product(x, y, len(outer))
            case _:
                out = inner.reduced(e, len(outer))
        return out.astype(dtype, copy=False).reshape(self._folded_shape(e.over, out.shape, outer))

    def _folded_shape(self, over: Sequence[str], shape: tuple[int, ...], outer: tuple[str, ...]) -> list[int]:
        """Returns the shape of a folded array in this grid, where folded indices have size 1."""
        dims = dict(zip(outer, shape, strict=True))
        return [1 if i in over else dims[i] for i in self.order]

    def reduced(self, e: Fold, outer_ndim: int) -> Array:
        """Returns the body of a fold, reduced over all but the first axes."""
        body = self.value(e.body)
        shape = (*body.shape[:outer_ndim], *[self.extents[i] for i in e.over])
        start = np.asarray(identity(e.fn, e.dtype), body.dtype)
        return _reduced(FOLD_FUNCTIONS[e.fn], shape, tuple(range(outer_ndim, len(shape))), start, body)

    def inner_product(self, x: Expr, y: Expr, outer_ndim: int) -> Array:
        """Returns a sum of products without an array of all products. The order of the sum is that of numpy."""
        a, b = self._factor(x), self._factor(y)
        axes = {*a.axes, *b.axes}
        present = [d for d in range(outer_ndim) if d in axes]
        out = self.sum_of_products(a, b, present)
        dims = iter(out.shape)
        shape = [next(dims) if d in axes else 1 for d in range(outer_ndim)]
        times = [self.extents[self.order[d]] for d in range(outer_ndim, len(self.order)) if d not in axes]
        return _multiplied(times, shape, out)

    def sum_of_products(self, a: Factor, b: Factor, axes: Sequence[int]) -> Array:
        """Returns the products of the elements of two arrays, summed over all axes but `axes`."""
        return summed_products(a, b, axes, in_best_order=True)

    def _factor(self, e: Expr) -> Factor:
        """Returns the values of an expression without the axes along which it is constant."""
        array = self.value(e)
        used = set(free(e))
        axes = [d for d, i in enumerate(self.order) if i in used]
        shape = [array.shape[d] for d in axes]
        return Factor(array.reshape(shape), axes)

    def join(self, e: Join) -> Array:
        """Returns the concatenated pieces, restricted to the range of the index."""
        extents = {i: n for i, n in self.extents.items() if i != e.along}
        parts: list[Array] = []
        lo, hi = self.ranges[e.along]
        offset = 0
        axis = self.order.index(e.along)
        for piece, size in zip(e.pieces, piece_extents(e, extents), strict=True):
            assert isinstance(size, int)
            first, last = max(lo - offset, 0), min(hi - offset, size)
            offset += size
            if first >= last:
                continue
            narrowed = {**self.ranges, e.along: (first, last)}
            grid = self.grid(self.order, narrowed, {**self.extents, e.along: size})
            part = grid.value(piece)
            parts.append(np.broadcast_to(part, [last - first if d == axis else n for d, n in enumerate(part.shape)]))
        if not parts:
            return np.zeros([0 if d == axis else 1 for d in range(len(self.order))], self.dtype_for(e.dtype))
        shape = np.broadcast_shapes(*([n if d != axis else 1 for d, n in enumerate(p.shape)] for p in parts))
        return np.concatenate(
            [np.broadcast_to(p, [*shape[:axis], p.shape[axis], *shape[axis + 1 :]]) for p in parts], axis
        )


def rounds_to_half(body: Expr, to: ElementType) -> bool:
    """Returns whether a cast rounds to half precision, or to fewer bits.

    Only casts of elements that are read do: values just computed in a wider dtype keep it. Integers of a byte are exact
    in half precision.
    """
    source = body.dtype
    is_narrow = to in (f16, bf16) or (to.kind == "float" and to.bits < 16)
    return isinstance(body, Access) and is_narrow and source is not to and (source.bits > 8 or to.bits < 16)


def may_exceed_bits(kernel: Kernel) -> bool:
    """Returns whether a kernel computes integers of less than a byte, which need not have the bits of their type when
    bytes hold them.
    """
    is_narrow = kernel.dtype.is_integer and kernel.dtype.bits < 8
    return is_narrow and any(isinstance(e, Apply | Fold | Cast | Update) for e in walk(kernel.body))


def _converted(dtype: np.dtype[Any], x: Array) -> Array:
    """Returns an array cast to a dtype, to bools by comparison with zero."""
    if dtype.kind == "b":
        return x != np.zeros((), x.dtype)
    return x.astype(dtype)


def _reduced(function: np.ufunc, shape: tuple[int, ...], axes: tuple[int, ...], start: Array, x: Array) -> Array:
    full = x if x.shape == shape else np.broadcast_to(x, shape)
    return np.asarray(function.reduce(full, axis=axes, dtype=x.dtype, initial=start))


def summed_products(a: Factor, b: Factor, axes: Sequence[int], *, in_best_order: bool) -> Array:
    """Returns the products of the elements of two arrays, summed over all axes but `axes`."""
    return np.asarray(np.einsum(a.array, a.axes, b.array, b.axes, axes, optimize=in_best_order))


def _multiplied(times: Sequence[int], shape: Sequence[int], x: Array) -> Array:
    """Returns a sum multiplied by the sizes of axes along which it is constant, in a shape."""
    for n in times:
        x = x * np.asarray(n, x.dtype)
    return x.reshape(shape)
