"""Reads through views as reads of the tensors below them."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.notation import Access, Expr, resolve
from commonir.symbolic import Dim, Floor, Mod, terms_of, within


def resolved(a: Access, extents: Mapping[str, Dim]) -> Access:
    """Returns the same read without views; the read itself where they fill or a position comes from data."""
    at = [p for p in a.at if not isinstance(p, Expr)]
    if not a.tensor.steps or len(at) < len(a.at):
        return a
    where, guards = resolve(a.tensor, at)
    return a if guards else Access(a.tensor.source, [within(p, extents) for p in where])


def plainly_resolved(a: Access, extents: Mapping[str, Dim]) -> Access:
    """Returns the same read without views, if that needs no division."""
    result = resolved(a, extents)
    return a if any(_divides(p) for p in result.at if not isinstance(p, Expr)) else result


def _divides(p: Dim) -> bool:
    return any(isinstance(a, Floor | Mod) for m in terms_of(p) for a in m)
