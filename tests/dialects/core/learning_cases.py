"""Operations of classifiers, trees and matrices: oracles are Python loops over what their definitions say."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.dialects import core

from tests.dialects.core.drawing import Case, Draw

Array = NDArray[Any]
Maker = Callable[[Draw], Case]

_TESTS: tuple[Callable[[float, float], bool], ...] = (
    lambda a, b: a <= b,
    lambda a, b: a < b,
    lambda a, b: a >= b,
    lambda a, b: a > b,
    lambda a, b: a == b,
    lambda a, b: a != b,
)


def _determinant(m: Array) -> float:
    """The sum over permutations of signed products."""
    total = 0.0
    for order in itertools.permutations(range(len(m))):
        swaps = sum(a > b for a, b in itertools.combinations(order, 2))
        total += (-1) ** swaps * float(np.prod([m[i, j] for i, j in enumerate(order)]))
    return total


def _det(draw: Draw) -> Case:
    size = draw.integer(1, 4)
    x = draw.array((*draw.shape(0, 2), size, size), draw.among("f32", "f64"))
    flat = [_determinant(m) for m in x.reshape(-1, size, size).astype(np.float64)]
    # Products of four numbers of up to 4 cancel.
    return Case((x,), {}, (np.array(flat, x.dtype).reshape(x.shape[:-2]),), 1e-4)


def _lookup(draw: Draw) -> Case:
    count = draw.integer(0, 6)
    keys = draw.array((count,), draw.among("i64", "f32", "i32"), -3, 3)
    if keys.dtype.kind == "f":
        keys = np.rint(keys)
    values, x = draw.array((count,), "f32"), draw.array(draw.maybe_empty(0, 3), "i64", -3, 3).astype(keys.dtype)
    otherwise = draw.array((), "f32")
    table = dict(zip(keys.tolist(), values, strict=True))
    flat = [table.get(k, otherwise) for k in x.reshape(-1).tolist()]
    return Case((x, keys, values, otherwise), {}, (np.array(flat, np.float32).reshape(x.shape),))


def _tree(draw: Draw, first: int, depth: int) -> tuple[list[tuple[int, int, int, int]], int]:
    """Nodes (feature, test, child, other child) of a tree whose first node has a number; and its leaves so far."""
    inner = 2**depth - 1
    nodes: list[tuple[int, int, int, int]] = []
    for n in range(inner):
        children = [first + c if c < inner else -1 for c in (2 * n + 1, 2 * n + 2)]
        nodes.append((draw.integer(0, 2), draw.integer(0, 5), children[0], children[1]))
    return nodes, inner + 1


def _tree_ensemble(draw: Draw) -> Case:
    nodes: list[tuple[int, int, int, int]] = []
    roots: list[int] = []
    for _ in range(draw.integer(1, 3)):
        roots.append(len(nodes))
        nodes += _tree(draw, len(nodes), draw.integer(1, 3))[0]
    numbers = itertools.count()
    placed = [(f, t, *[c if c >= 0 else -1 - next(numbers) for c in children]) for f, t, *children in nodes]
    leaves, targets = next(numbers), draw.integer(1, 3)
    x = draw.array((draw.integer(1, 4), 3), "f32")
    x[draw.array(x.shape, "i1") & draw.array(x.shape, "i1") & draw.array(x.shape, "i1")] = np.nan
    values, missing = draw.array((len(placed),), "f32"), draw.array((len(placed),), "i1")
    lengths = np.array([draw.integer(0, 2) for _ in range(leaves)], np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    of = draw.array((int(starts[-1]),), "i64", 0, targets - 1)
    weights = draw.array((int(starts[-1]),), "f32")
    aggregate = draw.among(*core.Aggregate)
    inputs: list[list[list[float]]] = [[[] for _ in range(targets)] for _ in x]
    for row, actual in zip(x.tolist(), inputs, strict=True):
        for root in roots:
            at = root
            while at >= 0:
                feature, test, child, other = placed[at]
                v = row[feature]
                holds = _TESTS[test](v, float(values[at])) or (bool(missing[at]) and v != v)  # noqa: PLR0124  NaN
                at = child if holds else other
            for entry in range(int(starts[-1 - at]), int(starts[-at])):
                actual[int(of[entry])].append(float(weights[entry]))
    combine: dict[core.Aggregate, Callable[[list[float]], float]] = {
        core.Aggregate.SUM: sum,
        core.Aggregate.AVERAGE: lambda v: sum(v) / len(roots),
        core.Aggregate.MIN: min,
        core.Aggregate.MAX: max,
    }
    y = np.array([[combine[aggregate](v) if v else 0.0 for v in row] for row in inputs], np.float32)
    columns = [np.array(c, np.int64) for c in zip(*placed, strict=True)]
    operands = (
        x, np.array(roots, np.int64), columns[0], columns[1].astype(np.uint8), values, columns[2], columns[3], missing,
        starts, of, weights, None, None,
    )  # fmt: skip
    return Case(operands, {"targets": targets, "aggregate": aggregate}, (y,), 1e-6)


def _pairwise_coupling(draw: Draw) -> Case:
    classes = draw.integer(2, 5)
    pairs = list(itertools.combinations(range(classes), 2))
    x = draw.array((draw.integer(1, 3), len(pairs)), draw.among("f32", "f64"), 0.05, 0.95)
    y = np.array([_best(row.tolist(), pairs, classes) for row in x], x.dtype)
    return Case((x,), {"classes": classes}, (y,), 0.02)


def _best(row: list[float], pairs: list[tuple[int, int]], classes: int) -> Array:
    """Where sum over pairs of (r_ji p_i - r_ij p_j)^2 is least among probabilities, by Lagrange's equations."""
    form = np.zeros((classes + 1, classes + 1))
    for probability, (i, j) in zip(row, pairs, strict=True):
        step = np.zeros(classes + 1)
        step[i], step[j] = 1 - probability, -probability
        form += np.outer(step, step)
    form[:classes, classes] = form[classes, :classes] = 1
    return np.linalg.solve(form, np.eye(classes + 1)[classes])[:classes]


LEARNING: dict[str, Maker] = {
    "core.det": _det,
    "core.lookup": _lookup,
    "core.tree_ensemble": _tree_ensemble,
    "core.pairwise_coupling": _pairwise_coupling,
}
