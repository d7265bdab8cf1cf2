"""ONNX ensembles of decision trees.

Source: ONNX operator reference, domain ai.onnx.ml, versions 1 to 5; where that is vague, onnxruntime.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import element_of, shape_of
from commonir.dialects.onnx.ml.scores import (
    LABELS,
    REAL,
    TRANSFORMS,
    chosen,
    labels_of,
    largest_position,
    of_two_classes,
    rows_of,
    single,
    transformed,
)
from commonir.dialects.onnx.ml.tree_nodes import NamedNodes, NumberedNodes
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, f16, f32, f64, i64, string
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, element_type, one_of, operand, result
from commonir.symbolic import Dim

AGGREGATES = (core.Aggregate.AVERAGE, core.Aggregate.SUM, core.Aggregate.MIN, core.Aggregate.MAX)
"""In the order of their numbers in `aggregate_function` of TreeEnsemble."""


def _rows(x: Value) -> Dim | None:
    """The number of rows of features; a vector is one."""
    shape = x.type.shape if isinstance(x.type, TensorType) else None
    if shape is not None and len(shape) not in (1, 2):
        raise NotationError(f"features of rank {len(shape)}")
    return None if shape is None else 1 if len(shape) == 1 else shape[0]


class TreeEnsemble(NumberedNodes, name="onnx.ml.TreeEnsemble", since="ml5"):
    """Ensemble of decision trees: the aggregated leaf weights for each row and target, after `post_transform`."""

    n_targets: int | None = attribute(attr_types.integer, default=None)
    aggregate_function: int = attribute(attr_types.integer, default=1, check=one_of(*range(len(AGGREGATES))))
    post_transform: int = attribute(attr_types.integer, default=0, check=one_of(*range(len(TRANSFORMS))))
    Y: Value = result("T")
    T = element_type(f16, f32, f64)

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(element_of(self.X), (_rows(self.X), self._targets)),)

    @property
    def _targets(self) -> int:
        return self.n_targets or 1 + max(self.leaf_targetids, default=0)

    def reference(self, X: Value) -> Value:
        from commonir.dialects.onnx.ml.tree_tables import of_nodes  # noqa: PLC0415  loads numpy

        tables = of_nodes(self, element_of(X))
        scores = tables.scores(rows_of(X), self._targets, AGGREGATES[self.aggregate_function])
        return transformed(scores, TRANSFORMS[self.post_transform])


class TreeEnsembleRegressor(NamedNodes, name="onnx.ml.TreeEnsembleRegressor", since="ml1 ml3 ml5"):
    """Tree ensemble regressor: the aggregated leaf weights for each row and target, after `post_transform`."""

    deprecated_since = "ml5"
    successor = "TreeEnsemble"

    n_targets: int | None = attribute(attr_types.integer, default=None)
    aggregate_function: str = attribute(
        attr_types.string, default="SUM", check=one_of(*[a.value.upper() for a in core.Aggregate])
    )
    target_treeids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    target_nodeids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    target_ids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    target_weights: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    target_weights_as_tensor: Data | None = attribute(attr_types.data, default=None, since="ml3")
    Y: Value = result("f32")
    T = REAL

    @property
    def _targets(self) -> int:
        return self.n_targets or 1 + max(self.target_ids or (), default=0)

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(f32, (_rows(self.X), self._targets)),)

    def reference(self, X: Value) -> Value:
        from commonir.dialects.onnx.ml.tree_tables import Entries, of_named_nodes  # noqa: PLC0415  loads numpy

        entries = Entries(
            self.target_treeids,
            self.target_nodeids,
            self.target_ids,
            self.target_weights,
            self.target_weights_as_tensor,
        )
        tables = of_named_nodes(self, entries, self.precision(X))
        scores = tables.scores(rows_of(X), self._targets, core.Aggregate(self.aggregate_function.lower()))
        return single(transformed(self.based(scores), self.post_transform))


class TreeEnsembleClassifier(NamedNodes, name="onnx.ml.TreeEnsembleClassifier", since="ml1 ml3 ml5"):
    """Tree ensemble classifier: the label with the largest score of each row, and the scores: the sums of leaf weights.

    With two classes, of which only one has weights (binary classification), these score the second class: as a
    probability with the threshold 0.5 if no weight is negative, else with the threshold 0. If they are those of the
    first class, the scores of both are computed from them.
    """

    deprecated_since = "ml5"
    successor = "TreeEnsemble"

    X: Value = operand("T1")
    classlabels_int64s: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    classlabels_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    class_treeids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    class_nodeids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    class_ids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    class_weights: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    class_weights_as_tensor: Data | None = attribute(attr_types.data, default=None, since="ml3")
    Y: Value = result("T2")
    Z: Value = result("f32")
    T1 = REAL
    T2 = LABELS

    def infer(self) -> tuple[Type, ...]:
        named = len(self.classlabels_strings or self.classlabels_int64s or ())
        rows = _rows(self.X)
        label = string if self.classlabels_strings else i64
        return (TensorType(label, (rows,)), TensorType(f32, (rows, max(named, 1))))

    def reference(self, X: Value) -> tuple[Value, ...]:
        from commonir.dialects.onnx.ml.tree_tables import Entries, of_named_nodes  # noqa: PLC0415  loads numpy

        entries = Entries(
            self.class_treeids, self.class_nodeids, self.class_ids, self.class_weights, self.class_weights_as_tensor
        )
        labels, named = labels_of(self.classlabels_int64s, self.classlabels_strings)
        tables = of_named_nodes(self, entries, self.precision(X))
        of_classes = set(self.class_ids or ())
        x = rows_of(X)
        if named != 2 or len(of_classes) != 1:
            scores = self.based(tables.scores(x, max(named, 1), core.Aggregate.SUM))
            return chosen(labels, largest_position(scores)), single(transformed(scores, self.post_transform))
        is_probability = bool((tables.leaf_weights >= 0).all())
        if of_classes == {1}:
            both = self.based(tables.scores(x, 2, core.Aggregate.SUM))
            score = core.slice(both, (0, 1), (shape_of(both)[0], 2), (1, 1))
            scores = transformed(both, self.post_transform)
        else:
            score = self.based(tables.scores(x, 1, core.Aggregate.SUM))
            scores = of_two_classes(score, self.post_transform, is_probability=is_probability)
        border = core.splat(0.5 if is_probability else 0.0, score)
        is_second = core.squeeze(core.greater(score, border), (1,))
        return chosen(labels, core.cast(is_second, i64)), single(scores)
