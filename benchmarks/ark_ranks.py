"""The time of a transformer block divided among ranks, against the same block on one.

The block has attention of 16 heads and a perceptron, on 256 rows of 1,024 numbers, divided by heads, columns and rows
with two all-reduces (`cir.shard`). Each rank uses one thread. Figures: the time of a run over MPI and of one in a
single process, as a multiple of that on one rank, and the share of time in which ranks communicate. Targets: over MPI
no more than on one rank, where there is a processor for each, and in one process no more than half above one rank.

`python -m benchmarks.ark_ranks [RANKS]...`; 2 and 4 by default, as far as there are processors. Needs the extra `mpi`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from shutil import which

import numpy as np
from numpy.typing import NDArray

import commonir as cir
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.engines.mpi.execution import MpiExecutable
from commonir.engines.mpi.processes import processes
from commonir.ir.data import ArrayData
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, f32, tensor
from commonir.ods import operations_behind
from commonir.runtime.engine import Executable

from benchmarks.harness import measure_call, paired_ratio, report

Array = NDArray[np.generic]

ROWS, WIDTH, HEADS, HIDDEN = 256, 1024, 16, 4096
REPEATS = 9


def block() -> Module:
    """Returns the block as a program of the core; its weights are the same in every process."""
    random = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> Value:
        array = (random.standard_normal(shape, np.float32) / np.float32(np.sqrt(shape[0]))).astype(np.float32)
        value = core.constant(ArrayData(tensor(f32, *shape), array))
        value.name = name
        return value

    def heads(x: Value) -> Value:
        return core.transpose(core.reshape(x, (ROWS, HEADS, WIDTH // HEADS)), (1, 0, 2))

    body = Block([tensor(f32, ROWS, WIDTH)], ["x"])
    (x,) = body.arguments
    query, key, value = [heads(core.matmul(x, weight(f"w{n}", WIDTH, WIDTH))) for n in "qkv"]
    scores = core.matmul(query, core.transpose(key, (0, 2, 1)))
    shares = core.softmax(core.mul(scores, core.splat(HEADS**-0.5, scores)), -1)
    mixed = core.reshape(core.transpose(core.matmul(shares, value), (1, 0, 2)), (ROWS, WIDTH))
    y = core.add(x, core.matmul(mixed, weight("wo", WIDTH, WIDTH)))
    wide = core.relu(core.matmul(y, weight("up", WIDTH, HIDDEN)))
    out = core.add(y, core.matmul(wide, weight("down", HIDDEN, WIDTH)))
    for op in operations_behind((out,)):
        body.append(op)
    body.append(ml_program.Return((out,)))
    module = Module()
    kind = FunctionType((x.type,), (out.type,))
    module.body.append(ml_program.Func("main", kind, Region([body]), ("y",)))
    return module


def inputs() -> dict[str, Array]:
    """Returns the input of the block."""
    return {"x": np.random.default_rng(1).standard_normal((ROWS, WIDTH), np.float32)}


def seconds_of(executable: Executable) -> float:
    """Returns the least time of a few runs, in seconds."""
    arguments = inputs()
    return measure_call(lambda: executable.run(arguments), repeats=3)


def work(ranks: int) -> None:
    """Runs in each process under `mpiexec`; rank 0 prints seconds, and the share of communication."""
    executable = cir.prepare(cir.shard(block(), ranks), engine="mpi")
    assert isinstance(executable, MpiExecutable)
    shares: list[float] = []
    arguments, seconds = inputs(), list[float]()
    for _ in range(REPEATS + 2):
        start = time.perf_counter()
        executable.run(arguments)
        seconds.append(time.perf_counter() - start)
        shares.append(executable.communication_seconds / seconds[-1])
    world = processes()
    all_shares = world.control.gather(statistics.median(shares[2:]))
    if world.is_reporter:
        print(json.dumps({"seconds": statistics.median(seconds[2:]), "shares": all_shares}))


def over_mpi(ranks: int) -> tuple[float, list[float]]:
    """Seconds of a run over MPI, and for each rank the share of time in which it communicates."""
    launcher = which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if launcher is None:
        raise FileNotFoundError("mpiexec: python -m pip install 'commonir[mpi]'")
    command = [launcher, "-n", str(ranks), sys.executable, "-m", "benchmarks.ark_ranks", "--work", str(ranks)]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return printed["seconds"], printed["shares"]


def main(arguments: list[str]) -> int:
    """Prints the figures; the exit status is 1 when a target is missed."""
    processors = os.cpu_count() or 1
    counts = [int(n) for n in arguments] or [n for n in (2, 4) if n <= processors] or [2]
    whole = block()
    is_within = True
    alone = cir.prepare(whole)
    for ranks in counts:
        together = cir.prepare(cir.shard(whole, ranks))
        ratio = paired_ratio(lambda: seconds_of(together), lambda: seconds_of(alone))  # noqa: B023  called at once
        is_within &= report(f"{ranks} ranks in one process against one", ratio, "x", 1.5)
        one = statistics.median(seconds_of(alone) for _ in range(REPEATS))
        seconds, shares = over_mpi(ranks)
        shown = ", ".join(f"{share:.0%}" for share in shares)
        print(f"one rank {one * 1000:.0f} ms, {ranks} ranks over MPI {seconds * 1000:.0f} ms for a run")
        print(f"communication by rank: {shown}")
        target = 1.0 if ranks <= processors else ranks
        is_within &= report(f"{ranks} ranks over MPI against one", seconds / one, "x", target)
    return 0 if is_within else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(int(sys.argv[2]))
    else:
        sys.exit(main(sys.argv[1:]))
