"""Ensembles of trees and tables of ai.onnx.ml for compilers: IREE computes what onnxruntime gives,
and so does the numpy engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.formats.onnx.read import loads
from commonir.ir.module import Module
from commonir.ods import Dialects

from tests.conversions.running_mlir import check_with_mlir_opt, text_of
from tests.conversions.test_learning_to_mil import MODELS, Array
from tests.dialects.onnx.onnx_programs import run_with_onnxruntime
from tests.dialects.onnx.test_ml import ROWS, forest, node_model
from tests.iree import Compiled


def _converted(model: Any, target: str) -> Module:
    module, _ = loads(model.SerializeToString(), Dialects())
    return cir.convert(module, target)


def _assert_near(result: Iterable[Any], model: Any, x: Array) -> None:
    for actual, expected in zip(result, run_with_onnxruntime(model, {"x0": x}), strict=True):
        np.testing.assert_allclose(np.asarray(actual, np.float64), np.asarray(expected, np.float64), 1e-4, 1e-4)


def _model(op_type: str, x: Array, version: int, attributes: dict[str, Any]) -> Any:
    outputs = 2 if op_type.endswith("Classifier") else 1
    return node_model(op_type, [x], outputs, version, **attributes)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["linalg", "stablehlo"])
@pytest.mark.parametrize(("op_type", "x", "version", "attributes"), MODELS)
def test_compiled_programs_give_what_onnxruntime_gives(
    op_type: str, x: Array, version: int, attributes: dict[str, Any], target: str
) -> None:
    model = _model(op_type, x, version, attributes)
    converted = _converted(model, target)
    text = text_of(converted)
    if target == "linalg":
        check_with_mlir_opt(text)
    _assert_near(Compiled(text).run(converted.main.symbol_name, [x]), model, x)


_SMALL = [
    ("TreeEnsembleRegressor", ROWS, 1, {"n_targets": 2, **forest("target", 2, 2, ["BRANCH_LEQ", "BRANCH_GT"], 8)}),
    MODELS[-1],
]


@pytest.mark.parametrize("target", ["linalg", "stablehlo"])
@pytest.mark.parametrize(("op_type", "x", "version", "attributes"), _SMALL, ids=[op_type for op_type, *_ in _SMALL])
def test_converted_programs_give_here_what_onnxruntime_gives(
    op_type: str, x: Array, version: int, attributes: dict[str, Any], target: str
) -> None:
    model = _model(op_type, x, version, attributes)
    module = cir.loads(text_of(_converted(model, target)), format="mlir")
    _assert_near(cir.run(module, {"x0": x}).values(), model, x)
