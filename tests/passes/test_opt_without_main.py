"""`cir opt` on programs of several functions of which none is the entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir.cli.main import main

TWO_FUNCTIONS = """func.func @f(%a: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %a, %0 : i32
  return %1 : i32
}
func.func @g(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.abs %a : (tensor<2xf32>) -> tensor<2xf32>
  %1 = tosa.abs %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""
WRONG = """def Abs : Op<"tosa.abs">, Arguments<(ins AnyTensor:$input1)>;
def Wrong : Pat<(Abs $x), (replaceWithValue $x)>;
"""


def test_each_function_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out, rules = tmp_path / "two.mlir", tmp_path / "out.mlir", tmp_path / "rules.td"
    model.write_text(TWO_FUNCTIONS)
    rules.write_text(WRONG)
    assert main(["opt", str(model), "--passes", "canonicalize", "-o", str(out)]) == 0
    assert "addi" not in out.read_text()
    before = out.read_text()
    assert main(["opt", str(model), "--rules", str(rules), "-o", str(out)]) == 1
    assert "of 'g' differs" in capsys.readouterr().err
    assert out.read_text() == before
