"""Programs on the native engine: several operations, control flow, sizes, faults and limits."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.codes import EXECUTION_FAILED, RUN_LIMIT_EXCEEDED
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f8e5m2, f16, f32, f64, i64
from commonir.llvm.compiler import host_target, object_code
from commonir.llvm.target import target_of
from commonir.native.engine import ENGINE
from commonir.native.graph_code import code_of
from commonir.notation import Cast, Expr, Indices, Tensor
from commonir.ods import Op, operand, result
from commonir.runtime.engine import EngineOptions
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.kernel_graph.block_steps import GraphStep, SingleStep
from commonir.runtime.kernel_graph.buffers import ALIGNMENT, Lifetime, arena_of
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.symbolic import Dim, symbol

from tests.native.graphs import graph_of
from tests.oracles import require_package
from tests.runtime.programs import constant, program

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


class ThroughEightBits(Op, name="test.through_eight_bits"):
    """Rounds to a type of which the engine has no machine code."""

    x: Value = operand("f32[s*]")
    y: Value = result("f32[s*]")

    def reference(self, x: Tensor, *, s: Indices) -> Expr:
        return Cast(Cast(x[s], f8e5m2), f32)


@pytest.mark.fast_every(7)
@pytest.mark.parametrize("rows", [1, 2, 5, 6, 7, 13, 64])
@pytest.mark.parametrize(("terms", "columns"), [(3, 10), (16, 24), (33, 1), (5, 100), (64, 31)])
def test_matrix_products_of_odd_sizes_agree_with_numpy(rows: int, terms: int, columns: int) -> None:
    x, w, b = normal(rows, terms), normal(terms, columns), normal(columns)
    module = program(
        lambda v: core.relu(core.add(core.matmul(v, constant(w)), constant(b))), {"x": TensorType(f32, x.shape)}
    )
    (actual,) = ENGINE.prepare(module).run({"x": x}).values()
    expected = np.maximum(x.astype(np.float64) @ w + b, 0)
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def test_one_compilation_serves_all_sizes() -> None:
    n, m = symbol("n"), symbol("m")
    types = {"x": TensorType(f32, (n, m)), "y": TensorType(f32, (m, n))}
    module = program(lambda x, y: core.softmax(core.matmul(x, y), 1), types)
    executable = ENGINE.prepare(module)
    steps = executable.steps_of(module.main.body)
    assert [type(s) for s in steps] == [GraphStep]
    for rows, terms in [(1, 1), (7, 3), (40, 65), (2, 9)]:
        x, y = normal(rows, terms), normal(terms, rows)
        (actual,) = executable.run({"x": x, "y": y}).values()
        scores = x.astype(np.float64) @ y
        weights = np.exp(scores - scores.max(1, keepdims=True))
        np.testing.assert_allclose(actual, weights / weights.sum(1, keepdims=True), rtol=1e-5, atol=1e-6)
    assert executable.steps_of(module.main.body) is steps


def test_constants_are_multiplied_by_rows_of_symbolic_lengths() -> None:
    w = normal(12, 9)
    half = normal(12, 9).astype(np.float16)

    def build(x: Value, y: Value) -> list[Value]:
        z = core.concat((x, y), 1)
        return [core.matmul(z, constant(w)), core.matmul(z, core.cast(constant(half), f32))]

    a, b = symbol("a"), symbol("b")
    module = program(build, {"x": TensorType(f32, (5, a)), "y": TensorType(f32, (5, b))})
    executable = ENGINE.prepare(module)
    for length in (3, 11):
        x, y = normal(5, length), normal(5, 12 - length)
        z = np.concatenate([x, y], 1)
        product, half_product = executable.run({"x": x, "y": y}).values()
        np.testing.assert_allclose(product, z @ w, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(half_product, z @ half.astype(np.float32), rtol=1e-5, atol=1e-5)
    with pytest.raises(DiagnosticError, match="expected 12"):
        executable.run({"x": normal(5, 3), "y": normal(5, 3)})


def test_addresses_of_more_symbols_than_an_expression_may_have_run_uncompiled() -> None:
    a, b = ([symbol(f"{name}{n}") for n in range(11)] for name in "ab")
    types = {f"x{n}": TensorType(f32, (4, a[n], b[n])) for n in range(11)}

    def build(*inputs: Value) -> Value:
        rows = core.concat(tuple([core.reduce_sum(x, (2,), keep_dims=True) for x in inputs]), 1)
        columns = core.concat(tuple([core.reduce_sum(x, (1,), keep_dims=True) for x in inputs]), 2)
        return core.exp(core.pad(core.add(rows, columns), (1, 1, 1), (1, 1, 1)))

    inputs = {f"x{n}": normal(4, 1 + n % 2, 1 + n % 3) for n in range(11)}
    (actual,) = ENGINE.prepare(program(build, types)).run(inputs).values()
    rows = np.concatenate([x.sum(2, keepdims=True) for x in inputs.values()], 1)
    columns = np.concatenate([x.sum(1, keepdims=True) for x in inputs.values()], 2)
    np.testing.assert_allclose(actual, np.exp(np.pad(rows + columns, 1)), rtol=1e-5)


def test_sizes_may_have_the_names_of_indices() -> None:
    n, k = symbol("n"), symbol("k")
    types = {"x": TensorType(f32, (n, k)), "y": TensorType(f32, (2, k, n, 32))}

    def build(x: Value, y: Value) -> tuple[Value, ...]:
        last = core.slice(y, (1, 0, 2, 0), (2, k, 3, 32), (1, 1, 1, 1))
        return (core.matmul(x, core.reshape(last, (k, 32))),)

    module = program(build, types)
    x, y = normal(5, 20), normal(2, 20, 5, 32)
    (actual,) = ENGINE.prepare(module).run({"x": x, "y": y}).values()
    np.testing.assert_allclose(actual, x.astype(np.float64) @ y[1, :, 2], rtol=1e-5, atol=1e-5)


@pytest.mark.slow_cases("1", "2")
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_padded_convolutions_in_a_row_agree_with_sums_over_windows(groups: int) -> None:
    x, w = normal(1, 6, 9, 7), normal(6, 6 // groups, 3, 3)
    pads = ((1, 1), (1, 1))

    def build(v: Value) -> Value:
        first = core.relu(core.conv(v, constant(w), pads=pads, groups=groups))
        return core.conv(first, constant(w), pads=pads, groups=groups)

    module = program(build, {"x": TensorType(f32, x.shape)})
    (actual,) = ENGINE.prepare(module).run({"x": x}).values()
    expected = convolved(np.maximum(convolved(x, w, groups), 0), w, groups)
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-4)


def convolved(x: Array, w: Array, groups: int) -> Array:
    """Returns a convolution with one zero around, summed window by window in double precision."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    size = x.shape[1] // groups
    parts = [
        np.einsum("ncyxij,fcij->nfyx", windows[:, g * size : (g + 1) * size], w[g * size : (g + 1) * size])
        for g in range(groups)
    ]
    return np.concatenate(parts, 1)


