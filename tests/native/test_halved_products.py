"""Products that are computed by halves, between guard pages, against sums in double precision."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.llvm.compiler import host_target
from commonir.llvm.target import Target
from commonir.native.compiling import generated_program
from commonir.native.graph_code import code_of
from commonir.native.kernels.work_units import points_of
from commonir.native.products import halved_products
from commonir.runtime.kernel_graph.control import program_of
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.kernel_graph.layouts import assign_layouts

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import constant, program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def small_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halved_products, "SHARED_COLUMNS", 192)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def linear(shape: tuple[int, ...], w: Array, b: Array) -> Module:
    """Returns `max(x w + b, 0)`."""
    return program(
        lambda v: core.relu(core.add(core.matmul(v, constant(w)), constant(b))), {"x": TensorType(f32, shape)}
    )


def halved_graph(module: Module, target: Target) -> KernelGraph:
    """Returns the graph of a program, whose products are computed by halves."""
    graph = graph_of(module)
    assert graph is not None
    assert is_halved(graph, target)
    return graph


def is_halved(graph: KernelGraph, target: Target) -> bool:
    return "@tiles_" in code_of(graph, assign_layouts(graph), target).text


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize(
    ("shape", "columns"), [((96, 256), 192), ((101, 288), 224), ((2, 59, 320), 256), ((300, 256), 192)]
)
def test_products_of_halves_agree_with_sums(
    shape: tuple[int, ...], columns: int, width: Width, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(halved_products, "BLOCK_ROWS", 60)
    x, w, b = normal(*shape), normal(shape[-1], columns), normal(columns)
    target = of_width(host_target(), width)
    graph = halved_graph(linear(shape, w, b), target)
    (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {}, "after")
    expected = np.maximum(x.astype(np.float64) @ w + b, 0)
    np.testing.assert_allclose(actual, expected, atol=4e-6 * np.abs(expected).max(), rtol=0)


def test_threads_share_blocks_and_panels() -> None:
    x, w, b = normal(101, 256), normal(256, 192), normal(192)
    graph = halved_graph(linear(x.shape, w, b), host_target())
    one, two = [run_guarded(graph, host_target(), dict.fromkeys(graph.inputs, x), {}, "before", n)[0] for n in (1, 2)]
    expected = np.maximum(x.astype(np.float64) @ w + b, 0)
    np.testing.assert_allclose(one, expected, atol=4e-6 * np.abs(expected).max(), rtol=0)
    assert np.array_equal(one, two)


def test_rows_whose_terms_lie_apart_agree_with_sums() -> None:
    x, w = normal(4, 100, 64), normal(256, 192)

    def made(v: Value) -> Value:
        return core.matmul(core.reshape(core.transpose(v, (1, 0, 2)), (100, 256)), constant(w))

    graph = halved_graph(program(made, {"x": TensorType(f32, x.shape)}), host_target())
    (actual,) = run_guarded(graph, host_target(), dict.fromkeys(graph.inputs, x), {}, "after")
    expected = x.astype(np.float64).transpose(1, 0, 2).reshape(100, 256) @ w
    np.testing.assert_allclose(actual, expected, atol=4e-6 * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_numbers_that_are_not_finite_stay_in_their_rows(number: float) -> None:
    x, w, b = normal(100, 256), normal(256, 192), normal(192)
    x[7, 200] = number
    graph = halved_graph(linear(x.shape, w, b), host_target())
    (actual,) = run_guarded(graph, host_target(), dict.fromkeys(graph.inputs, x), {}, "after")
    expected = np.maximum(x.astype(np.float64) @ w + b, 0)
    others = np.arange(100) != 7
    np.testing.assert_allclose(actual[others], expected[others], atol=4e-6 * np.abs(expected[others]).max(), rtol=0)
    assert np.array_equal(np.isfinite(actual[7]), np.isfinite(expected[7]))


@pytest.mark.parametrize("factor", ["left", "right"])
def test_long_rows_and_columns_raise_no_errors_of_others(factor: str) -> None:
    x, w, b = normal(100, 256), normal(256, 192), normal(192)
    if factor == "left":
        x[3] *= 1000
    else:
        w[:, 100] *= 1000
    graph = halved_graph(linear(x.shape, w, b), host_target())
    (actual,) = run_guarded(graph, host_target(), dict.fromkeys(graph.inputs, x), {}, "after")
    expected = np.maximum(x.astype(np.float64) @ w + b, 0)
    scale = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(w, axis=0)
    np.testing.assert_array_less(np.abs(actual - expected) / scale, 1e-6)


def test_the_option_of_the_engine_decides() -> None:
    graph = graph_of(linear((96, 256), normal(256, 192), normal(192)))
    assert graph is not None
    assert not is_halved(graph, host_target()._replace(fast_math="none"))


@pytest.mark.parametrize(("rows", "terms", "columns"), [(95, 256, 192), (96, 255, 192), (96, 256, 100)])
def test_what_would_not_pay_is_summed_as_it_is(rows: int, terms: int, columns: int) -> None:
    graph = graph_of(linear((rows, terms), normal(terms, columns), normal(columns)))
    assert graph is not None
    assert not is_halved(graph, host_target())


@pytest.mark.parametrize(("rows", "is_shared"), [(128, False), (1024, True)])
def test_there_are_units_for_several_threads(rows: int, is_shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halved_products, "SHARED_COLUMNS", 768)
    graph = graph_of(linear((rows, 384), normal(384, 384), normal(384)))
    assert graph is not None
    assert is_halved(graph, host_target()) == is_shared
    calls = generated_program(program_of(graph), host_target()).program.calls
    assert calls[0].prepares == is_shared
    assert points_of([calls[0].units]) >= 8
