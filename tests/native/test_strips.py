"""Chains of products that are computed in strips of rows, against numpy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f16, f32
from commonir.llvm.compiler import host_target
from commonir.native.engine import ENGINE
from commonir.runtime.engine import EngineOptions
from commonir.runtime.kernel_graph import building, running_maximum, strips
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.symbolic import symbol

from tests.native.graphs import Width, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import constant, program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def attended(q: Array, k: Array, v: Array, mask: Array) -> Array:
    """Returns attention in double precision: [batch, heads, rows, depth]."""
    scores = np.einsum("bhqd,bhkd->bhqk", q.astype(np.float64), k) / 3 + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", weights / weights.sum(-1, keepdims=True), v)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("width", ["host", "narrow"])
@pytest.mark.parametrize(
    ("shape", "keys", "is_transposed"),
    [((1, 3, 25, 8), 40, False), ((2, 2, 48, 5), 33, True), ((1, 1, 100, 16), 27, True), ((1, 4, 73, 9), 130, False)],
)
def test_attention_in_strips_agrees_with_numpy(
    shape: tuple[int, ...], keys: int, is_transposed: bool, width: Width, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strips, "LARGE_BYTES", 1)
    monkeypatch.setattr(strips, "STRIP_BYTES", 1)
    batch, heads, rows, depth = shape
    q, k, v = normal(*shape), normal(batch, heads, keys, depth), normal(batch, heads, keys, depth)
    mask = normal(rows, keys)

    def made(q: Value, k: Value, v: Value) -> Value:
        scores = core.matmul(q, core.transpose(k, (0, 1, 3, 2)))
        scores = core.add(core.div(scores, constant(np.full((), 3, np.float32))), constant(mask))
        out = core.matmul(core.softmax(scores, axis=3), v)
        return core.transpose(out, (0, 2, 1, 3)) if is_transposed else out

    types = {name: TensorType(f32, a.shape) for name, a in (("q", q), ("k", k), ("v", v))}
    graph = graph_of(program(made, types))
    assert graph is not None
    arrays = dict(zip(graph.inputs, (q, k, v), strict=True))
    (actual,) = run_guarded(graph, of_width(host_target(), width), arrays, {}, "after" if is_transposed else "before")
    expected = attended(q, k, v, mask)
    expected = expected.transpose(0, 2, 1, 3) if is_transposed else expected
    np.testing.assert_allclose(actual, expected, atol=1e-5, rtol=1e-5)
    # The scores and the weights are stored nowhere.
    assert [node.strips is not None for node in graph.nodes.values()].count(True) == 1
    assert all(node.spec.shape[-2:] != (rows, keys) for node in graph.nodes.values())


def test_attention_in_half_precision_has_room_for_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strips, "LARGE_BYTES", 1)
    monkeypatch.setattr(strips, "STRIP_BYTES", 1)
    q, k, v = normal(1, 2, 41, 8), normal(1, 2, 57, 8), normal(1, 2, 57, 8)

    def made(q: Value, k: Value, v: Value) -> Value:
        scores = core.matmul(q, core.transpose(k, (0, 1, 3, 2)))
        return core.matmul(core.softmax(scores, axis=3), v)

    arrays = {name: a.astype(np.float16).astype(np.float32) for name, a in (("q", q), ("k", k), ("v", v))}
    graph = graph_of(program(made, {name: TensorType(f16, a.shape) for name, a in arrays.items()}))
    assert graph is not None
    inputs = dict(zip(graph.inputs, arrays.values(), strict=True))
    (actual,) = run_guarded(graph, host_target(), inputs, {}, "after")
    assert any(node.strips is not None for node in graph.nodes.values())
    expected = attended(3 * arrays["q"], arrays["k"], arrays["v"], np.zeros((41, 57), np.float32))
    np.testing.assert_allclose(actual, expected, atol=5e-3)


@pytest.mark.parametrize("has_blocks", [False, True])
def test_strips_of_any_batch_agree_with_numpy(has_blocks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strips, "LARGE_BYTES", 1)
    monkeypatch.setattr(strips, "STRIP_BYTES", 1)
    monkeypatch.setattr(strips, "BLOCK_ROWS", 16)
    if has_blocks:
        monkeypatch.setattr(running_maximum, "LONG_ROW", 1)
        monkeypatch.setattr(running_maximum, "BLOCK_COLUMNS", range(16, 33, 16))
    q, k, v, mask = normal(3, 5, 40, 8), normal(3, 5, 64, 8), normal(3, 5, 64, 8), normal(40, 64)
    inputs = {"q": q, "k": k, "v": v, "mask": mask}
    types = {n: TensorType(f32, (symbol("batch"), *a.shape[1:]) if a.ndim == 4 else a.shape) for n, a in inputs.items()}
    graph = graph_of(program(masked_attention, types))
    assert graph is not None
    arrays = dict(zip(graph.inputs, inputs.values(), strict=True))
    (actual,) = run_guarded(graph, host_target(), arrays, {"batch": 3}, "after")
    np.testing.assert_allclose(actual, attended(q, k, v, mask), atol=1e-5, rtol=1e-5)
    assert block_rounds(graph) == ([2] if has_blocks else [])
    assert [node.strips is not None for node in graph.nodes.values()].count(True) == 1


def test_a_strip_may_read_a_mask_whose_rows_are_a_symbol(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a part has that size: neither the result nor the product of which it is the last one."""
    monkeypatch.setattr(strips, "LARGE_BYTES", 1)
    q, k, v, mask = normal(1, 2, 40, 8), normal(1, 2, 64, 8), normal(1, 2, 64, 8), normal(40, 64)
    inputs = {"q": q, "k": k, "v": v, "mask": mask}
    types = {n: TensorType(f32, a.shape if a is not mask else (symbol("rows"), 64)) for n, a in inputs.items()}
    module = program(masked_attention, types)
    (actual,) = ENGINE.prepare(module, options=EngineOptions(plan_ahead=True)).run(inputs).values()
    np.testing.assert_allclose(actual, attended(q, k, v, mask), atol=1e-5, rtol=1e-5)


