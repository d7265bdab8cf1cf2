"""Annotations of Shardy: kept as they are written, and without effect in a run."""

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir

PROGRAM = """\
module {
  sdy.mesh @mesh = <["a"=2, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}]}}
  sdy.mesh @empty = <[]>
  func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x4xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"a", ?}, {}]> : tensor<8x4xf32>
    %1 = sdy.reshard %0 <@mesh, [{}, {"b"}p1], replicated={"a"}> : tensor<8x4xf32>
    %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD : tensor<8x4xf32>
    sdy.sharding_group %2 group_id=21 : tensor<8x4xf32>
    %3 = stablehlo.add %2, %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"b"}]>]>} : tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
}
"""


def test_text_is_kept() -> None:
    program = cir.loads(PROGRAM, format="mlir")
    assert cir.verify(program) == []
    assert cir.dumps(program, format="mlir").decode().strip() == PROGRAM.strip()


@pytest.mark.parametrize("engine", ["reference", "numpy"])
def test_annotations_return_their_operand(engine: str) -> None:
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    (y,) = cir.run(cir.loads(PROGRAM, format="mlir"), {"arg0": x}, engine=engine).values()
    np.testing.assert_array_equal(y, x + x)


def test_annotations_are_left_out_of_other_formats() -> None:
    model = cir.convert(cir.loads(PROGRAM, format="mlir"), "onnx")
    assert [op.name for op in model.main.body.operations] == ["onnx.Add", "onnx.return"]


def test_an_attribute_without_a_sharding_is_refused() -> None:
    text = PROGRAM.replace('%arg0 <@mesh, [{"a", ?}, {}]>', "%arg0 7 : i64")
    with pytest.raises(cir.DiagnosticError, match="sharding"):
        cir.loads(text, format="mlir")
