"""Fusion: nodes that are computed where they are read, instead of being stored.

- What only moves elements is read through by every reader.
- A function of single elements with one reader is computed by that reader.
- A fold is computed by its only reader, if that is a function of single elements at the same position (an epilogue).
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.notation import Access, Cast, Expr, Kernel, NotationError, fuse, is_fusible, ranges, walk
from commonir.runtime.interpreter.evaluation import rounds_to_half
from commonir.runtime.kernel_graph.contraction import contraction_of
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode
from commonir.symbolic import plain


def fuse_nodes(graph: KernelGraph) -> None:
    """Fuses nodes, and removes those that nothing reads any more."""
    for node in list(graph.nodes.values()):
        _fuse_into(graph, node)
    graph.remove_unused()


def _fuse_into(graph: KernelGraph, node: KernelNode) -> None:
    while True:
        users = graph.users()
        producers = {
            name: graph.nodes[name].kernel
            for name in node.reads()
            if name in graph.nodes and _may_be_fused(graph, graph.nodes[name], node, users.get(name, []))
        }
        epilogues = [n for n in producers if graph.nodes[n].has_folds]
        if epilogues:
            # One fold at a time: what else the node reads is then read by an epilogue.
            producers = {epilogues[0]: producers[epilogues[0]]}
        if not producers:
            return
        complete = {n: Kernel(k.axes, k.body, tuple(graph.nodes[n].extents.items())) for n, k in producers.items()}
        try:
            kernel = fuse(Kernel(node.kernel.axes, node.kernel.body, tuple(node.extents.items())), complete)
            extents, _ = ranges(kernel)
        except NotationError:
            return
        node.kernel, node.extents = Kernel(kernel.axes, kernel.body), extents
        node.origins = (*node.origins, *[o for n in producers for o in graph.nodes[n].origins])
        graph.remove_unused()
        if node.name not in graph.nodes:
            return


def _may_be_fused(graph: KernelGraph, producer: KernelNode, node: KernelNode, users: Sequence[str]) -> bool:
    accesses = [a for a in node.accesses() if a.tensor.name == producer.name]
    if not all(is_fusible(a, producer.kernel) for a in accesses):
        return False
    is_view = producer.is_view
    if producer.has_joins:
        return False
    if not is_view and any(_is_rounded(a, node) for a in accesses):
        return False
    if is_view:
        return True
    if len(users) > 1 or producer.name in graph.outputs:
        return False
    is_product = contraction_of(node) is not None
    if not producer.has_folds:
        return not is_product
    return (
        not node.has_folds
        and node.spec.shape == producer.spec.shape
        and all(_is_same_position(a, node) for a in accesses)
    )


def _is_rounded(a: Access, node: KernelNode) -> bool:
    """Returns whether a conversion rounds what an access reads; computed values would not be rounded there."""
    return any(isinstance(e, Cast) and e.body is a and rounds_to_half(a, e.dtype) for e in walk(node.kernel.body))


def _is_same_position(a: Access, node: KernelNode) -> bool:
    """Returns whether a node reads the element at the position that it computes."""
    if a.tensor.steps or any(isinstance(p, Expr) for p in a.at):
        return False
    for p, axis, size in zip(a.at, node.kernel.axes, node.spec.shape, strict=True):
        assert not isinstance(p, Expr)
        if not ((p == 0 and size == 1) or (plain(p) is not None and plain(p) == plain(axis))):
            return False
    return True
