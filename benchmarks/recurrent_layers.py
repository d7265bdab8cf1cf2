"""The cost of a step of a recurrent layer on the numpy engine, which runs it as a loop, against onnxruntime's operator.

Figures: time of an LSTM of 128 steps and 256 hidden elements over onnxruntime's, for one sequence and for 16 at a time.
Targets: 12x, where most of the time goes into calling numpy some 25 times a step, and 4x.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.engines.onnxruntime import ENGINE as ONNXRUNTIME
from commonir.ir.data import ArrayData
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, TensorType, f32
from commonir.ods import operations_behind
from commonir.runtime.numpy_engine.engine import ENGINE as NUMPY

from benchmarks.harness import paired_ratio, report

STEPS, SIZE, REPEATS = 128, 256, 5
TARGETS = {1: 12, 16: 4}


def program(batch: int) -> Module:
    """Returns a function of one layer with constant weights."""
    r = np.random.default_rng(1)

    def constant(*shape: int) -> Value:
        array: Any = (r.standard_normal(shape) / 16).astype(np.float32)
        return core.constant(ArrayData(TensorType(f32, shape), array))

    block = Block([TensorType(f32, (STEPS, batch, SIZE))], ["x"])
    weight, recurrent = constant(1, 4 * SIZE, SIZE), constant(1, 4 * SIZE, SIZE)
    h, c = constant(1, batch, SIZE), constant(1, batch, SIZE)
    outputs = core.lstm(block.arguments[0], weight, recurrent, h, c, constant(1, 4 * SIZE))
    for op in operations_behind(outputs):
        block.append(op)
    block.append(ml_program.Return(outputs))
    kind = FunctionType(tuple([v.type for v in block.arguments]), tuple([v.type for v in outputs]))
    module = Module()
    module.body.append(ml_program.Func("main", kind, Region([block]), ("y", "h", "c")))
    return module


def main() -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    results: list[bool] = []
    for batch, target in TARGETS.items():
        x: Any = np.random.default_rng(2).standard_normal((STEPS, batch, SIZE)).astype(np.float32)
        prepared = [engine.prepare(program(batch)) for engine in (NUMPY, ONNXRUNTIME)]

        def seconds(number: int, prepared: Any = prepared, x: Any = x) -> float:
            best = np.inf
            for _ in range(REPEATS):
                start = time.perf_counter()
                prepared[number].run({"x": x})
                best = min(best, time.perf_counter() - start)
            return float(best)

        ratio = paired_ratio(lambda: seconds(0), lambda: seconds(1))
        results.append(report(f"LSTM, 128 steps of {batch} x 256, numpy / onnxruntime", ratio, "x", target))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
