"""Core operations as machine code on all element types, edge values and empty axes, against the interpreter.

The sizes are those of `test_operations.py`, and each tensor lies between guard pages as there.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.types import ElementType, bf16, f16, f64, i8, i16, i32, i64, u8, u16, u32, u64
from commonir.llvm.compiler import host_target
from commonir.llvm.scalar_functions import NotCompiled
from commonir.native.engine import ENGINE as NATIVE
from commonir.ods import Form
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.limits import OutOfRange
from commonir.runtime.values import computed, declared

from tests.native.graphs import GuardedCode, Width, available_widths, graph_of, of_width
from tests.native.guarded_memory import SIDES
from tests.oracles import require_package
from tests.runtime.drawing import Case
from tests.runtime.interpreter.test_operations import CASES, drawn, module_of, symbolic_module

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

Array = NDArray[Any]

NAMES = [n for n, (d,) in core.DIALECT.operations.items() if d.form in (Form.KERNEL, Form.COMPOSITE) and n in CASES]

FLOATS = (f16, bf16, f64)
INTEGERS = (i8, u8, i16, u16, i32, u32, i64, u64)

EDGES = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42)
"""Values whose sums and products are the same in any order."""

FINITE = {"core.conv_transpose": ("weight",)}
"""Operands that keep their values: code leaves out products with the zeros between stretched elements."""

Kind = Literal["f", "iu"]


def _with_elements(c: Case, kinds: Kind, element: ElementType) -> Case:
    """Returns a case with its arrays of floats, or of integers, converted to an element type."""
    dtype = dtype_of(element.name)
    arrays = {n: a.astype(dtype) if a.dtype.kind in kinds else a for n, a in c.arrays.items()}
    return c._replace(arrays=arrays)


def _variants(c: Case) -> Iterator[Case]:
    """Yields a case in the other element types that its operation accepts."""
    kinds: tuple[tuple[Kind, tuple[ElementType, ...]], ...] = (("f", FLOATS), ("iu", INTEGERS))
    for kind, elements in kinds:
        if any(a.dtype.kind in kind for a in c.arrays.values()):
            yield from [_with_elements(c, kind, element) for element in elements]


def _module(c: Case) -> Module | None:
    try:
        return module_of(c)
    except DiagnosticError:  # the operation does not have this element type
        return None


def _same(actual: Array, expected: Array) -> None:
    """Within what the element type rounds to, and what single precision does to sums; signs of zeros count."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if actual.dtype.kind in "biu":
        np.testing.assert_array_equal(actual, expected)
        return
    tolerance = {2: 2e-2 if actual.dtype.name == "bfloat16" else 3e-3}.get(actual.dtype.itemsize, 2e-5)
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(a, e, rtol=tolerance, atol=tolerance, equal_nan=True)


def _compare(c: Case, width: Width = "host") -> bool:
    """Compares compiled code with the interpreter, and returns whether the case could be compiled."""
    module = _module(c)
    graph = None if module is None else graph_of(module)
    if module is None or graph is None:
        return False
    try:
        expected = REFERENCE.prepare(module).run(c.arrays)
    except DiagnosticError:
        return False
    arrays = {
        name: computed(a, v.type)
        for name, a, v in zip(graph.inputs, c.arrays.values(), module.main.inputs, strict=True)
    }
    try:
        code = GuardedCode(graph, of_width(host_target(), width))
    except NotCompiled:
        return False
    for side in SIDES:
        actual = code.run(arrays, {}, side)
        for a, e, v in zip(actual, expected.values(), module.main.outputs, strict=True):
            _same(declared(np.asarray(a), v.type), e)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("width", [w for w in available_widths() if w != "narrow"])
@pytest.mark.parametrize("name", NAMES)
def test_operations_compute_the_same_in_all_element_types(name: str, width: Width) -> None:
    for c in _variants(drawn(name)[0]):
        _compare(c, width)


def _with_edges(c: Case, name: str) -> Case:
    r = np.random.default_rng(zlib.crc32(f"{name} edges".encode()))
    arrays = dict(c.arrays)
    for n, a in c.arrays.items():
        if a.dtype == np.float32 and a.size and n not in FINITE.get(name, ()):
            arrays[n] = np.where(r.random(a.shape) < 0.3, r.choice(np.array(EDGES, np.float32), a.shape), a)
    return c._replace(arrays=arrays)


@pytest.mark.fast_every(24)
@pytest.mark.parametrize("width", [w for w in available_widths() if w != "narrow"])
@pytest.mark.parametrize("name", NAMES)
def test_operations_compute_the_same_of_edge_values(name: str, width: Width) -> None:
    for c in drawn(name)[:2]:
        if any(a.dtype == np.float32 for a in c.arrays.values()):
            _compare(_with_edges(c, name), width)


def _with_size(c: Case, size: int, other: int) -> Case:
    """Returns a case with an axis of another size wherever it has one of the first."""
    arrays = {
        n: np.resize(a, [other if s == size else s for s in a.shape]) if a.size else a for n, a in c.arrays.items()
    }
    return c._replace(arrays=arrays)


@pytest.mark.fast_every(24)
@pytest.mark.parametrize("name", NAMES)
def test_operations_on_sizes_of_zero_and_one_compute_the_same(name: str) -> None:
    # Compiled once for all sizes; an operation that refuses a size refuses it on both engines.
    for c in drawn(name)[:1]:
        try:
            module = symbolic_module(c)
        except DiagnosticError:  # the operation needs sizes
            continue
        reference, native = REFERENCE.prepare(module), NATIVE.prepare(module)
        for size in sorted({s for a in c.arrays.values() for s in a.shape}):
            for other in (0, 1):
                arrays = _with_size(c, size, other).arrays
                try:
                    expected = reference.run(arrays)
                except DiagnosticError:
                    with pytest.raises(DiagnosticError):
                        native.run(arrays)
                    continue
                for n, a in native.run(arrays).items():
                    _same(a, expected[n])


@pytest.mark.slow_cases("avx2", "narrow")
@pytest.mark.parametrize("width", available_widths())
def test_positions_outside_of_a_tensor_are_faults(width: Width) -> None:
    x, at = np.arange(64, dtype=np.float32), np.arange(40, dtype=np.int64)
    module = module_of(Case(lambda x, i: core.gather(x, i, 0), {"x": x, "i": at}))
    graph = graph_of(module)
    assert graph is not None
    code = GuardedCode(graph, of_width(host_target(), width))
    for bad in (-65, 64, 2**31, 2**32, 2**32 + 3, -(2**63), 2**63 - 1):
        for place in (0, 7, 39):
            wrong = at.copy()
            wrong[place] = bad
            with pytest.raises(OutOfRange):
                code.run(dict(zip(graph.inputs, (x, wrong), strict=True)), {}, "after")
