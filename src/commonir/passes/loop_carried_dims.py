"""Sizes of what loops carry from round to round that are the same in all rounds.

A nested program names the sizes of what it receives. Where each round keeps the size that a loop begins with, that name
stands for this size: what is computed inside and what the loop gives is known by it.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.dialects import core
from commonir.dialects.core.control import received, yielded
from commonir.ir.types import TensorType, Type, symbols_of
from commonir.ods import Op
from commonir.ods.specialize import specialize
from commonir.symbolic import Dim, plain_symbol
from commonir.symbolic.analysis import substitute


def set_loop_carried_dims(loop: Op) -> bool:
    """Puts the sizes that a loop begins with in the place of the names they have inside, where all rounds keep them.

    Gives whether something was replaced; types of the results of the loop have to follow then.
    """
    if not isinstance(loop, core.While | core.Scan):
        return False
    first, states = [v.type for v in loop.initial], received(loop.body)[: len(loop.initial)]
    kept = _kept([a.type for a in states], first, [v.type for v in yielded(loop.body)[: len(first)]])
    if not kept:
        return False
    specialize(loop.body.block, kept)
    if isinstance(loop, core.While):
        given = [a.type for a in received(loop.condition)]
        known = set(symbols_of(first))
        specialize(
            loop.condition.block,
            {name: begin for name, begin, _ in _places(given, first, [a.type for a in states]) if name not in known},
        )
    return True


def _kept(inside: list[Type], first: list[Type], last: list[Type]) -> dict[str, Dim]:
    """The names of sizes that stay as they begin, with these: the largest set of which that follows from itself."""
    known = set(symbols_of(first))
    places = [p for p in _places(inside, first, last) if p[0] not in known]
    kept: dict[str, Dim] = {}
    for name, begin, _ in places:
        kept.setdefault(name, begin)
    while True:
        wrong = {
            name
            for name, begin, end in places
            if name in kept and (begin != kept[name] or end is None or substitute(end, kept) != begin)
        }
        if not wrong:
            return kept
        for name in wrong:
            del kept[name]


def _places(inside: list[Type], first: list[Type], last: list[Type]) -> Iterator[tuple[str, Dim, Dim | None]]:
    """Each size that a name stands for inside: the name, the size at the beginning, and that at the end of a round."""
    for named, begin, end in zip(inside, first, last, strict=False):
        shapes = [t.shape if isinstance(t, TensorType) else None for t in (named, begin, end)]
        if shapes[0] is None or shapes[1] is None or len(shapes[0]) != len(shapes[1]):
            continue
        ends = shapes[2] if shapes[2] is not None and len(shapes[2]) == len(shapes[0]) else [None] * len(shapes[0])
        for n, (name, size) in enumerate(zip(map(plain_symbol, shapes[0]), shapes[1], strict=True)):
            if name is not None and size is not None:
                yield name, size, ends[n]
