"""Conversions and copies of arrays against numpy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.runtime.interpreter.array_functions import convert, copy, round_to_half

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


def _near_halves() -> NDArray[Any]:
    """Single precision: halves, what lies in the middle between two of them, and their neighbours."""
    halves = np.sort(EVERY_HALF[np.isfinite(EVERY_HALF)].astype(np.float32))
    middles = (halves[1:] + halves[:-1]) / 2
    around = [np.nextafter(middles, np.float32(side)) for side in (-np.inf, np.inf)]
    return np.concatenate([halves, -halves[halves == 0], middles, *around])


@pytest.mark.parametrize("beyond", [[], [65519.99, 65520.0, -65520.0, 1e30, np.inf, -np.inf, np.nan, 1e-30, -1e-45]])
def test_rounding_to_half_precision_gives_the_bits_that_numpy_gives(beyond: list[float]) -> None:
    source = np.concatenate([_near_halves(), np.array(beyond, np.float32)])
    with np.errstate(all="ignore"):
        expected = source.astype(np.float16).astype(np.float32)
        for inputs in (source, source[::-1], source[: source.size // 2 * 2].reshape(-1, 2).T):
            out = np.empty(inputs.shape, np.float32)
            round_to_half(inputs, out)
            np.testing.assert_array_equal(
                out.view(np.uint32), inputs.astype(np.float16).astype(np.float32).view(np.uint32)
            )
        round_to_half(source, source)
    np.testing.assert_array_equal(source.view(np.uint32), expected.view(np.uint32))
