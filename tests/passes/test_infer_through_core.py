"""Dims of MLIR programs where operations declare `?`. The expected dims follow from the operations by hand."""

from __future__ import annotations

import pytest

import commonir as cir

CALLED_ONCE = """
func.func public @main(%x: tensor<?x4xf32>, %w: tensor<4x?xf32>) -> tensor<?x?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %r = call @inner(%n, %x, %w) : (tensor<i32>, tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func private @inner(%n: tensor<i32>, %x: tensor<?x4xf32>, %w: tensor<4x?xf32>) -> tensor<?x?xf32> {
  %product = stablehlo.dot %x, %w : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  %y = stablehlo.tanh %product : tensor<?x?xf32>
  %both = stablehlo.concatenate %y, %y, dim = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %one = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %i = stablehlo.dynamic_iota %one, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %y : tensor<?x?xf32>
}
"""
CALLED_TWICE = """
func.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = call @double(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %b = call @double(%y) : (tensor<?xf32>) -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}
func.func private @double(%v: tensor<?xf32>) -> tensor<?xf32> {
  %both = stablehlo.concatenate %v, %v, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %both : tensor<?xf32>
}
"""
FOREIGN = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %e = stablehlo.exponential %x : tensor<?xf32>
  %f = stablehlo.custom_call @foreign(%e) : (tensor<?xf32>) -> tensor<?xf32>
  %g = stablehlo.add %f, %f : tensor<?xf32>
  return %g : tensor<?xf32>
}
"""
LINALG = """
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x8xf32>
  %empty = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.exp ins(%x : tensor<?x8xf32>) outs(%empty : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            CALLED_ONCE,
            {
                "r": '"x_0"x"w_1"xf32',
                "product": '"x_0"x"w_1"xf32',
                "y": '"x_0"x"w_1"xf32',
                "both": '"2*x_0"x"w_1"xf32',
                "i": '"x_0"xi32',
            },
        ),
        (CALLED_TWICE, {"a": '"2*x_0"xf32', "b": '"2*y_0"xf32', "v": '"v_0"xf32', "both": '"2*v_0"xf32'}),
        (FOREIGN, {"e": '"x_0"xf32', "f": '"f_0 where f_0 >= 0"xf32'}),
        (LINALG, {"empty": '"x_0"x8xf32', "y": '"x_0"x8xf32'}),
    ],
)
def test_unknown_dims_follow_from_the_meaning_of_operations(text: str, expected: dict[str, str]) -> None:
    types = {entry.name: entry.type for entry in cir.shapes(cir.loads(text, format="mlir"))}
    assert {name: types[name] for name in expected} == {name: f"tensor<{dims}>" for name, dims in expected.items()}
