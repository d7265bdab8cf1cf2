"""Messages between the ranks of a program over MPI.

A message is its element type and shape in `HEADER_BYTES` bytes, then its elements. Sends are of private copies,
receives go to buffers posted ahead, and nothing waits within MPI: this process asks again and again, and hears
meanwhile what others tell, so that no rank waits forever. Tags of a program may be any numbers and those of MPI may
not: each has its place among all tags of all ranks. Source: MPI 4.1, point-to-point communication.
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
from commonir.engines.mpi.processes import Processes, told_finding
from commonir.ir.module import Function
from commonir.ir.types import TensorType
from commonir.runtime.ranks.transport import Posted
from commonir.runtime.ranks.waiting import (
    Key,
    Standing,
    Tag,
    Wait,
    standing_still,
    time_passed,
    told_wait,
    told_waits,
)
from commonir.runtime.values import declared_dtype

Array = NDArray[Any]

HEADER_BYTES = 64
_NOTHING = np.empty(0, np.uint8)

_SPINS = 50
_SHORTEST_PAUSE, _LONGEST_PAUSE = 2e-5, 1e-3
_PATIENCE_SECONDS = 0.3
"""How long a rank waits before it tells so."""

_HEARING_SECONDS = 0.1
"""How often a rank that computes hears what others tell."""

_COLLECTING_SECONDS = 0.5
"""How long rank 0 hears who waits after the time limit has passed."""

_ABANDONED_SECONDS = 10.0
"""How long others wait after the time limit for rank 0 to end them."""


def tag_numbers(functions: Iterable[Function]) -> dict[Tag, int]:
    """Returns a number that MPI takes for each tag of a program; all processes find the same."""
    tags = {op.tag for f in functions for op in f.walk() if isinstance(op, (core.Send, core.Recv))}
    return {None: 0, **{tag: n for n, tag in enumerate(sorted(tags), 1)}}


class MpiTransport:
    """What the rank of this process sends and receives by, for one run."""

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
        self._taken: Counter[Key] = Counter()
        self._barriers = 0
        self._heard = time.monotonic()
        # What rank 0 knows of all.
        self.standings: dict[int, Standing] = {}

    def check(self) -> None:
        """Hears from time to time what others tell; see `Transport`."""
        now = time.monotonic()
        if now - self._heard > _HEARING_SECONDS:
            self._heard = now
            self._hear()

    # -- what programs do

    def isend(self, destination: int, tag: Tag, array: Array) -> None:
        """Sends a copy of an array; see `Transport`."""
        if array.dtype.hasobject:
            message = "texts cannot be sent over MPI"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help="run all ranks in one process"))
        held = np.empty(HEADER_BYTES + array.nbytes, np.uint8)
        held[:HEADER_BYTES] = _header(name_of(array.dtype), array.shape)
        _elements(held, array.dtype, array.shape)[...] = array
        request = self._comm.Isend([held, self._mpi.BYTE], dest=destination, tag=self._numbers[tag])
        self._sent[Key(self.rank, destination, tag)] += 1
        self._sends = [(r, kept) for r, kept in self._sends if not r.Test()]
        self._sends.append((request, held))

    def post_recv(self, source: int, tag: Tag, kind: TensorType) -> Posted:
        """Says that a message of a rank will be received; see `Transport`."""
        dtype = declared_dtype(kind.element)
        if dtype.hasobject:
            message = "texts cannot be received over MPI"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help="run all ranks in one process"))
        held = np.empty(HEADER_BYTES + kind.count * dtype.itemsize, np.uint8)
        request = self._comm.Irecv([held, self._mpi.BYTE], source=source, tag=self._numbers[tag])
        number = len(self._receives)
        self._receives.append((request, held))
        return Posted(Key(source, self.rank, tag), kind, number)

    def wait(self, posted: Posted, wait: Wait) -> Array:
        """Returns the array of a receive, when it has come; see `Transport`."""
        request, held = self._receives[posted.number]
        self._receives[posted.number] = (None, _NOTHING)
        status = self._mpi.Status()
        try:
            self.until(lambda: request.Test(status), wait)
        except self._mpi.Exception as error:
            raise self._other_size(posted, wait, str(error)) from None
        kind = posted.kind
        expected = _header(kind.element.name, kind.static_shape)
        if status.Get_count(self._mpi.BYTE) != held.size or not np.array_equal(held[:HEADER_BYTES], expected):
            raise self._other_size(posted, wait, f"sent: {bytes(held[:HEADER_BYTES]).rstrip().decode()}")
        self._taken[posted.key] += 1
        return _elements(held, declared_dtype(kind.element), kind.static_shape)

    def barrier(self, wait: Wait) -> None:
        """Waits until all ranks are here; see `Transport`."""
        self._barriers += 1
        request = self._comm.Ibarrier()
        self.until(request.Test, wait)

    def _other_size(self, posted: Posted, wait: Wait, note: str) -> DiagnosticError:
        message = (
            f"{wait.operation}: expected {posted.kind} from rank {posted.key.source}, {posted.key}, was sent another"
        )
        return DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=wait.place, notes=[note]))

    # -- waiting

    def until(self, done: Callable[[], bool], wait: Wait | None) -> None:
        """Waits until something holds; `wait` is None when the program of this rank has ended.

        Raises: DiagnosticError (E0711, E0717) in rank 0, and what others have found.
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
                self._tell_standing(wait)
            self._hear()
            if reported:
                self._give_up(wait, now)
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        if reported:
            self._processes.doing("ran")
            self.standings.pop(self.rank, None)

    def _tell_standing(self, wait: Wait | None) -> None:
        standing = Standing(wait, dict(self._sent), dict(self._taken), self._barriers)
        self._processes.doing("ran" if wait is None else f"waited for {told_wait(wait, self.world_size, [self.rank])}")
        if self.rank == 0:
            self.standings[0] = standing
            return
        self._processes.tell(
            "stands",
            run=self._run,
            wait=None if wait is None else [wait.operation, wait.place, self._plain(wait.key)],
            sent=[(*self._plain(key), n) for key, n in self._sent.items()],
            taken=[(*self._plain(key), n) for key, n in self._taken.items()],
            barriers=self._barriers,
        )

    def _plain(self, key: Key | None) -> tuple[int, ...]:
        return () if key is None else (key.source, key.destination, self._numbers[key.tag])

    def _key(self, source: int, destination: int, number: int) -> Key:
        return Key(source, destination, self._tags[number])

    def _hear(self) -> None:
        """Takes note of what others tell. Raises: DiagnosticError with what one of them has found."""
        for source, reported in self._processes.heard():
            match reported["kind"]:
                case "stop":
                    self._processes.quiet()
                    self._processes.linger()
                case "failed":
                    self._raise_told([told_finding(source, d) for d in reported["findings"]])
                case "stands" if reported["run"] == self._run:
                    wait = reported["wait"]
                    self.standings[source] = Standing(
                        None if wait is None else Wait(wait[0], wait[1], self._key(*wait[2]) if wait[2] else None),
                        {self._key(*key): n for *key, n in reported["sent"]},
                        {self._key(*key): n for *key, n in reported["taken"]},
                        reported["barriers"],
                    )
                case _:
                    pass

    def _raise_told(self, found: list[Diagnostic]) -> None:
        if self._deadline is not None and any(d.code is RUN_LIMIT_EXCEEDED for d in found):
            found = [time_passed(self.waits, self.ended, self.world_size)]
        raise DiagnosticError(*found)

    def _give_up(self, wait: Wait | None, now: float) -> None:
        """Raises: DiagnosticError when no rank can go on, or the time limit has passed."""
        over = 0.0 if self._deadline is None else now - self._deadline
        if self.rank == 0:
            found = standing_still(self.standings, self.world_size)
            if found is not None:
                raise DiagnosticError(found)
            if over > _COLLECTING_SECONDS:
                raise DiagnosticError(self.late())
        elif over > _ABANDONED_SECONDS:
            waits = {} if wait is None else {self.rank: wait}
            raise DiagnosticError(time_passed(waits, (), self.world_size))

    def late(self) -> Diagnostic:
        """Returns the finding that the time limit has passed, with what is known of all."""
        self._collect()
        return time_passed(self.waits, self.ended, self.world_size)

    def who_waits(self) -> list[str]:
        """Returns a line for each rank that says what it does, as far as this one knows."""
        self._collect()
        return told_waits(self.waits, self.ended, self.world_size, tells_others=True)

    def _collect(self) -> None:
        """Hears who waits, for a moment: this rank may have computed all the time."""
        until = time.monotonic() + _COLLECTING_SECONDS
        while len(self.standings) < self.world_size - 1 and time.monotonic() < until:
            try:
                self._hear()
            except DiagnosticError:
                # Something else was going on already, and this is what is told.
                return
            time.sleep(_LONGEST_PAUSE)

    @property
    def waits(self) -> dict[int, Wait]:
        """What ranks wait for, as far as this one knows."""
        return {rank: s.wait for rank, s in self.standings.items() if s.wait is not None}

    @property
    def ended(self) -> list[int]:
        """The ranks that are known to have ended."""
        return [rank for rank, s in self.standings.items() if s.wait is None]

    # -- the end of a run

    def finish(self) -> None:
        """Waits until all ranks have ended, and puts away what nobody has received."""
        self._tell_standing(None)
        sent, owed = np.zeros(self.world_size, np.int64), np.empty(self.world_size, np.int64)
        for key, count in self._sent.items():
            sent[key.destination] += count
        kind = self._mpi.INT64_T
        # Not among the barriers of a program, of which a rank that has not ended may be at one.
        self.until(self._processes.control.Ialltoall([sent, kind], [owed, kind]).Test, None)
        for key, count in self._taken.items():
            owed[key.source] -= count
        self.until(lambda: self._have_drained(owed), None)
        self.until(self._have_sent, None)
        self._processes.quiet()

    def _have_sent(self) -> bool:
        self._sends = [(r, kept) for r, kept in self._sends if not r.Test()]
        return not self._sends

    def _have_drained(self, owed: Array) -> bool:
        """Takes messages that no receive was posted for: as many of each rank as it has sent in this run, and no more,
        because it may be in the next one already.
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


def _elements(held: Array, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    return held[HEADER_BYTES:].view(dtype).reshape(shape)
