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
from commonir.runtime.kernel_graph import strips
from commonir.runtime.kernel_graph.layouts import assign_layouts

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
