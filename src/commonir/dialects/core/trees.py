"""The core operation that runs ensembles of decision trees.

Trees are given as arrays, one element for each inner node. A child that is not negative is a node, a negative one the
leaf -1 - child. A leaf adds weights to targets; those of leaf l are the entries starts[l] up to starts[l + 1].
Source: ONNX operator reference, domain ai.onnx.ml, TreeEnsemble.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import CoreOp, function, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, f16, f32, f64
from commonir.ods import attr_types, attribute, element_type, operand, positive, result, traits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


class NodeTest(Enum):
    """Comparisons of a feature with a node's value; the first child is visited if it holds, else the second."""

    LEQ = 0
    LT = 1
    GTE = 2
    GT = 3
    EQ = 4
    NEQ = 5
    MEMBER = 6


class Aggregate(Enum):
    """Aggregations of the leaf weights of one target."""

    SUM = "sum"
    AVERAGE = "average"
    MIN = "min"
    MAX = "max"


class TreeEnsemble(CoreOp, name="core.tree_ensemble", traits=(traits.Pure,)):
    """Evaluates an ensemble of decision trees: for each row of x and each target, aggregates the weights of the leaves.

    `tests` has values of `NodeTest`. For MEMBER, `values` is the index of a set in `set_starts`, whose elements are the
    entries of `set_members` from there up to the next start. A missing feature (NaN) selects the first child if
    `missing_is_true`, else the child that the test of NaN selects. Sums are computed in double precision and rounded
    once; an average is divided by the number of trees. A target without weights is 0.
    """

    x: Value = operand("T[n, f]")
    roots: Value = operand("i64[t]")
    features: Value = operand("i64[k]")
    tests: Value = operand("ui8[k]")
    values: Value = operand("V[k]")
    if_true: Value = operand("i64[k]")
    if_false: Value = operand("i64[k]")
    missing_is_true: Value = operand("i1[k]")
    leaf_starts: Value = operand("i64[l]")
    leaf_targets: Value = operand("i64[w]")
    leaf_weights: Value = operand("V[w]")
    targets: int = attribute(attr_types.integer, check=positive)
    set_starts: Value | None = operand("i64[g]", default=None)
    set_members: Value | None = operand("V[m]", default=None)
    aggregate: Aggregate = attribute(attr_types.enumeration(Aggregate), default=Aggregate.SUM)
    y: Value = result("V[n, c]")
    T = element_type(f16, f32, f64)
    V = element_type(f16, f32, f64)

    def infer(self) -> tuple[Type, ...]:
        shape = tensor_type(self.x).shape
        rows = None if shape is None else shape[0]
        return (TensorType(tensor_type(self.leaf_weights).element, (rows, self.targets)),)

    def reference(self, x: Array, *arrays: Any) -> Array:
        from commonir.dialects.core.tree_walk import aggregated, leaves  # noqa: PLC0415  loads numpy

        roots, features, tests, values, if_true, if_false, missing, starts, targets, weights, *sets = arrays
        found = leaves(x, roots, features, tests, values, if_true, if_false, missing, *sets)
        return aggregated(found, starts, targets, weights, self.targets, self.aggregate.value)


tree_ensemble = function(TreeEnsemble)


def table_fault(
    roots: Sequence[int],
    tests: Sequence[int],
    children: Sequence[int],
    leaf_starts: Sequence[int],
    leaf_targets: Sequence[int],
    targets: int,
) -> str | None:
    """Returns which table of an ensemble refers to what is not there; None if they all fit."""
    nodes, leaves = len(tests), len(leaf_starts) - 1
    if any(not -leaves <= at < nodes for at in (*roots, *children)):
        return f"a tree refers to a node or leaf that is not among its {nodes} nodes and {leaves} leaves"
    bounds = [0, *leaf_starts, len(leaf_targets)]
    if leaves < 0 or bounds != sorted(bounds):
        return f"the entries of leaves are not among {len(leaf_targets)}, in order"
    if any(not 0 <= target < targets for target in leaf_targets):
        return f"a leaf has a weight for a target that is not among {targets}"
    if unknown := {*tests} - {test.value for test in NodeTest}:
        return f"{min(unknown)} is not a test"
    return None
