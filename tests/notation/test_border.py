"""Kernels at the border of the notation: proven inside for symbolic sizes, and equal to numpy for small ones."""

from __future__ import annotations

import numpy as np
import pytest

from commonir.notation import (
    Expr,
    Kernel,
    PaddingMode,
    call,
    fold,
    index,
    lift,
    ranges,
    require,
    select,
    shape_of,
    total,
)
from commonir.symbolic import Dim, floor_div, largest, smallest, symbol

from tests.notation import kernels
from tests.notation.kernels import Shape, tensor
from tests.notation.oracle import Array, run

N, C, H, W = (symbol(s) for s in "NCHW")
L = symbol("L", 0)
i, j, k, n, c, o = (index(s) for s in "ijknco")


def average_pool(x: Shape, window: int, stride: int, pads: tuple[int, int], ceil_mode: bool) -> Kernel:
    """Over the last axis; padding is not counted, and a window starts inside the input or its left padding."""
    size, (low, high), extra = x[-1], pads, stride - 1 if ceil_mode else 0
    count = floor_div(size + low + high - window + extra, stride) + 1
    if ceil_mode:
        count = smallest(count, floor_div(size + low - 1, stride) + 1)
    covered = smallest(stride * o - low + window, size) - largest(stride * o - low, 0)
    padded = tensor("x", x).padded((0, low), (0, high + extra))
    return (total(k, padded[n, stride * o + k]) / lift(covered)).by(n, o).where({o: count, k: window})


def nearest(x: Shape, size: Dim) -> Kernel:
    at = floor_div((2 * o + 1) * x[-1], 2 * size)
    return tensor("x", x)[n, at].by(n, o).where({o: size})


