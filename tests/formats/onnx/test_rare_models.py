"""Models that break a rule of the format and that onnxruntime runs, or follow one that few models use; and faulty ones,
which are reported as such."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper, numpy_helper, parser

import commonir as cir
from commonir.base.codes import EXECUTION_FAILED
from commonir.base.diagnostics import DiagnosticError
from commonir.cli.main import main

from tests.oracles import oracle

Array = NDArray[Any]
Arrays = Mapping[str, Array]

X = np.array([[1.0, -2.0, 3.0]], np.float32)


def _saved(path: Path, text: str) -> Path:
    onnx.save(parser.parse_model(text), path)
    return path


def _expected(path: Path, inputs: Arrays) -> list[Array]:
    return oracle("onnxruntime").InferenceSession(str(path)).run(None, dict(inputs))


def _same(path: Path, inputs: Arrays) -> None:
    """Compares a run with one of onnxruntime."""
    result = cir.prepare(cir.load(path)).run(inputs)
    for e, f in zip(_expected(path, inputs), result.values(), strict=True):
        assert f.dtype == e.dtype
        np.testing.assert_allclose(np.asarray(f, e.dtype), e, rtol=1e-5, atol=1e-6)


def test_numbers_of_rounds_that_a_loop_declares_as_vectors_stay_so(tmp_path: Path) -> None:
    text = """<ir_version: 7, opset_import: ["" : 12]>
        g (float[N] x, int64[1] m, bool[1] go) => (float[N] y) {
            y = Loop (m, go, x) <body = b (int64[1] i, bool[1] c, float[N] v) => (bool[1] c2, float[N] v2) {
                c2 = Identity (c)
                f = Cast <to = 1> (i)
                v2 = Add (v, f)
            }>
        }"""
    path, written = _saved(tmp_path / "m.onnx", text), tmp_path / "opt.onnx"
    cir.save(cir.optimize(cir.load(path)), written)
    inputs = {"x": X[0], "m": np.array([3]), "go": np.array([True])}
    # onnxruntime takes a scalar in the graph for a condition that is a vector for a fault.
    np.testing.assert_array_equal(_expected(written, inputs)[0], _expected(path, inputs)[0])
    _same(path, inputs)


LORA = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[1,3] x, float[3,rank] a, float[rank,2] b) => (float[1,2] y)
    <float[3,2] w = {1,2,3,4,5,6}, float[3,0] a = {}, float[0,2] b = {}> {
        base = MatMul (x, w)
        low = MatMul (x, a)
        more = MatMul (low, b)
        y = Add (base, more)
    }"""


def test_weights_that_may_be_given_have_none_by_default(tmp_path: Path) -> None:
    path = _saved(tmp_path / "m.onnx", LORA)
    assert [d for d in cir.check(path)[1] if d.is_error] == []
    _same(path, {"x": X})
    _same(path, {"x": X, "a": np.ones((3, 4), np.float32), "b": np.ones((4, 2), np.float32)})


@pytest.mark.parametrize("places", [[0, 4], [[0, 0], [1, 1]]], ids=["numbers", "coordinates"])
def test_input_with_a_sparse_default_is_read_and_written(places: list[int], tmp_path: Path) -> None:
    values = numpy_helper.from_array(np.array([5.0, 7.0], np.float32), "w")
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(places)), [2, 3])
    ports = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2, 3]) for n in ("w", "x", "y")]
    graph = helper.make_graph([helper.make_node("Add", ["w", "x"], ["y"])], "g", ports[:2], ports[2:])
    graph.sparse_initializer.append(sparse)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path, again = tmp_path / "m.onnx", tmp_path / "again.onnx"
    onnx.save(model, path)
    _same(path, {"x": np.ones((2, 3), np.float32)})
    cir.save(cir.load(path), again)
    assert onnx.load(again) == model


def test_operators_of_a_domain_without_a_version_are_those_of_the_newest(tmp_path: Path) -> None:
    text = (
        """<ir_version: 7, opset_import: ["" : 12]> g (float[1,3] x) => (float[1,3] y) { y = com.microsoft.Gelu (x) }"""
    )
    path = _saved(tmp_path / "m.onnx", text)
    _same(path, {"x": X})
    result = [str(d) for d in cir.check(path)[1]]
    assert [t.splitlines()[0] for t in result] == [
        "error[E0209]: M2: no version of the operator set 'com.microsoft' is stated"
    ]


