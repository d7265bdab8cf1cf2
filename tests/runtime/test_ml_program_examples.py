"""The examples of the specification of ml_program as it prints them: older forms are read, today's printed, all run."""

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir
from commonir.ir.module import Module
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.dialects.upstream_text import upstream
from tests.mlir_runner import Array

FUNCTIONS = """\
ml_program.func private @some_extern(i32) -> i32
ml_program.func @compute(%arg0 : i32) -> i32 {
  ml_program.return %arg0 : i32
}
"""
SUBGRAPHS = """\
ml_program.subgraph private @some_extern(i32) -> i32
ml_program.subgraph @compute(%arg0 : i32) -> i32 {
  ml_program.output %arg0 : i32
}
"""
CONSTANT = "ml_program.global @foobar(dense<4> : tensor<4xi32>) : tensor<?xi32>\n"
EXTERN = "ml_program.global mutable @foobar(#ml_program.extern<tensor<4xi32>>) : tensor<?xi32>\n"
UNDEFINED = "ml_program.global mutable @foobar : tensor<?xi32>\n"
LOADS = """\
ml_program.func @load() -> (tensor<?xi32>, tensor<?xi32>) {
  %0 = ml_program.global_load @foobar : tensor<?xi32>
  %1 = ml_program.global_load_const @foobar : tensor<?xi32>
  ml_program.return %0, %1 : tensor<?xi32>, tensor<?xi32>
}
"""
LOAD = """\
ml_program.func @load() -> tensor<?xi32> {
  %0 = ml_program.global_load @foobar : tensor<?xi32>
  ml_program.return %0 : tensor<?xi32>
}
"""
STORE = """\
ml_program.func @store(%0: tensor<?xi32>) {
  ml_program.global_store @foobar = %0 : tensor<?xi32>
  ml_program.return
}
"""
GRAPH = """\
ml_program.subgraph @graph() -> (tensor<?xi32>, !ml_program.token) {
  %in_token = ml_program.token
  %0, %cstr = ml_program.global_load_graph @foobar
    ordering (%in_token -> !ml_program.token) : tensor<?xi32>
  %token = ml_program.global_store @foobar = %0 : tensor<?xi32>
    ordering (%cstr -> !ml_program.token) : tensor<?xi32>
  ml_program.output %0, %token : tensor<?xi32>, !ml_program.token
}
"""


def _read(text: str) -> Module:
    program = parse_module(text, Dialects())
    assert verify(program, Dialects()) == []
    return program


def _run(program: Module, function: str, state: cir.State | None = None, **inputs: Array) -> list[object]:
    return [np.asarray(v).tolist() for v in cir.run(program, inputs, function=function, state=state).values()]


@pytest.mark.parametrize(
    "text",
    [FUNCTIONS, SUBGRAPHS, CONSTANT + LOADS, EXTERN + LOAD, UNDEFINED + LOAD + STORE, UNDEFINED + GRAPH],
    ids=["functions", "subgraphs", "constant", "extern", "undefined", "graph"],
)
def test_examples_print_as_mlir_reads_them(text: str) -> None:
    printed = print_module(_read(text), elide=None, naming=Naming.MLIR)
    answer = upstream(printed)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == printed


def test_functions_and_subgraphs_run() -> None:
    for text in (FUNCTIONS, SUBGRAPHS):
        assert _run(_read(text), "compute", arg0=np.array(7, "i4")) == [7]


def test_globals_are_loaded_and_stored() -> None:
    assert _run(_read(CONSTANT + LOADS), "load") == [[4, 4, 4, 4]] * 2
    program, state = _read(UNDEFINED + LOAD + STORE + GRAPH), cir.State()
    assert _run(program, "store", state, arg0=np.array([5, 6], "i4")) == []
    assert _run(program, "load", state) == [[5, 6]]
    assert _run(program, "graph", state)[0] == [5, 6]


def test_extern_contents_come_by_name() -> None:
    program = _read(EXTERN + LOAD)
    filled = cir.with_externs(program, {"foobar": np.array([1, 2, 3, 4], "i4")})
    assert _run(filled, "load") == [[1, 2, 3, 4]]
