"""The choices of users for a conversion to Core ML: systems, precision, sizes, images; and how results are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir
from commonir.api import image_input, run_converted, run_with_onnxruntime
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.dialects import core
from commonir.dialects.mil.description import MultiArray, description_of
from commonir.ir.interface import DimRange
from commonir.ir.module import Module
from commonir.ir.types import boolean, f32, i32, i64, tensor
from commonir.symbolic import symbol

from tests.conversions.programs import core_module
from tests.conversions.running_mil import operations

_N = symbol("n")


def _program() -> Module:
    return core_module(lambda x: core.reshape(core.exp(x), (-1,)), {"x": tensor(f32, _N, 3)})


def test_dimension_may_be_fixed() -> None:
    converted = commonir.convert(_program(), "coreml", dims={"n": 2})
    assert converted.main.inputs[0].type is tensor(f32, 2, 3)
    assert converted.main.outputs[0].type is tensor(f32, 6)


def test_dimension_may_be_bounded() -> None:
    converted = commonir.convert(_program(), "coreml", ranges={"n": (2, 5)})
    description = description_of(converted)
    assert description is not None
    feature = description.interfaces[0].inputs[0].type
    assert feature == MultiArray(f32, (2, 3), (), (DimRange(2, 5), DimRange(3, 3)))


def test_dimension_that_no_input_has_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="no input has a dimension 'm'"):
        commonir.convert(_program(), "coreml", ranges={"m": (1, 2)})


def test_precision_that_is_unknown_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="'float8' is not a precision to compute in"):
        commonir.convert(_program(), "coreml", precision="float8")


def test_conversions_to_half_precision_leave_values_their_names() -> None:
    program = commonir.load("tests/models/resnet_fp32/model.mlpackage")
    converted = commonir.convert(program, "coreml", precision="float16")

    def named(module: Module) -> list[str]:
        return [op.results[0].name for op in module.main.body.operations if op.name in ("mil.conv", "mil.relu")]

    assert named(converted) == named(program)


def test_half_precision_reaches_onnx_too() -> None:
    converted = commonir.convert(core_module(core.exp, {"x": tensor(f32, 2)}), "onnx", precision="float16")
    assert [op.name for op in converted.main.body.operations if op.name != "onnx.return"] == [
        "onnx.Cast",
        "onnx.Exp",
        "onnx.Cast",
    ]


def test_onnx_has_no_place_for_systems_and_images() -> None:
    module = core_module(core.exp, {"x": tensor(f32, 1, 3, 2, 2)})
    with pytest.raises(DiagnosticError, match="no place for a system to run on"):
        commonir.convert(module, "onnx", target="iOS17")
    with pytest.raises(DiagnosticError, match="no place for images"):
        commonir.convert(module, "onnx", images={"x": image_input("rgb")})


def test_mlir_text_has_no_place_for_choices_of_other_formats() -> None:
    model = commonir.convert(_program(), "onnx")
    with pytest.raises(DiagnosticError) as caught:
        commonir.convert(model, "mlir", opset=17, target="iOS17", precision="float16", images={"x": image_input("rgb")})
    assert [d.message for d in caught.value.diagnostics] == [
        f"a program keeps its dialect in 'mlir', which has no place for {what}"
        for what in ("an opset", "a system to run on", "a precision", "images")
    ]


def test_ranges_reach_mlir_text_of_the_core_only() -> None:
    bounded = commonir.convert(_program(), "mlir", ranges={"n": (2, 5)})
    assert bounded.main.input_ports["x"].ranges == (DimRange(2, 5), DimRange(3, 3))
    findings = Diagnostics()
    model = commonir.convert(_program(), "onnx")
    assert commonir.convert(model, "mlir", ranges={"n": (2, 5)}, findings=findings) is model
    assert [(d.code.id, d.message) for d in findings] == [
        ("W0601", "the range of 'n' is not written: 'mlir' has ranges only for programs of the core")
    ]


def test_core_ml_has_no_numbers_of_operation_sets() -> None:
    with pytest.raises(DiagnosticError, match="names its operation sets by systems"):
        commonir.convert(core_module(core.exp, {"x": tensor(f32)}), "coreml", opset=17)


def test_image_that_no_input_is_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="the program has no input or output 'z' to be an image"):
        commonir.convert(core_module(core.exp, {"x": tensor(f32)}), "coreml", images={"z": image_input("rgb")})


def test_core_ml_program_is_converted_again_for_another_system() -> None:
    kind = tensor(f32, 1, 2, 4, 8)
    new = commonir.convert(core_module(core.attention, {"q": kind, "k": kind, "v": kind}), "coreml", target="iOS18")
    assert operations(new) == ["scaled_dot_product_attention"]
    assert operations(commonir.convert(new, "coreml", target="iOS15")) == ["mul", "matmul", "softmax", "matmul"]
    assert commonir.convert(new, "coreml") is new


def test_converted_program_runs_under_the_names_and_types_of_the_source() -> None:
    source = core_module(
        lambda a, b: (core.gather(a, b), core.logical_not(core.equal(b, b))),
        {"a.1": tensor(f32, 3), "b.1": tensor(i64, 2)},
        ["y/0", "y/1"],
    )
    findings = Diagnostics()
    converted = commonir.convert(source, "coreml", findings=findings)
    assert [v.type for v in converted.inputs] == [tensor(f32, 3), tensor(i32, 2)]
    result = run_converted(source, converted, {"a.1": np.array([1, 2, 3], np.float32), "b.1": np.array([-1, 0])})
    np.testing.assert_array_equal(result["y/0"], [3, 1])
    assert result["y/1"].dtype == bool
    assert source.outputs[1].type is tensor(boolean, 2)
    assert {d.code.id for d in findings} == {"N0601"}


def test_an_input_that_is_returned_is_renamed_in_onnx_and_compared(tmp_path: Path) -> None:
    text = """
