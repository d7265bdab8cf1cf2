"""The interface of engines, and how one is found by name.

An engine prepares a function of a module once and runs it many times. Modules given to engines consist of
`ml_program` and `core`. Engines of other packages are found by the entry points of the group `commonir.engines`; ours
are listed here, so that no scan of installed packages is needed for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol, TypeGuard, runtime_checkable

from commonir.base.codes import UNKNOWN_ENGINE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.plugins import Plugins, imported
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Module
from commonir.runtime.engine_variable import ENGINE_VARIABLE
from commonir.runtime.state import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonir.runtime.ranks.communicator import Communicator

    Array = NDArray[np.generic]

ENTRY_POINTS = "commonir.engines"

_OURS = {
    "iree": "commonir.engines.iree:ENGINE",
    "mpi": "commonir.engines.mpi.engine:ENGINE",
    "native": "commonir.native.engine:ENGINE",
    "numpy": "commonir.runtime.numpy_engine.engine:ENGINE",
    "onnxruntime": "commonir.engines.onnxruntime:ENGINE",
    "reference": "commonir.runtime.interpreter.engine:ENGINE",
}


_AUTOMATIC = "commonir.native.engine:AUTOMATIC"

FastMath = Literal["none", "winograd", "bf16"]
"""Freedom of an engine beyond rounding the terms of a sum in another order: none, fewer multiplications in convolutions
and large products (errors of about 1e-5 of the largest element), or also products of numbers rounded to bfloat16
(about 1e-2).
"""


class EngineOptions(NamedTuple):
    """Options for any engine; an engine refuses options that it does not support."""

    threads: int = 1
    """Threads that one operation may use."""

    memory_limit_bytes: int | None = None
    """Memory for constants and intermediate values; None for no limit."""

    time_limit_seconds: float | None = None
    """Time for one run, checked between operations; None for no limit."""

    seed: int | None = None
    """Seed of random numbers for which the program has none; None for different ones in every run."""

    plan_ahead: bool = True
    """Whether an engine builds all plans before the first run, rather than for large or repeated computations only."""

    fast_math: FastMath = "winograd"
    """How far results may be from sums in single precision; where the processor has no such instructions, less."""

    communicator: Communicator | None = None
    """Executes the communication operations of a rank; None for a program that is not distributed."""

    def seeded(self, seed: int) -> EngineOptions:
        """Returns the options with a seed where they have none."""
        return self if self.seed is not None else self._replace(seed=seed)


DEFAULT_OPTIONS = EngineOptions()


class Executable(Protocol):
    """A prepared function. `prepare` of the Python API returns one whose runs in several threads take turns; one of an
    engine must not be used by two threads at the same time.
    """

    @property
    def state(self) -> State:
        """The contents of mutable globals, which outlive a run.

        Executables of one module may share one; an empty one stands for the initial values of the program.
        """
        ...

    @state.setter
    def state(self, state: State) -> None: ...

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name, for inputs by name.

        Raises: DiagnosticError (E0701 to E0703, E0707 when inputs do not fit; E0708 when an operation fails on the
        values). A run that fails leaves `state` as it was.
        """
        ...


@runtime_checkable
class Engine(Protocol):
    """Runs programs. `name` identifies it in options."""

    name: str

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> Executable:
        """Prepares a function, the main function by default.

        Raises: DiagnosticError (E0706 for an unknown function, E0709 for what the engine cannot run).
        """
        ...


@runtime_checkable
class FormatEngine(Engine, Protocol):
    """An engine that also runs the dialects of some formats as they are, without lowering; `dialects` names them."""

    dialects: frozenset[str]


@runtime_checkable
class StepwiseEngine(Engine, Protocol):
    """An engine that computes operations separately, so that running in pieces does not change results."""

    is_stepwise: bool


@runtime_checkable
class CommunicatingEngine(Engine, Protocol):
    """An engine that executes communication operations by the communicator of its options."""

    uses_communicator: bool


