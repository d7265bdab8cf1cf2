"""Small graphs of open sizes give what onnxruntime gives, run again with other sizes, and converted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import pytest

import commonir

from tests.onnx_operators.drawing import Array
from tests.onnx_operators.graphs import DrawnGraph, drawn_graph
from tests.onnx_operators.verdicts import Outputs, difference, run_with_onnxruntime

ROUTES = {"older": 13, "back": None}
# A reshape of what one of two branches gives, whose sizes are not the same.
REFUSED = {(102, "back"): "onnx.Reshape: the shape of an operand is not known before running"}


def _expected(drawn: DrawnGraph) -> list[tuple[Mapping[str, Array], Outputs]]:
    """The inputs that onnxruntime takes, and what it gives. What was drawn for the first sizes may not fit others."""
    results: list[tuple[Mapping[str, Array], Outputs]] = []
    for inputs in drawn.inputs:
        try:
            outputs = run_with_onnxruntime(drawn.model, inputs)
        except Exception:  # noqa: BLE001  its exceptions have no class of their own
            continue
        if all(np.isfinite(x).all() for x in outputs):
            results.append((inputs, outputs))
    return results


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("seed", range(40))
def test_a_graph_gives_the_same_for_all_sizes(seed: int) -> None:
    drawn = drawn_graph(seed)
    module = commonir.loads(drawn.model.SerializeToString(), format="onnx")
    assert not [f for f in commonir.verify(module) if f.severity.name == "ERROR"]
    executable = commonir.prepare(module)
    for inputs, expected in _expected(drawn) * 2:
        assert difference(list(executable.run(inputs).values()), expected, 1e-3) is None, drawn.model


def _converted(drawn: DrawnGraph, route: str) -> onnx.ModelProto:
    module = commonir.loads(drawn.model.SerializeToString(), format="onnx")
    source = module if ROUTES[route] else commonir.lower(module)
    return onnx.load_from_string(commonir.dumps(commonir.convert(source, "onnx", opset=ROUTES[route])))


@pytest.mark.fast_every(3)
@pytest.mark.parametrize(("seed", "route"), [(n, r) for n in range(100, 116) for r in ROUTES if (n, r) not in REFUSED])
def test_a_converted_graph_gives_the_same_for_all_sizes(seed: int, route: str) -> None:
    drawn = drawn_graph(seed)
    converted = _converted(drawn, route)
    for inputs, expected in _expected(drawn):
        assert difference(run_with_onnxruntime(converted, inputs), expected, 3e-3) is None, drawn.model


@pytest.mark.parametrize(("seed", "route"), REFUSED)
def test_a_graph_of_which_the_core_must_know_more_is_refused_with_the_reason(seed: int, route: str) -> None:
    with pytest.raises(commonir.DiagnosticError) as caught:
        _converted(drawn_graph(seed), route)
    assert [d.message for d in caught.value.diagnostics] == [REFUSED[seed, route]]
