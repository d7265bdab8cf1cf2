"""Memory of joins: tensors that are only put together with others are computed where the result has them.

A join of tensors along an axis copies them. Where a kernel computes one of them, it can store it in the memory of the
result instead, with the steps that the result has. Then there is nothing to copy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from commonir.notation import Access, Expr, Join, Kernel, put
from commonir.notation.ranges import names_of_axes, piece_extents
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode
from commonir.runtime.kernel_graph.layouts import Border, MemoryLayout, layout_of, memory_dtype
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel, loop_kernels
from commonir.symbolic import Dim, index, plain, symbols

Layouts = dict[str, MemoryLayout]


def join_in_place(graph: KernelGraph, layouts: Layouts, changing: Collection[str] = ()) -> None:
    """Gives tensors that are joined places in the memory of the result; `graph.wholes` says whose memory it is.

    A place that depends on sizes that are `changing` would move, so a tensor has none there.
    """
    # A join of joins first: these are then wholes that lie where they stay.
    for node in reversed(list(graph.nodes.values())):
        body = node.kernel.body
        if isinstance(body, Join) and node.strips is None and node.name not in graph.outputs:
            axis = [plain(a) for a in node.kernel.axes].index(body.along)
            graph.replace_kernel(node, Kernel(node.kernel.axes, _with_whole_pieces(body, node.extents)), node.extents)
            _join_in_place(graph, node, axis, layouts, changing)


def _with_whole_pieces(join: Join, extents: Mapping[str, Dim]) -> Join:
    """Returns a join in which neighbours that continue each other, as slices of one tensor do, are one piece."""
    pieces, counts = list[Expr](), list[Dim]()
    for piece, count in zip(join.pieces, piece_extents(join, extents), strict=True):
        if pieces and put(pieces[-1], {join.along: index(join.along) + counts[-1]}) == piece:
            counts[-1] = counts[-1] + count
        else:
            pieces.append(piece)
            counts.append(count)
    return Join(join.along, tuple(pieces), tuple(counts))


def pieces_to_compute(graph: KernelGraph, node: KernelNode, layouts: Layouts) -> list[LoopKernel]:
    """Returns the loops of a node, without those for tensors that are in their place already."""
    layout = layouts[node.name]
    return [
        piece
        for piece in loop_kernels(node.kernel, node.extents, layout)
        if not _is_in_place(graph, node, piece, layouts)
    ]


def _is_in_place(graph: KernelGraph, node: KernelNode, piece: LoopKernel, layouts: Layouts) -> bool:
    name = _joined_tensor(node, piece)
    if name not in graph.wholes or graph.memory_of(name) != graph.memory_of(node.name):
        return False
    layout, whole = layouts[name], layouts[node.name]
    return layout.strides == whole.strides and layout.offset == whole.offset + piece.offset


def _joined_tensor(node: KernelNode, piece: LoopKernel) -> str:
    """Returns the tensor of which a piece has all elements, at their own positions; "" if it is another kernel."""
    body = piece.body
    if not isinstance(body, Access) or body.tensor.steps:
        return ""
    axes, _ = names_of_axes(node.kernel, node.extents)
    extents = tuple([piece.extents[a] for a in axes])
    if body.tensor.shape != extents:
        return ""
    own = zip(body.at, axes, extents, strict=True)
    return body.tensor.name if all(n == 1 or p == index(a) for p, a, n in own) else ""


def _join_in_place(
    graph: KernelGraph, node: KernelNode, axis: int, layouts: Layouts, changing: Collection[str]
) -> None:
    """Gives the tensors that a node joins along an axis places in its memory, and it the borders that they have."""
    layout = layouts[node.name]
    found: dict[str, LoopKernel] = {}
    for piece in loop_kernels(node.kernel, node.extents, layout):
        name = _joined_tensor(node, piece)
        if any(s in changing for s in symbols(piece.offset)):
            continue
        if name in graph.nodes and _may_move(graph, name, node, layouts) and layouts[name].border[axis] == (0, 0):
            found.setdefault(name, piece)
    if node.name not in graph.wholes:
        # Zeros around a part are zeros around the whole.
        borders = [layout.border, *[layouts[name].border for name in found]]
        border = tuple([(max(b for b, _ in pads), max(a for _, a in pads)) for pads in zip(*borders, strict=True)])
        whole = layout_of(node.spec.shape, layout.order, border)
        layouts[node.name] = whole if layout.base is None else whole.in_bytes(layout.base)
    whole = layouts[node.name]
    for piece in loop_kernels(node.kernel, node.extents, whole):
        name = _joined_tensor(node, piece)
        if name in found and name not in graph.wholes and _holds(whole.border, layouts[name].border):
            graph.wholes[name] = graph.memory_of(node.name)
            offset = whole.offset + piece.offset
            layouts[name] = whole._replace(offset=offset, border=layouts[name].border, is_part=True)


def _may_move(graph: KernelGraph, name: str, node: KernelNode, layouts: Layouts) -> bool:
    """Returns whether a tensor may lie in the memory of a node."""
    if name in graph.outputs or name in graph.written or name in graph.wholes:
        return False
    if memory_dtype(layouts[name], graph.spec(name).element) != memory_dtype(layouts[node.name], node.spec.element):
        return False
    return layouts[name].base == layouts[node.name].base


def _holds(border: Border, part: Border) -> bool:
    """Returns whether a border is as wide as that of a part everywhere."""
    return all(b[0] >= p[0] and b[1] >= p[1] for b, p in zip(border, part, strict=True))
