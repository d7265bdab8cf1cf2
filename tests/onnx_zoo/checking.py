"""The check of one exported network: what each step gives, and how far it is from torch.

Knows commonir only by its public surface; files are compared by onnx's own message classes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import commonir

from tests.conformance.round_trips import open_with_coremltools
from tests.conformance.samples import relative_error
from tests.onnx_suite.conversion_routes import features_of
from tests.onnx_suite.evaluators import first_line, said
from tests.onnx_suite.messages import require_equal
from tests.onnx_zoo.networks import Array, Network

Arrays = Mapping[str, Array]
TOLERANCE = 1e-4
"""Relative to the largest magnitude of an output."""


@dataclass
class Outcome:
    """The results of a network: the worst errors by step, the seconds that each took, and what went wrong."""

    name: str
    errors: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    @property
    def is_conforming(self) -> bool:
        return not self.faults and all(error <= TOLERANCE for error in self.errors.values())

    def step(self, name: str, action: Callable[[], float | None]) -> None:
        """Does a step, whatever happens; a number it returns is an error."""
        start = time.perf_counter()
        try:
            error = action()
        except commonir.DiagnosticError as refusal:
            self.faults[name] = said(refusal)
        except Exception as fault:  # noqa: BLE001  the other steps go on
            self.faults[name] = first_line(fault)
        else:
            if error is not None:
                self.errors[name] = error
        self.seconds[name] = time.perf_counter() - start

    def __str__(self) -> str:
        errors = " ".join(f"{name} {error:.1e}" for name, error in self.errors.items())
        times = " ".join(f"{name} {seconds:.1f}" for name, seconds in self.seconds.items())
        lines = [f"{'ok  ' if self.is_conforming else 'FAIL'} {self.name:20} {errors} | s: {times}"]
        return "\n     ".join([*lines, *(f"{name}: {fault}" for name, fault in self.faults.items())])


class Check:
    """The steps of the check of one file, for inputs and torch's outputs at some sizes."""

    def __init__(self, path: Path, network: Network, cases: Sequence[Arrays], expected: Sequence[Arrays]) -> None:
        self.path = path
        self.network = network
        self.cases = cases
        self.expected = expected

    def all_steps(self, outcome: Outcome) -> Outcome:
        for step in (self.verify, self.infer, self.run, self.messages, self.coreml, self.back):
            outcome.step(step.__name__, step)
        return outcome

    def verify(self) -> None:
        """Loads and verifies; the rules of the format are checked, too."""
        _, diagnostics = commonir.check(self.path)
        refuse_errors(diagnostics)

    def infer(self) -> None:
        """The types of all values are known, the sizes as expressions."""
        module = commonir.lower(commonir.load(self.path))
        unknown = [v.name for op in module.nested() for v in op.results if str(v.type).endswith("unknown")]
        if unknown:
            raise ValueError(f"{len(unknown)} values have no type: {unknown[:3]}")

    def run(self) -> float:
        """This tool against torch."""
        executable = commonir.prepare(commonir.load(self.path))
        return self._worst(executable.run)

    def messages(self) -> None:
        """Written again, the messages are equal."""
        again = self.path.with_suffix(".again.onnx")
        commonir.save(commonir.load(self.path), again)
        require_equal(onnx.load(self.path), onnx.load(again))

    def coreml(self) -> float:
        """Through a package that coremltools opens."""
        package = self.path.with_suffix(".mlpackage")
        module = commonir.load(self.path)
        converted = commonir.convert(module, "coreml", ranges=self._ranges())
        commonir.save(converted, package)
        open_with_coremltools(package)
        executable = commonir.prepare(commonir.load(package))
        dtypes = list(features_of(package).items())

        def run_as_declared(arrays: Arrays) -> Mapping[str, Array]:
            pairs = zip(dtypes, arrays.values(), strict=True)
            return executable.run({name: array.astype(dtype) for (name, dtype), array in pairs})

        return self._worst(run_as_declared)

    def back(self) -> float:
        """Through the core to ONNX again, run by onnxruntime and by this tool."""
        again = self.path.with_suffix(".back.onnx")
        commonir.save(commonir.convert(commonir.lower(commonir.load(self.path)), "onnx"), again)
        onnx.checker.check_model(str(again), full_check=True)
        executable = commonir.prepare(commonir.load(again))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(again), options, providers=["CPUExecutionProvider"])

        def run_theirs(arrays: Arrays) -> Sequence[Array]:
            return [np.asarray(actual) for actual in session.run(None, dict(arrays))]

        return max(self._worst(executable.run), self._worst(run_theirs))

    def _ranges(self) -> dict[str, tuple[int, int]]:
        """The bounds by the names that sizes have in the file: the newer exporter makes names of its own."""
        declared = {info.name: info.type.tensor_type.shape.dim for info in onnx.load(self.path).graph.input}
        return {
            declared[spec.name][axis].dim_param: self.network.ranges[name]
            for spec in self.network.inputs
            for axis, name in spec.dynamic.items()
        }

    def _worst(self, run: Callable[[Arrays], Mapping[str, Array] | Sequence[Array]]) -> float:
        """The worst error over the cases. Names of outputs may have changed, their order has not."""
        worst = 0.0
        for case, expected in zip(self.cases, self.expected, strict=True):
            result = run(case)
            arrays = list(result.values()) if isinstance(result, Mapping) else list(result)
            if len(arrays) != len(expected):
                raise ValueError(f"{len(arrays)} outputs instead of {len(expected)}")
            worst = max(worst, relative_error(dict(zip(expected, arrays, strict=True)), expected))
        return worst


def refuse_errors(diagnostics: Sequence[commonir.Diagnostic]) -> None:
    """Raise what is more than a warning."""
    errors = [d for d in diagnostics if d.is_error]
    if errors:
        raise commonir.DiagnosticError(*errors)
