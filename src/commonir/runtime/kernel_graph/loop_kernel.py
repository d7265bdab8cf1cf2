"""Kernels prepared for loops: addresses in place of positions, few axes, and the index that vectors run along.

A read is one linear address in the algebra of dimensions, so sizes may be symbols. Axes of size 1 go, adjacent axes
that every address steps through as through one are merged, and axes are in the order of the result's strides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping, Sequence
from itertools import count

from commonir.base.tuples import NamedTuple
from commonir.notation import (
    Access,
    Dilated,
    Expr,
    Flat,
    Fold,
    Guard,
    Join,
    Kernel,
    Padded,
    Position,
    Tensor,
    Visit,
    free,
    mapped,
    names_of_axes,
    piece_extents,
    put,
    resolve,
    walk,
    with_children,
)
from commonir.notation.digits import digits_of, with_digits
from commonir.runtime.kernel_graph.layouts import MemoryLayout, layout_of
from commonir.symbolic import Dim, at_least, extreme, index, linear_in, names, within

Layouts = Mapping[str, MemoryLayout]


SHORT_DIGIT = 16
"""The last digit of an axis that loops have vectors along has at least so many values."""


class DataPosition(NamedTuple):
    """A position that is read from data: the name that stands for it in an address, and the size of its axis."""

    name: str
    value: Expr
    axis: int
    size: Dim


class Read(NamedTuple):
    """The address that an access reads, in elements, and the guards under which it does."""

    address: Dim
    guards: tuple[Guard, ...]
    data: tuple[DataPosition, ...]


def read_of(e: Access, layouts: Layouts, extents: Mapping[str, Dim]) -> Read:
    """Returns the address of an access. Names of data positions are the same for equal accesses, and no others."""
    tensor, data = e.tensor, list[DataPosition]()
    at: list[Dim] = []
    for axis, p in enumerate(e.at):
        if isinstance(p, Expr):
            data.append(DataPosition(f"data{_digest((e, axis))}", p, axis, tensor.shape[axis]))
            at.append(index(data[-1].name))
        else:
            at.append(p)
    layout = layouts.get(tensor.name) or layout_of(tensor.source.shape)
    if tensor.steps and isinstance(tensor.steps[0][0], Flat) and layout.is_row_major:
        # Of a contiguous tensor the flat position is the address.
        flat = tensor.steps[1][1] if len(tensor.steps) > 1 else tensor.shape
        layout = layout_of(flat)
        tensor = Tensor(tensor.name, tensor.shape, tensor.dtype, tensor.steps[1:])
    where, guards = resolve(tensor, at)
    strides = layout.strides
    guards = tuple([g for g in guards if g.kind != "divides" or g.position % g.bound != 0])
    address: Dim = 0
    for p, step in zip(where, strides, strict=True):
        address = address + (within(p, extents) if all(i in extents for i in names(p)) else p) * step
    if layout.has_border:
        stretches = _stretches(tensor)
        guards = tuple([g for g in guards if not _is_in_border(g, where, stretches, layout, extents)])
    guards = tuple([g for g in guards if not _always_holds(g, extents)])
    return Read(address, guards, tuple(data))


def _digest(value: object) -> str:
    """Returns a short text that only equal accesses have: the same in every process, unlike the place in memory."""
    known: dict[Expr, str] = {}

    def text_of(value: object) -> str:
        match value:
            case Expr():
                if value not in known:
                    known[value] = _hashed(f"{value.dtype}{text_of_parts(value)}")
                return known[value]
            case Tensor() | Padded() | Dilated() | Flat():
                return text_of_parts(value)
            case tuple():
                items: tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType]  of anything
                return f"({','.join([text_of(x) for x in items])})"
            case _:
                return repr(value)

    def text_of_parts(value: object) -> str:
        parts = [getattr(value, name) for name in getattr(type(value), "__match_args__", ())]
        return f"{type(value).__name__}{text_of(tuple(parts))}"

    return _hashed(text_of(value))


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _always_holds(g: Guard, extents: Mapping[str, Dim]) -> bool:
    """Returns whether positions are inside for all values of the indices."""
    if g.kind != "inside" or any(i not in extents for i in names(g.position)):
        return False
    low, high = extreme(g.position, extents, upper=False), extreme(g.position, extents, upper=True)
    return at_least(low, 0) and at_least(g.bound - 1, high)


def _is_in_border(
    g: Guard, where: Sequence[Dim], stretches: Sequence[int], layout: MemoryLayout, extents: Mapping[str, Dim]
) -> bool:
    """Returns whether all positions that a guard excludes lie in a border, whose zeros are its fill value.

    A guard of a stretched tensor is about multiples of the position in the border.
    """
    if g.kind != "inside" or g.fill != 0 or any(i not in extents for i in names(g.position)):
        return False
    low, high = extreme(g.position, extents, upper=False), extreme(g.position, extents, upper=True)
    for p, stretch, (before, after) in zip(where, stretches, layout.border, strict=True):
        if g.position == p * stretch:
            return at_least(low, -before * stretch) and at_least(g.bound + after * stretch - 1, high)
    return False


def _stretches(tensor: Tensor) -> tuple[int, ...]:
    """Returns how far apart the elements of each axis are in the first view of a tensor."""
    if tensor.steps and isinstance(tensor.steps[0][0], Dilated):
        return tensor.steps[0][0].factors
    return (1,) * len(tensor.source.shape)


class LoopKernel(NamedTuple):
    """`out[sum of axis * step, + offset] = body` for all values of the axes, largest step first."""

    axes: tuple[str, ...]
    steps: tuple[Dim, ...]
    offset: Dim
    body: Expr
    extents: Mapping[str, Dim]

    @property
    def address(self) -> Dim:
        """The address of an element of the result."""
        out = self.offset
        for a, step in zip(self.axes, self.steps, strict=True):
            out = out + index(a) * step
        return out

    @property
    def has_data_positions(self) -> bool:
        """Whether a position is read from data."""
        return any(isinstance(p, Expr) for a in self.accesses() for p in a.at)

    def folds(self) -> list[Fold]:
        """Returns the folds in the body."""
        return [e for e in walk(self.body) if isinstance(e, Fold)]

    def accesses(self) -> list[Access]:
        """Returns the reads in the body."""
        return [e for e in walk(self.body) if isinstance(e, Access)]


def loop_kernels(kernel: Kernel, extents: Mapping[str, Dim], layout: MemoryLayout | None = None) -> list[LoopKernel]:
    """Returns the loops of a kernel: one for each piece of a join at its root."""
    axes, all_extents = names_of_axes(kernel, extents)
    memory = layout or layout_of([all_extents[a] for a in axes])
    in_order, steps = [axes[n] for n in memory.order], [memory.strides[n] for n in memory.order]
    body = with_distinct_folds(kernel.body, all_extents)
    return _pieces(LoopKernel(tuple(in_order), tuple(steps), 0, body, all_extents))


def _pieces(kernel: LoopKernel) -> list[LoopKernel]:
    """Returns loops without a join at the root."""
    root = kernel.body
    if not isinstance(root, Join) or root.along not in kernel.axes:
        return [kernel]
    step = kernel.steps[kernel.axes.index(root.along)]
    others = {i: n for i, n in kernel.extents.items() if i != root.along}
    out: list[LoopKernel] = []
    start: Dim = 0
    for piece, extent in zip(root.pieces, piece_extents(root, others), strict=True):
        extents = {**kernel.extents, root.along: extent}
        out += _pieces(LoopKernel(kernel.axes, kernel.steps, kernel.offset + start * step, piece, extents))
        start = start + extent
    return out


def with_distinct_folds(body: Expr, extents: dict[str, Dim]) -> Expr:
    """Returns the expression without folds over an index that is also free somewhere, whose ranges would be mixed up.

    New names are added to the extents.
    """
    used = set(free(body))
    numbers = count()

    def distinct(e: Expr, visit: Visit) -> Expr:
        if isinstance(e, Fold):
            clash = [i for i in e.over if i in used]
            if clash:
                fresh = {i: _unused(f"{i}'{next(numbers)}", extents) for i in clash}
                extents.update({new: extents[old] for old, new in fresh.items()})
                moved: dict[str, Dim] = {old: index(new) for old, new in fresh.items()}
                inner = put(e.body, moved)
                return Fold(e.fn, tuple([fresh.get(i, i) for i in e.over]), visit(inner))
        return with_children(e, visit)

    return mapped(body, distinct)


def _unused(name: str, extents: Mapping[str, Dim]) -> str:
    while name in extents:
        name += "'"
    return name


def simplified(kernel: LoopKernel, layouts: Layouts, shortest: int = SHORT_DIGIT) -> LoopKernel:
    """Returns the kernel with fewer axes, in the order of their steps in the result.

    The axis that vectors run along is not split into digits of which the last one is shorter than `shortest`.
    """
    joined = {e.along for e in walk(kernel.body) if isinstance(e, Join)}
    kernel = _split(kernel, layouts, joined, shortest)
    ones: dict[str, Dim] = {i: 0 for i, n in kernel.extents.items() if n == 1 and i not in joined}
    body = put(_without_folds_over(kernel.body, ones), ones)
    kept = [(a, s) for a, s in zip(kernel.axes, kernel.steps, strict=True) if a not in ones]
    if all(isinstance(s, int) for _, s in kept):
        kept.sort(key=lambda pair: pair[1] if isinstance(pair[1], int) else 0, reverse=True)
    axes, steps = tuple([a for a, _ in kept]), tuple([s for _, s in kept])
    extents = {i: n for i, n in kernel.extents.items() if i not in ones}
    return _merged(LoopKernel(axes, steps, kernel.offset, body, extents), layouts)


def _split(kernel: LoopKernel, layouts: Layouts, joined: Container[str], shortest: int) -> LoopKernel:
    """Returns the kernel with indices under floor and mod split into digits, so that addresses are linear."""
    if any(isinstance(e, Position) for e in walk(kernel.body)) or kernel.has_data_positions:
        return kernel
    addresses = [read_of(a, layouts, kernel.extents).address for a in kernel.accesses()]
    digits = {i: d for i, d in digits_of(addresses, kernel.extents).items() if i not in joined}
    # In loops, short vectors of neighbours are worse than vectors of elements from here and there.
    last = [a for a, step in zip(kernel.axes, kernel.steps, strict=True) if step == 1]
    digits = {i: d for i, d in digits.items() if not (i in last and _is_below(d[-1][1], shortest))}
    if not digits:
        return kernel
    extents = dict(kernel.extents)
    for i, of_index in digits.items():
        del extents[i]
        extents.update({name: extent for name, extent, _ in of_index})
    axes: list[tuple[str, Dim]] = []
    for a, step in zip(kernel.axes, kernel.steps, strict=True):
        axes += [(name, step * size) for name, _, size in digits[a]] if a in digits else [(a, step)]
    names_, steps = tuple([a for a, _ in axes]), tuple([s for _, s in axes])
    return LoopKernel(names_, steps, kernel.offset, with_digits(kernel.body, digits, extents), extents)


def _is_below(extent: Dim, shortest: int) -> bool:
    return isinstance(extent, int) and extent < shortest


def _without_folds_over(e: Expr, ones: Mapping[str, Dim]) -> Expr:
    """Returns the expression with folds over indices of one value replaced by their body."""

    def without(x: Expr, visit: Visit) -> Expr:
        result = with_children(x, visit)
        if isinstance(result, Fold) and any(i in ones for i in result.over):
            over = tuple([i for i in result.over if i not in ones])
            return Fold(result.fn, over, result.body) if over else result.body
        return result

    return mapped(e, without)


def _merged(kernel: LoopKernel, layouts: Layouts) -> LoopKernel:
    """Returns the kernel with neighbouring axes merged where every address steps through both as through one."""
    if any(isinstance(e, Position | Join) for e in walk(kernel.body)):
        return kernel
    if kernel.has_data_positions:
        return kernel
    for at in range(len(kernel.axes) - 2, -1, -1):
        outer, inner = kernel.axes[at : at + 2]
        if kernel.steps[at] == kernel.steps[at + 1] * kernel.extents[inner]:
            merged = _with_merged(kernel, at)
            if all(_steps_through(a, kernel, merged.extents, (outer, inner), layouts) for a in kernel.accesses()):
                kernel = merged
    return kernel


def _steps_through(
    access: Access, kernel: LoopKernel, merged: Mapping[str, Dim], axes: tuple[str, str], layouts: Layouts
) -> bool:
    """Returns whether an address moves by the outer axis as by as many steps of the inner one as that has.

    The address must be linear over the merged range too: over its own, a position such as `i mod 2` is.
    """
    outer, inner = axes
    read = read_of(access, layouts, kernel.extents)
    over_both = read_of(access, layouts, {**merged, outer: kernel.extents[outer]})
    if any(i in names(g.position) for g in (*read.guards, *over_both.guards) for i in axes):
        return False
    a, b = linear_in(read.address, outer)[0], linear_in(over_both.address, inner)[0]
    return a is not None and b is not None and a == b * kernel.extents[inner]


def _with_merged(kernel: LoopKernel, at: int) -> LoopKernel:
    """Returns the kernel with an axis merged into the next, which then ranges over both.

    Addresses are linear in both, so the inner one reaches every element with the outer one at 0.
    """
    outer, inner = kernel.axes[at : at + 2]
    extents = {i: n for i, n in kernel.extents.items() if i != outer}
    extents[inner] = kernel.extents[outer] * kernel.extents[inner]
    return LoopKernel(
        kernel.axes[:at] + kernel.axes[at + 1 :],
        kernel.steps[:at] + kernel.steps[at + 1 :],
        kernel.offset,
        put(kernel.body, {outer: 0}),
        extents,
    )


SHORT = 4
"""Axes of fewer elements carry no vectors."""


def vector_axis(kernel: LoopKernel, layouts: Layouts) -> str | None:
    """Returns the axis of the result that vectors run along.

    It is the last one, unless a read strides along it while a fold inside reads plainly: then the fold has vectors.
    """
    if not kernel.axes or kernel.steps[-1] != 1:
        return None
    last = kernel.axes[-1]
    extent = kernel.extents[last]
    if isinstance(extent, int) and extent < SHORT:
        return None
    strided = [
        a for a in kernel.accesses() if linear_in(read_of(a, layouts, kernel.extents).address, last)[0] not in (0, 1)
    ]
    inner = [e for e in kernel.folds() if last in free(e)]
    if strided and any(vector_index_of(e, layouts, kernel.extents) for e in inner):
        return None
    return last


def vector_index_of(e: Fold, layouts: Layouts, extents: Mapping[str, Dim]) -> str | None:
    """Returns the folded index along which all reads are contiguous or constant; None if there is none."""
    reads = [read_of(a, layouts, extents) for a in walk(e.body) if isinstance(a, Access)]
    for k in reversed(e.over):
        extent = extents[k]
        if isinstance(extent, int) and extent < 2 * SHORT:
            continue
        factors = [linear_in(r.address, k)[0] for r in reads]
        if 1 in factors and all(f in (0, 1) for f in factors):
            return k
    return None
