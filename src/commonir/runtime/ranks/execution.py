"""Runs programs of several ranks in one process, with one executable per rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from commonir.base.codes import UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.module import Module
from commonir.runtime.blas import limited_threads
from commonir.runtime.engine import Engine, EngineOptions, Executable, runs_ranks, uses_communicator
from commonir.runtime.interpreter.control import Globals, WithState
from commonir.runtime.ranks.communicator import Communicator
from commonir.runtime.ranks.exchange import Exchange
from commonir.runtime.ranks.program import Ranks, joined_names, states_of
from commonir.runtime.ranks.transport import Transport
from commonir.runtime.state import State, check_state

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


def prepare_ranks(engine: Engine, module: Module, ranks: Ranks, options: EngineOptions) -> Executable:
    """Prepares a program of several ranks.

    Raises: DiagnosticError (E0709 for an engine that cannot run it).
    """
    if runs_ranks(engine):
        return engine.prepare(module, None, options)
    if not uses_communicator(engine):
        message = f"the engine '{engine.name}' cannot run programs of several ranks"
        help = "use `native`, `numpy` or `reference`, or `mpi` for a process for each rank"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help=help))
    return RanksExecutable(engine, module, ranks, options)


def check_rank_states(state: State, module: Module, ranks: Ranks) -> None:
    """Checks contents against the states of all ranks. Raises: DiagnosticError (E0702, E0703)."""
    for rank_state in ranks.by_rank(state, [states_of(module, f) for f in ranks.functions], "state"):
        check_state(State(rank_state), module)


class RanksExecutable(WithState):
    """The prepared ranks of a program. `state` has the states of all ranks, named `rank0.NAME`."""

    def __init__(
        self,
        engine: Engine,
        module: Module,
        ranks: Ranks,
        options: EngineOptions,
        communicators: Sequence[Communicator] | None = None,
    ) -> None:
        super().__init__(Globals())
        self._ranks = ranks
        self._options = options
        self._communicators = communicators or [Communicator() for _ in ranks.functions]
        self._executables = [
            engine.prepare(module, f.symbol_name, options._replace(communicator=communicator))
            for f, communicator in zip(ranks.functions, self._communicators, strict=True)
        ]
        self._state_names = [states_of(module, f) for f in ranks.functions]
        self._running = Lock()

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs of all ranks; see `Executable`. Runs of several threads take turns.

        Raises: DiagnosticError (also E0711 when the time limit passes, E0717 when no rank can continue).
        """
        with self._running:
            return self._run(inputs)

    def _run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        inputs_by_rank = self._ranks.inputs_by_rank(inputs)
        states = [State(state) for state in self._ranks.by_rank(self.state, self._state_names, "state")]
        for executable, state in zip(self._executables, states, strict=True):
            executable.state = state

        def run_rank(transport: Transport) -> dict[str, Array]:
            rank = transport.rank
            self._communicators[rank].begin(transport, self._ranks.functions[rank])
            result = self._executables[rank].run(inputs_by_rank[rank])
            self._communicators[rank].end()
            return result

        exchange = Exchange(self._ranks.world_size, self._options.time_limit_seconds)
        # Set once for all ranks, whose runs ask for the same number.
        with limited_threads(self._options.threads):
            try:
                outputs = exchange.run(run_rank)
            finally:
                exchange.end()
        self.state.clear()
        self.state.update(joined_names([executable.state for executable in self._executables]))
        return joined_names(outputs)
