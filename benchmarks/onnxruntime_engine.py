"""The `onnxruntime` engine against onnxruntime on torch's own ONNX export, on one thread.

Ratio of the times of one run, in turn: above 1 is slower than the baseline. Target: 1.0, within what repeated runs of
one program differ by. Needs the `conformance` extra to make the networks: `python -m tests.zoo` makes them, and the
argument or `COMMONIR_ZOO` names the folder of the real sizes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from commonir.engines.onnxruntime import ENGINE
from commonir.formats.coreml.read import read
from commonir.ods import Dialects
from commonir.passes.lower import lower

from benchmarks.harness import measure_call, paired_ratio, report

Array = NDArray[np.generic]

# The limit of "not slower": runs of one session in turn differ by a few percent.
_TARGET = 1.03


def main() -> int:
    """Prints a ratio for each network; the exit status is 1 when one misses the target."""
    folder = Path(os.environ.get("COMMONIR_ZOO") or (sys.argv[1] if len(sys.argv) > 1 else "zoo"))
    results: list[bool] = []
    for name in ("minilm_fp32", "resnet_fp32"):
        inputs = dict(np.load(folder / name / "inputs.npz"))
        ours = _ours(folder / name / "model.mlpackage", inputs)
        baseline = _baseline(folder / name / "torch.onnx", inputs)
        ratio = paired_ratio(lambda run=ours: measure_call(run), lambda run=baseline: measure_call(run))
        results.append(report(f"onnxruntime engine / onnxruntime on torch's export, {name}", ratio, "x", _TARGET))
    return 0 if all(results) else 1


def _ours(package: Path, inputs: Mapping[str, Array]) -> Callable[[], object]:
    prepared = ENGINE.prepare(lower(read(package, Dialects())))
    return lambda: prepared.run(inputs)


def _baseline(path: Path, inputs: Mapping[str, Array]) -> Callable[[], object]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(os.fspath(path), options, providers=["CPUExecutionProvider"])
    dtypes = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(float)": np.float32}
    feeds = {i.name: inputs[i.name].astype(dtypes[i.type]) for i in session.get_inputs()}
    return lambda: session.run(None, feeds)


if __name__ == "__main__":
    sys.exit(main())
