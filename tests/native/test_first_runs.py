"""A program that runs once is not compiled where no engine is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.codes import MISSING_PACKAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.llvm.scalar_functions import NotCompiled
from commonir.native import engine as native
from commonir.runtime.engine import EngineOptions
from commonir.runtime.kernel_graph.execution import DIRECT_ELEMENTS

SIZE = 4 * DIRECT_ELEMENTS
"""Programs on fewer elements are not compiled for a first run, whatever the engine."""

X = np.arange(-2, SIZE - 2, dtype=np.float32)


@pytest.fixture
def compiled_graphs(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The graphs that are compiled in a test, in place of which operations run."""
    graphs: list[object] = []

    def compiled(graph: object, _: object) -> object:
        graphs.append(graph)
        raise NotCompiled("")

    monkeypatch.setattr(native, "compiled", compiled)
    monkeypatch.delenv("COMMONIR_ENGINE", raising=False)
    return graphs


def program() -> cir.Module:
    """Returns a program of one operation."""
    text = f'<ir_version: 8, opset_import: ["": 18]> g (float[{SIZE}] x) => (float[{SIZE}] y) {{ y = Relu(x) }}'
    return cir.loads(text, format="onnxtxt")


def test_a_single_run_compiles_nothing(compiled_graphs: list[object]) -> None:
    for _ in range(2):
        np.testing.assert_array_equal(cir.run(program(), {"x": X})["y"], np.maximum(X, 0))
    assert compiled_graphs == []


def test_a_single_run_with_a_named_engine_is_compiled(
    compiled_graphs: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    cir.run(program(), {"x": X}, engine="native")
    assert len(compiled_graphs) == 1
    monkeypatch.setenv("COMMONIR_ENGINE", "native")
    cir.run(program(), {"x": X})
    assert len(compiled_graphs) == 2


def test_several_runs_are_compiled(compiled_graphs: list[object]) -> None:
    cir.prepare(program()).run({"x": X})
    cir.run_steps(program(), {"x": X}, steps=2)
    assert len(compiled_graphs) == 2


@pytest.mark.parametrize(
    "run",
    [
        lambda: cir.run_steps(program(), {"x": X[None]}, steps=1).outputs["y"][0],
        lambda: cir.run(program(), {"x": X}, options=EngineOptions(fast_math="none"))["y"],
    ],
    ids=["steps", "fast math"],
)
def test_the_default_engine_runs_without_a_compiler_that_does_not_load(
    run: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise DiagnosticError(Diagnostic(MISSING_PACKAGE, "llvmlite does not load"))

    monkeypatch.setattr(native, "host_target", fails)
    monkeypatch.delenv("COMMONIR_ENGINE", raising=False)
    with pytest.warns(UserWarning, match="programs run without a compiler: llvmlite does not load"):
        result = run()
    np.testing.assert_array_equal(result, np.maximum(X, 0))
