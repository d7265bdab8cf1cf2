"""Products of numbers rounded to bfloat16, against sums in double precision of numbers that numpy rounded."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.dialects import core
from commonir.ir.types import TensorType, f32
from commonir.llvm.compiler import host_target
from commonir.native.engine import ENGINE
from commonir.native.products import packed_rows
from commonir.runtime.engine import EngineOptions

from tests.native.graphs import graph_of, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import constant, program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(3)
FAST = EngineOptions(fast_math="bf16")


def has_pairs() -> bool:
    """Returns whether this processor multiplies pairs of bfloat16."""
    return host_target().has("avx512bf16")


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def rounded(array: Array) -> Array:
    """Returns numbers rounded to bfloat16, in double precision."""
    return array.astype(dtype_of("bf16")).astype(np.float64)


@pytest.mark.parametrize(("terms", "columns"), [(16, 24), (33, 40), (64, 100)])
@pytest.mark.parametrize("rows", [1, 2, 13, 40])
def test_matrix_products_of_rounded_numbers(
    rows: int, terms: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_pairs():
        pytest.skip("this processor has no products of bfloat16")
    monkeypatch.setattr(packed_rows, "BLOCK_BYTES", 24 * terms)
    x, w, b = normal(rows, terms), normal(terms, columns), normal(columns)
    module = program(
        lambda v: core.relu(core.add(core.matmul(v, constant(w)), constant(b))), {"x": TensorType(f32, x.shape)}
    )
    graph = graph_of(module)
    assert graph is not None
    target = host_target()._replace(fast_math="bf16")
    (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {}, "after")
    np.testing.assert_allclose(actual, np.maximum(rounded(x) @ rounded(w) + b, 0), rtol=1e-4, atol=1e-4)
    # Rounding shows: the results are not those of single precision.
    assert np.abs(actual - np.maximum(x.astype(np.float64) @ w + b, 0)).max() > 1e-4


def test_products_of_no_rows_have_no_elements() -> None:
    w = normal(32, 16)
    module = program(lambda v: core.matmul(v, constant(w)), {"x": TensorType(f32, (0, 32))})
    executable = ENGINE.prepare(module, options=FAST._replace(plan_ahead=True))
    (actual,) = executable.run({"x": normal(0, 32)}).values()
    assert actual.shape == (0, 16)


def test_convolutions_of_rounded_numbers() -> None:
    if not has_pairs():
        pytest.skip("this processor has no products of bfloat16")
    x, w = normal(1, 5, 11, 12), normal(20, 5, 2, 2)
    module = program(
        lambda v: core.conv(v, constant(w), None, strides=(2, 1), pads=((1, 0), (0, 1))),
        {"x": TensorType(f32, x.shape)},
    )
    graph = graph_of(module)
    assert graph is not None
    target = host_target()._replace(fast_math="bf16")
    (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {}, "before")
    wide = np.pad(rounded(x), [(0, 0), (0, 0), (1, 0), (0, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(wide, (2, 2), axis=(2, 3))[:, :, ::2]
    expected = np.einsum("nchwyx,fcyx->nfhw", windows, rounded(w))
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)


def test_the_option_of_the_engine_decides() -> None:
    x, w = normal(8, 64), normal(64, 32)
    module = program(lambda v: core.matmul(v, constant(w)), {"x": TensorType(f32, x.shape)})
    exact = x.astype(np.float64) @ w
    (plain,) = ENGINE.prepare(module).run({"x": x}).values()
    (fast,) = ENGINE.prepare(module, None, FAST).run({"x": x}).values()
    np.testing.assert_allclose(plain, exact, rtol=1e-5, atol=1e-4)
    expected = rounded(x) @ rounded(w) if has_pairs() else exact
    np.testing.assert_allclose(fast, expected, rtol=1e-5, atol=1e-4)


def test_rows_are_not_rounded_where_that_takes_longer_than_it_saves() -> None:
    x, w = normal(40, 33), normal(33, 17)
    module = program(lambda v: core.matmul(v, constant(w)), {"x": TensorType(f32, x.shape)})
    (fast,) = ENGINE.prepare(module, None, FAST).run({"x": x}).values()
    np.testing.assert_allclose(fast, x.astype(np.float64) @ w, rtol=1e-5, atol=1e-5)
