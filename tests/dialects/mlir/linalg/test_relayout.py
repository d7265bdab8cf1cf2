"""Softmax, tiles and Winograd's transforms: against formulas written out here, and LLVM's own lowering."""

from __future__ import annotations

import numpy as np
import pytest

from tests.dialects.mlir.linalg.relayout_programs import TILES, Tiles, softmax_cases, tile_cases, winograd_cases
from tests.dialects.programs import Array, Case, assert_agree, assert_as_compiled, run


@pytest.mark.parametrize("case", list(softmax_cases()), ids=lambda c: c.name)
def test_softmax_is_its_formula(case: Case) -> None:
    axis = 1 if case.name == "softmax_dynamic" else int(case.name[-1])
    x = case.arrays[0].astype("f8")
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    expected = (powers / powers.sum(axis=axis, keepdims=True)).astype("f4")
    assert_agree(case, run(case.text, *case.arrays), [expected])


def packed(x: Array, t: Tiles, padding: float) -> Array:
    """A tensor in tiles, element by element."""
    out = np.full(t.packed, padding, x.dtype)
    order = t.order or tuple(range(x.ndim))
    for place in np.ndindex(*x.shape):
        outer, inner = list(place), []
        for axis, tile in zip(t.axes, t.tiles, strict=True):
            outer[axis] = place[axis] // tile
            inner.append(place[axis] % tile)
        out[(*[outer[n] for n in order], *inner)] = x[place]
    return out


@pytest.mark.parametrize("tiles", TILES, ids=lambda t: t.name)
def test_tiles_hold_the_elements_of_a_tensor(tiles: Tiles) -> None:
    cases = {c.name: c for c in tile_cases()}
    pack, unpack = cases[f"pack_{tiles.name}"], cases[f"unpack_{tiles.name}"]
    x, _, padding = pack.arrays
    assert_agree(pack, run(pack.text, *pack.arrays), [packed(x, tiles, float(padding))])
    assert_agree(unpack, run(unpack.text, packed(x, tiles, 7.0), unpack.arrays[1]), [x])


@pytest.mark.slow
def test_transforms_of_winograd_are_as_llvm_lowers_them() -> None:
    # LLVM fails on those of the last axis alone.
    assert_as_compiled([c for c in winograd_cases() if not c.name.endswith("_w")])


@pytest.mark.parametrize("axes", ["hw", "h", "w"])
@pytest.mark.parametrize("fmr", ["F_2_3", "F_4_3", "F_2_5"])
def test_products_of_what_is_transformed_are_convolutions(fmr: str, axes: str) -> None:
    cases = {c.name: c for c in winograd_cases()}
    filter_, image, result = (cases[f"winograd_{what}_{fmr}_{axes}"] for what in ("filter", "input", "output"))
    f, x = filter_.arrays[0], image.arrays[0]
    (weights,) = run(filter_.text, *filter_.arrays)
    (tiles,) = run(image.text, *image.arrays)
    # The programs give results as many channels as images have.
    products = np.einsum("abijnc,abcf->abijnf", tiles, np.concatenate([weights, weights[..., :1]], axis=-1))
    (actual,) = run(result.text, products, np.zeros_like(result.arrays[1]))
    height, width = f.shape[1:3]
    windows: Array = np.lib.stride_tricks.sliding_window_view(x, (1, height, width, 1))[:, :, :, :, 0, :, :, 0]
    expected = np.einsum("nijchw,fhwc->nijf", windows, np.concatenate([f, f[:1]]))
    assert np.allclose(actual, expected, rtol=1e-3, atol=1e-3)
