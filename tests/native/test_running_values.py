"""Cumulative sums and products as machine code: one pass along an axis, between guard pages, against numpy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.types import TensorType, f32, i32
from commonir.llvm.compiler import host_target
from commonir.native.kernels.running_values import with_running_values
from commonir.runtime.kernel_graph.loop_kernel import loop_kernels
from commonir.symbolic import symbol

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(0)


def cumulative(x: Array, axis: int, *, is_exclusive: bool, is_reversed: bool) -> Array:
    """Returns cumulative sums in double precision."""
    x = np.flip(x, axis) if is_reversed else x
    result = np.cumsum(x, axis, np.float64 if x.dtype.kind == "f" else x.dtype)
    if is_exclusive:
        result = result - x
    return np.flip(result, axis) if is_reversed else result


@pytest.mark.fast_every(9)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("is_exclusive", [False, True])
@pytest.mark.parametrize("shape", [(3, 1, 5), (2, 70, 33), (16, 5, 64), (1, 3, 100)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cumulative_sums_are_those_of_numpy(
    axis: int, shape: tuple[int, ...], width: Width, *, is_exclusive: bool, is_reversed: bool
) -> None:
    x = RANDOM.standard_normal(shape).astype(np.float32)
    module = program(
        lambda v: core.relu(core.cumsum(core.neg(v), axis, is_exclusive, is_reversed)), {"x": TensorType(f32, shape)}
    )
    graph = graph_of(module)
    assert graph is not None
    target = of_width(host_target(), width)
    (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {}, ("before", "after")[axis % 2])
    expected = np.maximum(cumulative(-x, axis, is_exclusive=is_exclusive, is_reversed=is_reversed), 0)
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_cumulative_sums_of_any_size_are_those_of_numpy(axis: int, *, is_reversed: bool) -> None:
    n, m = symbol("n"), symbol("m")
    graph = graph_of(program(lambda v: core.cumsum(v, axis, reverse=is_reversed), {"x": TensorType(i32, (n, m))}))
    assert graph is not None
    for rows, columns in [(1, 1), (5, 40), (33, 16)]:
        x = RANDOM.integers(-100, 100, (rows, columns)).astype(np.int32)
        inputs = dict.fromkeys(graph.inputs, x)
        (actual,) = run_guarded(graph, host_target(), inputs, {"n": rows, "m": columns}, "after")
        np.testing.assert_array_equal(actual, cumulative(x, axis, is_exclusive=False, is_reversed=is_reversed))


@pytest.mark.parametrize("build", [core.cumsum, core.cumprod])
def test_cumulative_operations_are_passes(build: Any) -> None:
    for axis in (0, 1):
        for is_exclusive in (False, True):
            for is_reversed in (False, True):
                module = program(
                    lambda v, a=axis, e=is_exclusive, r=is_reversed: build(v, a, e, r), {"x": TensorType(f32, (8, 9))}
                )
                graph = graph_of(module)
                assert graph is not None
                (node,) = graph.nodes.values()
                (loops,) = loop_kernels(node.kernel, node.extents)
                assert with_running_values(loops)[1] is not None
