"""The `onnxruntime` engine, which converts programs to ONNX in memory and runs them with onnxruntime.

onnxruntime is an optional package (extra `ort`), imported here only. It may fuse operations, and computes
half-precision operations without a kernel of their own in single precision.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from threading import Timer
from typing import TYPE_CHECKING, Any, Protocol

from commonir.base.codes import EXECUTION_FAILED, MISSING_PACKAGE, UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.dialects import onnx
from commonir.formats.format import WriteOptions
from commonir.formats.onnx.write import dumps, write
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Module
from commonir.ir.origins import Location
from commonir.passes.canonicalize import without_inner_collections
from commonir.passes.handles_to_integers import handles_to_integers
from commonir.passes.thread_globals import Threaded, thread_globals
from commonir.runtime.binding.inputs import bind
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions, Executable, OperationTime
from commonir.runtime.interpreter.control import Globals, WithState
from commonir.runtime.limits import time_is_up
from commonir.runtime.seeding import with_seeds
from commonir.runtime.state import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

# Larger models are passed as files: in memory they are near protobuf's limit, and copied several times.
_IN_MEMORY_BYTES = 2**30
_SEQUENTIAL = 0
_ALL_OPTIMIZATIONS = 99
# The log has only messages about optimizations, and errors that are raised as exceptions too.
_NO_LOG = 4
# The source location of an error in onnxruntime: a file and the signature of a function.
_SOURCE_LOCATION = re.compile(r"/\S+:\d+ [^()]*\([^()]*\) ")


class _Session(Protocol):
    """The part of `onnxruntime.InferenceSession` that is used here."""

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Array], run_options: Any) -> list[Array]:
        """Returns the values of outputs."""
        ...

    def get_inputs(self) -> Sequence[_NodeArg]:
        """Returns the inputs of the model."""
        ...

    def get_outputs(self) -> Sequence[_NodeArg]:
        """Returns the outputs of the model."""
        ...

    def end_profiling(self) -> str:
        """Returns the path of the file with the times of operations."""
        ...

    def get_modelmeta(self) -> _ModelMetadata:
        """Returns the metadata of the model."""
        ...


_KERNEL_TIME = "_kernel_time"


class _NodeArg(Protocol):
    """The part of the description of an input or output that is used here."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def type(self) -> str:
        """Its type, such as `tensor(float16)`."""
        ...

    @property
    def shape(self) -> Sequence[int]:
        """Its shape, where that is fixed."""
        ...


class _ModelMetadata(Protocol):
    """The part of the metadata of a model that is used here."""

    @property
    def custom_metadata_map(self) -> Mapping[str, str]:
        """Metadata strings by name."""
        ...


class OnnxRuntimeEngine:
    """Runs programs with onnxruntime on the CPU."""

    name = "onnxruntime"
    dialects = frozenset({"onnx"})

    def __init__(self, opset: int = 20) -> None:
        # Opset 20 adds Gelu; later opsets have no faster operators.
        self.opset = opset

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> Executable:
        """Prepares a function; an ONNX graph is run without conversion.

        Raises: DiagnosticError (E0705 without onnxruntime, E0601 for what ONNX cannot express, E0709 if onnxruntime
            rejects the model or an option is not supported).
        """
        return self._prepare(module, function, options)

    def operation_times(
        self, module: Module, function: str | None, inputs: Mapping[str, Array], options: EngineOptions, repeat: int
    ) -> Sequence[OperationTime]:
        """Returns the times of operations by the profiler of onnxruntime, after one untimed run; see `TimingEngine`.

        Operations that it fuses are one, which has a name of its own.
        """
        with tempfile.TemporaryDirectory() as folder:
            prepared = self._prepare(module, function, options, os.path.join(folder, "times"))
            for _ in range(repeat + 1):
                prepared.run(inputs)
            return prepared.operation_times()

    def _prepare(
        self, module: Module, function: str | None, options: EngineOptions, times: str | None = None
    ) -> _Prepared:
        """Prepares a function; with `times`, the times of operations are written to files whose paths begin so."""
        runtime = _onnxruntime()
        if options.memory_limit_bytes is not None:
            message = "the engine 'onnxruntime' has no memory limit"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help="use the engine 'numpy'"))
        chosen = module.function(function)
        if isinstance(chosen, onnx.Graph):
            built = _opened_module(runtime, module, options, times)
            return _Prepared(built, chosen, chosen.output_names, ())
        name = chosen.symbol_name
        seeded = without_inner_collections(with_seeds(module, options.seed, name))
        passed, states = thread_globals(handles_to_integers(seeded, Diagnostics()), name)
        converted = core_to_onnx(passed, self.opset, function=name)
        return _Prepared(
            _opened_module(runtime, converted, options, times), chosen, tuple(converted.main.output_names), states
        )


