"""Nodes that the definition of their operator does not fit are read, reported by `check` as onnx's checker refuses
them, and written back unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper

import commonir as cir
from commonir.dialects.onnx import LeakyRelu
from commonir.dialects.onnx.attribute_values import unfit_attributes
from commonir.ir.attributes import IntegerAttr

from tests.oracles import oracle

_FLOAT = TensorProto.FLOAT


def _model(
    node: NodeProto, shape: Sequence[int] = (2, 4), opset: int = 17, initializer: Sequence[TensorProto] = ()
) -> ModelProto:
    """A model of one node that makes `y` of `x`."""
    x, y = helper.make_tensor_value_info("x", _FLOAT, shape), helper.make_empty_tensor_value_info("y")
    y.type.tensor_type.elem_type = _FLOAT
    y.type.tensor_type.shape.CopyFrom(onnx.TensorShapeProto(dim=[onnx.TensorShapeProto.Dimension() for _ in shape]))
    graph = helper.make_graph([node], "g", [x], [y], initializer)
    ir_version = 4 if opset < 10 else 8
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)


def _node(op_type: str, *inputs: str, **attributes: Any) -> NodeProto:
    return helper.make_node(op_type, inputs or ["x"], ["y"], "n", **attributes)


def _referring() -> NodeProto:
    node = _node("Relu")
    node.attribute.append(AttributeProto(name="alpha", ref_attr_name="a", type=AttributeProto.FLOAT))
    return node


_GRAPH = helper.make_graph(
    [helper.make_node("Relu", ["x"], ["z"])], "b", [], [helper.make_tensor_value_info("z", _FLOAT, [2, 4])]
)
_TENSOR = helper.make_tensor("t", _FLOAT, [2], [1, 2])

REFUSED: dict[str, tuple[NodeProto, str, str]] = {
    "a typing error": (_node("LeakyRelu", alpa=0.5), "onnx.LeakyRelu has no attribute 'alpa'", "did you mean 'alpha'?"),
    "an attribute of an older version": (_node("Squeeze", axes=[0]), "onnx.Squeeze has no attribute 'axes'", ""),
    "a tensor": (_node("Relu", value=_TENSOR), "onnx.Relu has no attribute 'value'", ""),
    "a graph": (_node("Relu", body=_GRAPH), "onnx.Relu has no attribute 'body'", ""),
    "a reference": (_referring(), "onnx.Relu has no attribute 'alpha'", ""),
    "an integer for a float": (_node("LeakyRelu", alpha=2), "attribute 'alpha': expected a float, found 2", ""),
    "the default of another type": (_node("Elu", alpha=1), "attribute 'alpha': expected a float, found 1", ""),
    "a float for an integer": (_node("Softmax", axis=1.0), "attribute 'axis': expected an integer, found 1.0", ""),
    "a list for an integer": (_node("Softmax", axis=[1]), "attribute 'axis': expected an integer, found (1,)", ""),
    "a text for an integer": (_node("Softmax", axis="1"), "attribute 'axis': expected an integer, found '1'", ""),
    "a text for an element type": (_node("Cast", to="1"), "attribute 'to': expected an element type, found '1'", ""),
    "a graph for an integer": (_node("Softmax", axis=_GRAPH), "attribute 'axis': found a graph", ""),
    "too many inputs": (_node("Relu", "x", "x"), "Relu takes 1 input, found 2", ""),
    "too many inputs that are not given": (_node("Relu", "x", ""), "Relu takes 1 input, found 2", ""),
}
"""Nodes with the beginning of the finding, and its help. onnx's checker refuses each."""


@pytest.mark.parametrize("case", REFUSED)
def test_a_node_that_does_not_fit_is_reported_and_written_unchanged(case: str, tmp_path: Path) -> None:
    node, message, help = REFUSED[case]
    model = _model(node)
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(model)
    path, again = tmp_path / "m.onnx", tmp_path / "again.onnx"
    path.write_bytes(model.SerializeToString())
    module = cir.load(path)
    for findings in (cir.check(path)[1], cir.verify(module)):
        (error,) = [d for d in findings if d.is_error]
        assert error.message.startswith(message)
        assert error.where == "graph.node[0] 'n'"
        assert (error.help or "") == help
    cir.save(module, again)
    assert onnx.load(again) == model
    with pytest.raises(cir.DiagnosticError):
        cir.run(module, {"x": np.zeros((2, 4), np.float32)})


