"""Fusion: nodes that are computed where they are read, instead of being stored.

- What only moves elements is read through by every reader.
- A function of single elements with one reader is computed by that reader.
- A cheap one that reads statistics, such as a difference to a mean, is computed by every reader.
- A fold is computed by its only reader, if that is a function of single elements at the same position (an epilogue).
- What decodes a constant is computed by contractions that multiply with it and by functions of single elements. For
  other readers it is computed once, here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from commonir.base.tuples import NamedTuple
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Expr,
    Kernel,
    NotationError,
    Padded,
    free,
    fuse,
    is_fusible,
    replace_accesses,
    walk,
)
from commonir.runtime.interpreter.evaluation import may_exceed_bits, rounds_to_half
from commonir.runtime.kernel_graph.contraction import contraction_of, summed_products
from commonir.runtime.kernel_graph.gathering import decode_where_gathered
from commonir.runtime.kernel_graph.graph import MAX_ENTRY, KernelGraph, KernelNode, known_count
from commonir.runtime.kernel_graph.views import has_long_address, plainly_resolved
from commonir.runtime.limits import OutOfRange
from commonir.symbolic import Dim, element_count, maxima_in, plain

CHEAP_FUNCTIONS = 4
"""Functions of single elements that take less time than writing their result and reading it again."""

_CHEAP = frozenset({"add", "subtract", "multiply", "divide"})

FOLDED_ELEMENTS = 1 << 22
"""Nodes of constants are computed here if they have at most this many elements, or decode a constant."""

MOST_EXPRESSIONS = 96
"""Nodes are not fused to kernels of more expressions: these are visited recursively, and again for each node."""

MOST_VIEWS = 16
"""The most views through which a read goes of values that are only moved."""

STATISTIC = 64
"""A statistic has at most one element for this many of what reads it."""


class Fusion(NamedTuple):
    """The kinds of fusion that a back end gains from, beyond reading through what only moves elements.

    `epilogues` says that functions of elements are computed within the contraction that they read, `repeats` that
    elements may be computed each time that they are read.
    """

    epilogues: bool = True
    repeats: bool = True


_ALL = Fusion()


def fuse_nodes(graph: KernelGraph, fusion: Fusion = _ALL) -> None:
    """Fuses nodes, and removes those that nothing reads any more."""
    for node in list(graph.nodes.values()):
        while node.name in graph.nodes and _is_fused(graph, node, fusion):
            pass
    for node in list(graph.nodes.values()):
        decode_where_gathered(graph, node)
    for node in list(graph.nodes.values()):
        if graph.is_constant(node) and known_count(node.spec.shape) <= max(FOLDED_ELEMENTS, _largest(graph, node)):
            with suppress(OutOfRange):
                # It is reported when the node is computed.
                graph.fold(node)
    graph.remove_unused()


def _is_fused(graph: KernelGraph, node: KernelNode, fusion: Fusion) -> bool:
    """Computes what a node reads within it, where that is allowed; returns whether there was something."""
    producers = {
        name: graph.nodes[name]
        for name in node.reads
        if name in graph.nodes and _may_be_fused(graph, graph.nodes[name], node, fusion)
    }
    epilogue = next((p for p in producers.values() if p.has_folds), None)
    if epilogue is not None:
        # One fold at a time: what else the node reads is then read by an epilogue.
        producers = {epilogue.name: epilogue}
    if not producers:
        return False
    return compute_within(graph, node, producers)


def compute_within(graph: KernelGraph, node: KernelNode, producers: Mapping[str, KernelNode]) -> bool:
    """Replaces what a node reads by the expressions of the nodes that compute it; returns whether that is possible."""
    fused = fused_kernel(node, producers)
    if fused is None:
        return False
    node.origins = (*node.origins, *[o for p in producers.values() for o in p.origins])
    graph.replace_kernel(node, *fused)
    return True


def fused_kernel(node: KernelNode, producers: Mapping[str, KernelNode]) -> tuple[Kernel, Mapping[str, Dim]] | None:
    """Returns the kernel of a node that computes what others do itself, with its extents; None if there is none."""
    kernels = {n: Kernel(p.kernel.axes, p.kernel.body, tuple(p.extents.items())) for n, p in producers.items()}
    try:
        own = Kernel(node.kernel.axes, node.kernel.body, tuple(node.extents.items()))
        kernel = fuse(own, kernels, are_checked=True)
    except NotationError:
        return None
    if any(has_long_address(e) for e in walk(kernel.body) if isinstance(e, Access)):
        return None
    extents = dict(kernel.extents)
    return Kernel(kernel.axes, replace_accesses(kernel.body, lambda a: plainly_resolved(a, extents))), extents


def _may_be_fused(graph: KernelGraph, producer: KernelNode, node: KernelNode, fusion: Fusion) -> bool:
    accesses = [a for a in node.accesses if a.tensor.name == producer.name]
    if producer.has_joins or producer.is_update or not all(is_fusible(a, producer.kernel) for a in accesses):
        return False
    if producer.is_view:
        # Tables of constants are read by products that decode them.
        is_even = not _is_bent(producer) and (graph.is_constant(producer) or not _gathers(producer))
        if not is_even and contraction_of(node, graph.constants) is not None:
            return False
        inside = max([len(a.tensor.steps) for a in producer.accesses], default=0)
        return inside + max([len(a.tensor.steps) for a in accesses], default=0) <= MOST_VIEWS
    if node.is_update and not fusion.repeats:
        return False
    if may_exceed_bits(producer.kernel) or any(is_rounded(a, node) for a in accesses):
        return False
    if graph.is_constant(producer):
        decodes = fusion.repeats and graph.decodes(producer)
        return decodes and (not node.has_folds or _is_factor(accesses, node))
    if producer.size + node.size > MOST_EXPRESSIONS:
        return False
    if fusion.repeats and _reads_statistics(graph, producer):
        return contraction_of(node, graph.constants) is None
    if graph.users(producer.name) != [node.name] or producer.name in graph.outputs:
        return False
    if not producer.has_folds:
        if not fusion.repeats and node.has_folds and not all(_is_read_once(a, producer, node) for a in accesses):
            return False
        return contraction_of(node, graph.constants) is None
    if not fusion.epilogues and contraction_of(producer, graph.constants) is not None:
        return False
    if node.has_folds or node.spec.shape != producer.spec.shape:
        return False
    return all(_is_same_position(a, node) for a in accesses)


def _is_bent(view: KernelNode) -> bool:
    """Returns whether a view reads some elements again at its ends, so that nothing reads through it in even steps."""
    return any(
        any(isinstance(step, Padded) and step.mode != "constant" for step, _ in a.tensor.steps)
        or any(maxima_in(p) for p in a.at if not isinstance(p, Expr))
        for a in view.accesses
    )


def _gathers(view: KernelNode) -> bool:
    """Returns whether a view reads at positions from data."""
    return any(isinstance(p, Expr) for a in view.accesses for p in a.at)


def _largest(graph: KernelGraph, node: KernelNode) -> int:
    """Returns the elements that may be decoded from the largest constant that a node reads."""
    return MAX_ENTRY * max([graph.constants[read].size for read in node.reads])


def _is_factor(accesses: Sequence[Access], node: KernelNode) -> bool:
    """Returns whether all reads of a tensor are factors of products that are summed, perhaps after a conversion."""
    products = [x for _, factors in summed_products(node.kernel.body) for x in factors]
    read = [x.body if isinstance(x, Cast) else x for x in products]
    return all(a in read for a in accesses)


def _reads_statistics(graph: KernelGraph, producer: KernelNode) -> bool:
    """Returns whether a function of single elements is cheap and reads statistics of its other operand."""
    functions = [e.fn for e in walk(producer.kernel.body) if isinstance(e, Apply)]
    if producer.has_folds or len(functions) > CHEAP_FUNCTIONS or any(fn not in _CHEAP for fn in functions):
        return False
    size = known_count(producer.spec.shape)
    read = {n: graph.nodes[n] for n in producer.reads if n in graph.nodes}
    small = [n for n, node in read.items() if known_count(node.spec.shape) * STATISTIC <= size]
    return len(producer.reads) - len(small) <= 1 and any(graph.nodes[n].has_folds for n in small)


def _is_read_once(a: Access, producer: KernelNode, node: KernelNode) -> bool:
    """Returns whether an access reads no element twice, if sizes are known."""
    return element_count([node.extents[i] for i in free(a)]) == element_count(producer.spec.shape)


def is_rounded(a: Access, node: KernelNode) -> bool:
    """Returns whether a conversion rounds what an access reads; computed values would not be rounded there."""
    return any(isinstance(e, Cast) and e.body is a and rounds_to_half(a, e.dtype) for e in walk(node.kernel.body))


def _is_same_position(a: Access, node: KernelNode) -> bool:
    """Returns whether a node reads the element at the position that it computes."""
    places = zip(a.at, node.kernel.axes, node.spec.shape, strict=True)
    return not a.tensor.steps and all(is_at_axis(*place) for place in places)


def is_at_axis(position: Dim | Expr, axis: Dim, size: Dim) -> bool:
    """Returns whether a position is that along an axis of a result, of some size."""
    if isinstance(position, Expr):
        return False
    return (position == 0 and size == 1) or (plain(position) is not None and plain(position) == plain(axis))
