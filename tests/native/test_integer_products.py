"""Products of integers of few bits with constants, between guard pages, against sums of 64 bits by numpy."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, f32, i8, i32, u8
from commonir.llvm.compiler import host_target
from commonir.llvm.target import Target
from commonir.native.graph_code import code_of
from commonir.notation import Fold, walk
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.kernel_graph.layouts import assign_layouts

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(12)


def integers(element: ElementType, *shape: int) -> Array:
    low, high = element.integer_limits
    return RANDOM.integers(low, high + 1, shape).astype(dtype_of(element.name))


def constant(array: Array, element: ElementType) -> Value:
    return core.constant(ArrayData(TensorType(element, array.shape), array.astype(dtype_of(element.name))))


def shifted(x: Value, zero_point: Value) -> Value:
    return core.sub(core.cast(x, i32), core.cast(zero_point, i32))


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("offset", ["one", "of columns"])
@pytest.mark.parametrize("right", [i8, u8])
@pytest.mark.parametrize("left", [i8, u8])
@pytest.mark.parametrize(("m", "k", "n"), [(1, 64, 100), (5, 33, 149), (40, 75, 64), (3, 1, 17)])
def test_matrix_products_are_exact(
    m: int, k: int, n: int, left: ElementType, right: ElementType, offset: str, width: Width
) -> None:
    x, w = integers(left, m, k), integers(right, k, n)
    x_zero = integers(left)
    w_zero = integers(right) if offset == "one" else integers(right, n)

    def build(v: Value, zero: Value) -> Value:
        return core.matmul(shifted(v, zero), shifted(constant(w, right), constant(w_zero, right)))

    module = program(build, {"x": TensorType(left, x.shape), "zero": TensorType(left, ())})
    graph = graph_of(module)
    assert graph is not None
    arrays = dict(zip(graph.inputs, (x, x_zero), strict=True))
    (actual,) = run_guarded(graph, of_width(host_target(), width), arrays, {}, "after" if m > 1 else "before")
    expected = (x.astype(np.int64) - x_zero) @ (w.astype(np.int64) - w_zero)
    np.testing.assert_array_equal(actual, expected)


def convolved(x: Array, w: Array, pad: int, stride: int) -> Array:
    """Returns the sums of a convolution."""
    wide = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    taps = w.shape[2:]
    height, width = [(n - t) // stride + 1 for n, t in zip(wide.shape[2:], taps, strict=True)]
    out = np.zeros((len(x), len(w), height, width), x.dtype)
    for i, j in itertools.product(*map(range, taps)):
        part = wide[:, :, i : i + stride * (height - 1) + 1 : stride, j : j + stride * (width - 1) + 1 : stride]
        out += np.einsum("nchw,oc->nohw", part, w[:, :, i, j])
    return out


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize(("channels", "taps", "pad", "stride"), [(24, 3, 1, 1), (3, 5, 2, 2), (40, 1, 0, 1)])
def test_convolutions_pad_with_zeros(channels: int, taps: int, pad: int, stride: int, width: Width) -> None:
    x, w, zero = integers(u8, 1, channels, 11, 9), integers(i8, 37, channels, taps, taps), np.array(131)

    def build(v: Value) -> Value:
        y = shifted(v, constant(zero, u8))
        filters = core.cast(constant(w, i8), i32)
        return core.conv(y, filters, None, (stride, stride), (1, 1), ((pad, pad), (pad, pad)), 1)

    graph = graph_of(program(build, {"x": TensorType(u8, x.shape)}))
    assert graph is not None
    (actual,) = run_guarded(graph, of_width(host_target(), width), dict.fromkeys(graph.inputs, x), {}, "after")
    np.testing.assert_array_equal(actual, convolved(x.astype(np.int64) - zero, w.astype(np.int64), pad, stride))


def has_integer_instructions(graph: KernelGraph, target: Target) -> bool:
    """Returns whether code has the instruction for bytes, or for 16 bits where the processor has no such."""
    text = code_of(graph, assign_layouts(graph), target).text
    if target.has("avx512vnni") and target.lanes() == 16:
        return "vpdpbusd" in text
    return "pmadd" in text or not target.triple.startswith("x86_64")


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("is_read_again", [False, True])
def test_dequantized_factors_are_multiplied_as_integers(is_read_again: bool, width: Width) -> None:
    m, k = 21, 70
    x, w, scales = integers(u8, m, k), integers(i8, k, k), RANDOM.uniform(0.01, 0.02, (1, k)).astype(np.float32)

    def build(v: Value) -> Value:
        y = core.dequantize(v, core.scalar(0.03, f32), constant(np.array(120), u8))
        z = core.matmul(y, core.dequantize(constant(w, i8), constant(scales, f32), constant(np.zeros((1, k)), i8)))
        return core.add(z, y) if is_read_again else core.relu(z)

    graph = graph_of(program(build, {"x": TensorType(u8, x.shape)}))
    assert graph is not None
    target = of_width(host_target(), width)
    (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {}, "after")
    y = (x.astype(np.float64) - 120) * np.float32(0.03)
    products = y @ (w * scales.astype(np.float64))
    np.testing.assert_allclose(actual, products + y if is_read_again else np.maximum(products, 0), rtol=1e-6, atol=1e-5)
    assert has_integer_instructions(graph, target)


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("channels", [8, 16])
def test_dequantized_groups_are_multiplied_as_floats(channels: int, width: Width) -> None:
    x, w = integers(u8, 1, 4 * channels, 9, 11), integers(i8, 4 * channels, channels, 3, 3)
    ones = integers(i8, 4 * channels, 4 * channels, 1, 1)

    def build(v: Value) -> Value:
        filters = core.dequantize(constant(w, i8), core.scalar(0.02, f32), None)
        y = core.conv(v, core.dequantize(constant(ones, i8), core.scalar(0.01, f32), None))
        return core.conv(y, filters, pads=((1, 1), (1, 1)), groups=4)

    def dequantized(v: Value) -> Value:
        return build(core.dequantize(v, core.scalar(0.03, f32), constant(np.array(120), u8)))

    graph = graph_of(program(dequantized, {"x": TensorType(u8, x.shape)}))
    assert graph is not None
    folds = [e.dtype for node in graph.nodes.values() for e in walk(node.kernel.body) if isinstance(e, Fold)]
    assert folds == [i32, f32]
    (actual,) = run_guarded(graph, of_width(host_target(), width), dict.fromkeys(graph.inputs, x), {}, "after")
    y = convolved((x.astype(np.float64) - 120) * 0.03, ones * 0.01, 0, 1)
    parts = zip(np.split(y, 4, 1), np.split(w * 0.02, 4), strict=True)
    expected = np.concatenate([convolved(a, b, 1, 1) for a, b in parts], 1)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("width", available_widths())
def test_dequantized_images_are_padded_with_zeros(width: Width) -> None:
    x, w = integers(u8, 1, 24, 9, 9), integers(i8, 20, 24, 3, 3)

    def build(v: Value) -> Value:
        y = core.dequantize(v, core.scalar(0.03, f32), constant(np.array(120), u8))
        filters = core.dequantize(constant(w, i8), core.scalar(0.02, f32), None)
        return core.relu(core.conv(y, filters, pads=((1, 1), (1, 1))))

    graph = graph_of(program(build, {"x": TensorType(u8, x.shape)}))
    assert graph is not None
    target = of_width(host_target(), width)
    (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {}, "before")
    y = (x.astype(np.float64) - 120) * np.float32(0.03)
    expected = np.maximum(convolved(y, w.astype(np.float64) * np.float32(0.02), 1, 1), 0)
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-4)
    assert has_integer_instructions(graph, target)


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize(("element", "zero"), [(u8, 0), (u8, 131), (i8, 0), (i8, -77)])
def test_quantized_values_are_rounded_to_even_and_limited(element: ElementType, zero: int, width: Width) -> None:
    edges = [0.49999997, -0.0, 1e9, -1e9, 3e38, -3e38, np.inf, -np.inf, np.nan]
    x = np.array([*np.arange(-300, 300) / 2, *edges], np.float32)

    def build(v: Value) -> Value:
        return core.cast(core.quantize(v, core.scalar(1.0, f32), element, constant(np.array(zero), element)), i32)

    graph = graph_of(program(build, {"x": TensorType(f32, x.shape)}))
    assert graph is not None
    (actual,) = run_guarded(graph, of_width(host_target(), width), dict.fromkeys(graph.inputs, x), {}, "after")
    expected = np.clip(np.round(x) + zero, *element.integer_limits)
    np.testing.assert_array_equal(actual, np.where(np.isnan(x), 0, expected))


def quantized(x: Array, scale: np.float32, zero: int, element: ElementType) -> Array:
    return np.clip(np.round(x / scale) + zero, *element.integer_limits).astype(np.int64) - zero


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize(("element", "zero"), [(u8, 0), (u8, 93), (i8, 0), (i8, -20)])
@pytest.mark.parametrize("right", [i8, u8])
@pytest.mark.parametrize(
    ("channels", "taps", "pad", "stride"), [(24, 3, 1, 1), (7, 3, 1, 2), (40, 1, 0, 1), (9, 1, 0, 1)]
)
def test_layers_read_bytes_that_layers_before_them_stored(
    channels: int, taps: int, pad: int, stride: int, right: ElementType, element: ElementType, zero: int, width: Width
) -> None:
    x, w = RANDOM.normal(size=(1, channels, 9, 11)).astype(np.float32), integers(right, 37, channels, taps, taps)
    # Powers of two, so that quotients are exact.
    scales = np.float32(1 / 32), np.float32(1 / 64), np.float32(2)

    def build(v: Value) -> Value:
        s, t, u = [core.scalar(float(scale), f32) for scale in scales]
        zero_point = constant(np.array(zero), element)
        y = core.dequantize(core.quantize(v, s, element, zero_point), s, zero_point)
        filters = core.dequantize(constant(w, right), t, None)
        z = core.relu(core.conv(y, filters, strides=(stride, stride), pads=((pad, pad), (pad, pad))))
        z = core.dequantize(core.quantize(z, u, element, zero_point), u, zero_point)
        back = core.dequantize(constant(w.transpose(1, 0, 2, 3), right), t, None)
        return core.relu(core.conv(z, back))

    graph = graph_of(program(build, {"x": TensorType(f32, x.shape)}))
    assert graph is not None
    target = of_width(host_target(), width)
    (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {}, "after")
    first = convolved(quantized(x, scales[0], zero, element), w.astype(np.int64), pad, stride)
    first = quantized(np.maximum(first * np.float64(scales[0] * scales[1]), 0), scales[2], zero, element)
    second = convolved(first, w.astype(np.int64).transpose(1, 0, 2, 3), 0, 1)
    np.testing.assert_allclose(actual, np.maximum(second * np.float64(scales[2] * scales[1]), 0), rtol=1e-6)
    # Unsigned weights are multiplied as 16 bits.
    assert right is u8 or has_integer_instructions(graph, target)


def test_scales_of_terms_keep_products_in_single_precision() -> None:
    x, w, scales = integers(u8, 3, 20), integers(i8, 20, 17), RANDOM.uniform(0.01, 0.02, (20, 1)).astype(np.float32)

    def build(v: Value) -> Value:
        y = core.dequantize(v, core.scalar(0.03, f32), None)
        return core.matmul(y, core.dequantize(constant(w, i8), constant(scales, f32), None))

    graph = graph_of(program(build, {"x": TensorType(u8, x.shape)}))
    assert graph is not None
    (actual,) = run_guarded(graph, host_target(), dict.fromkeys(graph.inputs, x), {}, "after")
    expected = (x * np.float32(0.03).astype(np.float64)) @ (w * scales.astype(np.float64))
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-5)


def test_dequantized_values_that_are_padded_with_other_numbers_stay_as_they_are() -> None:
    x, w = integers(u8, 1, 8, 9, 9), integers(i8, 8, 8, 1, 1)

    def build(v: Value) -> Sequence[Value]:
        y = core.dequantize(v, core.scalar(0.03, f32), constant(np.array(120), u8))
        filters = core.dequantize(constant(w, i8), core.scalar(0.02, f32), None)
        padded = core.pad(y, (0, 0, 1, 1), (0, 0, 1, 1), value=-5.0)
        return core.conv(y, filters), core.relu(core.neg(padded))

    graph = graph_of(program(build, {"x": TensorType(u8, x.shape)}))
    assert graph is not None
    products, padded = run_guarded(graph, host_target(), dict.fromkeys(graph.inputs, x), {}, "after")
    y = (x.astype(np.float64) - 120) * np.float32(0.03)
    expected = convolved(y, w.astype(np.float64) * np.float32(0.02), 0, 1)
    np.testing.assert_allclose(products, expected, rtol=1e-6, atol=1e-4)
    wide = np.pad(y, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-5)
    np.testing.assert_allclose(padded, np.maximum(-wide, 0), rtol=1e-6)
