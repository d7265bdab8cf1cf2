"""Engines on networks of real size, each in a process of its own, by turns: the native engine, onnxruntime, OpenVINO.

Printed for each ONNX model are the tenth percentile of the times of one run (the CPU time of the process, on several
threads the time that passed), the peak memory, the time of the best of the others over ours, and at the end the
geometric mean of these. The others compute in single precision. `python -m benchmarks.network_exports FOLDER` makes the
models. Needs onnx, onnxruntime and openvino. On several threads there is a pause before each run: some engines' threads
go on waiting in a loop after a run, on processors that the next engine needs.

    python -m benchmarks.networks MODEL.onnx ... [--rounds N] [--threads N] [--engines NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PAUSE_SECONDS = 0.05
"""The pause before a run on several threads, for all engines."""

Array = NDArray[Any]
Run = Callable[[], Sequence[Array]]

SIZE = 1
"""Sizes that a model leaves open."""

OURS = "native"


def inputs_of(path: Path) -> dict[str, Array]:
    """Returns seeded inputs of an ONNX model: normal numbers, and integers of 0 and 1."""
    onnx: Any = import_module("onnx")
    random = np.random.default_rng(0)
    graph = onnx.load(path, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    out: dict[str, Array] = {}
    for v in [v for v in graph.input if v.name not in constants]:
        shape = [d.dim_value or SIZE for d in v.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)
        numbers = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)
        out[v.name] = numbers.astype(dtype)
    return out


def _commonir_run(name: str, path: Path, inputs: Mapping[str, Array], threads: int) -> Run:
    commonir: Any = import_module("commonir")
    engine: Any = import_module("commonir.runtime.engine")
    options = engine.EngineOptions(threads=threads)
    executable = commonir.prepare(commonir.load(path), engine=name, options=options)
    return lambda: list(executable.run(inputs).values())


def _onnxruntime_run(path: Path, inputs: Mapping[str, Array], threads: int) -> Run:
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda: [np.asarray(x) for x in session.run(None, dict(inputs))]


def _openvino_run(path: Path, inputs: Mapping[str, Array], threads: int) -> Run:
    core: Any = import_module("openvino").Core()
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
    compiled = core.compile_model(str(path), "CPU", settings)
    request = compiled.create_infer_request()
    return lambda: list(request.infer(dict(inputs)).values())


def run_of(engine: str, path: Path, threads: int) -> Run:
    """Returns a function that runs a model once on an engine, by its name."""
    inputs = inputs_of(path)
    if engine == "onnxruntime":
        return _onnxruntime_run(path, inputs, threads)
    if engine == "openvino":
        return _openvino_run(path, inputs, threads)
    return _commonir_run(engine, path, inputs, threads)


def serve(engine: str, path: Path, threads: int) -> None:
    """Runs a model once for each line of the input, and answers with the nanoseconds that it took."""
    run = run_of(engine, path, threads)
    clock = time.process_time_ns if threads == 1 else time.perf_counter_ns
    run()
    print("[true]", flush=True)
    for _ in sys.stdin:
        start = clock()
        run()
        taken = clock() - start
        print(json.dumps([taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]), flush=True)


class Measured(NamedTuple):
    """The time of one run of an engine, and the largest memory of its process."""

    milliseconds: float
    peak_megabytes: float


class Server:
    """An engine with a model in a process."""

    def __init__(self, engine: str, path: Path, threads: int) -> None:
        command = [sys.executable, "-m", "benchmarks.networks", str(path), "--threads", str(threads), "--serve", engine]
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=os.environ | limits
        )
        self._times: list[int] = []
        self._kilobytes = 0
        self.is_running = bool(self._answer())

    def _answer(self) -> list[float]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line.startswith("[") else []

    def run(self) -> None:
        """Runs the model once."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        taken, kilobytes = self._answer()
        self._times.append(int(taken))
        self._kilobytes = int(kilobytes)

    def close(self) -> Measured:
        """Ends the process, and returns what was measured."""
        self._process.communicate()
        tenth = sorted(self._times)[len(self._times) // 10]
        return Measured(tenth / 1e6, self._kilobytes / 1024)


def measured(path: Path, engines: Sequence[str], rounds: int, threads: int) -> dict[str, Measured]:
    """Returns the times of a model on some engines, which take turns; one that cannot run it is left out."""
    servers = {name: Server(name, path, threads) for name in engines}
    running = {name: s for name, s in servers.items() if s.is_running}
    for _ in range(rounds):
        for server in running.values():
            if threads > 1:
                time.sleep(PAUSE_SECONDS)
            server.run()
    return {name: s.close() for name, s in running.items()}


def main() -> None:
    """Prints a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--engines", nargs="+", default=[OURS, "onnxruntime", "openvino"])
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve, arguments.models[0], arguments.threads)
        return
    print(
        f"{'model':20}" + "".join(f"{name + ' ms':>16}{'MB':>7}" for name in arguments.engines) + f"{'best/ours':>11}"
    )
    ratios: list[float] = []
    for path in arguments.models:
        found = measured(path, arguments.engines, arguments.rounds, arguments.threads)
        cells = [found.get(name) for name in arguments.engines]
        text = "".join(f"{c.milliseconds:16.2f}{c.peak_megabytes:7.0f}" if c else f"{'-':>23}" for c in cells)
        others = [c.milliseconds for name, c in found.items() if name != OURS]
        if OURS in found and others:
            ratios.append(min(others) / found[OURS].milliseconds)
            text += f"{ratios[-1]:11.2f}"
        print(f"{path.stem:20}{text}", flush=True)
    if ratios:
        print(f"geometric mean of best/ours: {exp(sum(map(log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
