"""Products with constants that are read as they are stored, between guard pages, against products of what they stand
for, which numpy decodes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, bf16, boolean, f16, f32, i4, i8, i64, u1, u2, u3, u4, u6, u8
from commonir.llvm.compiler import host_target
from commonir.llvm.target import Target
from commonir.native.compiling import constants_of
from commonir.native.engine import ENGINE
from commonir.native.graph_code import code_of
from commonir.runtime.engine import EngineOptions
from commonir.runtime.kernel_graph.layouts import assign_layouts
from commonir.symbolic import Dim, symbol

from tests.native.graphs import graph_of, run_guarded
from tests.oracles import require_package
from tests.runtime.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

RANDOM = np.random.default_rng(11)


def constant(array: Array, element: ElementType) -> Value:
    return core.constant(ArrayData(TensorType(element, array.shape), array.astype(dtype_of(element.name))))


class Weights(NamedTuple):
    """A matrix [terms, columns]: its value, or that of the transposed one; what it stands for; the bits of a number."""

    value: Callable[[bool], Value]
    decoded: Array
    bits: float


def half(k: int, n: int, element: ElementType = f16) -> Weights:
    w = RANDOM.standard_normal((k, n)).astype(dtype_of(element.name))
    return Weights(lambda t: core.cast(constant(w.T if t else w, element), f32), w.astype(np.float64), 16)


def codes(element: ElementType, shape: tuple[int, ...]) -> Array:
    signed = element.kind == "int"
    low = -(1 << (element.bits - 1)) if signed else 0
    return RANDOM.integers(low, low + (1 << element.bits), shape)


def scaled(k: int, n: int, element: ElementType, block: tuple[int, int], offset: str = "") -> Weights:
    """Returns integers with a scale for each block of terms and columns; `offset` is "", "one" or "each"."""
    q, shape = codes(element, (k, n)), (k // block[0], n // block[1])
    scale = RANDOM.uniform(0.5, 1.5, shape).astype(np.float32)
    zero = {"": None, "one": np.array(3), "each": codes(element, shape)}[offset]

    def wide(x: Array) -> Array:
        return np.repeat(np.repeat(x, block[0], 0), block[1], 1)

    shift = 0 if zero is None else zero if zero.ndim == 0 else wide(zero)
    decoded = (q - np.asarray(shift, np.float64)) * wide(scale)
    bits = element.bits + (32 if zero is None or zero.ndim == 0 else 40) / (block[0] * block[1])

    def value(is_transposed: bool) -> Value:
        def stored(a: Array, of: ElementType) -> Value:
            return constant(a.T if is_transposed else a, of)

        offset = None if zero is None else stored(zero, element)
        return core.dequantize(stored(q, element), stored(scale, f32), offset)

    return Weights(value, decoded, bits)


def from_table(k: int, n: int, element: ElementType, entry: ElementType = f32) -> Weights:
    q = codes(element, (k, n))
    table = RANDOM.standard_normal(1 << element.bits).astype(dtype_of(entry.name))
    tables = table.reshape(1, 1, -1, 1)
    decoded = table.astype(np.float64)[q]

    def value(is_transposed: bool) -> Value:
        y = core.table_lookup(constant(q.T if is_transposed else q, element), constant(tables, entry))
        return y if entry is f32 else core.cast(y, f32)

    return Weights(value, decoded, element.bits)


def from_tables(k: int, n: int, element: ElementType, groups: int, entry: int = 1) -> Weights:
    """Returns positions in a table for each group of terms, whose entries are numbers of several terms."""
    q = codes(element, (k // entry, n))
    tables = RANDOM.standard_normal((groups, 1 << element.bits, entry)).astype(np.float32)
    group = np.repeat(np.arange(groups), k // entry // groups)
    decoded = tables[group[:, None], q].swapaxes(1, 2).reshape(k, n)

    def value(is_transposed: bool) -> Value:
        shape = (1, groups) if is_transposed else (groups, 1)
        stored = constant(q.T if is_transposed else q, element)
        along = None if entry == 1 else int(is_transposed)
        return core.table_lookup(stored, constant(tables.reshape(*shape, -1, entry), f32), along)

    return Weights(value, decoded.astype(np.float64), 6.5)


def by_columns(k: int, n: int, element: ElementType, columns: int) -> Weights:
    """Returns positions in a table for each group of columns, of which the last one may be cut off."""
    groups = -(-n // columns)
    q = codes(element, (k, groups * columns))
    tables = RANDOM.standard_normal((groups, 1 << element.bits)).astype(np.float32)
    decoded = tables[np.arange(groups * columns) // columns, q][:, :n]

    def value(is_transposed: bool) -> Value:
        shape = (groups, 1) if is_transposed else (1, groups)
        stored = constant(q.T if is_transposed else q, element)
        y = core.table_lookup(stored, constant(tables.reshape(*shape, -1, 1), f32))
        ends = (n, k) if is_transposed else (k, n)
        return core.slice(y, (0, 0), ends, (1, 1)) if groups * columns > n else y

    return Weights(value, decoded.astype(np.float64), 7)


FORMS: dict[str, Callable[[int, int], Weights]] = {
    "f16": half,
    "bf16": lambda k, n: half(k, n, bf16),
    "int8 by tensor": lambda k, n: scaled(k, n, i8, (k, n)),
    "int8 by column": lambda k, n: scaled(k, n, i8, (k, 1), "each"),
    "uint8 by term": lambda k, n: scaled(k, n, u8, (1, n), "one"),
    "int4 by block": lambda k, n: scaled(k, n, i4, (k // 3, 1)),
    "uint4 by block, with zero points": lambda k, n: scaled(k, n, u4, (k // 3, 1), "each"),
    "uint2 by column": lambda k, n: scaled(k, n, u2, (k, 1), "one"),
    "table of 2": lambda k, n: from_table(k, n, u1),
    "table of 4": lambda k, n: from_table(k, n, u2),
    "table of 8": lambda k, n: from_table(k, n, u3),
    "table of 16": lambda k, n: from_table(k, n, u4),
    "table of 16 halves": lambda k, n: from_table(k, n, u4, f16),
    "table of 64": lambda k, n: from_table(k, n, u6),
    "table of 256": lambda k, n: from_table(k, n, u8),
    "tables of 3 groups": lambda k, n: from_tables(k, n, u4, 3),
    "vectors of 3": lambda k, n: from_tables(k, n, u4, 1, 3),
    "tables of 3 bits by 4 columns": lambda k, n: by_columns(k, n, u3, 4),
    "tables of 4 bits by 32 columns": lambda k, n: by_columns(k, n, u4, 32),
    "table of 256 halves": lambda k, n: from_table(k, n, u8, f16),
}

TARGETS: dict[str, Callable[[Target], Target]] = {
    "host": lambda t: t,
    "half": lambda t: t._replace(vector_bits=256, registers=16),
    "narrow": lambda t: t._replace(vector_bits=128),
}


@pytest.mark.fast_every(9)
@pytest.mark.parametrize("width", TARGETS)
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(1, 96, 150), (5, 33, 149), (37, 75, 64)])
@pytest.mark.parametrize("form", FORMS)
def test_products_agree_with_those_of_decoded_constants(
    form: str, m: int, k: int, n: int, is_transposed: bool, width: str
) -> None:
    weights = FORMS[form](k, n)
    x = RANDOM.standard_normal((m, k)).astype(np.float32)
    module = program(
        lambda v: core.relu(core.matmul(v, weights.value(is_transposed), False, is_transposed)),
        {"x": TensorType(f32, x.shape)},
    )
    graph = graph_of(module)
    assert graph is not None
    (actual,) = run_guarded(graph, TARGETS[width](host_target()), {"in1": x}, {}, "after" if m > 1 else "before")
    expected = np.maximum(x.astype(np.float64) @ weights.decoded, 0)
    np.testing.assert_allclose(actual, expected, atol=2e-6 * k * np.abs(weights.decoded).max(), rtol=0)


@pytest.mark.parametrize("form", FORMS)
def test_constants_are_held_as_they_are_stored(form: str) -> None:
    k, n = 480, 320
    weights = FORMS[form](k, n)
    module = program(lambda v: core.matmul(v, weights.value(False)), {"x": TensorType(f32, (1, k))})
    graph = graph_of(module)
    assert graph is not None
    code = code_of(graph, assign_layouts(graph), host_target())
    held = sum([a.nbytes for a in constants_of(code).values()])
    assert held * 8 <= 1.15 * weights.bits * k * n


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("width", TARGETS)
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize(("rows", "m"), [(1, 1), (5, 5), (40, 40), (symbol("m"), 40)])
@pytest.mark.parametrize(("element", "bits"), [(f32, 17), (f16, 9)])
def test_sparse_constants_are_held_as_masks_and_numbers(
    element: ElementType, bits: int, rows: Dim, m: int, is_transposed: bool, width: str
) -> None:
    k, n = 210, 93
    holds = RANDOM.permutation(k * n).reshape(k, n) < k * n // 2
    numbers = RANDOM.standard_normal((k, n)).astype(dtype_of(element.name))
    w = np.where(holds, numbers, 0)

    def build(v: Value) -> Value:
        mask, dense = [a.T if is_transposed else a for a in (holds, w)]
        y = core.cast(core.sparse_to_dense(constant(mask, boolean), constant(dense[mask], element)), f32)
        return core.relu(core.matmul(v, y, False, is_transposed))

    x = RANDOM.standard_normal((m, k)).astype(np.float32)
    graph = graph_of(program(build, {"x": TensorType(f32, (rows, k))}))
    assert graph is not None
    target = TARGETS[width](host_target())
    dims = {} if rows == m else {"m": m}
    (actual,) = run_guarded(graph, target, dict.fromkeys(graph.inputs, x), dims, "after" if m > 1 else "before")
    expected = np.maximum(x.astype(np.float64) @ w.astype(np.float64), 0)
    np.testing.assert_allclose(actual, expected, atol=2e-6 * k * np.abs(w).max(), rtol=0)
    code = code_of(graph, assign_layouts(graph), target)
    held = sum([a.nbytes for a in constants_of(code).values()])
    if "mask.expand" in code.text:
        assert held * 8 <= 1.15 * bits * k * n
    else:
        assert width != "host" or not target.has("avx512vbmi2")


@pytest.mark.parametrize("width", TARGETS)
@pytest.mark.parametrize("form", FORMS)
def test_gathered_rows_are_decoded_where_they_are_gathered(form: str, width: str) -> None:
    k, n = 600, 240
    weights = FORMS[form](k, n)
    x = np.array([[0, 599, 1], [-600, 298, -1]])
    module = program(lambda v: core.gather(weights.value(False), v, 0), {"x": TensorType(i64, x.shape)})
    graph = graph_of(module)
    assert graph is not None
    (actual,) = run_guarded(graph, TARGETS[width](host_target()), {"in1": x}, {}, "after")
    np.testing.assert_allclose(actual, weights.decoded[x], rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("element", [f16, bf16])
def test_constants_that_are_rounded_while_compiling_are_held_in_16_bits(element: ElementType) -> None:
    x = RANDOM.standard_normal((4, 64)).astype(dtype_of(element.name))
    w = RANDOM.standard_normal((64, 96)).astype(np.float32)
    module = program(
        lambda v: core.matmul(v, core.cast(constant(w, f32), element)), {"x": TensorType(element, x.shape)}
    )
    (actual,) = ENGINE.prepare(module, options=EngineOptions(plan_ahead=True)).run({"x": x}).values()
    expected = x.astype(np.float64) @ w.astype(dtype_of(element.name)).astype(np.float64)
    np.testing.assert_allclose(actual.astype(np.float64), expected, rtol=1e-2, atol=1e-2)


def test_gathered_tables_of_few_bits_are_held_as_they_are_stored() -> None:
    k, n = 600, 240
    weights = from_table(k, n, u4)
    module = program(lambda v: core.gather(weights.value(False), v, 0), {"x": TensorType(i64, (3,))})
    graph = graph_of(module)
    assert graph is not None
    code = code_of(graph, assign_layouts(graph), host_target())
    assert sum([a.nbytes for a in constants_of(code).values()]) * 8 <= 1.15 * weights.bits * k * n
