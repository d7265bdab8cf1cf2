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
