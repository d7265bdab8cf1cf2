"""Finds deadlocks between waiting ranks, and builds their diagnostics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from commonir.base.codes import RANKS_BLOCKED, RUN_LIMIT_EXCEEDED
from commonir.base.diagnostics import Diagnostic
from commonir.base.tuples import NamedTuple

_MAX_LISTED = 8

Tag = int | None
"""Distinguishes messages between the same two ranks; None for those of all-reduces."""


class Key(NamedTuple):
    """Source, destination and tag of a message. Messages with the same key arrive in the order of sending."""

    source: int
    destination: int
    tag: Tag

    def __str__(self) -> str:
        return "an all-reduce" if self.tag is None else f"tag {self.tag}"


class Wait(NamedTuple):
    """The state of a waiting rank: it waits for the message with a key, or at a barrier if `key` is None.

    `operation` and `path` are the name and the path of the waiting operation.
    """

    operation: str
    path: str
    key: Key | None = None

    def awaited(self, arrived: Collection[int], world_size: int) -> tuple[int, ...]:
        """Returns the ranks that this one waits for; `arrived` are at the barrier."""
        if self.key is not None:
            return (self.key.source,)
        return tuple([rank for rank in range(world_size) if rank not in arrived])


class RankStatus(NamedTuple):
    """The progress of a rank, as reported to others. `wait` is None when it has ended.

    `sent` and `received` are the numbers of messages by key, `barriers` is the number of barriers it has reached.
    """

    wait: Wait | None
    sent: Mapping[Key, int]
    received: Mapping[Key, int]
    barriers: int


def find_deadlock(statuses: Mapping[int, RankStatus], world_size: int) -> Diagnostic | None:
    """Returns the error of a deadlock, if the last reports of all ranks prove one; None otherwise.

    The reports may be of different times. A waiting rank waits until a message from another rank arrives. The first
    rank to continue after its report must have received a message that was sent before the report of its sender, which
    counts it.
    """
    if len(statuses) < world_size or all(status.wait is None for status in statuses.values()):
        return None
    for status in statuses.values():
        wait = status.wait
        if wait is None:
            continue
        key = wait.key
        if key is None:
            if all(other.barriers >= status.barriers for other in statuses.values()):
                return None
        elif statuses[key.source].sent.get(key, 0) > status.received.get(key, 0):
            return None
    waits = {rank: status.wait for rank, status in statuses.items() if status.wait is not None}
    ended = [rank for rank, status in statuses.items() if status.wait is None]
    unreceived = [
        key
        for status in statuses.values()
        for key, count in status.sent.items()
        if count > statuses[key.destination].received.get(key, 0)
    ]
    return blocked(waits, ended, sorted(unreceived, key=str), world_size)


def blocked(
    waits: Mapping[int, Wait], ended: Collection[int], unreceived: Iterable[Key], world_size: int
) -> Diagnostic:
    """Returns the error of a deadlock."""
    cycle = cycle_of(waits, world_size)
    if cycle:
        message = f"ranks {_listed(sorted(cycle))} wait for each other, and none can go on"
    else:
        message = f"{_ranks(sorted(waits))} for what never comes"
    notes = wait_notes(waits, ended, world_size)
    if cycle:
        notes.append("cycle: " + " -> ".join([f"rank {rank}" for rank in (*cycle, cycle[0])]))
    sent = [f"rank {k.source} to rank {k.destination}, {k}" for k in unreceived]
    if sent:
        more = f" and {len(sent) - _MAX_LISTED} more" if len(sent) > _MAX_LISTED else ""
        notes.append(f"sent, and not received: {'; '.join(sent[:_MAX_LISTED])}{more}")
    paths = [wait.path for _, wait in sorted(waits.items())]
    return Diagnostic(RANKS_BLOCKED, message, where=paths[0] if paths else "", notes=notes)


def time_passed(waits: Mapping[int, Wait], ended: Collection[int], world_size: int) -> Diagnostic:
    """Returns the error of a passed time limit, with a note for each rank."""
    message = "the time limit of the run has passed"
    return Diagnostic(RUN_LIMIT_EXCEEDED, message, notes=wait_notes(waits, ended, world_size, include_others=True))


def wait_notes(
    waits: Mapping[int, Wait], ended: Collection[int], world_size: int, *, include_others: bool = False
) -> list[str]:
    """Returns a note for each waiting rank, and with `include_others` for the others."""
    arrived = [rank for rank, wait in waits.items() if wait.key is None]
    notes: list[str] = []
    for rank in range(world_size):
        wait = waits.get(rank)
        if wait is not None:
            notes.append(f"rank {rank} waits for {wait_text(wait, world_size, arrived, ended)}")
        elif include_others:
            notes.append(f"rank {rank} {'has ended' if rank in ended else 'computes'}")
    return notes


def wait_text(wait: Wait, world_size: int, arrived: Collection[int], ended: Collection[int] = ()) -> str:
    """Returns a description of the ranks that one waits for, and of its operation."""
    awaited = wait.awaited(arrived, world_size)
    ended_ranks = [rank for rank in awaited if rank in ended]
    after = ""
    if ended_ranks:
        after = ", which has ended" if len(awaited) == 1 else f", of which {_have_ended(ended_ranks)}"
    message = f", {wait.key}" if wait.key is not None else ""
    return f"{_named(awaited)}{message}{after}: {wait.operation} at {wait.path}"


def cycle_of(waits: Mapping[int, Wait], world_size: int) -> tuple[int, ...]:
    """Returns ranks of which each waits for the next, and the last for the first; () when there is no cycle."""
    arrived = [rank for rank, wait in waits.items() if wait.key is None]
    following = {rank: wait.awaited(arrived, world_size) for rank, wait in sorted(waits.items())}
    ends = [True]
    while any(ends):
        # A rank that waits only for ranks that do not wait is not in a cycle.
        ends = [not any(other in following for other in following[rank]) for rank in following]
        following = {rank: others for (rank, others), is_end in zip(following.items(), ends, strict=True) if not is_end}
    path: list[int] = []
    rank = next(iter(following), None)
    while rank is not None and rank not in path:
        path.append(rank)
        rank = next(other for other in following[rank] if other in following)
    return tuple(path[path.index(rank) :]) if rank is not None else ()


def _named(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {_listed(ranks)}"


def _ranks(ranks: Sequence[int]) -> str:
    return f"{_named(ranks)} {'waits' if len(ranks) == 1 else 'wait'}"


def _have_ended(ranks: Sequence[int]) -> str:
    return f"{_named(ranks)} {'has' if len(ranks) == 1 else 'have'} ended"


def _listed(ranks: Sequence[int]) -> str:
    shown = [str(rank) for rank in ranks[:_MAX_LISTED]]
    if len(ranks) > _MAX_LISTED:
        return f"{', '.join(shown)} and {len(ranks) - _MAX_LISTED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