def depth_to_space(x: Shape, block: int) -> Kernel:
    whole = require(x[1] % block**2, "==", 0, "channels of x", label="C1")
    depth = floor_div(x[1], block**2)
    at = (n, (i % block * block + j % block) * depth + c, i // block, j // block)
    return tensor("x", x)[at].by(n, c, i, j).where({c: depth}, whole)


def padded(x: Shape, before: int, after: int, mode: PaddingMode) -> Kernel:
    return tensor("x", x).padded((before,), (after,), mode)[i].by(i)


def arg_max(x: Shape) -> Kernel:
    t = tensor("x", x)
    first: Expr = select(call("equal", t[n, i], fold("maximum", k, t[n, k])), i, x[-1] - 1)
    return fold("minimum", i, first).by(n)


def cumulative_sum(x: Shape) -> Kernel:
    return total(k, select(call("less_equal", k, i), tensor("x", x)[k], 0)).by(i).where({i: x[0]})


@pytest.mark.parametrize(
    ("kernel", "shape"),
    [
        (average_pool((N, H), 3, 2, (1, 1), False), "N, floor((H + 1) / 2)"),
        (average_pool((N, H), 3, 2, (1, 1), True), "N, floor(H / 2) + 1"),
        (nearest((N, H), 2 * H), "N, 2*H"),
        (nearest((N, H), W), "N, W"),
        (depth_to_space((N, 12, H, W), 2), "N, 3, 2*H, 2*W"),
        (padded((H,), 2, 3, "edge"), "H + 5"),
        (padded((H,), 2, 3, "wrap"), "H + 5"),
        (kernels.slice_axis((H,), 1, -2, 2), "ceil((max(0, H - 2) - 1) / 2)"),
        (kernels.slice_axis((L,), -5, 1000, 3), "max(0, ceil((min(1000, L) - max(0, L - 5)) / 3))"),
        (kernels.reshape((N, H, 12), (N * H, 3, 4)), "H*N, 3, 4"),
        (tensor("x", (H,))[i % H].by(i).where({i: 3 * H}), "3*H"),
        (tensor("x", (H,))[i // 3].by(i), "3*H"),
        (tensor("x", (N, 12))[n, c % 3 * 4 + c // 3].by(n, c).where({c: 12}), "N, 12"),
        (kernels.conv((N, 32, H), (32, 1, 3), (2,), (1,), ((1, 1),), groups=32), "N, 32, floor((H + 1) / 2)"),
        (kernels.conv_transpose((N, 16, H), (16, 8, 3), (2,), ((1, 1),)), "N, 8, 2*H - 1"),
        (arg_max((N, H)), "N"),
        (cumulative_sum((H,)), "H"),
    ],
)
def test_reads_are_proven_inside_for_symbolic_sizes(kernel: Kernel, shape: str) -> None:
    extents, constraints = ranges(kernel)
    assert ", ".join(map(str, shape_of(kernel, extents))) == shape
    assert constraints == ()


def test_what_is_not_proven_is_asked_once() -> None:
    grouped = kernels.conv((N, C, H), (32, symbol("K"), 3), (2,), (1,), ((1, 1),), groups=4)
    assert [str(x) for x in ranges(grouped)[1]] == ["C == 4*K (channels of x)"]
    assert [str(x) for x in ranges(kernels.reshape((N, 12), (C, 4)))[1]] == ["4*C == 12*N (number of elements)"]


def data(*shape: int) -> Array:
    return (np.arange(np.prod(shape), dtype=np.float64) * 7 % 11 - 4).reshape(shape)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("size", [3, 4, 7])
def test_average_pool_divides_by_what_a_window_covers(size: int, ceil_mode: bool) -> None:
    x = data(2, size)
    starts = range(-1, size + 1 - (0 if ceil_mode else 2), 2)
    starts = [s for s in starts if s < size]
    expected = np.stack([x[:, max(s, 0) : min(s + 3, size)].mean(1) for s in starts], 1)
    np.testing.assert_allclose(run(average_pool((2, size), 3, 2, (1, 1), ceil_mode), {"x": x}), expected, rtol=1e-12)


@pytest.mark.parametrize(("size", "to"), [(7, 15), (9, 4), (5, 5)])
def test_nearest_takes_the_element_under_the_centre(size: int, to: int) -> None:
    x = data(2, size)
    at = [int((p + 0.5) * size / to) for p in range(to)]
    np.testing.assert_array_equal(run(nearest((2, size), to), {"x": x}), x[:, at])


def test_depth_to_space_moves_channels() -> None:
    x = data(1, 8, 2, 3)
    expected = x.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6)
    np.testing.assert_array_equal(run(depth_to_space((1, 8, 2, 3), 2), {"x": x}), expected)


def test_depth_to_space_needs_a_multiple_of_the_block() -> None:
    with pytest.raises(ValueError, match="channels of x: expected 0, found 2"):
        depth_to_space((1, 6, 2, 3), 2)


def test_kernels_with_an_index_as_a_number() -> None:
    x = data(3, 5)
    np.testing.assert_array_equal(run(arg_max((3, 5)), {"x": x}), x.argmax(1))
    np.testing.assert_array_equal(run(cumulative_sum((5,)), {"x": x[0]}), x[0].cumsum())


def test_softmax_as_one_kernel() -> None:
    x = data(2, 3, 4)
    weights = np.exp(x)
    expected = weights / weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(run(kernels.softmax((2, 3, 4)), {"x": x}), expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 4])
def test_transposed_convolution_scatters_the_input(size: int) -> None:
    x, w = data(1, 2, size), data(2, 3, 3)
    expected = np.zeros((1, 3, 2 * (size - 1) + 3))
    for f, channel, p, t in np.ndindex(3, 2, size, 3):
        expected[0, f, 2 * p + t] += x[0, channel, p] * w[channel, f, t]
    built = kernels.conv_transpose((1, 2, size), (2, 3, 3), (2,), ((0, 0),))
    np.testing.assert_array_equal(run(built, {"x": x, "w": w}), expected)
