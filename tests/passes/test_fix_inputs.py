"""Inputs made constants by `edit`: of values that are given, or of their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

import commonir as cir
from commonir.base.codes import IMPOSSIBLE_EDIT, UNDEFINED_VALUE, Code
from commonir.ir.types import f32, tensor

from tests.command_lines import command_lines
from tests.conversions.running import run_onnx

# A scale that need not be given, a rate that decides what runs, and sizes that both operands share.
TEXT = """
    <ir_version: 8, opset_import: ["": 17]>
    g (float[n, 2] x, float[n, 2] w, float scale = {2.0}, int64 rate) => (float[n, 2] y) {
        sum = Add (x, w)
        scaled = Mul (sum, scale)
        fast = Constant <value = int64 {16000}> ()
        is_fast = Equal (rate, fast)
        y = If (is_fast) <
            then_branch = quick () => (float[n, 2] t) { t = Neg (scaled) },
            else_branch = slow () => (float[n, 2] e) { e = Exp (scaled) }
        >
    }
"""
X = np.array([[1.0, -2.0], [0.5, 3.0], [0.0, 1.0]], np.float32)
W = np.array([[1.0, 1.0], [2.0, 0.0], [-1.0, 4.0]], np.float32)


def _saved(folder: Path, program: cir.Module) -> str:
    path = str(folder / "made.onnx")
    cir.save(program, path)
    onnx.checker.check_model(path, full_check=True)
    return path


@pytest.fixture
def program(tmp_path: Path) -> cir.Module:
    path = tmp_path / "source.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    return cir.load(path)


def _names(program: cir.Module) -> list[str]:
    return [v.name for v in program.main.inputs]


def _found(path: str, inputs: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    return np.asarray(onnxruntime.InferenceSession(path).run(None, dict(inputs))[0])


def test_input_becomes_the_constant_that_is_given(program: cir.Module, tmp_path: Path) -> None:
    result = cir.edit(program, inputs={"rate": np.asarray(16000)})
    assert _names(result) == ["x", "w", "scale"]
    np.testing.assert_allclose(_found(_saved(tmp_path, result), {"x": X, "w": W}), -2 * (X + W))


def test_input_becomes_its_default(program: cir.Module, tmp_path: Path) -> None:
    result = cir.edit(program, inputs={"scale": None, "rate": np.asarray(8000)})
    assert _names(result) == ["x", "w"]
    np.testing.assert_allclose(_found(_saved(tmp_path, result), {"x": X, "w": W}), np.exp(2 * (X + W)), 1e-6)


def test_sizes_of_the_constant_are_those_of_other_inputs(program: cir.Module, tmp_path: Path) -> None:
    result = cir.edit(program, inputs={"w": W, "rate": np.asarray(16000)}, rename={"w": "bias", "x": "data"})
    data, _scale = result.main.inputs
    assert (data.name, data.type) == ("data", tensor(f32, 3, 2))
    np.testing.assert_allclose(_found(_saved(tmp_path, result), {"data": X}), -2 * (X + W))


def test_lowered_program_takes_constants_too(program: cir.Module) -> None:
    result = cir.edit(cir.lower(program), inputs={"rate": np.asarray(8000), "w": W})
    np.testing.assert_allclose(np.asarray(cir.run(result, {"x": X})["y"], np.float32), np.exp(2 * (X + W)), 1e-6)


@pytest.mark.parametrize(
    ("inputs", "code", "text"),
    [
        ({"ratio": None}, UNDEFINED_VALUE, "'g' has no input 'ratio'"),
        ({"x": None}, IMPOSSIBLE_EDIT, "the input 'x' has no default value"),
        (
            {"rate": np.ones(2, np.int64)},
            IMPOSSIBLE_EDIT,
            "the input 'rate' is tensor<i64>, and cannot become a constant tensor<2xi64>",
        ),
    ],
)
def test_constants_that_cannot_be_are_refused(
    program: cir.Module, inputs: Mapping[str, NDArray[np.int64] | None], code: Code, text: str
) -> None:
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.edit(program, inputs=inputs)
    assert [(d.code, d.message) for d in caught.value.diagnostics] == [(code, text)]


def test_core_ml_program_is_to_be_converted_first() -> None:
    package = cir.load("tests/models/resnet_fp32/model.mlpackage")
    (image,) = cir.random_inputs(package).values()
    with pytest.raises(cir.DiagnosticError, match=r"inputs of 'main' \(mil\.func\) cannot become constants"):
        cir.edit(package, inputs={"image": image})


def _by_rate() -> bytes:
    """A model that computes something else for each rate; sizes that one branch may have contradict the other."""
    one = helper.make_tensor("one", TensorProto.INT64, [1], [1])
    two = helper.make_tensor("k", TensorProto.INT64, [], [2])
    then = helper.make_graph(
        [helper.make_node("Squeeze", ["x", "one"], ["s"]), helper.make_node("Neg", ["s"], ["t"])],
        "then", [], [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)], [one],
    )  # fmt: skip
    orelse = helper.make_graph(
        [helper.make_node("ReduceSum", ["x", "axes"], ["e"], keepdims=0)],
        "orelse", [], [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)],
        [helper.make_tensor("axes", TensorProto.INT64, [1], [1])],
    )  # fmt: skip
    rate = helper.make_tensor("rate", TensorProto.INT64, [], [8])
    nodes = [
        helper.make_node("Constant", [], ["rate"], value=rate),
        helper.make_node("Mul", ["sr", "k"], ["twice"]),
        helper.make_node("Equal", ["twice", "rate"], ["is_slow"]),
        helper.make_node("If", ["is_slow"], ["y"], then_branch=then, else_branch=orelse),
        helper.make_node("Cast", ["twice"], ["z"], to=TensorProto.FLOAT),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "n"]),
        helper.make_tensor_value_info("sr", TensorProto.INT64, []),
    ]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "z")]
    graph = helper.make_graph(nodes, "graph", inputs, results, [two])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


@pytest.mark.parametrize("form", ["onnx", "core"])
@pytest.mark.parametrize(("rate", "size"), [(4, 1), (16, 3)])
def test_an_input_becomes_a_constant_and_decides_which_branch_stays(form: str, rate: int, size: int) -> None:
    content = _by_rate()
    program = cir.loads(content, format="onnx")
    x = np.arange(2.0 * size, dtype=np.float32).reshape(2, size)
    expected = run_onnx(content, {"x": x, "sr": np.array(rate)})
    program = program if form == "onnx" else cir.lower(program)
    fixed = cir.edit(program, inputs={"sr": np.asarray(rate)})
    assert [v.name for v in fixed.inputs] == ["x"]
    assert fixed.main.output_names == ("y", "z")
    assert not any(op.name in ("onnx.If", "core.if", "onnx.Equal") for op in fixed.walk())
    outputs = cir.run(fixed, {"x": x})
    np.testing.assert_array_equal(np.asarray(outputs["y"]), expected[0])
    np.testing.assert_array_equal(np.asarray(outputs["z"]), expected[1])
    if form == "onnx":
        for name, array in zip(("y", "z"), run_onnx(cir.dumps(fixed), {"x": x}), strict=True):
            np.testing.assert_array_equal(np.asarray(outputs[name]), array)
    # The size is one that only the branch which runs has.
    sized = cir.edit(program, inputs={"sr": np.asarray(rate)}, dims={"n": size, "batch": 2})
    back = cir.run(cir.convert(sized, "coreml"), {"x": x})
    np.testing.assert_array_equal(np.asarray(back["y"]), expected[0])


def test_command_line_gives_values_as_run_takes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.onnx").write_bytes(_by_rate())
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    edit = command_lines(capsys)
    values = ["--set-input", "sr=16", "--set-input", f"x=@{tmp_path / 'x.npy'}"]
    assert edit("edit", str(tmp_path / "m.onnx"), *values, "-o", str(tmp_path / "n.onnx")).status == 0
    np.testing.assert_array_equal(run_onnx((tmp_path / "n.onnx").read_bytes(), {})[0], [3, 3])
