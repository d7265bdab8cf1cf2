"""The check of one package: run, convert, and run the result elsewhere.

Knows commonir only by its public surface, and judges arrays itself.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import commonir

from tests.conformance.round_trips import check_text, check_written_again, remade, run_cases
from tests.conformance.samples import Array, Sample, read_sample, worst_error


@dataclass
class Outcome:
    """The result of one package: errors relative to the largest magnitude, seconds by stage, and what went wrong."""

    name: str
    tolerance: float
    torch_error: float | None = None
    onnxruntime_error: float | None = None
    remade_error: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    beyond_onnx: str | None = None
    """Why ONNX cannot say what the package does, if so."""

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Add the time of the block to a stage; a fault is kept with the stage's name and ends that line of checks."""
        start = time.perf_counter()
        try:
            yield
        except Exception as error:
            self.faults.append(f"{name}: {type(error).__name__}: {error}")
            raise StageFailed from error
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    @property
    def is_conforming(self) -> bool:
        errors = [self.torch_error, self.remade_error]
        if self.beyond_onnx is None:
            errors.append(self.onnxruntime_error)
        return not self.faults and all(error is not None and error <= self.tolerance for error in errors)

    def __str__(self) -> str:
        verdict = "ok  " if self.is_conforming else "FAIL"
        errors = " ".join(
            f"{name} {'-' if error is None else f'{error:.1e}':>7}"
            for name, error in (
                ("torch", self.torch_error),
                ("onnxruntime", self.onnxruntime_error),
                ("remade", self.remade_error),
            )
        )
        times = " ".join(f"{name} {seconds:.2f}" for name, seconds in self.seconds.items())
        notes = [*self.faults, *([f"not in ONNX: {self.beyond_onnx}"] if self.beyond_onnx else [])]
        return f"{verdict} {self.name:32} {errors} | s: {times}" + "".join(f"\n     {note}" for note in notes)


class StageFailed(Exception):
    """A stage ended early; its outcome says why."""


def run_onnxruntime(path: Path, sample: Sample) -> dict[str, dict[str, Array]]:
    """Run a model on each case, on one thread, without optimizations that change rounding.

    Inputs that no case gives are states: zeros at first, then what the output in their place gave.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    arguments = next(iter(sample.inputs.values()))
    states: dict[str, Array] = {
        port.name: np.zeros(port.shape, np.float16) for port in session.get_inputs() if port.name not in arguments
    }
    results: dict[str, dict[str, Array]] = {}
    for case, inputs in sample.inputs.items():
        arrays = session.run(names, {**inputs, **states})
        results[case] = {name: np.asarray(array) for name, array in zip(names, arrays, strict=True)}
        # States are the last outputs, in the order of the inputs.
        states = dict(zip(states, [np.asarray(array) for array in arrays[len(arrays) - len(states) :]], strict=True))
    return results


def check(outcome: Outcome, sample: Sample, scratch: Path) -> None:
    """Check a package and fill `outcome`; files are written to the folder `scratch`."""
    with outcome.stage("load"):
        program = commonir.load(sample.package)
    with outcome.stage("check"):
        refuse_errors(commonir.verify(program))
    with suppress(StageFailed):
        with outcome.stage("run"):
            results = run_cases(program, sample)
        outcome.torch_error = worst_error(results, sample.expected)
    with suppress(StageFailed):
        if sample.beyond_onnx is None:
            outcome.onnxruntime_error = check_onnx(outcome, program, sample, scratch / "converted.onnx")
    with suppress(StageFailed), outcome.stage("write"):
        check_written_again(program, sample.package, scratch)
    with suppress(StageFailed), outcome.stage("text"):
        check_text(sample.package, scratch)
    with suppress(StageFailed):
        with outcome.stage("remake"):
            again = commonir.load(remade(program, scratch))
        with outcome.stage("run remade"):
            results = run_cases(again, sample)
        outcome.remade_error = worst_error(results, sample.expected)


def refuse_errors(diagnostics: list[commonir.Diagnostic]) -> None:
    """Raise what is more than a warning."""
    errors = [d for d in diagnostics if d.code.severity.value == "error"]
    if errors:
        raise commonir.DiagnosticError(*errors)


def check_onnx(outcome: Outcome, program: commonir.Module, sample: Sample, onnx_path: Path) -> float:
    """Return the error of the converted model under onnxruntime, against what is expected of the package."""
    with outcome.stage("convert"):
        model = commonir.convert(program, "onnx")
    with outcome.stage("save"):
        commonir.save(model, onnx_path)
    with outcome.stage("onnx.checker"):
        onnx.checker.check_model(str(onnx_path), full_check=True)
    with outcome.stage("onnxruntime"):
        theirs = run_onnxruntime(onnx_path, sample)
    return worst_error(theirs, sample.expected)


def check_folder(folder: Path, scratch: Path) -> Outcome:
    """Check the package in `folder`, whatever happens; files are written to `scratch`."""
    sample = read_sample(folder)
    outcome = Outcome(folder.name, sample.tolerance, beyond_onnx=sample.beyond_onnx)
    with suppress(StageFailed), tempfile.TemporaryDirectory(dir=scratch) as temporary:
        check(outcome, sample, Path(temporary))
    return outcome
