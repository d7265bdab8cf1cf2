"""Local functions: what they mean where they are called."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper

import commonir
from commonir.base.diagnostics import DiagnosticError
from commonir.formats.onnx.read import loads
from commonir.ir.types import f32, tensor
from commonir.ods import Dialects, verify

from tests.formats.onnx import odd_models

DIALECTS = Dialects()
_OPSETS = [helper.make_opsetid("", 22)]
_WITH_F = [*_OPSETS, helper.make_opsetid("f", 1)]


def _model(functions: list[onnx.FunctionProto], nodes: list[NodeProto]) -> ModelProto:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y])
    return helper.make_model(graph, functions=functions, opset_imports=_WITH_F, ir_version=10)


def _referring(op_type: str, inputs: list[str], outputs: list[str], domain: str = "", **names: str) -> NodeProto:
    node = NodeProto(op_type=op_type, input=inputs, output=outputs, domain=domain)
    for name, to in names.items():
        node.attribute.add(name=name, ref_attr_name=to, type=AttributeProto.FLOAT)
    return node


def _call(name: str, inputs: str, output: str) -> NodeProto:
    return helper.make_node(name, [inputs], [output], domain="f")


def _scaled() -> onnx.FunctionProto:
    """LeakyRelu by an attribute with a default, through a function of its own."""
    slope = helper.make_attribute("slope", 0.25)
    return helper.make_function(
        "f", "Scaled", ["a"], ["b"], [_referring("LeakyRelu", ["a"], ["b"], alpha="slope")], _OPSETS, [], [slope]
    )


def _twice() -> onnx.FunctionProto:
    nodes = [
        _referring("Scaled", ["a"], ["t"], "f", slope="k"),
        helper.make_node("Scaled", ["t"], ["u"], domain="f"),
        helper.make_node("Clip", ["u", "low", "high"], ["b"]),
    ]
    return helper.make_function("f", "Twice", ["a", "low", "high"], ["b"], nodes, _WITH_F, ["k"])


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [(["x"], [-0.5, 3]), (["x", "x"], [-0.5, 3]), (["x", "", "x"], [-4, -4])],
    ids=["one", "two", "first and last"],
)
def test_calls_mean_what_the_bodies_of_functions_do(inputs: list[str], expected: list[float]) -> None:
    # -4 times 1/2 by the call, times 1/4 by default; not less than the second input, not more than the third.
    bounds = [name and f"{name}_0" for name in inputs[1:]]
    nodes = [helper.make_node("ReduceMin", ["x"], ["x_0"], keepdims=0)]
    nodes.append(helper.make_node("Twice", ["x", *bounds], ["y"], domain="f", k=0.5))
    module, diagnostics = loads(_model([_scaled(), _twice()], nodes).SerializeToString(), DIALECTS)
    assert [*diagnostics, *verify(module, DIALECTS)] == []
    result = commonir.run(module, {"x": np.array([-4, 3], np.float32)})
    np.testing.assert_array_equal(result["y"], expected)


def test_results_of_calls_have_the_types_of_the_body() -> None:
    model = odd_models.local_functions()
    module, _ = loads(model.SerializeToString(), DIALECTS)
    assert [op.results[0].type for op in module.main.body.operations if op.results] == [tensor(f32, 2)] * 2


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (helper.make_node("Scaled", ["x", "x"], ["y"], domain="f"), "'f::Scaled' has 1 inputs, found 2"),
        (helper.make_node("Scaled", ["x"], ["y", "z"], domain="f"), "'f::Scaled' has 1 outputs, found 2"),
        (helper.make_node("Twice", ["x"], ["y"], domain="f"), "'f::Twice' is given no attribute 'k'"),
        (helper.make_node("Scaled", ["x"], ["y"], domain="f", slop=1.0), "'f::Scaled' has no attribute 'slop'"),
    ],
)
def test_calls_that_do_not_fit_their_function_are_refused(node: NodeProto, message: str) -> None:
    module, _ = loads(_model([_scaled(), _twice()], [node]).SerializeToString(), DIALECTS)
    assert [d.message for d in verify(module, DIALECTS)] == [message]


def test_attributes_that_a_call_does_not_give_stay_away() -> None:
    # onnx's inliner and onnxruntime leave them out: the operators in the body have their defaults, here alpha = 1.
    nodes = [_referring("Elu", ["a"], ["b"], alpha="alpha"), _referring("Cast", ["a"], ["b"], to="to")]
    nodes[1].attribute[0].type = AttributeProto.INT
    functions = [
        helper.make_function("f", node.op_type, ["a"], ["b"], [node], _OPSETS, [node.attribute[0].name])
        for node in nodes
    ]
    module, _ = loads(_model(functions, [_call("Elu", "x", "y")]).SerializeToString(), DIALECTS)
    assert not [d for d in verify(module, DIALECTS) if d.is_error]
    x = np.array([-1, 2], np.float32)
    y = np.asarray(commonir.run(module, {"x": x})["y"], np.float32)
    np.testing.assert_allclose(y, [np.exp(-1) - 1, 2], rtol=1e-6)
    module, _ = loads(_model(functions, [_call("Cast", "x", "y")]).SerializeToString(), DIALECTS)
    with pytest.raises(DiagnosticError, match="attribute 'to' is missing"):
        commonir.run(module, {"x": x})


def test_functions_that_call_each_other_in_a_cycle_are_refused() -> None:
    def calling(name: str, other: str) -> onnx.FunctionProto:
        return helper.make_function("f", name, ["a"], ["b"], [_call(other, "a", "b")], _OPSETS)

    functions = [calling("A", "B"), calling("B", "C"), calling("C", "A")]
    module, _ = loads(_model(functions, [_call("A", "x", "y")]).SerializeToString(), DIALECTS)
    result = [d.message for d in verify(module, DIALECTS)]
    assert result[0] == "functions call each other in a cycle: f::A -> f::B -> f::C -> f::A"
    with pytest.raises(DiagnosticError, match="in a cycle"):
        commonir.run(module, {"x": np.zeros(2, np.float32)})


def test_types_stated_in_a_function_are_not_those_of_its_instances() -> None:
    function = helper.make_function("f", "G", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["t"])], _OPSETS)
    function.node.append(helper.make_node("Relu", ["t"], ["b"]))
    function.value_info.extend([helper.make_tensor_value_info(name, TensorProto.FLOAT, [7]) for name in "atb"])
    module, diagnostics = loads(_model([function], [_call("G", "x", "y")]).SerializeToString(), DIALECTS)
    assert [*diagnostics, *verify(module, DIALECTS)] == []
    np.testing.assert_array_equal(commonir.run(module, {"x": np.array([-1, 2], np.float32)})["y"], [1, 0])


@pytest.mark.parametrize(
    ("element", "shape", "codes"),
    [
        (TensorProto.FLOAT, [2], []),
        (TensorProto.FLOAT, ["k"], []),
        (TensorProto.INT64, [2], ["E0506"]),
        (TensorProto.FLOAT, [3], ["W0502"]),
        (TensorProto.FLOAT, [2, 1], ["W0502"]),
        (TensorProto.FLOAT, [], ["W0502"]),
    ],
)
def test_declared_results_of_calls_are_compared_as_in_the_full_check(
    element: int, shape: list[int | str], codes: list[str]
) -> None:
    model = _model([_scaled()], [_call("Scaled", "x", "y")])
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", element, shape))
    module, _ = loads(model.SerializeToString(), DIALECTS)
    assert [d.code.id for d in verify(module, DIALECTS)] == codes
    if codes:
        with pytest.raises(onnx.shape_inference.InferenceError):
            onnx.checker.check_model(model, full_check=True)
    else:
        onnx.checker.check_model(model, full_check=True)
