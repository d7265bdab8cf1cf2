"""Transpositions as machine code: squares turned in registers, between guard pages, against numpy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.types import ElementType, TensorType, f16, f32, f64, i8, i64
from commonir.llvm.compiler import host_target
from commonir.native.kernels.transposed_reads import transposed_read
from commonir.runtime.kernel_graph.loop_kernel import loop_kernels, simplified

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import program

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


def test_what_follows_a_transposition_is_computed_with_it() -> None:
    x, y = [RANDOM.standard_normal(s).astype(np.float32) for s in [(50, 37), (37, 50)]]
    types = {"x": TensorType(f32, x.shape), "y": TensorType(f32, y.shape)}
    graph = graph_of(program(lambda x, y: core.add(core.neg(core.transpose(x, (1, 0))), y), types))
    assert graph is not None
    (node,) = graph.nodes.values()
    (loops,) = loop_kernels(node.kernel, node.extents)
    assert transposed_read(simplified(loops, {}), {}, 16) is not None
    (actual,) = run_guarded(graph, host_target(), dict(zip(graph.inputs, (x, y), strict=True)), {}, "after")
    np.testing.assert_allclose(actual, y - x.T, rtol=1e-6)