def test_half_precision_is_computed_in_single_precision_and_rounded_at_outputs() -> None:
    x = np.array([1.0, 1e-4, 3.0], np.float16)
    large = constant(np.array(2048, np.float16))
    module = program(lambda v: core.sub(core.add(v, large), large), {"x": TensorType(f16, (3,))})
    (actual,) = ENGINE.prepare(module).run({"x": x}).values()
    assert actual.dtype == np.float16
    exact = (x.astype(np.float32) + np.float32(2048)) - np.float32(2048)
    np.testing.assert_array_equal(actual, exact.astype(np.float16))


def test_double_precision_is_rounded_to_half_precision_once() -> None:
    half = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    between = (half[1:] + half[:-1]) / 2
    special = [np.nan, np.inf, 65519.9999999, 65520, 65520.00001, 1e300, 1e-310, 0]
    x = np.concatenate([half, between, between * (1 + 2**-40), between * (1 - 2**-40), special])
    x = np.concatenate([x, -x])
    module = program(lambda v: core.cast(v, f16), {"x": TensorType(f64, x.shape)})
    executable = ENGINE.prepare(module)
    assert executable.only_graph({"x": x}) is not None
    (actual,) = executable.run({"x": x}).values()
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(actual, x.astype(np.float16))


def test_a_kernel_without_machine_code_runs_alone_between_compiled_graphs() -> None:
    w = normal(20, 20)

    def build(x: Value) -> Value:
        between = ThroughEightBits(core.relu(core.matmul(x, constant(w)))).result
        return core.softmax(core.matmul(between, constant(w)), 1)

    module, x = program(build, {"x": TensorType(f32, (9, 20))}), normal(9, 20)
    executable = ENGINE.prepare(module)
    steps = executable.steps_of(module.main.body)
    assert [type(s) for s in steps] == [GraphStep, SingleStep, GraphStep]
    (expected,) = REFERENCE.prepare(module).run({"x": x}).values()
    for _ in range(6):
        (actual,) = executable.run({"x": x}).values()
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
    times = ENGINE.operation_times(module, None, {"x": x}, EngineOptions(), 1)
    assert [(t.operation, t.note) for t in times] == [
        ("core.matmul + core.relu", ""),
        ("test.through_eight_bits", "not compiled"),
        ("core.matmul", ""),
        ("core.softmax", ""),
    ]


