"""Sizes and positions that do not fit 32 bits, or contradict each other: the interpreter's answer, or its refusal."""

from __future__ import annotations

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.dialects.core.resize import ResizeMode
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.native.engine import ENGINE as NATIVE
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY
from commonir.symbolic import symbol

from tests.native.graphs import graph_of
from tests.oracles import require_package
from tests.runtime.programs import program

require_package("llvmlite")


@pytest.mark.parametrize("name", ["sum_pool", "max_pool", "average_pool"])
@pytest.mark.parametrize(("dilation", "before"), [(2**32, 2**32), (2**32, 2**31), (2**31, 0), (2**62, 5)])
def test_windows_that_reach_further_than_32_bits_are_not_compiled(name: str, dilation: int, before: int) -> None:
    # Compiled, both positions would wrap around into the tensor.
    module = cir.loads(
        f"""
        ml_program.func @f(%x: tensor<1x1x64xf32>) -> tensor<1x1x64xf32> {{
          %y = "core.{name}"(%x) <{{
            kernel = array<i64: 2>, dilations = array<i64: {dilation}>, pads = [[{before}, {dilation - before}]]
          }}> : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
          ml_program.return %y : tensor<1x1x64xf32>
        }}""",
        format="mlir",
    )
    assert graph_of(module) is None


@pytest.mark.slow_cases("True-*")
@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("is_symbolic", [False, True])
def test_coordinates_of_a_resize_may_have_more_than_32_bits(mode: str, *, is_symbolic: bool) -> None:
    old, new = 70001, 70003
    size = symbol("n") if is_symbolic else old

    def build(x: Value) -> Value:
        return core.resize(x, (new,), mode=ResizeMode(mode))

    module = program(build, {"x": TensorType(f32, (size,))})
    x = np.linspace(-1, 1, old, dtype=np.float32)
    (expected,) = REFERENCE.prepare(module).run({"x": x}).values()
    (actual,) = NATIVE.prepare(module).run({"x": x}).values()
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)


def test_channels_of_unknown_number_are_divisible_by_groups() -> None:
    def build(x: Value) -> Value:
        return core.group_norm(x, groups=6)

    module = program(build, {"x": TensorType(f32, (2, symbol("c"), 4))})
    # Both back ends have the same front; compiling takes longer.
    for engine in (REFERENCE, NUMPY):
        executable = engine.prepare(module)
        assert executable.run({"x": np.ones((2, 12, 4), np.float32)})
        with pytest.raises(DiagnosticError, match="groups"):
            executable.run({"x": np.ones((2, 3, 4), np.float32)})


@pytest.mark.parametrize("size", [3, 7])
def test_slices_of_a_scan_have_the_sizes_that_its_body_declares(size: int) -> None:
    def build(x: Value) -> Value:
        row = TensorType(f32, (5,))
        body = core.nested([row, row], lambda state, row: (core.add(state, row), core.mul(state, row)))
        first = core.constant(data_of(f32, (5,), [0.0] * 5))
        return core.scan((first,), (x,), body)[0]

    module = program(build, {"x": TensorType(f32, (4, symbol("n")))})
    for engine in (REFERENCE, NUMPY, NATIVE):
        with pytest.raises(DiagnosticError, match="slices of shape"):
            engine.prepare(module).run({"x": np.ones((4, size), np.float32)})
