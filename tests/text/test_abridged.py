"""Abridged texts show what a program does, as coremltools prints it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import commonir as cir

from tests.oracles import oracle

MODELS = Path(__file__).parents[1] / "models"

TEXT = """
onnx.graph @g attributes {opset_import = {"" = 18 : i64}} {
^g(%x: tensor<2x6xf32>):
  %shape = onnx.initializer {value = dense<[3, 4]> : tensor<2xi64>} : tensor<2xi64>
  %w = onnx.initializer {value = dense<1.0> : tensor<4x4xf32>, onnx.storage = "raw"} : tensor<4x4xf32>
  %half = onnx.Constant {value_float = 0.5} : tensor<f32>
  %"/r" = onnx.Reshape %x, %shape : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<3x4xf32> loc("/Reshape")
  %m = onnx.MatMul %"/r", %w : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32> loc("m")
  %y = onnx.Mul %m, %half : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  onnx.return %y : (tensor<3x4xf32>) -> ()
}
""".replace('%"/r"', "%r")


def test_constants_stand_where_they_are_used() -> None:
    program = cir.loads(TEXT, format="mlir")
    assert (
        cir.show(program)
        == """\
module {
  onnx.graph @g attributes {opset_import = {"" = 18 : i64}} {
  ^g(%x: tensor<2x6xf32>):
    // 1 constant of 64 B
    %r = onnx.Reshape %x, [3, 4] : (tensor<2x6xf32>) -> tensor<3x4xf32> loc("/Reshape")
    %m = onnx.MatMul %r, %w : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
    %y = onnx.Mul %m, 0.5 : tensor<3x4xf32>
    onnx.return %y : (tensor<3x4xf32>) -> ()
  }
}
"""
    )


def test_a_constant_that_was_asked_for_is_shown_with_its_users() -> None:
    program = cir.loads(TEXT, format="mlir")
    assert cir.show(program, node="shape").splitlines() == [
        "%shape = onnx.initializer {value = dense<[3, 4]> : tensor<2xi64>} : tensor<2xi64>",
        '%r = onnx.Reshape %x, %shape : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<3x4xf32> loc("/Reshape")',
    ]


def test_the_neighbourhood_is_that_of_uses_not_of_lines() -> None:
    program = cir.loads(TEXT, format="mlir")
    shown = lambda **options: [line.split(" ")[0] for line in cir.show(program, **options).splitlines()]  # noqa: E731
    assert shown(node="m", around=0) == ["%m"]
    assert shown(node="m") == ["%r", "%m", "%y"]
    assert shown(node="%y") == ["%m", "%y", "onnx.return"]
    assert shown(node="m", complete=True) == ["%w", "%r", "%m", "%y"]


def test_a_neighbour_with_regions_is_not_shown_whole() -> None:
    program = cir.loads(
        """
        func.func @main(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
          %0 = tosa.abs %a : (tensor<4xf32>) -> tensor<4xf32> loc("first")
          %1 = scf.if %c -> tensor<4xf32> {
            %2 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
            scf.yield %2 : tensor<4xf32>
          } else {
            scf.yield %a : tensor<4xf32>
          }
          %3 = tosa.log %1 : (tensor<4xf32>) -> tensor<4xf32> loc("last")
          return %3 : tensor<4xf32>
        }
        """,
        format="mlir",
    )
    assert (
        cir.show(program, node="last")
        == """\
%1 = scf.if %arg1 -> (tensor<4xf32>) {
  // 2 operations
} else {
  // 1 operation
}
%2 = tosa.log %1 : (tensor<4xf32>) -> tensor<4xf32> loc("last")
return %2 : tensor<4xf32>

"""
    )
    assert "tosa.exp" in cir.show(program, node="first")


@pytest.mark.slow  # loads coremltools
@pytest.mark.parametrize("name", ["pixel_shuffle_fp16", "llama_stateful_fp16", "bert_fp16"])
def test_literals_are_those_that_coremltools_prints(name: str) -> None:
    oracle("coremltools")
    import coremltools  # noqa: PLC0415
    from coremltools.converters.mil.frontend.milproto import load  # noqa: PLC0415

    package = MODELS / name / "model.mlpackage"
    spec = coremltools.utils.load_spec(str(package))
    weights = str(package / "Data" / "com.apple.CoreML" / "weights")
    version = spec.specificationVersion  # pyright: ignore[reportAttributeAccessIssue]  # a message
    theirs = str(load.load(spec, specification_version=version, file_weights_dir=weights))
    ours = cir.show(cir.load(package))
    expected = re.findall(r"\b(axes|pad|strides|perm|keep_dims|groups|axis)=(\[[-\d, ]*\]|-?\d+|True|False)", theirs)
    found = re.findall(r"\b(axes|pad|strides|perm|keep_dims|groups|axis)\((\[[-\d, ]*\]|-?\d+|true|false)\)", ours)
    assert expected
    assert sorted(found) == sorted((key, text.lower()) for key, text in expected)
