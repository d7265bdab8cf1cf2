"""Reads through views as reads of the tensors below them."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.notation import Access, Expr, resolve
from commonir.runtime.kernel_graph.layouts import layout_of
from commonir.symbolic import Dim, DimExpr, Floor, Mod, index, size_of, symbols, terms_of, total, within
from commonir.symbolic.errors import NotKnownError

LONGEST_ADDRESS = 128
"""The most symbols in the expression of an address, each counted as often as it occurs."""


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


def has_long_address(a: Access) -> bool:
    """Returns whether an address of a read is a long expression: those take long to simplify, or cannot be written.

    Positions in tensors that are resized or sliced to sizes of symbols are of this kind.
    """
    at = [index("data") if isinstance(p, Expr) else p for p in a.at]
    shapes = (a.tensor.source.shape, *[shape for _, shape in a.tensor.steps])
    if not any(isinstance(n, DimExpr) for shape in shapes for n in shape) and not any(map(symbols, at)):
        return False
    try:
        where, _ = resolve(a.tensor, at)
        strides = layout_of(a.tensor.source.shape).strides
        return size_of(total([p * step for p, step in zip(where, strides, strict=True)])) > LONGEST_ADDRESS
    except NotKnownError:
        return True
