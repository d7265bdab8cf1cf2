"""Messages between the ranks of a program over MPI.

A message is its element type and shape in `HEADER_BYTES` bytes, followed by its elements. Arrays are copied before
they are sent, and received in buffers posted ahead. No call blocks within MPI: this process polls, and meanwhile reads
the reports of others, so that no rank waits forever. Tags of a program may be any integers, those of MPI may not, so
they are numbered. Source: MPI 4.1, point-to-point communication.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import name_of
from commonir.base.codes import EXECUTION_FAILED, RUN_LIMIT_EXCEEDED, UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import core
from commonir.engines.mpi.processes import Processes, reported_diagnostic
from commonir.ir.module import Function
from commonir.ir.types import TensorType
from commonir.runtime.ranks.transport import Posted
from commonir.runtime.ranks.waiting import Key, RankStatus, Tag, Wait, find_deadlock, time_passed, wait_notes, wait_text
from commonir.runtime.values import declared_dtype

Array = NDArray[Any]

HEADER_BYTES = 64
_NOTHING = np.empty(0, np.uint8)

_SPINS = 50
_SHORTEST_PAUSE, _LONGEST_PAUSE = 2e-5, 1e-3
_PATIENCE_SECONDS = 0.3
"""How long a rank waits before it reports that it waits."""

_HEARING_SECONDS = 0.1
"""How often a computing rank reads the reports of others."""

_COLLECTING_SECONDS = 0.5
"""How long rank 0 collects reports after the time limit has passed."""

_ABANDONED_SECONDS = 10.0
"""How long others wait after the time limit for rank 0 to end them."""


def tag_numbers(functions: Iterable[Function]) -> dict[Tag, int]:
    """Returns a valid MPI tag for each tag of a program, the same in all processes."""
    tags = {op.tag for f in functions for op in f.walk() if isinstance(op, (core.Send, core.Recv))}
    return {None: 0, **{tag: n for n, tag in enumerate(sorted(tags), 1)}}


class MpiTransport:
    """The transport of the rank of this process, for one run."""

    def __init__(self, processes: Processes, numbers: dict[Tag, int], time_limit_seconds: float | None) -> None:
        self._processes = processes
        self._mpi = processes.mpi
        self._comm = processes.data
        self._numbers = numbers
        self._tags = {number: tag for tag, number in numbers.items()}
        self._run = processes.next_run()
        self._deadline = None if time_limit_seconds is None else time.monotonic() + time_limit_seconds
        self.rank = processes.rank
        self.world_size = processes.count
        self._sends: list[tuple[Any, Array]] = []
        self._receives: list[tuple[Any, Array]] = []
        self._sent: Counter[Key] = Counter()
        self._received: Counter[Key] = Counter()
        self._barriers = 0
        self._last_check = time.monotonic()
        # The last reports of all ranks, in rank 0.
        self.statuses: dict[int, RankStatus] = {}

    def check(self) -> None:
        """Reads the reports of others from time to time; see `Transport`."""
        now = time.monotonic()
        if now - self._last_check > _HEARING_SECONDS:
            self._last_check = now
            self._receive_reports()

    # -- messages of the program

    def isend(self, destination: int, tag: Tag, array: Array) -> None:
        """Sends a copy of an array; see `Transport`."""
        if array.dtype.hasobject:
            message = "strings cannot be sent over MPI"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help="run all ranks in one process"))
        buffer = np.empty(HEADER_BYTES + array.nbytes, np.uint8)
        buffer[:HEADER_BYTES] = _header(name_of(array.dtype), array.shape)
        _elements(buffer, array.dtype, array.shape)[...] = array
        request = self._comm.Isend([buffer, self._mpi.BYTE], dest=destination, tag=self._numbers[tag])
        self._sent[Key(self.rank, destination, tag)] += 1
        self._sends = [(r, sent) for r, sent in self._sends if not r.Test()]
        self._sends.append((request, buffer))

    def post_recv(self, source: int, tag: Tag, type: TensorType) -> Posted:
        """Posts a receive; see `Transport`."""
        dtype = declared_dtype(type.element)
        if dtype.hasobject:
            message = "strings cannot be received over MPI"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help="run all ranks in one process"))
        buffer = np.empty(HEADER_BYTES + type.count * dtype.itemsize, np.uint8)
        request = self._comm.Irecv([buffer, self._mpi.BYTE], source=source, tag=self._numbers[tag])
        number = len(self._receives)
        self._receives.append((request, buffer))
        return Posted(Key(source, self.rank, tag), type, number)

    def wait(self, posted: Posted, wait: Wait) -> Array:
        """Waits for the array of a receive and returns it; see `Transport`."""
        request, buffer = self._receives[posted.number]
        self._receives[posted.number] = (None, _NOTHING)
        status = self._mpi.Status()
        try:
            self.until(lambda: request.Test(status), wait)
        except self._mpi.Exception as error:
            raise self._other_size(posted, wait, str(error)) from None
        type = posted.type
        expected = _header(type.element.name, type.static_shape)
        if status.Get_count(self._mpi.BYTE) != buffer.size or not np.array_equal(buffer[:HEADER_BYTES], expected):
            raise self._other_size(posted, wait, f"sent: {bytes(buffer[:HEADER_BYTES]).rstrip().decode()}")
        self._received[posted.key] += 1
        return _elements(buffer, declared_dtype(type.element), type.static_shape)

    def barrier(self, wait: Wait) -> None:
        """Waits until all ranks are at the barrier; see `Transport`."""
        self._barriers += 1
        request = self._comm.Ibarrier()
        self.until(request.Test, wait)

    def _other_size(self, posted: Posted, wait: Wait, note: str) -> DiagnosticError:
        message = (
            f"{wait.operation}: expected {posted.type} from rank {posted.key.source}, {posted.key}, was sent another"
        )
        return DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=wait.path, notes=[note]))

    # -- waiting

    def until(self, done: Callable[[], bool], wait: Wait | None) -> None:
        """Waits until a condition holds; `wait` is None when the program of this rank has ended.

        Raises: DiagnosticError (E0711, E0717) in rank 0, and errors reported by others.
        """
        for _ in range(_SPINS):
            if done():
                return
        start = time.monotonic()
        pause, reported = _SHORTEST_PAUSE, False
        while not done():
            now = time.monotonic()
            late = self._deadline is not None and now > self._deadline
            if not reported and (late or now - start > _PATIENCE_SECONDS):
                reported = True
                self._report_status(wait)
            self._receive_reports()
            if reported:
                self._give_up(wait, now)
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        if reported:
            self._processes.set_activity("ran")
            self.statuses.pop(self.rank, None)

    def _report_status(self, wait: Wait | None) -> None:
        status = RankStatus(wait, dict(self._sent), dict(self._received), self._barriers)
        self._processes.set_activity(
            "ran" if wait is None else f"waited for {wait_text(wait, self.world_size, [self.rank])}"
        )
        if self.rank == 0:
            self.statuses[0] = status
            return
        self._processes.report(
            "stands",
            run=self._run,
            wait=None if wait is None else [wait.operation, wait.path, self._plain(wait.key)],
            sent=[(*self._plain(key), n) for key, n in self._sent.items()],
            taken=[(*self._plain(key), n) for key, n in self._received.items()],
            barriers=self._barriers,
        )

    def _plain(self, key: Key | None) -> tuple[int, ...]:
        return () if key is None else (key.source, key.destination, self._numbers[key.tag])

    def _key(self, source: int, destination: int, number: int) -> Key:
        return Key(source, destination, self._tags[number])

    def _receive_reports(self) -> None:
        """Reads the reports of others. Raises: DiagnosticError reported by one of them."""
        for source, reported in self._processes.reports():
            match reported["kind"]:
                case "stop":
                    self._processes.clear_activity()
                    self._processes.linger()
                case "failed":
                    self._raise_reported([reported_diagnostic(source, d) for d in reported["findings"]])
                case "stands" if reported["run"] == self._run:
                    wait = reported["wait"]
                    self.statuses[source] = RankStatus(
                        None if wait is None else Wait(wait[0], wait[1], self._key(*wait[2]) if wait[2] else None),
                        {self._key(*key): n for *key, n in reported["sent"]},
                        {self._key(*key): n for *key, n in reported["taken"]},
                        reported["barriers"],
                    )
                case _:
                    pass

    def _raise_reported(self, diagnostics: list[Diagnostic]) -> None:
        if self._deadline is not None and any(d.code is RUN_LIMIT_EXCEEDED for d in diagnostics):
            diagnostics = [time_passed(self.waits, self.ended, self.world_size)]
        raise DiagnosticError(*diagnostics)

    def _give_up(self, wait: Wait | None, now: float) -> None:
        """Raises an error if it is time to. Raises: DiagnosticError on a deadlock, or after the time limit."""
        over = 0.0 if self._deadline is None else now - self._deadline
        if self.rank == 0:
            deadlock = find_deadlock(self.statuses, self.world_size)
            if deadlock is not None:
                raise DiagnosticError(deadlock)
            if over > _COLLECTING_SECONDS:
                raise DiagnosticError(self.time_limit_error())
        elif over > _ABANDONED_SECONDS:
            waits = {} if wait is None else {self.rank: wait}
            raise DiagnosticError(time_passed(waits, (), self.world_size))

    def time_limit_error(self) -> Diagnostic:
        """Returns the error that the time limit has passed, with notes on all ranks."""
        self._collect()
        return time_passed(self.waits, self.ended, self.world_size)

    def who_waits(self) -> list[str]:
        """Returns a note on each rank, as far as known."""
        self._collect()
        return wait_notes(self.waits, self.ended, self.world_size, include_others=True)

    def _collect(self) -> None:
        """Collects reports for a moment: this rank may have been computing all the time."""
        until = time.monotonic() + _COLLECTING_SECONDS
        while len(self.statuses) < self.world_size - 1 and time.monotonic() < until:
            try:
                self._receive_reports()
            except DiagnosticError:
                # Another rank has failed, and that is reported.
                return
            time.sleep(_LONGEST_PAUSE)

    @property
    def waits(self) -> dict[int, Wait]:
        """The messages or barriers that ranks wait for, as far as known."""
        return {rank: s.wait for rank, s in self.statuses.items() if s.wait is not None}

    @property
    def ended(self) -> list[int]:
        """The ranks that are known to have ended."""
        return [rank for rank, s in self.statuses.items() if s.wait is None]

    # -- the end of a run

    def finish(self) -> None:
        """Waits until all ranks have ended, and drops messages that were not received."""
        self._report_status(None)
        sent, owed = np.zeros(self.world_size, np.int64), np.empty(self.world_size, np.int64)
        for key, count in self._sent.items():
            sent[key.destination] += count
        kind = self._mpi.INT64_T
        # Not a barrier, because a rank that has not ended may be at a barrier of the program.
        self.until(self._processes.control.Ialltoall([sent, kind], [owed, kind]).Test, None)
        for key, count in self._received.items():
            owed[key.source] -= count
        self.until(lambda: self._have_drained(owed), None)
        self.until(self._have_sent, None)
        self._processes.clear_activity()

    def _have_sent(self) -> bool:
        self._sends = [(r, buffer) for r, buffer in self._sends if not r.Test()]
        return not self._sends

    def _have_drained(self, owed: Array) -> bool:
        """Drops messages without a receive, as many as each rank has sent in this run: later ones belong to the next
        run.
        """
        status = self._mpi.Status()
        for source in np.flatnonzero(owed):
            message = self._comm.Improbe(source=int(source), tag=self._mpi.ANY_TAG, status=status)
            if message is not None:
                message.Recv([np.empty(status.Get_count(self._mpi.BYTE), np.uint8), self._mpi.BYTE])
                owed[source] -= 1
        return not owed.any()


def _header(element: str, shape: tuple[int, ...]) -> Array:
    text = f"tensor<{''.join([f'{n}x' for n in shape])}{element}>"
    return np.frombuffer(text.encode()[:HEADER_BYTES].ljust(HEADER_BYTES), np.uint8)


def _elements(buffer: Array, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    return buffer[HEADER_BYTES:].view(dtype).reshape(shape)
