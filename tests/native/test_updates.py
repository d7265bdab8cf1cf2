"""Elements that are changed at positions from data, as machine code: with what is fused, in loops, of several sizes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, boolean, f16, f32, i8, i64
from commonir.llvm.compiler import host_target
from commonir.native.engine import ENGINE
from commonir.notation import Index, Kernel, Tensor, call, fold, lift, select, total, updated
from commonir.ods import Op, element_type, operand, result
from commonir.runtime.engine import EngineOptions
from commonir.runtime.kernel_graph.block_steps import GraphStep, SingleStep
from commonir.runtime.kernel_graph.building import spec_of
from commonir.symbolic import symbol

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import program

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(0)

ADD = core.Reduction.ADD


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def sums_of_messages(x: Value, source: Value, target: Value) -> Value:
    """Each row of x, through relu, is added to the row that its edge leads to."""
    messages = core.relu(core.gather(x, source, 0))
    positions = core.broadcast_to(core.unsqueeze(target, (1,)), spec_of(messages).shape)
    return core.relu(core.scatter_elements(core.mul(x, x), positions, messages, 0, ADD))


def expected_sums(x: Array, source: Array, target: Array) -> Array:
    out = x * x
    for s, t in zip(source, target, strict=True):
        out[t] += np.maximum(x[s], 0)
    return np.maximum(out, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("columns", [1, 3, 16, 37])
def test_rows_are_added_in_vectors_within_their_memory(columns: int, width: Width) -> None:
    x, (source, target) = normal(9, columns), RANDOM.integers(0, 9, (2, 40))
    kinds = {"x": TensorType(f32, x.shape), "s": TensorType(i64, (40,)), "t": TensorType(i64, (40,))}
    graph = graph_of(program(sums_of_messages, kinds))
    assert graph is not None
    given = dict(zip(graph.inputs, (x, source, target), strict=True))
    for side in ("before", "after"):
        (actual,) = run_guarded(graph, of_width(host_target(), width), given, {}, side)
        np.testing.assert_allclose(actual, expected_sums(x, source, target), rtol=1e-5, atol=1e-5)


class Compact(Op, name="test.compact"):
    """At the front, in order, the elements of x that are not zero, minus the largest one so far."""

    x: Value = operand("T[n]")
    y: Value = result("T[n]")
    T = element_type(f32)

    def reference(self, x: Tensor, *, n: Index, m: Index, k: Index) -> Kernel:
        one = select(call("equal", x[k], 0), lift(0, i64), 1)
        before = total(k, select(call("less", lift(k, i64), lift(m, i64)), one, 0))
        so_far = select(call("less_equal", lift(k, i64), lift(m, i64)), x[k], -float("inf"))
        return updated(lift(0, f32), [m], [before], x[m] - fold("maximum", k, so_far)).by(n).where({n: x.shape[0]})


@pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("size", [1, 2, 16, 45])
def test_updates_read_values_that_run_along_them_within_their_memory(size: int, width: Width) -> None:
    x = normal(size) * (RANDOM.random(size) < 0.6)
    graph = graph_of(program(lambda x: Compact(x).y, {"x": TensorType(f32, (size,))}))
    assert graph is not None
    # Where a zero comes, the next element overwrites what it leaves, or none does.
    expected, count = np.zeros(size, np.float32), 0
    given = dict(zip(graph.inputs, (x,), strict=True))
    for n in range(size):
        expected[count] = x[n] - x[: n + 1].max()
        count += x[n] != 0
    for side in ("before", "after"):
        (actual,) = run_guarded(graph, of_width(host_target(), width), given, {}, side)
        np.testing.assert_array_equal(actual, expected)


def rows_at_nonzero_elements(x: Value) -> tuple[Value, Value]:
    """The positions of nonzero elements, and functions of their first ones, of which only data know the number."""
    positions = core.non_zero(x)
    positions.retype(TensorType(i64, (symbol("count", 0), len(spec_of(x).shape))))
    return positions, core.neg(core.gather(positions, core.constant(ArrayData(TensorType(i64, ()), np.array(0))), 1))


@pytest.mark.parametrize("element", [f32, f16, i8, boolean])
@pytest.mark.parametrize("axes", ["n", "2 n", "n 3", "5 7 2", "300"])
def test_positions_of_nonzero_elements_are_compiled(axes: str, element: ElementType) -> None:
    dims = [symbol("n", 0) if a == "n" else int(a) for a in axes.split()]
    module = program(rows_at_nonzero_elements, {"x": TensorType(element, tuple(dims))})
    executable = ENGINE.prepare(module)
    assert [type(s) for s in executable.steps_of(module.main.body)] == [GraphStep]
    for n in (0, 1, 5, 70):
        for share in (0, 0.2, 1):
            x = RANDOM.random([n if a == "n" else int(a) for a in axes.split()]) < share
            x = np.where(x, np.float16(-1.5), np.float16(-0.0)).astype(dtype_of(element.name))
            if element.is_float and x.size > 1:
                x.flat[:2] = np.nan, 1e-7
            positions, rows = executable.run({"x": x}).values()
            np.testing.assert_array_equal(positions, np.argwhere(x))
            np.testing.assert_array_equal(rows, -np.argwhere(x)[:, 0])


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 20_000)])
def test_positions_in_arrays_of_other_sizes_are_found_by_numpy(shape: tuple[int, ...]) -> None:
    module = program(rows_at_nonzero_elements if shape else core.non_zero, {"x": TensorType(boolean, shape)})
    executable = ENGINE.prepare(module)
    assert SingleStep in [type(s) for s in executable.steps_of(module.main.body)]
    x = RANDOM.random(shape) < 0.1
    positions, *_ = executable.run({"x": x}).values()
    np.testing.assert_array_equal(positions, np.argwhere(x))


def test_one_compilation_serves_updates_of_all_sizes() -> None:
    n, m, k = symbol("n"), symbol("m", 0), symbol("k")
    module = program(
        sums_of_messages, {"x": TensorType(f32, (n, k)), "s": TensorType(i64, (m,)), "t": TensorType(i64, (m,))}
    )
    executable = ENGINE.prepare(module, options=EngineOptions(2))
    assert [type(s) for s in executable.steps_of(module.main.body)] == [GraphStep]
    for rows, columns, edges in ((3, 5, 7), (1, 64, 100), (4, 1, 0), (6000, 60, 30000)):
        x, (source, target) = normal(rows, columns), RANDOM.integers(0, rows, (2, edges))
        (actual,) = executable.run({"x": x, "s": source, "t": target}).values()
        np.testing.assert_allclose(actual, expected_sums(x, source, target), rtol=1e-4, atol=1e-4)


def test_the_last_of_several_rows_stays_and_negative_positions_count_from_the_end() -> None:
    module = program(
        core.scatter_nd,
        {"x": TensorType(f32, (5, 20)), "p": TensorType(i64, (4, 1)), "u": TensorType(f32, (4, 20))},
    )
    x, updates = normal(5, 20), normal(4, 20)
    executable = ENGINE.prepare(module)
    (actual,) = executable.run({"x": x, "p": np.array([[1], [-1], [1], [-4]]), "u": updates}).values()
    np.testing.assert_array_equal(actual, np.stack([x[0], updates[3], x[2], x[3], updates[1]]))
    for wrong in (5, -6):
        with pytest.raises(DiagnosticError, match=r"position -?\d+ on axis 0 of 'result', which has size 5"):
            executable.run({"x": x, "p": np.array([[1], [wrong], [1], [0]]), "u": updates})


def test_updates_in_a_loop_change_the_state_that_it_passes_on() -> None:
    def step(cache: Value, at: Value, row: Value) -> tuple[Value, Value]:
        written = core.scatter_nd(cache, core.reshape(at, (1, 1)), core.unsqueeze(row, (0,)))
        return written, core.reduce_sum(written, (0,))

    types = [TensorType(f32, (6, 24)), TensorType(i64, ()), TensorType(f32, (24,))]
    module = program(
        lambda cache, at, rows: core.scan((cache,), (at, rows), core.nested(types, step)),
        {"c": TensorType(f32, (6, 24)), "p": TensorType(i64, (9,)), "u": TensorType(f32, (9, 24))},
    )
    executable = ENGINE.prepare(module)
    assert [type(s) for s in executable.steps_of(module.main.body)] == [GraphStep]
    cache, at, rows = normal(6, 24), RANDOM.integers(0, 6, 9), normal(9, 24)
    state, sums = executable.run({"c": cache, "p": at, "u": rows}).values()
    expected = cache.copy()
    for n in range(9):
        expected[at[n]] = rows[n]
        np.testing.assert_allclose(sums[n], expected.sum(0), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(state, expected)


def test_a_range_of_a_length_from_data_runs_alone_and_what_follows_is_compiled() -> None:
    n = symbol("n")

    def build(x: Value, count: Value) -> Value:
        zero, one = [core.constant(ArrayData(TensorType(i64, ()), np.array(k))) for k in (0, 1)]
        positions = core.range(zero, count, one)
        positions.retype(TensorType(i64, (n,)))
        return core.neg(core.gather(core.relu(x), positions, 0))

    module = program(build, {"x": TensorType(f32, (40, 20)), "count": TensorType(i64, ())})
    executable = ENGINE.prepare(module)
    x = normal(40, 20)
    kinds = [type(s) for s in executable.steps_of(module.main.body)]
    assert kinds == [GraphStep, SingleStep, GraphStep]
    for count in (3, 40):
        (actual,) = executable.run({"x": x, "count": np.array(count)}).values()
        np.testing.assert_array_equal(actual, -np.maximum(x, 0)[:count])
