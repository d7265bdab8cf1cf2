"""Models that onnx's full check refuses for the shapes of operands are refused by `check`, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

import commonir as cir

_FLOAT, _INT64 = TensorProto.FLOAT, TensorProto.INT64
Shapes = Mapping[str, Sequence[int | str | None]]


def _model(nodes: Sequence[onnx.NodeProto], shapes: Shapes, opset: int = 19) -> ModelProto:
    """A model of nodes that make `y` of inputs of some shapes; `labels` are integers."""
    inputs = [
        helper.make_tensor_value_info(name, _INT64 if name == "labels" else _FLOAT, shape)
        for name, shape in shapes.items()
    ]
    y = helper.make_tensor_value_info("y", _FLOAT, None)
    graph = helper.make_graph(nodes, "g", inputs, [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _node(op_type: str, inputs: Sequence[str], **attributes: Any) -> list[onnx.NodeProto]:
    return [helper.make_node(op_type, inputs, ["y"], "n", **attributes)]


def _scan(**attributes: Any) -> list[onnx.NodeProto]:
    """A scan over `x` and `z` whose slices of two floats it adds."""
    names = [helper.make_tensor_value_info(name, _FLOAT, [2]) for name in "abc"]
    body = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "body", names[:2], names[2:])
    return _node("Scan", ["x", "z"], body=body, num_scan_inputs=2, **attributes)


REFUSED: dict[str, tuple[ModelProto, str]] = {
    "a product of more than matrices": (
        _model(_node("Gemm", ["x", "z"]), {"x": [1, 2, 3], "z": [1, 3, 4]}),
        "operand 'A': expected rank 2",
    ),
    "ellipses of different lengths": (
        _model(_node("Einsum", ["x", "z"], equation="...i,...j->...ij"), {"x": [3, 3], "z": [3, 3, 3]}),
        "'...' stands for 1 and 2 axes",
    ),
    "a loss with other samples than labels": (
        _model(_node("SoftmaxCrossEntropyLoss", ["x", "labels"], reduction="none"), {"x": [2, 4], "labels": [1]}),
        "classes of shape [1] for scores of shape [2, 4]",
    ),
    "a loss with more axes of labels": (
        _model(_node("NegativeLogLikelihoodLoss", ["x", "labels"]), {"x": [2, 4], "labels": [2, 1]}),
        "classes of shape [2, 1] for scores of shape [2, 4]",
    ),
    "a resize of an unknown shape to nothing": (
        _model(_node("Resize", ["x", "", ""]), {"x": [None, 2]}),
        "neither sizes nor scales are given",
    ),
    "scan inputs of different lengths": (
        _model(_scan(), {"x": [3, 2], "z": [4, 2]}),
        "the scan inputs have 3 and 4 slices",
    ),
    "an axis that scan inputs do not have": (
        _model(_scan(scan_input_axes=[0, 2]), {"x": [3, 2], "z": [3, 2]}),
        "'z' of rank 2 has no axis 2",
    ),
    "an axis that scan outputs do not have": (
        _model(_scan(scan_output_axes=[-3]), {"x": [3, 2], "z": [3, 2]}),
        "slices 'c' cannot be stacked along axis -3 of 2",
    ),
    "a constant without a node": (
        _model(
            [
                onnx.NodeProto(op_type="Constant", name="n", attribute=[helper.make_attribute("value_int", 1)]),
                *_node("Relu", ["x"]),
            ],
            {"x": [2]},
        ),
        "G15: the node has neither inputs nor outputs",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_full_check_refuses_is_refused(case: str, tmp_path: Path) -> None:
    model, message = REFUSED[case]
    # The full check needs a shape of outputs.
    model.graph.output[0].type.tensor_type.shape.SetInParent()
    with pytest.raises((onnx.checker.ValidationError, onnx.shape_inference.InferenceError)):
        onnx.checker.check_model(model, full_check=True)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    errors = [d for d in cir.check(path)[1] if d.is_error]
    assert message in errors[0].message
    assert errors[0].where == "graph.node[0] 'n'"
