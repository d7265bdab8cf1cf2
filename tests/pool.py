"""Processes that judge cases, with a time limit for each: a crash or a hang ends one case and no other."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

Case = TypeVar("Case")
Outcome = TypeVar("Outcome")
_PATIENCE_SECONDS = 5


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
        self._started = 0.0
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
        self._started = time.monotonic()
        self.connection.send(case)

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
        elif time.monotonic() - self._started > limit_seconds:
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
