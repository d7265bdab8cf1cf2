"""The processes that `mpiexec` started: how they report errors to rank 0 and end together.

mpi4py is an optional package (extra `mpi`), imported here only. Rank 0 reports results, and errors of any process, and
then ends all processes. A process that fails sends its error to rank 0 and waits to be ended; if that does not happen
soon, it reports the error itself and ends all. Each process also tracks its activity in a small child process, which
reports it when the process was killed.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

from commonir.base.codes import INTERNAL_ERROR, MISSING_PACKAGE, RANK_ENDED, find_code
from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus

CONTROL = 0
HEADER = 1
ARRAYS = 2
"""Tags of messages between processes that are not messages of the program: reports and outputs."""

_LINGERING_SECONDS = 10.0
# Output passes through processes of `mpiexec`, which drop what they have not read when all are ended.
_DELIVERING_SECONDS = 1.0
# It runs in a session of its own, which signals to the others do not reach. An empty line clears the report.
_GUARD = "import sys\nlast = ''\nfor line in sys.stdin:\n    last = line\nsys.stderr.write(last.lstrip())\n"
_RANK_VARIABLES = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


@cache
def processes() -> Processes:
    """Returns the processes of this run of `mpiexec`; a single one without it. All processes must call it.

    Raises: DiagnosticError (E0705).
    """
    try:
        mpi = import_module("mpi4py.MPI")
    except (ImportError, RuntimeError, OSError) as error:
        help = "python -m pip install 'commonir[mpi]'"
        message = "the engine 'mpi' needs the package mpi4py and a library of MPI"
        notes = str(error).strip().splitlines()[:1]
        raise DiagnosticError(Diagnostic(MISSING_PACKAGE, message, notes=notes, help=help)) from error
    return Processes(mpi)


def number_by_environment() -> int:
    """Returns the rank of this process from the environment, for when MPI is not available; 0 by default."""
    number = next((os.environ[name] for name in _RANK_VARIABLES if name in os.environ), "0")
    return int(number) if number.isdecimal() else 0


class Processes:
    """All processes, as seen by one of them."""

    def __init__(self, mpi: Any) -> None:
        self.mpi = mpi
        world = mpi.COMM_WORLD
        self.rank: int = world.Get_rank()
        self.count: int = world.Get_size()
        # Separate communicators keep messages of the program, reports, and other users of MPI apart.
        self.data = world.Dup()
        self.control = world.Dup()
        self.guard = _Guard(self.rank) if self.count > 1 else None
        self.is_ending = False
        self._runs = 0
        self._sends: list[Any] = []
        self.status: ExitStatus = ExitStatus.NO

    @property
    def is_reporter(self) -> bool:
        """Whether this process reports results and errors."""
        return self.rank == 0

    def next_run(self) -> int:
        """Returns the number of a new run, the same in all processes, by which reports on earlier runs are ignored."""
        self._runs += 1
        return self._runs

    # -- reports

    def report(self, kind: str, **content: Any) -> None:
        """Sends a report to rank 0 without blocking."""
        data = json.dumps({"kind": kind, **content}).encode()
        # The buffer must live until it is sent.
        self._sends = [(request, buffer) for request, buffer in self._sends if not request.Test()]
        self._sends.append((self.control.Isend([data, self.mpi.BYTE], dest=0, tag=CONTROL), data))

    def reports(self) -> Generator[tuple[int, dict[str, Any]]]:
        """Yields the reports received from other processes, with their ranks."""
        status = self.mpi.Status()
        while True:
            message = self.control.Improbe(source=self.mpi.ANY_SOURCE, tag=CONTROL, status=status)
            if message is None:
                return
            data = bytearray(status.Get_count(self.mpi.BYTE))
            source = status.Get_source()
            message.Recv([data, self.mpi.BYTE])
            yield source, json.loads(data)

    # -- ending

    @contextmanager
    def together(self) -> Generator[None]:
        """Returns a context in which an error in one process ends all of them."""
        try:
            yield
        except DiagnosticError as error:
            self._failed(error.diagnostics, error.status)
            raise
        except KeyboardInterrupt:
            self._failed((), ExitStatus.INTERRUPTED)
            raise
        except Exception as error:
            message = f"an internal error, not a fault of the input: {type(error).__name__}: {error}"
            self._failed([Diagnostic(INTERNAL_ERROR, message)], ExitStatus.OUR_BUG)
            raise

    def _failed(self, diagnostics: Sequence[Diagnostic], status: ExitStatus) -> None:
        """Ends all processes; returns only in rank 0, whose exit ends the others."""
        if not self.is_ending:
            self.is_ending = True
            self.status = status
            atexit.register(self._end_all)
        self.clear_activity()
        if self.count == 1 or self.is_reporter:
            return
        if diagnostics:
            self.report("failed", findings=[_as_json(d) for d in diagnostics])
        self.linger(diagnostics)

    def linger(self, diagnostics: Sequence[Diagnostic] = ()) -> None:
        """Waits to be ended by rank 0; reports the errors itself when that does not happen."""
        until = time.monotonic() + (_LINGERING_SECONDS if self.status is not ExitStatus.INTERRUPTED else 1.0)
        try:
            while time.monotonic() < until:
                self.control.Iprobe()
                time.sleep(0.01)
        except KeyboardInterrupt:
            self.status = ExitStatus.INTERRUPTED
        for finding in diagnostics:
            sys.stderr.write(f"{finding}\n   = on rank {self.rank}\n")
        self._abort()

    def _end_all(self) -> None:
        if self.count == 1:
            return
        for rank in range(self.count):
            if rank != self.rank:
                data = b'{"kind": "stop"}'
                self._sends.append((self.control.Isend([data, self.mpi.BYTE], dest=rank, tag=CONTROL), data))
        self._abort()

    def _abort(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        time.sleep(_DELIVERING_SECONDS)
        self.mpi.COMM_WORLD.Abort(int(self.status))

    # -- the child process

    def set_activity(self, what: str) -> None:
        """Sets the activity that is reported if this process is killed."""
        if self.guard is not None:
            self.guard.write(what)

    def clear_activity(self) -> None:
        """Clears the activity, so that nothing is reported when this process ends."""
        self.set_activity("")


class _Guard:
    """The child process that reports the activity of this process when that is killed."""

    def __init__(self, rank: int) -> None:
        self._rank = rank
        self._last = ""
        self._process = subprocess.Popen(  # noqa: S603  the command is constant
            [sys.executable, "-S", "-E", "-c", _GUARD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def write(self, what: str) -> None:
        """Replaces the reported activity."""
        if what == self._last or self._process.stdin is None:
            return
        self._last = what
        line = f"error[{RANK_ENDED.id}]: the process of rank {self._rank} ended while it {what}" if what else ""
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except OSError:
            # The child process has ended; only its report is lost.
            self._process.stdin = None


def _as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code.id,
        "message": diagnostic.message,
        "where": diagnostic.where,
        "file": diagnostic.file,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
    }


def reported_diagnostic(rank: int, fields: dict[str, Any]) -> Diagnostic:
    """Returns a diagnostic reported by another process."""
    return Diagnostic(
        find_code(fields["code"]),
        fields["message"],
        where=fields["where"],
        file=fields["file"],
        line=fields["line"],
        column=fields["column"],
        notes=[*fields["notes"], f"reported by rank {rank}"],
        help=fields["help"],
    )
