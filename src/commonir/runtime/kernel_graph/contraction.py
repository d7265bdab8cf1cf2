"""Contractions: folds that sum products of two reads, such as matrix products and convolutions.

They are recognized by their expression. `contraction_of` returns the fold of a node that is worth a schedule of its
own.
"""

from __future__ import annotations

from collections.abc import Container

from commonir.base.tuples import NamedTuple
from commonir.ir.types import bf16, f16, f32
from commonir.notation import Access, Apply, Cast, Expr, Fold, free, walk
from commonir.runtime.kernel_graph.graph import KernelNode


class Contraction(NamedTuple):
    """A sum of products, and what its factors read: of a factor that is an expression of constants, the largest."""

    fold: Fold
    left: Access
    right: Access


def contraction_of(node: KernelNode, constants: Container[str]) -> Contraction | None:
    """Returns the sum of products in a kernel; None if there is none where both factors have indices of their own."""
    for e in walk(node.kernel.body):
        if isinstance(e, Fold) and e.fn == "add" and isinstance(e.body, Apply) and e.body.fn == "multiply":
            left, right = [_largest_read(factor_read(x, constants), constants) for x in e.body.args]
            if left is not None and right is not None:
                own_left = set(free(left)) - set(e.over) - set(free(right))
                own_right = set(free(right)) - set(e.over) - set(free(left))
                if own_left or own_right:
                    return Contraction(e, left, right)
    return None


def factor_read(e: Expr, constants: Container[str]) -> Expr:
    """Returns a factor without a conversion from half precision of a tensor that is in single precision in memory."""
    if isinstance(e, Cast) and isinstance(e.body, Access) and e.body.dtype in (f16, bf16) and e.dtype is f32:
        return e if e.body.tensor.name in constants else e.body
    return e


def is_stored(e: Expr, constants: Container[str]) -> bool:
    """Returns whether an expression only reads constants."""
    reads = [x.tensor.name for x in walk(e) if isinstance(x, Access)]
    return bool(reads) and all(name in constants for name in reads) and not any(isinstance(x, Fold) for x in walk(e))


def _largest_read(e: Expr, constants: Container[str]) -> Access | None:
    if isinstance(e, Access):
        return e
    reads = [x for x in walk(e) if isinstance(x, Access)]
    return max(reads, key=lambda a: len(free(a))) if is_stored(e, constants) else None
