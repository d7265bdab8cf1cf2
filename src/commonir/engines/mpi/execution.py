"""Runs the rank of this process, and gathers the outputs of all in rank 0."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of
from commonir.base.codes import RUN_LIMIT_EXCEEDED, UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.engines.mpi.processes import ARRAYS, HEADER, Processes
from commonir.engines.mpi.transport import MpiTransport, tag_numbers
from commonir.ir.module import Module
from commonir.runtime.engine import Engine, EngineOptions
from commonir.runtime.interpreter.control import Globals, WithState
from commonir.runtime.ranks.communicator import Communicator
from commonir.runtime.ranks.program import Ranks, full_name, states_of
from commonir.runtime.state import State
from commonir.runtime.values import is_array

Array = NDArray[Any]


class MpiExecutable(WithState):
    """The prepared rank of this process. Rank 0 returns the outputs of all ranks, the others none.

    `state` has the states of all ranks in rank 0, and those of the own rank elsewhere.
    """

    def __init__(
        self, processes: Processes, engine: Engine, module: Module, ranks: Ranks, options: EngineOptions
    ) -> None:
        super().__init__(Globals())
        self._processes = processes
        self._ranks = ranks
        self._function = ranks.functions[processes.rank]
        self._numbers = tag_numbers(ranks.functions)
        self._limit = options.time_limit_seconds
        self._communicator = Communicator()
        self._executable = engine.prepare(
            module, self._function.symbol_name, options._replace(communicator=self._communicator)
        )
        self._state_names = [states_of(module, f) for f in ranks.functions]

    @property
    def communication_seconds(self) -> float:
        """The time of communication operations in the last run, including the sums of all-reduces."""
        return self._communicator.seconds

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs of all ranks in rank 0; see `Executable`.

        Raises: DiagnosticError (besides, E0711 when the time limit passes, E0717 when no rank can continue), in rank 0.
        """
        processes = self._processes
        with processes.together():
            transport = MpiTransport(processes, self._numbers, self._limit)
            processes.set_activity("ran")
            try:
                result = self._run(inputs, transport)
            except DiagnosticError as error:
                if processes.is_reporter and self._limit is not None and _is_late(error):
                    raise DiagnosticError(transport.time_limit_error()) from None
                raise
            except KeyboardInterrupt as error:
                if processes.is_reporter:
                    for line in transport.who_waits():
                        error.add_note(line)
                raise
            return result

    def _run(self, inputs: Mapping[str, Array], transport: MpiTransport) -> dict[str, Array]:
        rank = transport.rank
        own_inputs = self._ranks.inputs_by_rank(inputs)[rank]
        self._executable.state = State(self._ranks.by_rank(self.state, self._state_names, "state")[rank])
        self._communicator.begin(transport, self._function)
        own = self._executable.run(own_inputs)
        own_state = self._executable.state
        transport.finish()
        outputs, states = self._gathered(transport, own), self._gathered(transport, own_state)
        self.state.clear()
        self.state.update(states)
        return outputs if self._processes.is_reporter else {}

    def _gathered(self, transport: MpiTransport, own: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the arrays of all ranks by full name in rank 0, elsewhere those of the own rank."""
        rank, out = transport.rank, dict[str, Array]()
        out.update({full_name(rank, name): array for name, array in own.items()})
        if rank:
            self._send_to_root(transport, own)
            return out
        for source in range(1, transport.world_size):
            out.update({full_name(source, name): array for name, array in self._taken(transport, source).items()})
        return out

    def _send_to_root(self, transport: MpiTransport, own: Mapping[str, Array]) -> None:
        comm, mpi = self._processes.control, self._processes.mpi
        wrong = [name for name, x in own.items() if not is_array(x) or x.dtype.hasobject]
        if wrong:
            message = f"'{wrong[0]}' is not a tensor of numbers, and cannot be sent to rank 0 over MPI"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help="run all ranks in one process"))
        described = [(name, name_of(x.dtype), x.shape) for name, x in own.items()]
        parts = [np.frombuffer(json.dumps(described).encode(), np.uint8), *[_bytes_of(x) for x in own.values()]]
        tags = (HEADER, *[ARRAYS for _ in own])
        requests = [comm.Isend([part, mpi.BYTE], dest=0, tag=tag) for part, tag in zip(parts, tags, strict=True)]
        transport.until(lambda: mpi.Request.Testall(requests), None)

    def _taken(self, transport: MpiTransport, source: int) -> dict[str, Array]:
        comm, mpi = self._processes.control, self._processes.mpi
        status = mpi.Status()
        transport.until(lambda: comm.Iprobe(source=source, tag=HEADER, status=status), None)
        header = np.empty(status.Get_count(mpi.BYTE), np.uint8)
        comm.Recv([header, mpi.BYTE], source=source, tag=HEADER)
        described: Sequence[tuple[str, str, list[int]]] = json.loads(header.tobytes())
        arrays = {name: np.empty(shape, dtype_of(element)) for name, element, shape in described}
        requests = [comm.Irecv([_bytes_of(x), mpi.BYTE], source=source, tag=ARRAYS) for x in arrays.values()]
        transport.until(lambda: mpi.Request.Testall(requests), None)
        return arrays


def _bytes_of(array: Array) -> Array:
    """Returns the bytes of an array, copied if it is not contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _is_late(error: DiagnosticError) -> bool:
    return any(d.code is RUN_LIMIT_EXCEEDED for d in error.diagnostics)
