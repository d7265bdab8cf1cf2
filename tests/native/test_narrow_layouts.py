"""Numbers that lie in memory as bfloat16, against sums in double precision of numbers that numpy rounded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.llvm.compiler import host_target
from commonir.native.engine import ENGINE
from commonir.native.narrow_layouts import LEAST_ROWS
from commonir.runtime.engine import EngineOptions
from commonir.runtime.kernel_graph import running_maximum, strips
from commonir.symbolic import symbol

from tests.native.graphs import GuardedCode, graph_of
from tests.native.guarded_memory import Side
from tests.oracles import require_package
from tests.runtime.programs import constant, program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(11)
TARGET = host_target()._replace(fast_math="bf16")


@pytest.fixture(autouse=True)
def _needs_pairs() -> None:
    if not TARGET.has("avx512bf16"):
        pytest.skip("this processor has no products of bfloat16")


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def rounded(array: Array) -> Array:
    """Returns numbers rounded to bfloat16, in double precision."""
    return np.asarray(array, np.float32).astype(dtype_of("bf16")).astype(np.float64)


def run(build: Callable[..., Value], inputs: Mapping[str, Array], side: Side = "after") -> tuple[Array, list[str]]:
    """Returns the result of a program, and the names of the operations whose values lie as bfloat16."""
    module = program(build, {name: TensorType(f32, a.shape) for name, a in inputs.items()})
    graph = graph_of(module)
    assert graph is not None
    arrays = dict(zip(graph.inputs, inputs.values(), strict=True))
    code = GuardedCode(graph, TARGET)
    (actual,) = code.run(arrays, {}, side)
    nodes = [graph.nodes[name] for name, layout in code.layouts.items() if layout.is_narrow]
    return actual, [node.origins[0].operation for node in nodes]


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(("rows", "terms", "columns"), [(1, 64, 16), (40, 34, 50), (7, 64, 33), (200, 130, 20)])
def test_what_only_products_read_is_rounded_once(rows: int, terms: int, columns: int, side: Side) -> None:
    x, w, v = normal(rows, 24), normal(24, terms), normal(terms, columns)
    result, narrow = run(
        lambda x: core.relu(core.matmul(core.relu(core.matmul(x, constant(w))), constant(v))), {"x": x}, side
    )
    inside = np.maximum(rounded(x) @ rounded(w), 0)
    np.testing.assert_allclose(result, np.maximum(rounded(inside) @ rounded(v), 0), rtol=2e-2, atol=2e-2)
    assert narrow == ["core.relu"]


def test_any_number_of_rows_is_multiplied_as_pairs() -> None:
    x, w, v = normal(7, 40, 32), normal(32, 32), normal(32, 48)

    def build(x: Value) -> tuple[Value, Value]:
        h = core.relu(x)
        return core.add(core.matmul(h, constant(w)), h), core.matmul(h, constant(v))

    graph = graph_of(program(build, {"x": TensorType(f32, (symbol("batch"), symbol("steps"), 32))}))
    assert graph is not None
    code = GuardedCode(graph, TARGET)
    first, second = code.run(dict.fromkeys(graph.inputs, x), {"batch": 7, "steps": 40}, "after")
    h = np.maximum(x.astype(np.float64), 0)
    np.testing.assert_allclose(first, rounded(h) @ rounded(w) + h, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(second, rounded(h) @ rounded(v), rtol=1e-5, atol=1e-4)
    # One copy for both.
    assert [layout.is_narrow for layout in code.layouts.values()].count(True) == 1


def test_graphs_around_a_loop_have_copies_of_their_own() -> None:
    x, w, v = normal(6, 4, 16), normal(16, 32), normal(16, 48)
    row, other = TensorType(f32, (symbol("batch"), 32)), TensorType(f32, (symbol("batch"), 48))

    def sums(products: Value, start: Value, like: TensorType) -> Value:
        body = core.nested([like, like], lambda state, p: (core.add(state, p), core.add(state, p)))
        return core.scan((start,), (products,), body)[1]

    def build(x: Value, a: Value, b: Value) -> tuple[Value, Value]:
        return sums(core.matmul(x, constant(w)), a, row), sums(core.matmul(x, constant(v)), b, other)

    types = {"x": TensorType(f32, (symbol("steps"), symbol("batch"), 16)), "a": row, "b": other}
    executable = ENGINE.prepare(program(build, types), options=EngineOptions(fast_math="bf16", plan_ahead=True))
    a, b = normal(4, 32), normal(4, 48)
    first, second = executable.run({"x": x, "a": a, "b": b}).values()
    np.testing.assert_allclose(first, a + np.cumsum(rounded(x) @ rounded(w), axis=0), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(second, b + np.cumsum(rounded(x) @ rounded(v), axis=0), rtol=1e-5, atol=1e-4)


def test_what_others_read_too_is_not_rounded() -> None:
    x, w = normal(40, 32), normal(32, 32)
    result, narrow = run(lambda x: core.add(core.matmul(h := core.relu(x), constant(w)), h), {"x": x})
    h = np.maximum(x.astype(np.float64), 0)
    np.testing.assert_allclose(result, rounded(h) @ rounded(w) + h, rtol=1e-5, atol=1e-4)
    assert narrow == []


def test_results_are_not_rounded() -> None:
    x, w = normal(40, 32), normal(32, 48)
    result, narrow = run(lambda x: core.matmul(x, constant(w)), {"x": x})
    assert result.dtype == np.float32
    assert np.any(result != rounded(result))
    assert narrow == []


@pytest.mark.parametrize("side", ["before", "after"])
def test_convolutions_read_windows_of_what_is_rounded(side: Side) -> None:
    x, w, v = normal(1, 5, 11, 12), normal(20, 5, 1, 1), normal(18, 20, 3, 2)

    def build(x: Value) -> Value:
        inside = core.relu(core.conv(x, constant(w), None))
        return core.conv(inside, constant(v), None, strides=(2, 1), pads=((1, 1), (0, 1)))

    result, narrow = run(build, {"x": x}, side)
    inside = np.maximum(np.einsum("nchw,fc->nfhw", x.astype(np.float64), w[:, :, 0, 0]), 0)
    wide = np.pad(rounded(inside), [(0, 0), (0, 0), (1, 1), (0, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 2), axis=(2, 3))[:, :, ::2]
    np.testing.assert_allclose(result, np.einsum("nchwyx,fcyx->nfhw", windows, rounded(v)), rtol=2e-2, atol=5e-2)
    assert narrow == ["core.relu"]


def attended(q: Array, k: Array, v: Array) -> Array:
    """Returns attention of rounded factors: [batch, heads, rows, depth]."""
    scores = np.einsum("bhqd,bhkd->bhqk", rounded(q), rounded(k)) / 3
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", rounded(weights / weights.sum(-1, keepdims=True)), rounded(v))


def attention(q: Value, k: Value, v: Value) -> Value:
    third = constant(np.full((), 3, np.float32))
    scores = core.div(core.matmul(q, core.transpose(k, (0, 1, 3, 2))), third)
    return core.matmul(core.softmax(scores, axis=3), v)


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("in_strips", [False, True])
@pytest.mark.parametrize(
    ("shape", "keys"), [((1, 3, 25, 16), 40), ((2, 2, 48, 18), 34), ((1, 1, 100, 32), 28), ((1, 4, 73, 20), 130)]
)
def test_both_products_of_attention_are_of_pairs(
    shape: tuple[int, ...], keys: int, in_strips: bool, side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    if in_strips:
        monkeypatch.setattr(strips, "LARGE_BYTES", 1)
        monkeypatch.setattr(strips, "STRIP_BYTES", 1)
    batch, heads, _, depth = shape
    q, k, v = normal(*shape), normal(batch, heads, keys, depth), normal(batch, heads, keys, depth)
    result, narrow = run(attention, {"q": q, "k": k, "v": v}, side)
    np.testing.assert_allclose(result, attended(q, k, v), rtol=2e-2, atol=1e-2)
    # Copies of queries, keys and values; the weights lie in a strip, or as a node that computes softmax.
    assert narrow.count("copy") == 3
    assert len(narrow) == (3 if in_strips else 4)


def test_blocks_of_columns_are_products_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strips, "LARGE_BYTES", 1)
    monkeypatch.setattr(strips, "BLOCK_ROWS", 24)
    monkeypatch.setattr(running_maximum, "LONG_ROW", 1)
    monkeypatch.setattr(running_maximum, "BLOCK_COLUMNS", range(16, 33, 16))
    q, k, v = normal(1, 2, 100, 16), normal(1, 2, 96, 16), normal(1, 2, 96, 16)
    result, narrow = run(attention, {"q": q, "k": k, "v": v})
    np.testing.assert_allclose(result, attended(q, k, v), rtol=2e-2, atol=1e-2)
    assert narrow.count("copy") == 3


def test_heads_side_by_side_are_copied_apart() -> None:
    heads, rows, keys, depth = 4, 32, 48, 16
    q, k, v = normal(1, rows, heads * depth), normal(1, keys, heads * depth), normal(1, keys, heads * depth)

    def split(x: Value, count: int) -> Value:
        return core.transpose(core.reshape(x, (1, count, heads, depth)), (0, 2, 1, 3))

    def build(q: Value, k: Value, v: Value) -> Value:
        return attention(split(q, rows), split(k, keys), split(v, keys))

    result, narrow = run(build, {"q": q, "k": k, "v": v})
    apart = [a.reshape(1, -1, heads, depth).transpose(0, 2, 1, 3) for a in (q, k, v)]
    np.testing.assert_allclose(result, attended(*apart), rtol=2e-2, atol=1e-2)
    assert narrow.count("copy") == 3


@pytest.mark.parametrize(
    ("rows", "keys", "depth", "why"),
    [(LEAST_ROWS - 1, 40, 16, "few rows"), (32, 41, 16, "odd keys"), (32, 40, 15, "odd depth")],
)
def test_products_that_are_not_of_pairs_stay_exact_where_they_are(rows: int, keys: int, depth: int, why: str) -> None:
    q, k, v = normal(1, 2, rows, depth), normal(1, 2, keys, depth), normal(1, 2, keys, depth)
    result, narrow = run(attention, {"q": q, "k": k, "v": v})
    np.testing.assert_allclose(result, attended(q, k, v), rtol=3e-2, atol=2e-2, err_msg=why)
    assert narrow.count("copy") < 3


def test_infinities_and_nan_reach_the_rows_that_have_them() -> None:
    x, w, v = normal(40, 32), normal(32, 32), normal(32, 16)
    x[3, 5], x[7, 2] = np.nan, np.inf
    result, _ = run(lambda x: core.matmul(core.relu(core.matmul(x, constant(w))), constant(v)), {"x": x})
    assert np.isnan(result[3]).all()
    assert not np.isfinite(result[7]).any()
    assert np.isfinite(np.delete(result, [3, 7], axis=0)).all()
