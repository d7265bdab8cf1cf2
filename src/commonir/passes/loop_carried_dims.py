"""Finds dims of loop-carried values that are the same in all iterations.

A nested block names the dims of its arguments. If each iteration keeps a dim of the initial value, that name is
replaced by the initial dim, so that shapes inside the loop and of its results are known.
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
    """Replaces symbols inside a loop by initial dims, where all iterations keep them.

    Returns whether something was replaced; the types of the results of the loop must then be inferred again.
    """
    if not isinstance(loop, core.While | core.Scan):
        return False
    first, states = [v.type for v in loop.initial], received(loop.body)[: len(loop.initial)]
    invariant = _invariant_dims([a.type for a in states], first, [v.type for v in yielded(loop.body)[: len(first)]])
    if not invariant:
        return False
    specialize(loop.body.block, invariant)
    if isinstance(loop, core.While):
        condition_types = [a.type for a in received(loop.condition)]
        outer = set(symbols_of(first))
        specialize(
            loop.condition.block,
            {
                name: begin
                for name, begin, _ in _carried_dims(condition_types, first, [a.type for a in states])
                if name not in outer
            },
        )
    return True


def _invariant_dims(inside: list[Type], first: list[Type], last: list[Type]) -> dict[str, Dim]:
    """Returns the symbols that keep their initial dims, with these: the largest set that is consistent."""
    outer = set(symbols_of(first))
    carried = [p for p in _carried_dims(inside, first, last) if p[0] not in outer]
    invariant: dict[str, Dim] = {}
    for name, begin, _ in carried:
        invariant.setdefault(name, begin)
    while True:
        wrong = {
            name
            for name, begin, end in carried
            if name in invariant and (begin != invariant[name] or end is None or substitute(end, invariant) != begin)
        }
        if not wrong:
            return invariant
        for name in wrong:
            del invariant[name]


def _carried_dims(inside: list[Type], first: list[Type], last: list[Type]) -> Iterator[tuple[str, Dim, Dim | None]]:
    """Yields the symbols of dims inside, each with the initial dim and the dim at the end of an iteration."""
    for named, begin, end in zip(inside, first, last, strict=False):
        shapes = [t.shape if isinstance(t, TensorType) else None for t in (named, begin, end)]
        if shapes[0] is None or shapes[1] is None or len(shapes[0]) != len(shapes[1]):
            continue
        ends = shapes[2] if shapes[2] is not None and len(shapes[2]) == len(shapes[0]) else [None] * len(shapes[0])
        for n, (name, dim) in enumerate(zip(map(plain_symbol, shapes[0]), shapes[1], strict=True)):
            if name is not None and dim is not None:
                yield name, dim, ends[n]
