"""Properties of plans beyond results: memory for weights, and the forms that windows and vectors take."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, f16, f32, i32, tensor, u8
from commonir.runtime.numpy_engine import contraction_steps
from commonir.runtime.numpy_engine.engine import ENGINE

from tests.runtime.programs import program

Array = NDArray[Any]


def constant(array: Array, element: ElementType = f32) -> Value:
    return core.constant(ArrayData(TensorType(element, array.shape), array))


def projected(weight: Array, element: ElementType, rows: int) -> tuple[Array, Array, int]:
    """A product with a transposed weight: what is found, what numpy gives in double precision, the peak of memory."""
    m = program(
        lambda v: core.matmul(v, core.transpose(constant(weight, element), (1, 0))),
        {"x": tensor(element, rows, weight.shape[1])},
    )
    x = np.random.default_rng(1).standard_normal((rows, weight.shape[1])).astype(weight.dtype)
    tracemalloc.start()
    result = ENGINE.prepare(m).run({"x": x})["y0"]
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return result, x.astype(np.float64) @ weight.astype(np.float64).T, peak_bytes


def weight_of(dtype: type, *shape: int) -> Array:
    return (np.random.default_rng(2).standard_normal(shape) / 32).astype(dtype)


def test_weight_in_single_precision_is_multiplied_where_it_lies() -> None:
    weight = weight_of(np.float32, 2048, 1024)
    result, expected, peak_bytes = projected(weight, f32, 4)
    np.testing.assert_allclose(result, expected, atol=1e-4)
    assert peak_bytes < weight.nbytes / 4


def test_weight_in_half_precision_is_in_memory_once_after_it_is_widened() -> None:
    weight = weight_of(np.float16, 2048, 1024)
    result, expected, peak_bytes = projected(weight, f16, 4)
    np.testing.assert_allclose(result, expected, atol=4e-3)
    assert peak_bytes < 1.25 * 2 * weight.nbytes


@pytest.mark.parametrize(("shape", "is_copied"), [((2048, 1024), True), ((1024, 2048), False), ((1024, 1024), False)])
def test_weight_times_a_vector_is_copied_only_if_its_longer_axis_is_strided(
    shape: tuple[int, int], is_copied: bool
) -> None:
    weight = weight_of(np.float32, *shape)
    result, expected, peak_bytes = projected(weight, f32, 1)
    np.testing.assert_allclose(result, expected, atol=1e-4)
    assert (peak_bytes > weight.nbytes) == is_copied
    assert peak_bytes < 1.25 * weight.nbytes


def depthwise(x: Array, w: Array, stride: int, dilation: int) -> Array:
    """The definition, tap by tap, in double precision; one pixel of padding on each side."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sizes = [(n - (k - 1) * dilation - 1) // stride + 1 for n, k in zip(padded.shape[2:], w.shape[2:], strict=True)]
    out = np.zeros((*x.shape[:2], *sizes))
    for i, j in itertools.product(range(sizes[0]), range(sizes[1])):
        for a, b in itertools.product(range(w.shape[2]), range(w.shape[3])):
            out[:, :, i, j] += padded[:, :, i * stride + a * dilation, j * stride + b * dilation] * w[:, 0, a, b]
    return out


@pytest.mark.parametrize("is_constant", [True, False])
@pytest.mark.parametrize(
    ("batch", "size", "filter_size", "stride", "dilation"),
    [(1, (7, 9), (3, 3), 1, 1), (2, (9, 7), (3, 2), 1, 1), (2, (8, 9), (3, 3), 1, 2), (3, (9, 9), (3, 3), 2, 1)],
)
def test_depthwise_convolution_is_that_of_its_definition(
    batch: int, size: tuple[int, int], filter_size: tuple[int, int], stride: int, dilation: int, is_constant: bool
) -> None:
    r = np.random.default_rng(3)
    x = r.standard_normal((batch, 5, *size)).astype(np.float32)
    w = r.standard_normal((5, 1, *filter_size)).astype(np.float32)

    def build(v: Value, *inputs: Value) -> Value:
        weight = constant(w) if is_constant else inputs[0]
        return core.relu(
            core.conv(v, weight, strides=(stride,) * 2, dilations=(dilation,) * 2, pads=((1, 1),) * 2, groups=5)
        )

    arrays = {"x": x} if is_constant else {"x": x, "w": w}
    executable = ENGINE.prepare(program(build, {n: TensorType(f32, a.shape) for n, a in arrays.items()}))
    for _ in range(2):  # the second run finds what the first left in its buffers
        result = executable.run(arrays)["y0"]
        np.testing.assert_allclose(result, np.maximum(depthwise(x, w, stride, dilation), 0), atol=1e-5)


