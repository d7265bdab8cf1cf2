"""Evaluators that run a model of the suite: this tool with one of its engines, or onnx's own evaluator.

Knows commonir only by its public surface. Packages that run models are loaded when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

import commonir

from tests.onnx_suite.cases import Value

_REASON_LENGTH = 160

Run = Callable[[Mapping[str, Value]], Sequence[Value]]
"""Inputs by name in, outputs in the model's order out."""


class Unsupported(Exception):
    """An evaluator says that it cannot do what a case asks for."""


class Prepared(NamedTuple):
    """A model that is ready to run, and what had to be done to it for that; None for one that is only looked at."""

    run: Run | None
    note: str = ""
    error: float = 0.0
    """The error that is allowed besides the tolerances of a case, relative to the largest magnitude of an output."""


class Evaluator(Protocol):
    """Prepares models to run."""

    name: str

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        """Loads a model; `inputs` are those that it will be run with.

        Raises: Unsupported, or anything else for a fault.
        """
        ...


class CommonIr:
    """This tool: a model is loaded, lowered and run by an engine."""

    def __init__(self, engine: str = "numpy") -> None:
        self.name = f"commonir {engine}"
        self._engine = engine

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        with refusing():
            return Prepared(runner(commonir.load(model), self._engine))


class OnnxReference:
    """The evaluator of the onnx package."""

    name = "onnx ReferenceEvaluator"

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        from onnx.reference import ReferenceEvaluator  # noqa: PLC0415

        try:
            evaluator = ReferenceEvaluator(str(model))
        except (NotImplementedError, AttributeError) as error:
            raise Unsupported(first_line(error)) from error

        def run(inputs: Mapping[str, Value]) -> Sequence[Value]:
            result = evaluator.run(None, dict(inputs))
            assert isinstance(result, list)
            return result

        return Prepared(run)


class OnnxRuntime:
    """onnxruntime, with no changes to the model."""

    name = "onnxruntime"

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        return Prepared(onnxruntime_runner(model))


def onnxruntime_runner(model: Path, *, optimizes: bool = True) -> Run:
    """A model prepared by onnxruntime, with its own optimization or without. Raises: Unsupported."""
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if not optimizes:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions have no common class of its own
        raise Unsupported(first_line(error)) from error

    def run(inputs: Mapping[str, Value]) -> Sequence[Value]:
        # The stubs also speak of sparse tensors and maps, which no case has.
        return session.run(None, dict(inputs))  # pyright: ignore[reportReturnType]

    return run


def runner(module: commonir.Module, engine: str) -> Run:
    """A prepared program. Raises: DiagnosticError."""
    executable = commonir.prepare(module, engine=engine)

    def run(inputs: Mapping[str, Value]) -> Sequence[Value]:
        with refusing():
            # Values of a model are arrays, lists and None; the surface speaks of arrays only.
            return list(executable.run(inputs).values())  # pyright: ignore[reportArgumentType]

    return run


@contextmanager
def refusing() -> Generator[None]:
    """Turns refusals of the tool into `Unsupported`; other exceptions pass through."""
    try:
        yield
    except commonir.DiagnosticError as error:
        raise Unsupported(said(error)) from error


def said(error: commonir.DiagnosticError) -> str:
    """The first finding of an error, with its code."""
    first = error.diagnostics[0]
    return f"{first.code.id} {first.message}"


def first_line(error: Exception) -> str:
    """An error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:_REASON_LENGTH]
