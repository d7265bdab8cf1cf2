"""Products whose right factor is transposed, and products of few columns, between guard pages, against numpy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.types import TensorType, f32
from commonir.llvm.compiler import host_target
from commonir.native.products.product_tiles import tile_of
from commonir.symbolic import symbol

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(3)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def agree(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, atol=1e-5 * np.abs(expected).max(), rtol=0)


@pytest.mark.fast_every(7)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize(
    ("rows", "terms", "columns"),
    [
        (1, 40, 33),
        (2, 300, 20),
        (4, 16, 16),
        (5, 17, 31),
        (9, 64, 128),
        (12, 33, 7),
        (7, 5, 40),
        (30, 12, 3),
        (6, 1100, 18),
    ],
)
def test_transposed_factors_agree_with_numpy(rows: int, terms: int, columns: int, width: Width) -> None:
    x, y = normal(3, rows, terms), normal(3, columns, terms)
    graph = graph_of(
        program(
            lambda x, y: core.relu(core.matmul(x, core.transpose(y, (0, 2, 1)))),
            {"x": TensorType(f32, x.shape), "y": TensorType(f32, y.shape)},
        )
    )
    assert graph is not None
    operands = dict(zip(graph.inputs, (x, y), strict=True))
    (actual,) = run_guarded(graph, of_width(host_target(), width), operands, {}, ("before", "after")[rows % 2])
    agree(actual, np.maximum(np.einsum("brk,bck->brc", x.astype(np.float64), y), 0))


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("columns", [1, 15, 16, 37, 96])
def test_transposed_factors_may_have_any_number_of_columns(columns: int, width: Width) -> None:
    x, y = normal(9, 40), normal(columns, 40)
    graph = graph_of(
        program(
            lambda x, y: core.matmul(x, core.transpose(y, (1, 0))),
            {"x": TensorType(f32, x.shape), "y": TensorType(f32, (symbol("n"), 40))},
        )
    )
    assert graph is not None
    operands = dict(zip(graph.inputs, (x, y), strict=True))
    for side in ("before", "after"):
        (actual,) = run_guarded(graph, of_width(host_target(), width), operands, {"n": columns}, side)
        agree(actual, x.astype(np.float64) @ y.T)


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("columns", [1, 2, 3, 5])
@pytest.mark.parametrize("terms", [64, 250, 1024])
def test_few_columns_agree_with_numpy(terms: int, columns: int, width: Width) -> None:
    x, y = normal(50, terms), normal(terms, columns)
    graph = graph_of(program(core.matmul, {"x": TensorType(f32, x.shape), "y": TensorType(f32, y.shape)}))
    assert graph is not None
    operands = dict(zip(graph.inputs, (x, y), strict=True))
    (actual,) = run_guarded(graph, of_width(host_target(), width), operands, {}, "after")
    agree(actual, x.astype(np.float64) @ y)


@pytest.mark.parametrize(("row_bytes", "most"), [(4096, 8), (12288, 8), (2048, 16), (3072, 32), (4000, 64)])
def test_rows_of_narrow_tiles_fit_the_nearest_cache(row_bytes: int, most: int) -> None:
    """Eight lines of memory that are 4096 bytes apart have room in it, so rows of one tile should be no more."""
    for columns in (2, 8, 16):
        assert tile_of(512, columns, host_target(), row_bytes=row_bytes).rows <= most
    assert tile_of(512, 2, host_target(), row_bytes=4000).rows > 8
