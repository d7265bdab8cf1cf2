"""Walks over the terms of rewrite rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from commonir.ir.attributes import is_sequence
from commonir.ods.terms import Computed, Group, OperationTerm


def operations_in(term: object) -> Iterator[OperationTerm]:
    """Yields the operations of a term, outermost first."""
    pending = deque([term])
    while pending:
        at = pending.popleft()
        if isinstance(at, OperationTerm):
            yield at
        pending += _parts(at)


def subterms(terms: Sequence[object]) -> Iterator[object]:
    """Yields terms and all their subterms."""
    pending = list(terms)
    while pending:
        at = pending.pop()
        yield at
        pending += _parts(at)


def items_of(term: object) -> Sequence[object] | None:
    """Returns the separate terms of a variadic operand; None for a single term of all of them."""
    return term.items if isinstance(term, Group) else term if is_sequence(term) else None


def _parts(term: object) -> Sequence[object]:
    """Returns the direct subterms of a term."""
    match term:
        case OperationTerm():
            return (*term.fields.values(), *term.extra.values(), *term.types)
        case Computed():
            return term.arguments
        case _:
            return items_of(term) or ()
