"""Programs of linalg and tosa as ONNX and Core ML, opened and run by the tools of those formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.api import run_converted
from commonir.base.diagnostics import Diagnostics

from tests.conversions.running_mlir import check_with_mlir_opt
from tests.oracles import oracle

Array = np.ndarray[Any, Any]

SOFTMAX = """
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @softmax(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?x5xf32>
  %rows = tensor.empty(%n) : tensor<?xf32>
  %whole = tensor.empty(%n) : tensor<?x5xf32>
  %start = linalg.fill ins(%least : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x5xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %powers = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %most : tensor<?x5xf32>, tensor<?xf32>) outs(%whole : tensor<?x5xf32>) {
  ^bb0(%in: f32, %top: f32, %out: f32):
    %0 = arith.subf %in, %top : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x5xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%powers : tensor<?x5xf32>) outs(%none : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %shares = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%powers, %sum : tensor<?x5xf32>, tensor<?xf32>) outs(%whole : tensor<?x5xf32>) {
  ^bb0(%in: f32, %all: f32, %out: f32):
    %0 = arith.divf %in, %all : f32
    linalg.yield %0 : f32
  } -> tensor<?x5xf32>
  return %shares : tensor<?x5xf32>
}
"""

NETWORK = """
func.func @main(%image: tensor<1x6x6x2xf32>) -> tensor<1x3x3x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %weight = "tosa.const"() <{values = dense<0.25> : tensor<4x3x3x2xf32>}> : () -> tensor<4x3x3x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.0, 1.0, -1.0, 2.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %0 = "tosa.conv2d"(%image, %weight, %bias, %zero, %zero) <{acc_type = f32, dilation = array<i64: 1, 1>,
    pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}>
    : (tensor<1x6x6x2xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x4xf32>
  %1 = "tosa.clamp"(%0) <{min_val = 0.0 : f32, max_val = 6.0 : f32}> : (tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %2 = "tosa.max_pool2d"(%1) <{kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}>
    : (tensor<1x6x6x4xf32>) -> tensor<1x3x3x4xf32>
  return %2 : tensor<1x3x3x4xf32>
}
"""


@pytest.fixture
def network(tmp_path: Path) -> Path:
    check_with_mlir_opt(NETWORK)
    path = tmp_path / "network.mlir"
    path.write_text(NETWORK)
    return path


def _expected(image: Array) -> Array:
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    sums = np.stack([padded[0, i : i + 3, j : j + 3].sum() for i in range(6) for j in range(6)]).reshape(6, 6, 1)
    y = np.clip(0.25 * sums + np.array([0.0, 1.0, -1.0, 2.0]), 0, 6)
    return y.reshape(3, 2, 3, 2, 4).max((1, 3))[None].astype(np.float32)


def _image() -> Array:
    return np.random.default_rng(0).standard_normal((1, 6, 6, 2)).astype(np.float32)


def test_softmax_of_linalg_gives_in_onnxruntime_what_numpy_gives(tmp_path: Path) -> None:
    check_with_mlir_opt(SOFTMAX)
    source, path = tmp_path / "softmax.mlir", tmp_path / "softmax.onnx"
    source.write_text(SOFTMAX)
    cir.save(cir.convert(cir.load(source), "onnx"), path)
    session = oracle("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    for n in (1, 4):
        x = np.random.default_rng(n).standard_normal((n, 5)).astype(np.float32)
        powers = np.exp(x - x.max(-1, keepdims=True))
        (result,) = session.run(None, {session.get_inputs()[0].name: x})
        np.testing.assert_allclose(result, powers / powers.sum(-1, keepdims=True), rtol=1e-5)


def test_network_of_tosa_gives_in_onnxruntime_what_numpy_gives(network: Path, tmp_path: Path) -> None:
    path = tmp_path / "network.onnx"
    cir.save(cir.convert(cir.load(network), "onnx"), path)
    session = oracle("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    image = _image()
    (result,) = session.run(None, {session.get_inputs()[0].name: image})
    np.testing.assert_allclose(np.asarray(result, np.float32), _expected(image), rtol=1e-5, atol=1e-5)


def test_network_of_tosa_is_a_package_that_coremltools_opens(network: Path, tmp_path: Path) -> None:
    tools = oracle("coremltools")
    path = tmp_path / "network.mlpackage"
    cir.save(cir.convert(cir.load(network), "coreml"), path)
    model = tools.models.MLModel(str(path), skip_model_load=True)
    description = model.get_spec().description
    assert [list(i.type.multiArrayType.shape) for i in description.input] == [[1, 6, 6, 2]]
    image = _image()
    (result,) = cir.run(cir.load(path), {description.input[0].name: image}).values()
    np.testing.assert_allclose(np.asarray(result, np.float32), _expected(image), rtol=1e-5, atol=1e-5)


def test_what_was_converted_to_linalg_comes_back(tmp_path: Path) -> None:
    """A round trip: ONNX to linalg, and from its text back to ONNX."""
    source, text, path = tmp_path / "softmax.mlir", tmp_path / "again.mlir", tmp_path / "again.onnx"
    source.write_text(SOFTMAX)
    cir.save(cir.convert(cir.convert(cir.load(source), "onnx"), "linalg"), text)
    cir.save(cir.convert(cir.load(text), "onnx"), path)
    session = oracle("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(5).standard_normal((3, 5)).astype(np.float32)
    powers = np.exp(x - x.max(-1, keepdims=True))
    (result,) = session.run(None, {session.get_inputs()[0].name: x})
    np.testing.assert_allclose(result, powers / powers.sum(-1, keepdims=True), rtol=1e-5)


GROWING = """
func.func @main(%x: tensor<?xf32>, %n: i32) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5.0 : f32
  %r:4 = scf.while (%i = %i0, %a = %x, %b = %x, %c = %x) : (i32, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
      -> (i32, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
    %again = arith.cmpi slt, %i, %n : i32
    %ii = arith.index_cast %i : i32 to index
    %k = arith.addi %ii, %c1 : index
    %e = tensor.empty(%k) : tensor<?xf32>
    %f = linalg.fill ins(%five : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.condition(%again) %i, %a, %f, %c : i32, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<?xf32>, %f: tensor<?xf32>, %c: tensor<?xf32>):
    %d = tensor.dim %c, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    %g = linalg.fill ins(%five : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %sum = linalg.add ins(%c, %g : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %cat = tensor.concat dim(0) %a, %f : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %i2 = arith.addi %i, %one : i32
    scf.yield %i2, %cat, %f, %sum : i32, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  }
  return %r#1, %r#2, %r#3 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
"""


KEEPING = """
func.func @main(%x: tensor<?x6xf32>, %w: tensor<6x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = arith.constant 3 : i32
  %r:2 = scf.while (%i = %first, %a = %x) : (i32, tensor<?x6xf32>) -> (i32, tensor<?x6xf32>) {
    %again = arith.cmpi slt, %i, %n : i32
    scf.condition(%again) %i, %a : i32, tensor<?x6xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<?x6xf32>):
    %d = tensor.dim %a, %c0 : tensor<?x6xf32>
    %e = tensor.empty(%d) : tensor<?x6xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
    %m = linalg.matmul ins(%a, %w : tensor<?x6xf32>, tensor<6x6xf32>) outs(%f : tensor<?x6xf32>) -> tensor<?x6xf32>
    %i2 = arith.addi %i, %one : i32
    scf.yield %i2, %m : i32, tensor<?x6xf32>
  }
  return %r#1 : tensor<?x6xf32>
}
"""


def test_size_that_all_rounds_of_a_loop_keep_is_that_of_what_it_begins_with(tmp_path: Path) -> None:
    check_with_mlir_opt(KEEPING)
    path = tmp_path / "keeping.onnx"
    program = cir.loads(KEEPING, format="mlir")
    lowered = next(iter(cir.lower(program).functions.values()))
    assert str(lowered.outputs[0].type) == 'tensor<"x_0"x6xf32>'
    cir.save(cir.convert(program, "onnx"), path)
    session = oracle("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    inputs = {"x": rng.standard_normal((4, 6), np.float32), "w": rng.standard_normal((6, 6), np.float32)}
    for actual in (*cir.run(program, inputs).values(), *session.run(None, inputs)):
        np.testing.assert_allclose(
            np.asarray(actual, np.float32), inputs["x"] @ inputs["w"] @ inputs["w"] @ inputs["w"], rtol=1e-4, atol=1e-5
        )


def test_loop_with_sizes_that_grow_that_stay_and_that_its_condition_makes(tmp_path: Path) -> None:
    check_with_mlir_opt(GROWING)
    path = tmp_path / "growing.onnx"
    program = cir.loads(GROWING, format="mlir")
    cir.save(cir.convert(program, "onnx"), path)
    session = oracle("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    x = np.array([1.0, 2.0], np.float32)
    for n in (0, 1, 3):
        inputs = {"x": x, "n": np.array(n, np.int32)}
        expected_value = [np.r_[x, [5.0] * (n * (n + 1) // 2)], [5.0] * (n + 1), x + 5 * n]
        for actual in (cir.run(program, inputs).values(), session.run(None, inputs)):
            for value, expected in zip(actual, expected_value, strict=True):
                np.testing.assert_array_equal(np.asarray(value), np.array(expected, np.float32))


@pytest.mark.parametrize(("operation", "size"), [("divui", "floor(x_0 / 2)"), ("remui", "(x_0 mod 2)")])
def test_sizes_that_are_computed_without_signs_are_known(operation: str, size: str) -> None:
    text = f"""func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %d = tensor.dim %x, %c0 : tensor<?xf32>
      %n = arith.{operation} %d, %c2 : index
      %e = tensor.extract_slice %x[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
      return %e : tensor<?xf32>
    }}"""
    check_with_mlir_opt(text)
    lowered = next(iter(cir.lower(cir.loads(text, format="mlir")).functions.values()))
    assert str(lowered.outputs[0].type) == f'tensor<"{size}"xf32>'


def test_memory_has_no_meaning_here_and_is_refused_by_name() -> None:
    text = """func.func @f(%x: memref<2x3xf32>) {
      linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
          outs(%x : memref<2x3xf32>) {
      ^bb0(%old: f32):
        linalg.yield %old : f32
      }
      return
    }"""
    check_with_mlir_opt(text)
    with pytest.raises(cir.DiagnosticError, match=r"linalg\.generic: expected a tensor, found memref<2x3xf32>"):
        cir.lower(cir.loads(text, format="mlir"))


STATEFUL = """
ml_program.global private mutable @s(dense<1.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %old = ml_program.global_load @s : tensor<2xf32>
  %new = arith.addf %old, %x : tensor<2xf32>
  ml_program.global_store @s = %new : tensor<2xf32>
  ml_program.return %old : tensor<2xf32>
}
"""


@pytest.mark.parametrize(
    ("format", "reported"),
    [
        ("onnx", ("N0601", "give its initial value, which is not zero, first, then the output of the run before")),
        ("common_ir", ("N0601", "give its initial value, which is not zero, first, then the output of the run before")),
        ("coreml", ("W0601", "write the value to the state before the first prediction")),
    ],
)
def test_an_initial_value_of_a_state_that_a_format_cannot_hold_is_reported(
    format: str, reported: tuple[str, str]
) -> None:
    lost = Diagnostics()
    cir.convert(cir.loads(STATEFUL, format="mlir"), format, findings=lost)
    assert reported in [(d.code.id, d.help) for d in lost]
    lost = Diagnostics()
    cir.convert(cir.loads(STATEFUL.replace("dense<1.0>", "dense<0.0>"), format="mlir"), format, findings=lost)
    assert "W0601" not in [d.code.id for d in lost]
    assert all("initial value" not in (d.help or "") for d in lost)


def test_a_converted_program_runs_from_the_initial_values_of_the_original() -> None:
    source = cir.loads(STATEFUL, format="mlir")
    converted = cir.convert(source, "coreml")
    state = cir.State()
    inputs = {"x": np.array([1, 2], np.float32)}
    for expected in ([1, 1], [2, 3]):
        assert run_converted(source, converted, inputs, state=state)["old"].tolist() == expected
    assert (state["s"].dtype, state["s"].tolist()) == (np.float32, [3, 5])


BRANCH = """
ml_program.global private mutable @best(0.0 : f32) : f32
ml_program.func @main(%x: f32) -> f32 {
  %old = ml_program.global_load @best : f32
  %greater = arith.cmpf ogt, %x, %old : f32
  scf.if %greater {
    ml_program.global_store @best = %x : f32
  }
  %new = ml_program.global_load @best : f32
  ml_program.return %new : f32
}
"""


@pytest.mark.parametrize("format", ["common_ir", "linalg", "mil", "onnx", "stablehlo"])
def test_a_branch_that_only_stores_to_a_state_is_converted(format: str) -> None:
    source = cir.loads(BRANCH, format="mlir")
    converted = cir.convert(source, format)
    state = cir.State()
    has_state = format in ("linalg", "mil", "stablehlo")
    best: Array = np.array(0, np.float32)
    for value, expected in ((3, 3), (2, 3), (4, 4)):
        inputs = {"x": np.array(value, np.float32)}
        if has_state:
            result = run_converted(source, converted, inputs, state=state)["new"]
        else:
            outputs = cir.run(converted, {**inputs, "best": best})
            result, best = outputs["new"], outputs["best_out"]
        assert result.tolist() == expected
