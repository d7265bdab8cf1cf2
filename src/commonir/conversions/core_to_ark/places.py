"""Where tensors lie in buffers, as distances between elements, and as ARK says it: parts of row-major arrays.

A layout says for each axis how far apart neighbours are, 0 where one element stands for all of them. So slices,
transposed axes and repeated elements need no copy as long as nothing must state them. ARK states the extents of an
array in the buffer and a part of it, which is less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.passes.ark.steps import View

MOST_AXES = 4


class BufferLayout(NamedTuple):
    """A tensor in a buffer: its first element, its dims, and the distances between neighbours, all in elements."""

    start: int
    dims: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many elements the tensor has."""
        return prod(self.dims)

    @property
    def is_dense(self) -> bool:
        """Whether its elements follow each other without gaps, in row-major order."""
        return all(n == 1 or s == t for n, s, t in zip(self.dims, self.steps, dense_steps(self.dims), strict=True))

    def part(self, axis: int, start: int, count: int, step: int = 1) -> BufferLayout:
        """Every `step`-th of the elements along an axis."""
        dims, steps = list(self.dims), list(self.steps)
        dims[axis], steps[axis] = count, self.steps[axis] * step
        return BufferLayout(self.start + start * self.steps[axis], tuple(dims), tuple(steps))

    def permuted(self, axes: Sequence[int]) -> BufferLayout:
        """The axes in another order."""
        return BufferLayout(self.start, tuple([self.dims[a] for a in axes]), tuple([self.steps[a] for a in axes]))

    def spread(self, dims: Sequence[int]) -> BufferLayout:
        """Repeated to a shape by the rules of numpy."""
        missing = len(dims) - len(self.dims)
        steps = [0] * missing + [
            step if own == n else 0 for own, step, n in zip(self.dims, self.steps, dims[missing:], strict=True)
        ]
        return BufferLayout(self.start, tuple(dims), tuple(steps))

    def compact(self) -> BufferLayout:
        """Returns the layout without repetitions."""
        repeated = [n == 1 or step == 0 for n, step in zip(self.dims, self.steps, strict=True)]
        dims = tuple([1 if r else n for n, r in zip(self.dims, repeated, strict=True)])
        return BufferLayout(self.start, dims, tuple([0 if r else s for s, r in zip(self.steps, repeated, strict=True)]))

    def reshaped(self, dims: Sequence[int]) -> BufferLayout | None:
        """The same elements in row-major order under another shape; None where that needs a copy."""
        runs = [[n, step] for n, step in zip(self.dims, self.steps, strict=True) if n != 1]
        steps = [0] * len(dims)
        axis, at = 0, 0
        while at < len(runs):
            # As many new axes as make up as many elements as some of the old ones.
            last, old, new, end = at + 1, runs[at][0], 1, axis
            while new != old:
                if new < old:
                    if end == len(dims):
                        return None
                    new *= dims[end]
                    end += 1
                else:
                    if last == len(runs):
                        return None
                    old *= runs[last][0]
                    last += 1
            if any(runs[k][1] != runs[k + 1][0] * runs[k + 1][1] for k in range(at, last - 1)):
                return None
            step = runs[last - 1][1]
            for k in reversed(range(axis, end)):
                steps[k] = step
                step *= dims[k]
            axis, at = end, last
        return BufferLayout(self.start, tuple(dims), tuple(steps))


def dense_steps(dims: Sequence[int]) -> tuple[int, ...]:
    """Distances of neighbours where elements follow each other in row-major order."""
    return tuple([prod(dims[k + 1 :]) for k in range(len(dims))])


def dense(dims: Sequence[int]) -> BufferLayout:
    """All of a buffer, in row-major order."""
    return BufferLayout(0, tuple(dims), dense_steps(dims))


