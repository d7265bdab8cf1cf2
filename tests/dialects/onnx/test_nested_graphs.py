"""The declared inputs of nested graphs, against those that they receive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser

import commonir as cir
from commonir.ir.types import f32, tensor

from tests.conversions.running import run_onnx

_FLOAT, _FLAG, _COUNT = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
_port = helper.make_tensor_value_info

Shape = Sequence[int | None] | None


def _saved(path: Path, node: onnx.NodeProto, inputs: dict[str, Shape], *, is_known: bool) -> Path:
    """A model of a node; without `is_known` the operands of the node are unknown before inference."""
    arguments = [f"{name}_" for name in inputs]
    nodes = [helper.make_node("Identity", [a], [b]) for a, b in zip(arguments, inputs, strict=True)]
    ports = [_port(name, _FLOAT, shape) for name, shape in zip(arguments, inputs.values(), strict=True)]
    outputs = [_port(name, _FLOAT, None) for name in node.output]
    known = [_port(name, _FLOAT, shape) for name, shape in inputs.items()] if is_known else []
    limit = helper.make_tensor("m", _COUNT, [], [2])
    graph = helper.make_graph([*nodes, node], "g", ports, outputs, [limit], value_info=known)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path


def _scan(state: Shape, row: Shape) -> onnx.NodeProto:
    nodes = [helper.make_node("Add", ["s", "v"], ["s2"]), helper.make_node("Identity", ["v"], ["o"])]
    ports = [_port("s", _FLOAT, state), _port("v", _FLOAT, row)], [_port("s2", _FLOAT, None), _port("o", _FLOAT, None)]
    return helper.make_node(
        "Scan", ["z", "x"], ["y", "ys"], body=helper.make_graph(nodes, "b", *ports), num_scan_inputs=1
    )


def _loop(carried: Shape) -> onnx.NodeProto:
    nodes = [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Neg", ["v"], ["v2"])]
    inputs = [_port("i", _COUNT, []), _port("c", _FLAG, []), _port("v", _FLOAT, carried)]
    body = helper.make_graph(nodes, "b", inputs, [_port("c2", _FLAG, []), _port("v2", _FLOAT, None)])
    return helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)


CASES = {
    "a slice with one axis more": (
        _scan([2], [2, 2]),
        {"z": [2], "x": [4, 2]},
        "onnx.Scan: the input 'v' of the graph is declared tensor<2x2xf32>, but receives tensor<2xf32>",
    ),
    "a slice of another size": (
        _scan([None], [3]),
        {"z": [2], "x": [4, 2]},
        "onnx.Scan: the input 'v' of the graph is declared tensor<3xf32>, but receives tensor<2xf32>",
    ),
    "a state of another rank": (
        _scan([1, 2], [2]),
        {"z": [2], "x": [4, 2]},
        "onnx.Scan: the input 's' of the graph is declared tensor<1x2xf32>, but receives tensor<2xf32>",
    ),
    "a carried value of another size": (
        _loop([3]),
        {"x": [4]},
        "onnx.Loop: the input 'v' of the graph is declared tensor<3xf32>, but receives tensor<4xf32>",
    ),
}


@pytest.mark.parametrize(("node", "inputs", "message"), CASES.values(), ids=CASES)
def test_check_finds_inputs_of_nested_graphs_that_say_something_else(
    tmp_path: Path, node: onnx.NodeProto, inputs: dict[str, Shape], message: str
) -> None:
    _, diagnostics = cir.check(_saved(tmp_path / "m.onnx", node, inputs, is_known=True))
    assert ("E0403", message) in [(d.code.id, d.message) for d in diagnostics if d.is_error]


@pytest.mark.parametrize(("node", "inputs", "message"), CASES.values(), ids=CASES)
def test_running_finds_them_where_only_inference_knows_types(
    tmp_path: Path, node: onnx.NodeProto, inputs: dict[str, Shape], message: str
) -> None:
    program = cir.load(_saved(tmp_path / "m.onnx", node, inputs, is_known=False))
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(program)
    assert ("E0403", message) in [(d.code.id, d.message) for d in error.value.diagnostics]


def test_graphs_that_say_less_than_they_receive_run(tmp_path: Path) -> None:
    program = cir.load(_saved(tmp_path / "m.onnx", _scan([None], [None]), {"z": [2], "x": [4, 2]}, is_known=True))
    assert cir.run(program)["ys"].shape == (4, 2)


@pytest.mark.parametrize(
    ("node", "inputs", "results"),
    [(_scan(None, None), {"z": [2], "x": [4, 2]}, ([2], [4, 2])), (_loop(None), {"x": [4, 3]}, ([4, 3],))],
    ids=["Scan", "Loop"],
)
def test_nested_graphs_without_shapes_get_those_of_what_they_receive(
    tmp_path: Path, node: onnx.NodeProto, inputs: dict[str, Shape], results: Sequence[Sequence[int]]
) -> None:
    # Those of onnxruntime's outputs.
    lowered = cir.lower(cir.load(_saved(tmp_path / "m.onnx", node, inputs, is_known=True)))
    assert [v.type for v in lowered.outputs] == [tensor(f32, *shape) for shape in results]


@pytest.mark.parametrize("sizes", [{}, {"seq": 3}], ids=["open", "fixed"])
def test_nested_graphs_without_types_get_those_of_what_they_are_given(tmp_path: Path, sizes: dict[str, int]) -> None:
    """As ONNX writes the body of `LinearAttention`: names, and no types."""
    body = helper.make_graph(
        [
            helper.make_node("Cast", ["slice"], ["wide"], to=TensorProto.DOUBLE),
            helper.make_node("Add", ["sum", "wide"], ["next"]),
            helper.make_node("Identity", ["next"], ["row"]),
        ],
        "body",
        [onnx.ValueInfoProto(name=n) for n in ("sum", "slice")],
        [onnx.ValueInfoProto(name=n) for n in ("next", "row")],
    )
    shape = [sizes.get("seq", "seq"), 2]
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["start"], ["first"], to=TensorProto.DOUBLE),
            helper.make_node("Scan", ["first", "xs"], ["last", "rows"], num_scan_inputs=1, body=body),
        ],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("start", [2]), ("xs", shape))],
        [helper.make_tensor_value_info(n, TensorProto.DOUBLE, s) for n, s in (("last", [2]), ("rows", shape))],
    )
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), path)
    lowered = cir.lower(cir.load(path))
    xs = np.arange(6, dtype=np.float32).reshape(3, 2)
    outputs = cir.run(lowered, {"start": np.ones(2, np.float32), "xs": xs})
    np.testing.assert_array_equal(outputs["rows"], [[1, 2], [3, 5], [7, 10]])
    np.testing.assert_array_equal(outputs["last"], [7, 10])


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize("rounds", [0, 3])
def test_what_a_loop_carries_unread_may_begin_as_a_scalar(rounds: int, engine: str, tmp_path: Path) -> None:
    model = parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17]> g (float[n,2] x, int64 count) => (float[a,b] y, float[c,d] s)
        <float none = {0}> {
            go = Constant <value = bool {1}> ()
            y, s = Loop (count, go, none, x) <
                body = body (int64 i, bool c, float[k,2] y_in, float[n,2] s_in)
                    => (bool c_out, float[k,2] y_out, float[n,2] s_out) {
                    c_out = Identity (c)
                    y_out = Add (s_in, s_in)
                    s_out = Add (s_in, y_out)
                }
            >
        }"""
    )
    path = tmp_path / "loop.onnx"
    onnx.save(model, path)
    module, diagnostics = cir.check(path)
    assert [(d.code.id, d.is_error) for d in diagnostics] == [("W0502", False)]
    inputs = {"x": np.ones((3, 2), np.float32), "count": np.array(rounds)}
    assert module is not None
    results = cir.run(module, inputs, engine=engine).values()
    for one, expected in zip(results, run_onnx(model.SerializeToString(), inputs), strict=True):
        np.testing.assert_array_equal(one, expected)
    with pytest.raises(cir.DiagnosticError, match="another rank after a round"):
        cir.convert(module, "coreml", ranges={"n": (1, 4)})


