"""Results of the tensor dialect, against LLVM's own lowering, or written out where it has none."""

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir
from commonir.dialects.mlir.tensor import DIALECT

from tests.dialects.mlir.tensor.tensor_programs import cases
from tests.dialects.programs import assert_as_compiled, run

ELSEWHERE = {"tensor.bitcast", "tensor.gather", "tensor.scatter", "tensor.yield", "tensor.parallel_insert_slice"}
"""Operations run by tests of this file, inside of another one, or by those of control flow."""


@pytest.mark.slow_cases("all")
@pytest.mark.parametrize("step", [4, 1], ids=["some", "all"])
def test_operations_give_what_llvm_makes_of_them(step: int) -> None:
    assert_as_compiled(cases()[::step])


def test_every_operation_is_run() -> None:
    assert {f"tensor.{c.operation}" for c in cases()} | ELSEWHERE == set(DIALECT.operations)


@pytest.mark.parametrize("size", [2, 3, 6])
def test_part_of_which_there_may_be_nothing_is_as_long_as_requested(size: int) -> None:
    x = np.arange(size, dtype="f4")
    (result,) = run(
        """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %d = tensor.dim %x, %zero : tensor<?xf32>
  %less = arith.subi %d, %two : index
  %n = arith.ceildivsi %less, %two : index
  %r = tensor.extract_slice %x[0] [%n] [2] : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
""",
        x,
    )
    assert result.tolist() == x[0 : size - 2 : 2].tolist()


def test_gather_takes_slices_at_positions() -> None:
    x = np.arange(4 * 5 * 6, dtype="f4").reshape(4, 5, 6)
    at = np.array([[[0, 3], [1, 4]], [[2, 0], [3, 5]], [[3, 3], [0, 0]]])
    kinds = "(tensor<4x5x6xf32>, tensor<3x2x2xindex>)"
    for result, expected in (
        ("tensor<3x2x5xf32>", x[at[..., 0], :, at[..., 1]]),
        ("tensor<3x2x1x5x1xf32>", x[at[..., 0], :, at[..., 1]][:, :, None, :, None]),
    ):
        (actual,) = run(
            f"""
func.func @main(%x: tensor<4x5x6xf32>, %at: tensor<3x2x2xindex>) -> {result} {{
  %r = tensor.gather %x[%at] gather_dims([0, 2]) : {kinds} -> {result}
  return %r : {result}
}}
""",
            x,
            at,
        )
        assert np.array_equal(actual, expected)


def test_scatter_puts_slices_at_positions() -> None:
    x = np.zeros((4, 3), "i4")
    at = np.array([[3], [1]])
    values = np.arange(6, dtype="i4").reshape(2, 1, 3)
    (result,) = run(
        """
func.func @main(%v: tensor<2x1x3xi32>, %x: tensor<4x3xi32>, %at: tensor<2x1xindex>) -> tensor<4x3xi32> {
  %r = tensor.scatter %v into %x[%at] scatter_dims([0]) unique
    : (tensor<2x1x3xi32>, tensor<4x3xi32>, tensor<2x1xindex>) -> tensor<4x3xi32>
  return %r : tensor<4x3xi32>
}
""",
        values,
        x,
        at,
    )
    assert result.tolist() == [[0, 0, 0], [3, 4, 5], [0, 0, 0], [0, 1, 2]]


def test_bits_are_kept() -> None:
    (result,) = run(
        """
func.func @main(%x: tensor<3xui32>) -> tensor<3xi32> {
  %r = tensor.bitcast %x : tensor<3xui32> to tensor<3xi32>
  return %r : tensor<3xi32>
}
""",
        np.array([2**32 - 1, 2**31, 5], "u4"),
    )
    assert result.dtype == np.int32
    assert result.tolist() == [-1, -(2**31), 5]


@pytest.mark.parametrize("position", [-5, 4])
def test_positions_outside_of_a_tensor_are_refused(position: int) -> None:
    with pytest.raises(cir.DiagnosticError):
        run(
            """
func.func @main(%x: tensor<4xf32>, %i: index) -> f32 {
  %r = tensor.extract %x[%i] : tensor<4xf32>
  return %r : f32
}
""",
            np.zeros(4, "f4"),
            np.array(position),
        )