@runtime_checkable
class RanksEngine(Engine, Protocol):
    """An engine that runs a whole program of several ranks, each in a process of its own."""

    runs_ranks: bool

    def together(self) -> AbstractContextManager[bool]:
        """Returns a context for work of all processes, in which an error in one ends all. It yields whether this
        process has the outputs.
        """
        ...


class OperationTime(NamedTuple):
    """The time of an operation in ordinary runs, as the engine measured it.

    `name` and `operation` are those that the engine gives, `value` the value of the program that it computes, "" where
    that is not known. Times are the median and the least of several runs in seconds. `origins` are the operations that
    are computed together, in order, with the names of their values. `note` says how an operation runs that is not
    computed as others are.
    """

    name: str
    operation: str
    value: str
    seconds: float
    least_seconds: float
    size_bytes: int = 0
    origins: tuple[tuple[str, str], ...] = ()
    note: str = ""


@runtime_checkable
class TimingEngine(Engine, Protocol):
    """An engine that times operations in ordinary runs; one that cannot look inside a program returns none."""

    def operation_times(
        self, module: Module, function: str | None, inputs: Mapping[str, Array], options: EngineOptions, repeat: int
    ) -> Sequence[OperationTime]:
        """Returns the times of the operations of a function, in the order in which they run."""
        ...


def times_operations(engine: Engine) -> TypeGuard[TimingEngine]:
    """Returns whether an engine times operations itself."""
    return isinstance(engine, TimingEngine)


def uses_communicator(engine: Engine) -> bool:
    """Returns whether an engine runs one rank of a program."""
    return isinstance(engine, CommunicatingEngine) and engine.uses_communicator


def runs_ranks(engine: Engine) -> TypeGuard[RanksEngine]:
    """Returns whether an engine runs all ranks of a program."""
    return isinstance(engine, RanksEngine) and engine.runs_ranks


def is_stepwise(engine: Engine) -> bool:
    """Returns whether an engine computes operations separately."""
    return isinstance(engine, StepwiseEngine) and engine.is_stepwise


def runs_as_it_is(engine: Engine, module: Module) -> bool:
    """Returns whether an engine runs a module without lowering it."""
    own = {name for f in module.functions.values() for name in (f.name.partition(".")[0],)}
    return isinstance(engine, FormatEngine) and own <= engine.dialects


def default_engine_name() -> str:
    """Returns the name of the engine that runs programs where none is named.

    It is the one in the environment variable `COMMONIR_ENGINE`; without it `native` if llvmlite is installed, else
    `numpy`. Nothing is imported for that.
    """
    named = os.environ.get(ENGINE_VARIABLE)
    return named or ("numpy" if find_spec("llvmlite") is None else "native")


def engine_name_for_one_run() -> str:
    """Returns the name of the engine of a program that runs once where none is named.

    It is the one in the environment variable `COMMONIR_ENGINE`; without it `numpy`, since compiling takes longer than
    a run.
    """
    return os.environ.get(ENGINE_VARIABLE) or "numpy"


def chosen_engine(name: str | None) -> Engine:
    """Returns the engine with a name, the default engine for None.

    A default engine that does not work on this machine warns, and runs programs as `numpy` does. Raises:
    DiagnosticError (E0704).
    """
    if name is None and not os.environ.get(ENGINE_VARIABLE) and default_engine_name() == "native":
        engine = imported(_AUTOMATIC)
        assert isinstance(engine, Engine)
        return engine
    return Engines().get(name or default_engine_name())


class Engines:
    """The available engines, which are imported on first use."""

    def __init__(self, engines: Iterable[Engine] = (), *, discover: bool = True) -> None:
        self._plugins = Plugins(Engine, ENTRY_POINTS, _OURS, engines, discover=discover)

    def names(self) -> tuple[str, ...]:
        """Returns the names of all available engines, sorted."""
        return self._plugins.names()

    def get(self, name: str) -> Engine:
        """Returns the engine with a name.

        Raises: DiagnosticError (E0704).
        """
        result = self._plugins.get(name)
        if result is None:
            help = did_you_mean(name, self.names()) or f"engines: {', '.join(self.names())}"
            raise DiagnosticError(Diagnostic(UNKNOWN_ENGINE, f"there is no engine '{name}'", help=help))
        return result
