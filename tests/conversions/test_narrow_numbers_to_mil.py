"""Conversions to narrow types in Core ML, whose values are of wider types, against ml_dtypes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value
from commonir.ir.data import data_of
from commonir.ir.types import ELEMENT_TYPES, f16, f32, i8, i16, i32, tensor, u8, u32

from tests.conversions.programs import core_module
from tests.conversions.running_mil import converted, load_in_coremltools, run_mil

FLOATS = ("f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN")


def numbers(element: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """All numbers of a type, what lies in the middle of two and right beside that, and numbers far outside."""
    dtype = dtype_of(element)
    every = np.arange(256, dtype=np.uint8).view(dtype) if np.dtype(dtype).itemsize == 1 else np.array([], dtype)
    stored = np.unique(every.astype(np.float64)[np.isfinite(every.astype(np.float64))])
    middle = (stored[1:] + stored[:-1]) / 2
    beside = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)]).astype(np.float32)
    near = np.concatenate([np.nextafter(beside, np.float32(np.inf)), np.nextafter(beside, np.float32(-np.inf))])
    most = float(ml_dtypes.finfo(dtype).max)
    far = np.array([most * 1.01, most * 1.04, most * 1.07, most * 2, 1e30, np.inf, 0, -0.0], np.float32)
    return np.concatenate([stored.astype(np.float32), beside, near, far, -far, np.array([np.nan], np.float32)])


@pytest.mark.parametrize("saturates", [True, False])
@pytest.mark.parametrize("element", FLOATS)
def test_numbers_are_rounded_to_the_narrow_type(element: str, saturates: bool, tmp_path: Path) -> None:
    x = numbers(element)
    to = ELEMENT_TYPES[element]
    result = converted(core_module(lambda v: core.narrow_cast(v, to, saturates), {"x": tensor(f32, len(x))}))
    load_in_coremltools(result, tmp_path)
    most = float(ml_dtypes.finfo(dtype_of(element)).max)
    inputs = np.clip(x, np.float32(-most), np.float32(most)) if saturates else x
    expected = inputs.astype(dtype_of(element)).astype(np.float32)
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], expected)


def test_numbers_in_half_precision_are_rounded_once() -> None:
    x = np.linspace(-500, 500, 4001, dtype=np.float16)
    to = ELEMENT_TYPES["f8E4M3FN"]
    result = converted(core_module(lambda v: core.narrow_cast(v, to), {"x": tensor(f16, len(x))}))
    expected = np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], expected)


@pytest.mark.parametrize(("element", "least", "most"), [("i4", -8, 7), ("ui4", 0, 15), ("i2", -2, 1), ("ui2", 0, 3)])
def test_integers_of_few_bits_drop_the_fraction_and_the_bits_that_do_not_fit(
    element: str, least: int, most: int
) -> None:
    x = np.arange(-40, 40, 0.7).astype(np.float32)
    to = ELEMENT_TYPES[element]
    result = converted(core_module(lambda v: core.narrow_cast(v, to), {"x": tensor(f32, len(x))}))
    expected = (np.trunc(x).astype(np.int64) - least) % (most - least + 1) + least
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], expected)


def test_bits_of_integers_are_taken_as_those_of_others() -> None:
    x = np.arange(-128, 128, dtype=np.int8)
    result = converted(core_module(lambda v: core.bit_cast(v, u8), {"x": tensor(i8, 256)}))
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], x.view(np.uint8))
    wide = np.array([-1, 5, -(2**31)], np.int32)
    same = converted(core_module(lambda v: core.bit_cast(core.bit_cast(v, u32), i32), {"x": tensor(i32, 3)}))
    np.testing.assert_array_equal(run_mil(same, {"x": wide})[0], wide)


def test_bits_of_floats_have_no_form() -> None:
    with pytest.raises(DiagnosticError, match="bit_cast cannot be expressed"):
        converted(core_module(lambda v: core.bit_cast(v, i32), {"x": tensor(f32, 3)}))


def _products(x: Value, weight: Value, bias: Value | None = None, groups: int = 1) -> Value:
    shifted = core.sub(core.cast(weight, i32), core.scalar(3, i32))
    return core.conv(core.cast(x, i32), shifted, bias, (1, 1), (1, 1), (), groups)


def _sums(x: np.ndarray[Any, Any], weight: np.ndarray[Any, Any], groups: int = 1) -> np.ndarray[Any, Any]:
    """A convolution of integers without padding."""
    parts: list[np.ndarray[Any, Any]] = []
    for image, filters in zip(np.split(x, groups, 1), np.split(weight, groups, 0), strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(image, (1, *filters.shape[1:]))[:, 0]
        parts.append(np.einsum("nhwmcij,fcij->nfhw", windows, filters))
    return np.concatenate(parts, 1)


def test_convolutions_of_bytes_are_exact_in_single_precision() -> None:
    random = np.random.default_rng(0)
    x, weight = random.integers(-128, 128, (1, 8, 5, 5)), random.integers(0, 256, (4, 8, 3, 3))
    kinds = {"x": tensor(i8, *x.shape), "weight": tensor(u8, *weight.shape)}
    result = converted(core_module(_products, kinds))
    np.testing.assert_array_equal(run_mil(result, {"x": x, "weight": weight})[0], _sums(x, weight - 3))


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_of_bytes_with_large_sums_are_added_as_integers(groups: int, tmp_path: Path) -> None:
    # 64 * 9 products of at most 128 * 252 are more than 2^24; those of 57 channels are not.
    x, weight = np.full((1, 64 * groups, 5, 5), -128), np.full((4 * groups, 64, 3, 3), 255)
    x[0, 0, 2, 2], weight[0, 0, 0, 0] = 1, 0
    bias = np.arange(4 * groups)
    build = partial(_products, bias=core.constant(data_of(i32, bias.shape, bias.tolist())), groups=groups)
    result = converted(core_module(build, {"x": tensor(i8, *x.shape), "weight": tensor(u8, *weight.shape)}))
    load_in_coremltools(result, tmp_path)
    expected = _sums(x, weight - 3, groups) + bias[:, None, None]
    assert np.abs(expected).max() > 2**24
    np.testing.assert_array_equal(run_mil(result, {"x": x, "weight": weight})[0], expected)


def test_constant_filters_stay_bytes_and_bound_how_large_sums_are(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x, weight = random.integers(-128, 128, (1, 256, 5, 5)), random.integers(100, 156, (4, 256, 3, 3))
    zero = np.array([128, 127, 129, 128])

    def build(image: Value) -> Value:
        filters = core.constant(data_of(u8, weight.shape, weight.reshape(-1).tolist()))
        offsets = core.constant(data_of(u8, (4, 1, 1, 1), zero.tolist()))
        return core.conv(core.cast(image, i32), core.sub(core.cast(filters, i32), core.cast(offsets, i32)))

    result = converted(core_module(build, {"x": tensor(i8, *x.shape)}))
    load_in_coremltools(result, tmp_path)
    assert [op.name for op in result.walk() if op.name in ("mil.conv", "mil.constexpr_affine_dequantize")] == [
        "mil.constexpr_affine_dequantize",
        "mil.conv",
    ]
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], _sums(x, weight - zero[:, None, None, None]))


def test_convolutions_of_integers_whose_sums_may_be_rounded_are_refused() -> None:
    # 9 products of at most 2^15 * 2^15 are more than 2^24, even those of one channel.
    kinds = {"x": tensor(i16, 1, 1, 5, 5), "weight": tensor(i16, 4, 1, 3, 3)}
    with pytest.raises(DiagnosticError, match="no convolution of integers"):
        converted(core_module(_products, kinds))


def test_the_largest_of_bytes_is_found_by_pooling(tmp_path: Path) -> None:
    x = np.random.default_rng(0).integers(0, 256, (1, 2, 6, 6))

    def build(image: Value) -> Value:
        return core.max_pool(image, (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)))

    result = converted(core_module(build, {"x": tensor(u8, *x.shape)}))
    load_in_coremltools(result, tmp_path)
    assert "mil.max_pool" in [op.name for op in result.walk()]
    around = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (1, 1, 3, 3))
    np.testing.assert_array_equal(run_mil(result, {"x": x})[0], windows.max((4, 5, 6, 7)))


def test_scales_of_blocks_are_repeated() -> None:
    x = np.array([[1, 2, 3, 4], [-5, 6, 7, -8]], np.float32)
    scale = np.array([[0.5, 2], [1, 4]], np.float32)

    def build(value: Value, factor: Value) -> Value:
        return core.dequantize(core.quantize(value, factor, i8), factor)

    result = converted(core_module(build, {"x": tensor(f32, 2, 4), "scale": tensor(f32, 2, 2)}))
    wide = np.repeat(scale, 2, 1)
    np.testing.assert_array_equal(run_mil(result, {"x": x, "scale": scale})[0], np.round(x / wide) * wide)