def test_a_product_of_gathered_rows_has_tiles() -> None:
    w = normal(20, 30)
    module = program(
        lambda x, at: core.relu(core.matmul(core.gather(x, at, 0), constant(w))),
        {"x": TensorType(f32, (9, 20)), "at": TensorType(i64, (12,))},
    )
    graph = graph_of(module)
    assert graph is not None
    product = graph.nodes[graph.outputs[0]]
    assert not any(isinstance(p, Expr) for a in product.accesses for p in a.at)
    x, at = normal(9, 20), RANDOM.integers(0, 9, 12)
    (actual,) = ENGINE.prepare(module).run({"x": x, "at": at}).values()
    np.testing.assert_allclose(actual, np.maximum(x[at] @ w, 0), rtol=1e-5, atol=1e-5)


def test_a_position_outside_of_a_tensor_is_an_error() -> None:
    module = program(lambda x, at: core.gather(x, at, 0), {"x": TensorType(f32, (3, 20)), "at": TensorType(i64, (4,))})
    executable = ENGINE.prepare(module)
    x = normal(3, 20)
    (inside,) = executable.run({"x": x, "at": np.array([0, 2, 1, 2])}).values()
    np.testing.assert_array_equal(inside, x[[0, 2, 1, 2]])
    with pytest.raises(DiagnosticError, match=r"position 3 on axis 0 of .*, which has size 3") as caught:
        executable.run({"x": x, "at": np.array([0, 3, 1, 2])})
    assert caught.value.diagnostics[0].code is EXECUTION_FAILED
    (again,) = executable.run({"x": x, "at": np.array([0, 2, 1, 2])}).values()
    np.testing.assert_array_equal(again, x[[0, 2, 1, 2]])


def test_a_memory_limit_counts_constants_outputs_and_what_is_between() -> None:
    n = symbol("n")
    module = program(
        lambda x: core.softmax(core.matmul(x, constant(normal(8, 256))), 1), {"x": TensorType(f32, (n, 8))}
    )
    executable = ENGINE.prepare(module, options=EngineOptions(memory_limit_bytes=1 << 18))
    for _ in range(2):
        with pytest.raises(DiagnosticError, match=r"the run needs \d+ bytes, the limit is 262144") as caught:
            # Two arrays of 256 kB.
            executable.run({"x": normal(256, 8)})
        assert caught.value.diagnostics[0].code is RUN_LIMIT_EXCEEDED
        # Together these sizes need more than the limit; each alone does not.
        for rows in (64, 65, 66, 67):
            executable.run({"x": normal(rows, 8)})


@pytest.mark.parametrize("size", [100, symbol("n")])
def test_a_memory_limit_counts_what_runs_uncompiled(size: Dim) -> None:
    builds: list[Callable[[Value], Any]] = [
        lambda x: core.argsort(core.broadcast_to(core.argsort(x, 0), (1000, 100)), 1),
        lambda x: [core.argsort(x, 0) for _ in range(400)],
        lambda x: ThroughEightBits(core.pad(x, (0,), (10**9,))).result,
    ]
    for build in builds:
        module = program(build, {"x": TensorType(f32, (size,))})
        executable = ENGINE.prepare(module, options=EngineOptions(memory_limit_bytes=1 << 18))
        with pytest.raises(DiagnosticError, match=r"the run needs \d+ bytes, the limit is 262144"):
            executable.run({"x": normal(100)})


def test_a_time_limit_ends_a_run_between_kernels() -> None:
    x = TensorType(f32, (400, 400))

    def build(v: Value) -> Value:
        for _ in range(60):
            v = core.tanh(core.matmul(v, v))
        return v

    executable = ENGINE.prepare(program(build, {"x": x}), options=EngineOptions(time_limit_seconds=0.005))
    start = time.monotonic()
    with pytest.raises(DiagnosticError) as caught:
        executable.run({"x": normal(400, 400)})
    assert caught.value.diagnostics[0].code is RUN_LIMIT_EXCEEDED
    assert time.monotonic() - start < 2


def test_kernels_are_timed_in_ordinary_runs() -> None:
    w = normal(20, 30)
    module = program(lambda v: core.softmax(core.relu(core.matmul(v, constant(w))), 1), {"x": TensorType(f32, (9, 20))})
    product, softmax = ENGINE.operation_times(module, None, {"x": normal(9, 20)}, EngineOptions(), 3)
    assert product.operation == "core.matmul + core.relu"
    assert softmax.operation == "core.softmax"
    assert 0 < product.least_seconds <= product.seconds


