"""Programs of images between convolutions, whose channels are last in memory, and their code on guarded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.llvm.compiler import host_target
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.symbolic import Dim

from tests.native.graphs import Width, graph_of, of_width, run_guarded
from tests.runtime.programs import program

RANDOM = np.random.default_rng(0)


def weights(*shape: int) -> Value:
    """Returns a constant of normal numbers."""
    array = RANDOM.standard_normal(shape).astype(np.float32)
    return core.constant(ArrayData(TensorType(f32, shape), array))


def between_convolutions(
    inner: Callable[[Value], Value], channels: int, height: Dim, width: Dim, batch: Dim = 1
) -> Module:
    """Returns a program with an operation on a value that has its channels last in memory."""

    def build(x: Value) -> Value:
        y = inner(core.conv(x, weights(channels, 3, 3, 3), pads=((1, 1), (1, 1))))
        return core.conv(core.relu(y), weights(2, channels, 1, 1))

    return program(build, {"x": TensorType(f32, (batch, 3, height, width))})


def check(module: Module, shape: tuple[int, ...], dims: dict[str, int], width: Width, number: int) -> None:
    """Compares a program on an image with the interpreter."""
    x: NDArray[Any] = RANDOM.standard_normal(shape).astype(np.float32)
    (expected,) = REFERENCE.prepare(module).run({"x": x}).values()
    graph = graph_of(module)
    assert graph is not None
    arrays = dict.fromkeys(graph.inputs, x)
    (actual,) = run_guarded(graph, of_width(host_target(), width), arrays, dims, ("before", "after")[number % 2])
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=max(1e-4, 4e-6 * float(np.abs(expected).max())))
