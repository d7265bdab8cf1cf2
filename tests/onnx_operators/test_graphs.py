"""Small graphs of open sizes give what onnxruntime gives, run again with other sizes, and converted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import pytest

import commonir
from commonir.base.codes import NOT_KNOWN_BEFORE_RUNNING, UNSUPPORTED_CONVERSION

from tests.onnx_operators.drawing import Array
from tests.onnx_operators.graphs import DrawnGraph, drawn_graph
from tests.onnx_operators.verdicts import Outputs, difference, run_with_onnxruntime

ROUTES = {"older": 13, "back": None}


def _expected(drawn: DrawnGraph) -> list[tuple[Mapping[str, Array], Outputs]]:
    """The inputs that onnxruntime takes, and what it gives. What was drawn for the first sizes may not fit others."""
    found: list[tuple[Mapping[str, Array], Outputs]] = []
    for inputs in drawn.inputs:
        try:
            outputs = run_with_onnxruntime(drawn.model, inputs)
        except Exception:  # noqa: BLE001  its exceptions have no class of their own
            continue
        if all(np.isfinite(x).all() for x in outputs):
            found.append((inputs, outputs))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_a_graph_gives_the_same_for_all_sizes(seed: int) -> None:
    drawn = drawn_graph(seed)
    module = commonir.loads(drawn.model.SerializeToString(), format="onnx")
    assert not [f for f in commonir.verify(module) if f.severity.name == "ERROR"]
    executable = commonir.prepare(module)
    for inputs, expected in _expected(drawn) * 2:
        assert difference(list(executable.run(inputs).values()), expected, 1e-3) is None, drawn.model


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("seed", range(100, 116))
def test_a_converted_graph_gives_the_same_for_all_sizes(seed: int, route: str) -> None:
    drawn = drawn_graph(seed)
    module = commonir.loads(drawn.model.SerializeToString(), format="onnx")
    try:
        source = module if ROUTES[route] else commonir.lower(module)
        made = commonir.dumps(commonir.convert(source, "onnx", opset=ROUTES[route]))
    except commonir.DiagnosticError as error:
        # Which axes have size 1, for instance, the core must know before.
        assert {d.code for d in error.diagnostics} <= {NOT_KNOWN_BEFORE_RUNNING, UNSUPPORTED_CONVERSION}
        pytest.skip(str(error))
    for inputs, expected in _expected(drawn):
        found = run_with_onnxruntime(onnx.load_from_string(made), inputs)
        assert difference(found, expected, 3e-3) is None, drawn.model
