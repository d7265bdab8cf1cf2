"""Programs of the ml_program dialect run: functions, subgraphs by data and tokens, lasting globals, extern values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.cli.arrays import save_arrays
from commonir.cli.main import main
from commonir.ir.module import Module
from commonir.ods import Dialects, verify
from commonir.text.parser import parse_module

Array = NDArray[np.generic]

ENGINES = ("numpy", "reference")


def _program(text: str) -> Module:
    dialects = Dialects()
    result = parse_module(text, dialects)
    assert verify(result, dialects) == []
    return result


def _run(
    program: Module, inputs: Mapping[str, Array] | None = None, *, state: cir.State | None = None, engine: str = "numpy"
) -> list[list[float]]:
    outputs = cir.run(program, inputs, state=state, engine=engine)
    return [np.asarray(x).tolist() for x in outputs.values()]


def _fault(program: Module, inputs: Mapping[str, Array] | None = None) -> tuple[str, str]:
    with pytest.raises(cir.DiagnosticError) as refused:
        cir.run(program, inputs)
    (diagnostic,) = refused.value.diagnostics
    return diagnostic.code.id, diagnostic.message


STATE = "ml_program.global private mutable @state(dense<[1, 2]> : tensor<2xi32>) : tensor<2xi32>\n"
UNDEFINED = "ml_program.global private mutable @state : tensor<2xi32>\n"

SUBGRAPH = (
    STATE
    + """\
ml_program.subgraph @step() -> (tensor<2xi32>, !ml_program.token) {
  %stored = ml_program.global_store_graph @state = %twice ordering(%loaded -> !ml_program.token) : tensor<2xi32>
  %twice = core.add %old, %old : tensor<2xi32>
  %old, %loaded = ml_program.global_load_graph @state ordering(%first -> !ml_program.token) : tensor<2xi32>
  %first = ml_program.token
  ml_program.output %old, %stored : tensor<2xi32>, !ml_program.token
}
"""
)


@pytest.mark.parametrize("engine", ENGINES)
def test_example_of_a_function_returns_what_it_is_given(engine: str) -> None:
    text = "ml_program.func private @some_extern(i32) -> i32\n"
    text += "ml_program.func @compute(%arg0 : i32) -> i32 {\n  ml_program.return %arg0 : i32\n}"
    assert _run(_program(text), {"arg0": np.array(7, np.int32)}, engine=engine) == [7]


@pytest.mark.parametrize("engine", ENGINES)
def test_example_of_a_subgraph_outputs_what_it_is_given(engine: str) -> None:
    text = "ml_program.subgraph private @some_extern(i32) -> i32\n"
    text += "ml_program.subgraph @compute(%arg0 : i32) -> i32 {\n  ml_program.output %arg0 : i32\n}"
    assert _run(_program(text), {"arg0": np.array(7, np.int32)}, engine=engine) == [7]


@pytest.mark.parametrize("engine", ENGINES)
def test_operations_of_a_subgraph_run_in_the_order_of_data_and_tokens(engine: str) -> None:
    state = cir.State()
    program = _program(SUBGRAPH)
    assert [_run(program, state=state, engine=engine) for _ in range(3)] == [[[1, 2]], [[2, 4]], [[4, 8]]]
    assert state["state"].tolist() == [8, 16]


def test_tokens_decide_whether_a_load_sees_a_store() -> None:
    text = (
        STATE
        + """\
