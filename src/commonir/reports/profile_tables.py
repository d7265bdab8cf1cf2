"""Writes profiles: time, memory and rate of a program, its operations, their types and layers; engines side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.base.text import format_bytes, format_seconds, plural
from commonir.base.tuples import NamedTuple
from commonir.reports.columns import NODE, Column, type_text
from commonir.reports.layout import ReportWriter, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.reports import Profile, ProfileComparison, ProfileEntry, ProfileRow, RankProfile

_SHOWN = 15
_OTHERS = "outside of layers"


def operation_of(entry: ProfileEntry) -> str:
    """Returns the operation of an entry in the format of the program, or what it is on the engine."""
    return entry.operation or ", ".join(entry.operations)


def layer_of(entry: ProfileEntry) -> str:
    """Returns the layer of an entry."""
    return entry.layer or _OTHERS


def write_profile(result: Profile, out: ReportWriter, *, is_complete: bool = False) -> None:
    """Writes a profile: the program, its operations by type and layer, and the slowest or all of them in order."""
    _write_summary(result, out)
    _write_operations(result, out, is_complete=is_complete)


def write_profiles(measured: ProfileComparison, out: ReportWriter, *, is_complete: bool = False) -> None:
    """Writes profiles of several engines side by side, or that of one."""
    if len(measured.profiles) == 1:
        write_profile(measured.profiles[0], out, is_complete=is_complete)
        return
    for n, profile in enumerate(measured.profiles):
        if n:
            out.line()
        _write_summary(profile, out)
    _write_side_by_side(measured, out, is_complete=is_complete)


_METHODS = {
    "separate": "when run separately",
    "engine": "in ordinary runs, by the engine's own profiler",
}


def _write_summary(result: Profile, out: ReportWriter) -> None:
    out.line(f"{result.function} on {result.engine}: {format_seconds(result.seconds)} a run", Style.STRONG)
    total = sum(entry.seconds for entry in result.entries)
    is_separate = result.method == "separate"
    parallel = result.parallel_seconds
    timed = f"{len(result.entries):,}, {format_seconds(total)} {_METHODS.get(result.method, '')}"
    out.pairs(
        [
            ("first run", f"{format_seconds(result.first_seconds)}, including preparation"),
            ("fastest", f"{format_seconds(result.least_seconds)} of {plural(result.repeat, 'run')}"),
            ("operations", timed if result.entries else "not timed: the engine runs the program as a whole"),
            ("of that", f"{format_seconds(result.call_seconds)} call overhead for each" if result.call_seconds else ""),
            ("in parallel", "" if parallel is None else f"{format_seconds(parallel)} with a processor for each rank"),
            (
                "memory",
                f"{format_bytes(result.peak_bytes)} of values needed at once, without weights" if is_separate else "",
            ),
        ]
    )
    if result.ranks:
        _write_ranks(result.ranks, out)


def _write_ranks(ranks: Sequence[RankProfile], out: ReportWriter) -> None:
    titles = ("ends after", "computes", "sends", "waits", "messages", "sent bytes", "memory")
    rows = [
        (
            rank.name,
            *map(format_seconds, (rank.seconds, rank.compute_seconds, rank.send_seconds, rank.wait_seconds)),
            f"{rank.messages:,}",
            format_bytes(rank.sent_bytes),
            format_bytes(rank.peak_bytes),
        )
        for rank in ranks
    ]
    out.table([Column("rank"), *[Column(title, is_number=True) for title in titles]], rows)


_NUMBERS = tuple([Column(title, is_number=True) for title in ("time", "share", "output bytes", "GFLOP/s")])


def _write_operations(result: Profile, out: ReportWriter, *, is_complete: bool) -> None:
    """Writes the operations and layers of one engine, and its slowest operations."""
    if not result.entries:
        return
    total = sum(entry.seconds for entry in result.entries)
    for title, key in (("operation", operation_of), ("layer", layer_of)):
        own: dict[str, list[ProfileEntry]] = {}
        for entry in result.entries:
            own.setdefault(key(entry), []).append(entry)
        order = sorted(own.items(), key=lambda item: -sum(e.seconds for e in item[1]))
        if len(order) > 1 or title == "operation":
            rows = [(name, f"{len(entries):,}", *_costs(entries, total)) for name, entries in order[:_SHOWN]]
            out.table([Column(title), Column("number", is_number=True), *_NUMBERS], rows)
            _write_rest(len(order) - _SHOWN, title, out)
    shown = result.entries if is_complete else sorted(result.entries, key=lambda e: -e.seconds)[:_SHOWN]
    out.line("in order:" if is_complete else "slowest operations:")
    columns = [Column("value"), NODE, Column("operation"), Column("type"), *_NUMBERS]
    out.table(columns, [(e.name, e.node, operation_of(e), type_text(e.type), *_costs([e], total)) for e in shown])


def _write_side_by_side(measured: ProfileComparison, out: ReportWriter, *, is_complete: bool) -> None:
    """Writes the times of operations, layers and values on several engines, and those on the last by the first."""
    engines = [profile.engine for profile in measured.profiles]
    columns = [Column(title, is_number=True) for title in ("number", *engines, "ratio")]
    totals = _Totals([profile.seconds for profile in measured.profiles])
    for title, rows in (("operation", measured.operations), ("layer", measured.layers)):
        shown = rows if is_complete else rows[:_SHOWN]
        if len(rows) > 1 or title == "operation":
            cells = (
                [("whole program", "", *map(format_seconds, totals.seconds), totals.ratio)]
                if title == "operation"
                else []
            )
            cells += [_side_by_side(row) for row in shown]
            out.line()
            out.table([Column(title), *columns], cells)
            _write_rest(len(rows) - len(shown), title, out)
    _write_values(measured.profiles, out, is_complete=is_complete)


def _write_values(profiles: Sequence[Profile], out: ReportWriter, *, is_complete: bool) -> None:
    """Writes the times of single operations on several engines, slowest first."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for n, profile in enumerate(profiles):
        for entry in profile.entries:
            seconds.setdefault((entry.name, operation_of(entry)), [0.0] * len(profiles))[n] += entry.seconds
    rows = sorted(seconds.items(), key=lambda item: -max(item[1]))[: None if is_complete else _SHOWN]
    if not rows:
        return
    out.line()
    out.line("slowest operations:")
    columns = [Column(profile.engine, is_number=True) for profile in profiles]
    cells = [(name, operation, *[format_seconds(s) if s else "-" for s in times]) for (name, operation), times in rows]
    out.table([Column("value"), Column("operation"), *columns], cells)


class _Totals(NamedTuple):
    """The times of whole runs on several engines."""

    seconds: Sequence[float]

    @property
    def ratio(self) -> str:
        """The last time divided by the first."""
        return f"{self.seconds[-1] / self.seconds[0]:.2f}" if self.seconds[0] else ""


def _side_by_side(row: ProfileRow) -> tuple[str, ...]:
    counts = " / ".join(f"{count:,}" for count in dict.fromkeys(row.counts))
    return (
        row.name,
        counts,
        *[format_seconds(s) if s else "-" for s in row.seconds],
        f"{row.ratio:.2f}" if row.ratio else "",
    )


def _write_rest(count: int, title: str, out: ReportWriter) -> None:
    if count > 0:
        out.line(f"and {plural(count, title)} more")


def _costs(entries: Sequence[ProfileEntry], total: float) -> tuple[str, ...]:
    seconds = sum(entry.seconds for entry in entries)
    flops = [entry.flops for entry in entries if entry.flops is not None]
    rate = f"{sum(flops) / seconds / 1e9:.2g}" if flops and len(flops) == len(entries) and seconds else ""
    share = f"{seconds / total:.0%}" if total else ""
    return format_seconds(seconds), share, format_bytes(sum(entry.size_bytes for entry in entries)), rate
