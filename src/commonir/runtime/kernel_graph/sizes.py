"""Kernels for known sizes: with numbers in place of the symbols in positions, shapes and views."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commonir.notation import (
    Access,
    Dilated,
    Expr,
    Flat,
    Join,
    Kernel,
    Padded,
    Tensor,
    Visit,
    mapped,
    replace_accesses,
    rewrite,
    walk,
    with_children,
)
from commonir.runtime.kernel_graph.graph import KernelNode
from commonir.symbolic import Dim, substitute, symbols


def at_sizes(node: KernelNode, dims: Mapping[str, int]) -> KernelNode:
    """Returns a node with the values of symbols in place of these."""
    if not node.symbols():
        return node

    def known(d: Dim) -> Dim:
        return substitute(d, {s: dims[s] for s in symbols(d)})

    body = replace_accesses(rewrite(_with_known_joins(node.kernel.body, known), known), lambda a: _read(a, known))
    spec = node.spec._replace(shape=tuple(map(known, node.spec.shape)))
    extents = {i: known(n) for i, n in node.extents.items()}
    return KernelNode(node.name, Kernel(node.kernel.axes, body), extents, spec, node.origins)


def _with_known_joins(body: Expr, known: Callable[[Dim], Dim]) -> Expr:
    if not any(isinstance(e, Join) for e in walk(body)):
        return body

    def joined(e: Expr, visit: Visit) -> Expr:
        if isinstance(e, Join) and e.extents is not None:
            e = Join(e.along, e.pieces, tuple(map(known, e.extents)))
        return with_children(e, visit)

    return mapped(body, joined)


def _read(a: Access, known: Callable[[Dim], Dim]) -> Access:
    t = a.tensor
    steps = tuple([(_view(view, known), tuple(map(known, shape))) for view, shape in t.steps])
    return Access(Tensor(t.name, tuple(map(known, t.shape)), t.dtype, steps), a.at)


def _view(view: Padded | Dilated | Flat, known: Callable[[Dim], Dim]) -> Padded | Dilated | Flat:
    if isinstance(view, Padded):
        return Padded(tuple(map(known, view.before)), tuple(map(known, view.after)), view.mode, view.fill)
    return view
