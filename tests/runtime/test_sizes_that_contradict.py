"""Findings for inputs whose sizes a program cannot take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import commonir as cir
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import f32, tensor
from commonir.symbolic import symbol

from tests.conversions.programs import core_module

# A number of rows that tracing has made a constant: it holds for s = 9 alone.
TEXT = """
    <ir_version: 10, opset_import: ["": 21]>
    g (float[b, s, 2] x) => (y) <int64[1] two = {2}, int64[1] rest = {-1}> {
        shape = Shape (x)
        zero = Constant <value_ints = [0]> ()
        b = Gather <axis = 0> (shape, zero)
        nine = Constant <value_ints = [9]> ()
        wanted = Concat <axis = 0> (nine, b, two)
        y = Reshape (x, wanted)
    }
"""


@pytest.fixture
def program(tmp_path: Path) -> cir.Module:
    onnx.save(onnx.parser.parse_model(TEXT), tmp_path / "m.onnx")
    return cir.load(tmp_path / "m.onnx")


@pytest.mark.parametrize("engine", ["numpy", "reference"])
def test_sizes_known_when_running_and_those_that_do(program: cir.Module, engine: str) -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(program, {"x": np.zeros((3, 4, 2), np.float32)}, engine=engine)
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == (
        "E0707",
        "core.reshape: number of elements: expected 2*b*s = 24, found 18*b = 54",
    )
    assert (diagnostic.notes, diagnostic.help) == (("sizes: b = 3, s = 4",), "it holds for s = 9")


def test_comparing_reports_the_same(program: cir.Module) -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.compare(program, dims={"b": 3, "s": 4})
    assert [(d.code.id, d.help) for d in error.value.diagnostics] == [("E0707", "it holds for s = 9")]


def test_sizes_that_do_run(program: cir.Module) -> None:
    assert cir.run(program, {"x": np.zeros((3, 9, 2), np.float32)})["y"].shape == (9, 3, 2)


def test_window_larger_than_what_a_core_ml_program_is_given_is_reported() -> None:
    n, m = symbol("n"), symbol("m")

    def build(x: Value) -> Value:
        # To give it two open sizes, Core ML concatenates the shape of an operand.
        return core.max_pool(core.reshape(core.exp(core.reshape(x, (n * m,))), (1, 1, n, m)), (2, 2))

    program = core_module(build, {"x": tensor(f32, 1, 1, n, m)})
    package = cir.convert(program, "coreml", ranges={"n": (1, 8), "m": (1, 8)})
    assert "mil.concat" in [op.name for op in package.main.body.operations]
    with pytest.raises(cir.DiagnosticError, match="size of the window: expected at most 1, found 2"):
        cir.run(package, {"x": np.zeros((1, 1, 1, 4), np.float32)})
