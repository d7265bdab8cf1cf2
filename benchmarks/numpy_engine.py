"""The numpy engine against onnxruntime, both on one thread, in one process, by turns.

Each network runs as its Core ML package in the numpy engine, and as torch's own ONNX export in onnxruntime. Printed are
the least times of both, their ratio, and the largest difference of the first output. Needs onnxruntime; making the
samples needs the extra `conformance`.

    python benchmarks/numpy_engine.py --samples DIR [NAME ...]

DIR holds samples as `python -m tests.zoo make --size real --out DIR` and `export-onnx` in place of `make` leave them;
without it they are made in a temporary folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from commonir import api  # noqa: E402
from commonir.runtime.numpy_engine.engine import ENGINE  # noqa: E402

Array = NDArray[Any]

TARGETS = {"minilm_fp32": 1.3, "resnet_fp32": 2.0}
"""Ratios that are to be kept; the others are for information."""

DEFAULT_NAMES = ("minilm_fp32", "resnet_fp32")


class Measured(NamedTuple):
    """Least times of both engines. Units: milliseconds."""

    numpy: float
    onnxruntime: float
    difference: float

    @property
    def ratio(self) -> float:
        """How many times as long the numpy engine takes."""
        return self.numpy / self.onnxruntime


def least_ms(call: Callable[[], object], repeats: int) -> float:
    """Returns the least time of a few calls."""
    seconds: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds) * 1e3


def session_of(path: Path) -> onnxruntime.InferenceSession:
    """Returns a session on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def onnx_inputs(session: onnxruntime.InferenceSession, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the inputs under the element types that the ONNX model declares."""
    types = {
        "tensor(int64)": np.int64,
        "tensor(int32)": np.int32,
        "tensor(float)": np.float32,
        "tensor(bool)": np.bool_,
    }
    return {i.name: inputs[i.name].astype(types[i.type]) for i in session.get_inputs()}


def measure(sample: Path, rounds: int) -> Measured:
    """Runs both engines by turns, so that a busy machine slows both."""
    module = api.lower(api.load(sample / "model.mlpackage"))
    executable = ENGINE.prepare(module)
    with np.load(sample / "inputs.npz") as stored:
        inputs = {n.rpartition("/")[2]: stored[n] for n in stored.files}
    session = session_of(sample / "torch.onnx")
    feeds = onnx_inputs(session, inputs)
    ours, theirs = executable.run(inputs), session.run(None, feeds)
    difference = float(np.abs(next(iter(ours.values())).astype(np.float64) - np.asarray(theirs[0])).max())
    pairs = [
        (least_ms(lambda: executable.run(inputs), 3), least_ms(lambda: session.run(None, feeds), 3))
        for _ in range(rounds)
    ]
    return Measured(min(a for a, _ in pairs), min(b for _, b in pairs), difference)


def make_samples(folder: Path, names: Sequence[str]) -> None:
    """Converts networks of the zoo and exports them to ONNX."""
    networks = [n.removesuffix("_fp32") for n in names]
    for verb in (["make", "--size", "real", "--precision", "fp32"], ["export-onnx", "--size", "real"]):
        command = [sys.executable, "-m", "tests.zoo", *verb, "--out", str(folder), *networks]
        subprocess.run(command, cwd=ROOT, check=True)


def main() -> int:
    """Prints a line for each network; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=Path)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("names", nargs="*", default=DEFAULT_NAMES)
    arguments = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.samples or Path(scratch)
        if arguments.samples is None:
            make_samples(folder, arguments.names)
        for name in arguments.names:
            m = measure(folder / name, arguments.rounds)
            target = TARGETS.get(name)
            missed += target is not None and m.ratio > target
            limit = "" if target is None else f", at most {target} expected"
            times = f"numpy {m.numpy:7.1f} ms, onnxruntime {m.onnxruntime:7.1f} ms"
            print(f"{name:20} {times}, ratio {m.ratio:.2f}{limit}; difference {m.difference:.1e}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
