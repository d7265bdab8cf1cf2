"""Products whose columns are read in groups by functions of elements, as gates of recurrent layers are.

Each reader computes the sums of the groups that it reads, and what follows them, in registers. Every group has one
reader, so no sum is computed twice, and the product is never stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from commonir.ir.types import f32
from commonir.notation import Access, Apply, Expr, Fold, free, walk
from commonir.runtime.interpreter.evaluation import may_exceed_bits
from commonir.runtime.kernel_graph.contraction import contraction_of, factor_read
from commonir.runtime.kernel_graph.fusing import MOST_EXPRESSIONS, compute_within, is_at_axis, is_rounded
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode
from commonir.symbolic import linear_in, plain

MOST_GROUPS = 4
"""The most groups of columns that one reader computes together: each takes registers."""


def fuse_column_groups(graph: KernelGraph) -> None:
    """Computes products in the functions of elements that read groups of their columns."""
    for node in list(graph.nodes.values()):
        if _is_product(graph, node):
            readers = [graph.nodes[name] for name in graph.users(node.name)]
            if readers and _read_separate_groups(node, readers):
                for reader in readers:
                    compute_within(graph, reader, {node.name: node})


def _is_product(graph: KernelGraph, node: KernelNode) -> bool:
    """Returns whether a node is a product with a constant matrix in single precision, whose columns are its last axis,
    and perhaps functions of its elements.
    """
    contraction = contraction_of(node, graph.constants)
    if contraction is None or node.strips is not None or node.name in graph.outputs or may_exceed_bits(node.kernel):
        return False
    fold, column = contraction.fold, plain(node.kernel.axes[-1])
    if [e for e in walk(node.kernel.body) if isinstance(e, Fold)] != [fold] or len(fold.over) != 1:
        return False
    assert isinstance(fold.body, Apply)
    factors = [factor_read(x, graph.constants) for x in fold.body.args]
    constants = [x for x in factors if isinstance(x, Access) and _is_plain_constant(graph, x)]
    others = [x for x in factors if x not in constants]
    return (
        fold.dtype is f32
        and column is not None
        and len(constants) == len(others) == 1
        and set(free(constants[0])) == {column, *fold.over}
        and column not in free(others[0])
    )


def _is_plain_constant(graph: KernelGraph, a: Access) -> bool:
    array = graph.constants.get(a.tensor.name)
    return array is not None and array.dtype == np.float32 and not any(isinstance(p, Expr) for p in a.at)


def _read_separate_groups(product: KernelNode, readers: Sequence[KernelNode]) -> bool:
    """Returns whether functions of elements read groups of columns of a product, and no column is read twice."""
    groups: list[range] = []
    for reader in readers:
        reads = [a for a in reader.accesses if a.tensor.name == product.name]
        of_reader = [_group(a, product, reader) for a in reads]
        if reader.has_folds or reader.has_joins or reader.strips is not None or len(reads) > MOST_GROUPS:
            return False
        if reader.size + len(reads) * product.size > MOST_EXPRESSIONS or any(is_rounded(a, reader) for a in reads):
            return False
        groups += [g for g in of_reader if g is not None]
        if None in of_reader:
            return False
    groups.sort(key=lambda g: g.start)
    return all(a.stop <= b.start for a, b in pairwise(groups))


def _group(a: Access, product: KernelNode, reader: KernelNode) -> range | None:
    """Returns the columns that a function of elements reads, if it reads those of its own row one after another."""
    if a.tensor.steps or len(a.at) != len(reader.kernel.axes):
        return None
    if not all(is_at_axis(*place) for place in zip(a.at[:-1], reader.kernel.axes, product.spec.shape, strict=False)):
        return None
    last, column, count = a.at[-1], plain(reader.kernel.axes[-1]), reader.spec.shape[-1]
    if isinstance(last, Expr) or column is None or not isinstance(count, int):
        return None
    step, start = linear_in(last, column)
    return range(start, start + count) if step == 1 and isinstance(start, int) else None
