"""The walk of rows through decision trees, all rows and trees at once. Import it lazily: it loads numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MEMBER = 6
_COMPARISONS: Mapping[int, Callable[[Array, Array], Array]] = dict(
    enumerate((np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal))
)


def leaves(
    x: Array,
    roots: Array,
    features: Array,
    tests: Array,
    values: Array,
    if_true: Array,
    if_false: Array,
    missing_is_true: Array,
    set_starts: Array | None = None,
    set_members: Array | None = None,
) -> Array:
    """The leaf of each row (axis 0) in each tree (axis 1). Raises: ValueError for trees that have a cycle."""
    rows, trees = len(x), len(roots)
    at = np.broadcast_to(roots, (rows, trees)).reshape(-1).copy()
    kinds = set(np.unique(tests).tolist())
    active = np.flatnonzero(at >= 0)
    for _ in range(len(features) + 1):
        if not active.size:
            return (-1 - at).reshape(rows, trees)
        nodes = at[active]
        given = x[active // max(trees, 1), features[nodes]]
        holds = np.zeros(len(nodes), np.bool_)
        for kind in kinds:
            chosen = slice(None) if len(kinds) == 1 else tests[nodes] == kind
            if kind == MEMBER:
                holds[chosen] = _is_member(given[chosen], values[nodes[chosen]], set_starts, set_members)
            else:
                holds[chosen] = _COMPARISONS[kind](given[chosen], values[nodes[chosen]])
        holds |= missing_is_true[nodes] & np.isnan(given)
        at[active] = np.where(holds, if_true[nodes], if_false[nodes])
        active = active[at[active] >= 0]
    raise ValueError("the trees have a cycle")


def _is_member(given: Array, sets: Array, starts: Array | None, members: Array | None) -> Array:
    """Returns whether each number is in the set at a position."""
    if starts is None or members is None:
        raise ValueError("there are no sets to be a member of")
    out = np.zeros(len(given), np.bool_)
    for number in np.unique(sets):
        n = int(number)
        here = sets == number
        out[here] = np.isin(given[here], members[starts[n] : starts[n + 1]])
    return out


def aggregated(leaves: Array, starts: Array, targets: Array, weights: Array, count: int, aggregate: str) -> Array:
    """Returns the aggregate of the leaves of each row, for each of `count` targets."""
    rows, trees = leaves.shape
    flat = leaves.reshape(-1)
    lengths = starts[flat + 1] - starts[flat]
    # One entry for each weight of each leaf that is come to.
    row = np.repeat(np.arange(flat.size) // max(trees, 1), lengths)
    offsets = np.arange(row.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    entry = np.repeat(starts[flat], lengths) + offsets
    place, given = row * count + targets[entry], weights[entry]
    if aggregate in ("sum", "average"):
        out = np.bincount(place, given.astype(np.float64), rows * count)
        out = out / trees if aggregate == "average" and trees else out
        return out.astype(weights.dtype).reshape(rows, count)
    fold, start = (np.minimum, np.inf) if aggregate == "min" else (np.maximum, -np.inf)
    built = np.full(rows * count, start, weights.dtype)
    fold.at(built, place, given)
    given_any = np.zeros(rows * count, np.bool_)
    given_any[place] = True
    return np.where(given_any, built, 0).astype(weights.dtype).reshape(rows, count)
