"""States: what a program keeps between runs, in every engine and in ONNX."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir

from tests.coreml_models.running import ENGINES, Array, converted, diagnostic, f16, load, run_onnx

engines = pytest.mark.parametrize("engine", ENGINES)

ROW = np.arange(6, dtype=np.float16).reshape(2, 3)


@engines
def test_state_starts_at_zero_and_goes_on(engine: str) -> None:
    executable = cir.prepare(load("accumulator"), engine=engine)
    assert executable.run({"x": ROW})["y"].tolist() == [[0, 2, 4], [6, 8, 10]]
    assert executable.run({"x": ROW})["y"].tolist() == [[0, 4, 8], [12, 16, 20]]
    assert executable.state["acc"].tolist() == [[0, 2, 4], [6, 8, 10]]
    assert executable.state["acc"].dtype == np.float16


@engines
def test_state_given_to_run_is_read_and_left_there(engine: str) -> None:
    state = cir.State(acc=np.full((2, 3), 10, np.float16))
    module = load("accumulator")
    assert cir.run(module, {"x": ROW}, engine=engine, state=state)["y"][1].tolist() == [26, 28, 30]
    assert state["acc"].tolist() == [[10, 11, 12], [13, 14, 15]]
    assert cir.run(module, {"x": ROW}, engine=engine, state=state)["y"][1].tolist() == [32, 36, 40]
    assert cir.run(module, {"x": ROW}, engine=engine)["y"][1].tolist() == [6, 8, 10]


def test_one_state_serves_runs_on_several_engines() -> None:
    state, module = cir.State(), load("accumulator")
    for n, engine in enumerate(ENGINES, 1):
        assert cir.run(module, {"x": ROW}, engine=engine, state=state)["y"][0, 1] == 2 * n


@engines
def test_cache_keeps_its_rows_over_steps(engine: str) -> None:
    steps = [((1, 2), 0), ((10, 20), 2), ((100, 200), 0)]
    executable = cir.prepare(load("cache"), engine=engine)
    result = [executable.run({"x": f16(*x).reshape(1, 2), "at": np.array([at], np.int32)}) for x, at in steps]
    assert [out["y"].tolist() for out in result] == [[1, 2], [11, 22], [110, 220]]
    assert [out["n"].tolist() for out in result] == [[1], [2], [3]]
    assert executable.state["rows"].tolist() == [[100, 200], [0, 0], [10, 20], [0, 0]]


@engines
def test_state_follows_the_branch_that_runs(engine: str) -> None:
    executable = cir.prepare(load("state_in_branch"), engine=engine)
    assert [executable.run({"x": f16(x)})["y"].item() for x in (2, -7, 3)] == [2, 2, 5]


@engines
def test_functions_share_a_state_of_one_name_and_type(engine: str) -> None:
    module, state = load("shared_state"), cir.State()
    inputs = {"x": f16(3, 4)}
    for function, expected in (("add", [3, 4]), ("add", [6, 8]), ("take", [3, 4])):
        outputs = cir.run(module, inputs, engine=engine, function=function, state=state)
        assert outputs["y"].tolist() == expected
    assert list(state) == ["acc"]


@engines
def test_model_of_a_pipeline_keeps_its_state(engine: str) -> None:
    executable = cir.prepare(load("pipeline_states"), engine=engine)
    assert [executable.run({"x": ROW})["z"].tolist()[0] for _ in range(2)] == [[1, 3, 5], [1, 5, 9]]
    assert executable.state["acc"].tolist()[0] == [0, 2, 4]


def test_state_of_another_name_or_type_is_refused() -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(load("accumulator"), {"x": ROW}, state=cir.State(ac=ROW))
    assert diagnostic(error.value) == "E0702 | the program has no state 'ac'"
    assert error.value.diagnostics[0].help == "did you mean 'acc'?"
    with pytest.raises(cir.DiagnosticError, match="expected tensor<2x3xf16>, found int64 of shape"):
        cir.run(load("accumulator"), {"x": ROW}, state=cir.State(acc=[1]))  # pyright: ignore[reportArgumentType]  a user's mistake
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(load("accumulator"), {"x": ROW}, state=cir.State(acc=ROW.astype(np.float32)))
    assert diagnostic(error.value) == ("E0703 | state 'acc': expected tensor<2x3xf16>, found float32 of shape [2, 3]")


@engines
def test_contents_of_a_wrong_type_are_refused_when_they_are_read(engine: str) -> None:
    executable = cir.prepare(load("accumulator"), engine=engine)
    executable.state = cir.State(acc=np.zeros((1, 3), np.float16))
    with pytest.raises(cir.DiagnosticError) as error:
        executable.run({"x": ROW})
    assert diagnostic(error.value) == "E0703 | state 'acc': expected tensor<2x3xf16>, found float16 of shape [1, 3]"


@engines
def test_run_that_fails_leaves_the_state_as_it_was(engine: str) -> None:
    executable = cir.prepare(load("cache"), engine=engine)
    executable.run({"x": f16(1, 2).reshape(1, 2), "at": np.array([0], np.int32)})
    before = {name: array.tolist() for name, array in executable.state.items()}
    with pytest.raises(cir.DiagnosticError):
        executable.run({"x": f16(1, 2).reshape(1, 2), "at": np.array([9], np.int32)})
    assert {name: array.tolist() for name, array in executable.state.items()} == before


def test_states_are_inputs_and_outputs_in_onnx(tmp_path: Path) -> None:
    path, result = converted("cache", tmp_path)
    assert [(d.code.id, d.message) for d in result] == [
        ("N0601", "state 'rows' becomes the input 'rows' and the output 'rows_out'"),
        ("N0601", "state 'count' becomes the input 'count' and the output 'count_out'"),
    ]
    rows: Array = np.zeros((4, 2), np.float16)
    count = y = f16(0)
    for n, x in enumerate(((1, 2), (10, 20))):
        inputs = {"x": f16(*x).reshape(1, 2), "at": np.array([n], np.int32), "rows": rows, "count": count}
        out = run_onnx(path, inputs)
        rows, count, y = out["rows_out"], out["count_out"], out["y"]
    assert y.tolist() == [11, 22]
    assert rows.tolist() == [[1, 2], [10, 20], [0, 0], [0, 0]]
    assert count.tolist() == [2]


def test_steps_take_and_give_an_axis_in_front() -> None:
    inputs = {"x": np.array([[[1, 2]], [[10, 20]]], np.float16), "at": np.array([[0], [1]], np.int32)}
    result = cir.run_steps(load("cache"), inputs, steps=2)
    assert result.outputs["y"].tolist() == [[1, 2], [11, 22]]
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run_steps(load("cache"), inputs, steps=3)
    assert [d.message for d in error.value.diagnostics] == [
        "input 'x' has size 2 along its first axis for 3 steps",
        "input 'at' has size 2 along its first axis for 3 steps",
    ]
