"""Operators of ai.onnx.ml through the core and back to ONNX: valid for onnx's checker, and equal in onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto

from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.formats.onnx.read import loads
from commonir.formats.onnx.write import dumps
from commonir.ods import Dialects
from commonir.passes.lower import lower

from tests.dialects.onnx.onnx_programs import assert_same, run_with_onnxruntime
from tests.dialects.onnx.test_ml import ROWS, WORDS, X, forest, map_model, node_model

Array = NDArray[Any]


@pytest.mark.parametrize(
    ("op_type", "x", "outputs", "version", "attributes"),
    [
        ("TreeEnsembleRegressor", ROWS, 1, 1, {"n_targets": 3, **forest("target", 7, 3, ["BRANCH_LEQ"], 8)}),
        (
            "TreeEnsembleRegressor",
            ROWS,
            1,
            1,
            {"n_targets": 2, "aggregate_function": "MIN", **forest("target", 7, 2, ["BRANCH_GT", "BRANCH_EQ"], 9)},
        ),
        (
            "TreeEnsembleClassifier",
            ROWS,
            2,
            1,
            {"classlabels_strings": ["a", "b", "c"], **forest("class", 7, 3, ["BRANCH_LEQ"], 10)},
        ),
        ("LabelEncoder", WORDS, 1, 2, {"keys_strings": ["b", "a"], "values_floats": [1.5, 2.5]}),
        ("LabelEncoder", np.array([1, 2, 7]), 1, 2, {"keys_int64s": [1, 2], "values_strings": ["x", "y"]}),
        ("OneHotEncoder", WORDS, 1, 1, {"cats_strings": ["b", "a"]}),
        ("CategoryMapper", WORDS, 1, 1, {"cats_strings": ["b", "a"], "cats_int64s": [10, 20]}),
        ("ZipMap", X, 1, 1, {"classlabels_strings": ["n", "y", "z"]}),
        ("Normalizer", X, 1, 1, {"norm": "L1"}),
        ("Scaler", X, 1, 1, {"scale": [2.0], "offset": [1.0]}),
    ],
)
def test_operators_survive_the_way_through_the_core(
    op_type: str, x: Array, outputs: int, version: int, attributes: dict[str, Any]
) -> None:
    model = node_model(op_type, [x], outputs, version, **attributes)
    module, _ = loads(model.SerializeToString(), Dialects())
    again = onnx.load_from_string(dumps(core_to_onnx(lower(module), 18)))
    onnx.checker.check_model(again, full_check=True)
    inputs = {"x0": x}
    result, expected = run_with_onnxruntime(again, inputs), run_with_onnxruntime(model, inputs)
    if isinstance(expected[0], list):
        assert result == expected
    else:
        assert_same(result, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("op_type", "x", "attributes"),
    [
        ("DictVectorizer", {"a": 4.0, "c": 8.0}, {"string_vocabulary": ["a", "c", "b"]}),
        ("DictVectorizer", {5: 1.5, 2: 2.5}, {"int64_vocabulary": [2, 3]}),
        ("CastMap", {5: 1.5, 2: 2.5}, {}),
        ("CastMap", {5: 1.5, 2: 2.5}, {"map_form": "SPARSE", "max_map": 6, "cast_to": "TO_INT64"}),
    ],
)
def test_operators_on_maps_survive_the_way_through_the_core(
    op_type: str, x: dict[Any, float], attributes: dict[str, Any]
) -> None:
    key = TensorProto.STRING if "string_vocabulary" in attributes else TensorProto.INT64
    model = map_model(op_type, key, TensorProto.FLOAT, **attributes)
    module, _ = loads(model.SerializeToString(), Dialects())
    again = onnx.load_from_string(dumps(core_to_onnx(lower(module), 18)))
    onnx.checker.check_model(again, full_check=True)
    inputs: Any = {"x0": x}
    assert_same(run_with_onnxruntime(again, inputs), run_with_onnxruntime(model, inputs))
