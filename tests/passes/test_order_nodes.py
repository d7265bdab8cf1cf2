"""ONNX models whose nodes are not in an order that data allow: tools that append nodes write such."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto, helper

import commonir
from commonir.base.diagnostics import DiagnosticError

X = np.asarray([-2.0, 1.0, 3.0], np.float32)


def _saved(folder: Path, nodes: list[NodeProto]) -> str:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y])
    path = str(folder / "model.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def _constant(name: str, value: float) -> NodeProto:
    tensor = helper.make_tensor(name, TensorProto.FLOAT, [], [value])
    return helper.make_node("Constant", [], [name], value=tensor)


def _branch(name: str, operator: str) -> onnx.GraphProto:
    """A graph that uses a value of the graph around it."""
    nodes = [helper.make_node(operator, ["late"], [f"{name}_t"]), helper.make_node("Neg", [f"{name}_t"], [f"{name}_y"])]
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, [3])])


@pytest.fixture
def path(tmp_path: Path) -> str:
    nodes = [
        helper.make_node(
            "If", ["is_large"], ["y"], then_branch=_branch("then", "Exp"), else_branch=_branch("else", "Abs")
        ),
        helper.make_node("Greater", ["sum", "one"], ["is_large"]),
        helper.make_node("ReduceSum", ["late"], ["sum"], keepdims=0),
        helper.make_node("Mul", ["x", "one"], ["late"]),
        _constant("one", 1.0),
    ]
    return _saved(tmp_path, nodes)


def _given_by_onnxruntime(path: str) -> np.ndarray:
    return np.asarray(onnxruntime.InferenceSession(path).run(None, {"x": X})[0])


def _given(path: str) -> np.ndarray:
    return np.asarray(commonir.run(commonir.load(path), {"x": X})["y"])


def test_nodes_out_of_order_run(path: str) -> None:
    np.testing.assert_allclose(_given(path), -np.exp(X), 1e-6)
    np.testing.assert_allclose(_given_by_onnxruntime(path), -np.exp(X), 1e-6)


def test_nodes_out_of_order_are_reported_with_what_helps(path: str) -> None:
    _, diagnostics = commonir.check(path)
    reported = [(d.code.id, d.help) for d in diagnostics if d.is_error]
    assert set(reported) == {("E0401", "`cir opt` puts the operations in order")}


def test_optimized_program_is_in_order(path: str, tmp_path: Path) -> None:
    result = str(tmp_path / "made.onnx")
    commonir.save(commonir.optimize(commonir.load(path)), result)
    onnx.checker.check_model(result, full_check=True)
    np.testing.assert_allclose(_given_by_onnxruntime(result), -np.exp(X), 1e-6)


def test_program_out_of_order_converts(path: str, tmp_path: Path) -> None:
    package = str(tmp_path / "made.mlpackage")
    commonir.save(commonir.convert(commonir.load(path), "coreml"), package)
    np.testing.assert_allclose(_given(package), -np.exp(X), 1e-6)


def test_nodes_that_wait_for_each_other_are_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Abs", ["a"], ["b"])]
    path = _saved(tmp_path, [*nodes, helper.make_node("Neg", ["b"], ["y"])])
    with pytest.raises(DiagnosticError, match=r"onnx\.Add: operand 1 'b' is used before it is defined"):
        commonir.run(commonir.load(path), {"x": X})