@pytest.mark.slow
@pytest.mark.parametrize("is_shared", [False, True], ids=["chain", "values with two readers"])
def test_long_programs_are_compiled_in_pieces(is_shared: bool) -> None:
    count = 150

    def build(v: Value) -> Value:
        before = v
        for _ in range(count):
            v, before = core.maximum(core.tanh(v), before if is_shared else v), v
        return v

    x = np.linspace(-1, 1, 40, dtype=np.float32)
    expected, before = x, x
    for _ in range(count):
        expected, before = np.maximum(np.tanh(expected), before if is_shared else expected), expected
    (actual,) = ENGINE.prepare(program(build, {"x": TensorType(f32, (40,))})).run({"x": x}).values()
    np.testing.assert_allclose(actual, expected, rtol=1e-4)


def test_equal_layers_share_a_function() -> None:
    weights = [normal(8, 8) for _ in range(4)]

    def build(v: Value) -> Value:
        for w in weights:
            v = core.relu(core.matmul(v, constant(w)))
        return v

    module = program(build, {"x": TensorType(f32, (5, 8))})
    graph = graph_of(module)
    assert graph is not None
    code = code_of(graph, assign_layouts(graph), host_target())
    assert len(code.calls) == 4
    assert len({c.function for c in code.calls}) == 1
    x = normal(5, 8)
    expected = x
    for w in weights:
        expected = np.maximum(expected @ w, 0)
    (actual,) = ENGINE.prepare(module).run({"x": x}).values()
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


PROCESSORS = {
    "avx512": ("x86_64-unknown-linux-gnu", "x86-64-v4", {"avx512f": True, "avx2": True, "fma": True}, 512),
    "avx2": ("x86_64-unknown-linux-gnu", "x86-64-v3", {"avx2": True, "fma": True}, 256),
    "sse": ("x86_64-unknown-linux-gnu", "x86-64", {}, 128),
    "neon": ("aarch64-unknown-linux-gnu", "generic", {"neon": True}, 128),
}


@pytest.mark.slow_cases("neon", "sse")
@pytest.mark.parametrize("name", PROCESSORS)
def test_code_is_valid_for_other_processors(name: str) -> None:
    triple, cpu, features, bits = PROCESSORS[name]
    target = target_of(triple, cpu, features)
    assert target.vector_bits == bits
    w = normal(20, 30)
    graph = graph_of(
        program(lambda v: core.softmax(core.gelu(core.matmul(v, constant(w))), 1), {"x": TensorType(f32, (9, 20))})
    )
    assert graph is not None
    data = object_code(code_of(graph, assign_layouts(graph), target).text, target)
    machine = int.from_bytes(data[18:20], "little")
    assert data[:4] == b"\x7fELF"
    assert machine == (183 if name == "neon" else 62)


def test_tensors_share_memory_only_when_their_lifetimes_do_not_overlap() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        names = [f"t{n}" for n in range(20)]
        first = {n: int(rng.integers(0, 15)) for n in names}
        lifetimes = {n: Lifetime(first[n], first[n] + int(rng.integers(0, 5))) for n in names}
        sizes = {n: int(rng.integers(0, 1000)) for n in names}
        arena = arena_of(sizes, lifetimes)
        for name in names:
            assert arena.offsets[name] % ALIGNMENT == 0
            assert arena.offsets[name] + sizes[name] <= arena.size_bytes
        for a, b in itertools.combinations([n for n in names if sizes[n]], 2):
            if lifetimes[a].first <= lifetimes[b].last and lifetimes[b].first <= lifetimes[a].last:
                low, high = sorted([a, b], key=lambda n: arena.offsets[n])
                assert arena.offsets[low] + sizes[low] <= arena.offsets[high]


@pytest.mark.parametrize("count", [4, 12])
def test_values_are_released_after_their_last_use(count: int) -> None:
    """Operations that run alone between graphs give new arrays, of which few are needed at a time."""
    size = 1 << 16

    def build(x: Value) -> Value:
        for _ in range(count):
            x, _ = core.top_k(core.exp(core.neg(x)), size, 0)
        return x

    executable = ENGINE.prepare(program(build, {"x": TensorType(f32, (size,))}), options=EngineOptions(plan_ahead=True))
    inputs = {"x": np.linspace(0, 1, size, dtype=np.float32)}
    executable.run(inputs)
    tracemalloc.start()
    try:
        executable.run(inputs)
        assert tracemalloc.get_traced_memory()[1] < 12 * inputs["x"].nbytes
    finally:
        tracemalloc.stop()