def view_of(layout: BufferLayout, count: int) -> View | None:
    """A layout in a buffer of some elements as ARK states it; None where it cannot.

    Neighbours along the last axis are next to each other, and the distance of each axis is a multiple of that of the
    next one.
    """
    dims, steps = (layout.dims, layout.steps) if layout.dims else ((1,), (1,))
    if len(dims) > MOST_AXES or (dims[-1] > 1 and steps[-1] != 1):
        return None
    extents = [1] * len(dims)
    inner, distance = len(dims) - 1, 1
    for axis in reversed(range(len(dims) - 1)):
        if dims[axis] > 1:
            if steps[axis] < 1 or steps[axis] % distance:
                return None
            extents[inner] = steps[axis] // distance
            inner, distance = axis, steps[axis]
    extents[inner] = count // distance
    offsets: list[int] = []
    left = layout.start
    for distance in dense_steps(extents):
        offsets.append(left // distance)
        left %= distance
    if any(start + n > extent for start, n, extent in zip(offsets, dims, extents, strict=True)):
        return None
    return View(dims, tuple(extents), tuple(offsets))


class Together(NamedTuple):
    """Tensors as operands of one operation: what ARK states of each, and how the result lies in a buffer of its own.

    `dims` are those of what is written.
    """

    views: tuple[View, ...]
    dims: tuple[int, ...]
    result: BufferLayout


_Axis = tuple[int, tuple[tuple[int, int], ...]]
"""An axis of what is computed: its size, and for each operand the size and the step along it."""


def together(
    dims: Sequence[int], layouts: Sequence[BufferLayout], counts: Sequence[int], *, is_whole: bool = False
) -> Together | None:
    """Operands that are repeated to a shape, in as few axes as ARK needs; None where it cannot state them so.

    Axes along which every operand repeats stay repeated in the result, unless it must be whole.
    """
    rows = [_aligned(layout, len(dims)) for layout in layouts]
    axes: list[_Axis] = [(n, tuple([row[k] for row in rows])) for k, n in enumerate(dims)]
    alive = [is_whole or any(dim > 1 for dim, _ in extents) for _, extents in axes]
    axes = [(n if is_alive else 1, extents) for (n, extents), is_alive in zip(axes, alive, strict=True)]
    ranks = [len(layout.dims) for layout in layouts]
    for order in _orders(axes):
        ordered = [axes[k] for k in order]
        for form in _forms(ordered, len(layouts)):
            views = _views(form, layouts, counts)
            if views is None:
                continue
            steps = [0] * len(dims)
            for k, step in zip(order, dense_steps([n for n, _ in ordered]), strict=True):
                steps[k] = step if alive[k] else 0
            shape = tuple([n for n, _ in form])
            shown = tuple([_shortened(v, max(rank, 1)) for v, rank in zip(views, ranks, strict=True)])
            is_natural = len(form) == len(dims) == max(ranks, default=0) and not is_whole
            return Together(shown if is_natural else views, shape, BufferLayout(0, tuple(dims), tuple(steps)))
    return None


def _aligned(layout: BufferLayout, rank: int) -> list[tuple[int, int]]:
    compact = layout.compact()
    return [(1, 0)] * (rank - len(compact.dims)) + list(zip(compact.dims, compact.steps, strict=True))


def _orders(axes: Sequence[_Axis]) -> Iterator[tuple[int, ...]]:
    """The order of axes, then those in which single operands lie in memory."""
    natural = tuple(range(len(axes)))
    yield natural
    seen = {natural}
    for n in range(len(axes[0][1]) if axes else 0):
        order = tuple(sorted(natural, key=lambda k: (-axes[k][1][n][1] if axes[k][1][n][0] > 1 else 0, k)))
        if order not in seen and all(axes[k][1][n][0] > 1 or axes[k][0] == 1 for k in natural):
            seen.add(order)
            yield order


def _forms(axes: Sequence[_Axis], operands: int) -> Iterator[list[_Axis]]:
    """The axes as they are, joined where all operands allow it, and with one more at the end."""
    one: _Axis = (1, ((1, 0),) * operands)
    plain = list(axes) or [one]
    if len(plain) <= MOST_AXES:
        yield plain
    joined: list[_Axis] = []
    for axis in plain:
        if axis[0] == 1:
            continue
        merged = _merged(joined[-1], axis) if joined else None
        if merged is None:
            joined.append(axis)
        else:
            joined[-1] = merged
    joined = joined or [one]
    if len(joined) <= MOST_AXES:
        yield joined
    if len(joined) < MOST_AXES:
        yield [*joined, one]


def _merged(outer: _Axis, inner: _Axis) -> _Axis | None:
    """Two neighbouring axes as one; None where an operand does not allow it."""
    values: list[tuple[int, int]] = []
    for (n, step), (m, next_step) in zip(outer[1], inner[1], strict=True):
        if n == 1 and m == 1:
            values.append((1, 0))
        elif n > 1 and m > 1 and step == m * next_step:
            values.append((n * m, next_step))
        else:
            return None
    return outer[0] * inner[0], tuple(values)


def _views(form: Sequence[_Axis], layouts: Sequence[BufferLayout], counts: Sequence[int]) -> tuple[View, ...] | None:
    out: list[View] = []
    for n, (layout, count) in enumerate(zip(layouts, counts, strict=True)):
        part = BufferLayout(layout.start, tuple([a[1][n][0] for a in form]), tuple([a[1][n][1] for a in form]))
        view = view_of(part, count)
        if view is None:
            return None
        out.append(view)
    return tuple(out)


def _shortened(view: View, rank: int) -> View:
    """A view without leading axes of size 1 that the tensor does not have."""
    surplus = len(view.shape) - rank
    cut = 0
    while cut < surplus and view.shape[cut] == 1 and view.strides[cut] == 1:
        cut += 1
    return View(view.shape[cut:], view.strides[cut:], view.offsets[cut:])
