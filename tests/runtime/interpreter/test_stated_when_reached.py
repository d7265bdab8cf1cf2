"""Data-dependent values: operations stated when they are reached, against onnxruntime.

Shapes, axes and numbers of rounds are inputs or computed by the program; sizes that lowering took to be equal are not;
loops carry what changes its shape or rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, parser

import commonir
from commonir.base.codes import NOT_KNOWN_BEFORE_RUNNING, VIOLATED_CONSTRAINT, WRONG_DIMENSIONS, WRONG_INPUT
from commonir.base.diagnostics import DiagnosticError
from commonir.formats.onnx.read import loads
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.runtime.engine import Executable

from tests.dialects.onnx.onnx_programs import assert_same, run_with_onnxruntime

Array = NDArray[Any]

ENGINES = pytest.mark.parametrize("engine", ["numpy", "reference"])


def _model(signature: str, body: str, opset: int = 18) -> ModelProto:
    """A model in ONNX's text form; outputs have no type where the signature says `float[...]`."""
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {signature} {{ {body} }}')


def _module(model: ModelProto) -> Module:
    module, diagnostics = loads(model.SerializeToString(), Dialects())
    assert not diagnostics, diagnostics
    return module


def _ready(model: ModelProto, engine: str) -> Executable:
    return commonir.prepare(_module(model), engine=engine)


