"""Operators of which there is no definition are reported by the names that their files give them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import commonir
from commonir.base.diagnostics import DiagnosticError
from commonir.formats.onnx.read import loads
from commonir.formats.onnx.verify import verify_model
from commonir.ods import Dialects

DIALECTS = Dialects()


def _model(domain: str, op_type: str) -> ModelProto:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    node = helper.make_node(op_type, ["x"], ["y"], domain=domain)
    opsets = [helper.make_opsetid(d, version) for d, version in {domain: 1, "": 17}.items()]
    return helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize(("domain", "op_type"), [("com.microsoft", "Irfft"), ("org.example.nn", "Scale")])
def test_runs_and_conversions_name_domain_and_operator(domain: str, op_type: str) -> None:
    module, diagnostics = loads(_model(domain, op_type).SerializeToString(), DIALECTS)
    assert not diagnostics
    with pytest.raises(DiagnosticError) as caught:
        commonir.run(module, {"x": np.zeros(2, np.float32)})
    (reported,) = caught.value.diagnostics
    assert reported.message == f"{domain}.{op_type} cannot be lowered to core"
    assert reported.help == (
        "`cir check` says what is known of it; a function of the model that has its name may state what it means"
    )


@pytest.mark.parametrize("op_type", ["Irfft", "QLinearReduceMean"])
def test_operators_of_onnxruntime_that_are_not_defined_are_not_faults(op_type: str) -> None:
    module, _ = loads(_model("com.microsoft", op_type).SerializeToString(), DIALECTS)
    (reported,) = verify_model(module)
    assert not reported.is_error
    assert reported.message == f"no definition of 'com.microsoft.{op_type}' is known"


def test_operators_that_onnxruntime_adds_to_the_default_domain_are_reported() -> None:
    model = _model("", "SimplifiedLayerNormalization")
    model.graph.node[0].input.append("x")
    module, _ = loads(model.SerializeToString(), DIALECTS)
    (reported,) = verify_model(module)
    assert not reported.is_error
    expected = "G3: 'SimplifiedLayerNormalization' is an operator of onnxruntime, not of this version of ONNX"
    assert reported.message == expected
