"""Functions, their instances, and what gives declared operators a meaning; expected values are computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.common_ir import OperatorNode
from commonir.ir.module import Module
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

HEAD = """
module attributes {onnx.domain = "com.example", onnx.ir_version = 3, onnx.model_version = 1,
    onnx.doc_string = "A test."} {
  "common_ir.import"() <{uri = "commonir:core"}> : () -> ()
"""


def _library(name: str, content: str) -> str:
    return f"""
  "common_ir.library"() <{{sym_name = "com.example.{name}", identifier = "{name}", domain = "com.example",
      ir_version = 3, model_version = 1}}> ({{{content}}}) {{onnx.doc_string = "A test."}} : () -> ()"""


def _graph(content: str, inputs: str = "%a: tensor<2x3xf32>") -> str:
    return f"""
  "common_ir.graph"() <{{sym_name = "main", opset_import = {{}}}}> ({{
  ^bb0({inputs}):
{content}
  }}) : () -> ()
}}"""


def _module(*parts: str) -> Module:
    return parse_module(HEAD + "".join(parts), Dialects())


def _errors(module: Module) -> list[str]:
    return [d.message for d in verify(module, Dialects()) if d.is_error]


# y = (x + x) * alpha: the product stands before the sum, and alpha is an attribute of the function.
SCALED = """
    "common_ir.function"() <{sym_name = "Scaled", attributes = [{name = "alpha", type = "f64[]", default = 3.0}]}> ({
    ^bb0(%x: tensor<"n"x"m"xf32>):
      %y = "core.leaky_relu"(%negative) {onnx.attribute_references = {alpha = "alpha"}} :
          (tensor<"n"x"m"xf32>) -> tensor<"n"x"m"xf32>
      %negative = "core.neg"(%x) : (tensor<"n"x"m"xf32>) -> tensor<"n"x"m"xf32>
      "onnx.return"(%y) : (tensor<"n"x"m"xf32>) -> ()
    }) : () -> ()"""
CALL = """
    %b = "common_ir.call"(%a) <{function = "com.example.nn.Scaled", attributes = {alpha = 0.5}}> :
        (tensor<2x3xf32>) -> tensor<2x3xf32>
    "onnx.return"(%b) : (tensor<2x3xf32>) -> ()"""


def test_calls_run_the_function_with_their_attributes_in_the_order_that_data_needs() -> None:
    module = _module(_library("nn", SCALED), _graph(CALL))
    assert _errors(module) == []
    ones = np.ones((2, 3), np.float32)
    assert cir.run(module, {"a": ones})["b"].tolist() == [[-0.5] * 3] * 2
    assert cir.run(module, {"a": -ones})["b"].tolist() == [[1.0] * 3] * 2


def test_an_attribute_that_is_not_given_has_its_default() -> None:
    module = _module(_library("nn", SCALED), _graph(CALL.replace(", attributes = {alpha = 0.5}", "")))
    assert _errors(module) == []
    assert cir.run(module, {"a": np.ones((2, 3), np.float32)})["b"].tolist() == [[-3.0] * 3] * 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{alpha = 0.5}", "{beta = 0.5}", "has no attribute 'beta'"),
        ("{alpha = 0.5}", "{alpha = 1}", "expected f64[], found an integer"),
        ("(%a)", "(%a, %a)", "takes 1 input, found 2"),
        ("tensor<2x3xf32>) -> tensor<2x3xf32>", "tensor<2x3xf32>) -> (tensor<2x3xf32>, f32)", "has 1 output"),
    ],
)
def test_calls_that_do_not_fit_the_function_are_refused(old: str, new: str, message: str) -> None:
    call = CALL.replace(old, new)
    if "(%a, %a)" in call:
        call = call.replace("(tensor<2x3xf32>) -> tensor", "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor", 1)
    if "f32)\n" in call or ", f32)" in call:
        call = call.replace("%b =", "%b, %c =").replace(", f32)", ", tensor<f32>)")
    assert any(message in m for m in _errors(_module(_library("nn", SCALED), _graph(call))))


def test_a_function_refuses_types_that_contradict_its_signature() -> None:
    call = CALL.replace("2x3xf32", "2x3xf64")
    graph = _graph(call, "%a: tensor<2x3xf64>")
    messages = _errors(_module(_library("nn", SCALED), graph))
    assert "parameter 'x' of function 'Scaled': expected element type f32, found f64" in messages


def test_functions_that_call_functions_are_inlined_too() -> None:
    twice = """
    "common_ir.function"() <{sym_name = "Outer", attributes = [{name = "slope", type = "f64[]"}]}> ({
    ^bb0(%x: tensor<"k"x"l"xf32>):
      %y = "common_ir.call"(%x) <{function = "Scaled"}> {onnx.attribute_references = {alpha = "slope"}} :
          (tensor<"k"x"l"xf32>) -> tensor<"k"x"l"xf32>
      %z = "common_ir.call"(%y) <{function = "Scaled", attributes = {alpha = 2.0}}> :
          (tensor<"k"x"l"xf32>) -> tensor<"k"x"l"xf32>
      "onnx.return"(%z) : (tensor<"k"x"l"xf32>) -> ()
    }) : () -> ()"""
    call = CALL.replace("nn.Scaled", "nn.Outer").replace("alpha = 0.5", "slope = 0.5")
    module = _module(_library("nn", SCALED + twice), _graph(call))
    assert _errors(module) == []
    # -1 * 0.5 = -0.5 becomes 0.5, which is positive.
    assert cir.run(module, {"a": np.ones((2, 3), np.float32)})["b"].tolist() == [[0.5] * 3] * 2


def test_a_function_that_calls_itself_through_another_is_refused() -> None:
    cycle = "".join(
        f"""
    "common_ir.function"() <{{sym_name = "{name}"}}> ({{
    ^bb0(%x: tensor<"n"xf32>):
      %y = "common_ir.call"(%x) <{{function = "{other}"}}> : (tensor<"n"xf32>) -> tensor<"n"xf32>
      "onnx.return"(%y) : (tensor<"n"xf32>) -> ()
    }}) : () -> ()"""
        for name, other in (("F", "G"), ("G", "F"))
    )
    call = CALL.replace("nn.Scaled", "nn.F").replace(", attributes = {alpha = 0.5}", "").replace("2x3x", "6x")
    module = _module(_library("nn", cycle), _graph(call, "%a: tensor<6xf32>"))
    assert "CIR39: function 'F' calls itself: F -> G -> F" in _errors(module)
    with pytest.raises(DiagnosticError, match="functions call each other in a cycle: F -> G -> F"):
        cir.lower(module)


FLAT = """
    "common_ir.function"() <{sym_name = "Flat"}> ({
    ^bb0(%x: tensor<"n"x"m"xf32>):
      %y = "core.reshape"(%x) <{shape = #commonir.dims<"n*m">}> : (tensor<"n"x"m"xf32>) -> tensor<"n*m"xf32>
      "onnx.return"(%y) : (tensor<"n*m"xf32>) -> ()
    }) : () -> ()"""


def test_dimension_names_of_a_function_are_its_own() -> None:
    """`n` is the first size in the function and the second where it is called."""
    call = """
    %b = "common_ir.call"(%a) <{function = "com.example.nn.Flat"}> : (tensor<"m"x"n"xf32>) -> tensor<"m*n"xf32>
    "onnx.return"(%b) : (tensor<"m*n"xf32>) -> ()"""
    module = _module(_library("nn", FLAT), _graph(call, '%a: tensor<"m"x"n"xf32>'))
    assert _errors(module) == []
    lowered = cir.lower(module)
    assert str(lowered.main.outputs[0].type) == 'tensor<"m*n"xf32>'
    assert cir.run(module, {"a": np.ones((2, 3), np.float32)})["b"].shape == (6,)


DECLARED = """
    "common_ir.operator"() <{sym_name = "Scaled", signatures = [
        {inputs = [{name = "x", type = "f32[p, q]"}], outputs = [{name = "y", type = "f32[p, q]"}],
         attributes = [{name = "alpha", type = "f64[]"}]},
        {inputs = [{name = "x", type = "f64[p, q]"}], outputs = [{name = "y", type = "f64[p, q]"}]}]}> : () -> ()"""
NODE = """
    %b = "common_ir.op.com.example.ops.Scaled"(%a) <{alpha = 0.5}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "onnx.return"(%b) : (tensor<2x3xf32>) -> ()"""


def test_a_declared_operator_without_meaning_is_checked_and_shown_but_not_run() -> None:
    module = _module(_library("ops", DECLARED), _graph(NODE))
    assert _errors(module) == []
    with pytest.raises(DiagnosticError) as error:
        cir.run(module, {"a": np.ones((2, 3), np.float32)})
    assert "E0512" in str(error.value)
    assert "com.example.ops.Scaled: it is only declared: nothing says what it computes" in str(error.value)
    assert "import a library with a function 'Scaled' of its signature" in str(error.value)


def test_a_function_of_the_same_name_and_signature_gives_an_operator_its_meaning() -> None:
    module = _module(_library("nn", SCALED), _library("ops", DECLARED), _graph(NODE))
    assert _errors(module) == []
    assert cir.run(module, {"a": np.ones((2, 3), np.float32)})["b"].tolist() == [[-0.5] * 3] * 2


def test_a_type_variable_is_what_it_stands_for_when_a_meaning_is_looked_for() -> None:
    declared = """
    "common_ir.operator"() <{sym_name = "Scaled", signatures = [
        {inputs = [{name = "x", type = "T[p, q]"}], outputs = [{name = "y", type = "T[p, q]"}],
         attributes = [{name = "alpha", type = "f64[]"}], types = {T = ["f32", "f64"]}}]}> : () -> ()"""
    module = _module(_library("nn", SCALED), _library("ops", declared), _graph(NODE))
    assert _errors(module) == []
    assert cir.run(module, {"a": np.ones((2, 3), np.float32)})["b"].tolist() == [[-0.5] * 3] * 2
    wide = _graph(NODE.replace("f32", "f64"), "%a: tensor<2x3xf64>")
    with pytest.raises(DiagnosticError, match="it is only declared"):
        cir.lower(_module(_library("nn", SCALED), _library("ops", declared), wide))


def test_a_function_of_another_signature_gives_no_meaning() -> None:
    other = SCALED.replace('tensor<"n"x"m"xf32>', 'tensor<"n"x"n"xf32>')
    module = _module(_library("nn", other), _library("ops", DECLARED), _graph(NODE))
    with pytest.raises(DiagnosticError, match="it is only declared"):
        cir.lower(module)


def test_two_functions_that_could_be_the_meaning_are_an_error_that_names_both() -> None:
    module = _module(_library("one", SCALED), _library("two", SCALED), _library("ops", DECLARED), _graph(NODE))
    with pytest.raises(
        DiagnosticError, match=r"2 functions could be its meaning: com.example.one.Scaled, com.example.two"
    ):
        cir.lower(module)


def test_texts_give_declared_operators_back_with_the_signature_that_was_chosen() -> None:
    module = _module(_library("nn", SCALED), _library("ops", DECLARED), _graph(NODE))
    text = print_module(module)
    again = parse_module(text, Dialects())
    assert print_module(again) == text
    (node,) = [op for op in again.nested() if isinstance(op, OperatorNode)]
    assert (node.called, node.number) == ("com.example.ops.Scaled", 0)


def test_a_text_whose_node_fits_no_signature_says_why() -> None:
    with pytest.raises(DiagnosticError) as error:
        _module(_library("ops", DECLARED), _graph(NODE.replace("2x3xf32", "3xf32"), "%a: tensor<3xf32>"))
    assert "E0510" in str(error.value)
    assert "signature 2 (x: f64[p, q]) -> (y: f64[p, q]): has no attribute 'alpha'" in str(error.value)


def test_operators_are_known_by_bare_names_only_in_their_own_file() -> None:
    module = _module(_library("ops", DECLARED), _graph(NODE.replace("com.example.ops.", "")))
    assert "unknown operation 'common_ir.op.Scaled'" in _errors(module)


def test_a_call_of_a_function_with_a_malformed_type_is_a_finding() -> None:
    malformed = SCALED.replace('{sym_name = "Scaled",', '{sym_name = "Scaled", declared = {x = "f32[m*, n*]"},')
    module = _module(_library("nn", malformed), _graph(CALL))
    messages = [m for m in _errors(module) if "at most one wildcard" in m]
    assert messages
    with pytest.raises(DiagnosticError, match="at most one wildcard"):
        cir.lower(module)
