"""Probabilities of classes from those of one against another. Import it lazily: it loads numpy.

Source: Wu, Lin, Weng: Probability estimates for multi-class classification by pairwise coupling (2004), algorithm 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

TOLERANCE = 0.005
LEAST_ROUNDS = 100


def coupled(pairs: Array, classes: int) -> Array:
    """The probabilities of each row. `pairs` has a column for each two classes: the probability of the earlier one."""
    rows = len(pairs)
    against = np.zeros((rows, classes, classes))
    earlier, later = np.triu_indices(classes, 1)
    against[:, earlier, later] = pairs
    against[:, later, earlier] = 1 - pairs.astype(np.float64)
    # The quadratic form to be minimized: minus products off the diagonal, sums of squares on it.
    form = -np.swapaxes(against, 1, 2) * against
    diagonal = np.arange(classes)
    form[:, diagonal, diagonal] = (against**2).sum(1)
    p = np.full((rows, classes), 1 / classes)
    active = np.arange(rows)
    for _ in range(max(LEAST_ROUNDS, classes)):
        q = form[active]
        slope = np.einsum("nij,nj->ni", q, p[active])
        value = (p[active] * slope).sum(1)
        off = np.abs(slope - value[:, None]).max(1) >= TOLERANCE / classes
        active, q, slope, value = active[off], q[off], slope[off], value[off]
        if not active.size:
            break
        p[active] = _improved(p[active], q, slope, value)
    return p.astype(pairs.dtype)


def _improved(p: Array, form: Array, slope: Array, value: Array) -> Array:
    """One round: each class in turn takes its best probability, and all are scaled to sum to one."""
    for t in range(p.shape[1]):
        step = (value - slope[:, t]) / form[:, t, t]
        value = (value + step * (step * form[:, t, t] + 2 * slope[:, t])) / (1 + step) ** 2
        slope = (slope + step[:, None] * form[:, t]) / (1 + step)[:, None]
        p[:, t] += step
        p = p / (1 + step)[:, None]
    return p
