"""Decision trees in the two encodings of ONNX as the arrays that the core takes. Import it lazily: it loads numpy.

Source: ONNX operator reference, domain ai.onnx.ml, TreeEnsemble, TreeEnsembleRegressor, TreeEnsembleClassifier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import ArrayData, Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, boolean, i64, u8
from commonir.notation import NotationError

if TYPE_CHECKING:
    from commonir.dialects.onnx.ml.tree_nodes import NamedNodes, NumberedNodes

Array = NDArray[Any]

_TESTS = {f"BRANCH_{test.name}": test.value for test in core.NodeTest}
_LEAF = "LEAF"


class Entries(NamedTuple):
    """The weights that leaves add to targets: for each entry the tree and node, the target, and the weight."""

    trees: tuple[int, ...] | None
    nodes: tuple[int, ...] | None
    targets: tuple[int, ...] | None
    weights: tuple[float, ...] | None
    weights_tensor: Data | None


class Tables(NamedTuple):
    """Trees as arrays, as `core.tree_ensemble` takes them."""

    roots: Array
    features: Array
    tests: Array
    values: Array
    if_true: Array
    if_false: Array
    missing_is_true: Array
    leaf_starts: Array
    leaf_targets: Array
    leaf_weights: Array
    set_starts: Array | None
    set_members: Array | None
    element: ElementType

    def scores(self, x: Value, targets: int, aggregate: core.Aggregate) -> Value:
        """The aggregate of each row of x and each target."""
        if len(self.leaf_targets) and int(self.leaf_targets.max()) >= targets:
            raise NotationError(f"target {self.leaf_targets.max()} of {targets}")
        integers = (self.roots, self.features, self.if_true, self.if_false, self.leaf_starts, self.leaf_targets)
        roots, features, if_true, if_false, starts, of = [_constant(a, i64) for a in integers]
        return core.tree_ensemble(
            x,
            roots,
            features,
            _constant(self.tests, u8),
            _constant(self.values, self.element),
            if_true,
            if_false,
            _constant(self.missing_is_true, boolean),
            starts,
            of,
            _constant(self.leaf_weights, self.element),
            targets,
            None if self.set_starts is None else _constant(self.set_starts, i64),
            None if self.set_members is None else _constant(self.set_members, self.element),
            aggregate,
        )


def _constant(array: Array, element: ElementType) -> Value:
    type = TensorType(element, array.shape)
    return core.constant(ArrayData(type, np.ascontiguousarray(array, dtype_of(element.name))))


def _missing(items: tuple[int, ...] | None, count: int) -> Array:
    return np.zeros(count, np.bool_) if not items else np.asarray(items) != 0


def _check_lengths(name: str, count: int, *arrays: Array) -> None:
    if any(len(a) != count for a in arrays):
        raise NotationError(f"{name}: attributes of nodes differ in length")


def of_nodes(op: NumberedNodes, element: ElementType) -> Tables:
    """The trees of TreeEnsemble. Raises: NotationError for attributes that are not trees."""
    for name, data in (("modes", op.nodes_modes), ("splits", op.nodes_splits), ("weights", op.leaf_weights)):
        if not (data.element.is_integer or data.element.is_float) or len(data.shape) != 1:
            raise NotationError(f"{name} of type {data.type}")
    features = np.asarray(op.nodes_featureids, np.int64)
    tests, values = np.asarray(op.nodes_modes.array(), np.uint8), op.nodes_splits.array().astype(np.float64)
    children: list[Array] = []
    for ids, flags in ((op.nodes_truenodeids, op.nodes_trueleafs), (op.nodes_falsenodeids, op.nodes_falseleafs)):
        at, is_leaf = np.asarray(ids, np.int64), np.asarray(flags, np.int64) != 0
        _check_lengths(op.name, len(features), at, is_leaf)
        children.append(np.where(is_leaf, -1 - at, at))
    _check_lengths(op.name, len(features), tests, values)
    targets, weights = np.asarray(op.leaf_targetids, np.int64), op.leaf_weights.array()
    _check_range(op.name, children, len(features), len(targets))
    starts, members = None, None
    is_member = tests == core.NodeTest.MEMBER.value
    if is_member.any():
        starts, members = _sets(op.membership_values, int(is_member.sum()))
        values[is_member] = np.arange(int(is_member.sum()))
    return Tables(
        np.asarray(op.tree_roots, np.int64),
        features,
        tests,
        values,
        children[0],
        children[1],
        _missing(op.nodes_missing_value_tracks_true, len(features)),
        np.arange(len(targets) + 1),
        targets,
        weights,
        starts,
        members,
        element,
    )


def _sets(given: Data | None, count: int) -> tuple[Array, Array]:
    """Returns the start of each set among the members, and the end of the last one. Raises: NotationError."""
    if given is None or not given.element.is_float:
        raise NotationError("membership_values are missing or no numbers")
    numbers = given.array().astype(np.float64)
    ends = np.flatnonzero(np.isnan(numbers))
    if len(ends) < count:
        ends = np.append(ends, len(numbers))
    if len(ends) != count:
        raise NotationError(f"{len(ends)} sets of members for {count} nodes")
    # Without the marks at their ends.
    starts = np.concatenate([[0], ends - np.arange(count)])
    return starts, numbers[~np.isnan(numbers)]


def _check_range(name: str, children: list[Array], nodes: int, leaves: int) -> None:
    for at in children:
        if len(at) and (int(at.max()) >= nodes or int(at.min()) < -leaves):
            raise NotationError(f"{name}: a child is neither a node nor a leaf")


def _numbers(values: tuple[float, ...] | None, tensor: Data | None) -> Array:
    if tensor is not None and (not tensor.element.is_float or len(tensor.shape) != 1):
        raise NotationError(f"values of nodes or weights of type {tensor.type}")
    with np.errstate(over="ignore"):  # beyond the range of single precision is infinity
        return np.asarray(values or (), np.float32) if tensor is None else tensor.array()


def of_named_nodes(op: NamedNodes, entries: Entries, element: ElementType) -> Tables:
    """The trees of TreeEnsembleRegressor and TreeEnsembleClassifier."""
    trees, nodes = np.asarray(op.nodes_treeids or (), np.int64), np.asarray(op.nodes_nodeids or (), np.int64)
    count = len(trees)
    modes = np.asarray(op.nodes_modes or (), np.object_)
    features = np.asarray(op.nodes_featureids or (), np.int64)
    values = _numbers(op.nodes_values, op.nodes_values_as_tensor)
    truths, falses = (np.asarray(ids or (), np.int64) for ids in (op.nodes_truenodeids, op.nodes_falsenodeids))
    missing = _missing(op.nodes_missing_value_tracks_true, count)
    _check_lengths(op.name, count, nodes, modes, features, values, truths, falses, missing)
    places = _Places(op.name, trees, nodes)
    is_leaf = modes == _LEAF
    inner = np.flatnonzero(~is_leaf)
    # Inner nodes and leaves are counted apart; a leaf n is the child -1 - n.
    number = np.where(is_leaf, -np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    at_true, at_false = (places.find(trees[inner], ids[inner]) for ids in (truths, falses))
    unknown = [m for m in dict.fromkeys(modes[inner].tolist()) if m not in _TESTS]
    if unknown:
        raise NotationError(f"{op.name}: unknown mode '{unknown[0]}' of a node")
    has_parent = np.zeros(count, np.bool_)
    has_parent[at_true] = True
    has_parent[at_false] = True
    starts, targets, weights = _leaves(entries, places, number, int(is_leaf.sum()))
    return Tables(
        number[~has_parent],
        features[inner],
        np.asarray([_TESTS[m] for m in modes[inner].tolist()], np.uint8),
        values[inner],
        number[at_true],
        number[at_false],
        missing[inner],
        starts,
        targets,
        weights,
        None,
        None,
        element,
    )


class _Places:
    """The positions of nodes in the list of all, by tree and number."""

    def __init__(self, name: str, trees: Array, nodes: Array) -> None:
        self._name = name
        self._span = 1 + int(nodes.max(initial=0))
        keys = trees * self._span + nodes
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        if len(keys) and (int(nodes.min()) < 0 or (np.diff(self._keys) == 0).any()):
            raise NotationError(f"{name}: a node is there twice")

    def find(self, trees: Array, nodes: Array) -> Array:
        """Positions of nodes. Raises: NotationError for one that is not there."""
        keys = trees * self._span + nodes
        at = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        if len(keys) and (not len(self._keys) or (self._keys[at] != keys).any() or (nodes < 0).any()):
            raise NotationError(f"{self._name}: a node that is named is not there")
        return self._order[at]


def _leaves(entries: Entries, places: _Places, number: Array, count: int) -> tuple[Array, Array, Array]:
    """The entries of each leaf: where they start, their targets and weights, in the order of the file."""
    trees, nodes, targets = (np.asarray(v or (), np.int64) for v in entries[:3])
    weights = _numbers(entries.weights, entries.weights_tensor)
    _check_lengths("leaves", len(trees), nodes, targets, weights)
    leaf = -1 - number[places.find(trees, nodes)] if len(trees) else trees
    order = np.argsort(leaf, kind="stable")
    order = order[leaf[order] >= 0]
    starts = np.searchsorted(leaf[order], np.arange(count + 1))
    return starts, targets[order], weights[order]
