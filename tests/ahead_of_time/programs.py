"""Programs that tests compile ahead of time, as MLIR text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import commonir as cir
from commonir.ir.module import Module
from commonir.native.engine import ENGINE


def engine_outputs(module: Module, inputs: Mapping[str, Any], state: cir.State | None = None) -> dict[str, Any]:
    """Returns the outputs of the native engine, with compiled code in the first run too."""
    executable = ENGINE.prepare(cir.lower(module))
    if state is not None:
        executable.state = state
    return executable.run(inputs)


DECODE = """\
ml_program.global private mutable @keys(dense<0.0> : tensor<6x4xf16>) : tensor<6x4xf16>
ml_program.global private mutable @values(dense<0.0> : tensor<6x4xf32>) : tensor<6x4xf32>
ml_program.func @main(%x: tensor<1x4xf32>, %at: tensor<6x1xf32>) -> tensor<1x4xf32> {
  %one = "core.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %free = core.sub %one, %at : (tensor<f32>, tensor<6x1xf32>) -> tensor<6x1xf32>
  %put = core.mul %at, %x : (tensor<6x1xf32>, tensor<1x4xf32>) -> tensor<6x4xf32>
  %k16 = ml_program.global_load @keys : tensor<6x4xf16>
  %k = core.cast %k16 {to = f32} : (tensor<6x4xf16>) -> tensor<6x4xf32>
  %kept = core.mul %k, %free : (tensor<6x4xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
  %keys = core.add %kept, %put : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %keys16 = core.cast %keys {to = f16} : (tensor<6x4xf32>) -> tensor<6x4xf16>
  ml_program.global_store @keys = %keys16 : tensor<6x4xf16>
  %v = ml_program.global_load @values : tensor<6x4xf32>
  %vkept = core.mul %v, %free : (tensor<6x4xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
  %values = core.add %vkept, %put : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  ml_program.global_store @values = %values : tensor<6x4xf32>
  %turned = core.transpose %keys {perm = [1, 0]} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %scores = core.matmul %x, %turned : (tensor<1x4xf32>, tensor<4x6xf32>) -> tensor<1x6xf32>
  %weights = core.softmax %scores {axis = 1} : (tensor<1x6xf32>) -> tensor<1x6xf32>
  %y = core.matmul %weights, %values : (tensor<1x6xf32>, tensor<6x4xf32>) -> tensor<1x4xf32>
  ml_program.return %y : tensor<1x4xf32>
}
"""
"""A step of attention with a cache of keys in half precision, and one of values."""

SWAP = """\
ml_program.global private mutable @first(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @second(dense<[3.0, 4.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.func @swap() -> tensor<2xf32> {
  %a = ml_program.global_load @first : tensor<2xf32>
  %b = ml_program.global_load @second : tensor<2xf32>
  ml_program.global_store @first = %b : tensor<2xf32>
  ml_program.global_store @second = %a : tensor<2xf32>
  ml_program.return %a : tensor<2xf32>
}
ml_program.func @sum(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = ml_program.global_load @first : tensor<2xf32>
  %y = core.add %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  ml_program.return %y : tensor<2xf32>
}
"""
"""Two functions with common states."""

COUNTED_LOOKUP = """\
ml_program.global private mutable @count(dense<0> : tensor<i32>) : tensor<i32>
ml_program.func @main(%table: tensor<3x2xf32>, %rows: tensor<4xi64>) -> tensor<4x2xf32> {
  %n = ml_program.global_load @count : tensor<i32>
  %one = "core.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %next = core.add %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
  ml_program.global_store @count = %next : tensor<i32>
  %y = core.gather %table, %rows {axis = 0} : (tensor<3x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  ml_program.return %y : tensor<4x2xf32>
}
"""
"""A look-up by positions from data, and a state that counts calls."""
