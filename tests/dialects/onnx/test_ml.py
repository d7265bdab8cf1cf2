"""Operators of ai.onnx.ml give what onnxruntime gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper

from tests.dialects.onnx.onnx_programs import assert_same, run_here, run_with_onnxruntime

Array = NDArray[Any]

ENGINES = ("numpy", "reference")
X = np.array([[1, 2, -3], [0.5, -0.5, 4], [0, 0, 0]], np.float32)
WORDS = np.array(["b", "a", "other"], object)
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")
NAN = float("nan")


def node_model(op_type: str, inputs: Sequence[Array], outputs: int, version: int, **attributes: object) -> ModelProto:
    """A model of one operator of ai.onnx.ml, whose outputs have no stated types."""
    arguments = [
        helper.make_tensor_value_info(
            f"x{n}",
            TensorProto.STRING if x.dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(x.dtype),
            x.shape,
        )
        for n, x in enumerate(inputs)
    ]
    results = [helper.make_empty_tensor_value_info(f"y{n}") for n in range(outputs)]
    node = helper.make_node(
        op_type, [i.name for i in arguments], [r.name for r in results], "node", domain="ai.onnx.ml"
    )
    node.attribute.extend([helper.make_attribute(name, value) for name, value in attributes.items()])
    graph = helper.make_graph([node], "program", arguments, results)
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def check(op_type: str, inputs: Sequence[Array], outputs: int, version: int = 1, **attributes: object) -> None:
    """Both engines give what onnxruntime gives."""
    model = node_model(op_type, inputs, outputs, version, **attributes)
    arguments = {f"x{n}": x for n, x in enumerate(inputs)}
    expected = run_with_onnxruntime(model, arguments)
    for engine in ENGINES:
        assert_same(run_here(model, arguments, engine), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("ArrayFeatureExtractor", [X, np.array([0, 2])], {}),
        ("ArrayFeatureExtractor", [X[0], np.array([[0, 2]])], {}),
        ("ArrayFeatureExtractor", [np.array([["a", "b"]], object), np.array([1])], {}),
        ("Binarizer", [X], {"threshold": 0.5}),
        ("FeatureVectorizer", [X, X[:, :2]], {"inputdimensions": [3, 2]}),
        ("FeatureVectorizer", [X, X[:, :2]], {"inputdimensions": [2, 4]}),
        ("FeatureVectorizer", [X.reshape(*X.shape, 1), X[:, :2]], {"inputdimensions": [3, 2]}),
        (
            "FeatureVectorizer",
            [np.ones((2, 3, 4), np.float32), np.zeros((2, 1), np.float32)],
            {"inputdimensions": [13, 1]},
        ),
        ("FeatureVectorizer", [np.arange(24).reshape(2, 3, 4), np.ones((2, 2), np.int64)], {"inputdimensions": [5, 2]}),
        (
            "Imputer",
            [np.array([[1, NAN], [NAN, 2]], np.float32)],
            {"imputed_value_floats": [5.0, 7.0], "replaced_value_float": NAN},
        ),
        ("Imputer", [np.array([[1, 0], [0, 2]])], {"imputed_value_int64s": [5], "replaced_value_int64": 0}),
        ("Normalizer", [X], {"norm": "MAX"}),
        ("Normalizer", [X], {"norm": "L1"}),
        ("Normalizer", [X], {"norm": "L2"}),
        ("Scaler", [X], {"scale": [2.0, 3.0, 4.0], "offset": [1.0, 0.0, -1.0]}),
        ("Scaler", [X.astype(np.int64)], {"scale": [2.0], "offset": [1.0]}),
        ("OneHotEncoder", [np.array([[1, 2], [5, 7]])], {"cats_int64s": [5, 1, 2]}),
        ("OneHotEncoder", [WORDS], {"cats_strings": ["b", "a"]}),
        ("CategoryMapper", [WORDS], {"cats_strings": ["b", "a"], "cats_int64s": [10, 20]}),
        ("CategoryMapper", [np.array([10, 20, 30])], {"cats_strings": ["b", "a"], "cats_int64s": [10, 20]}),
        ("LabelEncoder", [WORDS], {"classes_strings": ["b", "a"]}),
        ("LabelEncoder", [np.array([1, 0, 7])], {"classes_strings": ["b", "a"]}),
    ],
)
def test_features_are_those_of_onnxruntime(op_type: str, inputs: list[Array], attributes: dict[str, Any]) -> None:
    check(op_type, inputs, 1, **attributes)


@pytest.mark.parametrize(
    ("x", "attributes"),
    [
        (WORDS, {"keys_strings": ["b", "a"], "values_floats": [1.5, 2.5]}),
        (np.array([1, 2, 7], np.float32), {"keys_floats": [1.0, 2.0], "values_strings": ["x", "y"]}),
        (np.array([1, 2, 7]), {"keys_int64s": [1, 2], "values_int64s": [4, 5], "default_int64": 9}),
    ],
)
def test_labels_are_looked_up(x: Array, attributes: dict[str, Any]) -> None:
    check("LabelEncoder", [x], 1, 2, **attributes)


def test_last_of_equal_keys_counts_and_nan_is_a_key() -> None:
    """As the reference of LabelEncoder says from version 4 on."""
    keys = helper.make_tensor("keys", TensorProto.FLOAT, [3], [1.0, NAN, 1.0])
    values = helper.make_tensor("values", TensorProto.INT64, [3], [4, 5, 6])
    x = np.array([1, NAN, 7], np.float32)
    model = node_model("LabelEncoder", [x], 1, 4, keys_tensor=keys, values_tensor=values)
    for engine in ENGINES:
        assert run_here(model, {"x0": x}, engine)[0].tolist() == [6, 5, -1]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_linear_models(transform: str) -> None:
    table = [0.1, 0.2, 0.3, 0.01, 0.02, -0.3, 0.1, 0.3, 0.2]
    check("LinearRegressor", [X], 1, coefficients=table[:6], intercepts=[0.5, 0.2], targets=2, post_transform=transform)
    check(
        "LinearClassifier", [X], 2, coefficients=table, intercepts=[0.5, 0.2, 0.1], classlabels_ints=[3, 5, 7],
        post_transform=transform,
    )  # fmt: skip
    check(
        "LinearClassifier", [X], 2, coefficients=table[:3], intercepts=[0.1], classlabels_strings=["n", "y"],
        post_transform=transform,
    )  # fmt: skip


def _numbers(seed: int, count: int) -> list[float]:
    return np.random.default_rng(seed).normal(size=count).astype(np.float32).tolist()


KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")


@pytest.mark.parametrize("kernel", KERNELS)
def test_support_vector_regression(kernel: str) -> None:
    machine: dict[str, Any] = {
        "kernel_type": kernel, "kernel_params": [0.3, 0.2, 3.0], "n_supports": 4, "rho": [0.2],
        "support_vectors": _numbers(1, 12), "coefficients": _numbers(2, 4),
    }  # fmt: skip
    check("SVMRegressor", [X], 1, **machine)
    check("SVMRegressor", [X], 1, **machine, one_class=1)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("transform", TRANSFORMS[:3])
def test_support_vector_classification(kernel: str, transform: str) -> None:
    common: dict[str, Any] = {"kernel_type": kernel, "kernel_params": [0.3, 0.2, 3.0], "post_transform": transform}
    check(
        "SVMClassifier", [X], 2, **common, vectors_per_class=[2, 1, 3], support_vectors=_numbers(3, 18),
        coefficients=_numbers(4, 12), rho=_numbers(5, 3), classlabels_ints=[4, 5, 6],
    )  # fmt: skip
    check(
        "SVMClassifier", [X], 2, **common, vectors_per_class=[2, 3], support_vectors=_numbers(3, 15),
        coefficients=_numbers(4, 5), rho=_numbers(5, 1), classlabels_strings=["n", "y"],
    )  # fmt: skip


def test_probabilities_of_support_vector_machines_agree_with_those_of_pairs() -> None:
    check(
        "SVMClassifier", [X], 2, kernel_type="RBF", kernel_params=[0.3, 0.2, 3.0], vectors_per_class=[2, 1, 3],
        support_vectors=_numbers(3, 18), coefficients=_numbers(4, 12), rho=_numbers(5, 3), prob_a=[-1.0, -2.0, -0.5],
        prob_b=[0.1, 0.2, 0.3], classlabels_ints=[4, 5, 6],
    )  # fmt: skip


def forest(of: str, trees: int, targets: int, modes: Sequence[str], seed: int) -> dict[str, Any]:
    """Full trees of depth 3 over three features, with two entries for each leaf."""
    rng = np.random.default_rng(seed)
    nodes: list[tuple[int, int, int, str, float, int, int, int]] = []
    entries: list[tuple[int, int, int, float]] = []
    for tree in range(trees):
        for n in range(15):
            is_leaf = n >= 7
            split, weight = (float(v) for v in rng.normal(size=2).astype(np.float32))
            mode = "LEAF" if is_leaf else str(rng.choice(modes))
            first, second = (0, 0) if is_leaf else (2 * n + 1, 2 * n + 2)
            nodes.append((tree, n, int(rng.integers(3)), mode, split, first, second, int(rng.integers(2))))
            if is_leaf:
                entries += [(tree, n, int(rng.integers(targets)), weight * k) for k in (1, 2)]
    names = (
        "treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
        "missing_value_tracks_true",
    )  # fmt: skip
    leaves = ("treeids", "nodeids", "ids", "weights")
    results: dict[str, Any] = {f"nodes_{k}": list(v) for k, v in zip(names, zip(*nodes, strict=True), strict=True)}
    return results | {f"{of}_{k}": list(v) for k, v in zip(leaves, zip(*entries, strict=True), strict=True)}


ROWS = np.random.default_rng(7).normal(size=(20, 3)).astype(np.float32)
ROWS[3, 2] = NAN


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("transform", TRANSFORMS[:3])
def test_regression_by_trees(aggregate: str, transform: str) -> None:
    check(
        "TreeEnsembleRegressor", [ROWS], 1, aggregate_function=aggregate, post_transform=transform, n_targets=3,
        base_values=[0.1, 0.2, 0.3], **forest("target", 7, 3, ["BRANCH_LEQ"], 8),
    )  # fmt: skip


def test_nodes_compare_in_every_way() -> None:
    modes = [f"BRANCH_{mode}" for mode in ("LT", "LEQ", "GT", "GTE", "EQ", "NEQ")]
    check("TreeEnsembleRegressor", [ROWS], 1, n_targets=2, **forest("target", 7, 2, modes, 9))
    check("TreeEnsembleRegressor", [ROWS.astype(np.float64)], 1, n_targets=2, **forest("target", 7, 2, modes, 9))


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_classification_by_trees(transform: str) -> None:
    trees = forest("class", 7, 3, ["BRANCH_LEQ"], 10)
    check("TreeEnsembleClassifier", [ROWS], 2, classlabels_strings=["a", "b", "c"], post_transform=transform, **trees)
    whole = (ROWS[5:] * 10).astype(np.int64)
    check("TreeEnsembleClassifier", [whole], 2, classlabels_int64s=[4, 5, 6], post_transform=transform, **trees)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("smallest", [-0.2, 0.2])
def test_two_classes_have_one_score(transform: str, smallest: float) -> None:
    """Those of the first class stand for both; without negative ones they are probabilities."""
    stump: dict[str, Any] = {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.15, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0], "class_treeids": [0, 0],
        "class_nodeids": [1, 2], "class_weights": [smallest, 0.7], "classlabels_int64s": [3, 5],
    }  # fmt: skip
    for number in (0, 1):
        check("TreeEnsembleClassifier", [X], 2, class_ids=[number] * 2, post_transform=transform, **stump)


def map_model(op_type: str, key: int, value: int, **attributes: Any) -> ModelProto:
    """A model of one operator that takes a map."""
    kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, ()))
    node = helper.make_node(op_type, ["x0"], ["y0"], domain="ai.onnx.ml", **attributes)
    inputs, result = helper.make_value_info("x0", kind), helper.make_empty_tensor_value_info("y0")
    graph = helper.make_graph([node], "program", [inputs], [result])
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("engine", ENGINES)
def test_maps_become_rows_and_rows_become_maps(engine: str) -> None:
    text, number, single = TensorProto.STRING, TensorProto.INT64, TensorProto.FLOAT
    words: Any = {"x0": {"a": 4.0, "c": 8.0}}
    vectorizer = map_model("DictVectorizer", text, single, string_vocabulary=["a", "c", "b", "z"])
    assert_same(run_here(vectorizer, words, engine), run_with_onnxruntime(vectorizer, words))
    numbered: Any = {"x0": {5: 1.5, 2: 2.5}}
    dense = map_model("CastMap", number, single)
    assert_same(run_here(dense, numbered, engine), run_with_onnxruntime(dense, numbered))
    sparse = map_model("CastMap", number, single, map_form="SPARSE", max_map=6, cast_to="TO_INT64")
    assert run_here(sparse, numbered, engine)[0].tolist() == [[0, 0, 2, 0, 0, 1]]
    labels = node_model("ZipMap", [X], 1, 1, classlabels_strings=["n", "y", "z"])
    assert run_here(labels, {"x0": X}, engine) == run_with_onnxruntime(labels, {"x0": X})
