"""Several threads in one run: the same bits as one thread, nothing outside of memory, and runs that always end."""

from __future__ import annotations

import sys

import pytest

from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.native import team_code, work_units
from commonir.runtime.native.compiler import host_target
from commonir.runtime.native.scalar_functions import NotCompiled
from commonir.runtime.values import computed, declared

from tests.oracles import require_package
from tests.runtime.interpreter.test_operations import close, drawn, module_of
from tests.runtime.native.graphs import graph_of, run_guarded
from tests.runtime.native.test_operations import NAMES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="guard pages are made as POSIX has them")

require_package("llvmlite")


@pytest.fixture
def _smallest_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divides all work into as many blocks as threads take."""
    monkeypatch.setattr(work_units, "BLOCK_COST", 1)
    monkeypatch.setattr(team_code, "BLOCK_COST", 1)


@pytest.mark.usefixtures("_smallest_blocks")
@pytest.mark.fast_every(12)
@pytest.mark.parametrize("name", NAMES)
def test_operations_have_the_same_bits_in_several_threads(name: str) -> None:
    for n, c in enumerate(drawn(name)[:3]):
        module = module_of(c)
        graph = graph_of(module)
        if graph is None:
            continue
        inputs = dict(zip(graph.inputs, c.arrays.values(), strict=True))
        arrays = {n: computed(a, v.type) for (n, a), v in zip(inputs.items(), module.main.inputs, strict=True)}
        side = ("before", "after")[n % 2]
        try:
            alone = run_guarded(graph, host_target(), arrays, {}, side)
        except NotCompiled:
            continue
        expected = REFERENCE.prepare(module).run(c.arrays)
        for a, e, v in zip(alone, expected.values(), module.main.outputs, strict=True):
            close(declared(a, v.type), e)
        for threads in (2, 3, 5):
            actual = run_guarded(graph, host_target(), arrays, {}, side, threads)
            assert [a.tobytes() for a in actual] == [a.tobytes() for a in alone]
