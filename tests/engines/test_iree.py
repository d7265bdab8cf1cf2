"""The `iree` engine against the reference engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import f32, tensor, u8
from commonir.runtime.engine import DEFAULT_OPTIONS
from commonir.symbolic import symbol

from tests.conversions.programs import core_module
from tests.oracles import oracle

_ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_outputs_have_their_names_types_and_values() -> None:
    oracle("iree.compiler")

    def build(x: Value, n: Value) -> tuple[Value, ...]:
        return core.softmax(x, -1), core.div(n, core.splat(3, n))

    module = core_module(build, {"x": tensor(f32, symbol("rows"), 4), "n": tensor(u8, 2)}, ["shares", "thirds"])
    inputs = {
        "x": np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32),
        "n": np.array([250, 9], np.uint8),
    }
    outputs = cir.run(module, inputs, engine="iree")
    expected = cir.run(module, inputs, engine="reference")
    assert {name: a.dtype for name, a in outputs.items()} == {"shares": np.float32, "thirds": np.uint8}
    for name, array in expected.items():
        np.testing.assert_allclose(np.asarray(outputs[name], np.float64), np.asarray(array, np.float64), rtol=1e-5)


@pytest.mark.slow
def test_states_go_on_from_run_to_run() -> None:
    oracle("iree.compiler")
    program = cir.load(_ROOT / "tests" / "models" / "kinds" / "accumulator.mlpackage")  # acc += x; y = 2 * acc
    x, state = np.ones((2, 3), np.float16), cir.State()
    result = [cir.run(program, {"x": x}, engine="iree", state=state)["y"] for _ in range(2)]
    assert [float(np.asarray(y)[0, 0]) for y in result] == [2.0, 4.0]


def test_limit_that_it_does_not_have_is_refused() -> None:
    oracle("iree.compiler")
    module = core_module(core.neg, {"x": tensor(f32, 2)})
    options = DEFAULT_OPTIONS._replace(time_limit_seconds=1.0)
    with pytest.raises(DiagnosticError, match="the engine 'iree' has no time limit"):
        cir.run(module, {"x": np.zeros(2, np.float32)}, engine="iree", options=options)
