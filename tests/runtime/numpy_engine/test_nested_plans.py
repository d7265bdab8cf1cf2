"""Loops, branches and what elements of inputs decide: values against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import commonir
from commonir.base.diagnostics import DiagnosticError
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY
from commonir.runtime.numpy_engine.engine import NumpyExecutable

SCAN = """g (float[N, 3] x, float[3] w) => (float[3] last, float[N, 3] sums) {
    zero = Sub(w, w)
    last, sums = Scan<num_scan_inputs = 1, %s body = b (float[3] s, float[3] v) => (float[3] t, float[3] u) {
        p = Mul(v, w) t = Add(s, p) u = Neg(t)
    }>(zero, x)
}"""

TAKEN = """g (bool c, float[2] x, int64[1] at) => (float[1] y) {
    y = If(c) <
        then_branch = a () => (float[1] p) { p = Gather(x, at) },
        else_branch = b () => (float[1] q) { q = ReduceSum<keepdims = 1>(x) }
    >
}"""

REPEATED = """g (int64 n, float[2] x) => (float[2] y, float[2] z) {
    true = Constant<value = bool {1}>()
    y, z = Loop(n, true, x, x) <body = b (int64 i, bool c, float[2] a, float[2] b) => (bool d, float[2] e, float[2] f) {
        d = Identity(c) e = Identity(b) f = Add(a, b)
    }>
}"""

SUMMED = "g (float[2, 3, 4] x, int64[1] axes) => (float[] y) { s = ReduceSum<keepdims = 0>(x, axes) y = Neg(s) }"

DOUBLED = """func.func @main(%x: tensor<"n"xf32>) -> tensor<"m where m >= 0"xf32> {
  %y = "core.while"(%x) ({
  ^bb0(%a: tensor<"a where a >= 0"xf32>):
    %n = "core.dims"() <{values = #commonir.dims<"a where a >= 0">, element = i32, scalar = true}> : () -> tensor<i32>
    %ten = "core.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    %p = "core.less"(%n, %ten) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "core.yield"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<"b where b >= 0"xf32>):
    %b = "core.concat"(%a, %a) <{axis = 0 : i64}> : (tensor<"b where b >= 0"xf32>, tensor<"b where b >= 0"xf32>)
      -> tensor<"2*b where b >= 0"xf32>
    "core.yield"(%b) : (tensor<"2*b where b >= 0"xf32>) -> ()
  }) : (tensor<"n"xf32>) -> tensor<"m where m >= 0"xf32>
  return %y : tensor<"m where m >= 0"xf32>
}"""


def planned(graph: str) -> NumpyExecutable:
    text = f'<ir_version: 9, opset_import: ["" : 18]>\n{graph}'
    return NUMPY.prepare(commonir.lower(commonir.loads(text, format="onnxtxt"), defer=True))


@pytest.mark.parametrize("backwards", [0, 1])
@pytest.mark.parametrize("length", [1, 2, 100])
def test_scan_gives_what_its_rounds_give(length: int, backwards: int) -> None:
    order = f"scan_input_directions = [{backwards}], scan_output_directions = [{backwards}],"
    executable = planned(SCAN % order)
    for seed in range(3):
        random = np.random.default_rng(seed)
        x, w = random.standard_normal((length, 3)).astype(np.float32), random.standard_normal(3).astype(np.float32)
        result = executable.run({"x": x, "w": w})
        rows = (x * w)[::-1] if backwards else x * w
        sums = np.cumsum(rows, 0, dtype=np.float32)
        np.testing.assert_allclose(result["last"], sums[-1], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(result["sums"], -(sums[::-1] if backwards else sums), rtol=1e-4, atol=1e-5)


def test_scans_of_many_lengths_give_what_their_rounds_give() -> None:
    executable = planned(SCAN % "")
    w = np.ones(3, np.float32)
    for length in range(60, 66):
        x = np.full((length, 3), 2, np.float32)
        assert executable.run({"x": x, "w": w})["last"].tolist() == [2 * length] * 3


def test_branch_that_is_not_taken_does_not_fail() -> None:
    executable = planned(TAKEN)
    x, outside = np.array([1, 2], np.float32), np.array([7])
    for _ in range(2):
        assert executable.run({"c": np.array(False), "x": x, "at": outside})["y"].tolist() == [3]
        assert executable.run({"c": np.array(True), "x": x, "at": np.array([1])})["y"].tolist() == [2]
        with pytest.raises(DiagnosticError, match="position 7"):
            executable.run({"c": np.array(True), "x": x, "at": outside})


def test_loop_with_a_number_of_rounds_that_is_given_hands_values_on_at_once() -> None:
    executable = planned(REPEATED)
    x = np.array([1, 2], np.float32)
    for rounds in (5, 0, 1, 30, 2):
        a, b = x, x
        for _ in range(rounds):
            a, b = b, a + b
        result = executable.run({"n": np.array(rounds), "x": x})
        assert result["y"].tolist() == a.tolist()
        assert result["z"].tolist() == b.tolist()


def test_axes_that_change_from_run_to_run_are_those_that_are_summed() -> None:
    executable = planned(SUMMED)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for axis in (0, 0, 1, 1, 2, 0, -1, -2, -3, 1, 0, 2):
        result = executable.run({"x": x, "axes": np.array([axis])})["y"]
        np.testing.assert_array_equal(result, -x.sum(axis))


def test_sizes_that_are_contents_of_inputs_change_from_run_to_run() -> None:
    executable = planned("g (float[1] x, int64[1] n) => (float[N] y) { y = Expand(x, n) }")
    x = np.ones(1, np.float32)
    for _ in range(2):
        for size in range(1, 12):
            assert executable.run({"x": x, "n": np.array([size])})["y"].shape == (size,)


def test_wrong_axes_are_reported_when_they_are_given() -> None:
    executable = planned(SUMMED)
    x = np.zeros((2, 3, 4), np.float32)
    for _ in range(2):
        assert executable.run({"x": x, "axes": np.array([0])})["y"].shape == (3, 4)
        with pytest.raises(DiagnosticError):
            executable.run({"x": x, "axes": np.array([3])})


DRAWN = """g (float[3] x) => (float[3] a, float[3] b, float[R, 3] c) {
    a = RandomUniform<shape = [3]>()
    b = RandomUniform<shape = [3]>()
    n = Constant<value = int64 {3}>()
    true = Constant<value = bool {1}>()
    last, c = Loop(n, true, x) <body = l (int64 i, bool k, float[3] s) => (bool m, float[3] t, float[3] u) {
        m = Identity(k) u = RandomUniform<shape = [3]>() t = Add(s, u)
    }>
}"""


def test_random_numbers_are_drawn_anew_in_each_run_and_each_round() -> None:
    executable = planned(DRAWN)
    seen = [executable.run({"x": np.zeros(3, np.float32)}) for _ in range(3)]
    rows = [tuple(row) for inputs in seen for row in (inputs["a"], inputs["b"], *inputs["c"])]
    assert len(set(rows)) == len(rows) == 15


def test_size_that_is_left_open_follows_from_the_shape_that_is_given() -> None:
    executable = planned("g (float[2, 6] x, int64[2] shape) => (float[N, M] y) { y = Reshape(x, shape) }")
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    for shape in ([3, -1], [-1, 2], [4, 3], [-1, 12], [3, -1]):
        np.testing.assert_array_equal(executable.run({"x": x, "shape": np.array(shape)})["y"], x.reshape(shape))
    with pytest.raises(DiagnosticError):
        executable.run({"x": x, "shape": np.array([5, -1])})


def test_numbers_from_a_start_to_a_limit_are_those_of_each_run() -> None:
    executable = planned("g (float a, float b, float step) => (float[N] y) { y = Range(a, b, step) }")
    for a, b, step in ((1, 5, 2), (1, 5, 2), (10, 6, -3), (0, 0, 1), (1, 4, 1), (2, 9, 3), (1, 5, 2)):
        inputs = {name: np.array(v, np.float32) for name, v in (("a", a), ("b", b), ("step", step))}
        np.testing.assert_array_equal(executable.run(inputs)["y"], np.arange(a, b, step, dtype=np.float32))


def test_condition_that_reads_only_a_dim_sees_that_of_each_round() -> None:
    module = commonir.loads(DOUBLED, format="mlir")
    x = np.array([1, 2, 3], np.float32)
    [y] = commonir.run(module, {"x": x}, engine="numpy").values()
    assert y.tolist() == x.tolist() * 4
