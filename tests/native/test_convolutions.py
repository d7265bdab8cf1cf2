"""Convolutions in their own schedules (transformed tiles, residues), between guard pages, against their sums.

The expected values are sums in double precision of shifted products, written with numpy.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.llvm.compiler import host_target
from commonir.native.compiling import constants_of
from commonir.native.graph_code import code_of
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.symbolic import Dim, symbol

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import constant, program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(5)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def convolved(x: Array, w: Array, pad: int, stride: int) -> Array:
    """Returns the sums of a convolution with windows of 3 x 3."""
    wide = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    height, width = [n - 2 for n in wide.shape[2:]]
    out = np.zeros((len(x), len(w), height, width))
    for ky, kx in itertools.product(range(3), range(3)):
        out += np.einsum("nchw,fc->nfhw", wide[:, :, ky : ky + height, kx : kx + width], w[:, :, ky, kx])
    return out[:, :, ::stride, ::stride]


def transposed_convolved(x: Array, w: Array, stride: int, pad: int, dilation: int) -> Array:
    """Returns the sums of a transposed convolution: each element spreads the filter."""
    n, _, h, v = x.shape
    k = (w.shape[2] - 1) * dilation
    out = np.zeros((n, w.shape[1], (h - 1) * stride + k + 1, (v - 1) * stride + k + 1))
    for ky, kx in itertools.product(range(w.shape[2]), range(w.shape[3])):
        part = np.einsum("nchw,cf->nfhw", x.astype(np.float64), w[:, :, ky, kx])
        y, z = ky * dilation, kx * dilation
        out[:, :, y : y + (h - 1) * stride + 1 : stride, z : z + (v - 1) * stride + 1 : stride] += part
    return out[:, :, pad : out.shape[2] - pad, pad : out.shape[3] - pad]


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("is_symbolic", [False, True])
@pytest.mark.parametrize(
    ("shape", "filters", "pad", "stride"),
    [
        ((1, 16, 13, 13), 16, 1, 1),
        ((2, 17, 14, 29), 33, 1, 1),
        ((1, 40, 16, 15), 20, 0, 1),
        ((1, 64, 4, 3), 48, 1, 1),
        ((3, 31, 2, 2), 17, 1, 1),
        ((1, 16, 33, 2), 16, 1, 1),
        ((1, 16, 26, 26), 16, 1, 2),
        ((2, 17, 27, 57), 33, 1, 2),
        ((1, 40, 33, 32), 20, 0, 2),
        ((1, 16, 8, 7), 48, 1, 2),
    ],
)
def test_windows_of_three_agree_with_sums(
    shape: tuple[int, ...], filters: int, pad: int, stride: int, is_symbolic: bool, width: Width
) -> None:
    x, w, b, other = normal(*shape), normal(filters, shape[1], 3, 3), normal(filters), normal(filters, 1, 1)
    pads = ((pad, pad), (pad, pad))

    def made(v: Value) -> Value:
        y = core.conv(v, constant(w), constant(b), strides=(stride, stride), pads=pads)
        return core.add(core.relu(y), constant(other))

    batch = symbol("batch") if is_symbolic else shape[0]
    graph = graph_of(program(made, {"x": TensorType(f32, (batch, *x.shape[1:]))}))
    assert graph is not None
    dims = {"batch": shape[0]} if is_symbolic else {}
    (actual,) = run_guarded(graph, of_width(host_target(), width), {"in1": x}, dims, "after" if pad else "before")
    expected = np.maximum(convolved(x, w, pad, stride) + b[:, None, None], 0) + other
    np.testing.assert_allclose(actual, expected, atol=2e-5 * np.abs(expected).max(), rtol=0)


# For results of 28 x 28 tiles of 4 x 4 are fewest, at a stride of 2 those of 2 x 2 for 14 x 14.
@pytest.mark.parametrize("batch", [1, symbol("batch")])
@pytest.mark.parametrize(("size", "stride", "points"), [(28, 1, 36), (56, 2, 81), (28, 2, 25), (14, 2, 9)])
def test_windows_of_three_are_computed_by_transformed_tiles(size: int, stride: int, points: int, batch: Dim) -> None:
    w = normal(32, 32, 3, 3)
    module = program(
        lambda v: core.conv(v, constant(w), None, strides=(stride, stride), pads=((1, 1), (1, 1))),
        {"x": TensorType(f32, (batch, 32, size, size))},
    )
    graph = graph_of(module)
    assert graph is not None
    code = code_of(graph, assign_layouts(graph), host_target())
    assert [a.size for a in constants_of(code).values() if a.size > 32] == [points * 32 * 32]


@pytest.mark.fast_every(6)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize(
    ("kernel", "stride", "pad", "dilation"),
    [(2, 2, 0, 1), (3, 2, 1, 1), (4, 2, 1, 1), (5, 3, 2, 1), (2, 3, 0, 1), (3, 2, 0, 2), (1, 2, 0, 1), (3, 2, 1, 3)],
)
def test_transposed_convolutions_agree_with_sums(
    kernel: int, stride: int, pad: int, dilation: int, width: Width
) -> None:
    x, w, b = normal(2, 9, 5, 7), normal(9, 19, kernel, kernel), normal(19)
    module = program(
        lambda v: core.relu(
            core.conv_transpose(
                v,
                constant(w),
                constant(b),
                strides=(stride, stride),
                dilations=(dilation, dilation),
                pads=((pad, pad), (pad, pad)),
            )
        ),
        {"x": TensorType(f32, x.shape)},
    )
    graph = graph_of(module)
    assert graph is not None
    (actual,) = run_guarded(graph, of_width(host_target(), width), {"in1": x}, {}, "before" if pad else "after")
    expected = np.maximum(transposed_convolved(x, w, stride, pad, dilation) + b[:, None, None], 0)
    np.testing.assert_allclose(actual, expected, atol=1e-5 * np.abs(expected).max(), rtol=0)


def test_residues_of_one_size_share_their_code() -> None:
    w = normal(32, 48, 2, 2)
    module = program(
        lambda v: core.conv_transpose(v, constant(w), None, strides=(2, 2)), {"x": TensorType(f32, (1, 32, 8, 8))}
    )
    graph = graph_of(module)
    assert graph is not None
    code = code_of(graph, assign_layouts(graph), host_target())
    sizes = [a.size for a in constants_of(code).values()]
    assert sizes == [w.size]


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize(
    ("filters", "image"), [(24, (9, 16)), (20, (8, 14)), (36, (5, 7)), (5, (11, 3)), (50, (4, 28))]
)
def test_columns_that_fill_no_vector_agree_with_sums(filters: int, image: tuple[int, int], width: Width) -> None:
    x, w, b = normal(1, 7, *image), normal(filters, 7, 5, 5), normal(filters)
    pads = ((2, 2), (2, 2))
    module = program(
        lambda v: core.relu(core.conv(v, constant(w), constant(b), pads=pads)), {"x": TensorType(f32, x.shape)}
    )
    graph = graph_of(module)
    assert graph is not None
    (actual,) = run_guarded(graph, of_width(host_target(), width), {"in1": x}, {}, "after" if filters % 2 else "before")
    wide = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *pads])
    expected = np.zeros((1, filters, *image))
    for ky, kx in itertools.product(range(5), range(5)):
        part = wide[:, :, ky : ky + image[0], kx : kx + image[1]]
        expected += np.einsum("nchw,fc->nfhw", part, w[:, :, ky, kx])
    expected = np.maximum(expected + b[:, None, None], 0)
    np.testing.assert_allclose(actual, expected, atol=1e-5 * np.abs(expected).max(), rtol=0)
