"""Runs in one and two threads beside busy loops that keep every processor, by turns in one process.

A program in two threads may ask for more of a busy machine than its share, but must not be slower than in one thread:
its threads do not wait for one that does not run. Printed are the mean and the ninth decile of wall times of both,
without and with the loops, and the ratios of two threads to one. The target for the means with loops is 1.05; what else
runs on the machine is a load too.

    python -m benchmarks.busy_machine MODEL.onnx ... [--rounds N] [--loops N]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean

from commonir import api
from commonir.native.engine import ENGINE
from commonir.runtime.engine import EngineOptions

from benchmarks.native_engine import inputs_of

_LOOP = "while True: pass"
_SETTLING_SECONDS = 0.5

Times = Mapping[int, list[float]]
"""Sorted wall times in milliseconds by the number of threads."""


@contextmanager
def busy_loops(count: int) -> Generator[None]:
    """Runs processes that never wait."""
    processes = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(count)]
    time.sleep(_SETTLING_SECONDS)
    try:
        yield
    finally:
        for p in processes:
            p.kill()
            p.wait()


def measured(runs: Mapping[int, Callable[[], object]], rounds: int) -> Times:
    """Returns the times of runs in some threads, which take turns."""
    taken: dict[int, list[float]] = {threads: [] for threads in runs}
    for n in range(rounds):
        # A run that follows another one has less of its share left.
        for threads, run in sorted(runs.items(), reverse=n % 2 == 0):
            start = time.perf_counter()
            run()
            taken[threads].append((time.perf_counter() - start) * 1e3)
    return {threads: sorted(times) for threads, times in taken.items()}


def line_of(label: str, times: Times) -> str:
    """Returns the line of a model, on a machine that is busy or not."""
    one, two = times[1], times[2]
    late = len(one) * 9 // 10
    pairs = (fmean(one), fmean(two)), (one[late], two[late])
    return f"{label:30}" + "".join([f"{a:10.2f}{b:10.2f}{b / a:8.2f}" for a, b in pairs])


def main() -> None:
    """Prints two lines for each model."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.busy_machine", description=__doc__)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.onnx")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--loops", type=int, default=os.cpu_count() or 2, help="busy loops; one for each processor")
    arguments = parser.parse_args()
    print(f"{'ms':30}{'1 thread':>10}{'2':>10}{'ratio':>8}{'1, late':>10}{'2, late':>10}{'ratio':>8}")
    for path in arguments.models:
        module = api.lower(api.load(path))
        inputs = inputs_of(module)
        runs: dict[int, Callable[[], object]] = {}
        for threads in (1, 2):
            executable = ENGINE.prepare(module, options=EngineOptions(threads))
            runs[threads] = partial(executable.run, inputs)
        measured(runs, 5)
        print(line_of(path.stem, measured(runs, arguments.rounds)), flush=True)
        with busy_loops(arguments.loops):
            print(line_of(f"{path.stem}, {arguments.loops} loops", measured(runs, arguments.rounds)), flush=True)


if __name__ == "__main__":
    main()
