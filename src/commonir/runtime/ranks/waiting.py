"""What ranks wait for, and what is told when none of them can go on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from commonir.base.codes import RANKS_BLOCKED, RUN_LIMIT_EXCEEDED
from commonir.base.diagnostics import Diagnostic
from commonir.base.tuples import NamedTuple

_LISTED = 8

Tag = int | None
"""What tells messages of the same two ranks apart; None for those of all-reduces."""


class Key(NamedTuple):
    """What a message is known by. Messages of one key arrive in the order in which they were sent."""

    source: int
    destination: int
    tag: Tag

    def __str__(self) -> str:
        return "an all-reduce" if self.tag is None else f"tag {self.tag}"


class Wait(NamedTuple):
    """What a rank waits for: a message, or the others at its barrier where there is no key."""

    operation: str
    place: str
    key: Key | None = None

    def awaited(self, arrived: Collection[int], world_size: int) -> tuple[int, ...]:
        """Returns the ranks that it waits for; `arrived` are at the barrier."""
        if self.key is not None:
            return (self.key.source,)
        return tuple([rank for rank in range(world_size) if rank not in arrived])


class Standing(NamedTuple):
    """How far a rank is, as it tells others that do not see it: `wait` is None when it has ended.

    `sent` and `taken` are how many messages of each key, `barriers` how many barriers it has come to.
    """

    wait: Wait | None
    sent: Mapping[Key, int]
    taken: Mapping[Key, int]
    barriers: int


def standing_still(standings: Mapping[int, Standing], world_size: int) -> Diagnostic | None:
    """Returns the finding that no rank can go on, if what all ranks told at some time, each at its own, says so.

    A rank that waits stays where it is until a message comes that another one has sent. The first to have gone on since
    it told its standing must have had a message that was sent before its sender told its own, which counts it.
    """
    if len(standings) < world_size or all(standing.wait is None for standing in standings.values()):
        return None
    for standing in standings.values():
        wait = standing.wait
        if wait is None:
            continue
        key = wait.key
        if key is None:
            if all(other.barriers >= standing.barriers for other in standings.values()):
                return None
        elif standings[key.source].sent.get(key, 0) > standing.taken.get(key, 0):
            return None
    waits = {rank: standing.wait for rank, standing in standings.items() if standing.wait is not None}
    ended = [rank for rank, standing in standings.items() if standing.wait is None]
    unreceived = [
        key
        for standing in standings.values()
        for key, count in standing.sent.items()
        if count > standings[key.destination].taken.get(key, 0)
    ]
    return blocked(waits, ended, sorted(unreceived, key=str), world_size)


def blocked(
    waits: Mapping[int, Wait], ended: Collection[int], unreceived: Iterable[Key], world_size: int
) -> Diagnostic:
    """Returns the finding that no rank that has not ended can go on."""
    cycle = cycle_of(waits, world_size)
    if cycle:
        message = f"ranks {_listed(sorted(cycle))} wait for each other, and none can go on"
    else:
        message = f"{_ranks(sorted(waits))} for what never comes"
    notes = told_waits(waits, ended, world_size)
    if cycle:
        notes.append("cycle: " + " -> ".join([f"rank {rank}" for rank in (*cycle, cycle[0])]))
    sent = [f"rank {k.source} to rank {k.destination}, {k}" for k in unreceived]
    if sent:
        more = f" and {len(sent) - _LISTED} more" if len(sent) > _LISTED else ""
        notes.append(f"sent, and not received: {'; '.join(sent[:_LISTED])}{more}")
    places = [wait.place for _, wait in sorted(waits.items())]
    return Diagnostic(RANKS_BLOCKED, message, where=places[0] if places else "", notes=notes)


def time_passed(waits: Mapping[int, Wait], ended: Collection[int], world_size: int) -> Diagnostic:
    """Returns the finding that the time limit of a run of ranks has passed."""
    message = "the time limit of the run has passed"
    return Diagnostic(RUN_LIMIT_EXCEEDED, message, notes=told_waits(waits, ended, world_size, tells_others=True))


def told_waits(
    waits: Mapping[int, Wait], ended: Collection[int], world_size: int, *, tells_others: bool = False
) -> list[str]:
    """Returns a line for each rank that waits; with `tells_others`, also for those that do not."""
    arrived = [rank for rank, wait in waits.items() if wait.key is None]
    notes: list[str] = []
    for rank in range(world_size):
        wait = waits.get(rank)
        if wait is not None:
            notes.append(f"rank {rank} waits for {told_wait(wait, world_size, arrived, ended)}")
        elif tells_others:
            notes.append(f"rank {rank} {'has ended' if rank in ended else 'computes'}")
    return notes


def told_wait(wait: Wait, world_size: int, arrived: Collection[int], ended: Collection[int] = ()) -> str:
    """Whom a rank waits for, and where."""
    others = wait.awaited(arrived, world_size)
    gone = [rank for rank in others if rank in ended]
    after = ", which has ended" if gone and len(others) == 1 else f", of which {_have_ended(gone)}" if gone else ""
    what = f", {wait.key}" if wait.key is not None else ""
    return f"{_named(others)}{what}{after}: {wait.operation} at {wait.place}"


def cycle_of(waits: Mapping[int, Wait], world_size: int) -> tuple[int, ...]:
    """Ranks of which each waits for the next, and the last for the first; none where there is no such cycle."""
    arrived = [rank for rank, wait in waits.items() if wait.key is None]
    following = {rank: wait.awaited(arrived, world_size) for rank, wait in sorted(waits.items())}
    ends = [True]
    while any(ends):
        # What waits only for ranks that do not wait is in no cycle.
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
    shown = [str(rank) for rank in ranks[:_LISTED]]
    if len(ranks) > _LISTED:
        return f"{', '.join(shown)} and {len(ranks) - _LISTED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
