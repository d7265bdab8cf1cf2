"""Every core operation of kernel or composite form as machine code, between guard pages, against the interpreter."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Sequence

import numpy as np
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.llvm.compiler import host_target
from commonir.llvm.scalar_functions import NotCompiled
from commonir.ods import Form
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.values import computed, declared

from tests.native.graphs import GuardedCode, Width, available_widths, graph_of, of_width
from tests.native.guarded_memory import SIDES
from tests.oracles import require_package
from tests.runtime.drawing import Case, WideRandom
from tests.runtime.interpreter.test_operations import CASES, close, drawn, module_of, symbolic_module

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")

NAMES = [n for n, (d,) in core.DIALECT.operations.items() if d.form in (Form.KERNEL, Form.COMPOSITE) and n in CASES]

ROUNDS: dict[Width, int] = {"host": 4, "avx2": 2, "narrow": 2}
"""Random cases of each operation: compiling takes longer than running."""

OTHERWISE = frozenset(
    {
        "core.dynamic_reshape",
        "core.dynamic_slice",
        "core.gru",
        "core.lstm",
        "core.rnn",
    }
)
"""Operations whose meaning depends on the elements of their operands, and those with loops."""


@pytest.mark.fast_every(12)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("name", NAMES)
def test_operations_compute_the_same_within_their_memory(name: str, width: Width) -> None:
    assert check_cases(drawn(name)[: ROUNDS[width]], width) or name in OTHERWISE


@pytest.mark.fast_every(24)
@pytest.mark.parametrize("width", available_widths())
@pytest.mark.parametrize("name", NAMES)
def test_operations_on_several_vectors_compute_the_same(name: str, width: Width) -> None:
    draws = [WideRandom(np.random.PCG64(zlib.crc32(f"{name} {n}".encode()))) for n in range(2)]
    assert check_cases([CASES[name](r) for r in draws], width) or name in OTHERWISE


def check_cases(cases: Sequence[Case], width: Width) -> int:
    """Compares compiled cases with the interpreter, and returns how many could be compiled."""
    compiled = 0
    for c in cases:
        module = module_of(c)
        graph = graph_of(module)
        if graph is None:
            continue
        inputs = dict(zip(graph.inputs, c.arrays.values(), strict=True))
        arrays = {n: computed(a, v.type) for (n, a), v in zip(inputs.items(), module.main.inputs, strict=True)}
        try:
            code = GuardedCode(graph, of_width(host_target(), width))
        except NotCompiled:
            continue
        compiled += 1
        expected = REFERENCE.prepare(module).run(c.arrays)
        for side in SIDES:
            actual = code.run(arrays, {}, side)
            for a, e, v in zip(actual, expected.values(), module.main.outputs, strict=True):
                close(declared(a, v.type), e)
    return compiled


@pytest.mark.fast_every(12)
@pytest.mark.parametrize("name", NAMES)
def test_operations_on_symbolic_sizes_compute_the_same(name: str) -> None:
    for c in drawn(name)[:2]:
        graph = _symbolic_graph(c)
        if graph is None:
            continue
        module = module_of(c)
        sizes = {f"{name}_{axis}": size for name, a in c.arrays.items() for axis, size in enumerate(a.shape)}
        arrays = {
            name: computed(a, v.type)
            for name, a, v in zip(graph.inputs, c.arrays.values(), module.main.inputs, strict=True)
        }
        expected = REFERENCE.prepare(module).run(c.arrays)
        code = GuardedCode(graph, host_target())
        for side in SIDES:
            actual = code.run(arrays, sizes, side)
            for a, e, v in zip(actual, expected.values(), module.main.outputs, strict=True):
                close(declared(np.asarray(a), v.type), e)


def _symbolic_graph(c: Case) -> KernelGraph | None:
    try:
        return graph_of(symbolic_module(c))
    except DiagnosticError:  # the operation needs sizes
        return None