@pytest.fixture
def in_short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strips, "LARGE_BYTES", 1)
    monkeypatch.setattr(running_maximum, "LONG_ROW", 1)
    monkeypatch.setattr(running_maximum, "LONGEST_ROW", 1)
    monkeypatch.setattr(running_maximum, "BLOCK_COLUMNS", range(16, 33, 16))
    monkeypatch.setattr(strips, "BLOCK_ROWS", 24)


def block_rounds(graph: KernelGraph) -> list[int]:
    """Returns the number of blocks of columns of the nodes that have such."""
    found = [node.strips.blocks for node in graph.nodes.values() if node.strips is not None]
    return [blocks.rounds for blocks in found if blocks is not None]


def masked_attention(q: Value, k: Value, v: Value, mask: Value) -> Value:
    scores = core.matmul(q, core.transpose(k, (0, 1, 3, 2)))
    scores = core.add(core.div(scores, constant(np.full((), 3, np.float32))), mask)
    return core.matmul(core.softmax(scores, axis=3), v)


@pytest.mark.fast_every(3)
@pytest.mark.usefixtures("in_short_blocks")
@pytest.mark.parametrize("width", ["host", "avx2", "narrow"])
@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize(
    ("shape", "keys", "rounds"),
    [((1, 3, 25, 8), 64, 2), ((2, 2, 48, 5), 33, 2), ((1, 1, 100, 16), 48, 3), ((1, 2, 73, 9), 130, 5)],
)
def test_blocks_of_columns_with_a_running_maximum_agree_with_numpy(
    shape: tuple[int, ...], keys: int, rounds: int, is_long: bool, width: Width, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_long:
        # The statistics of long rows are nodes of their own.
        monkeypatch.setattr(building, "LONG_ROW", 1)
    batch, heads, rows, depth = shape
    q, k, v = 9 * normal(*shape), normal(batch, heads, keys, depth), normal(batch, heads, keys, depth)
    mask = normal(rows, keys)
    # A first block without columns, a row that has none before the last one, and values that grow from block to block.
    mask[0, :32], mask[1, :-1] = -np.inf, -np.inf
    mask[2:] += np.linspace(0, 50, keys, dtype=np.float32)
    inputs = {"q": q, "k": k, "v": v, "mask": mask}
    graph = graph_of(program(masked_attention, {name: TensorType(f32, a.shape) for name, a in inputs.items()}))
    assert graph is not None
    arrays = dict(zip(graph.inputs, inputs.values(), strict=True))
    (actual,) = run_guarded(graph, of_width(host_target(), width), arrays, {}, "after" if is_long else "before")
    np.testing.assert_allclose(actual, attended(q, k, v, mask), atol=1e-5, rtol=1e-5)
    assert block_rounds(graph) == [rounds]
    assert all(node.spec.shape[-2:] != (rows, keys) for node in graph.nodes.values())


@pytest.mark.usefixtures("in_short_blocks")
def test_blocks_of_columns_keep_what_is_not_a_number() -> None:
    q, k, v, mask = normal(1, 1, 24, 8), normal(1, 1, 64, 8), normal(1, 1, 64, 8), normal(24, 64)
    q[0, 0, 3, 2], mask[5], mask[7, 40] = np.nan, -np.inf, np.inf
    inputs = {"q": q, "k": k, "v": v, "mask": mask}
    graph = graph_of(program(masked_attention, {name: TensorType(f32, a.shape) for name, a in inputs.items()}))
    assert graph is not None
    (actual,) = run_guarded(graph, host_target(), dict(zip(graph.inputs, inputs.values(), strict=True)), {}, "after")
    assert block_rounds(graph) == [2]
    with np.errstate(invalid="ignore"):
        expected = attended(q, k, v, mask)
    np.testing.assert_allclose(actual, expected, atol=1e-5, rtol=1e-5)
    assert [row for row in range(24) if np.isnan(expected[0, 0, row]).any()] == [3, 5, 7]


@pytest.mark.usefixtures("in_short_blocks")
def test_weights_that_are_results_are_not_computed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "LONG_ROW", 1)
    q, k, v = normal(1, 1, 24, 8), normal(1, 1, 64, 8), normal(1, 1, 64, 8)

    def made(q: Value, k: Value, v: Value) -> tuple[Value, Value]:
        weights = core.softmax(core.matmul(q, core.transpose(k, (0, 1, 3, 2))), axis=3)
        return core.matmul(weights, v), weights

    inputs = {"q": q, "k": k, "v": v}
    graph = graph_of(program(made, {name: TensorType(f32, a.shape) for name, a in inputs.items()}))
    assert graph is not None
    arrays = dict(zip(graph.inputs, inputs.values(), strict=True))
    actual, _ = run_guarded(graph, host_target(), arrays, {}, "after")
    np.testing.assert_allclose(actual, attended(3 * q, k, v, np.zeros((24, 64), np.float32)), atol=1e-5, rtol=1e-5)
    assert block_rounds(graph) == []


def test_products_with_weights_are_not_computed_in_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strips, "LARGE_BYTES", 1)
    w1, w2 = normal(32, 64), normal(64, 16)
    module = program(
        lambda x: core.matmul(core.softmax(core.matmul(x, constant(w1)), axis=1), constant(w2)),
        {"x": TensorType(f32, (100, 32))},
    )
    graph = graph_of(module)
    assert graph is not None
    strips.use_strips(graph, assign_layouts(graph))
    assert all(node.strips is None for node in graph.nodes.values())
