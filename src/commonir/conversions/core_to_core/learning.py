"""Rules for ensembles of trees and tables of keys: by look-ups and choices.

Trees and tables must be known. All rows take a step in all trees at once, as often as the deepest tree is deep.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from commonir.conversions.operands import element_of
from commonir.dialects import core
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean, i32, string
from commonir.ods import known_data
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

MOST_KEYS = 64
"""Keys of a table that are compared one after another."""
MOST_WEIGHTS = 1 << 24
"""Elements of a table that has a weight for each leaf and target."""


def _elements(values: Sequence[Value], sources: Sequence[Value]) -> list[tuple[Any, ...]] | None:
    """The elements of constants; None when one is none. What stands for one need not say what it holds, as the source
    does.
    """
    known = [known_data(v) or known_data(source) for v, source in zip(values, sources, strict=True)]
    result = [d.values() for d in known if d is not None]
    return result if len(result) == len(known) else None


def _table(values: Sequence[Any], element: ElementType, *shape: int) -> Value:
    return core.constant(data_of(element, shape or (len(values),), list(values)))


@rule(core.TreeEnsemble)
def tree_ensemble(op: core.TreeEnsemble, context: Context, x: Value, *operands: Value | None) -> Result:
    result = _elements([v for v in operands if v is not None], op.operands[1:])
    if result is None or op.set_starts is not None or element_of(x) is not element_of(op.leaf_weights):
        return Mismatch("trees must be known, without sets, and of the type of the features")
    roots, features, tests, values, if_true, if_false, missing, starts, targets, weights = result
    if (fault := core.table_fault(roots, tests, (*if_true, *if_false), starts, targets, op.targets)) is not None:
        return Mismatch(fault)
    nodes, leaves = len(features), len(starts) - 1
    depth = _depth(roots, if_true, if_false)
    if depth is None or (nodes + leaves) * op.targets > MOST_WEIGHTS:
        return Mismatch("the trees have a cycle, or too many leaves and targets")
    element, none = element_of(x), [0] * leaves
    stay = [nodes + n for n in range(leaves)]
    children = [[c if c >= 0 else nodes - 1 - c for c in side] + stay for side in (if_true, if_false)]
    walk = _Walk(x, [*features, *none], [*tests, *none], [*values, *none], children, [*map(int, missing), *none])
    rows = (core.tensor_type(x).shape or (None,))[0]
    if rows is None:
        return Mismatch("the number of rows is not known")
    first = _table([r if r >= 0 else nodes - 1 - r for r in roots], i32, 1, len(roots))
    at = core.broadcast_to(first, (rows, len(roots)))
    for _ in range(depth):
        at = walk.step(at)
    start = {core.Aggregate.MIN: math.inf, core.Aggregate.MAX: -math.inf}.get(op.aggregate, 0.0)
    dense = _dense(op, nodes, starts, targets, weights, start)
    each = core.gather(_table(dense, element, nodes + leaves, op.targets), at, 0)
    return _aggregated(op, each, len(roots))


def _depth(roots: Sequence[int], if_true: Sequence[int], if_false: Sequence[int]) -> int | None:
    """How many steps lead from the roots to the last leaf; None when there is a cycle."""
    level = {r for r in roots if r >= 0}
    for depth in range(len(if_true) + 1):
        if not level:
            return depth
        level = {c for n in level for c in (if_true[n], if_false[n]) if c >= 0}
    return None


class _Walk:
    """The tables that a step reads: of nodes, and after them of leaves, which stay where they are."""

    def __init__(
        self,
        x: Value,
        features: Sequence[int],
        tests: Sequence[int],
        values: Sequence[float],
        children: Sequence[Sequence[int]],
        missing: Sequence[int],
    ) -> None:
        self._x = x
        self._features = _table(features, i32)
        self._values = _table(values, element_of(x))
        self._children = [_table(side, i32) for side in children]
        self._kinds = sorted(set(tests))
        self._tests = _table(tests, i32)
        self._missing = _table(missing, i32) if any(missing) else None

    def step(self, at: Value) -> Value:
        """Where the rows (axis 0) come to from nodes of the trees (axis 1)."""
        feature = core.gather_elements(self._x, core.gather(self._features, at, 0), 1)
        value = core.gather(self._values, at, 0)
        kind = core.gather(self._tests, at, 0) if len(self._kinds) > 1 else None
        holds: Value | None = None
        for number in self._kinds:
            one = _COMPARISONS[core.NodeTest(number)](feature, value)
            if kind is not None:
                one = core.logical_and(one, core.equal(kind, core.splat(number, kind)))
            holds = one if holds is None else core.logical_or(holds, one)
        assert holds is not None
        if self._missing is not None:
            marked = core.gather(self._missing, at, 0)
            is_marked = core.equal(marked, core.splat(1, marked))
            # What does not equal itself is not a number.
            holds = core.logical_or(holds, core.logical_and(is_marked, core.not_equal(feature, feature)))
        first, second = [core.gather(side, at, 0) for side in self._children]
        return core.select(holds, first, second)


_COMPARISONS = {
    core.NodeTest.LEQ: core.less_equal,
    core.NodeTest.LT: core.less,
    core.NodeTest.GTE: core.greater_equal,
    core.NodeTest.GT: core.greater,
    core.NodeTest.EQ: core.equal,
    core.NodeTest.NEQ: core.not_equal,
}


def _dense(
    op: core.TreeEnsemble,
    nodes: int,
    starts: Sequence[int],
    targets: Sequence[int],
    weights: Sequence[float],
    start: float,
) -> list[float]:
    """Returns the value of each leaf, after all nodes, for each target."""
    count = op.targets
    combine = {core.Aggregate.MIN: min, core.Aggregate.MAX: max}.get(op.aggregate)
    out = [start] * (nodes + len(starts) - 1) * count
    for leaf in range(len(starts) - 1):
        for entry in range(starts[leaf], starts[leaf + 1]):
            place = (nodes + leaf) * count + targets[entry]
            before, weight = out[place], weights[entry]
            out[place] = before + weight if combine is None else combine(before, weight)
    return out


def _aggregated(op: core.TreeEnsemble, each: Value, trees: int) -> Value:
    """The weights of all trees (axis 1) as one; 0 where there is none."""
    if op.aggregate is core.Aggregate.SUM:
        return core.reduce_sum(each, (1,))
    if op.aggregate is core.Aggregate.AVERAGE:
        summed = core.reduce_sum(each, (1,))
        return core.div(summed, core.splat(float(trees), summed))
    fold = core.reduce_min if op.aggregate is core.Aggregate.MIN else core.reduce_max
    most = fold(each, (1,))
    return core.select(core.is_inf(most), core.splat(0.0, most), most)


@rule(core.Lookup)
def lookup(op: core.Lookup, context: Context, x: Value, keys: Value, values: Value, otherwise: Value) -> Result:
    result = _elements((keys,), (op.keys,))
    kinds = (element_of(x), element_of(values))
    if result is None or not result[0] or len(result[0]) > MOST_KEYS or any(k in (string, boolean) for k in kinds):
        return Mismatch(f"a table is one to {MOST_KEYS} numbers that are known")
    out = otherwise
    # Of equal keys the last one counts.
    for n, key in enumerate(result[0]):
        if isinstance(key, float) and math.isnan(key):
            here = core.not_equal(x, x)
        else:
            here = core.equal(x, core.splat(key, x))
        out = core.select(here, core.reshape(core.slice(values, (n,), (n + 1,), (1,)), ()), out)
    return out