ml_program.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %y = core.neg %x : tensor<2xf32>
  ml_program.return %x, %y : tensor<2xf32>, tensor<2xf32>
}
"""
    program, diagnostics = commonir.loads(text, format="mlir"), Diagnostics()
    converted = commonir.convert(program, "onnx", findings=diagnostics)
    assert [v.name for v in converted.outputs] == ["x_2", "y"]
    assert [d.message for d in diagnostics] == ["the output 'x' is called 'x_2': an input has its name"]
    commonir.save(converted, tmp_path / "m.onnx")
    inputs = {"x": np.array([1, 2], np.float32)}
    expected = commonir.run(program, inputs)
    outputs = run_with_onnxruntime(tmp_path / "m.onnx", inputs, source=program)
    assert {name: y.tolist() for name, y in outputs.items()} == {name: y.tolist() for name, y in expected.items()}


@pytest.mark.parametrize(
    ("to", "options", "messages"),
    [
        ("ark", {"labels": ["a", "b"]}, ["labels"]),
        ("ark", {"target": "iOS17", "docs": {"x": "In"}}, ["a system to run on", "descriptions of inputs and outputs"]),
        ("common_ir", {"states": {"x": "y"}}, ["states"]),
        ("common_ir", {"labels": ["a", "b"]}, ["labels"]),
        ("linalg", {"opset": 17, "target": "iOS17", "images": {}}, ["an opset", "a system to run on"]),
        ("tosa", {"images": {"x": image_input("rgb")}}, ["images"]),
        ("stablehlo", {"opset": 3}, ["an opset"]),
    ],
)
def test_options_that_a_format_has_no_place_for_are_refused(
    to: str, options: dict[str, Any], messages: list[str]
) -> None:
    with pytest.raises(DiagnosticError) as caught:
        commonir.convert(core_module(core.exp, {"x": tensor(f32, 2)}), to, **options)
    found = [(d.code.id, d.message.removeprefix(f"'{to}' has no place for ")) for d in caught.value.diagnostics]
    assert found == [("E0601", message) for message in messages]
