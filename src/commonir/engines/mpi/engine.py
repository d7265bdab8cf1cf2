"""The `mpi` engine: each process runs one rank with the default engine, and rank 0 gathers the outputs.

`mpiexec -n 4 cir run net.rank0.json --engine mpi` starts a process for each rank of a program of four. Each opens the
program with the inputs of all ranks, and takes its own.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from commonir.base.codes import UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.engines.mpi.processes import number_by_environment, processes
from commonir.ir.module import Module
from commonir.runtime.engine import (
    DEFAULT_OPTIONS,
    Engine,
    EngineOptions,
    Engines,
    Executable,
    chosen_engine,
    uses_communicator,
)

_WITHOUT_DEFAULT = "numpy"
"""The engine of a rank where the default one is another that runs no single rank, such as this one."""


class MpiEngine:
    """Runs programs of several ranks, each in a process of its own."""

    name = "mpi"
    runs_ranks = True

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> Executable:
        """Prepares the rank of this process; with one process, also a program without ranks.

        Raises: DiagnosticError (E0705 without mpi4py, E0709 for another number of processes than ranks).
        """
        from commonir.runtime.ranks.program import ranks_of  # noqa: PLC0415  loads numpy, as running does

        started = processes()
        with started.together():
            ranks = ranks_of(module, function)
            own = _engine_of_a_rank()
            count = 1 if ranks is None else ranks.world_size
            if started.count != count:
                raise DiagnosticError(_other_number(started.count, count, is_of_ranks=ranks is not None))
            if ranks is None:
                return own.prepare(module, function, options)
            from commonir.engines.mpi.execution import MpiExecutable  # noqa: PLC0415  loads numpy

            return MpiExecutable(started, own, module, ranks, options)

    @contextmanager
    def together(self) -> Generator[bool]:
        """Returns a context in which an error in one process ends all. It yields whether this one reports results.

        Raises: DiagnosticError (E0705), in the reporting process.
        """
        try:
            started = processes()
        except DiagnosticError as error:
            if number_by_environment() != 0:
                raise SystemExit(int(error.status)) from None
            raise
        with started.together():
            yield started.is_reporter


def _engine_of_a_rank() -> Engine:
    default = chosen_engine(None)
    return default if uses_communicator(default) else Engines().get(_WITHOUT_DEFAULT)


def _other_number(processes: int, ranks: int, *, is_of_ranks: bool) -> Diagnostic:
    running = f"MPI runs {processes} process{'es' if processes > 1 else ''}"
    if not is_of_ranks:
        message = f"the program does not have several ranks, but {running}"
        help = "shard it with `--ranks`, or use another engine"
        return Diagnostic(UNSUPPORTED_EXECUTION, message, help=help)
    message = f"the program has {ranks} ranks, but {running}"
    help = f"start one for each rank: `mpiexec -n {ranks} cir run MODEL --engine mpi`"
    return Diagnostic(UNSUPPORTED_EXECUTION, message, help=help)


ENGINE = MpiEngine()
