"""Conversions and copies of arrays against numpy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.runtime.array_functions import convert, copy

EVERY_HALF = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
LAYOUTS = {
    "contiguous": EVERY_HALF,
    "finite": EVERY_HALF[np.isfinite(EVERY_HALF)],
    "transposed": np.tile(EVERY_HALF, 4).reshape(256, 1024).T,
    "strided": EVERY_HALF.reshape(-1, 2)[:, 0],
}


@pytest.mark.parametrize("source", LAYOUTS.values(), ids=LAYOUTS)
def test_every_half_is_widened_to_the_bits_that_numpy_gives(source: NDArray[Any]) -> None:
    out = np.empty(source.shape, np.float32)
    convert(source, out)
    np.testing.assert_array_equal(out.view(np.uint32), source.astype(np.float32, order="C").view(np.uint32))


def test_transposed_matrix_of_no_round_size_is_copied_whole() -> None:
    source = np.arange(257 * 201, dtype=np.float32).reshape(201, 257).T
    out = np.full(source.shape, -1, np.float32)
    copy(source, out)
    np.testing.assert_array_equal(out, source)
