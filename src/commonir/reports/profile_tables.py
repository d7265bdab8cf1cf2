"""Writes profiles: time, memory and rate of a program, its operations and their types."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from commonir.base.text import format_bytes, plural
from commonir.reports.columns import NODE, Column
from commonir.reports.layout import ReportWriter, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.reports import Profile, ProfileEntry

_SHOWN = 15


def write_profile(result: Profile, out: ReportWriter, *, is_complete: bool = False) -> None:
    """Writes a profile: the program, its operations by type, and the slowest or all of them in order."""
    out.line(f"{result.function} on {result.engine}: {_time(result.seconds)} a run", Style.STRONG)
    total = sum(entry.seconds for entry in result.entries)
    out.pairs(
        [
            ("first run", f"{_time(result.first_seconds)}, including preparation"),
            ("fastest", f"{_time(result.least_seconds)} of {plural(result.repeat, 'run')}"),
            ("operations", f"{len(result.entries):,}, {_time(total)} when run separately"),
            ("of that", f"{_time(result.call_seconds)} call overhead for each"),
            ("memory", f"{format_bytes(result.peak_bytes)} of values needed at once, without weights"),
        ]
    )
    by_name: defaultdict[str, list[ProfileEntry]] = defaultdict(list)
    for entry in result.entries:
        by_name[entry.operation or ", ".join(entry.operations)].append(entry)
    rows = [(name, f"{len(own):,}", *_costs(own, total)) for name, own in by_name.items()]
    order = sorted(zip(rows, by_name.values(), strict=True), key=lambda pair: -sum(e.seconds for e in pair[1]))
    numbers = [Column(title, is_number=True) for title in ("time", "share", "output bytes", "GFLOP/s")]
    out.table([Column("operation"), Column("number", is_number=True), *numbers], [row for row, _ in order[:_SHOWN]])
    if len(order) > _SHOWN:
        out.line(f"and {plural(len(order) - _SHOWN, 'operation')} more")
    shown = result.entries if is_complete else sorted(result.entries, key=lambda e: -e.seconds)[:_SHOWN]
    out.line("in order:" if is_complete else "slowest operations:")
    columns = [Column("value"), NODE, Column("operation"), Column("type"), *numbers]
    rows = [(e.name, e.node, e.operation or ", ".join(e.operations), e.type, *_costs([e], total)) for e in shown]
    out.table(columns, rows)


def _costs(entries: Sequence[ProfileEntry], total: float) -> tuple[str, ...]:
    seconds = sum(entry.seconds for entry in entries)
    flops = [entry.flops for entry in entries if entry.flops is not None]
    rate = f"{sum(flops) / seconds / 1e9:.2g}" if flops and len(flops) == len(entries) and seconds else ""
    share = f"{seconds / total:.0%}" if total else ""
    return _time(seconds), share, format_bytes(sum(entry.size_bytes for entry in entries)), rate


def _time(seconds: float) -> str:
    """Returns a time with a suitable unit."""
    for unit, length in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
