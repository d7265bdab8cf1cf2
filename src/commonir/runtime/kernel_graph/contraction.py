"""Contractions: folds that sum products of two reads, such as matrix products and convolutions.

They are recognized by their expression, here alone. `contraction_of` returns the fold of a node that is worth a
schedule of its own, `roles_of` what its indices are to the factors.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.types import bf16, f16, f32
from commonir.notation import Access, Apply, Cast, Expr, Fold, free, walk
from commonir.runtime.kernel_graph.graph import KernelNode


class Roles(NamedTuple):
    """The indices of the result that both factors have, or neither; those of the left one and of the right one alone;
    and the summed ones.
    """

    batch: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    summed: tuple[str, ...]


def roles_of(left: Collection[str], right: Collection[str], result: Iterable[str], summed: Iterable[str]) -> Roles:
    """Returns the roles of the indices of factors, of the result, and of a sum, each in the order given."""
    axes = list(result)
    return Roles(
        tuple([i for i in axes if (i in left) == (i in right)]),
        tuple([i for i in axes if i in left and i not in right]),
        tuple([i for i in axes if i in right and i not in left]),
        tuple(summed),
    )


class Contraction(NamedTuple):
    """A sum of products, and what its factors read: of a factor that is an expression of constants, the largest."""

    fold: Fold
    left: Access
    right: Access
    roles: Roles

    @property
    def flipped(self) -> Contraction:
        """The same sum with its factors exchanged."""
        batch, rows, columns, summed = self.roles
        return Contraction(self.fold, self.right, self.left, Roles(batch, columns, rows, summed))


def summed_products(body: Expr) -> Iterator[tuple[Fold, Sequence[Expr]]]:
    """Yields the folds in an expression that sum products, each with its factors."""
    for e in walk(body):
        match e:
            case Fold(fn="add", body=Apply(fn="multiply", args=factors)):
                yield e, factors
            case _:
                pass


def contraction_of(node: KernelNode, constants: Container[str]) -> Contraction | None:
    """Returns the sum of products in a kernel; None if there is none where both factors have indices of their own."""
    for fold, factors in summed_products(node.kernel.body):
        left, right = [_largest_read(factor_read(x, constants), constants) for x in factors]
        if left is not None and right is not None:
            a, b = [[i for i in free(x) if i not in fold.over] for x in (left, right)]
            roles = roles_of(a, b, dict.fromkeys([*a, *b]), fold.over)
            if roles.rows or roles.columns:
                return Contraction(fold, left, right, roles)
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