_GROWING = """
<ir_version: 10, opset_import: ["" : 22]>
g (float[n] x, int64 k, bool t, int64[1] zero) => (float[m] y, int64[1] s) {
  y, s = Loop <body = b (int64 i, bool c, float[n] v, int64[1] z) => (bool d, float[n] w, int64[1] u) {
    d = Identity (c)
    w = Concat <axis = 0> (v, x)
    u = Shape (v)
  }> (k, t, x, zero)
}
"""


def test_a_declared_shape_of_the_first_iteration_does_not_count_for_the_next(tmp_path: Path) -> None:
    onnx.save(parser.parse_model(_GROWING), tmp_path / "m.onnx")
    inputs = {"x": np.ones(2, np.float32), "k": np.array(3), "t": np.array(True), "zero": np.array([0])}
    y, s = run_onnx((tmp_path / "m.onnx").read_bytes(), inputs)
    assert y.shape == (8,)
    assert s == [6]
    results = cir.run(cir.load(tmp_path / "m.onnx"), inputs)
    np.testing.assert_array_equal(results["y"], y)
    np.testing.assert_array_equal(results["s"], s)


_UNEQUAL = """
<ir_version: 10, opset_import: ["" : 22]>
g (float[n] x, bool c) => (float[n] y) {
  y = If <then_branch = t () => (float[n] a, float[n] b) { a = Neg (x) b = Abs (x) },
          else_branch = e () => (float[n] p) { p = Abs (x) }> (c)
}
"""


