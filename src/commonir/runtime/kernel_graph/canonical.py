"""A key of kernels that does not depend on names: equal layers have equal keys, so each is compiled once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from commonir.notation import Access, Expr, Fold, Join, Position, Update, reading, rewrite, walk
from commonir.runtime.kernel_graph.graph import KernelNode
from commonir.symbolic import Dim, index, names, substitute_indices


def canonical_key(node: KernelNode) -> Hashable:
    """Returns a key that is equal for nodes that differ in the names of tensors and indices only.

    Tensors and indices are numbered in order of first use, tensors as in `node.reads`.
    """
    found = dict.fromkeys(_index_names(node))
    numbers: dict[str, Dim] = {name: index(f"k{n}") for n, name in enumerate(found)}
    renamed = {name: f"k{n}" for n, name in enumerate(found)}
    tensors = {name: f"t{n}" for n, name in enumerate(node.reads)}

    body = rewrite(
        node.kernel.body, lambda p: substitute_indices(p, numbers), lambda over: tuple([renamed[name] for name in over])
    )
    axes = tuple([substitute_indices(a, numbers) for a in node.kernel.axes])
    extents = tuple([(renamed[i], n) for i, n in node.extents.items() if i in renamed])
    return axes, reading(body, tensors), frozenset(extents), node.spec


def _index_names(node: KernelNode) -> Iterator[str]:
    """Yields the indices of a kernel in order of occurrence."""
    for axis in node.kernel.axes:
        yield from names(axis)
    for e in walk(node.kernel.body):
        match e:
            case Access(at=at):
                for p in at:
                    if not isinstance(p, Expr):
                        yield from names(p)
            case Position(at=at):
                yield from names(at)
            case Fold(over=over) | Update(over=over):
                yield from over
            case Join(along=along):
                yield along
            case _:
                pass
