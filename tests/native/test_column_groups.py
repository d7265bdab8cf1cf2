"""Groups of columns of a product that functions of elements read, such as gates, against sums in double precision."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.llvm.code_loading import loaded_code
from commonir.llvm.compiler import host_target, object_code
from commonir.native import steps_code
from commonir.native.compiling import constants_of
from commonir.native.engine import ENGINE
from commonir.native.graph_code import code_of
from commonir.native.kernels import work_units
from commonir.native.products import contraction_code
from commonir.native.products.pair_products import PAIRS
from commonir.runtime.engine import EngineOptions
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.symbolic import Dim, symbol

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.native.guarded_memory import Side
from tests.oracles import require_package
from tests.runtime.programs import constant, program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

TERMS = 19


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def cell(w: Array, b: Array, rows: Dim) -> Module:
    """Returns two functions of four groups of columns, of which the second reads the result of the first."""
    size = w.shape[1] // 4

    def build(x: Value, state: Value) -> Sequence[Value]:
        i, o, forget, z = core.split(core.add(core.matmul(x, constant(w)), constant(b)), -1, (size,) * 4)
        following = core.add(core.mul(forget, state), core.mul(i, core.tanh(z)))
        return core.mul(o, following), following

    return program(build, {"x": TensorType(f32, (rows, TERMS)), "state": TensorType(f32, (rows, size))})


def expected_cell(w: Array, b: Array, x: Array, state: Array) -> list[Array]:
    i, o, forget, z = np.split(x.astype(np.float64) @ w + b, 4, -1)
    following = forget * state + i * np.tanh(z)
    return [o * following, following]


@pytest.mark.fast_every(7)
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("size", [3, 5, 16, 37, 64])
@pytest.mark.parametrize("rows", [1, 2, 13])
def test_gates_are_computed_where_they_are_read(rows: int, size: int, width: Width, side: Side) -> None:
    w, b, x, state = normal(0, TERMS, 4 * size), normal(1, 4 * size), normal(2, rows, TERMS), normal(3, rows, size)
    graph = graph_of(cell(w, b, rows))
    assert graph is not None
    assert len(graph.nodes) == 2
    arrays = dict(zip(graph.inputs, [x, state], strict=True))
    actual = run_guarded(graph, of_width(host_target(), width), arrays, {}, side)
    for a, e in zip(actual, expected_cell(w, b, x, state), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-4)


def test_the_number_of_rows_may_be_a_symbol() -> None:
    w, b = normal(0, TERMS, 4 * 20), normal(1, 4 * 20)
    graph = graph_of(cell(w, b, symbol("n")))
    assert graph is not None
    assert len(graph.nodes) == 2
    for rows in (1, 3, 70):
        x, state = normal(2, rows, TERMS), normal(3, rows, 20)
        arrays = dict(zip(graph.inputs, [x, state], strict=True))
        actual = run_guarded(graph, host_target(), arrays, {"n": rows}, "after")
        for a, e in zip(actual, expected_cell(w, b, x, state), strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-4)


def test_products_of_rounded_numbers_have_groups() -> None:
    target = host_target()._replace(fast_math="bf16")
    if not target.has(PAIRS):
        pytest.skip("this processor has no products of bfloat16")
    w, b, x, state = normal(0, TERMS, 4 * 37), normal(1, 4 * 37), normal(2, 3, TERMS), normal(3, 3, 37)
    graph = graph_of(cell(w, b, 3))
    assert graph is not None
    arrays = dict(zip(graph.inputs, [x, state], strict=True))
    rounded = [a.astype(dtype_of("bf16")).astype(np.float32) for a in (w, x)]
    expected = expected_cell(rounded[0], b, rounded[1], state)
    for a, e in zip(run_guarded(graph, target, arrays, {}, "after"), expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-4)


def test_columns_that_are_read_twice_are_computed_once() -> None:
    w, x = normal(0, TERMS, 32), normal(2, 3, TERMS)

    def build(x: Value) -> Value:
        left, right = core.split(core.matmul(x, constant(w)), -1, (16, 16))
        return core.concat((core.mul(left, core.tanh(right)), core.mul(right, core.tanh(left))), -1)

    graph = graph_of(program(build, {"x": TensorType(f32, x.shape)}))
    assert graph is not None
    products = [node for node in graph.nodes.values() if any(r in graph.constants for r in node.reads)]
    assert [node.spec.shape for node in products] == [(3, 32)]
    (actual,) = run_guarded(graph, host_target(), dict.fromkeys(graph.inputs, x), {}, "after")
    left, right = np.split(x.astype(np.float64) @ w, 2, -1)
    np.testing.assert_allclose(
        actual, np.concatenate([left * np.tanh(right), right * np.tanh(left)], -1), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_panels_of_each_thread_are_computed_from_either_end(
    monkeypatch: pytest.MonkeyPatch, threads: int, side: Side
) -> None:
    """A row of 256 bytes lies at an even multiple of its size behind a page, and at an odd one before a page."""
    monkeypatch.setattr(contraction_code, "TURNING_PANELS", range(1 << 20))
    monkeypatch.setattr(work_units, "BLOCK_COST", 1)
    monkeypatch.setattr(steps_code, "BLOCK_COST", 1)
    w, x = normal(0, 64, 550), normal(1, 1, 64)
    graph = graph_of(program(lambda x: core.matmul(x, constant(w)), {"x": TensorType(f32, (1, 64))}))
    assert graph is not None
    (actual,) = run_guarded(graph, host_target(), dict.fromkeys(graph.inputs, x), {}, side, threads)
    np.testing.assert_allclose(actual, x.astype(np.float64) @ w, rtol=1e-4, atol=1e-4)


def test_a_range_of_panels_has_the_same_columns_from_either_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contraction_code, "TURNING_PANELS", range(1 << 20))
    monkeypatch.setattr(work_units, "BLOCK_COST", 1)
    w, rows = normal(0, 64, 512), normal(1, 2, 64)
    graph = graph_of(program(lambda x: core.matmul(x, constant(w)), {"x": TensorType(f32, (1, 64))}))
    assert graph is not None
    code = code_of(graph, assign_layouts(graph), host_target())
    (call,) = code.calls
    assert isinstance(call.units, int)
    assert call.units > 2
    library = loaded_code(object_code(code.text, host_target()), host_target())
    constants = constants_of(code)
    columns: list[Array] = []
    for row in rows:
        out = np.full((1, 512), np.nan, np.float32)
        given = {**constants, **dict.fromkeys(graph.inputs, row), **dict.fromkeys(graph.outputs, out)}
        faults = np.zeros(2, np.int64)
        addresses = [np.asarray(given[t]).ctypes.data for t in call.tensors]
        library.function(call.function, 4 + len(addresses))(faults.ctypes.data, 0, 0, call.units // 2, *addresses)
        done = np.isfinite(out[0])
        np.testing.assert_allclose(out[0, done], (row.astype(np.float64) @ w)[done], rtol=1e-4, atol=1e-4)
        columns.append(done)
    assert 0 < np.count_nonzero(columns[0]) < 512
    np.testing.assert_array_equal(columns[0], columns[1])


def test_panels_are_computed_from_either_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contraction_code, "TURNING_PANELS", range(1 << 20))
    w, rows = normal(0, 64, 150), normal(1, 8, 64)
    module = program(lambda x: core.matmul(x, constant(w)), {"x": TensorType(f32, (1, 64))})
    executable = ENGINE.prepare(module, options=EngineOptions(plan_ahead=True))
    for n in range(len(rows)):
        (actual,) = executable.run({"x": rows[n : n + 1]}).values()
        np.testing.assert_allclose(actual[0], rows[n].astype(np.float64) @ w, rtol=1e-4, atol=1e-4)