def test_branches_with_different_numbers_of_outputs_are_refused(tmp_path: Path) -> None:
    model = parser.parse_model(_UNEQUAL)
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(onnx.shape_inference.InferenceError, match="different number of outputs"):
        onnx.shape_inference.infer_shapes(model, strict_mode=True)
    errors = [d.message for d in cir.verify(cir.load(tmp_path / "m.onnx")) if d.is_error]
    assert errors == ["onnx.If: the branches give 2 and 1 outputs"]


def test_a_loop_of_the_largest_count_has_no_limit() -> None:
    """Exporters write the largest i64, which no counter of Core ML holds, for a loop with a condition only."""
    module = cir.loads(
        """<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y)
        <int64 count = {9223372036854775807}, bool go = {1}, float limit = {9}> {
            y = Loop (count, go, x) <
                body = body (int64 i, bool c, float[2] v) => (bool c_out, float[2] v_out) {
                    v_out = Add (v, v)
                    sum = ReduceSum <keepdims = 0> (v_out)
                    c_out = Less (sum, limit)
                }
            >
        }""",
        format="onnxtxt",
    )
    package = cir.convert(module, "coreml")
    for program in (module, package):
        y = cir.run(program, {"x": np.array([1, 2], np.float32)})["y"]
        np.testing.assert_array_equal(y, np.array([4, 8], np.float32))


_ADVANCING = """
<ir_version: 8, opset_import: ["" : 13]>
g (int64 count, float[1] x, float[5] row) => (float[1] y, float[m, k] ys) {
  y, ys = Loop <body = b (int64 i, bool c, float[1] v) => (bool d, float[1] w, float[1] u) {
    d = Identity (c)
    axes = Constant <value = int64[1] {0}> ()
    one = Constant <value = int64 {1}> ()
    start = Unsqueeze (i, axes)
    next = Add (i, one)
    end = Unsqueeze (next, axes)
    part = Slice (row, start, end)
    w = Add (v, part)
    u = Identity (w)
  }> (count, , x)
}
"""


@pytest.mark.parametrize("count", [0, 3])
def test_slices_of_a_loop_have_declared_dims_also_without_an_iteration(count: int, tmp_path: Path) -> None:
    onnx.save(parser.parse_model(_ADVANCING), tmp_path / "m.onnx")
    inputs = {"count": np.array(count), "x": np.ones(1, np.float32), "row": np.arange(5, dtype=np.float32)}
    expected = run_onnx((tmp_path / "m.onnx").read_bytes(), inputs)
    for one, other in zip(cir.run(cir.load(tmp_path / "m.onnx"), inputs).values(), expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_array_equal(one, other)
