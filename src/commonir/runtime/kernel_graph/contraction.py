"""Contractions: folds that sum products of two reads, such as matrix products and convolutions.

They are recognized by their expression. `contraction_of` returns the fold of a node that is worth a schedule of its
own.
"""

from __future__ import annotations

from commonir.base.tuples import NamedTuple
from commonir.notation import Access, Apply, Fold, free, walk
from commonir.runtime.kernel_graph.graph import KernelNode


class Contraction(NamedTuple):
    """A sum of products, and its factors."""

    fold: Fold
    left: Access
    right: Access


def contraction_of(node: KernelNode) -> Contraction | None:
    """Returns the sum of products in a kernel; None if there is none where both factors have indices of their own."""
    for e in walk(node.kernel.body):
        if isinstance(e, Fold) and e.fn == "add" and isinstance(e.body, Apply) and e.body.fn == "multiply":
            left, right = e.body.args
            if isinstance(left, Access) and isinstance(right, Access):
                own_left = set(free(left)) - set(e.over) - set(free(right))
                own_right = set(free(right)) - set(e.over) - set(free(left))
                if own_left or own_right:
                    return Contraction(e, left, right)
    return None