def _floats(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def _longs(*values: int) -> Array:
    return np.asarray(values, np.int64)


COMPUTED_SHAPES = _model(
    "(float[n] x, int64[k] shape, int64[a] axes) => (float[] z)",
    """
    r = Reshape(x, shape)
    s = ReduceSum<keepdims = 0>(r, axes)
    z = Relu(s)
    """,
)


@ENGINES
def test_shapes_and_axes_may_be_inputs(engine: str) -> None:
    executable = _ready(COMPUTED_SHAPES, engine)
    COMPUTED_SHAPES.graph.output[0].ClearField("type")
    for inputs in (
        {"x": _floats(6), "shape": _longs(2, 3), "axes": _longs(1)},
        {"x": _floats(8), "shape": _longs(2, 2, 2), "axes": _longs(0, 2)},
        {"x": _floats(6), "shape": _longs(-1, 2), "axes": _longs(-1)},
        {"x": _floats(6), "shape": _longs(2, 3), "axes": _longs(0)},
    ):
        assert_same(list(executable.run(inputs).values()), run_with_onnxruntime(COMPUTED_SHAPES, inputs))


def test_conversions_report_what_is_not_known() -> None:
    with pytest.raises(DiagnosticError) as raised:
        commonir.lower(_module(COMPUTED_SHAPES))
    assert NOT_KNOWN_BEFORE_RUNNING in [d.code for d in raised.value.diagnostics]


BROADCAST = _model("(float[n] x, float[m] y) => (float[k] z)", "z = Add(x, y)")


@ENGINES
def test_two_unknown_sizes_may_be_broadcast(engine: str) -> None:
    executable = _ready(BROADCAST, engine)
    for n, m in ((3, 3), (3, 1), (1, 4), (3, 1), (5, 5)):
        inputs = {"x": _floats(n), "y": _floats(m)}
        assert_same(list(executable.run(inputs).values()), [inputs["x"] + inputs["y"]])


@ENGINES
def test_sizes_that_cannot_be_broadcast_are_refused(engine: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        _ready(BROADCAST, engine).run({"x": _floats(3), "y": _floats(2)})
    assert [d.code for d in raised.value.diagnostics] == [VIOLATED_CONSTRAINT]


@ENGINES
def test_sizes_of_one_name_that_differ_are_refused(engine: str) -> None:
    model = _model("(float[n] x, float[n] y) => (float[n] z)", "z = Add(x, y)")
    with pytest.raises(DiagnosticError) as raised:
        _ready(model, engine).run({"x": _floats(3), "y": _floats(1)})
    assert [d.code for d in raised.value.diagnostics] == [WRONG_DIMENSIONS]


@ENGINES
def test_inputs_may_be_empty(engine: str) -> None:
    model = _model("(float[n] x) => (float[m] z)", "y = Relu(x) z = Concat<axis = 0>(y, y)")
    (z,) = _ready(model, engine).run({"x": _floats(0)}).values()
    assert z.shape == (0,)


COMPUTED_SIZES = _model(
    "(float[n] x, float[m] y) => (float[k] z)",
    """
    i = NonZero(x)
    j = Transpose(i)
    v = GatherND(x, j)
    z = Add(v, y)
    """,
)


@ENGINES
def test_a_size_computed_from_data_may_be_broadcast(engine: str) -> None:
    executable = _ready(COMPUTED_SIZES, engine)
    for x, m in (([1, 0, 2], 2), ([0, 0, 2], 2), ([1, 1, 2], 1), ([0, 0, 0], 1)):
        inputs = {"x": np.asarray(x, np.float32), "y": _floats(m)}
        assert_same(list(executable.run(inputs).values()), run_with_onnxruntime(COMPUTED_SIZES, inputs))


BRANCH_NOT_TAKEN = _model(
    "(float[5] x) => (float[a] z)",
    """
    t = Constant<value = bool {0}>()
    z = If(t) <
      then_branch = g1 () => (float[b] u) { u, w = Split<axis = 0, num_outputs = 9>(x) },
      else_branch = g2 () => (float[c] v) { v = Relu(x) }
    >
    """,
)


@ENGINES
def test_what_cannot_be_in_a_branch_is_refused_only_when_it_is_reached(engine: str) -> None:
    x = _floats(5)
    assert_same(list(_ready(BRANCH_NOT_TAKEN, engine).run({"x": x}).values()), [np.maximum(x, 0)])


# -- loops

GROWING = _model(
    "(int64 rounds, bool go, float[n] x) => (float[m] y, float[k] sums)",
    """
    y, sums = Loop(rounds, go, x) <body = b (int64 i, bool c, float[p] v) => (bool again, float[q] w, float s) {
      again = Identity(c)
      w = Concat<axis = 0>(v, v)
      s = ReduceSum<keepdims = 0>(w)
    }>
    """,
)


@ENGINES
def test_a_loop_may_carry_what_grows(engine: str) -> None:
    executable = _ready(GROWING, engine)
    for rounds in (3, 1, 4):
        inputs = {"rounds": np.asarray(rounds), "go": np.asarray(True), "x": _floats(2)}
        assert_same(list(executable.run(inputs).values()), run_with_onnxruntime(GROWING, inputs), 1e-5)


@ENGINES
@pytest.mark.parametrize(("rounds", "go"), [(0, True), (2, False)])
def test_a_loop_without_a_round_gives_what_it_was_given(engine: str, rounds: int, go: bool) -> None:
    inputs = {"rounds": np.asarray(rounds), "go": np.asarray(go), "x": _floats(2)}
    y, sums = _ready(GROWING, engine).run(inputs).values()
    assert_same([y], [inputs["x"]])
    assert sums.shape == (0,)


RANKS = _model(
    "(int64 rounds, float[n] x) => (float[] y)",
    """
    front = Constant<value = int64[1] {0}>()
    y = Loop(rounds, , x) <body = b (int64 i, bool c, float[] v) => (bool again, float[] w) {
      again = Identity(c)
      w = Unsqueeze(v, front)
    }>
    """,
)


@ENGINES
def test_a_loop_may_carry_what_changes_its_rank(engine: str) -> None:
    model = ModelProto()
    model.CopyFrom(RANKS)
    for info in (
        model.graph.output[0],
        model.graph.node[1].attribute[0].g.input[2],
        model.graph.node[1].attribute[0].g.output[1],
    ):
        info.type.tensor_type.ClearField("shape")
    x = _floats(2)
    (y,) = _ready(model, engine).run({"rounds": np.asarray(3), "x": x}).values()
    assert_same([y], [x.reshape(1, 1, 1, 2)])


WHILE = _model(
    "(float x) => (float y, float[k] all)",
    """
    one = Constant<value = float {1.0}>()
    limit = Constant<value = float {20.0}>()
    go = Constant<value = bool {1}>()
    y, all = Loop( , go, x) <body = b (int64 i, bool c, float v) => (bool again, float w, float kept) {
      two = Add(v, v)
      w = Add(two, one)
      again = Less(w, limit)
      kept = Identity(w)
    }>
    """,
)


@ENGINES
def test_a_loop_without_a_number_of_rounds_ends_when_its_graph_says_so(engine: str) -> None:
    y, preserved = _ready(WHILE, engine).run({"x": np.asarray(0.0, np.float32)}).values()
    assert_same([y, preserved], [np.float32(31), np.asarray([1, 3, 7, 15, 31], np.float32)])


SCAN = _model(
    "(float[2] start, float[n, 3] a, float[4, n] b) => (float[2] last, float[k, l] rows)",
    """
    last, rows = Scan<
      num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1], scan_output_axes = [1],
      scan_output_directions = [1],
      body = s (float[2] state, float[3] p, float[4] q) => (float[2] next, float[7] row) {
        front = Constant<value = int64[1] {0}>()
        total = ReduceSum<keepdims = 0>(p, front)
        next = Add(state, total)
        row = Concat<axis = 0>(p, q)
      }
    >(start, a, b)
    """,
)


@ENGINES
def test_a_scan_goes_along_any_axes_in_both_directions(engine: str) -> None:
    executable = _ready(SCAN, engine)
    for n in (3, 5):
        inputs = {"start": _floats(2), "a": _floats(n, 3), "b": _floats(4, n)}
        assert_same(list(executable.run(inputs).values()), run_with_onnxruntime(SCAN, inputs), 1e-5)


BATCHED_SCAN = _model(
    "(int64[2] lengths, float[2, 1] start, float[2, 3, 1] x) => (float[2, 1] last, float[2, 3, 1] sums)",
    """
    last, sums = Scan<
      num_scan_inputs = 1,
      body = s (float[1] state, float[1] p) => (float[1] next, float[1] kept) {
        next = Add(state, p)
        kept = Identity(next)
      }
    >(lengths, start, x)
    """,
    opset=8,
)


@ENGINES
def test_a_scan_over_a_batch_stops_at_the_length_of_each_member(engine: str) -> None:
    inputs = {
        "lengths": _longs(3, 2),
        "start": np.asarray([[0], [10]], np.float32),
        "x": np.asarray([[[1], [2], [3]], [[1], [2], [3]]], np.float32),
    }
    last, sums = _ready(BATCHED_SCAN, engine).run(inputs).values()
    assert_same([last], [np.asarray([[6], [13]], np.float32)])
    assert_same([sums], [np.asarray([[[1], [3], [6]], [[11], [13], [0]]], np.float32)])


# -- values that are not tensors

PAIRS = _model(
    "(seq(float[n]) xs, float y) => (seq(float[m]) zs, int64 count)",
    """
    count = SequenceLength(xs)
    zs = SequenceMap(xs, y) <body = b (float[n] x, float v) => (float[m] z) { z = Add(x, v) }>
    """,
)


@ENGINES
def test_elements_of_a_sequence_may_have_different_sizes(engine: str) -> None:
    xs, y = [_floats(2), _floats(3)], np.asarray(0.5, np.float32)
    zs, count = _ready(PAIRS, engine).run({"xs": xs, "y": y}).values()  # type: ignore[dict-item]  a list stands for a sequence
    assert_same([zs, count], [[x + y for x in xs], np.int64(2)])


COLLECTED = _model(
    "(int64 rounds, float[n] x) => (seq(float[m]) ys)",
    """
    none = SequenceEmpty()
    ys = Loop(rounds, , none) <body = b (int64 i, bool c, seq(float[p]) v) => (bool again, seq(float[q]) w) {
      again = Identity(c)
      i1 = Cast<to = 1>(i)
      z = Mul(x, i1)
      w = SequenceInsert(v, z)
    }>
    """,
)


@ENGINES
def test_a_loop_may_carry_a_sequence(engine: str) -> None:
    x = _floats(2)
    (ys,) = _ready(COLLECTED, engine).run({"rounds": np.asarray(3), "x": x}).values()
    assert_same([ys], [[0 * x, x, 2 * x]])


@ENGINES
def test_what_is_given_for_a_sequence_must_be_a_list(engine: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        _ready(PAIRS, engine).run({"xs": _floats(2), "y": np.asarray(0.5, np.float32)})
    assert [d.code for d in raised.value.diagnostics] == [WRONG_INPUT]


@ENGINES
@pytest.mark.parametrize("value", [None, 3.0])
def test_an_absent_value_is_none(engine: str, value: float | None) -> None:
    model = _model("(optional(float[1]) x) => (bool there)", "there = OptionalHasElement(x)")
    inputs: Any = None if value is None else np.asarray([value], np.float32)
    (there,) = _ready(model, engine).run({"x": inputs}).values()
    assert bool(there) is (value is not None)


def test_a_second_run_of_small_programs_is_planned() -> None:
    """The first one is evaluated; both give the same."""
    model = _model("(float16[3] x) => (float16[3] z)", "y = Exp(x) w = Mul(y, y) z = Log(w)")
    executable = _ready(model, "numpy")
    inputs = {"x": np.asarray([0.1, 1.5, -2.0], np.float16)}
    first, second, third = (next(iter(executable.run(inputs).values())) for _ in range(3))
    assert first.dtype == np.float16
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(second, third)


def test_values_that_are_not_tensors_are_drawn_and_compared() -> None:
    comparison = commonir.compare(_module(PAIRS), values="all")
    assert {v.name for v in comparison.values} == {"zs", "count"}
    assert all(v.is_within for v in comparison.values)


def test_a_comparison_states_operations_when_they_are_reached() -> None:
    inputs = {"x": _floats(6), "shape": _longs(2, 3), "axes": _longs(1)}
    comparison = commonir.compare(_module(COMPUTED_SHAPES), inputs=inputs, values="all")
    assert {"r", "s", "z"} >= {v.name for v in comparison.values if v.is_within} >= {"z"}
