"""Transpositions as machine code: squares turned in registers, between guard pages, against numpy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, f16, f32, f64, i8, i64
from commonir.llvm.compiler import host_target
from commonir.native.kernels.transposed_reads import turned_expressions
from commonir.notation import Apply, Expr
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.kernel_graph.loop_kernel import loop_kernels, simplified

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import constant, program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(0)

TYPES: list[tuple[ElementType, str]] = [
    (f32, "float32"),
    (f64, "float64"),
    (f16, "float32"),
    (i8, "int8"),
    (i64, "int64"),
]

SHAPES = [
    ((40, 33), (1, 0)),
    ((5, 16, 17), (0, 2, 1)),
    ((2, 3, 20, 17), (0, 2, 3, 1)),
    ((1, 18, 7, 34), (0, 3, 2, 1)),
    ((64, 3), (1, 0)),
    ((3, 64), (1, 0)),
]


@pytest.mark.fast_every(9)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize(("element", "dtype"), TYPES, ids=[str(e) for e, _ in TYPES])
@pytest.mark.parametrize(("shape", "order"), SHAPES)
def test_transpositions_are_those_of_numpy(
    shape: tuple[int, ...], order: tuple[int, ...], element: ElementType, dtype: str, width: Width
) -> None:
    x = RANDOM.integers(-100, 100, shape).astype(dtype)
    graph = graph_of(program(lambda v: core.transpose(v, order), {"x": TensorType(element, shape)}))
    assert graph is not None
    target = of_width(host_target(), width)
    (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {}, ("before", "after")[len(shape) % 2])
    np.testing.assert_array_equal(actual, x.transpose(order))


def _turned_in(graph: KernelGraph) -> list[Expr]:
    """Returns the expressions that are turned in the only node of a graph."""
    (node,) = graph.nodes.values()
    (loops,) = loop_kernels(node.kernel, node.extents)
    turned = turned_expressions(simplified(loops, {}), {}, 16)
    return [] if turned is None else list(turned.expressions)


def test_what_follows_a_transposition_is_computed_with_it() -> None:
    x, y = [RANDOM.standard_normal(s).astype(np.float32) for s in [(50, 37), (37, 50)]]
    types = {"x": TensorType(f32, x.shape), "y": TensorType(f32, y.shape)}
    graph = graph_of(program(lambda x, y: core.add(core.neg(core.transpose(x, (1, 0))), y), types))
    assert graph is not None
    assert [type(e) for e in _turned_in(graph)] == [Apply]
    (actual,) = run_guarded(graph, host_target(), dict(zip(graph.inputs, (x, y), strict=True)), {}, "after")
    np.testing.assert_allclose(actual, y - x.T, rtol=1e-6)


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("rows", [16, 37, 50])
def test_what_is_computed_from_several_tensors_is_turned_once(rows: int, width: Width) -> None:
    """As keys are, which are turned by their positions before they are transposed."""
    x, y = [RANDOM.standard_normal((3, rows, 24)).astype(np.float32) for _ in range(2)]
    cosines, sines = [RANDOM.standard_normal((rows, 24)).astype(np.float32) for _ in range(2)]

    def keys(x: Value, y: Value) -> Value:
        parts = core.mul(x, constant(cosines)), core.mul(y, constant(sines))
        return core.transpose(core.add(*parts), (0, 2, 1))

    graph = graph_of(program(keys, {"x": TensorType(f32, x.shape), "y": TensorType(f32, y.shape)}))
    assert graph is not None
    (body,) = [node.kernel.body for node in graph.nodes.values()]
    assert _turned_in(graph) == [body]
    operands = dict(zip(graph.inputs, (x, y), strict=True))
    (actual,) = run_guarded(graph, of_width(host_target(), width), operands, {}, "after")
    np.testing.assert_allclose(actual, (x * cosines + y * sines).transpose(0, 2, 1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("width", available_widths())
def test_parts_of_an_expression_are_turned_where_others_lie_along_the_result(width: Width) -> None:
    x, y = [RANDOM.standard_normal((35, 20)).astype(np.float32) for _ in range(2)]
    z = RANDOM.standard_normal((20, 35)).astype(np.float32)

    def mixed(x: Value, y: Value, z: Value) -> Value:
        return core.select(core.greater(core.transpose(x, (1, 0)), z), z, core.exp(core.transpose(y, (1, 0))))

    graph = graph_of(program(mixed, {n: TensorType(f32, a.shape) for n, a in {"x": x, "y": y, "z": z}.items()}))
    assert graph is not None
    assert len(_turned_in(graph)) == 2
    operands = dict(zip(graph.inputs, (x, y, z), strict=True))
    (actual,) = run_guarded(graph, of_width(host_target(), width), operands, {}, "before")
    np.testing.assert_allclose(actual, np.where(z < x.T, z, np.exp(y.T)), rtol=1e-5)


def test_a_read_that_two_axes_cross_is_gathered_beside_one_that_is_turned() -> None:
    """Of `y`, neighbours lie along the first axis of the result, of `x` along the second."""
    x, y = [RANDOM.standard_normal(s).astype(np.float32) for s in [(2, 33, 18), (33, 18, 2)]]

    def mixed(x: Value, y: Value) -> Value:
        return core.add(core.transpose(x, (0, 2, 1)), core.transpose(y, (2, 1, 0)))

    graph = graph_of(program(mixed, {"x": TensorType(f32, x.shape), "y": TensorType(f32, y.shape)}))
    assert graph is not None
    assert len(_turned_in(graph)) == 1
    (actual,) = run_guarded(graph, host_target(), dict(zip(graph.inputs, (x, y), strict=True)), {}, "after")
    np.testing.assert_array_equal(actual, x.transpose(0, 2, 1) + y.transpose(2, 1, 0))
