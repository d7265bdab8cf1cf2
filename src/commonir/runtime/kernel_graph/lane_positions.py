"""Positions that machine code computes in 32 bits, one for each lane of a vector, and how large they become.

Positions in a tensor are below its number of elements. Before views are undone, and under a floor, they may be larger:
a padding or a dilation may be any number, and coordinates of a resize are products of two sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.notation import Access, Expr, Flat, Kernel, Position, resolve, walk
from commonir.symbolic import Dim, Floor, Max, Mod, Symbol, extreme, index, terms_of

LARGEST = (1 << 31) - 1
"""The largest position of 32 bits."""


def position_magnitudes(kernel: Kernel, extents: Mapping[str, Dim]) -> Iterator[Dim]:
    """Yields upper bounds of what is computed for positions and of its negative, without those below a size."""
    for e in walk(kernel.body):
        if isinstance(e, Position):
            yield from _magnitudes(e.at, extents)
        elif isinstance(e, Access) and not _is_plain(e):
            known = dict(extents)
            at: list[Dim] = []
            for axis, p in enumerate(e.at):
                if isinstance(p, Expr):
                    at.append(index(f"data{axis}"))
                    known[f"data{axis}"] = e.tensor.shape[axis]
                else:
                    at.append(p)
            where, guards = resolve(e.tensor, at)
            for p in (*at, *where, *[g.position for g in guards], *[g.bound for g in guards]):
                yield from _magnitudes(p, known)


def _is_plain(e: Access) -> bool:
    """Returns whether all positions are below the sizes of tensors: indices and data, also along a flat tensor."""
    is_flat = all(isinstance(view, Flat) for view, _ in e.tensor.steps)
    return is_flat and all(isinstance(p, Expr | int) or all(_is_linear(m) for m in terms_of(p)) for p in e.at)


def _is_linear(monomial: tuple[object, ...]) -> bool:
    return all(isinstance(a, Symbol) for a in monomial)


def _magnitudes(x: Dim, extents: Mapping[str, Dim]) -> Iterator[Dim]:
    if isinstance(x, int):
        yield abs(x)
        return
    yield extreme(x, extents, upper=True)
    yield -extreme(x, extents, upper=False)
    for monomial in terms_of(x):
        for a in monomial:
            match a:
                case Floor() | Mod():
                    yield from _magnitudes(a.num, extents)
                    yield from _magnitudes(a.den, extents)
                case Max():
                    for y in a.args:
                        yield from _magnitudes(y, extents)
                case Symbol():
                    pass
