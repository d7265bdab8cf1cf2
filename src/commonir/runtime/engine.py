"""What an engine is, and how one is found by name.

An engine prepares a function of a module once and runs it many times. Modules given to engines consist of
`ml_program` and `core`. Engines are found through the entry points of installed packages (group `commonir.engines`),
ours like anybody's; ours are also listed here, so that finding them costs no scan of installed packages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeGuard, runtime_checkable

from commonir.base.codes import UNKNOWN_ENGINE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.plugins import Plugins
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Module
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
    "numpy": "commonir.runtime.planner.engine:ENGINE",
    "onnxruntime": "commonir.engines.onnxruntime:ENGINE",
    "reference": "commonir.runtime.interpreter.engine:ENGINE",
}


class EngineOptions(NamedTuple):
    """What a caller may ask of any engine; each refuses what it cannot do."""

    threads: int = 1
    """Threads that one operation may use."""

    memory_limit_bytes: int | None = None
    """Memory for constants and intermediate values; None for no limit."""

    time_limit_seconds: float | None = None
    """Time for one run, checked between operations; None for no limit."""

    seed: int | None = None
    """Seed of random numbers for which the program gives none; None for others in every run."""

    plans_at_once: bool = True
    """Whether an engine that plans does so before it runs anything; else only what is large or runs again."""

    communicator: Communicator | None = None
    """What executes the operations of a rank that communicate; None for a program that runs alone."""


DEFAULT_OPTIONS = EngineOptions()


class Executable(Protocol):
    """A function that is ready to run. It is not to be used by two threads at the same time."""

    @property
    def state(self) -> State:
        """The contents of mutable globals, which outlive a run.

        Executables of one module may be given the same one; an empty one stands for what the program says.
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
    """Runs programs. `name` is what it is asked for by."""

    name: str

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> Executable:
        """Makes a function ready to run; the main function when none is named.

        Raises: DiagnosticError (E0706 for an unknown function, E0709 for what the engine cannot run).
        """
        ...


@runtime_checkable
class FormatEngine(Engine, Protocol):
    """An engine that also runs the dialects of some formats as they are, without lowering; `dialects` names them."""

    dialects: frozenset[str]


@runtime_checkable
class StepwiseEngine(Engine, Protocol):
    """An engine that computes every operation on its own, so that a run in pieces gives what a whole run does."""

    is_stepwise: bool


@runtime_checkable
class CommunicatingEngine(Engine, Protocol):
    """An engine that leaves operations which communicate to the communicator of its options, when it reaches them."""

    hands_over: bool


@runtime_checkable
class RanksEngine(Engine, Protocol):
    """An engine that is given a program of several ranks as a whole, each of which is another process."""

    runs_ranks: bool

    def together(self) -> AbstractContextManager[bool]:
        """What the processes do together: inside, what fails in one ends all. Gives whether this one has the answer."""
        ...


def hands_over(engine: Engine) -> bool:
    """Returns whether an engine runs one rank of a program."""
    return isinstance(engine, CommunicatingEngine) and engine.hands_over


def runs_ranks(engine: Engine) -> TypeGuard[RanksEngine]:
    """Returns whether an engine runs all ranks of a program."""
    return isinstance(engine, RanksEngine) and engine.runs_ranks


def is_stepwise(engine: Engine) -> bool:
    """Returns whether an engine computes every operation on its own."""
    return isinstance(engine, StepwiseEngine) and engine.is_stepwise


def runs_as_it_is(engine: Engine, module: Module) -> bool:
    """Returns whether an engine runs a module without lowering it."""
    own = {name for f in module.functions.values() for name in (f.name.partition(".")[0],)}
    return isinstance(engine, FormatEngine) and own <= engine.dialects


class Engines:
    """The engines in use. Those that are named but not loaded yet are imported when first asked for."""

    def __init__(self, given: Iterable[Engine] = (), *, discover: bool = True) -> None:
        self._plugins = Plugins(Engine, ENTRY_POINTS, _OURS, given, discover=discover)

    def names(self) -> tuple[str, ...]:
        """Returns names of all engines that can be had, sorted."""
        return self._plugins.names()

    def get(self, name: str) -> Engine:
        """Returns the engine of a name.

        Raises: DiagnosticError (E0704).
        """
        result = self._plugins.get(name)
        if result is None:
            help = did_you_mean(name, self.names()) or f"engines: {', '.join(self.names())}"
            raise DiagnosticError(Diagnostic(UNKNOWN_ENGINE, f"no engine is called '{name}'", help=help))
        return result
