"""Reports of what operations cost. Plain data, as all reports."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.reports.report import Report


class ProfileEntry(Report):
    """The cost of computing a value alone: the median and the least of the times in seconds, the bytes of what comes
    out, and floating-point operations, None where they depend on data.

    `operation` is what computes the value in the program's own format, in the node `node`, which is "" where the file
    names none but by the value; `operations` is what that is on the engine.
    """

    name: str
    operation: str
    type: str
    operations: tuple[str, ...]
    seconds: float
    least_seconds: float
    size_bytes: int
    flops: int | None
    node: str = ""
    moved_bytes: int | None = None
    live_bytes: int | None = None
    layer: str = ""
    rank: int | None = None


class RankStep(Report):
    """Something that a rank did: `kind` is compute, send, wait or barrier. `start` and `seconds` are in seconds."""

    kind: str
    start: float
    seconds: float
    counterpart: int | None = None
    tag: int | None = None
    size_bytes: int = 0


class RankProfile(Report):
    """The time of a rank: what it computes, sends and waits for. Times are in seconds.

    They are those of a run with a processor for each rank, computed from measured times: a message arrives when it is
    sent. `seconds` is when the rank ends. The sums of all-reduces count as computing.
    """

    rank: int
    name: str
    seconds: float
    compute_seconds: float
    send_seconds: float
    wait_seconds: float
    messages: int
    sent_bytes: int
    peak_bytes: int
    steps: tuple[RankStep, ...]


class Profile(Report):
    """The cost of a program on an engine. Times are in seconds.

    `first_seconds` is a first run including preparation, `seconds` the median of `repeat` whole runs. `call_seconds`
    is what a run of next to nothing costs, which is in the time of each entry. `peak_bytes` is the most that values
    took that were needed at once, which `peak_values` lists with their sizes. Entries are in the order in which they
    run; `method` says how they were timed: each alone ("separate"), by the engine in ordinary runs ("engine"), or not
    at all ("total").

    An entry moves `moved_bytes` of operands and results, weights included; `live_bytes` are needed at once when it
    ends; `layer` is the module or repeated layer that it is in. For a program of several ranks, entries have their
    rank, and `parallel_seconds` is what a run takes with a processor for each rank.
    """

    engine: str
    function: str
    repeat: int
    first_seconds: float
    seconds: float
    least_seconds: float
    call_seconds: float
    peak_bytes: int
    entries: tuple[ProfileEntry, ...]
    method: str = "separate"
    peak_values: Mapping[str, int] = MappingProxyType({})
    ranks: tuple[RankProfile, ...] = ()
    parallel_seconds: float | None = None

    @property
    def heading(self) -> str:
        milliseconds = self.seconds * 1e3
        return f"{self.function} on {self.engine}, {milliseconds:.3g} ms a run, {len(self.entries):,} operations"


class ProfileRow(Report):
    """The time of some operations on each engine: those of one type, or in one layer. `counts` are their numbers."""

    name: str
    counts: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def ratio(self) -> float | None:
        """The time on the last engine divided by that on the first."""
        return self.seconds[-1] / self.seconds[0] if len(self.seconds) > 1 and self.seconds[0] else None


class ProfileComparison(Report):
    """Profiles of one program on several engines, with the times by operation and by layer, slowest first."""

    profiles: tuple[Profile, ...]
    operations: tuple[ProfileRow, ...]
    layers: tuple[ProfileRow, ...]

    @property
    def heading(self) -> str:
        return ", ".join([f"{p.engine} {p.seconds * 1e3:.3g} ms" for p in self.profiles])


class MachinePeak(Report):
    """The measured peak of one thread: `flops` a second of a matrix product, `bytes` a second of a copy."""

    flops: float
    bytes: float
