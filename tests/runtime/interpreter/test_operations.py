"""Every core operation on random shapes and attributes: engines against each other and against outside oracles."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from commonir.base.arrays import name_of
from commonir.base.codes import WRONG_DIMENSIONS
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, TensorType
from commonir.ods import Form, Op, infer
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.interpreter.operations import named_operands
from commonir.runtime.kernel_graph.block_steps import GraphStep
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY
from commonir.runtime.numpy_engine.engine import NumpyExecutable
from commonir.runtime.numpy_engine.graph_plan import PlannedGraph
from commonir.symbolic import Dim, evaluate, symbol

from tests.dialects.core.test_results import MAKERS
from tests.runtime.adapted_cases import ELSEWHERE, adapted
from tests.runtime.cases import CASES as FIRST_CASES
from tests.runtime.cases import STRUCTURE
from tests.runtime.drawing import Case
from tests.runtime.programs import program
from tests.runtime.scalar_oracle import scalar_result
from tests.runtime.sequence_cases import CASES as SEQUENCE_CASES

ROUNDS = 6

OWN_CASES = {**FIRST_CASES, **SEQUENCE_CASES}
CASES = {**{name: adapted(name) for name in MAKERS}, **OWN_CASES}
Array = np.ndarray[Any, Any]


def drawn(name: str) -> list[Case]:
    draw = CASES[name]
    seeds = [zlib.crc32(f"{name} {n}".encode()) for n in range(ROUNDS)]
    return [draw(np.random.default_rng(seed)) for seed in seeds]


def module_of(c: Case) -> Module:
    types = {n: TensorType(ELEMENT_TYPES[name_of(a.dtype)], a.shape) for n, a in c.arrays.items()}
    return program(c.build, types)


def close(actual: Array, expected: Array) -> None:
    assert actual.shape == np.shape(expected)
    widest = np.complex128 if actual.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        np.asarray(actual, widest), np.asarray(expected, widest), rtol=2e-5, atol=2e-5, equal_nan=True
    )


def test_every_core_operation_has_cases() -> None:
    assert set(core.DIALECT.operations) == CASES.keys() | STRUCTURE | ELSEWHERE


def fallbacks_of(executable: NumpyExecutable, module: Module) -> list[str]:
    """Returns the kernels that the numpy engine leaves to the interpreter."""
    graphs = [step.graph for step in executable.steps_of(module.main.body) if isinstance(step, GraphStep)]
    return [label for graph in graphs if isinstance(graph, PlannedGraph) for label in graph.fallbacks]


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", CASES)
def test_numpy_engine_agrees_with_reference_engine(name: str) -> None:
    for c in drawn(name):
        module = module_of(c)
        expected = REFERENCE.prepare(module).run(c.arrays)
        executable = NUMPY.prepare(module)
        for _ in range(2):  # the second run finds buffers in use
            actual = executable.run(c.arrays)
            assert {n: a.dtype for n, a in actual.items()} == {n: a.dtype for n, a in expected.items()}
            for n, array in actual.items():
                close(array, expected[n])
        assert fallbacks_of(executable, module) == []


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", CASES)
def test_engines_agree_with_outside_oracle(name: str) -> None:
    for c in drawn(name):
        if c.expected is None:
            pytest.skip("no oracle")
        expected = c.expected()
        expected_value = [np.asarray(expected)] if isinstance(expected, (np.ndarray, np.generic)) else expected
        for engine in (REFERENCE, NUMPY):
            actual = engine.prepare(module_of(c)).run(c.arrays)
            assert len(actual) == len(expected_value)
            for array, w in zip(actual.values(), expected_value, strict=True):
                close(array, w)


def kernels_of(module: Module) -> list[Op]:
    return [op for op in module.main.walk() if isinstance(op, Op) and op.form is Form.KERNEL]


@pytest.mark.slow_cases("core.grid_sample")
@pytest.mark.parametrize("name", [n for n, (d,) in core.DIALECT.operations.items() if d.form is Form.KERNEL])
def test_vectorised_evaluation_agrees_with_scalar_loops(name: str) -> None:
    for c in drawn(name)[:3]:
        module = module_of(c)
        ops = [op for op in kernels_of(module) if op.name == name]
        if len(kernels_of(module)) != 1:
            continue
        (op,) = ops
        derived = infer(op)
        inputs = dict(zip(module.main.inputs, c.arrays.values(), strict=True))
        if any(v not in inputs for v in op.operands):
            continue
        arrays = named_operands(op, [inputs[v] for v in op.operands])
        actual = REFERENCE.prepare(module).run(c.arrays)
        for kernel, extents, array in zip(derived.kernels, derived.extents, actual.values(), strict=True):
            sizes = {n: evaluate(d, {}) for n, d in extents.items()}
            if np.prod(array.shape) * max(1, np.prod([float(v) for v in sizes.values()])) > 1e7:
                continue
            close(array, scalar_result(kernel, sizes, arrays))


def symbolic_module(c: Case) -> Module:
    """The operation on operands whose dimensions other than 1 are all symbols."""
    types: dict[str, TensorType] = {}
    for n, a in c.arrays.items():
        shape: list[Dim] = [size if size == 1 else symbol(f"{n}_{axis}") for axis, size in enumerate(a.shape)]
        types[n] = TensorType(ELEMENT_TYPES[name_of(a.dtype)], tuple(shape))
    return program(c.build, types)


NEEDS_SIZES = frozenset(
    {
        "core.attention",  # one over the root of the size of a query
        "core.dynamic_reshape",  # the rank of the result is the size of an operand
        "core.dynamic_slice",
        "core.einsum",  # repeated letters make one index of two symbols
        "core.gather_nd",  # the number of positions is the size of an operand
        "core.scatter_nd",
    }
)
"""Operations that refuse some symbolic sizes, by definition."""


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", CASES)
def test_inferred_shape_bound_to_sizes_is_the_executed_shape(name: str) -> None:
    ran = 0
    for c in drawn(name):
        try:
            module = symbolic_module(c)
        except DiagnosticError:
            assert name in NEEDS_SIZES
            continue
        sizes = {f"{n}_{axis}": size for n, a in c.arrays.items() for axis, size in enumerate(a.shape)}
        try:
            actual = NUMPY.prepare(module).run(c.arrays)
        except DiagnosticError as error:
            # A constraint between symbols is sufficient, not necessary, where sizes may be 1.
            assert {d.code for d in error.diagnostics} == {WRONG_DIMENSIONS}
            continue
        ran += 1
        for value, array in zip(module.main.outputs, actual.values(), strict=True):
            assert bound_shape(value, sizes, array.shape) == array.shape
    assert ran or name in NEEDS_SIZES


def bound_shape(value: Value, sizes: dict[str, int], actual: tuple[int, ...]) -> tuple[int, ...]:
    """The inferred shape; what was not inferred is as it came out."""
    assert isinstance(value.type, TensorType)
    if value.type.shape is None:
        return actual
    inferred = zip(value.type.shape, actual, strict=True)
    return tuple([n if d is None else evaluate(d, sizes) for d, n in inferred])