def test_a_changed_attribute_replaces_one_of_another_type(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(_model(_node("LeakyRelu", alpha=2)).SerializeToString())
    (op,) = [op for op in cir.load(path).nested() if isinstance(op, LeakyRelu)]
    assert op.alpha == 2.0
    assert unfit_attributes(op) == {"alpha": IntegerAttr(2)}
    assert unfit_attributes(op.with_attributes(alpha=0.5)) == {}


def test_attributes_that_runtimes_ignore_are_accepted_and_kept(tmp_path: Path) -> None:
    runner = oracle("onnxruntime")
    model = _model(_node("LeakyRelu", __origin="block 3", alpha=0.25))
    onnx.checker.check_model(model, full_check=True)
    path, again = tmp_path / "m.onnx", tmp_path / "again.onnx"
    path.write_bytes(model.SerializeToString())
    x = np.array([[-1, 2, -3, 4], [5, -6, 7, -8]], np.float32)
    (expected,) = runner.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    module = cir.load(path)
    assert not cir.verify(module)
    np.testing.assert_array_equal(cir.run(module, {"x": x})["y"], expected)
    cir.save(module, again)
    assert onnx.load(again) == model


def _with_contents(**more: Any) -> TensorProto:
    tensor = helper.make_tensor("w", _FLOAT, [4], [1, 2, 3, 4])
    tensor.MergeFrom(TensorProto(**more))
    return tensor


def _external(**more: Any) -> TensorProto:
    tensor = TensorProto(name="w", data_type=_FLOAT, dims=[4], data_location=TensorProto.EXTERNAL, **more)
    tensor.external_data.add(key="location", value="w.bin")
    return tensor


SECOND_CONTENTS: dict[str, tuple[TensorProto, str]] = {
    "raw": (_with_contents(raw_data=bytes(16)), "float_data"),
    "another type": (_with_contents(int64_data=[1, 2, 3, 4]), "int64_data"),
    "external": (_external(raw_data=bytes(16)), "raw_data"),
}


@pytest.mark.parametrize("case", SECOND_CONTENTS)
@pytest.mark.parametrize("is_input", [False, True])
def test_contents_in_two_places_are_reported_and_written_unchanged(case: str, is_input: bool, tmp_path: Path) -> None:
    tensor, field = SECOND_CONTENTS[case]
    model = _model(_node("Add", "x", "w"), initializer=[tensor])
    if is_input:
        model.graph.input.append(helper.make_tensor_value_info("w", _FLOAT, [4]))
    (tmp_path / "w.bin").write_bytes(bytes(16))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(str(path))
    (error,) = [d for d in cir.check(path)[1] if d.is_error]
    assert error.where == "graph.initializer 'w'"
    assert error.message.startswith(f"G14: the tensor has contents in '{field}' too")
    cir.save(cir.load(path), path)
    (again,) = onnx.load(path, load_external_data=False).graph.initializer
    again.ClearField("external_data")
    expected = TensorProto.FromString(tensor.SerializeToString())
    expected.ClearField("external_data")
    assert again == expected


def test_contents_in_two_places_of_a_tensor_in_a_node_are_reported(tmp_path: Path) -> None:
    tensor = _with_contents(raw_data=bytes(16))
    path = tmp_path / "m.onnx"
    path.write_bytes(_model(_node("Constant", value=tensor), shape=[4]).SerializeToString())
    messages = [d.message for d in cir.check(path)[1] if d.is_error]
    assert any(m.startswith("G14: the tensor has contents in 'float_data' too") for m in messages)


OF_ONNXRUNTIME: dict[str, NodeProto] = {
    "Affine": _node("Affine", alpha=0.5, beta=-1.5),
    "ImageScaler": _node("ImageScaler", scale=0.5, bias=[-1.0, 0.25]),
    "ParametricSoftplus": _node("ParametricSoftplus", alpha=0.5, beta=-1.5),
    "ScaledTanh": _node("ScaledTanh", alpha=0.5, beta=-1.5),
    "Crop": _node("Crop", border=[1, 0, 2, 1]),
    "Crop to a size": _node("Crop", border=[1, 2, 9, 9], scale=[3, 2]),
    "auto_pad": _node("MaxPool", auto_pad="", kernel_shape=[2, 2]),
    "Resize": _node(
        "Resize", "x", "", "s", coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor"
    ),
}
"""Operators that onnxruntime runs and ONNX does not document, or no longer."""


@pytest.mark.parametrize("case", OF_ONNXRUNTIME)
def test_what_only_onnxruntime_has_is_computed_as_there(case: str, tmp_path: Path) -> None:
    runner = oracle("onnxruntime")
    node, shape = OF_ONNXRUNTIME[case], (1, 2, 5, 6)
    scales = [helper.make_tensor("s", _FLOAT, [4], [1, 1, 1.5, 2])] if case == "Resize" else []
    path = tmp_path / "m.onnx"
    path.write_bytes(_model(node, shape, 13 if case == "Resize" else 9, scales).SerializeToString())
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    (expected,) = runner.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    module = cir.load(path)
    assert not [d for d in cir.verify(module) if d.is_error]
    np.testing.assert_allclose(np.asarray(cir.run(module, {"x": x})["y"], np.float32), expected, rtol=1e-6, atol=1e-6)