def _onnxruntime() -> Any:
    """Returns the imported package, which is untyped.

    Raises: DiagnosticError (E0705).
    """
    try:
        return import_module("onnxruntime")
    except ImportError as error:
        raise DiagnosticError(
            Diagnostic(
                MISSING_PACKAGE,
                "the engine 'onnxruntime' needs the package onnxruntime",
                notes=[str(error)],
                help="python -m pip install 'commonir[ort]'",
            )
        ) from error


def run_file(
    path: str | os.PathLike[str],
    inputs: Mapping[str, Array],
    state: State | None = None,
    options: EngineOptions = DEFAULT_OPTIONS,
    initial: Callable[[], Mapping[str, Array]] = dict,
) -> dict[str, Array]:
    """Runs a model file with onnxruntime and returns the outputs by name.

    Inputs that the file declares as states are taken from `state`, by default from what `initial` returns, or zeros;
    `state` receives their new values.

    Raises: DiagnosticError (E0705 without onnxruntime, E0709 when it refuses the model, E0708 when it fails, E0711 when
        the time limit of the options passes).
    """
    opened = _Opened(_onnxruntime(), os.fspath(path), options)
    current = State() if state is None else state
    reported = opened.session.get_modelmeta().custom_metadata_map
    states = {i: o for i in opened.session.get_inputs() if (o := reported.get(f"{onnx.STATE_KEY}{i.name}")) is not None}
    contents = {**initial(), **current} if states else current
    feeds = {**{i.name: contents.get(i.name, _zeros(i)) for i in states}, **inputs}
    result = dict(zip([o.name for o in opened.session.get_outputs()], opened.run(feeds), strict=True))
    current.update({i.name: result.pop(output) for i, output in states.items()})
    return result


def _zeros(value: _NodeArg) -> Array:
    """Returns zeros of the type and shape of an input."""
    # Loads numpy, which finding this engine does not need.
    import numpy as np  # noqa: PLC0415

    name = value.type.removeprefix("tensor(").removesuffix(")")
    return np.zeros(value.shape, {"float": "float32", "double": "float64"}.get(name, name))


def _opened_module(runtime: Any, module: Module, options: EngineOptions, times: str | None = None) -> _Opened:
    if times is not None:
        module = _named_after_values(module)
    if _weight_bytes(module) < _IN_MEMORY_BYTES:
        return _Opened(runtime, dumps(module), options, times)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        write(module, path, WriteOptions(external_data=True))
        return _Opened(runtime, os.fspath(path), options, times)


def _named_after_values(module: Module) -> Module:
    """Returns a copy in which each node has the name of its first result."""
    result = clone(module)
    for op in result.nested():
        name = next((v.name for v in op.results if v.name), "")
        if name and not isinstance(op, onnx.Initializer | onnx.SparseInitializer):
            op.set_extra(onnx.NODE_NAME, None)
            op.location = Location(name=name)
    return result


