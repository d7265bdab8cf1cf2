"""The ml_program dialect: its syntax, in both directions, and its rules."""

from __future__ import annotations

import pytest

from commonir.dialects.mlir.ml_program import (
    DIALECT,
    Func,
    Global,
    GlobalLoad,
    GlobalLoadConst,
    GlobalLoadGraph,
    GlobalStore,
    GlobalStoreGraph,
    Output,
    Return,
    Subgraph,
    Token,
    Visibility,
    extern,
)
from commonir.ir import Block, Function, Module, Region, data_of, tensor
from commonir.ir.equality import first_difference
from commonir.ir.types import FunctionType, f32, i32, token
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

DIALECTS = Dialects([DIALECT], discover=False)

# The examples of the specification, in the form of today where it shows an older one.
PROGRAM = """\
module {
  ml_program.func private @some_extern(i32) -> i32
  ml_program.func @compute(%arg0: i32) -> i32 {
    ml_program.return %arg0 : i32
  }
  ml_program.subgraph private @other_extern(i32) -> (i32, f32)
  ml_program.subgraph @compute_graph(%arg0: i32 {x.note = "in"}) -> (i32 {x.note}) {
    ml_program.output %arg0 : i32
  }
  ml_program.global private @foobar(dense<4> : tensor<4xi32>) : tensor<?xi32>
  ml_program.global private mutable @outside(#ml_program.extern : tensor<4xi32>) : tensor<?xi32>
  ml_program.global private mutable @state : tensor<?xi32>
  ml_program.global public @"odd name"(dense<1.0> : tensor<f32>) : tensor<f32> {x.note = 1 : i64}
  ml_program.func @load_and_store() attributes {x.note} {
    %0 = ml_program.global_load @state : tensor<?xi32>
    %1 = ml_program.global_load_const @foobar : tensor<?xi32>
    ml_program.global_store @state = %0 : tensor<?xi32>
    ml_program.return {x.note}
  }
  ml_program.subgraph @in_a_graph() -> (tensor<?xi32>, !ml_program.token) {
    %token = ml_program.token
    %0, %cstr = ml_program.global_load_graph @state ordering(%token -> !ml_program.token) : tensor<?xi32>
    %1, %2 = ml_program.global_load_graph @state ordering(() -> !ml_program.token) : tensor<?xi32>
    %3 = ml_program.global_store_graph @state = %0 ordering(%cstr, %2 -> !ml_program.token) : tensor<?xi32>
    ml_program.output %1, %3 : tensor<?xi32>, !ml_program.token
  }
}
"""


def _read(text: str) -> Module:
    return parse_module(text, DIALECTS)


def test_syntax_of_the_specification_reads_back_as_it_was() -> None:
    program = _read(PROGRAM)
    assert verify(program, DIALECTS) == []
    assert print_module(program, elide=None) == PROGRAM
    generic = print_module(program, generic=True, elide=None)
    assert first_difference(_read(generic), program, names=True) is None


def test_dialect_defines_the_eleven_operations() -> None:
    names = "func global global_load global_load_const global_load_graph global_store global_store_graph output return"
    assert sorted(DIALECT.operations) == [f"ml_program.{name}" for name in (*names.split(), "subgraph", "token")]


def test_function_has_named_inputs_and_outputs() -> None:
    kind = tensor(f32, 2)
    body = Block([kind], ["x"])
    body.append(Return((body.arguments[0],)))
    func = Func("main", FunctionType((kind,), (kind,)), Region([body]), result_names=("y",))
    assert isinstance(func, Function)
    assert (func.symbol_name, func.body, func.inputs, func.outputs) == ("main", body, body.arguments, body.arguments)
    assert func.output_names == ("y",)
    assert print_module(func).startswith(
        'ml_program.func @main(%x: tensor<2xf32>) -> tensor<2xf32> attributes {result_names = ["y"]} {'
    )


def test_names_of_outputs_are_those_of_the_values_unless_stated() -> None:
    program = _read("ml_program.func @f(%a: i32, %b: i32) -> (i32, i32) { ml_program.return %b, %a : i32, i32 }")
    assert program.main.output_names == ("b", "a")


def test_declaration_has_no_body() -> None:
    func = Func("f", FunctionType((i32,), ()), Region(), sym_visibility=Visibility.PRIVATE)
    assert func.is_declaration
    assert func.inputs == func.outputs == ()
    assert print_module(func) == "ml_program.func private @f(i32)\n"


def test_global_holds_data_that_a_constant_load_knows() -> None:
    data = data_of(i32, (2,), (1, 2))
    weights = Global.constant("w", data)
    load = GlobalLoadConst.of(weights)
    body = Block()
    body.append(load)
    body.append(Return(()))
    module = Module()
    module.body.append(weights)
    module.body.append(Func("main", FunctionType((), ()), Region([body])))
    known = load.constant_data()
    assert known is not None
    assert (known.type, known.contents()) == (data.type, data.contents())
    assert verify(module, DIALECTS) == []


def test_loads_and_stores_are_made_from_the_global() -> None:
    state = Global("s", tensor(i32, 2), is_mutable=True)
    load = GlobalLoad.of(state)
    first = Token()
    assert load.results[0].type is tensor(i32, 2)
    assert GlobalStore.to(state, load.results[0]).operands == load.results
    graph_load = GlobalLoadGraph.of(state, [first.result])
    assert [r.type for r in graph_load.results] == [tensor(i32, 2), token]
    store = GlobalStoreGraph.to(state, load.results[0], [first.result, graph_load.produce_token])
    assert store.consume_tokens == (first.result, graph_load.produce_token)
    assert Subgraph("g", FunctionType((), ()), Region([Block()])).body is not None
    assert Output(()).results == ()
    assert Global("e", tensor(i32, 2), extern(tensor(i32, 2))).is_extern
    with pytest.raises(TypeError, match=r"use GlobalLoad\.build") as error:
        GlobalLoad(("s",))
    # Only a note is about Python: texts and rules report the message alone.
    assert str(error.value) == "the result types of ml_program.global_load cannot be inferred: state them"


def test_value_may_be_used_before_its_definition_in_a_subgraph_only() -> None:
    body = "%1 = ml_program.global_store_graph @s = %0 ordering(() -> !ml_program.token) : i32\n"
    body += "%0, %t = ml_program.global_load_graph @s ordering(() -> !ml_program.token) : i32\n"
    state = "ml_program.global private mutable @s : i32\n"
    graph = _read(f"{state}ml_program.subgraph @g() {{ {body} ml_program.output }}")
    assert verify(graph, DIALECTS) == []
    func = _read(f"{state}ml_program.func @g() {{ {body} ml_program.return }}")
    assert [d.code.id for d in verify(func, DIALECTS)] == ["E0401"]


def test_undefined_global_suggests_the_nearest() -> None:
    text = "ml_program.global private mutable @weights : i32\n"
    text += "ml_program.func @f() { %0 = ml_program.global_load @weigths : i32\n ml_program.return }"
    (diagnostic,) = verify(_read(text), DIALECTS)
    assert diagnostic.help == "did you mean 'weights'?"


def test_type_of_an_unused_width_is_kept() -> None:
    assert print_module(_read("ml_program.global private mutable @g : i17")).count("i17") == 1
