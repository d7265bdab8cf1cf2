"""Functions that call functions: deep chains run, and calls that stand for too many operations are refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import commonir
from commonir.base.diagnostics import DiagnosticError
from commonir.formats.onnx.read import loads
from commonir.ir.types import f32, tensor
from commonir.ods import Dialects, verify

DIALECTS = Dialects()

_OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]


def _function(n: int, *called: int) -> onnx.FunctionProto:
    """Returns the function F`n`, which calls others in sequence, or negates if it calls none."""
    names = ["a", *[f"t{k}" for k in range(len(called) - 1)], "b"]
    nodes = [helper.make_node(f"F{m}", [x], [y], domain="f") for m, x, y in zip(called, names, names[1:], strict=False)]
    return helper.make_function("f", f"F{n}", ["a"], ["b"], nodes or [helper.make_node("Neg", ["a"], ["b"])], _OPSETS)


def _model(functions: list[onnx.FunctionProto]) -> commonir.Module:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    nodes = [helper.make_node("F0", ["x"], ["t"], domain="f"), helper.make_node("Identity", ["t"], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], [y])
    model = helper.make_model(graph, functions=functions, opset_imports=_OPSETS, ir_version=8)
    module, diagnostics = loads(model.SerializeToString(), DIALECTS)
    assert list(diagnostics) == []
    return module


def test_results_of_chains_deeper_than_the_stack_of_python_have_types() -> None:
    module = _model([*[_function(n, n + 1) for n in range(350)], _function(350)])
    assert next(r.type for op in module.main.body.operations for r in op.results) is tensor(f32, 2)


@pytest.mark.slow
def test_a_chain_of_functions_may_be_deeper_than_the_stack_of_python() -> None:
    module = _model([*[_function(n, n + 1) for n in range(600)], _function(600)])
    assert verify(module, DIALECTS) == []
    np.testing.assert_array_equal(commonir.run(module, {"x": np.array([1, -2], np.float32)})["y"], [-1, 2])


def test_calls_that_double_are_refused_before_they_are_copied() -> None:
    module = _model([*[_function(n, n + 1, n + 1) for n in range(40)], _function(40)])
    assert verify(module, DIALECTS) == []
    with pytest.raises(DiagnosticError, match="the calls in 'g' stand for more than 100,000 operations"):
        commonir.run(module, {"x": np.zeros(2, np.float32)})


def test_a_long_cycle_is_reported_once_and_shortened() -> None:
    module = _model([_function(n, (n + 1) % 100) for n in range(100)])
    messages = [d.message for d in verify(module, DIALECTS)]
    first = " -> ".join([f"f::F{n}" for n in range(15)])
    assert messages == [f"functions call each other in a cycle: {first} -> 85 more -> f::F0"]
