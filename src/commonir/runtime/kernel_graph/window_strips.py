"""Products with constants, and what reads them through windows, computed in strips that stay in the cache.

Of an expansion of channels and a depthwise convolution of them, or of a convolution and a pool, the value between the
two is often the largest of the program. Where the second node reads the first one at its own channels, both are
computed for some channels and some rows at a time. The rows that two strips share are computed twice, so strips have as
many rows as fit. Nothing here knows convolutions: axes and windows are found in the positions of reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.ir.types import f32
from commonir.notation import Access, Expr, Kernel, Padded, Tensor, free, put, replace_accesses, resolve
from commonir.runtime.kernel_graph.contraction import contraction_of
from commonir.runtime.kernel_graph.graph import (
    InnerPart,
    KernelGraph,
    KernelNode,
    StripAxis,
    Strips,
    TensorSpec,
    known_count,
)
from commonir.runtime.kernel_graph.layouts import MemoryLayout
from commonir.runtime.kernel_graph.loop_kernel import read_of
from commonir.runtime.kernel_graph.strips import even_part, outer_symbol
from commonir.symbolic import Dim, extreme, index, largest, linear_in, names, plain, substitute_indices, symbol

LARGE_BYTES = 1 << 17
"""Bytes of a value between two nodes from which on strips pay."""

STRIP_BYTES = 400 << 10
"""Bytes of a strip, which stay in the second-level cache beside what the first node reads."""

MOST_VECTORS = 3
"""Vectors of channels in a strip: those of the best tiles."""

MOST_REPEATED = 1.25
"""How often rows may be computed."""


ODD_STRIPS = 1.03
"""How much longer an odd number of strips takes, which two threads cannot share equally."""

MANY_ROWS = 1 << 31
"""More rows than a tensor has."""

ROW, CHANNEL = "strip row", "strip channel"
"""The symbols of the first row and channel of the result in a strip."""

READ_ROW, SHIFT = "strip read row", "strip shift"
"""The symbols of the first row that is computed for a strip, and of what rows are moved by in it."""


class _Window(NamedTuple):
    """How the second node reads an axis of the first one: positions are `step` times its own axis plus `low` to `high`.

    `axis` is "" where no axis of the second node moves the window.
    """

    axis: str
    step: int
    low: int
    high: int

    @property
    def is_own(self) -> bool:
        """Whether the position is that on the axis."""
        return (self.step, self.low, self.high) == (1, 0, 0)


class _Pair(NamedTuple):
    """A product with a constant, the only node that reads it, its windows for each axis, and what lies around it."""

    first: KernelNode
    second: KernelNode
    windows: tuple[_Window, ...]
    fill: float


def use_window_strips(graph: KernelGraph, layouts: Mapping[str, MemoryLayout], lanes: int) -> None:
    """Computes pairs of nodes in strips of channels that are a multiple of some lanes."""
    for second in list(graph.nodes.values()):
        pair = _pair_of(graph, layouts, second) if second.name in graph.nodes else None
        if pair is not None and layouts[second.name].has_known_steps:
            strips = _strips_of(graph, layouts, pair, lanes)
            if strips is not None:
                graph.replace_by_strips(second, strips)


def _pair_of(graph: KernelGraph, layouts: Mapping[str, MemoryLayout], second: KernelNode) -> _Pair | None:
    if second.strips is not None or second.has_joins or not second.has_folds:
        return None
    for name in second.reads:
        first = graph.nodes.get(name)
        if first is None or graph.users(name) != [second.name] or name in graph.outputs or first.strips is not None:
            continue
        if not _is_large(first) or not _multiplies_constants(graph, first):
            continue
        reads = [a for a in second.accesses if a.tensor.name == name]
        fills = {view.fill for a in reads for view, _ in a.tensor.steps if isinstance(view, Padded)}
        fill = next(iter(fills), 0.0)
        windows = _windows(reads, second)
        if windows is None or len(fills) > 1 or not isinstance(fill, int | float):
            continue
        if all(w.is_own or not w.axis for w in windows):
            # Products with what follows them are better for all channels of some rows at a time.
            continue
        if all(_is_plain(a, layouts, first) for a in first.accesses):
            return _Pair(first, second, windows, float(fill))
    return None


def _is_large(node: KernelNode) -> bool:
    return node.spec.element is f32 and known_count(node.spec.shape) * f32.bits // 8 >= LARGE_BYTES


def _multiplies_constants(graph: KernelGraph, node: KernelNode) -> bool:
    """Returns whether a node is a product with a constant that is stored in single precision."""
    found = contraction_of(node, graph.constants)
    if found is None:
        return False
    over = [i for i in found.fold.over if node.extents[i] != 1]
    if any(_overlaps(p, over) for a in (found.left, found.right) for p in a.at if not isinstance(p, Expr)):
        # Windows at each position have faster schedules that want all channels.
        return False
    is_constant = [a.tensor.name in graph.constants for a in (found.left, found.right)]
    return is_constant.count(True) == 1 and all(
        graph.constants[a.tensor.name].dtype == "float32" for a in node.accesses if a.tensor.name in graph.constants
    )


def _overlaps(position: Dim, over: Sequence[str]) -> bool:
    """Returns whether a position is that of a window that moves by as much as from one of its elements to the next."""
    steps = [linear_in(position, i)[0] for i in names(position) if i in over]
    return any(linear_in(position, i)[0] in steps for i in names(position) if i not in over)


def _is_plain(a: Access, layouts: Mapping[str, MemoryLayout], node: KernelNode) -> bool:
    """Returns whether a read has a position on each axis of its tensor, or of the border around it."""
    if any(isinstance(p, Expr) for p in a.at) or not all(isinstance(view, Padded) for view, _ in a.tensor.steps):
        return False
    return not a.tensor.steps or not read_of(a, layouts, node.extents).guards


def _windows(reads: Iterable[Access], second: KernelNode) -> tuple[_Window, ...] | None:
    """Returns how reads of one tensor use each of its axes; None if they are not windows that move together."""
    out: list[list[_Window]] = []
    for a in reads:
        views = [view for view, _ in a.tensor.steps]
        if any(isinstance(p, Expr) for p in a.at) or len(views) > 1:
            return None
        if any(not isinstance(view, Padded) or view.mode != "constant" for view in views):
            return None
        where, _ = resolve(a.tensor, [p for p in a.at if not isinstance(p, Expr)])
        of_read = [_window(p, second) for p in where]
        windows = [w for w in of_read if w is not None]
        if len(windows) < len(of_read):
            return None
        out.append(windows)
    joined = [_joined(of_axis) for of_axis in zip(*out, strict=True)]
    windows = [w for w in joined if w is not None]
    return tuple(windows) if len(windows) == len(joined) else None


def _window(position: Dim, second: KernelNode) -> _Window | None:
    """Returns the window of a position; None if it is not one."""
    axes = [a for a in map(plain, second.kernel.axes) if a is not None and a in names(position)]
    if len(axes) > 1:
        return None
    axis = axes[0] if axes else ""
    step, rest = linear_in(position, axis) if axis else (0, position)
    low, high = extreme(rest, second.extents, upper=False), extreme(rest, second.extents, upper=True)
    if not isinstance(step, int) or step < 0 or not isinstance(low, int) or not isinstance(high, int):
        return None
    return _Window(axis, step, low, high)


def _joined(windows: tuple[_Window, ...]) -> _Window | None:
    """Returns the window that contains several; None if they do not move together."""
    first = windows[0]
    if any((w.axis, w.step) != (first.axis, first.step) for w in windows):
        return None
    return first._replace(low=min(w.low for w in windows), high=max(w.high for w in windows))


class _Axes(NamedTuple):
    """The axes of the first node that strips are parts of: channels, rows, and those of which a strip has one."""

    channel: int
    row: int
    single: tuple[int, ...]


class _Size(NamedTuple):
    """How many channels and rows of the result a strip has, and how many rows of the first node it reads."""

    channels: int
    rows: int
    read_rows: int


def _strips_of(graph: KernelGraph, layouts: Mapping[str, MemoryLayout], pair: _Pair, lanes: int) -> Strips | None:
    axes = _axes_of(graph, layouts, pair)
    size = _best_size(pair, axes, lanes) if axes is not None else None
    if axes is None or size is None:
        return None
    first, second, window = pair.first, pair.second, pair.windows[axes.row]
    own = [plain(a) for a in second.kernel.axes]

    def part_of(axis: int, size: int, start: str) -> StripAxis:
        n = own.index(pair.windows[axis].axis)
        return StripAxis(n, second.spec.shape[n], size, start)

    single = [part_of(n, 1, outer_symbol(n)) for n in axes.single]
    rows, channels = part_of(axes.row, size.rows, ROW), part_of(axes.channel, size.channels, CHANNEL)
    # The first row that is read, where all that are computed are inside, and where windows are from there.
    start, last = symbol(ROW, 0) * window.step + window.low, _extent(first, axes.row) - size.read_rows
    inside = last - largest(last - largest(start, 0), 0)
    positions = ((READ_ROW, inside), (SHIFT, symbol(ROW, 0) * window.step - symbol(READ_ROW, 0)))
    of_first = _first_part(first, axes, size)
    of_second = _second_part(pair, of_first, [*single, rows, channels], axes.row)
    inner = InnerPart(layouts[first.name].order, tuple(_borders(pair)), pair.fill)
    return Strips((*single, rows, channels), (of_first, of_second), (inner,), tuple(range(len(own))), positions)


def _extent(node: KernelNode, axis: int) -> int:
    extent = node.spec.shape[axis]
    assert isinstance(extent, int)
    return extent


def _axes_of(graph: KernelGraph, layouts: Mapping[str, MemoryLayout], pair: _Pair) -> _Axes | None:
    """Returns the axes of strips; None if the channels of the product are not those of its reader."""
    first, second, windows = pair.first, pair.second, pair.windows
    found = contraction_of(first, graph.constants)
    assert found is not None
    left = found.right if found.left.tensor.name in graph.constants else found.left
    *others, channel = layouts[first.name].order
    column, last = plain(first.kernel.axes[channel]), plain(second.kernel.axes[layouts[second.name].order[-1]])
    if column is None or column in free(left) or not windows[channel].is_own or windows[channel].axis != last:
        return None
    others = [n for n in others if first.spec.shape[n] != 1]
    single: list[int] = []
    while others and windows[others[0]].is_own:
        single.append(others.pop(0))
    if not others or windows[others[0]].step < 1:
        return None
    if not all(isinstance(first.spec.shape[n], int) for n in (channel, *others)):
        return None
    axes = _Axes(channel, others[0], tuple(single))
    moving = [windows[n].axis for n in (axes.channel, axes.row, *axes.single)]
    return axes if len(set(moving)) == len(moving) else None


def _borders(pair: _Pair) -> Iterator[tuple[int, int]]:
    """Yields how far windows reach beyond each axis of the first node."""
    sizes = dict(zip(map(plain, pair.second.kernel.axes), range(len(pair.second.spec.shape)), strict=True))
    for n, w in enumerate(pair.windows):
        if w.is_own:
            yield 0, 0
            continue
        extent = _extent(pair.second, sizes[w.axis]) if w.axis else 1
        yield max(-w.low, 0), max(w.step * (extent - 1) + w.high - _extent(pair.first, n) + 1, 0)


def _best_size(pair: _Pair, axes: _Axes, lanes: int) -> _Size | None:
    """Returns the size of strips for which the product takes least time."""
    first, window = pair.first, pair.windows[axes.row]
    own = [plain(a) for a in pair.second.kernel.axes]
    rows, channels, first_rows = _extent(pair.second, own.index(window.axis)), *[_extent(first, n) for n in axes[:2]]
    borders = list(_borders(pair))
    whole = [n for n in range(len(borders)) if n not in (axes.channel, axes.row, *axes.single)]
    pixels = prod([_extent(first, n) + sum(borders[n]) for n in whole])
    reach = window.high - window.low + 1
    best, result = MOST_REPEATED, None
    for vectors in range(MOST_VECTORS, 0, -1):
        width = vectors * lanes
        fitting = (STRIP_BYTES // (pixels * width * f32.bits // 8) - reach) // window.step + 1
        if channels % width or fitting < 1:
            continue
        fewest = -(-rows // fitting)
        for most in (fitting, -(-rows // (fewest + 1))):
            at_once = even_part(rows, most)
            parts, read = -(-rows // at_once), min(window.step * (at_once - 1) + reach, first_rows)
            strips = parts * (channels // width)
            cost = parts * read / first_rows * (ODD_STRIPS if strips % 2 and strips > 1 else 1)
            if cost < best:
                best, result = cost, _Size(width, at_once, read)
    return result


def _first_part(node: KernelNode, axes: _Axes, size: _Size) -> KernelNode:
    """Returns the product for the channels and rows of a strip."""
    starts = {axes.channel: CHANNEL, axes.row: READ_ROW, **{n: outer_symbol(n) for n in axes.single}}
    sizes = {axes.channel: size.channels, axes.row: size.read_rows, **dict.fromkeys(axes.single, 1)}
    names_of_axes = {n: name for n, a in enumerate(node.kernel.axes) if (name := plain(a)) is not None}
    moved = {names_of_axes[n]: index(names_of_axes[n]) + symbol(start, 0) for n, start in starts.items()}
    body = put(replace_accesses(node.kernel.body, _without_padding), moved)
    return _part(node, body, {n: (names_of_axes[n], count) for n, count in sizes.items()})


def _without_padding(a: Access) -> Access:
    """Returns a read at a position that may be in the border."""
    if not a.tensor.steps:
        return a
    where, _ = resolve(a.tensor, _positions(a))
    return Access(a.tensor.source, where)


def _second_part(pair: _Pair, first: KernelNode, axes: Sequence[StripAxis], row: int) -> KernelNode:
    """Returns the node that reads a strip, for the channels and rows of it."""
    node = pair.second
    names_of_axes = {n: name for n, a in enumerate(node.kernel.axes) if (name := plain(a)) is not None}
    strip = Tensor(first.name, first.spec.shape, first.spec.element)
    moved = {names_of_axes[a.axis]: index(names_of_axes[a.axis]) + symbol(a.first, 0) for a in axes}
    back: dict[str, Dim] = {name: index(name) - symbol(a.first, 0) for name, a in zip(moved, axes, strict=True)}

    def read(a: Access) -> Access:
        """Returns a read of the strip at the position in it."""
        if a.tensor.name != pair.first.name:
            return a
        where = [substitute_indices(p, back) for p in resolve(a.tensor, _positions(a))[0]]
        return Access(strip, [p + symbol(SHIFT, -MANY_ROWS) if n == row else p for n, p in enumerate(where)])

    body = replace_accesses(put(node.kernel.body, moved), read)
    return _part(node, body, {a.axis: (names_of_axes[a.axis], a.size) for a in axes})


def _positions(a: Access) -> list[Dim]:
    return [p for p in a.at if not isinstance(p, Expr)]


def _part(node: KernelNode, body: Expr, sizes: Mapping[int, tuple[str, int]]) -> KernelNode:
    """Returns a node with another body for some positions of some axes, whose names are given."""
    shape = tuple([sizes[n][1] if n in sizes else d for n, d in enumerate(node.spec.shape)])
    extents = {**node.extents, **dict(sizes.values())}
    spec = TensorSpec(shape, node.spec.element)
    return KernelNode(f"{node.name} strip", Kernel(node.kernel.axes, body), extents, spec, node.origins)
