"""The processes that `mpiexec` started, and what they do together besides running a program.

mpi4py is an optional package (extra `mpi`), imported here only. Rank 0 tells the answer, and what went wrong, whichever
process found it; then it ends all. Who fails tells rank 0 and waits to be ended; if that does not happen soon, it says
it itself and ends all. What a process is doing is also told to a small process beside it, which repeats it when the
first one was killed and could not say anything.
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
"""Tags of what processes tell each other beside the messages of a program: how they are, and their outputs."""

_LINGERING_SECONDS = 10.0
# What a process says passes through processes of `mpiexec`, which drop what they have not read when all are ended.
_DELIVERING_SECONDS = 1.0
# A process of its own session, which signals for the others do not reach. An empty line stands for nothing to tell.
_GUARD = "import sys\nlast = ''\nfor line in sys.stdin:\n    last = line\nsys.stderr.write(last.lstrip())\n"
_RANK_VARIABLES = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


@cache
def processes() -> Processes:
    """Returns the processes of this run of `mpiexec`; one without it. All of them must ask.

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
    """Returns the number of this process as `mpiexec` tells it where MPI itself cannot be asked; 0 when it does not."""
    found = next((os.environ[name] for name in _RANK_VARIABLES if name in os.environ), "0")
    return int(found) if found.isdecimal() else 0


class Processes:
    """All processes as one of them sees them."""

    def __init__(self, mpi: Any) -> None:
        self.mpi = mpi
        world = mpi.COMM_WORLD
        self.rank: int = world.Get_rank()
        self.count: int = world.Get_size()
        # Messages of programs and what is told beside them never meet, nor those of others in this process.
        self.data = world.Dup()
        self.control = world.Dup()
        self.guard = _Guard(self.rank) if self.count > 1 else None
        self.is_ending = False
        self._runs = 0
        self._told: list[Any] = []
        self.status: ExitStatus = ExitStatus.NO

    @property
    def speaks(self) -> bool:
        """Returns whether this process tells the answer."""
        return self.rank == 0

    def next_run(self) -> int:
        """Returns the number of a run, the same in all processes, by which what others tell of an earlier one is
        known.
        """
        self._runs += 1
        return self._runs

    # -- telling

    def tell(self, kind: str, **content: Any) -> None:
        """Tells rank 0 something, without waiting."""
        data = json.dumps({"kind": kind, **content}).encode()
        # The buffer must live until it is sent.
        self._told = [(request, held) for request, held in self._told if not request.Test()]
        self._told.append((self.control.Isend([data, self.mpi.BYTE], dest=0, tag=CONTROL), data))

    def heard(self) -> Generator[tuple[int, dict[str, Any]]]:
        """Yields what others have told this process, by rank."""
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
        """What is done inside by all processes ends in all of them when it fails in one."""
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

    def _failed(self, found: Sequence[Diagnostic], status: ExitStatus) -> None:
        """Sees to it that all processes end; returns only in rank 0, whose exit ends them."""
        if not self.is_ending:
            self.is_ending = True
            self.status = status
            atexit.register(self._end_all)
        self.quiet()
        if self.count == 1 or self.speaks:
            return
        if found:
            self.tell("failed", findings=[_as_json(d) for d in found])
        self.linger(found)

    def linger(self, found: Sequence[Diagnostic] = ()) -> None:
        """Waits to be ended by rank 0; speaks when that does not happen."""
        until = time.monotonic() + (_LINGERING_SECONDS if self.status is not ExitStatus.INTERRUPTED else 1.0)
        try:
            while time.monotonic() < until:
                self.control.Iprobe()
                time.sleep(0.01)
        except KeyboardInterrupt:
            self.status = ExitStatus.INTERRUPTED
        for finding in found:
            sys.stderr.write(f"{finding}\n   = on rank {self.rank}\n")
        self._abort()

    def _end_all(self) -> None:
        if self.count == 1:
            return
        for rank in range(self.count):
            if rank != self.rank:
                data = b'{"kind": "stop"}'
                self._told.append((self.control.Isend([data, self.mpi.BYTE], dest=rank, tag=CONTROL), data))
        self._abort()

    def _abort(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        time.sleep(_DELIVERING_SECONDS)
        self.mpi.COMM_WORLD.Abort(int(self.status))

    # -- the process beside

    def doing(self, what: str) -> None:
        """Says what this process is doing, for the case that it is killed."""
        if self.guard is not None:
            self.guard.write(what)

    def quiet(self) -> None:
        """Nothing is to be told when this process ends."""
        self.doing("")


class _Guard:
    """The process beside this one."""

    def __init__(self, rank: int) -> None:
        self._rank = rank
        self._last = ""
        self._process = subprocess.Popen(  # noqa: S603  nothing of it comes from outside
            [sys.executable, "-S", "-E", "-c", _GUARD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def write(self, what: str) -> None:
        """Replaces what it would tell."""
        if what == self._last or self._process.stdin is None:
            return
        self._last = what
        line = f"error[{RANK_ENDED.id}]: the process of rank {self._rank} ended while it {what}" if what else ""
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except OSError:
            # It is gone; what it would have told is lost, and nothing else.
            self._process.stdin = None


def _as_json(found: Diagnostic) -> dict[str, Any]:
    return {
        "code": found.code.id,
        "message": found.message,
        "where": found.where,
        "file": found.file,
        "line": found.line,
        "column": found.column,
        "notes": list(found.notes),
        "help": found.help,
    }


def told_finding(rank: int, told: dict[str, Any]) -> Diagnostic:
    """Returns a finding of another process."""
    return Diagnostic(
        find_code(told["code"]),
        told["message"],
        where=told["where"],
        file=told["file"],
        line=told["line"],
        column=told["column"],
        notes=[*told["notes"], f"found by the process of rank {rank}"],
        help=told["help"],
    )
