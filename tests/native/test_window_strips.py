"""Products that are read through windows, computed in strips between guard pages, against sums in double precision."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.llvm.compiler import host_target
from commonir.runtime.kernel_graph import window_strips
from commonir.runtime.kernel_graph.graph import KernelGraph, Strips
from commonir.symbolic import symbol

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.native.guarded_memory import Side
from tests.oracles import require_package
from tests.runtime.programs import constant, program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(11)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def windows(x: Array, kernel: Sequence[int], stride: int, pads: Sequence[tuple[int, int]], fill: float) -> Array:
    """Returns the elements of each window as first axis, of a tensor [batch, channels, ...]."""
    wide = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=fill)
    counts = [(n - k) // stride + 1 for n, k in zip(wide.shape[2:], kernel, strict=True)]
    out: list[Array] = []
    for start in itertools.product(*map(range, kernel)):
        at = [slice(s, s + (n - 1) * stride + 1, stride) for s, n in zip(start, counts, strict=True)]
        out.append(wide[(slice(None), slice(None), *at)])
    return np.stack(out)


def convolved(x: Array, w: Array, stride: int, pads: Sequence[tuple[int, int]], *, is_depthwise: bool) -> Array:
    """Returns the sums of a convolution in double precision."""
    of_windows = windows(x.astype(np.float64), w.shape[2:], stride, pads, 0)
    if is_depthwise:
        return np.einsum("knc...,ck->nc...", of_windows, w.reshape(len(w), -1))
    return np.einsum("knc...,fck->nf...", of_windows, w.reshape(*w.shape[:2], -1))


def strips_of(graph: KernelGraph) -> list[Strips]:
    return [node.strips for node in graph.nodes.values() if node.strips is not None]


def in_small_strips(monkeypatch: pytest.MonkeyPatch, size_bytes: int) -> None:
    """Makes strips as small as that, however often rows are computed."""
    monkeypatch.setattr(window_strips, "LARGE_BYTES", 1)
    monkeypatch.setattr(window_strips, "STRIP_BYTES", size_bytes)
    monkeypatch.setattr(window_strips, "MOST_REPEATED", 100.0)


def run(
    build: Callable[[Value], Value],
    x: Array,
    width: Width = "host",
    side: Side = "after",
    threads: int = 1,
    *,
    is_symbolic: bool = False,
) -> tuple[Array, list[Strips]]:
    """Returns the result and the strips; the number of images may be a symbol."""
    batch = symbol("batch") if is_symbolic else len(x)
    graph = graph_of(program(build, {"x": TensorType(f32, (batch, *x.shape[1:]))}))
    assert graph is not None
    dims = {"batch": len(x)} if is_symbolic else {}
    (actual,) = run_guarded(graph, of_width(host_target(), width), {"in1": x}, dims, side, threads)
    return actual, strips_of(graph)


@pytest.mark.fast_every(7)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("is_symbolic", [False, True])
@pytest.mark.parametrize(
    ("image", "channels", "kernel", "stride", "pads", "size_bytes"),
    [
        ((1, 5, 13, 9), 32, (3, 3), 1, ((1, 1), (1, 1)), 5000),
        ((1, 5, 13, 9), 48, (3, 3), 2, ((1, 1), (1, 1)), 5000),
        ((2, 7, 14, 10), 64, (3, 3), 2, ((0, 1), (0, 1)), 8000),
        ((1, 3, 12, 11), 16, (5, 5), 1, ((2, 2), (2, 2)), 6000),
        ((1, 3, 12, 11), 32, (5, 3), 3, ((4, 0), (1, 2)), 9000),
        ((1, 4, 7, 6), 96, (3, 3), 1, ((0, 0), (0, 0)), 1 << 20),
        ((3, 4, 2, 3), 32, (3, 3), 1, ((1, 1), (1, 1)), 1 << 20),
        ((2, 6, 29), 32, (3,), 1, ((1, 1),), 1100),
        ((1, 4, 6, 5, 4), 32, (3, 3, 3), 1, ((1, 1), (1, 1), (1, 1)), 14000),
    ],
)
def test_expansions_with_depthwise_convolutions_agree_with_sums(
    image: tuple[int, ...],
    channels: int,
    kernel: tuple[int, ...],
    stride: int,
    pads: tuple[tuple[int, int], ...],
    size_bytes: int,
    is_symbolic: bool,
    width: Width,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_small_strips(monkeypatch, size_bytes)
    rank = len(kernel)
    x, b1, b2 = normal(*image), normal(channels), normal(channels)
    w1, w2 = normal(channels, image[1], *[1] * rank), normal(channels, 1, *kernel)
    w3 = normal(image[1], channels, *[1] * rank)

    def made(v: Value) -> Value:
        y = core.relu(core.conv(v, constant(w1), constant(b1)))
        y = core.conv(y, constant(w2), constant(b2), strides=(stride,) * rank, pads=pads, groups=channels)
        return core.conv(core.relu(y), constant(w3))

    actual, strips = run(made, x, width, "after" if stride == 1 else "before", rank, is_symbolic=is_symbolic)
    over = (slice(None), *[None] * rank)
    y = np.maximum(convolved(x, w1, 1, ((0, 0),) * rank, is_depthwise=False) + b1[over], 0)
    y = np.maximum(convolved(y, w2, stride, pads, is_depthwise=True) + b2[over], 0)
    expected = convolved(y, w3, 1, ((0, 0),) * rank, is_depthwise=False)
    np.testing.assert_allclose(actual, expected, atol=2e-5 * np.abs(expected).max(), rtol=0)
    assert len(strips) == 1


@pytest.mark.parametrize("width", available_widths())
def test_a_pool_reads_minus_infinity_around_strips(width: Width, monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_strips(monkeypatch, 4000)
    x, w, b = normal(1, 3, 29, 26), normal(32, 3, 7, 7), normal(32) - 100

    def made(v: Value) -> Value:
        y = core.conv(v, constant(w), constant(b), strides=(2, 2), pads=((3, 3), (3, 3)))
        return core.max_pool(y, (3, 3), strides=(2, 2), pads=((1, 1), (1, 1)))

    actual, strips = run(made, x, width)
    y = convolved(x, w, 2, ((3, 3), (3, 3)), is_depthwise=False) + b[:, None, None]
    expected = windows(y, (3, 3), 2, ((1, 1), (1, 1)), -np.inf).max(0)
    np.testing.assert_allclose(actual, expected, atol=2e-5 * np.abs(expected).max(), rtol=0)
    assert [s.axes[0].extent != s.axes[0].size for s in strips] == [True]


def test_a_residual_addition_is_made_in_the_strip(monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_strips(monkeypatch, 5000)
    x, w1, w2 = normal(1, 32, 11, 8), normal(32, 32, 1, 1), normal(32, 1, 3, 3)
    pads = ((1, 1), (1, 1))

    def made(v: Value) -> Value:
        y = core.conv(core.conv(v, constant(w1)), constant(w2), pads=pads, groups=32)
        return core.conv(core.add(y, v), constant(w1))

    actual, strips = run(made, x)
    y = convolved(x, w1, 1, ((0, 0), (0, 0)), is_depthwise=False)
    y = convolved(y, w2, 1, pads, is_depthwise=True) + x
    expected = convolved(y, w1, 1, ((0, 0), (0, 0)), is_depthwise=False)
    np.testing.assert_allclose(actual, expected, atol=2e-5 * np.abs(expected).max(), rtol=0)
    assert len(strips) == 1


def test_what_two_nodes_read_is_not_computed_in_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_strips(monkeypatch, 5000)
    x, w1, w2 = normal(1, 4, 11, 8), normal(32, 4, 1, 1), normal(32, 1, 3, 3)

    def made(v: Value) -> Value:
        expanded = core.conv(v, constant(w1))
        y = core.conv(expanded, constant(w2), pads=((1, 1), (1, 1)), groups=32)
        return core.max_pool(core.max_pool(core.concat((y, expanded), axis=1), (2, 2)), (2, 2))

    actual, strips = run(made, x)
    expanded = convolved(x, w1, 1, ((0, 0), (0, 0)), is_depthwise=False)
    y = np.concatenate([convolved(expanded, w2, 1, ((1, 1), (1, 1)), is_depthwise=True), expanded], 1)
    for _ in range(2):
        y = windows(y, (2, 2), 1, ((0, 0), (0, 0)), 0).max(0)
    np.testing.assert_allclose(actual, y, atol=2e-5 * np.abs(y).max(), rtol=0)
    assert strips == []
