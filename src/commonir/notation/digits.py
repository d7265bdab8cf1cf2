"""Splits indices under floor and mod by sizes into mixed-radix digits, which makes most positions linear.

The position `i mod 32` of an index of 384 becomes `i.0`, where `i = 32 * i.1 + i.0`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from commonir.notation.expressions import Expr
from commonir.notation.traversal import rewrite
from commonir.symbolic import (
    Dim,
    Floor,
    Mod,
    at_least,
    floor_div,
    index,
    names,
    plain,
    substitute_indices,
    terms_of,
    within,
)


def digits_of(positions: Iterable[Dim], extents: Mapping[str, Dim]) -> dict[str, list[tuple[str, Dim, Dim]]]:
    """Returns the digits of indices, leading digit first: names, extents, and what a step of each counts.

    An index is split where its divisors and its extent divide one another. These may be sizes that are symbols.
    """
    radices: dict[str, dict[Dim, None]] = {}
    for p in positions:
        _find_radices(p, radices)
    out: dict[str, list[tuple[str, Dim, Dim]]] = {}
    for i, divisors in radices.items():
        extent = extents.get(i)
        if extent is None:
            continue
        inside = [r for r in divisors if at_least(r, 0) and not at_least(r, extent)]
        steps = [1, *sorted(inside, key=_degree)]
        pairs = list(itertools.pairwise([*steps, extent]))
        counts = [floor_div(b, a) for a, b in pairs]
        if len(steps) == 1 or any(n * a != b for n, (a, b) in zip(counts, pairs, strict=True)):
            continue
        out[i] = [(f"{i}.{d}", n, a) for d, (n, (a, _)) in enumerate(zip(counts, pairs, strict=True))][::-1]
    return out


def _degree(x: Dim) -> tuple[int, int]:
    """Returns a key that orders sizes that divide one another."""
    return max([len(m) for m in terms_of(x)], default=0), x if isinstance(x, int) else 0


def with_digits(body: Expr, digits: Mapping[str, list[tuple[str, Dim, Dim]]], extents: Mapping[str, Dim]) -> Expr:
    """Returns the expression with digits for indices; `extents` are those of all indices and digits."""
    values: dict[str, Dim] = {}
    for i, of_index in digits.items():
        value: Dim = 0
        for name, _, step in of_index:
            value = value + index(name) * step
        values[i] = value
    return rewrite(
        body,
        lambda p: within(substitute_indices(p, values), extents),
        lambda over: tuple([d for i in over for d in ([n for n, _, _ in digits[i]] if i in digits else [i])]),
    )


def _find_radices(p: Dim, radices: dict[str, dict[Dim, None]]) -> None:
    for m in terms_of(p):
        for a in m:
            if isinstance(a, Floor | Mod):
                _find_radices(a.num, radices)
                name, divisor = _divided(a.num)
                if name is not None and not names(a.den):
                    radices.setdefault(name, {})[divisor * a.den] = None


def _divided(x: Dim) -> tuple[str | None, Dim]:
    """Returns the index of `floor(index / divisor)` and the divisor, which is 1 for an index alone."""
    ((m, c),) = [*terms_of(x).items()] if len(terms_of(x)) == 1 else [((), 0)]
    if c == 1 and len(m) == 1 and isinstance(m[0], Floor) and not names(m[0].den):
        name, divisor = _divided(m[0].num)
        return name, divisor * m[0].den
    return plain(x), 1
