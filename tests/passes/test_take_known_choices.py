"""`optimize` puts the branch of a choice that is known in its place, in ONNX models above all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

import commonir as cir

X = np.array([1.0, -2.0, 0.5], np.float32)

# What the program returns is, in turn: computed in the branch, not computed at all, and returned twice.
COMPUTED = "then_branch = a () => (float[3] p) { p = Neg (x) }, else_branch = b () => (float[3] q) { q = Exp (x) }"
INNER = "then_branch = a () => (float[3] t) { t = Neg (x) }, else_branch = b () => (float[3] u) { u = Exp (x) }"
FORWARDED = """then_branch = a () => (float[3] p) { p = Identity (x) },
               else_branch = b () => (float[3] q) { q = Exp (x) }"""
TWICE = """then_branch = a () => (float[3] p, float[3] r) { p = Neg (x) r = Identity (p) },
           else_branch = b () => (float[3] q, float[3] s) { q = Exp (x) s = Abs (x) }"""


def _model(outputs: str, body: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]> g (float[3] x) => ({outputs}) {{ {body} }}'
    )


def _outputs(model: onnx.ModelProto) -> Mapping[str, NDArray[np.float32]]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [v.name for v in session.get_outputs()]
    return dict(zip(names, map(np.asarray, session.run(None, {"x": X})), strict=True))


def _optimized(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    source, result = folder / "source.onnx", folder / "made.onnx"
    onnx.save(model, source)
    cir.save(cir.optimize(cir.load(source)), result)
    onnx.checker.check_model(result, full_check=True)
    return onnx.load(result)


@pytest.mark.parametrize("rate", [16000, 8000])
@pytest.mark.parametrize(
    ("outputs", "results", "branches"),
    [
        ("float[3] y", "y", COMPUTED),
        ("float[3] y", "y", FORWARDED),
        ("float[3] y, float[3] z", "y, z", TWICE),
    ],
)
def test_optimized_model_gives_the_same(rate: int, outputs: str, results: str, branches: str, tmp_path: Path) -> None:
    constants = f"a = Constant <value = int64 {{{rate}}}> () b = Constant <value = int64 {{16000}}> () c = Equal (a, b)"
    model = _model(outputs, f"{constants} {results} = If (c) <{branches}>")
    result, expected = _outputs(_optimized(model, tmp_path)), _outputs(model)
    assert list(result) == list(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(result[name], array, name)


def test_known_choice_leaves_only_what_runs(tmp_path: Path) -> None:
    body = f"c = Constant <value = bool {{1}}> () y = If (c) <{COMPUTED}>"
    assert [n.op_type for n in _optimized(_model("float[3] y", body), tmp_path).graph.node] == ["Neg"]


def test_choices_inside_of_a_known_choice_are_taken(tmp_path: Path) -> None:
    inner = f"k = Constant <value = bool {{0}}> () p = If (k) <{INNER}>"
    branches = f"then_branch = o () => (float[3] p) {{ {inner} }}, else_branch = e () => (float[3] q) {{ q = Abs (x) }}"
    body = f"c = Constant <value = bool {{1}}> () y = If (c) <{branches}>"
    optimized = _optimized(_model("float[3] y", body), tmp_path)
    assert [n.op_type for n in optimized.graph.node] == ["Exp"]
    np.testing.assert_allclose(_outputs(optimized)["y"], np.exp(X), 1e-6)


def test_names_of_two_branches_may_be_the_same(tmp_path: Path) -> None:
    body = f"c = Constant <value = bool {{1}}> () s = If (c) <{COMPUTED}> t = If (c) <{COMPUTED}> y = Add (s, t)"
    optimized = _optimized(_model("float[3] y", body), tmp_path)
    assert "If" not in [n.op_type for n in optimized.graph.node]
    np.testing.assert_array_equal(_outputs(optimized)["y"], -2 * X)


def test_choice_that_is_data_stays(tmp_path: Path) -> None:
    condition = "m = ReduceSum <keepdims = 0> (x) o = Constant <value = float {0}> () c = Less (m, o)"
    body = f"{condition} y = If (c) <{COMPUTED}>"
    optimized = _optimized(_model("float[3] y", body), tmp_path)
    assert "If" in [n.op_type for n in optimized.graph.node]
    np.testing.assert_array_equal(_outputs(optimized)["y"], -X)
