"""Programs whose runs are shared by several threads, for tests in this process and in others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.dialects import core
from commonir.ir.data import ArrayData
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, f32
from commonir.native.engine import MachineCode
from commonir.native.threads.workers import Workers
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions
from commonir.runtime.kernel_graph.execution import GraphExecutable
from commonir.symbolic import Dim

from tests.native.regions import region
from tests.runtime.programs import constant, program

Array = NDArray[Any]

ROWS, COLUMNS = 32, 96


def layers(seed: int = 0) -> Module:
    """Returns two products with what follows them: some steps are divided, others are not."""
    random = np.random.default_rng(seed)
    weights = [random.standard_normal((COLUMNS, COLUMNS)).astype(np.float32) for _ in range(2)]

    def build(v: Value) -> Value:
        for w in weights:
            constant = core.constant(ArrayData(TensorType(f32, w.shape), w))
            v = core.softmax(core.matmul(v, constant), 1)
        return v

    return program(build, {"x": TensorType(f32, (ROWS, COLUMNS))})


def operand(seed: int = 0) -> dict[str, Array]:
    """Returns an input of the program."""
    return {"x": np.random.default_rng(seed).standard_normal((ROWS, COLUMNS)).astype(np.float32)}


def recurrent(rounds: Dim, units: int = 40, *, is_reversed: bool = False) -> Module:
    """Returns a layer with three gates, whose rounds have a product that is divided and steps that are not."""
    random = np.random.default_rng(0)
    w = (0.2 * random.standard_normal((units, 3 * units))).astype(np.float32)

    def build(x: Value) -> Sequence[Value]:
        def body(h: Value, c: Value, row: Value) -> Sequence[Value]:
            gates = core.add(core.matmul(h, constant(w)), row)
            i, o, z = core.split(gates, -1, (units,) * 3)
            following = core.softmax(core.add(c, core.mul(core.sigmoid(i), core.tanh(z))), 1)
            moved = core.mul(core.sigmoid(o), following)
            return moved, following, moved

        first = constant(np.full((1, units), 0.25, np.float32))
        row = TensorType(f32, (1, 3 * units))
        return core.scan((first, first), (x,), region(body, first.type, first.type, row), is_reversed)

    return program(build, {"x": TensorType(f32, (rounds, 1, 3 * units))})


def sequence(rounds: int, units: int = 40) -> dict[str, Array]:
    """Returns an input of the layer."""
    return {"x": np.random.default_rng(rounds).standard_normal((rounds, 1, 3 * units)).astype(np.float32)}


def in_threads(module: Module, threads: int, workers: Workers | None = None) -> GraphExecutable:
    """Returns a program that runs in so many threads, also where there are fewer processors."""
    code = MachineCode(EngineOptions(threads), workers or Workers())
    return GraphExecutable(module.main, DEFAULT_OPTIONS, code)


def bits(outputs: dict[str, Array]) -> list[bytes]:
    """Returns the bits of outputs."""
    return [x.tobytes() for x in outputs.values()]
