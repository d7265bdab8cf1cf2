"""A private function runs when it is named, also where others call it."""

from __future__ import annotations

import commonir as cir

PROGRAM = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @helper(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = arith.negf %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @helper(%y: tensor<2xf32>) -> tensor<2xf32> {
  %s = arith.addf %y, %y : tensor<2xf32>
  return %s : tensor<2xf32>
}
"""


def test_private_functions_run_and_compare_by_name() -> None:
    program = cir.loads(PROGRAM, format="mlir")
    assert cir.run(program, {"x": [1.0, 2.0]})["result0"].tolist() == [-2.0, -4.0]
    assert cir.run(program, {"y": [1.0, 2.0]}, function="helper")["s"].tolist() == [2.0, 4.0]
    assert cir.compare(program, program, function="helper").is_within
    # Without it, what calls it has its operations.
    assert list(cir.lower(program).functions) == ["main"]
    assert list(cir.lower(program, function="helper").functions) == ["main", "helper"]
