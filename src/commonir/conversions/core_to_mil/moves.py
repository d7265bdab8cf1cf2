"""Transpositions of tensors of any rank as steps of rank at most 4.

Core ML has tensors of rank at most 5. The elements of a tensor of higher rank are kept in row-major order in one of
lower rank; axes that stay together move as one, and what remains is moved to the front one group after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mil.base import MAX_RANK
from commonir.ir.operation import Value
from commonir.symbolic import Dim, element_count


def moved(x: Value, shape: Sequence[Dim], perm: Sequence[int]) -> Value:
    """The elements of a tensor of a shape with its axes in another order.

    `x` has the elements of that shape in row-major order, under any shape. The result has them under some shape too.
    """
    groups = _groups(shape, perm)
    if groups == sorted(groups, key=_first_axis):
        return x
    by_source = sorted(groups, key=_first_axis)
    dims = [element_count(tuple([shape[a] for a in group])) for group in by_source]
    order = [by_source.index(group) for group in groups]
    if len(dims) <= MAX_RANK:
        return core.transpose(_under(x, tuple(dims)), tuple(order))
    current = list(range(len(dims)))
    for place, expected in enumerate(order):
        at = current.index(expected)
        if at == place:
            continue
        parts = (current[:place], current[place:at], [expected], current[at + 1 :])
        steps = tuple([element_count(tuple([dims[g] for g in part])) for part in parts])
        x = core.transpose(_under(x, steps), (0, 2, 1, 3))
        current = [*parts[0], *parts[2], *parts[1], *parts[3]]
    return x


def _first_axis(group: tuple[int, ...]) -> int:
    return group[0]


def _groups(shape: Sequence[Dim], perm: Sequence[int]) -> list[tuple[int, ...]]:
    """Axes in their new order, those that follow each other in the old order together; axes of size 1 left out."""
    real = [a for a in perm if shape[a] != 1]
    follower = dict(pairwise(sorted(real)))
    groups: list[tuple[int, ...]] = []
    for a in real:
        if groups and follower.get(groups[-1][-1]) == a:
            groups[-1] = (*groups[-1], a)
        else:
            groups.append((a,))
    return groups


def _under(x: Value, shape: tuple[Dim, ...]) -> Value:
    return x if tensor_type(x).shape == shape else core.reshape(x, shape)
