"""Every pass on a program of every format: the format can write the result, which computes the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.cli.main import main
from commonir.ir.module import Module
from commonir.passes.definition import Passes

from tests.oracles import oracle

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# Two outputs that are computed twice, shapes that types say, and branches that return what the graph computes too.
NETWORK = """<ir_version: 8, opset_import: ["" : 18]>
network (float[2,3] x, bool q) => (int64[2] a, int64[2] b, float[2,3] c, float[2,3] d, float[6] e, int64[2] r)
<float[6] weight = {0.5, 1, 1.5, 2, 2.5, 3}> {
  a = Shape(x)
  b = Shape(x)
  c = Add(x, x)
  d = Add(x, x)
  size = ReduceProd<keepdims = 1>(a)
  flat = Reshape(x, size)
  e = Mul(flat, weight)
  r = If (q) <
    then_branch = then () => (int64[2] yes) { yes = Shape(x) },
    else_branch = otherwise () => (int64[2] no) { t = Shape(x)  no = Add(t, t) }
  >
}
"""
# ARK has neither branches nor outputs that are constant.
WITHOUT_BRANCHES = """<ir_version: 8, opset_import: ["" : 18]>
network (float[2,3] x) => (float[2,3] c, float[2,3] d, float[6] e) <float[6] weight = {0.5, 1, 1.5, 2, 2.5, 3}> {
  c = Add(x, x)
  d = Add(x, x)
  shape = Shape(x)
  size = ReduceProd<keepdims = 1>(shape)
  flat = Reshape(x, size)
  e = Mul(flat, weight)
}
"""
WITH_A_FUNCTION = """<ir_version: 8, opset_import: ["" : 18, "local" : 1]>
network (float[2] x) => (float[2] a, float[2] b, int64[1] s) { a, b, s = local.two(x) }
<domain: "local", opset_import: ["" : 18]>
two (u) => (c, d, e) {
  c = Add(u, u)
  d = Add(u, u)
  e = Shape(u)
}
"""
COMPRESSED_WEIGHT = """
mil.func @main attributes {opset = "CoreML8"} {
^CoreML8(%x: tensor<2x2xf32>):
  %values = mil.literal {val = dense<[1.5, -2.0]> : tensor<2xf32>} : tensor<2xf32>
  %mask = mil.literal {val = dense<[[1, 0], [0, 1]]> : tensor<2x2xui1>} : tensor<2x2xui1>
  %weight = mil.constexpr_sparse_to_dense %values, %mask : (tensor<2xf32>, tensor<2x2xui1>) -> tensor<2x2xf32>
  %y = mil.mul %x, %weight : tensor<2x2xf32>
  mil.return %y {names = ["y"]} : tensor<2x2xf32>
}
"""
# What `lower` returns is a core program, which only MLIR text holds.
PASSES = [p.name for p in Passes().own() if p.name != "lower"]
SUFFIXES = {"onnx": "onnx", "common_ir": "cir.json", "coreml": "mlpackage", "ark": "ark.json", "mlir": "mlir"}


@cache
def program(target: str) -> Module:
    """Returns the network in a format or dialect."""
    network = cir.loads(WITHOUT_BRANCHES if target == "ark" else NETWORK, format="onnxtxt")
    return network if target == "onnx" else cir.convert(network, target)


def check_written(before: Module, after: Module, path: Path) -> None:
    """Saves a program, and compares what the file holds with the program before."""
    cir.save(after, path)
    written, diagnostics = cir.check(path)
    assert [str(d) for d in diagnostics] == []
    assert written is not None
    if "ark.json" not in path.name:  # `compress` removes names, and says so
        assert written.main.output_names == before.main.output_names
    inputs = cir.random_inputs(before)
    results = cir.run(written, {v.name: array for v, array in zip(written.inputs, inputs.values(), strict=True)})
    for expected, result in zip(cir.run(before, inputs).values(), results.values(), strict=True):
        assert np.allclose(np.asarray(result, np.float64), np.asarray(expected, np.float64), rtol=1e-5, atol=1e-5)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("target", ["onnx", "common_ir", "coreml", "ark", "linalg", "stablehlo", "tosa"])
@pytest.mark.parametrize("name", PASSES)
def test_pass_returns_a_program_of_the_format(tmp_path: Path, name: str, target: str) -> None:
    before = program(target)
    path = tmp_path / f"m.{SUFFIXES.get(target, 'mlir')}"
    check_written(before, cir.optimize(before, passes=[name]), path)


@pytest.mark.parametrize("text", [NETWORK, WITH_A_FUNCTION], ids=["network", "function"])
@pytest.mark.parametrize("name", PASSES)
def test_onnxruntime_runs_what_a_pass_returns(tmp_path: Path, name: str, text: str) -> None:
    ort = oracle("onnxruntime")
    before, path = cir.loads(text, format="onnxtxt"), tmp_path / "m.onnx"
    cir.save(cir.optimize(before, passes=[name]), path)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert tuple([o.name for o in session.get_outputs()]) == before.main.output_names
    inputs = cir.random_inputs(before)
    for result, expected in zip(session.run(None, inputs), cir.run(before, inputs).values(), strict=True):
        assert np.asarray(result).tolist() == expected.tolist()


@pytest.mark.parametrize("name", PASSES)
def test_pass_leaves_a_compressed_weight(tmp_path: Path, name: str) -> None:
    before = cir.loads(COMPRESSED_WEIGHT, format="mlir")
    after = cir.optimize(before, passes=[name])
    check_written(before, after, tmp_path / "m.mlpackage")
    assert any(op.name == "mil.constexpr_sparse_to_dense" for op in after.walk())


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize(
    "example",
    [
        "transformer.onnx",
        "mobilenet.mlpackage",
        *(f"common_ir/{n}.cir.json" for n in ("core_operations", "functions", "nested_graphs", "weights")),
        "rewriting/network.mlir",
    ],
)
def test_opt_writes_an_example_that_computes_the_same(tmp_path: Path, example: str, name: str) -> None:
    out = tmp_path / f"m.{Path(example).name.partition('.')[2]}"
    assert main(["opt", str(EXAMPLES / example), "--passes", name, "-o", str(out)]) == 0
    assert main(["check", str(out)]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("target", ["ark", "common_ir", "coreml", "linalg", "stablehlo", "tosa"])
def test_opt_writes_a_conversion_that_computes_the_same(tmp_path: Path, target: str, name: str) -> None:
    suffix = SUFFIXES.get(target, "mlir")
    converted, out = tmp_path / f"converted.{suffix}", tmp_path / f"m.{suffix}"
    cir.save(cir.convert(cir.load(EXAMPLES / "transformer.onnx"), target), converted)
    assert main(["opt", str(converted), "--passes", name, "-o", str(out)]) == 0
    assert main(["check", str(out)]) == 0
