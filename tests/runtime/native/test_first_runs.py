"""A program that runs once is not compiled where no engine is named."""

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir
from commonir.runtime.native import engine as native
from commonir.runtime.native.scalar_functions import NotCompiled

X = np.array([-1, 2, 3], np.float32)


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
    text = '<ir_version: 8, opset_import: ["": 18]> g (float[3] x) => (float[3] y) { y = Relu(x) }'
    return cir.loads(text, format="onnxtxt")


def test_a_single_run_compiles_nothing(compiled_graphs: list[object]) -> None:
    for _ in range(2):
        np.testing.assert_array_equal(cir.run(program(), {"x": X})["y"], [0, 2, 3])
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
