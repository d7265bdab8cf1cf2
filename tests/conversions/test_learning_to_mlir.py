"""Ensembles of trees and tables of ai.onnx.ml for compilers: IREE computes what onnxruntime gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.formats.onnx.read import loads
from commonir.ods import Dialects

from tests.conversions.running_mlir import check_with_mlir_opt, text_of
from tests.conversions.test_learning_to_mil import MODELS, Array
from tests.dialects.onnx.onnx_programs import run_with_onnxruntime
from tests.dialects.onnx.test_ml import node_model
from tests.iree import Compiled


@pytest.mark.slow
@pytest.mark.parametrize("target", ["linalg", "stablehlo"])
@pytest.mark.parametrize(("op_type", "x", "version", "attributes"), MODELS)
def test_compiled_programs_give_what_onnxruntime_gives(
    op_type: str, x: Array, version: int, attributes: dict[str, Any], target: str
) -> None:
    outputs = 2 if op_type.endswith("Classifier") else 1
    model = node_model(op_type, [x], outputs, version, **attributes)
    module, _ = loads(model.SerializeToString(), Dialects())
    converted = cir.convert(module, target)
    text = text_of(converted)
    if target == "linalg":
        check_with_mlir_opt(text)
    found = Compiled(text).run(converted.main.symbol_name, [x])
    for actual, expected in zip(found, run_with_onnxruntime(model, {"x0": x}), strict=True):
        np.testing.assert_allclose(np.asarray(actual, np.float64), np.asarray(expected, np.float64), 1e-4, 1e-4)
