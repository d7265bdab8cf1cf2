"""CPU time and peak memory of processes from their start to the first result of a model, on one thread.

Processes take turns: the native engine with a full cache, with cached object code alone and without a cache, the
engine `numpy`, `cir run` with a full cache and without one, and onnxruntime. Printed are the medians, and the ratios
to onnxruntime.

    python -m benchmarks.cold_start MODEL.onnx ... [--rounds N]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from commonir import api

from benchmarks.harness import Usage, measure_process
from benchmarks.native_engine import inputs_of

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

_PREPARED = """
import sys
import numpy as np
import commonir as cir
inputs = dict(np.load(sys.argv[2]))
cir.prepare(sys.argv[1], engine="native").run(inputs)
"""

_LOADED = """
import sys
import numpy as np
import commonir as cir
inputs = dict(np.load(sys.argv[2]))
cir.run(cir.load(sys.argv[1]), inputs, engine=sys.argv[3])
"""

_COMMAND = """
import sys
from commonir.__main__ import main
sys.argv = ["cir", "run", sys.argv[1], "@" + sys.argv[2]]
sys.exit(main())
"""

_ONNXRUNTIME = """
import sys
import numpy as np
import onnxruntime
inputs = dict(np.load(sys.argv[2]))
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
session.run(None, inputs)
"""


class Contender(NamedTuple):
    """A way to run a model: a script, its further arguments, and its environment."""

    script: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}


def contenders(cache: Path) -> dict[str, Contender]:
    """Returns all ways, by name."""
    cached = {"COMMONIR_CACHE": str(cache)}
    off = {"COMMONIR_CACHE_MB": "0"}
    return {
        "program cached": Contender(_PREPARED, (), cached),
        "object cached": Contender(_LOADED, ("native",), cached),
        "no cache": Contender(_LOADED, ("native",), off),
        "numpy": Contender(_LOADED, ("numpy",), off),
        "cir run, cached": Contender(_COMMAND, (), cached),
        "cir run": Contender(_COMMAND, (), off),
        "onnxruntime": Contender(_ONNXRUNTIME),
    }


def measured(model: Path, rounds: int) -> dict[str, list[Usage]]:
    """Returns time and memory of each way, in turns, after one round that fills the cache."""
    out: dict[str, list[Usage]] = {}
    with tempfile.TemporaryDirectory() as name:
        inputs = Path(name, "inputs.npz")
        np.savez(inputs, allow_pickle=False, **inputs_of(api.load(model)))
        ways = contenders(Path(name, "cache"))
        for turn in range(rounds + 1):
            for title, way in ways.items():
                command = [sys.executable, "-c", way.script, str(model), str(inputs), *way.arguments]
                usage = measure_process(command, environment={**_ONE_THREAD, **way.environment})
                if turn:
                    out.setdefault(title, []).append(usage)
    return out


def _medians(usages: Sequence[Usage]) -> tuple[float, float]:
    seconds = statistics.median([u.cpu_seconds for u in usages])
    return seconds, statistics.median([u.peak_bytes for u in usages]) / 1e6


def main() -> None:
    """Prints a table for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    for model in arguments.models:
        rows = {title: _medians(usages) for title, usages in measured(model, arguments.rounds).items()}
        seconds, megabytes = rows["onnxruntime"]
        print(f"{model.stem:18} {'CPU s':>8} {'ratio':>6} {'peak MB':>8} {'ratio':>6}")
        for title, (s, m) in rows.items():
            print(f"  {title:16} {s:8.3f} {s / seconds:6.2f} {m:8.0f} {m / megabytes:6.2f}", flush=True)


if __name__ == "__main__":
    main()
