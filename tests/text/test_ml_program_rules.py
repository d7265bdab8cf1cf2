"""The rules of the ml_program dialect: for each a program that breaks it, which mlir-opt refuses as well."""

from __future__ import annotations

import subprocess
from typing import NamedTuple

import pytest

from commonir.base.codes import UNKNOWN_OPERATION
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.mlir.ml_program import DIALECT
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module

from tests.oracles import mlir_opt

DIALECTS = Dialects([DIALECT], discover=False)


class Case(NamedTuple):
    """A program that breaks a rule, the code of the finding, and what both it and mlir-opt's message contain."""

    text: str
    code: str
    reason: str


_VARIABLE = "ml_program.global private mutable @g : i64\n"
_CONSTANT = "ml_program.global private @g(1 : i64) : i64\n"


def _func(body: str, signature: str = "()") -> str:
    return f"ml_program.func @f{signature} {{\n{body}\n}}\n"


def _generic(properties: str, block: str, kind: str = "func", end: str = "return") -> str:
    return (
        f'"ml_program.{kind}"() <{{sym_name = "f", {properties}}}> '
        f'({{ {block} "ml_program.{end}"() : () -> () }}) : () -> ()'
    )


CASES = {
    "immutable_global_needs_value": Case(
        "ml_program.global private @g : i32", "E0505", "immutable global must have an initial value"
    ),
    "load_of_nothing": Case(
        _func("%0 = ml_program.global_load @nothere : i32\nml_program.return"), "E0404", "undefined global: @nothere"
    ),
    "load_of_symbol_that_is_not_a_global": Case(
        "ml_program.func private @h()\n" + _func("%0 = ml_program.global_load @h : i32\nml_program.return"),
        "E0404",
        "undefined global: @h",
    ),
    "load_const_of_nothing": Case(
        _func("%0 = ml_program.global_load_const @m::@x : i32\nml_program.return"), "E0404", "undefined global: @m::@x"
    ),
    "load_const_does_not_look_outward": Case(
        f"{_CONSTANT}module {{\n" + _func("%0 = ml_program.global_load_const @g : i64\nml_program.return") + "}",
        "E0404",
        "undefined global: @g",
    ),
    "load_graph_does_not_look_outward": Case(
        f"{_VARIABLE}module {{\nml_program.subgraph @f() {{\n"
        "%0, %1 = ml_program.global_load_graph @g ordering(() -> !ml_program.token) : i64\nml_program.output }\n}",
        "E0404",
        "undefined global: @g",
    ),
    "store_of_nothing": Case(
        _func("ml_program.global_store @nothere = %0 : i32\nml_program.return", "(%0: i32)"),
        "E0404",
        "undefined global: @nothere",
    ),
    "load_const_of_mutable": Case(
        _VARIABLE + _func("%0 = ml_program.global_load_const @g : i64\nml_program.return"),
        "E0505",
        "cannot load as const from mutable global @g",
    ),
    "load_type": Case(
        _VARIABLE + _func("%0 = ml_program.global_load @g : i32\nml_program.return"),
        "E0503",
        "cannot load from global typed 'i64' as 'i32'",
    ),
    "load_const_type": Case(
        _CONSTANT + _func("%0 = ml_program.global_load_const @g : i32\nml_program.return"),
        "E0503",
        "cannot load from global typed 'i64' as 'i32'",
    ),
    "load_graph_type": Case(
        _VARIABLE + "ml_program.subgraph @f() {\n"
        "%0, %1 = ml_program.global_load_graph @g ordering(() -> !ml_program.token) : i32\nml_program.output }",
        "E0503",
        "cannot load from global typed 'i64' as 'i32'",
    ),
    "store_to_immutable": Case(
        _CONSTANT + _func("ml_program.global_store @g = %0 : i64\nml_program.return", "(%0: i64)"),
        "E0505",
        "cannot store to an immutable global @g",
    ),
    "store_type": Case(
        _VARIABLE + _func("ml_program.global_store @g = %0 : i32\nml_program.return", "(%0: i32)"),
        "E0503",
        "cannot store to a global typed 'i64' from 'i32'",
    ),
    "store_graph_to_immutable": Case(
        _CONSTANT + "ml_program.subgraph @f(%0: i64) {\n"
        "%1 = ml_program.global_store_graph @g = %0 ordering(() -> !ml_program.token) : i64\nml_program.output }",
        "E0505",
        "cannot store to an immutable global @g",
    ),
    "return_count": Case(
        _func("ml_program.return %0, %0 : i32, i32", "(%0: i32) -> i32"),
        "E0403",
        "has 2 operands, but enclosing function (@f) returns 1",
    ),
    "output_count": Case(
        "ml_program.subgraph @f(%0: i32) -> i32 { ml_program.output %0, %0 : i32, i32 }",
        "E0403",
        "has 2 operands, but enclosing function (@f) outputs 1",
    ),
    "return_type": Case(
        _func("ml_program.return %0 : i64", "(%0: i64) -> i32"),
        "E0503",
        "type of return operand 0 ('i64') doesn't match function result type ('i32') in function @f",
    ),
    "output_type": Case(
        "ml_program.subgraph @f(%0: i64) -> i32 { ml_program.output %0 : i64 }",
        "E0503",
        "type of output operand 0 ('i64') doesn't match function result type ('i32') in function @f",
    ),
    "return_stands_in_a_function": Case("ml_program.subgraph @f() { ml_program.return }", "E0508", "ml_program.func"),
    "output_stands_in_a_subgraph": Case(_func("ml_program.output"), "E0508", "ml_program.subgraph"),
    "return_in_a_nested_region": Case(
        _func('"x.if"() ({\nml_program.return\n}) : () -> ()\nml_program.return'), "E0508", "ml_program.func"
    ),
    "declaration_is_not_public": Case(
        "ml_program.func @f()", "E0505", "symbol declaration cannot have public visibility"
    ),
    "declared_subgraph_is_not_public": Case(
        "ml_program.subgraph public @f()", "E0505", "symbol declaration cannot have public visibility"
    ),
    "count_of_entry_arguments": Case(
        _generic("function_type = (i32) -> ()", ""),
        "E0403",
        "entry block must have 1 arguments to match function signature",
    ),
    "type_of_entry_argument": Case(
        _generic("function_type = (i32) -> ()", "^bb0(%0: i64):"),
        "E0403",
        "type of entry block argument #0('i64') must match the type of the corresponding argument in function"
        " signature('i32')",
    ),
    "count_of_argument_attributes": Case(
        _generic("function_type = (i32) -> (), arg_attrs = [{}, {}]", "^bb0(%0: i32):"),
        "E0505",
        "got 2, but expected 1",
    ),
    "count_of_result_attributes": Case(
        _generic("function_type = () -> (), res_attrs = [{}]", ""), "E0505", "got 1, but expected 0"
    ),
    "argument_attributes_have_a_dialect": Case(
        _func("ml_program.return", "(%0: i32 {note})"), "E0505", "arguments may only have dialect attributes"
    ),
    "result_attributes_have_a_dialect": Case(
        _func("ml_program.return %0 : i32", "(%0: i32) -> (i32 {note})"),
        "E0505",
        "results may only have dialect attributes",
    ),
    "subgraph_has_one_block": Case(
        'ml_program.subgraph @f() {\n"x.jump"() [^bb1] : () -> ()\n^bb1:\nml_program.output\n}', "E0508", "region"
    ),
    "consumed_token": Case(
        _VARIABLE + "ml_program.subgraph @f(%0: i32) {\n"
        '%1, %2 = "ml_program.global_load_graph"(%0) <{global = @g}> : (i32) -> (i64, !ml_program.token)\n'
        "ml_program.output }",
        "E0503",
        "Token for establishing execution ordering in a graph",
    ),
    "produced_token": Case(
        'ml_program.subgraph @f() {\n%0 = "ml_program.token"() : () -> i32\nml_program.output }',
        "E0506",
        "Token for establishing execution ordering in a graph",
    ),
    "visibility": Case(
        '"ml_program.global"() <{is_mutable, sym_name = "g", sym_visibility = "hidden", type = i32}> : () -> ()',
        "E0505",
        "hidden",
    ),
    "name_of_a_symbol": Case('"ml_program.global"() <{is_mutable, type = i32}> : () -> ()', "E0505", "sym_name"),
    "kind_of_a_property": Case(
        '"ml_program.global"() <{is_mutable = 1 : i32, sym_name = "g", type = i32}> : () -> ()', "E0505", "is_mutable"
    ),
    "one_symbol_of_a_name": Case(_VARIABLE + _VARIABLE, "E0402", "'g'"),
    "symbol_outside_of_a_symbol_table": Case(
        _func(_VARIABLE + "ml_program.return"), "E0508", "symbol's parent must have the SymbolTable trait"
    ),
    "dominance": Case(
        _VARIABLE
        + _func("ml_program.global_store @g = %0 : i64\n%0 = ml_program.global_load @g : i64\nml_program.return"),
        "E0401",
        "operand",
    ),
    "terminator": Case(_func("%0 = ml_program.token"), "E0403", "block with no terminator, has"),
}


@pytest.mark.parametrize("name", CASES)
def test_program_that_breaks_a_rule_is_refused(name: str) -> None:
    case = CASES[name]
    try:
        diagnostics = verify(parse_module(case.text, DIALECTS), DIALECTS)
    except DiagnosticError as error:
        diagnostics = list(error.diagnostics)
    diagnostics = [d for d in diagnostics if d.code is not UNKNOWN_OPERATION]
    assert [d.code.id for d in diagnostics] == [case.code], diagnostics
    assert case.reason in diagnostics[0].message


@pytest.mark.parametrize("name", CASES)
def test_mlir_opt_refuses_what_breaks_a_rule_for_the_same_reason(name: str) -> None:
    case = CASES[name]
    command = [mlir_opt(), "--allow-unregistered-dialect"]
    done = subprocess.run(command, input=case.text, capture_output=True, text=True, check=False)
    assert done.returncode
    assert case.reason in done.stderr


def test_function_without_a_body_that_has_none_is_refused_as_a_declaration_of_names() -> None:
    text = "ml_program.func private @f(%a: i32, i32)"
    with pytest.raises(DiagnosticError, match="names"):
        parse_module(text, DIALECTS)
