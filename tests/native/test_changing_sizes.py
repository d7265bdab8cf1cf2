"""Sizes that change from round to round in loops, or that data decide of: compiled whole, against the interpreter."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.llvm.compiled_cache import VARIABLE
from commonir.native.engine import ENGINE
from commonir.native.size_limits import LEAST_LIMIT, MAX_LIMIT
from commonir.runtime.engine import EngineOptions
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.kernel_graph.block_steps import GraphStep
from commonir.runtime.kernel_graph.execution import GraphExecutable

from tests.native.stored_models import TEXT
from tests.oracles import require_package

require_package("llvmlite")

Array = NDArray[Any]

LONG = LEAST_LIMIT + 5
"""Rounds after which a size that grows by one is past its first limit."""


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def rounds(n: int) -> Array:
    return np.array(n, np.int64)


def text_of(inputs: str, outputs: str, loop: str, *, before: str = "", after: str = "") -> str:
    """The text of a model with a loop, which is written as `results = (states) => (their next values) { body } (initial
    values)`.
    """
    results, rest = loop.split(" = ", 1)
    signature, given = rest.rsplit(" } ", 1)
    states, body = signature.split(" => (", 1)
    graph = f"(int64 i, bool go, {states[1:]} => (bool on, {body}".replace("{", "{ on = Identity(go)", 1)
    nodes = f"{results} = Loop <body = g1 {graph} }}> (n, yes, {given[1:]}"
    return TEXT.format(
        inputs=f"int64 n, {inputs}",
        outputs=outputs,
        body=f"yes = Constant <value = bool {{1}}> () {before} {nodes} {after}",
    )


def check(text: str, *runs: Mapping[str, Array], threads: int = 1) -> None:
    """Checks that a program agrees with the interpreter on inputs one after another, and is one compiled step."""
    module = cir.lower(cir.loads(text, format="onnxtxt"))
    executable = ENGINE.prepare(module, options=EngineOptions(threads=threads, plan_ahead=True))
    reference = REFERENCE.prepare(module)
    for inputs in [*runs, *runs]:
        compare(executable.run(inputs), reference.run(inputs))
    (step,) = executable.steps_of(module.main.body)
    assert isinstance(step, GraphStep)


def compare(actual: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
    for name, array in actual.items():
        assert array.dtype == expected[name].dtype
        assert array.shape == expected[name].shape
        np.testing.assert_allclose(array, expected[name], rtol=1e-5, atol=1e-6)


APPENDING = text_of(
    "float[s, 3] x, float[1, 3] a",
    "float[e, 3] y",
    "y = (float[m, 3] v) => (float[k, 3] w) { last = ReduceMean <axes = [0], keepdims = 1> (v) "
    "next = Add(last, a) w = Concat <axis = 0> (v, next) } (x)",
).replace('"": 18', '"": 17')


@pytest.mark.parametrize("threads", [1, 2])
def test_a_state_grows_past_its_first_limit(threads: int) -> None:
    runs = [{"n": rounds(n), "x": normal(size, 3), "a": normal(1, 3)} for size in (1, 4, 100) for n in (0, 1, LONG, 3)]
    check(APPENDING, *runs, threads=threads)


def test_states_double_and_shrink() -> None:
    text = text_of(
        "float[s] x",
        "float[e] y, float[d] z, int64[1] size",
        "y, z = (float[m] v, float[k] u) => (float[p] w, float[q] t) { w = Concat <axis = 0> (v, v) "
        "t = Slice(u, one, end) } (x, x)",
        before="one = Constant <value = int64[1] {1}> () end = Constant <value = int64[1] {1000}> ()",
        after="size = Shape(z)",
    )
    check(text, *[{"n": rounds(n), "x": normal(size)} for size in (1, 5) for n in (0, 1, 2, 9)])


CACHES = text_of(
    "float[2, s, 3] k, float[2, p, 3] v, float[2, 1, 3] q",
    "float[2, e, 3] ks, float[2, d, 3] vs, float[2, 1, 3] y",
    "ks, vs, y = (float[2, a, 3] k0, float[2, b, 3] v0, float[2, 1, 3] q0) => "
    "(float[2, c, 3] k1, float[2, f, 3] v1, float[2, 1, 3] q1) { "
    "k1 = Concat <axis = 1> (k0, q0) v1 = Concat <axis = 1> (v0, q0) kt = Transpose <perm = [0, 2, 1]> (k1) "
    "r = MatMul(q0, kt) w = Softmax <axis = -1> (r) o = MatMul(w, v1) q1 = Tanh(o) } (k, v, q)",
)


@pytest.mark.parametrize("threads", [1, 2])
def test_caches_of_attention_grow(threads: int) -> None:
    runs = [
        {"n": rounds(n), "k": normal(2, size, 3), "v": normal(2, size, 3), "q": normal(2, 1, 3)}
        for size, n in [(2, 3), (1, 5), (7, LONG), (1, 0)]
    ]
    check(CACHES, *runs, threads=threads)


def test_sizes_that_contradict_each_other_in_a_round_are_an_error() -> None:
    module = cir.lower(cir.loads(CACHES, format="onnxtxt"))
    inputs = {"n": rounds(2), "k": normal(2, 4, 3), "v": normal(2, 3, 3), "q": normal(2, 1, 3)}
    messages: list[str] = []
    for engine in (ENGINE, REFERENCE):
        with pytest.raises(DiagnosticError) as error:
            engine.prepare(module, options=EngineOptions(plan_ahead=True)).run(inputs)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_what_is_broadcast_in_some_rounds_runs_alone() -> None:
    """A size of 1 may be that of an axis that is broadcast, so it need not be equal to another one."""
    text = text_of(
        "float[s] x, float[p] c",
        "float[e] y, float[d] z",
        "y, z = (float[m] v, float[k] u) => (float[p] w, float[q] t) { w = Concat <axis = 0> (v, v) t = Add(v, c) } "
        "(x, x)",
    )
    for inputs in [{"n": rounds(1), "x": normal(1), "c": normal(4)}, {"n": rounds(1), "x": normal(4), "c": normal(4)}]:
        check(text, inputs)


def test_slices_are_stacked_beside_what_grows() -> None:
    text = text_of(
        "float[s] x",
        "float[e] y, float[r, 1] sums, float[r2] ends",
        "y, sums, ends = (float[m] v) => (float[k] w, float[1] total, float last) { "
        "total = ReduceSum <keepdims = 1> (v) small = Mul(total, tenth) w = Concat <axis = 0> (v, small) "
        "last = ReduceMax <keepdims = 0> (w) } (x)",
        before="tenth = Constant <value = float {0.1}> ()",
    )
    check(text, *[{"n": rounds(n), "x": normal(size)} for size in (1, 3) for n in (0, 2, LONG)])


def test_loops_that_change_sizes_are_nested() -> None:
    inner = (
        "(int64 j, bool go2, float[b] s) => (bool on2, float[c] s2) "
        "{ on2 = Identity(go2) s1 = Mul(s, half) f = ReduceSum <keepdims = 1> (s1) s2 = Concat <axis = 0> (s1, f) }"
    )
    text = text_of(
        "float[s] x",
        "float[e] y, float[d] z",
        f"y, z = (float[m] v, float[q] u) => (float[k] w, float[p] t) {{ r = Loop <body = g2 {inner}> (two, yes, v) "
        "w = Tanh(r) t = Concat <axis = 0> (u, r) } (x, x)",
        before="half = Constant <value = float {0.5}> () two = Constant <value = int64 {2}> ()",
    )
    check(text, *[{"n": rounds(n), "x": normal(size)} for size in (1, 3) for n in (0, 1, 4, 20)])


def test_results_are_read_by_what_follows() -> None:
    text = text_of(
        "float[s, 2] x",
        "float[e, d] g, int64[2] size, float[2, e2] half",
        "y = (float[m, 2] v) => (float[k, 2] w) { u = Tanh(v) w = Concat <axis = 0> (v, u) } (x)",
        after="yt = Transpose <perm = [1, 0]> (y) g = MatMul(y, yt) size = Shape(g) half = Mul(yt, yt)",
    )
    check(text, *[{"n": rounds(n), "x": normal(size, 2)} for size in (1, 3) for n in (0, 1, 4)])


def test_a_range_has_the_size_of_what_grows() -> None:
    text = text_of(
        "float[s] x",
        "float[e] y",
        "y = (float[m] v) => (float[k] w) { size = Shape(v) length = Squeeze(size) "
        "at = Range(none, length, one) places = Cast <to = 1> (at) u = Mul(v, places) t = Tanh(u) "
        "f = ReduceSum <keepdims = 1> (t) w = Concat <axis = 0> (t, f) } (x)",
        before="none = Constant <value = int64 {0}> () one = Constant <value = int64 {1}> ()",
    )
    check(text, *[{"n": rounds(n), "x": normal(size)} for size in (1, 3) for n in (0, 1, 4)])


def test_a_position_outside_of_a_tensor_that_grows_is_an_error() -> None:
    text = text_of(
        "float[s] x, int64[1] at",
        "float[e] y",
        "y = (float[m] v) => (float[k] w) { one = Gather(v, at) w = Concat <axis = 0> (v, one) } (x)",
    )
    check(text, {"n": rounds(3), "x": normal(4), "at": np.array([2])})
    executable = ENGINE.prepare(cir.lower(cir.loads(text, format="onnxtxt")), options=EngineOptions(plan_ahead=True))
    with pytest.raises(DiagnosticError, match="position 9 on axis 0"):
        executable.run({"n": rounds(3), "x": normal(4), "at": np.array([9])})
    executable.run({"n": rounds(9), "x": normal(4), "at": np.array([3])})


def test_sizes_beyond_all_limits_and_limits_of_memory_run_block_by_block() -> None:
    text = text_of(
        "float[s] x",
        "float[e] y",
        "y = (float[m] v) => (float[k] w) { w = Concat <axis = 0> (v, v) } (x)",
    )
    module = cir.lower(cir.loads(text, format="onnxtxt"))
    inputs = {"n": rounds(5), "x": normal(MAX_LIMIT // 16)}
    (y,) = ENGINE.prepare(module, options=EngineOptions(plan_ahead=True)).run(inputs).values()
    np.testing.assert_array_equal(y, np.tile(inputs["x"], 32))
    limited = ENGINE.prepare(module, options=EngineOptions(memory_limit_bytes=1 << 24))
    assert not any(isinstance(step, GraphStep) and step.may_refuse for step in limited.steps_of(module.main.body))
    (y,) = limited.run({"n": rounds(2), "x": normal(3)}).values()
    np.testing.assert_array_equal(y, np.tile(normal(3), 4))


def test_sizes_that_differ_in_each_run_share_memory() -> None:
    """Also where they become smaller again: numbers of an earlier run are never read."""
    text = TEXT.format(
        inputs="float[n, 8] x, float[m, 8] z",
        outputs="float[a, b] y, float[k, 8] j",
        body="t = Transpose <perm = [1, 0]> (x) p = MatMul(z, t) y = Softmax <axis = -1> (p) u = Tanh(x) v = Abs(z) "
        "j = Concat <axis = 0> (u, v, u)",
    )
    executable = ENGINE.prepare(cir.lower(cir.loads(text, format="onnxtxt")), options=EngineOptions(plan_ahead=True))
    reference = REFERENCE.prepare(cir.lower(cir.loads(text, format="onnxtxt")))
    sizes = [(n, m) for n in (*range(1, 40, 3), 200, 7, 1) for m in (1, 2 * n, 50)]
    for n, m in sizes:
        inputs = {"x": normal(n, 8), "z": normal(m, 8)}
        compare(executable.run(inputs), reference.run(inputs))


def test_time_is_up_in_a_loop_that_grows_without_end() -> None:
    module = cir.lower(cir.loads(APPENDING, format="onnxtxt"))
    executable = ENGINE.prepare(module, options=EngineOptions(time_limit_seconds=0.2, plan_ahead=True))
    assert isinstance(executable, GraphExecutable)
    with pytest.raises(DiagnosticError, match="E0711"):
        executable.run({"n": rounds(1 << 40), "x": normal(1, 3), "a": normal(1, 3)})


def test_a_program_whose_sizes_change_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE)
    path = tmp_path / "caches.onnx"
    cir.save(cir.loads(CACHES, format="onnxtxt"), path)
    q = normal(2, 1, 3)
    for n in (2, LONG, 4):
        inputs = {"n": rounds(n), "k": normal(2, 3, 3), "v": normal(2, 3, 3), "q": q}
        executable = cir.prepare(path, engine="native")
        compare(executable.run(inputs), REFERENCE.prepare(cir.lower(cir.load(path))).run(inputs))
    assert "_source" not in vars(cir.prepare(path, engine="native"))


SLICES = TEXT.format(
    inputs="float[6, s] x, int64[2] a, int64[2] b, int64 c",
    outputs="float[d, e] y, float[d2, d3] z, int64[2] size, float[f] w",
    body="p = Tanh(x) axes = Constant <value = int64[2] {0, 1}> () steps = Constant <value = int64[2] {1, 2}> () "
    "s1 = Slice(p, a, b, axes, steps) y = Neg(s1) t = Transpose <perm = [1, 0]> (s1) z = MatMul(s1, t) "
    "size = Shape(z) one = Constant <value = int64[1] {0}> () c1 = Unsqueeze(c, one) "
    "zero = Constant <value = int64[1] {0}> () head = Slice(x, zero, c1, one) w = ReduceSum <keepdims = 0> (head, one)",
)


@pytest.mark.parametrize("threads", [1, 2])
def test_slices_between_bounds_that_are_data_agree_with_numpy(threads: int) -> None:
    module = cir.lower(cir.loads(SLICES, format="onnxtxt"))
    executable = ENGINE.prepare(module, options=EngineOptions(threads=threads, plan_ahead=True))
    (step,) = executable.steps_of(module.main.body)
    assert isinstance(step, GraphStep)
    bounds = [(0, 6), (1, 4), (-3, -1), (4, 2), (-100, 100), (5, 6), (1 << 40, 1 << 41), (2, -(1 << 62))]
    for size in (7, 300):
        x = normal(6, size)
        for first, second in itertools.product(bounds, repeat=2):
            a, b = np.array([first[0], second[0]]), np.array([first[1], second[1]])
            part = np.tanh(x)[first[0] : first[1], second[0] : second[1] : 2]
            expected = {
                "y": -part,
                "z": part @ part.T,
                "size": np.array([len(part)] * 2),
                "w": x[: first[1]].sum(0),
            }
            compare(executable.run({"x": x, "a": a, "b": b, "c": np.array(first[1])}), expected)


def test_slices_whose_bounds_are_data_are_compiled_in_loops_and_branches() -> None:
    """As in torch's export of an embedding bag, where each round takes a part of the indices, between two offsets."""
    text = text_of(
        "float[20, 3] table, int64[s] x, int64[o] offsets",
        "float[r, 3] means",
        "means = () => (float[3] mean) { j1 = Add(i, one) lo = Gather(offsets, i1) hi = Gather(offsets, j2) "
        "bag = Slice(x, lo, hi) rows = Gather(table, bag) mean = ReduceMean <axes = [0], keepdims = 0> (rows) } ()",
        before="one = Constant <value = int64 {1}> () first = Constant <value = int64[1] {0}> ()",
    )
    text = text.replace("j1 = Add(i, one)", "i1 = Unsqueeze(i, first) j1 = Add(i, one) j2 = Unsqueeze(j1, first)")
    text = text.replace(", ) =>", ") =>").replace(", )", ")").replace('"": 18', '"": 17')
    table, x = normal(20, 3), np.random.default_rng(0).integers(0, 20, 100)
    offsets = np.array([0, 3, 4, 40, 97, 100])
    check(text, *[{"n": rounds(n), "table": table, "x": x, "offsets": offsets} for n in (0, 1, 5)])


def test_a_slice_is_multiplied_by_a_constant_of_as_many_rows() -> None:
    """The slice has a size that only data decide of, but the product has a constant number of terms."""
    w = normal(4, 3)
    numbers = ", ".join(str(float(v)) for v in w.reshape(-1))
    text = TEXT.format(
        inputs="float[n, m] x, int64[1] c",
        outputs="float[a, b] y",
        body="zero = Constant <value = int64[1] {0}> () one = Constant <value = int64[1] {1}> () p = Tanh(x) "
        f"s = Slice(p, zero, c, one) w = Constant <value = float[4, 3] {{{numbers}}}> () y = MatMul(s, w)",
    )
    executable = ENGINE.prepare(cir.lower(cir.loads(text, format="onnxtxt")), options=EngineOptions(plan_ahead=True))
    x = normal(5, 6)
    compare(executable.run({"x": x, "c": np.array([4])}), {"y": np.tanh(x)[:, :4] @ w})
    with pytest.raises(DiagnosticError, match="expected 4, found 3"):
        executable.run({"x": x, "c": np.array([3])})
