"""Ensembles of trees and tables of ai.onnx.ml as Core ML packages: read back, they give what onnxruntime gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.formats.onnx.read import loads
from commonir.ods import Dialects

from tests.dialects.onnx.onnx_programs import run_with_onnxruntime
from tests.dialects.onnx.test_ml import ROWS, forest, node_model

Array = NDArray[Any]


_LABELS = {"keys_floats": [1.0, 2.0], "values_floats": [4.0, 5.0], "default_float": 9.0}
MODELS: list[tuple[str, Array, int, dict[str, Any]]] = [
    *[
        (
            "TreeEnsembleRegressor", ROWS, 1,
            {"n_targets": 3, "aggregate_function": aggregate, **forest("target", 7, 3, ["BRANCH_LEQ", "BRANCH_GT"], 8)},
        )
        for aggregate in ("SUM", "AVERAGE", "MIN", "MAX")
    ],
    (
        "TreeEnsembleClassifier", ROWS, 1,
        {"classlabels_int64s": [4, 5, 6], **forest("class", 7, 3, ["BRANCH_LEQ"], 10)},
    ),
    ("LabelEncoder", np.array([1, 2, 7], np.float32), 2, _LABELS),
]  # fmt: skip


@pytest.mark.parametrize(("op_type", "x", "version", "attributes"), MODELS)
def test_packages_give_what_onnxruntime_gives(
    op_type: str, x: Array, version: int, attributes: dict[str, Any], tmp_path: Path
) -> None:
    outputs = 2 if op_type.endswith("Classifier") else 1
    model = node_model(op_type, [x], outputs, version, **attributes)
    module, _ = loads(model.SerializeToString(), Dialects())
    package = tmp_path / "model.mlpackage"
    cir.save(cir.convert(module, "coreml"), package)
    results = list(cir.run(cir.load(package), {"x0": x}).values())
    for actual, expected in zip(results, run_with_onnxruntime(model, {"x0": x}), strict=True):
        assert np.allclose(np.asarray(actual, np.float64), np.asarray(expected, np.float64), rtol=1e-4, atol=1e-4)
