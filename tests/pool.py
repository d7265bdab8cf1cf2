"""Processes that judge cases, with a time limit for each: a crash or a hang ends one case and no other.

The limit is of CPU time where the system reports it, so that a busy machine makes no hangs; what waits for something
that never comes takes none, and ends after some times the limit.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Generic, TypeVar

Case = TypeVar("Case")
Outcome = TypeVar("Outcome")
_PATIENCE_SECONDS = 5
_WAITING_FACTOR = 10
"""How many times the limit a case may take that waits, or shares the machine with others."""


def judge_all(
    cases: Sequence[Case],
    make: Callable[[], Callable[[Case], Outcome]],
    failed: Callable[[Case, str], Outcome],
    *,
    processes: int = 2,
    limit_seconds: float = 60.0,
) -> Iterator[Outcome]:
    """The outcomes of cases as they come, from some processes; with none, one after another in this process.

    `make` is called in each process and returns what judges a case: a function of a module or a `functools.partial` of
    one, as it is sent there. `failed` returns the outcome of a case whose process ended, or did not end in time.
    """
    if processes == 0:
        yield from map(make(), cases)
        return
    workers = [_Worker(make, failed) for _ in range(min(processes, len(cases)))]
    waiting = list(reversed(cases))
    try:
        for worker in workers:
            worker.start(waiting.pop())
        while busy := [worker for worker in workers if worker.case is not None]:
            ready = wait([worker.connection for worker in busy], timeout=0.5)
            for worker in busy:
                outcome = worker.outcome(limit_seconds, is_ready=worker.connection in ready)
                if outcome is not None:
                    yield outcome
                    if waiting:
                        worker.start(waiting.pop())
    finally:
        for worker in workers:
            worker.end()


class _Worker(Generic[Case, Outcome]):
    """A process that has at most one case at a time."""

    def __init__(self, make: Callable[[], Callable[[Case], Outcome]], failed: Callable[[Case, str], Outcome]) -> None:
        self._make = make
        self._failed = failed
        self.case: Case | None = None
        self._started = self._started_cpu = 0.0
        self._begin()

    def _begin(self) -> None:
        # A fresh interpreter: a fork would share the threads of numerical libraries.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._make), daemon=True)
        self._process.start()
        theirs.close()

    def start(self, case: Case) -> None:
        self.case = case
        self._started, self._started_cpu = time.monotonic(), self._cpu_seconds()
        self.connection.send(case)

    def _cpu_seconds(self) -> float:
        """Returns the CPU time of the process; the time of the day where the system has no such file."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):
            return time.monotonic()

    def _is_too_slow(self, limit_seconds: float) -> bool:
        passed = time.monotonic() - self._started
        if passed <= limit_seconds:
            return False
        return passed > _WAITING_FACTOR * limit_seconds or self._cpu_seconds() - self._started_cpu > limit_seconds

    def outcome(self, limit_seconds: float, *, is_ready: bool) -> Outcome | None:
        """Returns the outcome of the case; None when it goes on."""
        assert self.case is not None
        case, reason = self.case, ""
        if is_ready:
            try:
                result: Outcome = self.connection.recv()
                self.case = None
                return result
            except (EOFError, ConnectionResetError):
                self._process.join(_PATIENCE_SECONDS)
                reason = f"the process ended with status {self._process.exitcode}"
        elif self._is_too_slow(limit_seconds):
            reason = f"no end within {limit_seconds:g} s"
        if not reason:
            return None
        self.end()
        self.case = None
        self._begin()
        return self._failed(case, reason)

    def end(self) -> None:
        """Ends the process; one that waits for a case does so itself, and removes its files."""
        self.connection.close()
        if self.case is None:
            self._process.join(_PATIENCE_SECONDS)
        self._process.kill()
        self._process.join()


def _work(connection: Connection, make: Callable[[], Callable[[Case], Outcome]]) -> None:
    judge = make()
    while True:
        try:
            case: Case = connection.recv()
        except EOFError:
            return
        connection.send(judge(case))
