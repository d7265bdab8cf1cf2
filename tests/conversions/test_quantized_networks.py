"""A network that onnxruntime quantized to operators of bytes, as plain ONNX and as a Core ML program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

import commonir
from commonir.dialects import core
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import i32, tensor, u8

from tests.conversions.programs import core_module
from tests.conversions.running import converted, run_onnx
from tests.conversions.running_mil import load_in_coremltools

Array = np.ndarray[Any, Any]
SHAPE = (2, 3, 32, 32)


class _Layers:
    """Nodes of a network in a row, with random weights."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def weight(self, *shape: int) -> str:
        name = f"w{len(self.weights)}"
        fan = np.sqrt(np.prod(shape[1:]))
        self.weights.append(numpy_helper.from_array((self.random.normal(size=shape) / fan).astype(np.float32), name))
        return name

    def conv(self, x: str, filters: int, channels: int, size: int, **attributes: Any) -> str:
        pads = [size // 2] * 4
        weight, bias = self.weight(filters, channels, size, size), self.weight(filters)
        return self.node("Conv", x, weight, bias, pads=pads, kernel_shape=[size, size], **attributes)

    def relu(self, x: str) -> str:
        return self.node("Relu", x)


def _network() -> onnx.ModelProto:
    """A residual network: one layer has windows of 512 channels, one has a filter for each channel."""
    of = _Layers()
    x = of.relu(of.conv("x", 16, 3, 7, strides=[2, 2]))
    x = of.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    inner = of.conv(of.relu(of.conv(x, 16, 16, 3)), 16, 16, 3)
    x = of.relu(of.node("Add", inner, x))
    inner = of.conv(of.relu(of.conv(x, 512, 16, 3, strides=[2, 2])), 512, 1, 3, group=512)
    x = of.relu(of.node("Add", inner, of.conv(x, 512, 16, 1, strides=[2, 2])))
    x = of.relu(of.conv(x, 32, 512, 3))
    x = of.node("Flatten", of.node("GlobalAveragePool", x))
    of.node("Gemm", x, of.weight(10, 32), of.weight(10), transB=1)
    of.nodes[-1].output[0] = "y"
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)]
    results = [helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 10))]
    graph = helper.make_graph(of.nodes, "network", inputs, results, of.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class _Samples(CalibrationDataReader):
    """The inputs with which the ranges of activations are measured."""

    def __init__(self) -> None:
        self.samples: Iterator[dict[str, Array]] = iter([{"x": _sample(n)} for n in range(3)])

    def get_next(self) -> dict[str, Array]:
        # onnxruntime asks until there is nothing.
        return next(self.samples, {})


def _sample(seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=SHAPE).astype(np.float32)


KINDS: dict[str, dict[str, Any]] = {
    "u8s8": {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8},
    "u8u8": {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QUInt8},
    "s8s8": {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8, "per_channel": True},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_statically_quantized_networks_convert_to_core_ml_and_back(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "quantized.onnx"
    quantize_static(_network(), path, _Samples(), quant_format=QuantFormat.QOperator, **KINDS[kind])
    model = onnx.load(path)
    assert {"QLinearConv", "QLinearAdd", "QGemm"} <= {node.op_type for node in model.graph.node}
    quantum = next(float(numpy_helper.to_array(t)) for t in model.graph.initializer if t.name == "y_scale")
    x = _sample(7)
    (expected,) = run_onnx(path.read_bytes(), {"x": x}, threads=1)
    module = commonir.load(path)
    # onnxruntime sums quantized tensors in another order than their definition has.
    result = np.asarray(commonir.run(module, {"x": x})["y"], np.float32)
    np.testing.assert_allclose(result, expected, atol=1.01 * quantum, rtol=0)

    program = commonir.convert(module, "coreml")
    load_in_coremltools(program, tmp_path)
    np.testing.assert_array_equal(np.asarray(commonir.run(program, {"x": x})["y"], np.float32), result)
    commonir.save(program, tmp_path / "quantized.mlpackage")
    read = commonir.load(tmp_path / "quantized.mlpackage")
    assert _size(tmp_path / "quantized.mlpackage") < 1.2 * path.stat().st_size
    (back,) = run_onnx(commonir.dumps(commonir.convert(read, "onnx")), {"x": x}, threads=1)
    np.testing.assert_allclose(back, expected, atol=1.01 * quantum, rtol=0)

    content = converted(commonir.lower(module), 21)
    plain = onnx.load_from_string(content)
    assert {node.domain for node in plain.graph.node} == {""}
    assert sum(node.op_type == "ConvInteger" for node in plain.graph.node) == 7
    (summed,) = run_onnx(content, {"x": x}, threads=1)
    np.testing.assert_allclose(summed, expected, atol=1.01 * quantum, rtol=0)


@pytest.mark.slow
def test_dynamically_quantized_networks_convert_to_core_ml_and_back(tmp_path: Path) -> None:
    path = tmp_path / "quantized.onnx"
    onnx.save(_network(), tmp_path / "network.onnx")
    quantize_dynamic(tmp_path / "network.onnx", path)
    assert "ConvInteger" in {node.op_type for node in onnx.load(path).graph.node}
    x = _sample(7)
    (expected,) = run_onnx(path.read_bytes(), {"x": x}, threads=1)
    module = commonir.load(path)
    program = commonir.convert(module, "coreml")
    load_in_coremltools(program, tmp_path)
    # A quantum of an activation, which is chosen for each run, is a hundredth of the largest number or less.
    atol = 0.01 * float(np.abs(expected).max())
    result = np.asarray(commonir.run(program, {"x": x})["y"], np.float32)
    np.testing.assert_allclose(result, expected, atol=atol, rtol=0)
    (back,) = run_onnx(commonir.dumps(commonir.convert(program, "onnx")), {"x": x}, threads=1)
    np.testing.assert_allclose(back, expected, atol=atol, rtol=0)
    (plain,) = run_onnx(converted(commonir.lower(module), 21), {"x": x}, threads=1)
    np.testing.assert_allclose(plain, expected, atol=atol, rtol=0)


def _size(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize(("low", "high"), [(-128, 127), (-200, 55), (0, 255)])
def test_integers_that_were_bytes_become_filters_of_bytes(low: int, high: int) -> None:
    random = np.random.default_rng(0)
    x, weight = random.integers(0, 256, (1, 4, 5, 5)), random.integers(low, high + 1, (3, 4, 3, 3))
    weight[0, 0, 0, :2] = low, high

    def build(image: Value) -> Value:
        filters = core.constant(data_of(i32, weight.shape, weight.reshape(-1).tolist()))
        return core.conv(core.sub(core.cast(image, i32), core.scalar(7, i32)), filters)

    content = converted(core_module(build, {"x": tensor(u8, *x.shape)}), 18)
    windows = np.lib.stride_tricks.sliding_window_view(x - 7, (1, 4, 3, 3))[:, 0]
    expected = np.einsum("nhwmcij,fcij->nfhw", windows, weight)
    np.testing.assert_array_equal(run_onnx(content, {"x": x.astype(np.uint8)})[0], expected)