ml_program.subgraph @f(%new: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {{
  %a, %t0 = ml_program.global_load_graph @state ordering({first}) : tensor<2xi32>
  %t1 = ml_program.global_store_graph @state = %new ordering({second}) : tensor<2xi32>
  %b, %t2 = ml_program.global_load_graph @state ordering(%t1 -> !ml_program.token) : tensor<2xi32>
  ml_program.output %a, %b : tensor<2xi32>, tensor<2xi32>
}}
"""
    )
    new = {"new": np.array([5, 6], np.int32)}
    none, token = "() -> !ml_program.token", "{} -> !ml_program.token"
    before = text.format(first=none, second=token.format("%t0"))
    after = text.format(first=token.format("%t1"), second=none)
    assert _run(_program(before), new) == [[1, 2], [5, 6]]
    assert _run(_program(after), new) == [[5, 6], [5, 6]]


def test_token_given_from_outside_and_returned_is_neither_input_nor_output() -> None:
    text = (
        STATE
        + """\
ml_program.subgraph @f(%t: !ml_program.token, %x: tensor<2xi32>) -> (!ml_program.token, tensor<2xi32>) {
  %t1 = ml_program.global_store_graph @state = %x ordering(%t -> !ml_program.token) : tensor<2xi32>
  ml_program.output %t1, %x : !ml_program.token, tensor<2xi32>
}
"""
    )
    assert _run(_program(text), {"x": np.array([5, 6], np.int32)}) == [[5, 6]]


def test_load_keeps_what_it_read_when_something_is_stored_later() -> None:
    text = (
        STATE
        + """\
ml_program.func @f(%new: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %old = ml_program.global_load @state : tensor<2xi32>
  ml_program.global_store @state = %new : tensor<2xi32>
  %now = ml_program.global_load @state : tensor<2xi32>
  ml_program.return %old, %now : tensor<2xi32>, tensor<2xi32>
}
"""
    )
    assert _run(_program(text), {"new": np.array([5, 6], np.int32)}) == [[1, 2], [5, 6]]


def test_functions_of_one_instance_share_their_globals() -> None:
    text = UNDEFINED + (
        "ml_program.func @put(%x: tensor<2xi32>) {\n"
        "ml_program.global_store @state = %x : tensor<2xi32>\nml_program.return\n}\n"
        "ml_program.func @get() -> tensor<2xi32> {\n"
        "%0 = ml_program.global_load @state : tensor<2xi32>\nml_program.return %0 : tensor<2xi32>\n}\n"
    )
    program, state = _program(text), cir.State()
    cir.run(program, {"x": np.array([5, 6], np.int32)}, function="put", state=state)
    assert cir.run(program, function="get", state=state)["result0"].tolist() == [5, 6]


def test_global_that_nothing_was_stored_to_is_not_read_as_zeros() -> None:
    text = UNDEFINED + (
        "ml_program.func @get() -> tensor<2xi32> {\n"
        "%0 = ml_program.global_load @state : tensor<2xi32>\nml_program.return %0 : tensor<2xi32>\n}\n"
    )
    assert _fault(_program(text)) == ("E0708", "global @state is loaded before anything is stored")


@pytest.mark.parametrize("engine", ENGINES)
def test_globals_hold_scalars(engine: str) -> None:
    text = """\
ml_program.global private mutable @count(41 : i64) : i64
ml_program.func @next(%x: i64) -> i64 {
  %0 = ml_program.global_load @count : i64
  ml_program.global_store @count = %x : i64
  ml_program.return %0 : i64
}
"""
    program, state = _program(text), cir.State()
    five = {"x": np.array(5, np.int64)}
    assert [_run(program, five, state=state, engine=engine) for _ in range(2)] == [[41], [5]]


@pytest.mark.parametrize("engine", ENGINES)
def test_sizes_of_a_global_follow_what_is_stored(engine: str) -> None:
    text = """\
ml_program.global private mutable @state(dense<[1, 2, 3]> : tensor<3xi32>) : tensor<?xi32>
ml_program.func @swap(%x: tensor<?xi32>) -> tensor<?xi32> {
  %0 = ml_program.global_load @state : tensor<?xi32>
  %1 = core.add %0, %0 : tensor<?xi32>
  ml_program.global_store @state = %x : tensor<?xi32>
  ml_program.return %1 : tensor<?xi32>
}
"""
    program, state = _program(text), cir.State()
    inputs = {"x": np.array([7], np.int32)}
    assert [_run(program, inputs, state=state, engine=engine) for _ in range(2)] == [[[2, 4, 6]], [[14]]]


def test_global_of_a_nested_module_is_found_by_its_path() -> None:
    text = """\
module {
  module @m {
    ml_program.global private mutable @g(dense<4> : tensor<1xi64>) : tensor<1xi64>
  }
  ml_program.func @f() -> tensor<1xi64> {
    %0 = ml_program.global_load @m::@g : tensor<1xi64>
    %1 = core.add %0, %0 : tensor<1xi64>
    ml_program.global_store @m::@g = %1 : tensor<1xi64>
    ml_program.return %0 : tensor<1xi64>
  }
}
"""
    program, state = _program(text), cir.State()
    assert [_run(program, state=state) for _ in range(3)] == [[[4]], [[8]], [[16]]]


# -- orders that are none


def test_accesses_that_no_token_orders_are_reported_before_anything_runs() -> None:
    text = (
        STATE
        + """\
ml_program.subgraph @f(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0, %t = ml_program.global_load_graph @state ordering(() -> !ml_program.token) : tensor<2xi32>
  %1 = ml_program.global_store_graph @state = %x ordering(() -> !ml_program.token) : tensor<2xi32>
  ml_program.output %0 : tensor<2xi32>
}
"""
    )
    code, message = _fault(_program(text), {"x": np.array([5, 6], np.int32)})
    assert code == "E0406"
    assert message.startswith("global @state is replaced, and nothing orders ml_program.global_load_graph")


def test_stores_that_no_token_orders_are_reported() -> None:
    text = STATE + "ml_program.subgraph @f(%x: tensor<2xi32>) {\n"
    store = "%{} = ml_program.global_store_graph @state = %x ordering({} -> !ml_program.token) : tensor<2xi32>\n"
    end = "ml_program.output\n}"
    three = store.format("a", "()") + store.format("b", "%a") + store.format("c", "%a")
    assert _fault(_program(text + three + end), {"x": np.array([5, 6], np.int32)})[0] == "E0406"
    chain = store.format("a", "()") + store.format("b", "%a") + store.format("c", "%b")
    assert _run(_program(text + chain + end), {"x": np.array([5, 6], np.int32)}) == []


def test_loads_of_one_global_need_no_order() -> None:
    text = (
        STATE
        + """\
ml_program.subgraph @f() -> tensor<2xi32> {
  %0, %t = ml_program.global_load_graph @state ordering(() -> !ml_program.token) : tensor<2xi32>
  %1, %u = ml_program.global_load_graph @state ordering(() -> !ml_program.token) : tensor<2xi32>
  %2 = core.add %0, %1 : tensor<2xi32>
  ml_program.output %2 : tensor<2xi32>
}
"""
    )
    assert _run(_program(text)) == [[2, 4]]


def test_store_of_what_a_load_gives_needs_no_token() -> None:
    text = (
        STATE
        + """\
ml_program.subgraph @f() -> tensor<2xi32> {
  %0, %t = ml_program.global_load_graph @state ordering(() -> !ml_program.token) : tensor<2xi32>
  %1 = core.add %0, %0 : tensor<2xi32>
  %2 = ml_program.global_store_graph @state = %1 ordering(() -> !ml_program.token) : tensor<2xi32>
  ml_program.output %1 : tensor<2xi32>
}
"""
    )
    assert _run(_program(text)) == [[2, 4]]


def test_operations_that_wait_for_each_other_are_reported() -> None:
    text = (
        STATE
        + """\
ml_program.subgraph @f(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0, %t = ml_program.global_load_graph @state ordering(%u -> !ml_program.token) : tensor<2xi32>
  %u = ml_program.global_store_graph @state = %x ordering(%t -> !ml_program.token) : tensor<2xi32>
  ml_program.output %0 : tensor<2xi32>
}
"""
    )
    code, message = _fault(_program(text), {"x": np.array([5, 6], np.int32)})
    assert code == "E0405"
    assert message == (
        "operations of ml_program.subgraph @f wait for each other: ml_program.global_store_graph (%u),"
        " ml_program.global_load_graph (%t)"
    )


def test_check_accepts_a_cycle_and_warns_that_it_cannot_run(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(
        "ml_program.subgraph @f() {\n%0 = core.add %1, %1 : tensor<f32>\n"
        "%1 = core.add %0, %0 : tensor<f32>\nml_program.output\n}\n"
    )
    _, diagnostics = cir.check(path)
    assert [(d.code.id, d.line) for d in diagnostics] == [("W0405", 3)]
    with pytest.raises(cir.DiagnosticError, match="E0405"):
        cir.run(cir.load(path), {})


def test_check_advises_the_accesses_that_tokens_order(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(
        STATE
        + """\
ml_program.subgraph @f(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = ml_program.global_load @state : tensor<2xi32>
  ml_program.global_store @state = %x : tensor<2xi32>
  ml_program.output %0 : tensor<2xi32>
}
"""
    )
    _, diagnostics = cir.check(path)
    help = "use ml_program.global_load_graph and ml_program.global_store_graph, and give one of them a token that"
    assert [(d.code.id, d.help) for d in diagnostics] == [("W0406", f"{help} the other produces")]


def test_an_operation_that_waits_for_its_own_region_is_a_cycle() -> None:
    program = _program(
        """\
ml_program.subgraph @f(%c: i1) -> i32 {
  %r = scf.if %c -> i32 {
    scf.yield %r : i32
  } else {
    %k = arith.constant 1 : i32
    scf.yield %k : i32
  }
  ml_program.output %r : i32
}
"""
    )
    assert _fault(program, {"c": np.array(True)})[0] == "E0405"


# -- extern values

EXTERN = """\
ml_program.global private @w(#ml_program.extern : tensor<2xf32>) : tensor<?xf32>
ml_program.func @f() -> tensor<?xf32> {
  %0 = ml_program.global_load_const @w : tensor<?xf32>
  ml_program.return %0 : tensor<?xf32>
}
"""


def test_extern_value_is_found_by_the_name_of_its_global() -> None:
    inputs = {"w": np.array([1.5, 2.5], np.float32), "other": np.zeros(3)}
    assert _run(cir.with_externs(_program(EXTERN), inputs)) == [[1.5, 2.5]]


def test_extern_value_that_is_not_given_is_named() -> None:
    assert _fault(_program(EXTERN)) == ("E0708", "global @w is extern, and has no value")
    with pytest.raises(cir.DiagnosticError) as refused:
        cir.with_externs(_program(EXTERN), {"W": np.zeros(2, np.float32)})
    assert [(d.code.id, d.message, d.help) for d in refused.value.diagnostics] == [
        ("E0701", "the extern global @w has no value", "did you mean 'W'?")
    ]


@pytest.mark.parametrize("array", [np.zeros(3, np.float32), np.zeros(2), np.zeros((1, 2), np.float32)])
def test_extern_value_of_another_type_is_refused(array: Array) -> None:
    with pytest.raises(cir.DiagnosticError, match=r"extern global @w: expected tensor<2xf32>, found"):
        cir.with_externs(_program(EXTERN), {"w": array})


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_run_takes_extern_values_from_an_archive(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.mlir").write_text(EXTERN)
    weights = str(tmp_path / f"w{suffix}")
    save_arrays(weights, {"w": np.array([1.5, 2.5], np.float32)})
    assert main(["run", str(tmp_path / "m.mlir"), "--extern", weights]) == 0
    assert "1.5" in capsys.readouterr().out


def test_mutable_extern_starts_with_what_is_given() -> None:
    text = """\
ml_program.global private mutable @w(#ml_program.extern : i64) : i64
ml_program.func @f(%x: i64) -> i64 {
  %0 = ml_program.global_load @w : i64
  ml_program.global_store @w = %x : i64
  ml_program.return %0 : i64
}
"""
    program, state = cir.with_externs(_program(text), {"w": np.array(3)}), cir.State()
    assert [_run(program, {"x": np.array(9)}, state=state) for _ in range(2)] == [[3], [9]]
