"""Gathers from decoded constants: elements are decoded where they are gathered, so that the constant stays as it is."""

from __future__ import annotations

from commonir.notation import Access, Expr, Kernel, NotationError, Position, ranges, replace_accesses, walk
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, known_count
from commonir.symbolic import Dim, names, plain, substitute_indices


def decode_where_gathered(graph: KernelGraph, node: KernelNode) -> None:
    """Reads what a node gathers of decoded constants from those constants, unless it reads elements repeatedly."""
    if node.has_folds:
        return
    for name in node.reads:
        producer = graph.nodes.get(name)
        reads = [a for a in node.accesses if a.tensor.name == name]
        if producer is None or not any(isinstance(p, Expr) for a in reads for p in a.at):
            continue
        if not graph.decodes(producer) or not _is_smaller(node, producer):
            continue
        try:
            body = _with_decoded(node.kernel.body, producer)
            kernel = Kernel(node.kernel.axes, body, tuple(node.extents.items()))
            extents, _ = ranges(kernel)
        except NotationError:
            continue
        node.origins = (*node.origins, *producer.origins)
        graph.replace_kernel(node, Kernel(kernel.axes, body), extents)


def _is_smaller(node: KernelNode, other: KernelNode) -> bool:
    if any(not isinstance(d, int) for d in node.spec.shape):
        return True
    return known_count(node.spec.shape) <= known_count(other.spec.shape)


def _with_decoded(body: Expr, producer: KernelNode) -> Expr:
    return replace_accesses(body, lambda a: _decoded(a, producer) if a.tensor.name == producer.name else a)


def _decoded(a: Access, producer: KernelNode) -> Expr:
    """Returns the elements of a producer at the positions of a read. Raises: NotationError."""
    data: dict[str, Expr] = {}
    dims: dict[str, Dim] = {}
    if a.tensor.steps or any(isinstance(e, Position) for e in walk(producer.kernel.body)):
        raise NotationError("read through a view")
    for axis, p in zip(producer.kernel.axes, a.at, strict=True):
        name = plain(axis)
        if isinstance(p, Expr):
            if name is None:
                raise NotationError("a position from data along an axis of one element")
            data[name] = p
        elif name is not None:
            dims[name] = p

    def moved(x: Access) -> Expr:
        at: list[Dim | Expr] = []
        for p in x.at:
            if isinstance(p, Expr):
                at.append(p)
            elif (name := plain(p)) in data:
                assert name is not None
                at.append(data[name])
            elif any(n in data for n in names(p)):
                raise NotationError("a position that is computed from one of data")
            else:
                at.append(substitute_indices(p, dims))
        if x.tensor.steps:
            raise NotationError("a constant that is read through a view")
        return Access(x.tensor, at)

    return replace_accesses(producer.kernel.body, moved)
