"""Splits indices under floor and mod by constants into mixed-radix digits, which makes most positions linear.

The position `i mod 32` of an index of 384 becomes `i.0`, where `i = 32 * i.1 + i.0`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from commonir.notation.expressions import Expr
from commonir.notation.traversal import rewrite
from commonir.symbolic import Dim, Floor, Mod, floor_div, index, plain, substitute_indices, terms_of, within


def digits_of(positions: Iterable[Dim], extents: Mapping[str, Dim]) -> dict[str, list[tuple[str, Dim, int]]]:
    """Returns the digits of indices, leading digit first: names, extents, and what a step of each counts.

    An index is split where its divisors and its extent divide one another.
    """
    radices: dict[str, set[int]] = {}
    for p in positions:
        _find_radices(p, radices)
    out: dict[str, list[tuple[str, Dim, int]]] = {}
    for i, divisors in radices.items():
        extent = extents.get(i)
        if extent is None:
            continue
        steps = [1, *sorted(r for r in divisors if r > 1 and (not isinstance(extent, int) or r < extent))]
        leading = floor_div(extent, steps[-1])
        if len(steps) == 1 or leading * steps[-1] != extent or any(b % a for a, b in itertools.pairwise(steps)):
            continue
        inner = [(f"{i}.{d}", b // a, a) for d, (a, b) in enumerate(itertools.pairwise(steps))]
        out[i] = [(f"{i}.{len(inner)}", leading, steps[-1]), *reversed(inner)]
    return out


def with_digits(body: Expr, digits: Mapping[str, list[tuple[str, Dim, int]]], extents: Mapping[str, Dim]) -> Expr:
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


def _find_radices(p: Dim, radices: dict[str, set[int]]) -> None:
    for m in terms_of(p):
        for a in m:
            if isinstance(a, Floor | Mod) and isinstance(a.den, int):
                _find_radices(a.num, radices)
                name = plain(a.num)
                if name is not None:
                    radices.setdefault(name, set()).add(a.den)
