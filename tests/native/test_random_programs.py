"""Random programs, fused and compiled whole, give what the interpreter gives."""

from __future__ import annotations

import pytest

from commonir.llvm.compiler import host_target
from commonir.native.graph_code import code_of
from commonir.runtime.kernel_graph.layouts import assign_layouts

from tests.native.graphs import graph_of
from tests.native.random_programs import differences, random_program
from tests.oracles import require_package

require_package("llvmlite")

GATHERS = 26
"""The seed of a program with several gathers in one kernel."""


@pytest.mark.fast_every(8)
@pytest.mark.parametrize("seed", range(64))
def test_random_programs_agree_with_the_interpreter(seed: int) -> None:
    assert differences(seed) == []


@pytest.mark.slow
def test_code_does_not_depend_on_places_in_memory() -> None:
    texts: set[str] = set()
    kept: list[object] = []
    for n in range(12):
        graph = graph_of(random_program(GATHERS).module)
        assert graph is not None
        texts.add(code_of(graph, assign_layouts(graph), host_target()).text)
        # What is made next lies elsewhere.
        kept.append([object() for _ in range(100 * n)])
    assert len(texts) == 1
