"""Models that list their weights among the inputs, with defaults, as many exporters write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir
from commonir.base.diagnostics import Diagnostics
from commonir.ir.module import Module

X = np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype(np.float32)


def _saved(folder: Path, constants: dict[str, np.ndarray], nodes: list[onnx.NodeProto], shape: tuple[int, ...]) -> str:
    """A model whose constants are all inputs too, of a version of the IR where these may be given."""
    stored = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    inputs = [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in stored]
    inputs.insert(0, helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape))
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", inputs, [output], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=6)
    onnx.checker.check_model(model)
    path = folder / "model.onnx"
    onnx.save(model, path)
    return str(path)


@pytest.fixture
def path(tmp_path: Path) -> str:
    weight = np.linspace(-1, 1, 54, dtype=np.float32).reshape(3, 2, 3, 3)
    constants = {"w": weight, "b": np.zeros(3, np.float32), "shape": np.asarray([1, -1])}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["t"]), helper.make_node("Reshape", ["t", "shape"], ["y"])]
    return _saved(tmp_path, constants, nodes, (1, 12))


def _input_names(module: Module) -> list[str]:
    return [v.name for v in module.main.inputs]


def _run(module: Module) -> np.ndarray:
    return np.asarray(commonir.run(module, {"x": X})["y"], np.float32)


def _expected(path: str) -> np.ndarray:
    return np.asarray(onnxruntime.InferenceSession(path).run(None, {"x": X})[0])


def test_weights_among_the_inputs_become_constants_of_a_core_ml_model(path: str, tmp_path: Path) -> None:
    lost = Diagnostics()
    converted = commonir.convert(commonir.load(path), "coreml", findings=lost)
    assert _input_names(converted) == ["x"]
    text = "inputs that have default values become constants, which cannot be given: 'w', 'b', 'shape'"
    assert [d.message for d in lost] == [text]
    package = str(tmp_path / "made.mlpackage")
    commonir.save(converted, package)
    np.testing.assert_allclose(_run(commonir.load(package)), _expected(path), 1e-5, 1e-6)


@pytest.mark.parametrize("target", ["linalg", "tosa", "stablehlo", "ark"])
def test_weights_among_the_inputs_become_constants_for_compilers(path: str, target: str) -> None:
    converted = commonir.convert(commonir.load(path), target)
    assert len(converted.main.inputs) == 1


def test_converted_to_another_opset_inputs_keep_their_defaults(path: str, tmp_path: Path) -> None:
    converted = commonir.convert(commonir.load(path), "onnx", opset=18)
    assert _input_names(converted) == ["x", "w", "b", "shape"]
    other = str(tmp_path / "other.onnx")
    commonir.save(converted, other)
    np.testing.assert_allclose(_expected(other), _expected(path), 1e-6)


def test_numbers_stay_defaults_of_a_core_ml_model(tmp_path: Path) -> None:
    nodes = [helper.make_node("Mul", ["x", "scale"], ["y"])]
    path = _saved(tmp_path, {"scale": np.asarray([0.5], np.float32)}, nodes, X.shape)
    converted = commonir.convert(commonir.load(path), "coreml")
    assert converted.main.input_ports["scale"].default == 0.5
    np.testing.assert_allclose(_run(converted), _expected(path))


def test_weights_among_the_inputs_are_counted_as_weights(path: str) -> None:
    summary = commonir.summarize(commonir.load(path))
    assert summary.parameter_count == 54 + 3 + 2
    assert summary.weight_bytes == {"f32": 4 * 57, "i64": 16}


def test_small_constants_of_a_data_file_come_into_the_optimized_model(tmp_path: Path) -> None:
    """onnxruntime infers shapes from pads, which it does not read from a file."""
    nodes = [helper.make_node("Pad", ["x", "pads"], ["y"])]
    path = _saved(tmp_path, {"pads": np.asarray([0, 0, 1, 1, 0, 0, 1, 1])}, nodes, (1, 2, 6, 6))
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="data", size_threshold=0)
    expected, result = _expected(path), str(tmp_path / "optimized.onnx")
    commonir.save(commonir.optimize(commonir.load(path)), result)
    np.testing.assert_array_equal(_expected(result), expected)
