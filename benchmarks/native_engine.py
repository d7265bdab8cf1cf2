"""The native engine against onnxruntime on ONNX models, both on as many threads, in one process, by turns.

Printed are the times of both (the tenth percentile of the rounds), their ratio, the time that compiling took, and the
largest difference of an output, over its largest element. Times are CPU times on one thread, and wall times on several:
these need a machine that does nothing else. Sizes that are not fixed are 8.

    python -m benchmarks.native_engine MODEL.onnx ... [--rounds N] [--threads N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from commonir import api
from commonir.base.arrays import dtype_of
from commonir.ir.module import Module
from commonir.ir.types import TensorType
from commonir.native.engine import ENGINE
from commonir.runtime.engine import EngineOptions

Array = NDArray[Any]

SIZE = 8


def inputs_of(module: Module) -> dict[str, Array]:
    """Returns seeded inputs: normal numbers, and integers of 0 and 1."""
    random = np.random.default_rng(0)
    out: dict[str, Array] = {}
    for v in module.main.inputs:
        assert isinstance(v.type, TensorType)
        shape = [d if isinstance(d, int) else SIZE for d in v.type.shape or ()]
        is_float = v.type.element.is_float
        numbers = random.standard_normal(shape) if is_float else random.integers(0, 2, shape)
        out[v.name] = numbers.astype(dtype_of(v.type.element.name))
    return out


def times_ms(calls: Mapping[str, Callable[[], object]], rounds: int, threads: int = 1) -> dict[str, float]:
    """Returns the tenth percentile of the times of some calls, which take turns."""
    taken: dict[str, list[int]] = {name: [] for name in calls}
    clock = time.process_time_ns if threads == 1 else time.perf_counter_ns
    for _ in range(rounds):
        for name, call in calls.items():
            if threads > 1:
                # Threads of the other one may still wait for work.
                call()
            start = clock()
            call()
            taken[name].append(clock() - start)
    return {name: sorted(values)[len(values) // 10] / 1e6 for name, values in taken.items()}


def largest_difference(actual: Mapping[str, Array], expected: Sequence[Array]) -> float:
    """Returns the largest difference of outputs, each over its largest element."""
    pairs = zip(actual.values(), expected, strict=True)
    return max(float(np.max(np.abs(a - e)) / max(np.max(np.abs(e)), 1e-30)) for a, e in pairs)


def row_of(path: Path, rounds: int, threads: int) -> str:
    """Returns the line of a model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    module = api.lower(api.load(path))
    inputs = inputs_of(module)
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    start = time.process_time()
    executable = ENGINE.prepare(module, options=EngineOptions(threads))
    compiling = time.process_time() - start
    expected = [np.asarray(x) for x in session.run(None, inputs)]
    difference = largest_difference(executable.run(inputs), expected)
    calls = {"native": lambda: executable.run(inputs), "onnxruntime": lambda: session.run(None, inputs)}
    times = times_ms(calls, rounds, threads)
    ratio = times["native"] / times["onnxruntime"]
    columns = f"{times['native']:10.2f} {times['onnxruntime']:15.2f} {ratio:6.2f} {compiling:12.1f} {difference:11.0e}"
    return f"{path.stem:24} {columns}"


def main() -> None:
    """Prints a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'model':24} {'native ms':>10} {'onnxruntime ms':>15} {'ratio':>6} {'compiling s':>12} {'difference':>11}")
    for path in arguments.models:
        print(row_of(path, arguments.rounds, arguments.threads), flush=True)


if __name__ == "__main__":
    main()
