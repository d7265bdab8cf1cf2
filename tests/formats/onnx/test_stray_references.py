"""Attributes that refer to those of a function, in operators that stand in none."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper

import commonir as cir


def test_an_attribute_of_a_function_is_refused_outside_of_functions(tmp_path: Path) -> None:
    node = helper.make_node("MaxPool", ["x"], ["y"])
    node.attribute.add(name="kernel_shape", ref_attr_name="size", type=onnx.AttributeProto.INTS)
    ports = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s)] for n, s in (("x", [1, 1, 4, 4]), ("y", None))]
    graph = helper.make_graph([node], "g", ports[0], ports[1])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    _, diagnostics = cir.check(path)
    assert [(d.code.id, d.message) for d in diagnostics if d.is_error] == [
        ("E0505", "onnx.MaxPool: attribute 'kernel_shape' is that of a function, but the operation is not in one")
    ]
