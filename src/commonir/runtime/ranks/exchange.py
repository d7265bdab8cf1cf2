"""Runs the ranks of a program in one process, in threads that take turns and exchange messages.

One rank runs at a time, until it waits for a message or at a barrier; then the next rank that can continue runs. So
runs are deterministic, and a deadlock is detected at once. The engine `mpi` runs ranks in parallel.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from threading import Condition, RLock, Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import name_of
from commonir.base.codes import EXECUTION_FAILED
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.types import TensorType
from commonir.runtime.ranks.transport import Posted, Transport
from commonir.runtime.ranks.waiting import Key, Tag, Wait, blocked, time_passed, wait_notes
from commonir.runtime.values import declared_dtype

Array = NDArray[Any]
T = TypeVar("T")

_LISTENING_SECONDS = 0.2
"""The interval in which the main thread checks for interrupts, which waiting for a lock blocks on some systems."""

_ENDING_SECONDS = 1.0
"""The time to wait for ranks that still compute after a failure."""


class _Stopped(BaseException):
    """The run has failed on another rank, or was interrupted."""


def check_message(array: Array, posted: Posted, wait: Wait) -> None:
    """Checks a message against the type that its receiver declares. Raises: DiagnosticError (E0708)."""
    expected = posted.type
    if array.dtype == declared_dtype(expected.element) and array.shape == expected.static_shape:
        return
    sent = f"tensor<{''.join([f'{n}x' for n in array.shape])}{name_of(array.dtype)}>"
    message = f"{wait.operation}: expected {expected} from rank {posted.key.source}, {posted.key}, was sent {sent}"
    raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=wait.path))


class Exchange:
    """The threads of a run, the rank whose turn it is, and the messages sent but not received."""

    def __init__(self, world_size: int, time_limit_seconds: float | None = None) -> None:
        self.world_size = world_size
        # Computed before any rank starts, so that it is earlier than the deadlines of ranks.
        self._deadline = None if time_limit_seconds is None else time.monotonic() + time_limit_seconds
        self._lock = RLock()
        self._turns = [Condition(self._lock) for _ in range(world_size)]
        self._over = Condition(self._lock)
        self._turn: int | None = 0
        self._messages: dict[Key, deque[Array]] = {}
        self._waits: dict[int, Wait] = {}
        self._arrived: set[int] = set()
        self._ended: set[int] = set()
        self._failure: BaseException | None = None
        self._threads: list[Thread] = []

    def run(self, run_rank: Callable[[Transport], T]) -> list[T]:
        """Runs a function for each rank, and returns the results in the order of ranks.

        Raises: the error of the first rank that fails; DiagnosticError (E0711 when the time limit passes, E0717 when no
        rank can continue). An interrupt ends the run at once.
        """
        results: dict[int, T] = {}

        def target(transport: LocalTransport) -> None:
            try:
                self._enter(transport.rank)
                results[transport.rank] = run_rank(transport)
                self._leave(transport.rank)
            except _Stopped:
                return
            except BaseException as error:  # noqa: BLE001  any error is raised again by `run`
                self._fail(error)

        for rank in range(self.world_size):
            runs = partial(target, LocalTransport(self, rank))
            self._threads.append(Thread(target=runs, name=f"rank{rank}", daemon=True))
        try:
            for thread in self._threads:
                thread.start()
            self._supervise()
        except KeyboardInterrupt as error:
            with self._lock:
                for line in wait_notes(self._waits, self._ended, self.world_size, include_others=True):
                    error.add_note(line)
            self._fail(error)
            raise
        except BaseException as error:
            self._fail(error)
            raise
        return [results[rank] for rank in range(self.world_size)]

    def end(self) -> None:
        """Waits up to `_ENDING_SECONDS` for threads that still compute."""
        until = time.monotonic() + _ENDING_SECONDS
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(until - time.monotonic(), 0))

    def _supervise(self) -> None:
        """Waits until all ranks have ended. Raises: the error that ends the run."""
        deadline = self._deadline
        with self._lock:
            while len(self._ended) < self.world_size:
                now = time.monotonic()
                is_late = deadline is not None and now >= deadline
                if self._failure is not None and not is_late:
                    raise self._failure
                if is_late:
                    raise DiagnosticError(time_passed(self._waits, self._ended, self.world_size))
                self._over.wait(_LISTENING_SECONDS if deadline is None else min(_LISTENING_SECONDS, deadline - now))

    # -- turns

    def _enter(self, rank: int) -> None:
        with self._lock:
            self._await_turn(rank)

    def _leave(self, rank: int) -> None:
        with self._lock:
            self._ended.add(rank)
            self._pass_turn(rank)
            self._over.notify()

    def _fail(self, error: BaseException) -> None:
        """Ends the run with an error, unless it has failed already."""
        with self._lock:
            if self._failure is None:
                self._failure = error
            self._over.notify()
            for turn in self._turns:
                turn.notify()

    def _await_turn(self, rank: int) -> None:
        while self._turn != rank and self._failure is None:
            self._turns[rank].wait()
        self.check()

    def check(self) -> None:
        """Raises: _Stopped when the run has failed."""
        if self._failure is not None:
            raise _Stopped

    def _pass_turn(self, rank: int) -> None:
        """Passes the turn to the next rank that can continue."""
        for n in range(1, self.world_size + 1):
            candidate = (rank + n) % self.world_size
            if candidate not in self._ended and self._can_continue(candidate):
                self._turn = candidate
                self._turns[candidate].notify()
                return
        if len(self._ended) < self.world_size:
            unreceived = sorted([key for key, messages in self._messages.items() if messages], key=str)
            self._fail(DiagnosticError(blocked(self._waits, self._ended, unreceived, self.world_size)))

    def _can_continue(self, rank: int) -> bool:
        wait = self._waits.get(rank)
        if wait is None:
            return True
        return bool(self._messages.get(wait.key)) if wait.key is not None else rank not in self._arrived

    def _wait(self, rank: int, wait: Wait) -> None:
        """Lets other ranks run until this one can continue."""
        self._waits[rank] = wait
        if not self._can_continue(rank):
            self._pass_turn(rank)
            self._await_turn(rank)
        del self._waits[rank]

    # -- messages

    def send(self, key: Key, array: Array) -> None:
        """Sends a copy of an array."""
        with self._lock:
            self.check()
            self._messages.setdefault(key, deque()).append(np.array(array))

    def receive(self, key: Key, wait: Wait) -> Array:
        """Waits for the next message with a key and returns it."""
        with self._lock:
            self.check()
            self._wait(key.destination, wait)
            return self._messages[key].popleft()

    def barrier(self, rank: int, wait: Wait) -> None:
        """Waits until all ranks are at the barrier."""
        with self._lock:
            self.check()
            self._arrived.add(rank)
            if len(self._arrived) == self.world_size:
                self._arrived.clear()
            self._wait(rank, wait)


class LocalTransport:
    """The transport of one rank that runs in this process."""

    def __init__(self, exchange: Exchange, rank: int) -> None:
        self._exchange = exchange
        self.rank = rank
        self.world_size = exchange.world_size

    def check(self) -> None:
        """Raises if the run has failed on another rank; see `Transport`."""
        self._exchange.check()

    def isend(self, destination: int, tag: Tag, array: Array) -> None:
        """Sends a copy of an array; see `Transport`."""
        self._exchange.send(Key(self.rank, destination, tag), array)

    def post_recv(self, source: int, tag: Tag, type: TensorType) -> Posted:
        """Posts a receive; see `Transport`."""
        return Posted(Key(source, self.rank, tag), type)

    def wait(self, posted: Posted, wait: Wait) -> Array:
        """Waits for the array of a receive and returns it; see `Transport`."""
        result = self._exchange.receive(posted.key, wait)
        check_message(result, posted, wait)
        return result

    def barrier(self, wait: Wait) -> None:
        """Waits until all ranks are at the barrier; see `Transport`."""
        self._exchange.barrier(self.rank, wait)