class _Opened:
    """A session of onnxruntime with a model."""

    def __init__(
        self, runtime: Any, model: str | bytes, engine_options: EngineOptions, times: str | None = None
    ) -> None:
        options = runtime.SessionOptions()
        if times is not None:
            options.enable_profiling = True
            options.profile_file_prefix = times
        options.intra_op_num_threads = engine_options.threads
        options.inter_op_num_threads = 1
        options.execution_mode = runtime.ExecutionMode(_SEQUENTIAL)
        options.graph_optimization_level = runtime.GraphOptimizationLevel(_ALL_OPTIMIZATIONS)
        options.log_severity_level = _NO_LOG
        # Spinning threads would slow down everything else.
        # Fused products of quantized weights would round the other operand to 8 bits; 1 is single precision.
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
        options.add_session_config_entry("session.intra_op.allow_spinning", "0" if engine_options.threads == 1 else "1")
        self._runtime = runtime
        self._limit = engine_options.time_limit_seconds
        try:
            self.session: _Session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            message = "onnxruntime cannot load the program"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, notes=[_reason(error)])) from error

    def run(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Returns the values of all outputs.

        Raises: DiagnosticError (E0708 when onnxruntime fails, E0711 when the time limit passes).
        """
        options = self._runtime.RunOptions()
        options.log_severity_level = _NO_LOG

        def stop() -> None:
            options.terminate = True

        timer = None if self._limit is None else Timer(self._limit, stop)
        if timer is not None:
            timer.start()
        try:
            return self.session.run(None, feeds, options)
        except Exception as error:
            if options.terminate:
                raise time_is_up() from None
            message = "onnxruntime failed on these values"
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, notes=[_reason(error)])) from error
        finally:
            if timer is not None:
                timer.cancel()


def _reason(error: Exception) -> str:
    """Returns the message of an error of onnxruntime, without its source location."""
    return _SOURCE_LOCATION.sub("", str(error)).strip()


def _weight_bytes(module: Module) -> int:
    return sum(op.value.size_bytes for op in module.walk() if isinstance(op, onnx.Initializer))


class _Prepared(WithState):
    """A session, with the function by which inputs are checked, and the states that are passed through it."""

    def __init__(
        self, opened: _Opened, function: Function, names: tuple[str, ...], states: tuple[Threaded, ...]
    ) -> None:
        super().__init__(Globals())
        self._opened = opened
        self._function = function
        self._names = names
        self._inputs = tuple([v.name or f"input{n}" for n, v in enumerate(function.inputs)])
        self._states = states

    def operation_times(self) -> tuple[OperationTime, ...]:
        """Returns the times of operations in all runs but the first, and ends measuring them.

        Source: the trace that onnxruntime writes; the time of a node is an event `NODE_kernel_time`.
        """
        events = json.loads(Path(self._opened.session.end_profiling()).read_bytes())
        times: dict[str, list[float]] = {}
        first: dict[str, Mapping[str, str]] = {}
        for event in events:
            if event.get("cat") == "Node" and event["name"].endswith(_KERNEL_TIME):
                name = event["name"].removesuffix(_KERNEL_TIME)
                times.setdefault(name, []).append(event["dur"] * 1e-6)
                first.setdefault(name, event["args"])
        values = {v.name for op in self._function.body.operations for v in op.results} | set(self._names)
        result: list[OperationTime] = []
        for name, seconds in times.items():
            runs = seconds[1:] or seconds
            arguments = first[name]
            size_bytes = int(arguments.get("output_size", 0))
            value = name if name in values else ""
            result.append(OperationTime(name, arguments.get("op_name", ""), value, median(runs), min(runs), size_bytes))
        return tuple(result)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name, for inputs by name.

        Raises: DiagnosticError (E0701 to E0703, E0707 when inputs do not fit; E0708 when onnxruntime fails on the
        values, E0711 when the time limit passes).
        """
        arrays = bind(self._function, inputs, check_lower_bounds=False).arrays
        feeds = dict(zip(self._inputs, arrays, strict=True))
        feeds |= {s.input: self._globals.load(s.variable) for s in self._states}
        result = dict(zip(self._names, self._opened.run(feeds), strict=True))
        for s in self._states:
            self._globals.store(s.variable, result.pop(s.output))
        return result


ENGINE = OnnxRuntimeEngine()
