"""Numbers and bools as inputs that are scalars: which are values of a type is numpy's answer, or written out."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from commonir import api as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.cli.main import main

from tests.arrays import read_arrays

_TYPES = ("i1", "index", "i8", "ui8", "i64", "f16", "bf16", "f32", "tensor<f64>", "tensor<i32>", "complex<f32>")
_NAMES = [f"a{n}" for n in range(len(_TYPES))]
_ARGUMENTS = ", ".join([f"%{name}: {type}" for name, type in zip(_NAMES, _TYPES, strict=True)])
_PROGRAM = f"func.func @main({_ARGUMENTS}, %v: tensor<3xf32>) -> tensor<3xf32> {{\n  return %v : tensor<3xf32>\n}}\n"


def _read(type: str, text: str) -> np.ndarray:
    return cir.scalar_input(cir.loads(_PROGRAM, format="mlir"), _NAMES[_TYPES.index(type)], text)


@pytest.mark.parametrize(
    ("type", "text", "expected"),
    [
        ("i1", "true", np.bool_(True)),
        ("i1", "0", np.bool_(False)),
        ("index", "-3", np.int64(-3)),
        ("i8", "-128", np.int8(-128)),
        ("ui8", "0xFF", np.uint8(255)),
        ("i64", "9223372036854775807", np.int64(2**63 - 1)),
        ("f16", "65504", np.float16(65504)),
        ("bf16", "1.00390625", ml_dtypes.bfloat16(1.00390625)),
        ("f32", "0.1", np.float32(0.1)),
        ("f32", "-inf", np.float32(-np.inf)),
        ("tensor<f64>", "1e300", np.float64(1e300)),
        ("tensor<i32>", "7", np.int32(7)),
        ("complex<f32>", "1.5-2j", np.complex64(1.5 - 2j)),
    ],
)
def test_a_number_is_a_value_of_the_type_of_its_input(type: str, text: str, expected: np.generic) -> None:
    result = _read(type, text)
    assert (result.dtype, result.shape) == (expected.dtype, ())
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("type", "text"),
    [("i1", "2"), ("index", "1.5"), ("index", "true"), ("i8", "128"), ("ui8", "-1"), ("ui8", "256"), ("f16", "65520"),
     ("f32", "1e39"), ("f32", "true"), ("tensor<i32>", "2147483648"), ("i64", "1" * 41), ("f32", "1.2.3")],
)  # fmt: skip
def test_a_number_that_the_type_does_not_have_is_refused(type: str, text: str) -> None:
    with pytest.raises(DiagnosticError, match=r"E0703.*which .* is not a value of"):
        _read(type, text)


def test_a_tensor_takes_no_number_and_says_what_it_takes() -> None:
    with pytest.raises(DiagnosticError, match=r"'v' is tensor<3xf32>, not one number(.|\n)*`v=f32\[3\]:1`"):
        cir.scalar_input(cir.loads(_PROGRAM, format="mlir"), "v", "1")
    with pytest.raises(DiagnosticError, match=r"no input 'q'(.|\n)*inputs are a0, a1"):
        cir.scalar_input(cir.loads(_PROGRAM, format="mlir"), "q", "1")


def _onnx(folder: Path) -> Path:
    scalars = [helper.make_tensor_value_info(n, TensorProto.FLOAT, []) for n in "xyz"]
    graph = helper.make_graph([helper.make_node("Sub", ["x", "y"], ["z"])], "g", scalars[:2], scalars[2:])
    path = folder / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return path


_BRANCH = """\
func.func @main(%c: i1, %n: index, %x: f32) -> (f32, index) {
  %z = arith.constant 0.0 : f32
  %y = arith.select %c, %x, %z : f32
  return %y, %n : f32, index
}
"""


def test_run_and_compare_take_values_of_scalars_in_all_formats(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, program = str(_onnx(tmp_path)), tmp_path / "m.mlir"
    program.write_text(_BRANCH)
    out = str(tmp_path / "out.npz")
    assert main(["run", model, "x=1.5", "y=-2", "--save", out]) == 0
    assert read_arrays(out)["z"] == np.float32(3.5)
    assert main(["run", str(program), "c=true", "n=3", "x=1.5", "--save", out]) == 0
    assert [float(v) for v in read_arrays(out).values()] == [1.5, 3.0]
    assert main(["compare", model, "--engines", "reference,numpy", "x=1.5", "y=-2"]) == 0
    assert main(["run", str(program), "c=7", "n=1.5"]) != 0
    output = capsys.readouterr().err
    assert "'c' is i1, which '7' is not a value of" in output
    assert "'n' is index, which '1.5' is not a value of" in output
