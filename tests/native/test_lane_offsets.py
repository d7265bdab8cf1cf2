"""Elements near one another that are read as vectors and moved to their lanes, between guard pages, against numpy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, f32, f64, i8, i64
from commonir.llvm.compiler import host_target
from commonir.native.graph_code import code_of
from commonir.native.kernels.lane_offsets import lane_offsets
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.symbolic import floor_div, index, symbol

from tests.native.graphs import Width, available_widths, graph_of, of_width, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(7)

X = index("x")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (X * 2 + 5, [0, 2, 4, 6]),
        (7 - X, [0, -1, -2, -3]),
        (floor_div(X, 2), [0, 0, 1, 1]),
        (floor_div(X, 2) * 2 + index("c"), [0, 0, 2, 2]),
        (X * 6, None),
        (X * symbol("n"), None),
        (floor_div(X, 3), None),
        (floor_div(X + index("c"), 2), None),
    ],
)
def test_offsets_are_those_of_any_vector(address: Any, expected: list[int] | None) -> None:
    assert lane_offsets(address, "x", 4, 4, is_aligned=True) == expected


def test_offsets_of_shared_elements_are_known_only_of_aligned_vectors() -> None:
    assert lane_offsets(floor_div(X, 2), "x", 4, 4, is_aligned=False) is None
    assert lane_offsets(X * 2, "x", 4, 3, is_aligned=False) == [0, 2, 4]


Build = Callable[[Value], Value]
Expected = Callable[[Array], Array]

CASES: dict[str, tuple[Build, Expected]] = {
    "every second": (lambda x: core.slice(x, (0, 1), (5, 77), (1, 2)), lambda x: x[:, 1::2]),
    "every third": (lambda x: core.slice(x, (0, 0), (5, 77), (1, 3)), lambda x: x[:, ::3]),
    "every fourth": (lambda x: core.slice(x, (0, 2), (5, 77), (1, 4)), lambda x: x[:, 2::4]),
    "every second behind an edge": (
        lambda x: core.slice(core.pad(x, (0, 3), (0, 4), value=7), (0, 0), (5, 84), (1, 2)),
        lambda x: np.pad(x, ((0, 0), (3, 4)), constant_values=7)[:, ::2],
    ),
    "every third behind edges": (
        lambda x: core.slice(core.pad(x, (1, 50), (1, 2), value=7), (0, 1), (7, 129), (1, 3)),
        lambda x: np.pad(x, ((1, 1), (50, 2)), constant_values=7)[:, 1::3],
    ),
    "reverse behind edges": (
        lambda x: core.reverse(core.pad(x, (0, 2), (0, 1), value=7), (1,)),
        lambda x: np.pad(x, ((0, 0), (2, 1)), constant_values=7)[:, ::-1],
    ),
    "reverse": (lambda x: core.reverse(x, (1,)), lambda x: x[:, ::-1]),
    "repeated": (
        lambda x: core.reshape(core.broadcast_to(core.reshape(x, (5, 77, 1)), (5, 77, 4)), (5, 308)),
        lambda x: x.repeat(4, 1),
    ),
}

TYPES: list[tuple[ElementType, str]] = [(f32, "float32"), (f64, "float64"), (i8, "int8"), (i64, "int64")]


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize(("element", "dtype"), TYPES, ids=[str(e) for e, _ in TYPES])
@pytest.mark.parametrize("name", CASES)
def test_near_elements_are_those_of_numpy(name: str, element: ElementType, dtype: str, width: Width) -> None:
    build, expected = CASES[name]
    x = RANDOM.integers(-100, 100, (5, 77)).astype(dtype)
    graph = graph_of(program(lambda v: core.neg(build(v)), {"x": TensorType(element, x.shape)}))
    assert graph is not None
    target = of_width(host_target(), width)
    for side in ("before", "after"):
        (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {}, side)
        np.testing.assert_array_equal(actual, -expected(x))
    assert "masked.gather" not in code_of(graph, assign_layouts(graph), target).text


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("columns", [1, 2, 31, 33, 64])
def test_every_second_element_of_any_number(columns: int, width: Width) -> None:
    x = RANDOM.standard_normal((3, columns)).astype(np.float32)
    shape = TensorType(f32, (3, symbol("n")))
    graph = graph_of(program(lambda v: core.neg(core.slice(v, (0, 0), (3, symbol("n")), (1, 2))), {"x": shape}))
    assert graph is not None
    target = of_width(host_target(), width)
    for side in ("before", "after"):
        (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), {"n": columns}, side)
        np.testing.assert_array_equal(actual, -x[:, ::2])


@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("image", [(8, 64), (6, 38), (5, 33)])
@pytest.mark.parametrize("pad", [0, 1])
def test_pools_of_every_second_window_agree_with_the_interpreter(
    pad: int, image: tuple[int, int], width: Width
) -> None:
    x = RANDOM.standard_normal((2, 3, *image)).astype(np.float32)
    module = program(
        lambda v: core.max_pool(v, kernel=(3, 3), strides=(2, 2), pads=((pad, pad), (pad, pad))),
        {"x": TensorType(f32, x.shape)},
    )
    (expected,) = REFERENCE.prepare(module).run({"x": x}).values()
    graph = graph_of(module)
    assert graph is not None
    for side in ("before", "after"):
        (actual,) = run_guarded(graph, of_width(host_target(), width), dict.fromkeys(graph.inputs, x), {}, side)
        np.testing.assert_array_equal(actual, expected)
    assert "masked.gather" not in code_of(graph, assign_layouts(graph), of_width(host_target(), width)).text


@pytest.mark.fast_every(2)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("kernel", [(1, 1), (1, 2), (3, 1), (3, 3), (5, 5)])
@pytest.mark.parametrize("element", [f32, f64])
def test_a_nan_is_the_largest_of_every_window_that_has_it(
    element: ElementType, kernel: tuple[int, int], width: Width
) -> None:
    x = RANDOM.standard_normal((6, 9, 40)).astype(str(dtype_of(element.name)))
    for plane, place in enumerate([(0, 0), (8, 39), (4, 16), (3, 15), (5, 7)]):
        x[plane, *place] = np.nan if plane % 2 else -np.nan
    expected = np.lib.stride_tricks.sliding_window_view(x, kernel, (1, 2)).max((3, 4))
    module = program(
        lambda v: core.max_pool(v, kernel=kernel, strides=(1, 1), pads=((0, 0), (0, 0))),
        {"x": TensorType(element, (1, *x.shape))},
    )
    graph = graph_of(module)
    assert graph is not None
    for side in ("before", "after"):
        (actual,) = run_guarded(graph, of_width(host_target(), width), dict.fromkeys(graph.inputs, x[None]), {}, side)
        np.testing.assert_array_equal(actual, expected[None])
