"""Scalar functions as instructions, on edge values, against numpy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.ir.types import ElementType, boolean, f32, f64, i8, i32, u8
from commonir.llvm.compiler import host_target
from commonir.notation import FUNCTIONS, Kernel, Tensor, call, indices
from commonir.runtime.interpreter.array_functions import ARRAY_FUNCTIONS
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, TensorSpec
from commonir.runtime.values import compute_dtype

from tests.native.graphs import run_guarded
from tests.oracles import require_package

require_package("llvmlite")

Array = NDArray[Any]

EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-42, 1e-30, 88.7, -88.7, -103.0, 89.5, 127.5, 3e38, np.inf, -np.inf, np.nan)

ULPS = {"exp": 3, "exp2": 3, "tanh": 5, "erf": 6, "log": 1, "power": 2}
"""Stated bounds in units in the last place; other functions are those of the C library, within 2."""


def values_of(element: ElementType) -> Array:
    dtype = compute_dtype(element)
    if element.kind == "bool":
        return np.array([False, True])
    if element.kind != "float":
        low, high = element.integer_limits
        return np.array([0, 1, 2, 3, 5, 7, 100, low, low + 1, high], dtype)
    ordinary = np.random.default_rng(0).standard_normal(64) * np.repeat([0.1, 1.0, 5.0, 20.0], 16)
    return np.concatenate([EDGES, ordinary]).astype(dtype)


def computed(fn: str, element: ElementType, arrays: list[Array]) -> Array:
    """Returns a function of vectors, computed by generated code."""
    graph = KernelGraph()
    (i,) = indices("i", 1)
    reads = []
    for n, a in enumerate(arrays):
        operand = boolean if a.dtype == np.bool_ else element
        graph.inputs[f"x{n}"] = TensorSpec(a.shape, operand)
        reads.append(Tensor(f"x{n}", a.shape, operand)[i])
    body = call(fn, *reads)
    kernel = Kernel((i,), body)
    graph.add(KernelNode("y", kernel, {"i0": len(arrays[0])}, TensorSpec(arrays[0].shape, body.dtype)))
    graph.outputs.append("y")
    named = {f"x{n}": a for n, a in enumerate(arrays)}
    return run_guarded(graph, host_target(), named, {}, "before")[0]


CASES = [
    (fn, element)
    for fn, row in FUNCTIONS.items()
    for element in (f32, f64, i32, i8, u8, boolean)
    if element.kind in row.kinds
]


@pytest.mark.fast_every(6)
@pytest.mark.parametrize(("fn", "element"), CASES, ids=[f"{fn}-{e}" for fn, e in CASES])
def test_functions_agree_with_numpy(fn: str, element: ElementType) -> None:
    values = values_of(element)
    arity = FUNCTIONS[fn].arity
    if fn == "select":
        points = list(itertools.product([False, True], values, values[::-1]))
    else:
        points = list(itertools.product(*[values] * arity)) if len(values) ** arity < 10_000 else []
    arrays = [np.array(column, values.dtype) for column in zip(*points, strict=True)]
    if fn == "select":
        arrays[0] = arrays[0].astype(np.bool_)
    if fn in ("floor_divide", "truncated_divide", "remainder", "truncated_remainder") and element.kind != "float":
        keep = arrays[1] != 0
        arrays = [a[keep] for a in arrays]
    if fn == "power" and element.kind == "int":
        keep = arrays[1] >= 0
        arrays = [a[keep] for a in arrays]
    with np.errstate(all="ignore"):
        expected = np.asarray(ARRAY_FUNCTIONS[fn](*[a.astype(_wide(element, fn)) for a in arrays]))
    actual = computed(fn, element, arrays)
    if actual.dtype.kind != "f":
        np.testing.assert_array_equal(actual, expected.astype(actual.dtype))
        return
    with np.errstate(all="ignore"):
        rounded = expected.astype(actual.dtype)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(rounded))
    assert largest_error(actual, expected) <= ULPS.get(fn, 2)


def _wide(element: ElementType, fn: str) -> np.dtype[Any]:
    """Returns the dtype in which the expected result is exact enough."""
    exact = element is f32 and fn in (
        *ULPS,
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "asinh",
        "acosh",
        "atanh",
    )
    return np.dtype(np.float64) if exact else compute_dtype(element)


def largest_error(actual: Array, expected: Array) -> float:
    """Returns the largest distance in units in the last place of the expected results; infinities must be equal."""
    with np.errstate(all="ignore"):
        rounded = expected.astype(actual.dtype)
        unit = np.spacing(np.abs(rounded)).astype(np.float64)
        distance = np.abs(actual.astype(np.float64) - expected.astype(np.float64)) / unit
    same = (actual == rounded) | (np.isnan(actual) & np.isnan(rounded))
    return float(np.max(np.where(same, 0.0, distance), initial=0.0))


@pytest.mark.parametrize("fn", ["floor_divide", "truncated_divide", "remainder", "truncated_remainder"])
@pytest.mark.parametrize("element", [i32, i8, u8], ids=str)
def test_division_by_zero_does_not_end_the_process(fn: str, element: ElementType) -> None:
    values = values_of(element)
    assert computed(fn, element, [values, np.zeros_like(values)]).tolist() == [0] * len(values)
