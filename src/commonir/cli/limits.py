"""Limits of a whole command, from opening a model to its last output: time and memory.

Engines check the time between operations. Here a thread watches, because one call of numpy may take longer than the
limit: it interrupts the command shortly after the limit, and ends the process if the command does not react. It does
the same for an interrupt by the user, on which Python acts only between its own steps. Memory is limited by the system
where it can limit the data of a process (Linux), so that every allocation counts.
"""

from __future__ import annotations

import _thread
import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from importlib import import_module
from select import select
from typing import NoReturn

from commonir.base.codes import RUN_LIMIT_EXCEEDED
from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus

_REPORTING_SECONDS = 0.2
"""How long after the limit an engine may report it itself, which can say more."""

_REACTING_SECONDS = 0.55
"""How long the command has to react on an interrupt before the process ends."""

_HOLDING_SECONDS = 0.2
"""How long after that the process ends even if the thread gets no turn, because a call holds Python's lock."""

_SLACK_BYTES = 64 << 20
"""Memory of modules that are loaded later and of what describes a program, which does not count."""


class TimeLeft:
    """The time that a command has left; all of it from its beginning."""

    def __init__(self, seconds: float | None) -> None:
        self._deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def seconds(self) -> float | None:
        """The seconds left, more than zero; None without a limit."""
        return None if self._deadline is None else max(self._deadline - time.monotonic(), 1e-9)


@contextmanager
def limited_time(seconds: float | None, report: Callable[[Diagnostic], int]) -> Generator[TimeLeft]:
    """Limits the time of a block, and ends it soon after an interrupt even if it does not react.

    `report` writes the answer of a command that had to be ended, and returns its exit status. Another thread than the
    main one has the limit of engines only. Raises: DiagnosticError (E0711) when the time has passed.
    """
    left = TimeLeft(seconds)
    if threading.current_thread() is not threading.main_thread():
        yield left
        return
    watch = _Watch(seconds, report)
    try:
        with watch:
            yield left
    except KeyboardInterrupt as stop:
        if not watch.is_expired:
            raise
        raise DiagnosticError(_time_is_up(getattr(stop, "__notes__", ()))) from None


def _time_is_up(notes: Iterable[str] = ()) -> Diagnostic:
    return Diagnostic(RUN_LIMIT_EXCEEDED, "the time limit of the run has passed", notes=notes)


def _interrupt() -> None:
    """Interrupts the main thread like Ctrl-C, also while it waits for a process."""
    main_thread = threading.main_thread().ident
    if main_thread is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main_thread, signal.SIGINT)
    else:
        _thread.interrupt_main()


class _Watch:
    """The thread that watches a block, and what wakes it: the time, an interrupt, and the end of the block."""

    def __init__(self, seconds: float | None, report: Callable[[Diagnostic], int]) -> None:
        self._seconds = None if seconds is None else seconds + _REPORTING_SECONDS
        self._report = report
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.is_expired = False

    def __enter__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._thread.start()
        if self._seconds is not None:
            with open(os.devnull, "wb") as nowhere:
                self._nowhere = os.dup(nowhere.fileno())
            latest = self._seconds + _REACTING_SECONDS + _HOLDING_SECONDS
            faulthandler.dump_traceback_later(latest, exit=True, file=self._nowhere)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._ended.set()
        if self._seconds is not None:
            faulthandler.cancel_dump_traceback_later()
            os.close(self._nowhere)
        signal.set_wakeup_fd(self._before)
        os.write(self._writer, b"\0")
        self._thread.join()
        os.close(self._writer)
        os.close(self._reader)

    def _run(self) -> None:
        deadline = None if self._seconds is None else time.monotonic() + self._seconds
        while not self._ended.is_set():
            left = None if deadline is None else max(deadline - time.monotonic(), 0)
            if select([self._reader], [], [], left)[0]:
                if signal.SIGINT in os.read(self._reader, 64) and not self._ended.wait(_REACTING_SECONDS):
                    self._end_interrupted()
                continue
            with self._lock:
                if self._ended.is_set():
                    return
                self.is_expired = True
                _interrupt()
            if not self._ended.wait(_REACTING_SECONDS):
                # This thread has its turn: a busy machine may take longer than the rest of the time to report.
                faulthandler.cancel_dump_traceback_later()
                _end(self._report(_time_is_up()))

    def _end_interrupted(self) -> NoReturn:
        print("interrupted", file=sys.stderr, flush=True)  # noqa: T201  as `main` does
        _end(ExitStatus.INTERRUPTED)


def _end(status: int) -> NoReturn:
    """Ends the process although a call goes on."""
    sys.stdout.flush()
    os._exit(int(status))


@contextmanager
def limited_memory(limit_bytes: int | None) -> Generator[None]:
    """Limits the memory that a block may allocate in addition to what the process has.

    Raises: DiagnosticError (E0711) when it needs more.
    """
    data_bytes = None if limit_bytes is None else _data_bytes()
    if limit_bytes is None or data_bytes is None:
        yield
        return
    import resource  # noqa: PLC0415  Windows has none

    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = data_bytes + limit_bytes + _SLACK_BYTES
    if before[1] != resource.RLIM_INFINITY:
        most = min(most, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    except MemoryError:
        message = f"the run needs more memory than the limit of {limit_bytes:,} bytes"
        raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, message)) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _data_bytes() -> int | None:
    """Returns the bytes of private data of the process; None where the system does not limit them."""
    import_module("numpy")  # its libraries allocate when they are loaded
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next((int(line.split()[1]) << 10 for line in status if line.startswith("VmData:")), None)
    except OSError:
        return None
