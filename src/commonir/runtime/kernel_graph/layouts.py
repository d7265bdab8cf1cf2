"""Layouts: the order of a value's axes in memory, and the zeros around it. A layout belongs to a value, not to a node.

A contraction with constants wants the axis that only the constants have last in its result, and the axis that it sums
last in what it reads. Other nodes take the layout of what they read or of their readers. Where readers pad with zeros,
the value has a border of zeros, and padded reads are plain ones. Inputs and outputs are row-major: copies change them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commonir.base.arrays import dtype_of
from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType, i32
from commonir.notation import Access, Dilated, Expr, Kernel, Padded, reading
from commonir.runtime.kernel_graph.contraction import Contraction, contraction_of
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, copying_node
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, linear_in, names, plain

Border = tuple[tuple[int, int], ...]
"""Zeros before and after a value along each axis."""


BYTES_BEHIND = 3
"""Bytes behind the last one of a word that begins at it."""


class MemoryLayout(NamedTuple):
    """Where elements lie: distances along each axis and the position of the first one, in elements, and all of them.

    `order` are the axes from the longest distance to 1. The tensor `is_part` of another one if it lies in the memory of
    that: `offset` and `size` are about the whole. Of integers that lie in bytes, `base` is the one of byte 0. Numbers
    of single precision that are narrow lie rounded to bfloat16.
    """

    strides: tuple[Dim, ...]
    offset: Dim
    size: Dim
    border: Border
    order: tuple[int, ...]
    is_part: bool = False
    base: int | None = None
    is_narrow: bool = False

    def in_bytes(self, base: int) -> MemoryLayout:
        """Returns the layout of the same elements in bytes. Words that begin at any of them can be read."""
        return self._replace(base=base, size=self.size + BYTES_BEHIND)

    @property
    def border_byte(self) -> int | None:
        """The byte of 0, which is stored in the border; None if there is no border."""
        return -(self.base or 0) if self.has_border else None

    @property
    def is_row_major(self) -> bool:
        """Whether elements lie one after another in row-major order."""
        return self.order == tuple(range(len(self.order))) and not self.has_border and not self.is_part

    @property
    def has_known_steps(self) -> bool:
        """Whether no distance depends on a symbol."""
        return all(isinstance(stride, int) for stride in self.strides)

    @property
    def has_border(self) -> bool:
        """Whether there are zeros around the value."""
        return any(pads != (0, 0) for pads in self.border)


def memory_dtype(layout: MemoryLayout, element: ElementType) -> np.dtype[np.generic]:
    """Returns the dtype of the elements of a tensor in memory."""
    if layout.is_narrow:
        return dtype_of("bf16")
    return compute_dtype(element) if layout.base is None else np.dtype(np.uint8)


def layout_of(shape: Sequence[Dim], order: Sequence[int] | None = None, border: Border = ()) -> MemoryLayout:
    """Returns the layout of a shape; row-major without a border by default."""
    axes = tuple(order) if order is not None else tuple(range(len(shape)))
    pads = border or ((0, 0),) * len(shape)
    strides: list[Dim] = [0] * len(shape)
    step: Dim = 1
    for a in reversed(axes):
        strides[a] = step
        step = step * (shape[a] + sum(pads[a]))
    offset: Dim = 0
    for stride, (before, _) in zip(strides, pads, strict=True):
        offset = offset + stride * before
    return MemoryLayout(tuple(strides), offset, step, pads, axes)


def assign_layouts(graph: KernelGraph) -> dict[str, MemoryLayout]:
    """Returns the layouts of all inputs and nodes, after adding copies of inputs and outputs where these differ."""
    last = preferred_last_axes(graph)
    borders = _borders(graph)
    _copy_inputs(graph, last, borders)
    _copy_outputs(graph, last, borders)
    out = {name: layout_of(spec.shape) for name, spec in graph.inputs.items()}
    for name, node in graph.nodes.items():
        is_result = name in graph.outputs
        order = _order(len(node.spec.shape), None if is_result else last.get(name))
        out[name] = layout_of(node.spec.shape, order, () if is_result else borders.get(name, ()))
    return out


def _order(rank: int, last: int | None) -> tuple[int, ...]:
    axes = list(range(rank))
    if last is not None:
        axes.remove(last)
        axes.append(last)
    return tuple(axes)


def preferred_last_axes(graph: KernelGraph) -> dict[str, int]:
    """Returns the axis that is to be last in memory, of values for which it is not the last one in the program."""
    wanted: dict[str, int] = {}
    for node in graph.nodes.values():
        wanted.update(_wanted_by_contraction(graph, node))
    changed = True
    while changed:
        changed = False
        for node in graph.nodes.values():
            for read, axes in _same_positions(node):
                for source, to in ((read, node.name), (node.name, read)):
                    if source in wanted and to not in wanted and wanted[source] in axes and to not in graph.constants:
                        wanted[to] = wanted[source]
                        changed = True
    return {name: axis for name, axis in wanted.items() if axis != len(graph.spec(name).shape) - 1}


def _wanted_by_contraction(graph: KernelGraph, node: KernelNode) -> dict[str, int]:
    """Returns the last axes of the result and the left factor of a contraction with a constant."""
    found = contraction_of(node, graph.constants)
    if found is None:
        return {}
    if found.left.tensor.name in graph.constants:
        found = found.flipped
    left = found.left
    if found.right.tensor.name not in graph.constants or left.tensor.name in graph.constants:
        return {}
    if not found.roles.columns:
        return _wanted_by_groups(node, found)
    out: dict[str, int] = {}
    axes = [n for n, a in enumerate(node.kernel.axes) if plain(a) in found.roles.columns]
    if axes:
        out[node.name] = max(axes, key=lambda n: _size(node.spec.shape[n]))
    summed = [n for n, p in enumerate(left.at) if not isinstance(p, Expr) and plain(p) in found.fold.over]
    if summed and not any(_changes_axes(left, n) for n in summed):
        out[left.tensor.name] = max(summed, key=lambda n: _size(left.tensor.source.shape[n]))
    return out


def _wanted_by_groups(node: KernelNode, contraction: Contraction) -> dict[str, int]:
    """Returns the last axes of the result and the left factor of a sum in groups of columns, as in a grouped
    convolution, if vectors along the last axis of the result would read elements apart.
    """
    left = contraction.left
    for n, axis in enumerate(node.kernel.axes[:-1]):
        column = plain(axis)
        if column is None or column not in contraction.roles.batch:
            continue
        read = [k for k, p in enumerate(left.at) if not isinstance(p, Expr) and column in names(p)]
        if len(read) != 1 or not _is_group_of(left.at[read[0]], column, contraction.fold.over):
            continue
        if _reads_apart(left, node):
            return {node.name: n, **({} if _changes_axes(left, read[0]) else {left.tensor.name: read[0]})}
    return {}


def _is_group_of(position: Dim | Expr, column: str, folded: Sequence[str]) -> bool:
    """Returns whether a position is one in a group that a column belongs to, and moves by a folded index."""
    if isinstance(position, Expr):
        return False
    steps = [linear_in(position, k)[0] for k in folded if k in names(position)]
    return steps == [1] and linear_in(position, column)[0] is None


def _reads_apart(a: Access, node: KernelNode) -> bool:
    """Returns whether elements that are read for neighbours on the last axis of a result are not neighbours."""
    last, position = plain(node.kernel.axes[-1]), a.at[-1]
    if last is None or isinstance(position, Expr) or any(isinstance(view, Dilated) for view, _ in a.tensor.steps):
        return True
    return linear_in(position, last)[0] != 1


def _changes_axes(a: Access, axis: int) -> bool:
    """Returns whether views between an access and its tensor change which axis is read, or pad it."""
    for view, _ in a.tensor.steps:
        match view:
            case Padded(before=before, after=after) if (before[axis], after[axis]) == (0, 0):
                pass
            case Dilated(factors=factors) if factors[axis] == 1:
                pass
            case _:
                return True
    return False


def _size(dim: Dim) -> int:
    return dim if isinstance(dim, int) else 64


def _same_positions(node: KernelNode) -> list[tuple[str, set[int]]]:
    """Returns the tensors that a node reads along most of its own axes, and these."""
    out: list[tuple[str, set[int]]] = []
    for a in node.accesses:
        at = [p for p in a.at if not isinstance(p, Expr)]
        if not len(at) == len(a.at) == len(node.kernel.axes):
            continue
        if any(not isinstance(v, Padded) for v, _ in a.tensor.steps):
            continue
        axes = {n for n, (p, axis) in enumerate(zip(at, node.kernel.axes, strict=True)) if plain(axis) in names(p)}
        if len(axes) > len(at) // 2:
            out.append((a.tensor.name, axes))
    return out


def _borders(graph: KernelGraph) -> dict[str, Border]:
    """Returns the zeros that readers of nodes and inputs pad with."""
    out: dict[str, Border] = {}
    for node in graph.nodes.values():
        for a in node.accesses:
            if not a.tensor.steps or a.tensor.name in graph.constants:
                continue
            views = [view for view, _ in a.tensor.steps]
            shape = a.tensor.source.shape
            stretches = (1,) * len(shape)
            if isinstance(views[0], Dilated) and len(views) > 1:
                stretches, views = views[0].factors, views[1:]
            view = views[0]
            if not isinstance(view, Padded) or view.mode != "constant" or view.fill != 0:
                continue
            amounts = zip(view.before, view.after, stretches, strict=True)
            pads = [(_zeros(before, f), _zeros(after, f)) for before, after, f in amounts]
            if not (a.dtype.kind == "float" or a.dtype is i32) or any(
                not isinstance(p, int) for p in (*view.before, *view.after)
            ):
                continue
            before = out.get(a.tensor.name, ((0, 0),) * len(shape))
            out[a.tensor.name] = tuple([(max(p[0], q[0]), max(p[1], q[1])) for p, q in zip(before, pads, strict=True)])
    return out


def _zeros(padding: Dim, stretch: int) -> int:
    """Returns the zeros beside a tensor whose elements are stretched before it is padded."""
    return -(-max(padding, 0) // stretch) if isinstance(padding, int) else 0


def _copy_inputs(graph: KernelGraph, last: dict[str, int], borders: dict[str, Border]) -> None:
    """Adds copies of inputs that contractions read in another layout, or through padding."""
    contracted = {
        name
        for node in graph.nodes.values()
        if contraction_of(node, graph.constants) is not None
        for name in node.reads
    }
    for name in [n for n in graph.inputs if n in contracted and (n in last or n in borders)]:
        # Other graphs of the program may copy it too.
        copy = f"{name} for {graph.users(name)[0]}"
        node = copying_node(copy, name, graph.spec(name))
        for user in [graph.nodes[n] for n in graph.users(name)]:
            kernel = Kernel(user.kernel.axes, reading(user.kernel.body, {name: copy}))
            graph.replace_kernel(user, kernel, user.extents)
        graph.add_first(node)
        if name in last:
            last[copy] = last[name]
        if name in borders:
            borders[copy] = borders[name]


def _copy_outputs(graph: KernelGraph, last: dict[str, int], borders: dict[str, Border]) -> None:
    """Computes outputs in the layout that they prefer, and copies them."""
    for n, name in enumerate(graph.outputs):
        if name in graph.nodes and (name in last or name in borders):
            copy = f"{name} output {n}"
            graph.add(copying_node(copy, name, graph.spec(name)))
            graph.outputs[n] = copy