def test_constants_that_are_texts_decide_what_is_computed_from_them(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
        g (int64[1,2] at) => (string[A,B] y) <string[3] names = {"a", "b", "c"}> {
            y = ai.onnx.ml.ArrayFeatureExtractor (names, at)
        }"""
    path, written = _saved(tmp_path / "m.onnx", text), tmp_path / "out.onnx"
    cir.save(cir.convert(cir.lower(cir.load(path)), "onnx"), written)
    for again in (path, written):
        assert cir.prepare(cir.load(again)).run({"at": np.array([[2, 0]])})["y"].tolist() == [["c", "a"]]


def test_position_outside_of_a_constant_is_reported_when_it_is_reached(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[1,3] x) => (float[1,2,3] y) <float[1,3] w = {1,2,3}, int64[1,2] at = {0,2}> {
            e = Gather (w, at)
            y = Add (e, x)
        }"""
    path = _saved(tmp_path / "m.onnx", text)
    for module in (cir.load(path), cir.optimize(cir.load(path))):
        with pytest.raises(DiagnosticError, match="position 2 on axis 0 of 'x', which has size 1") as caught:
            cir.prepare(module).run({"x": X})
        assert caught.value.diagnostics[0].code is EXECUTION_FAILED


def test_shape_arithmetic_on_what_is_not_known_is_left_to_running(tmp_path: Path) -> None:
    """The operands of Concat that stand behind it have no types yet when it is asked for its elements."""
    text = """<ir_version: 6, opset_import: ["" : 9]>
        g (float[1,3] x) => (float[3,1] y) <int64 at = {1}, int64[1] one = {1}> {
            shape = Concat <axis = 0> (a, one)
            flipped = Transpose (x)
            a = Unsqueeze <axes = [0]> (n)
            n = Gather <axis = 0> (s, at)
            s = Shape (x)
            y = Reshape (flipped, shape)
        }"""
    path = _saved(tmp_path / "m.onnx", text)
    assert {d.code.id for d in cir.check(path)[1]} == {"E0401"}
    np.testing.assert_array_equal(cir.prepare(cir.load(path)).run({"x": X})["y"], X.reshape(3, 1))


def test_choice_without_a_condition_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) {
        y = If () <then_branch = t () => (float[3] r) { r = Neg (x) },
                   else_branch = e () => (float[3] s) { s = Abs (x) }>
    }"""
    path = _saved(tmp_path / "m.onnx", text)
    for command in (["run"], ["opt", "-o", str(tmp_path / "out.onnx")], ["check"]):
        assert main([command[0], str(path), *command[1:]]) == 1
        assert "error[E0502]: onnx.If: operand 'cond' is missing" in capsys.readouterr().err


def test_scan_whose_lists_say_too_much_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """<ir_version: 9, opset_import: ["" : 19]> g (float[2] a, float[3,2] b) => (float[2] y, float[3,2] z) {
        y, z = Scan <num_scan_inputs = 1, %s, body = s (float[2] p, float[2] q) => (float[2] r, float[2] t) {
            r = Add (p, q)
            t = Identity (r)
        }> (a, b)
    }"""
    lists = ["scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"]
    for name in lists:
        path = str(_saved(tmp_path / "m.onnx", text % f"{name} = [0, 0]"))
        for command in ("check", "run"):
            assert main([command, path]) == 1
            assert f"error[E0403]: onnx.Scan: {name} has 2 elements, expected 1" in capsys.readouterr().err
    path = str(_saved(tmp_path / "m.onnx", text.replace("inputs = 1, %s", "inputs = 3")))
    assert main(["check", path]) == 1
    assert "error[E0403]: onnx.Scan: num_scan_inputs is 3, of 2 operands" in capsys.readouterr().err


def test_resize_by_too_few_factors_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """<ir_version: 9, opset_import: ["" : 19]> g (float[N,3] x) => (float[A,B] y) <float[1] scales = {1.5}> {
        y = Resize <mode = "nearest"> (x, , scales)
    }"""
    assert main(["check", str(_saved(tmp_path / "m.onnx", text))]) == 1
    assert "error[E0504]: onnx.Resize: 1 sizes or factors for 2 axes" in capsys.readouterr().err


SUMS: dict[str, tuple[tuple[int, ...], ...]] = {
    "ij,jk->ik": ((3, 1), (2, 2)),
    "bij,bjk->bik": ((1, 2, 3), (4, 3, 2)),
    "bij,bjk": ((4, 2, 3), (1, 3, 2)),
    "ij,ij->i": ((2, 1), (1, 3)),
    "b...,b...->b...": ((1, 3), (2, 3)),
}


@pytest.mark.parametrize(("equation", "shapes"), SUMS.items(), ids=SUMS)
def test_axes_of_one_element_are_broadcast_in_sums(
    equation: str, shapes: tuple[tuple[int, ...], ...], tmp_path: Path
) -> None:
    a, b = ("x".join(map(str, s)).replace("x", ",") for s in shapes)
    text = f"""<ir_version: 8, opset_import: ["" : 17]> g (float[{a}] p, float[{b}] q) => (float y) {{
        y = Einsum <equation = "{equation}"> (p, q)
    }}"""
    model = parser.parse_model(text)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    draws = np.random.default_rng(3)
    _same(path, {n: draws.random(s, np.float32) for n, s in zip("pq", shapes, strict=True)})


def test_unknown_operator_with_a_graph_is_reported_when_it_runs(tmp_path: Path) -> None:
    text = """<ir_version: 7, opset_import: ["" : 11]> g (float[1,3] x) => (float[1,3] y) {
        y = Nested <body = b (float[1,3] p) => (float[1,3] q) { q = Neg (p) }> (x)
    }"""
    module = cir.load(_saved(tmp_path / "m.onnx", text))
    with pytest.raises(DiagnosticError, match=r"E0601.*Nested cannot be lowered to core"):
        cir.prepare(module).run({"x": X})
