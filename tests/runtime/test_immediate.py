"""The first runs of a small program, which is not lowered for them, and the run after: values written out."""

from __future__ import annotations

import numpy as np
import pytest

import commonir
from commonir.runtime import immediate
from commonir.runtime.engine import EngineOptions, Executable
from commonir.runtime.immediate import ImmediateExecutable


def prepared(graph: str) -> Executable:
    text = f'<ir_version: 9, opset_import: ["" : 18]>\n{graph}'
    return commonir.prepare(commonir.loads(text, format="onnxtxt"))


@pytest.fixture(autouse=True)
def _second_run_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(immediate, "MAX_RUNS", 1)


def test_a_program_gives_the_same_as_it_stands_and_lowered() -> None:
    executable = prepared("g (float[2,2] x) => (float[2,2] y) { z = Relu(x) y = Add(z, x) }")
    assert isinstance(executable, ImmediateExecutable)
    x = np.array([[1, -2], [3, -4]], np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(executable.run({"x": x})["y"], [[2, -2], [6, -4]])


def test_windows_with_padding_are_read_as_views() -> None:
    executable = prepared(
        "g (float[1,1,4] x) => (float[1,1,3] y) { y = MaxPool<kernel_shape=[2], strides=[2], pads=[1,1]>(x) }"
    )
    x = np.array([[[-5, -3, -4, -1]]], np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(executable.run({"x": x})["y"], [[[-5, -3, -1]]])


def test_a_shape_that_is_an_input_is_known_when_it_is_reached() -> None:
    executable = prepared("g (float[2,3] x, int64[2] s) => (float[N,M] y) { y = Reshape(x, s) }")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for _ in range(2):
        found = executable.run({"x": x, "s": np.array([3, -1])})["y"]
        np.testing.assert_array_equal(found, [[0, 1], [2, 3], [4, 5]])


LOOP = (
    "g (int64 n, float[1] x) => (float[1] y) { c = Constant<value = bool {1}>()\n"
    "y = Loop(n, c, x) <body = b (int64 i, bool a, float[1] s) => (bool a2, float[1] t)"
    " { a2 = Identity(a) t = Add(s, s) }> }"
)


def test_loops_go_round_as_often_as_an_input_says() -> None:
    executable = prepared(LOOP)
    x = np.array([1.5], np.float32)
    for rounds, expected in ((3, 12.0), (0, 1.5)):
        found = executable.run({"n": np.array(rounds), "x": x})["y"]
        np.testing.assert_array_equal(found, [expected])


def test_long_loops_are_left_to_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(immediate, "MAX_ROUNDS", 2)
    found = prepared(LOOP).run({"n": np.array(5), "x": np.array([1], np.float32)})["y"]
    np.testing.assert_array_equal(found, [32])


def test_results_without_axes_are_arrays_that_nobody_else_has() -> None:
    executable = prepared("g (float x) => (bool y, float z) { y = Cast<to = 9>(x) z = Identity(x) }")
    x = np.array(2, np.float32)
    found = executable.run({"x": x})
    assert isinstance(found["y"], np.ndarray)
    assert found["y"].dtype == np.bool_
    found["z"][...] = 7
    assert x == 2


def test_an_index_out_of_range_is_told_as_always() -> None:
    executable = prepared("g (float[2] x, int64[1] i) => (float[1] y) { y = Gather(x, i) }")
    messages: list[str] = []
    for _ in range(2):
        with pytest.raises(commonir.DiagnosticError) as caught:
            executable.run({"x": np.zeros(2, np.float32), "i": np.array([5])})
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "E0708" in messages[0]


def test_a_time_limit_is_kept_by_the_lowered_program() -> None:
    text = '<ir_version: 9, opset_import: ["" : 18]>\ng (float[2] x) => (float[2] y) { y = Neg(x) }'
    module = commonir.loads(text, format="onnxtxt")
    limited = commonir.prepare(module, options=EngineOptions(time_limit_seconds=10.0))
    assert not isinstance(limited, ImmediateExecutable)


def test_what_is_known_of_elements_as_a_program_stands_misleads_no_other_program() -> None:
    x, s = np.arange(60, dtype=np.float32).reshape(2, 30), np.array([2, 5, 6])
    for given in ("int64[3] s", "int64[K] s"):
        executable = prepared(f"g (float[2,30] x, {given}) => (float[A,B,C] y) {{ y = Reshape(x, s) }}")
        for _ in range(3):
            np.testing.assert_array_equal(executable.run({"x": x, "s": s})["y"], x.reshape(2, 5, 6))
