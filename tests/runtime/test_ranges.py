"""Numbers in steps whose bounds follow from sizes are computed within graphs of kernels."""

from __future__ import annotations

import numpy as np
import pytest

from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32, i64
from commonir.native.engine import ENGINE as NATIVE
from commonir.runtime.engine import EngineOptions
from commonir.runtime.kernel_graph.block_steps import GraphStep
from commonir.runtime.kernel_graph.execution import GraphExecutable
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY
from commonir.symbolic import symbol

from tests.oracles import require_package
from tests.runtime.programs import program


@pytest.mark.parametrize("engine", ["native", "numpy"])
def test_a_range_up_to_a_size_is_a_kernel(engine: str) -> None:
    if engine == "native":
        require_package("llvmlite")

    def build(x: Value) -> list[Value]:
        size = core.dim(x, 0)
        first, step = core.scalar(2, i64), core.scalar(3, i64)
        numbers = core.range_(first, core.add(size, size), step)
        return [numbers, core.mul(core.cast(numbers, to=f32), core.reduce_sum(x, (0,)))]

    module = program(build, {"x": TensorType(f32, (symbol("n"),))})
    executable = (NATIVE if engine == "native" else NUMPY).prepare(module, options=EngineOptions(plan_ahead=True))
    assert isinstance(executable, GraphExecutable)
    (step,) = executable.steps_of(module.main.body)
    assert isinstance(step, GraphStep)
    for n in (1, 2, 5, 6):
        numbers, product = executable.run({"x": np.full(n, 0.5, np.float32)}).values()
        np.testing.assert_array_equal(numbers, np.arange(2, 2 * n, 3))
        np.testing.assert_array_equal(product, np.arange(2, 2 * n, 3) * np.float32(n / 2))
