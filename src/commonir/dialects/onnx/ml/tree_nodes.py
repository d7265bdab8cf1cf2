"""The nodes of decision trees in the two encodings of ONNX: the attributes that operators of an encoding share.

Source: ONNX operator reference, domain ai.onnx.ml, TreeEnsemble, TreeEnsembleRegressor, TreeEnsembleClassifier.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import OnnxOp, element_of
from commonir.dialects.onnx.ml.scores import TRANSFORM, floats
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64
from commonir.ods import attr_types, attribute, non_negative, operand


class NumberedNodes(OnnxOp):
    """Trees whose nodes refer to other nodes and leaves by index."""

    X: Value = operand("T")
    tree_roots: tuple[int, ...] = attribute(attr_types.integers, check=non_negative)
    nodes_featureids: tuple[int, ...] = attribute(attr_types.integers, check=non_negative)
    nodes_modes: Data = attribute(attr_types.data)
    nodes_splits: Data = attribute(attr_types.data)
    nodes_truenodeids: tuple[int, ...] = attribute(attr_types.integers, check=non_negative)
    nodes_falsenodeids: tuple[int, ...] = attribute(attr_types.integers, check=non_negative)
    nodes_trueleafs: tuple[int, ...] = attribute(attr_types.integers)
    nodes_falseleafs: tuple[int, ...] = attribute(attr_types.integers)
    leaf_targetids: tuple[int, ...] = attribute(attr_types.integers, check=non_negative)
    leaf_weights: Data = attribute(attr_types.data)
    nodes_hitrates: Data | None = attribute(attr_types.data, default=None)
    nodes_missing_value_tracks_true: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    membership_values: Data | None = attribute(attr_types.data, default=None)


class NamedNodes(OnnxOp):
    """Trees whose nodes are identified by tree id and node id; nodes of mode LEAF are leaves."""

    X: Value = operand("T")
    post_transform: str = attribute(attr_types.string, default="NONE", check=TRANSFORM)
    nodes_treeids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    nodes_nodeids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    nodes_featureids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    nodes_modes: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    nodes_values: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    nodes_values_as_tensor: Data | None = attribute(attr_types.data, default=None, since="ml3")
    nodes_truenodeids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    nodes_falsenodeids: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    nodes_hitrates: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    nodes_hitrates_as_tensor: Data | None = attribute(attr_types.data, default=None, since="ml3")
    nodes_missing_value_tracks_true: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    base_values: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    base_values_as_tensor: Data | None = attribute(attr_types.data, default=None, since="ml3")

    def precision(self, x: Value) -> ElementType:
        """The type in which features are compared and weights summed."""
        return f64 if element_of(x) is f64 else f32

    def based(self, scores: Value) -> Value:
        """Scores plus the base value of each."""
        given = self.base_values_as_tensor
        if given is not None:
            values = core.constant(given)
            return core.add(scores, values if element_of(values) is element_of(scores) else core.cast(values, f64))
        return core.add(scores, floats(self.base_values, element_of(scores))) if self.base_values else scores
