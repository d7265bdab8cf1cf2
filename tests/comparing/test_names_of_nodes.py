"""Inner values without names are compared by the names of their nodes."""

from __future__ import annotations

import commonir as cir

PROGRAM = """
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = tosa.abs %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/abs")
  %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/exp")
  %2 = tosa.{first} %1 : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/last")
  %3 = tosa.tanh %2 : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/twice")
  %4 = tosa.tanh %3 : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/twice")
  return %4 : tensor<4xf32>
}}
"""


def test_values_of_jax_are_compared_by_their_locations() -> None:
    first, second = [cir.loads(PROGRAM.format(first=op), format="mlir") for op in ("floor", "ceil")]
    found = cir.compare(first, second)
    # Two nodes are called `jit(f)/twice`, and which is which is not known.
    assert [v.name for v in found.values if v.is_within] == ["jit(f)/abs", "jit(f)/exp"]
    assert [v.name for v in found.values if not v.is_within] == ["jit(f)/last", "result0"]
    assert found.first_divergence is not None
    assert found.first_divergence.difference.name == "jit(f)/last"
    assert not any(r.name for p in (first, second) for op in p.main.body.operations for r in op.results)
