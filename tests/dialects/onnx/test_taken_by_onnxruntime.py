"""Models that onnxruntime takes beyond the documentation of operators compute what they compute there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper, numpy_helper

import commonir

from tests.conversions.running import run_onnx
from tests.dialects.onnx.onnx_programs import assert_same, run_here

ENGINES = ("numpy", "reference")


@pytest.mark.parametrize("opset", [1, 8])
@pytest.mark.parametrize("values", [np.array([1, -2]), np.array([True]), np.array(3, np.uint8)])
def test_constants_of_any_type_in_old_versions(opset: int, values: NDArray[Any], tmp_path: Path) -> None:
    node = helper.make_node("Constant", [], ["y"], value=numpy_helper.from_array(values))
    element = helper.np_dtype_to_tensor_dtype(values.dtype)
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", element, values.shape)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=3)
    expected = run_onnx(model.SerializeToString(), {})
    for engine in ENGINES:
        assert_same(run_here(model, {}, engine), expected)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    (finding,) = commonir.verify(commonir.load(path))
    assert (finding.code.id, finding.is_error) == ("W0205", False)
    assert "before opset 9" in finding.message


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((5,), None),
        ((2, 3), None),
        ((2, 3, 4), None),
        ((2, 3, 4, 5, 2), None),
        ((2, 3, 4), (0, 5)),
        ((2, 3, 4), (1, 1)),
    ],
)
def test_normalization_over_axes_that_are_there(shape: tuple[int, ...], axes: tuple[int, ...] | None) -> None:
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    node = helper.make_node("MeanVarianceNormalization", ["x"], ["y"])
    if axes is not None:
        node.attribute.append(helper.make_attribute("axes", axes))
    value = helper.make_tensor_value_info
    graph = helper.make_graph([node], "g", [value("x", 1, shape)], [value("y", 1, shape)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    expected = run_onnx(model.SerializeToString(), {"x": x})
    for engine in ENGINES:
        assert_same(run_here(model, {"x": x}, engine), expected)


@pytest.mark.parametrize("op_type", ["LayerNormalization", "SimplifiedLayerNormalization"])
def test_unknown_attributes_of_normalizations_that_onnxruntime_adds_are_ignored(op_type: str, tmp_path: Path) -> None:
    x, scale = np.array([[1, 2, 6], [0.5, 0, -1]], np.float32), np.array([1, 2, 3], np.float32)
    node = helper.make_node(op_type, ["x", "scale"], ["y"])
    node.attribute.append(helper.make_attribute("epsion", 0.5))
    value = helper.make_tensor_value_info
    stored = [numpy_helper.from_array(scale, "scale")]
    graph = helper.make_graph([node], "g", [value("x", 1, x.shape)], [value("y", 1, x.shape)], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8)
    expected = run_onnx(model.SerializeToString(), {"x": x})
    for engine in ENGINES:
        assert_same(run_here(model, {"x": x}, engine), expected)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    findings = [f for f in commonir.verify(commonir.load(path)) if "epsion" in f.message]
    assert [(f.code.id, f.help) for f in findings] == [("W0205", "did you mean 'epsilon'?")]


def test_shapes_of_numbers_in_declared_maps_are_notes(tmp_path: Path) -> None:
    """Classifiers of WinMLTools declare the values of a map as tensors of one element."""
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml")
    node.attribute.append(helper.make_attribute("classlabels_strings", ["a", "b"]))
    number = helper.make_tensor_type_proto(1, [1])
    output = helper.make_value_info("y", helper.make_sequence_type_proto(helper.make_map_type_proto(8, number)))
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", 1, [2, 2])], [output])
    opsets = [helper.make_opsetid("", 12), helper.make_opsetid("ai.onnx.ml", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    x = np.array([[0.25, 0.75], [1, 0]], np.float32)
    assert run_onnx(model.SerializeToString(), {"x": x}) == [[{"a": 0.25, "b": 0.75}, {"a": 1.0, "b": 0.0}]]
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    module = commonir.load(path)
    assert [f.code.id for f in commonir.verify(module) if f.is_error or "is declared" in f.message] == ["W0502"]
    result = commonir.run(module, {"x": x})["y"]
    assert [dict(row) for row in result] == [{"a": 0.25, "b": 0.75}, {"a": 1.0, "b": 0.0}]


@pytest.mark.parametrize("exponents", [[10.0], [5.0, 10.0, 7.0, 0.0]])
def test_integers_to_the_power_of_whole_floats_are_exact(exponents: list[float], tmp_path: Path) -> None:
    """Also in Core ML, which has no double precision: 7 ** 10 is not a float of single precision."""
    x = np.array([3, 7, -3, 0], np.int64)
    value = helper.make_tensor_value_info
    stored = [numpy_helper.from_array(np.array(exponents, np.float32), "e")]
    node = helper.make_node("Pow", ["x", "e"], ["y"])
    graph = helper.make_graph([node], "g", [value("x", 7, x.shape)], [value("y", 7, x.shape)], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    expected = run_onnx(model.SerializeToString(), {"x": x})
    for engine in ENGINES:
        assert_same(run_here(model, {"x": x}, engine), expected)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    converted = commonir.convert(commonir.load(path), "coreml")
    assert commonir.run(converted, {"x": x.astype(np.int32)})["y"].tolist() == expected[0].tolist()


def test_bools_as_strings_and_back() -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (bool[3] x) => (string[3] text, int8[3] number) { text = Cast <to = 8> (x) number = Cast <to = 3> (text) }""")
    x = np.array([True, False, True])
    expected = run_onnx(model.SerializeToString(), {"x": x})
    for engine in ENGINES:
        assert_same(run_here(model, {"x": x}, engine), expected)
