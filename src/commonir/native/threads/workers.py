"""Threads that help in runs of generated code, and how many of them are of use.

A worker is parked on a lock until a run wakes it; generated code decides what it does (see `team_code`). The thread
that needs the result never waits for a worker to start, and a worker that starts too late finds nothing to do.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from weakref import finalize

_THREADS_VARIABLE = "OMP_NUM_THREADS"
"""The limit of threads that libraries for numbers share, which may be a list for nested levels. Source: OpenMP 5.2."""

_CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")
"""The processor time per period that Linux gives to a container, in microseconds. Source: Linux, cgroup v2."""


class Worker:
    """A thread of its own, which runs a function each time that it is woken."""

    def __init__(self) -> None:
        self._function: Callable[[], None] | None = None
        self._is_needed = True
        self._parked = Lock()
        self._parked.acquire()
        # An interpreter that ends does not wait for it.
        self._thread = Thread(target=self._work, name="commonir worker", daemon=True)
        self._thread.start()

    def wake(self, function: Callable[[], None]) -> None:
        """Makes the thread call a function soon, in place of one that it has not begun yet."""
        self._function = function
        if self._parked.locked():
            self._leave_this_processor()
            self._parked.release()

    def _leave_this_processor(self) -> None:
        """Keeps the thread from the processor of the one that wakes it, which is busy; it would be started there."""
        others = _all_processors() - {_this_processor()}
        if others and self._thread.native_id is not None:
            with suppress(OSError):  # the processors that may be used have changed
                os.sched_setaffinity(self._thread.native_id, others)

    def rest(self) -> None:
        """Makes the thread forget a function that it has not begun yet."""
        self._function = None

    def end(self) -> None:
        """Ends the thread as soon as it has nothing to do."""
        self._is_needed = False
        if self._parked.locked():
            self._parked.release()

    def _work(self) -> None:
        while self._is_needed:
            self._parked.acquire()
            function = self._function
            if function is not None:
                function()
            del function


class Workers:
    """Threads of this process that are not used by a run, which end with this object.

    A process that is forked from it starts its own.
    """

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._process = os.getpid()
        finalize(self, _end, self._idle).atexit = False

    @contextmanager
    def helping(self, count: int, function: Callable[[], None]) -> Generator[int]:
        """Wakes workers that call a function, and yields how many there are: fewer if no threads can be started."""
        if self._process != os.getpid():
            self._idle.clear()
            self._process = os.getpid()
        taken: list[Worker] = []
        try:
            while len(taken) < count:
                worker = self._next()
                if worker is None:
                    break
                taken.append(worker)
                worker.wake(function)
            yield len(taken)
        finally:
            for worker in taken:
                worker.rest()
            self._idle += taken

    def _next(self) -> Worker | None:
        try:
            return self._idle.pop()
        except IndexError:
            pass
        try:
            return Worker()
        except RuntimeError:  # the system has no more threads, or the interpreter ends
            return None


def _end(workers: Sequence[Worker]) -> None:
    for worker in workers:
        worker.end()


@cache
def _all_processors() -> frozenset[int]:
    """Returns the processors that this process may use; none where the system does not say."""
    return frozenset(os.sched_getaffinity(0)) if sys.platform == "linux" else frozenset()


@cache
def _processor_function() -> Callable[[], int]:
    function: Any = ctypes.CDLL(None).sched_getcpu
    return function


def _this_processor() -> int:
    return _processor_function()() if sys.platform == "linux" else 0


@cache
def yielding_function() -> int:
    """Returns the address of the system's function that lets other threads run."""
    if sys.platform == "win32":
        function: Any = ctypes.windll.kernel32.SwitchToThread
    else:
        function = ctypes.CDLL(None).sched_yield
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def available_threads() -> int:
    """Returns the number of threads that this process should use at most.

    It is the number of processors that it may use, or less where the environment variable `OMP_NUM_THREADS` says so.
    """
    wanted = os.environ.get(_THREADS_VARIABLE, "").partition(",")[0]
    processors = _processors()
    return max(1, min(processors, int(wanted))) if wanted.isdecimal() else processors


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    try:
        quota, period = _CPU_LIMIT.read_text().split()
    except (OSError, ValueError):
        return count
    return count if quota == "max" else max(1, min(count, -(-int(quota) // int(period))))
