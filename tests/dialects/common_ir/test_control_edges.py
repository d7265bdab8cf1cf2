"""Control edges: the order they give, and what need not keep it."""

from __future__ import annotations

import commonir as cir
from commonir.dialects.common_ir import control_inputs_of, node_name
from commonir.ir.module import Module
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module

HEAD = """
module attributes {onnx.domain = "com.example", onnx.ir_version = 3, onnx.model_version = 1,
    onnx.doc_string = "A test."} {
  "common_ir.import"() <{uri = "commonir:core"}> : () -> ()
"""
SHAPE = '%shape = "onnx.initializer"() <{value = dense<[2]> : tensor<1xi64>}> : () -> tensor<1xi64>'


def _draw(name: str, control: str = "") -> str:
    edges = f' {{common_ir.control_input = ["{control}"]}}' if control else ""
    return f'%{name} = "core.random_uniform"(%shape){edges} : (tensor<1xi64>) -> tensor<2xf32> loc("draw_{name}")'


def _module(graph: str, functions: str = "") -> Module:
    return parse_module(
        f"""{HEAD}{functions}
  "common_ir.graph"() <{{sym_name = "main", opset_import = {{}}}}> ({{
  ^bb0(%x: tensor<2xf32>):
    {graph}
  }}) : () -> ()
}}""",
        Dialects(),
    )


def _order(module: Module) -> list[str]:
    """The names of the nodes that a lowered program draws numbers in, in order."""
    return [op.location.name for op in cir.lower(module).nested() if op.name == "core.random_uniform" and op.location]


def test_random_nodes_run_in_the_order_of_the_graph() -> None:
    graph = f"""{SHAPE}
    {_draw("a")}
    {_draw("b", "draw_a")}
    %c = "core.sub"(%b, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("difference")
    "onnx.return"(%c) : (tensor<2xf32>) -> ()"""
    module = _module(graph)
    assert [d for d in verify(module, Dialects()) if d.is_error] == []
    assert _order(module) == ["draw_a", "draw_b"]


def test_control_edges_order_the_nodes_of_a_function_that_stand_in_another_order() -> None:
    function = f"""
  "common_ir.function"() <{{sym_name = "Draw"}}> ({{
  ^bb0(%p: tensor<2xf32>):
    {_draw("second", "draw_first")}
    {_draw("first")}
    {SHAPE}
    %sum = "core.add"(%second, %p) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("plus")
    %all = "core.sub"(%sum, %first) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("minus")
    "onnx.return"(%all) : (tensor<2xf32>) -> ()
  }}) : () -> ()"""
    call = '%y = "common_ir.call"(%x) <{function = "Draw"}> : (tensor<2xf32>) -> tensor<2xf32>'
    graph = f'{call}\n    "onnx.return"(%y) : (tensor<2xf32>) -> ()'
    module = _module(graph, function)
    assert [d for d in verify(module, Dialects()) if d.is_error] == []
    assert _order(module) == ["draw_first", "draw_second"]
    without_edge = _module(graph, function.replace(' {common_ir.control_input = ["draw_first"]}', ""))
    assert _order(without_edge) == ["draw_second", "draw_first"]


def test_an_edge_keeps_no_node_without_effects_alive() -> None:
    graph = """%unused = "core.neg"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("negated")
    %y = "core.abs"(%x) {common_ir.control_input = ["negated"]} : (tensor<2xf32>) -> tensor<2xf32> loc("used")
    "onnx.return"(%y) : (tensor<2xf32>) -> ()"""
    module = _module(graph)
    assert [d for d in verify(module, Dialects()) if d.is_error] == []
    assert [op.name for op in cir.lower(module).main.body.operations] == ["core.abs", "ml_program.return"]


def test_control_inputs_and_names_of_nodes_are_kept_as_the_program_states_them() -> None:
    graph = """%a = "core.neg"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("first")
    %y = "core.abs"(%a) {common_ir.control_input = ["first"]} : (tensor<2xf32>) -> tensor<2xf32> loc("then")
    "onnx.return"(%y) : (tensor<2xf32>) -> ()"""
    nodes = [op for op in _module(graph).main.body.operations if node_name(op)]
    assert [(node_name(op), control_inputs_of(op)) for op in nodes] == [("first", ()), ("then", ("first",))]
