"""Whole models to stablehlo, run by IREE, and networks of stablehlo to ONNX and Core ML."""
# ruff: noqa: E501  an operation stands on one line

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.conversions.core_to_stablehlo import core_to_stablehlo
from commonir.passes.lower import lower

from tests.arrays import read_arrays
from tests.conversions.running_mlir import text_of
from tests.iree import Compiled
from tests.oracles import oracle

_ROOT = Path(__file__).parents[2]
_MODELS = _ROOT / "tests" / "models"


def _run_with_onnxruntime(content: bytes, inputs: dict[str, Any]) -> list[Any]:
    ort = oracle("onnxruntime")
    session = ort.InferenceSession(content, providers=["CPUExecutionProvider"])
    return list(session.run(None, inputs))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert_fp32", "gpt2_fp32", "lstm_fp32"])
def test_onnx_model_through_stablehlo_gives_in_iree_what_onnxruntime_gives(name: str) -> None:
    folder = _MODELS / name
    inputs = read_arrays(folder / "inputs.npz")
    model = cir.convert(cir.load(folder / "model.mlpackage"), "onnx")
    converted = core_to_stablehlo(lower(model, shapes={k: np.shape(v) for k, v in inputs.items()}))
    result = Compiled(text_of(converted)).run("main", list(inputs.values()))
    expected = _run_with_onnxruntime(cir.dumps(model), inputs)
    for f, w in zip(result, expected, strict=True):
        np.testing.assert_allclose(f, w, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_mobilenet_gives_in_iree_what_core_ml_gives() -> None:
    inputs = read_arrays(_ROOT / "examples" / "mobilenet_inputs.npz")
    (expected,) = read_arrays(_ROOT / "examples" / "mobilenet_outputs.npz").values()
    model = cir.load(_ROOT / "examples" / "mobilenet.mlpackage")
    converted = core_to_stablehlo(lower(model, shapes={k: v.shape for k, v in inputs.items()}))
    # Without the optimizations that cost most of the time of compiling.
    (result,) = Compiled(text_of(converted), flags=["--iree-opt-level=O0"]).run("main", list(inputs.values()))
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


# As jax writes a convolution with channels last, its pooling, a normalization, and a layer with a softmax.
_NETWORK = """
module {
  func.func public @main(%image: tensor<2x8x8x3xf32>) -> tensor<2x5xf32> {
    %kernel = stablehlo.constant dense<"0xKERNEL"> : tensor<3x3x3x4xf32>
    %weight = stablehlo.constant dense<"0xWEIGHT"> : tensor<4x5xf32>
    %bias = stablehlo.constant dense<[0.5, -0.5, 0.25, 0.0, 1.0]> : tensor<5xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x8x8x4xf32>
    %1 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<2x8x8x4xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<2x8x8x4xf32>
    %3 = "stablehlo.reduce_window"(%2, %least) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<2x8x8x4xf32>, tensor<f32>) -> tensor<2x4x4x4xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x4x4x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %5 = stablehlo.dot_general %4, %weight, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
    %6 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<5xf32>) -> tensor<2x5xf32>
    %7 = stablehlo.add %5, %6 : tensor<2x5xf32>
    %8 = call @softmax(%7) : (tensor<2x5xf32>) -> tensor<2x5xf32>
    return %8 : tensor<2x5xf32>
  }
  func.func private @softmax(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2xf32>) -> tensor<2x5xf32>
    %2 = stablehlo.subtract %x, %1 : tensor<2x5xf32>
    %3 = stablehlo.exponential %2 : tensor<2x5xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xf32>) -> tensor<2x5xf32>
    %6 = stablehlo.divide %3, %5 : tensor<2x5xf32>
    return %6 : tensor<2x5xf32>
  }
}
"""


@pytest.fixture(scope="module")
def network() -> str:
    r = np.random.default_rng(0)
    kernel, weight = [r.standard_normal(s).astype(np.float32) / 4 for s in ((3, 3, 3, 4), (4, 5))]
    return _NETWORK.replace("KERNEL", kernel.tobytes().hex()).replace("WEIGHT", weight.tobytes().hex())


@pytest.fixture(scope="module")
def image() -> Any:
    return np.random.default_rng(1).standard_normal((2, 8, 8, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def expected_arrays(network: str, image: Any) -> Any:
    (result,) = Compiled(network).run("main", [image])
    return result


@pytest.mark.slow
def test_network_of_stablehlo_runs_here(network: str, image: Any, expected_arrays: Any) -> None:
    (result,) = cir.run(cir.loads(network, format="mlir"), {"image": image}).values()
    np.testing.assert_allclose(np.asarray(result, np.float32), expected_arrays, rtol=1e-4, atol=1e-5)


def test_network_of_stablehlo_becomes_an_onnx_model(network: str, image: Any, expected_arrays: Any) -> None:
    onnx = oracle("onnx")
    content = cir.dumps(cir.convert(cir.loads(network, format="mlir"), "onnx"))
    model = onnx.load_from_string(content)
    onnx.checker.check_model(model, full_check=True)
    assert {"Conv", "MaxPool"} <= {node.op_type for node in model.graph.node}
    (result,) = _run_with_onnxruntime(content, {"image": image})
    np.testing.assert_allclose(np.asarray(result, np.float32), expected_arrays, rtol=1e-4, atol=1e-5)


def test_network_of_stablehlo_becomes_a_core_ml_package(
    tmp_path: Path, network: str, image: Any, expected_arrays: Any
) -> None:
    coremltools = oracle("coremltools")
    path = tmp_path / "net.mlpackage"
    cir.save(cir.convert(cir.loads(network, format="mlir"), "coreml"), path)
    description = coremltools.models.MLModel(str(path), skip_model_load=True).get_spec().description
    assert [v.name for v in description.input] == ["image"]
    (result,) = cir.run(cir.load(path), {"image": image}).values()
    np.testing.assert_allclose(np.asarray(result, np.float32), expected_arrays, rtol=1e-3, atol=1e-3)
