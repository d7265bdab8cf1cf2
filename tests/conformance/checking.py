"""The check of one package: run, convert, and run the result elsewhere.

Knows commonir only by its public surface, and judges arrays itself.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import onnx
import onnxruntime

import commonir

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
Arrays: TypeAlias = Mapping[str, Array]

TOLERANCES = {"fp32": 1e-4, "fp16": 1e-2}


@dataclass
class Outcome:
    """What one package gave: errors relative to the largest magnitude, seconds by stage, and what went wrong."""

    name: str
    tolerance: float
    torch_error: float | None = None
    onnxruntime_error: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    fault: str | None = None

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Add the time of the block to a stage; a fault is kept with the stage's name and ends the check."""
        start = time.perf_counter()
        try:
            yield
        except Exception as error:
            self.fault = f"{name}: {type(error).__name__}: {error}"
            raise StageFailed from error
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    @property
    def is_conforming(self) -> bool:
        errors = (self.torch_error, self.onnxruntime_error)
        return self.fault is None and all(error is not None and error <= self.tolerance for error in errors)

    def __str__(self) -> str:
        verdict = "ok  " if self.is_conforming else "FAIL"
        errors = " ".join(
            f"{name} {'-' if error is None else f'{error:.1e}':>7}"
            for name, error in (("torch", self.torch_error), ("onnxruntime", self.onnxruntime_error))
        )
        times = " ".join(f"{name} {seconds:.2f}" for name, seconds in self.seconds.items())
        return f"{verdict} {self.name:28} {errors} | s: {times}" + (f"\n     {self.fault}" if self.fault else "")


class StageFailed(Exception):
    """A stage ended early; its outcome tells why."""


def split_cases(arrays: Arrays) -> dict[str, dict[str, Array]]:
    """Return arrays by case and feature: the keys of the files are `NAME`, `case1/NAME` and so on."""
    cases: dict[str, dict[str, Array]] = {}
    for key, array in arrays.items():
        case, _, feature = key.rpartition("/")
        cases.setdefault(case, {})[feature] = array
    return cases


def relative_error(actual: Arrays, expected: Arrays) -> float:
    """Return the worst output's largest difference over its largest magnitude; infinite when it has no meaning."""
    worst = 0.0
    for name, reference in expected.items():
        array = actual.get(name)
        if array is None or array.shape != reference.shape or not np.isfinite(array).all():
            return float("inf")
        difference = np.abs(array.astype(np.float64) - reference.astype(np.float64)).max()
        magnitude = np.abs(reference.astype(np.float64)).max()
        if difference > 0.0:
            worst = max(worst, float(difference / magnitude) if magnitude > 0.0 else float("inf"))
    return worst


def run_onnxruntime(path: Path, cases: Mapping[str, Arrays]) -> dict[str, dict[str, Array]]:
    """Run a model on each case, on one thread, without optimizations that change rounding."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    results: dict[str, dict[str, Array]] = {}
    for case, inputs in cases.items():
        arrays = session.run(names, inputs)
        results[case] = {name: np.asarray(array) for name, array in zip(names, arrays, strict=True)}
    return results


def check(outcome: Outcome, folder: Path, onnx_path: Path) -> None:
    """Check the package in `folder` and fill `outcome`; the converted model is written to `onnx_path`."""
    with np.load(folder / "inputs.npz", allow_pickle=False) as stored:
        inputs = split_cases(dict(stored))
    with np.load(folder / "outputs.npz", allow_pickle=False) as stored:
        expected = split_cases(dict(stored))
    with outcome.stage("load"):
        program = commonir.load(folder / "model.mlpackage")
    with outcome.stage("run"):
        results = {case: commonir.run(program, arrays) for case, arrays in inputs.items()}
    outcome.torch_error = max(relative_error(results[case], arrays) for case, arrays in expected.items())
    with outcome.stage("convert"):
        model = commonir.convert(program, "onnx")
    with outcome.stage("save"):
        commonir.save(model, onnx_path)
    with outcome.stage("onnx.checker"):
        onnx.checker.check_model(str(onnx_path), full_check=True)
    with outcome.stage("onnxruntime"):
        peers = run_onnxruntime(onnx_path, inputs)
    outcome.onnxruntime_error = max(relative_error(peers[case], arrays) for case, arrays in results.items())


def check_folder(folder: Path, scratch: Path) -> Outcome:
    """Check the package in `folder`, whatever happens; files are written to `scratch`."""
    precision = json.loads((folder / "meta.json").read_text())["precision"]
    outcome = Outcome(folder.name, TOLERANCES[precision])
    with suppress(StageFailed):
        check(outcome, folder, scratch / f"{folder.name}.onnx")
    return outcome