@pytest.mark.parametrize(
    ("factors", "summands"),
    [((3e38, 3e38), ()), ((1e-30, 1e-30), ()), ((), (3e38, 3e38)), ((1e-42,), (1.0,))],
)
@pytest.mark.parametrize("divides", [False, True])
def test_numbers_of_a_chain_are_joined_only_within_their_range(
    factors: tuple[float, ...], summands: tuple[float, ...], divides: bool
) -> None:
    x = np.array([0, 1, -1, 1e38, -3e38, 1e-10], np.float32)
    apply = core.div if divides else core.mul

    def chain(v: Value) -> Value:
        v = core.neg(v)  # a chain begins with what an operation gives
        for c in factors:
            v = apply(v, constant(np.full(6, c, np.float32)))
        for c in summands:
            v = core.add(v, constant(np.full(6, c, np.float32)))
        return core.maximum(v, constant(np.full(6, -np.inf, np.float32)))

    result = ENGINE.prepare(program(chain, {"x": tensor(f32, 6)})).run({"x": x})["y0"]
    expected = -x
    with np.errstate(all="ignore"):
        for c in factors:
            expected = expected / np.float32(c) if divides else expected * np.float32(c)
        for c in summands:
            expected = expected + np.float32(c)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("high", "magnitude", "count"), [(255, 127, 500), (255, 127, 600), (2**31 - 1, 127, 500), (255, 2**23, 500)]
)
def test_products_of_integers_are_exact_or_wrap(high: int, magnitude: int, count: int) -> None:
    """The sums are in the range of single precision, beyond it, and beyond that of integers of 32 bits."""
    weight = np.full((count, 16), magnitude)
    weight[:, ::2] *= -1
    weight[0] += 1
    m = program(
        lambda v: core.matmul(core.cast(v, i32), constant(weight.astype(np.int32), i32)),
        {"x": tensor(i32 if high > 255 else u8, 8, count)},
    )
    x = np.random.default_rng(1).choice(np.array((0, high), np.int32 if high > 255 else np.uint8), (8, count))
    executable = ENGINE.prepare(m)
    for _ in range(2):
        result = executable.run({"x": x})["y0"]
        np.testing.assert_array_equal(result, (x.astype(np.int64) @ weight).astype(np.int32))


def test_a_convolution_of_quantized_numbers_is_exact() -> None:
    random = np.random.default_rng(5)
    x = random.integers(0, 256, (1, 8, 12, 10)).astype(np.uint8)
    w = random.integers(-128, 128, (16, 8, 3, 3)).astype(np.int32)

    def build(v: Value) -> Value:
        shifted = core.sub(core.cast(v, i32), core.scalar(7, i32))
        return core.conv(shifted, constant(w, i32), pads=((1, 1), (1, 1)))

    result = ENGINE.prepare(program(build, {"x": tensor(u8, *x.shape)})).run({"x": x})["y0"]
    padded = np.pad(x.astype(np.int64) - 7, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    np.testing.assert_array_equal(result, np.einsum("bcyxij,ocij->boyx", windows, w))


def test_sums_of_integers_become_floats_without_rounding_twice() -> None:
    """A sum beyond 2^24 that single precision has not is rounded to even, once."""
    weight = np.full((600, 16), 127)
    x = np.full((8, 600), 255, np.uint8)
    bias = np.arange(16) - 7

    def scaled(v: Value) -> Value:
        product = core.matmul(core.cast(v, i32), constant(weight.astype(np.int32), i32))
        return core.mul(core.cast(core.add(product, constant(bias.astype(np.int32), i32)), f32), core.scalar(0.5, f32))

    result = ENGINE.prepare(program(scaled, {"x": tensor(u8, 8, 600)})).run({"x": x})["y0"]
    np.testing.assert_array_equal(result, (x.astype(np.int64) @ weight + bias).astype(np.float32) * np.float32(0.5))


@pytest.mark.parametrize(("batch", "groups", "stride"), [(1, 1, 1), (2, 1, 1), (1, 2, 2)])
def test_large_windows_are_multiplied_in_parts(
    batch: int, groups: int, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contraction_steps, "PART_ELEMENTS", 1 << 9)
    random = np.random.default_rng(4)
    x = random.standard_normal((batch, 4, 11, 13)).astype(np.float32)
    w = random.standard_normal((6, 4 // groups, 3, 2)).astype(np.float32)
    m = program(
        lambda v: core.conv(v, constant(w), None, (stride, stride), (1, 1), ((1, 1), (0, 1)), groups),
        {"x": tensor(f32, *x.shape)},
    )
    result = ENGINE.prepare(m).run({"x": x})["y0"]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 1))).astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), (2, 3))[:, :, ::stride, ::stride]
    split = windows.reshape(batch, groups, 4 // groups, *windows.shape[2:])
    weights = w.reshape(groups, 6 // groups, 4 // groups, 3, 2)
    expected = np.einsum("bgcyxij,gocij->bgoyx", split, weights).reshape(result.shape)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
