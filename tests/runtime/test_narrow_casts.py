"""Conversions to floats of a byte or less and back round; ml_dtypes is the oracle."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import commonir as cir

TYPES = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize("name", TYPES)
def test_a_conversion_to_a_narrow_float_and_back_rounds(name: str, engine: str) -> None:
    narrow = f"tensor<6x{name}>"
    program = cir.loads(
        f"""
        func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {{
          %0 = stablehlo.convert %x : (tensor<6xf32>) -> {narrow}
          %1 = stablehlo.convert %0 : ({narrow}) -> tensor<6xf32>
          return %1 : tensor<6xf32>
        }}
        """,
        format="mlir",
    )
    x = np.array([1.686, 0.3, 2.1, 5.2, 0.77, 3.9], np.float32)
    (y,) = cir.run(program, {"x": x}, engine=engine).values()
    np.testing.assert_array_equal(y, x.astype(TYPES[name]).astype(np.float32))
    assert (y != x).all()


_OF_FOUR_BITS = """
func.func @main(%a: tensor<Nxi4>, %b: tensor<Nxui4>) -> (tensor<Nxi32>, tensor<Nxi1>, tensor<Nxui4>, tensor<Nxi4>) {
  %0 = stablehlo.negate %a : tensor<Nxi4>
  %1 = stablehlo.convert %0 : (tensor<Nxi4>) -> tensor<Nxi32>
  %2 = stablehlo.not %b : tensor<Nxui4>
  %3 = stablehlo.compare GT, %2, %b : (tensor<Nxui4>, tensor<Nxui4>) -> tensor<Nxi1>
  %4 = stablehlo.add %b, %b : tensor<Nxui4>
  %5 = stablehlo.divide %4, %b : tensor<Nxui4>
  %6 = stablehlo.add %a, %a : tensor<Nxi4>
  %7 = stablehlo.maximum %6, %a : tensor<Nxi4>
  return %1, %3, %5, %7 : tensor<Nxi32>, tensor<Nxi1>, tensor<Nxui4>, tensor<Nxi4>
}
"""


@pytest.mark.parametrize("engine", ["reference", "numpy"])
@pytest.mark.parametrize("repeats", [1, 1000])
def test_integers_of_four_bits_wrap_between_operations(repeats: int, engine: str) -> None:
    a = np.tile(np.array([-8, 7, 3], ml_dtypes.int4), repeats)
    b = np.tile(np.array([15, 8, 1], ml_dtypes.uint4), repeats)
    program = cir.loads(_OF_FOUR_BITS.replace("N", str(len(a))), format="mlir")
    expected = [[-8, -7, -3], [False, False, True], [0, 0, 2], [0, 7, 6]]
    for result, values in zip(cir.run(program, {"a": a, "b": b}, engine=engine).values(), expected, strict=True):
        np.testing.assert_array_equal(result.astype(np.int32), np.tile(values, repeats))
