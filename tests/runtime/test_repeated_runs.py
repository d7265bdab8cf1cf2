"""Runs of one executable one after another, with inputs that are and are not like those before: values written out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import commonir
from commonir.base.diagnostics import DiagnosticError
from commonir.runtime.engine import Executable

from tests.oracles import require_package

Prepare = Callable[[str], Executable]


@pytest.fixture(params=["numpy", "native"])
def prepared(request: pytest.FixtureRequest) -> Prepare:
    """Returns a function that prepares an ONNX graph for one of the engines."""
    engine = str(request.param)
    if engine == "native":
        require_package("llvmlite")

    def prepare(graph: str) -> Executable:
        text = f'<ir_version: 9, opset_import: ["" : 18]>\n{graph}'
        return commonir.prepare(commonir.loads(text, format="onnxtxt"), engine=engine)

    return prepare


RUNS = 9

STATIC = "g (float[2] x) => (float[2] y) { y = Add(x, x) }"
FLEXIBLE = "g (float[N] x) => (float[N] y) { y = Add(x, x) }"


def test_every_run_gives_what_its_own_inputs_say(prepared: Prepare) -> None:
    executable = prepared(STATIC)
    for n in range(RUNS):
        x = np.array([n, -n], np.float32)
        np.testing.assert_array_equal(executable.run({"x": x})["y"], [2 * n, -2 * n])


def test_outputs_stay_as_they_are_when_it_runs_again(prepared: Prepare) -> None:
    executable = prepared(STATIC)
    result = [executable.run({"x": np.array([n, 1], np.float32)})["y"] for n in range(RUNS)]
    assert [y[0] for y in result] == [2 * n for n in range(RUNS)]


def test_an_array_that_its_owner_writes_into_is_read_again(prepared: Prepare) -> None:
    executable = prepared(STATIC)
    x = np.zeros(2, np.float32)
    for n in range(RUNS):
        x[...] = n
        np.testing.assert_array_equal(executable.run({"x": x})["y"], [2 * n, 2 * n])


def test_sizes_may_change_from_run_to_run(prepared: Prepare) -> None:
    executable = prepared(FLEXIBLE)
    for size in (2, 2, 2, 3, 3, 3, 2, 3, 2):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(executable.run({"x": x})["y"], x * 2)


def test_lists_of_another_size_between_arrays_change_nothing_for_these(prepared: Prepare) -> None:
    executable = prepared(FLEXIBLE)
    x = np.array([1, 2], np.float32)
    for _ in range(4):
        np.testing.assert_array_equal(executable.run({"x": x})["y"], [2, 4])
        np.testing.assert_array_equal(executable.run({"x": [1, 2, 3]})["y"], [2, 4, 6])  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"x": np.zeros(3, np.float32)}, "E0703"),
        ({"x": np.full(2, 1e300)}, "E0703"),
        ({"z": np.zeros(2, np.float32)}, "E0701"),
        ({}, "E0701"),
    ],
)
@pytest.mark.parametrize("before", [0, 1, 8])
def test_inputs_that_do_not_fit_are_refused_after_any_number_of_runs(
    prepared: Prepare, before: int, wrong: dict[str, np.ndarray], code: str
) -> None:
    executable = prepared(STATIC)
    x = np.array([1, 2], np.float32)
    for _ in range(before):
        executable.run({"x": x})
    with pytest.raises(commonir.DiagnosticError, match=code):
        executable.run(wrong)
    np.testing.assert_array_equal(executable.run({"x": x})["y"], [2, 4])


def test_an_input_that_fails_leaves_the_next_run_as_it_is(prepared: Prepare) -> None:
    executable = prepared("g (float[2] x, int64[1] i) => (float[1] y) { y = Gather(x, i) }")
    x = np.array([5, 6], np.float32)
    for n in range(RUNS):
        if n % 3 == 2:
            with pytest.raises(commonir.DiagnosticError, match="E0708"):
                executable.run({"x": x, "i": np.array([9])})
        else:
            np.testing.assert_array_equal(executable.run({"x": x, "i": np.array([n % 2])})["y"], [5 + n % 2])


def test_one_array_for_two_operands_is_not_taken_for_one_operand(prepared: Prepare) -> None:
    executable = prepared("g (float[3] x, float[3] z) => (float[3] y) { y = Sub(x, z) }")
    x, z = np.array([5, 6, 7], np.float32), np.array([1, 2, 3], np.float32)
    for n in range(RUNS):
        inputs = {"x": x, "z": x if n < RUNS // 2 else z}
        np.testing.assert_array_equal(executable.run(inputs)["y"], [0, 0, 0] if n < RUNS // 2 else [4, 4, 4])


POOLED = (
    "g (float[2,3] x) => (float[1,1,1,2] y) { s = Constant<value_ints = [1,1,2,3]>() r = Reshape(x, s)"
    " y = MaxPool<kernel_shape = [2,2]>(r) }"
)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ("g (float[2,3] x) => (float[3,2] y) { y = Transpose(x) }", lambda x: x.T),
        ("g (float[2,3] x) => (float[2] y) { y = ReduceSum<keepdims = 0>(x, axes) }", lambda x: x.sum(1)),
        ("g (float[2,3] x) => (float[2,2] y) { t = Transpose(x) y = MatMul(x, t) }", lambda x: x @ x.T),
        ("g (float[2,3] x) => (float[4,3] y) { y = Concat<axis = 0>(x, x) }", lambda x: np.concatenate([x, x])),
        (POOLED, lambda x: np.maximum(x[:, :-1], x[:, 1:]).max(0)[None, None, None]),
        (
            "g (float[2,3] x) => (float[2,5] y) { p = Constant<value_ints = [0,1,0,1]>() y = Pad(x, p) }",
            lambda x: np.pad(x, ((0, 0), (1, 1))),
        ),
    ],
)
@pytest.mark.parametrize("lies_across", [False, True])
def test_kernels_give_the_same_in_every_run(prepared: Prepare, graph: str, expected: object, lies_across: bool) -> None:
    executable = prepared(graph.replace("{", "{ axes = Constant<value_ints = [1]>()", 1))
    assert callable(expected)
    for n in range(RUNS):
        x = np.arange(6, dtype=np.float32).reshape(2, 3) * (n + 1)
        inputs = np.asfortranarray(x) if lies_across and n % 2 else x
        np.testing.assert_array_equal(executable.run({"x": inputs})["y"], expected(x))


def test_loops_of_few_and_many_rounds_alternate(prepared: Prepare) -> None:
    executable = prepared(
        "g (int64 n, float[1] x) => (float[1] y) { c = Constant<value = bool {1}>()\n"
        "y = Loop(n, c, x) <body = b (int64 i, bool a, float[1] s) => (bool a2, float[1] t)"
        " { a2 = Identity(a) o = Constant<value_floats = [1.0]>() t = Add(s, o) }> }"
    )
    for rounds in (0, 3, 40, 2, 300, 1, 0, 5):
        result = executable.run({"n": np.array(rounds), "x": np.array([1], np.float32)})["y"]
        np.testing.assert_array_equal(result, [1 + rounds])


def test_small_operations_before_a_large_one_are_recomputed_when_it_is_planned(prepared: Prepare) -> None:
    executable = prepared(
        "g (float[N] x) => (float[M] y) { two = Constant<value_floats = [2.0]>() a = Mul(x, two) s = Shape(x)"
        " k = Constant<value_ints = [100000]>() e = Mul(s, k) z = Tile(a, k) y = Add(z, two) }"
    )
    for size in (1, 1, 2, 1, 2):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(executable.run({"x": x})["y"], np.tile(x * 2, 100000) + 2)


def test_positions_and_elements_are_read_again_in_every_run(prepared: Prepare) -> None:
    executable = prepared(
        """g (float[4, 3] x, int64[2, 2] at) => (float[2, 2, 3] y, float[2, 3] z) {
            y = Gather(x, at)
            negative = Neg(x)
            rows = Constant<value = int64[2, 3] {0, 1, 2, 3, 3, 0}>()
            z = GatherElements<axis = 0>(negative, rows)
        }"""
    )
    random = np.random.default_rng(0)
    rows = np.array([[0, 1, 2], [3, 3, 0]])
    for _ in range(RUNS):
        x, at = random.standard_normal((4, 3)).astype(np.float32), random.integers(-4, 4, (2, 2))
        result = executable.run({"x": x, "at": at})
        np.testing.assert_array_equal(result["y"], x[at])
        np.testing.assert_array_equal(result["z"], np.take_along_axis(-x, rows, 0))


def test_position_outside_is_reported_in_any_run(prepared: Prepare) -> None:
    executable = prepared("g (float[4] x, int64[2] at) => (float[2] y) { y = Gather(x, at) }")
    x = np.arange(4, dtype=np.float32)
    for n in range(8):
        assert executable.run({"x": x, "at": np.array([n % 4, 0])})["y"].tolist() == [n % 4, 0]
    with pytest.raises(DiagnosticError, match="position 4"):
        executable.run({"x": x, "at": np.array([0, 4])})


def test_positions_that_are_computed_are_read_again_in_every_run(prepared: Prepare) -> None:
    executable = prepared(
        "g (float[1, 1, 4, 4] x, float[1, 2, 2, 2] grid) => (float[1, 1, 2, 2] y) { "
        'y = GridSample<mode = "nearest", align_corners = 1>(x, grid) }'
    )
    random = np.random.default_rng(0)
    for _ in range(RUNS):
        x, at = random.standard_normal((1, 1, 4, 4)).astype(np.float32), random.integers(0, 4, (1, 2, 2, 2))
        grid = (at / 1.5 - 1).astype(np.float32)
        result = executable.run({"x": x, "grid": grid})["y"]
        np.testing.assert_array_equal(result[0, 0], x[0, 0, at[0, ..., 1], at[0, ..., 0]])


COMPRESSED = """
g (float[4] x, bool[4] c, float[1] s) => (float[k] z, int64[1] n) {
    y = Mul(x, s)
    t = Compress<axis = 0>(y, c)
    z = Add(t, t)
    n = Shape(z)
}
"""


def test_sizes_known_when_running_are_reported_in_every_run(prepared: Prepare) -> None:
    executable = prepared(COMPRESSED)
    x, s = np.array([1, 2, 3, 4], np.float32), np.array([0], np.float32)
    taken = [[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]
    for n in range(16):
        # The owner writes into the same array.
        s[0] = n
        mask = np.array(taken[n // 3 % len(taken)], bool)
        result = executable.run({"x": x, "c": mask, "s": s})
        np.testing.assert_array_equal(result["z"], 2 * n * x[mask])
        np.testing.assert_array_equal(result["n"], [mask.sum()])


def test_contents_that_decide_what_is_done_are_read_in_every_run(prepared: Prepare) -> None:
    executable = prepared(
        "g (float[2, 3] x, int64[a] axes, bool[2] c) => (float[k] z) { y = Compress<axis = 0>(x, c) "
        "z = ReduceSum<keepdims = 0>(y, axes) }"
    )
    x, c = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([True, True])
    for n in range(20):
        axes = np.array([n // 5 % 2], np.int64)
        np.testing.assert_array_equal(
            executable.run({"x": x, "axes": axes, "c": c})["z"], [[3, 5, 7], [3, 12]][axes[0]]
        )


LISTS = "g (seq(float[N]) l, float[N] x) => (seq(float[N]) m) { m = SequenceInsert(l, x) }"


def test_lists_are_read_again_in_every_run(prepared: Prepare) -> None:
    executable = prepared(LISTS)
    members: list[np.ndarray] = []
    for n in range(24):
        x = np.full(n // 3 % 2 + 1, n, np.float32)
        result = executable.run({"l": list(members), "x": x})["m"]  # type: ignore[dict-item]
        assert [v.tolist() for v in result] == [*[v.tolist() for v in members], x.tolist()]
        members = [np.full(n % 3, n, np.float32) for _ in range(n // 2 % 3)]


@pytest.mark.parametrize("wrong", [[np.full(2, 1e300)], [np.zeros((2, 2), np.float32)], [None], None, np.zeros(2)])
def test_lists_that_do_not_fit_are_refused_after_others_that_do(prepared: Prepare, wrong: object) -> None:
    executable = prepared(LISTS)
    x = np.array([1, 2], np.float32)
    for _ in range(3):
        executable.run({"l": [x], "x": x})  # type: ignore[dict-item]
    with pytest.raises(commonir.DiagnosticError, match="E0703"):
        executable.run({"l": wrong, "x": x})  # type: ignore[dict-item]


def test_lists_that_are_given_stay_as_they_are(prepared: Prepare) -> None:
    executable = prepared(LISTS)
    x = np.array([1, 2], np.float32)
    inputs = [x, x + 1]
    for _ in range(RUNS):
        executable.run({"l": inputs, "x": x})  # type: ignore[dict-item]
        assert [v.tolist() for v in inputs] == [[1, 2], [2, 3]]
