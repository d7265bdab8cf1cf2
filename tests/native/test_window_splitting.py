"""Largest elements of large windows, by columns and then by rows, as machine code between guard pages."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, f32, f64, i8
from commonir.llvm.compiler import host_target
from commonir.symbolic import symbol

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.native.images import between_convolutions, check
from tests.oracles import require_package
from tests.runtime.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

RANDOM = np.random.default_rng(5)

PADS = (2, 1, 3, 2)
"""Above, left, below and right of images."""


def largest(
    x: NDArray[Any], kernel: tuple[int, int], strides: tuple[int, int], dilations: tuple[int, int]
) -> NDArray[Any]:
    """Returns the largest elements of windows of images with borders, as numpy computes them."""
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    top, left, bottom, right = PADS
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=least)
    spans = tuple([(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, spans, (2, 3))
    return windows[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]].max((4, 5))


def pooled(x: Value, kernel: tuple[int, int], strides: tuple[int, int], dilations: tuple[int, int]) -> Value:
    """Returns the largest elements of windows of images with borders."""
    top, left, bottom, right = PADS
    return core.max_pool(x, kernel, strides, dilations=dilations, pads=((top, bottom), (left, right)))


WINDOWS = [((5, 5), (1, 1), (1, 1)), ((5, 4), (2, 2), (1, 1)), ((4, 5), (1, 3), (2, 2)), ((13, 9), (1, 1), (1, 1))]


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("element", [f32, f64, i8])
@pytest.mark.parametrize("size", [(12, 37), (20, 20), (10, 7)])
@pytest.mark.parametrize("window", WINDOWS)
def test_largest_elements_are_those_of_numpy(
    window: Any, size: tuple[int, int], element: ElementType, width: Width
) -> None:
    x = RANDOM.integers(-100, 100, (2, 3, *size)).astype(dtype_of(element.name))
    if element is not i8:
        x[0, 0, 5, 6], x[1, 1, 0, 0], x[1, 2] = np.nan, -np.nan, -np.inf
    graph = graph_of(program(lambda v: pooled(v, *window), {"x": TensorType(element, x.shape)}))
    assert graph is not None
    assert len(graph.nodes) == 2
    for side in ("before", "after"):
        (actual,) = run_guarded(graph, of_width(host_target(), width), dict.fromkeys(graph.inputs, x), {}, side)
        np.testing.assert_array_equal(actual, largest(x, *window))


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("window", WINDOWS[:3])
def test_windows_between_convolutions_agree_with_the_interpreter(window: Any, width: Width) -> None:
    module = between_convolutions(lambda x: pooled(x, *window), 24, 11, 14, 2)
    check(module, (2, 3, 11, 14), {}, width, 0)


def test_windows_of_images_of_any_size_are_those_of_numpy() -> None:
    shape = TensorType(f32, (symbol("n"), 3, symbol("h"), symbol("w")))
    graph = graph_of(program(lambda v: pooled(v, *WINDOWS[0]), {"x": shape}))
    assert graph is not None
    assert len(graph.nodes) == 2
    for n, (batch, height, width) in enumerate([(1, 3, 4), (2, 9, 40), (3, 16, 16)]):
        x = RANDOM.standard_normal((batch, 3, height, width)).astype(np.float32)
        dims = {"n": batch, "h": height, "w": width}
        side = ("before", "after")[n % 2]
        (actual,) = run_guarded(graph, host_target(), dict.fromkeys(graph.inputs, x), dims, side)
        np.testing.assert_array_equal(actual, largest(x, *WINDOWS[0]))


def test_small_windows_are_not_split() -> None:
    graph = graph_of(program(lambda v: pooled(v, (3, 3), (1, 1), (1, 1)), {"x": TensorType(f32, (1, 3, 20, 20))}))
    assert graph is not None
    assert len(graph.nodes) == 1
