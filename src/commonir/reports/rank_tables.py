"""Tables of `cir info` for programs of ranks: memory, and the messages between ranks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonir.base.text import format_bytes, plural
from commonir.reports.columns import Column
from commonir.reports.layout import ReportWriter, Style

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commonir.reports import BufferEntry, RanksSummary, RankSummary, TrafficEntry

_MAX_ROWS = 16
"""The number of rows that tables show without `--details`."""
_OF_RANK = re.compile(r"rank(\d+)\.")
_FEW = 2
"""The number of ranks that are named one by one."""


def write_ranks(ranks: RanksSummary, out: ReportWriter, *, in_detail: bool) -> None:
    """Writes memory and traffic; with `in_detail` also all buffers, and messages by tag."""
    if any(rank.size_bytes is not None for rank in ranks.ranks):
        _write_memory(ranks.ranks, out, in_detail=in_detail)
    _write_traffic(ranks, out, in_detail=in_detail)


def rank_pairs(ranks: RanksSummary | None) -> list[tuple[str, str]]:
    """Returns the lines at the beginning of a summary for a program of several ranks."""
    if ranks is None or ranks.world_size == 1:
        return []
    return [("ranks", _ranks_title(ranks)), ("exchange", _traffic_title(ranks))]


def by_name(items: Iterable[tuple[str, str]]) -> list[str]:
    """Returns the inputs or outputs of ranks, those of several ranks once: `x f32[2,4] of rank0 to rank3`.

    `items` are full names such as `rank0.x`, with a text about each; those of one name and text are joined.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for full, text in items:
        of_rank = _OF_RANK.match(full)
        numbers = groups.setdefault((full if of_rank is None else full[of_rank.end() :], text), [])
        numbers += [] if of_rank is None else [int(of_rank[1])]
    out: list[str] = []
    for (name, text), numbers in groups.items():
        is_run = len(numbers) > _FEW and numbers == list(range(numbers[0], numbers[-1] + 1))
        shown = f"rank{numbers[0]} to rank{numbers[-1]}" if is_run else ", ".join([f"rank{n}" for n in numbers])
        out.append(f"{name} {text} of {shown}" if shown else f"{name} {text}")
    return out


def _ranks_title(ranks: RanksSummary) -> str:
    """Returns the number of ranks, missing files and blocked ranks."""
    notes = [
        f"{plural(ranks.missing, 'file')} missing" if ranks.missing else "",
        f"rank {', '.join(map(str, ranks.blocked))} waits forever" if len(ranks.blocked) == 1 else "",
        f"ranks {', '.join(map(str, ranks.blocked))} wait forever" if len(ranks.blocked) > 1 else "",
    ]
    return ", ".join([f"{ranks.world_size:,}", *filter(None, notes)])


def _traffic_title(ranks: RanksSummary) -> str:
    """Returns the total traffic of all ranks in one line."""
    total = ranks.total
    sent = f"{plural(total.messages, 'message')}, {_size(total.size_bytes)}" if total.messages else ""
    barriers = plural(ranks.barriers, "barrier") if ranks.barriers else ""
    unreceived = f"{total.unreceived:,} never received" if total.unreceived else ""
    return ", ".join(filter(None, [sent, barriers, unreceived])) or "none"


def _size(size_bytes: int | None) -> str:
    return "dynamic" if size_bytes is None else format_bytes(size_bytes)


def _write_memory(ranks: Sequence[RankSummary], out: ReportWriter, *, in_detail: bool) -> None:
    out.line()
    out.line("memory", Style.STRONG)
    columns = [
        Column(""),
        Column("buffers", is_number=True),
        Column("bytes", is_number=True),
        Column("needed at once", is_number=True),
        Column("with reuse", is_number=True),
        Column("saved", is_number=True),
        Column("most at"),
    ]
    shown = ranks if in_detail else ranks[:_MAX_ROWS]
    rows = [
        (
            rank.name,
            f"{len(rank.buffers):,}",
            _size(rank.size_bytes),
            _size(rank.peak_bytes),
            _size(rank.reused_bytes),
            _saved(rank),
            rank.peak_operation,
        )
        for rank in shown
    ]
    out.table(columns, rows, indent=2)
    _write_rest(len(ranks) - len(shown), "rank", out)
    if in_detail:
        for rank in ranks:
            _write_buffers(rank, out)


def _saved(rank: RankSummary) -> str:
    if not rank.size_bytes or rank.reused_bytes is None:
        return ""
    return f"{max(0, rank.size_bytes - rank.reused_bytes) / rank.size_bytes:.0%}"


def _write_buffers(rank: RankSummary, out: ReportWriter) -> None:
    out.line()
    out.line(f"buffers of {rank.name}", Style.STRONG)
    columns = [
        Column("", is_number=True),
        Column(""),
        Column("bytes", is_number=True),
        Column("for"),
        Column("first use"),
        Column("last use"),
        Column("needed", is_number=True),
        Column("offset with reuse", is_number=True),
    ]
    out.table(columns, [_buffer_row(buffer) for buffer in rank.buffers], indent=2)


def _buffer_row(buffer: BufferEntry) -> Sequence[str]:
    return (
        str(buffer.buffer),
        buffer.name,
        format_bytes(buffer.size_bytes),
        ", ".join(buffer.kinds),
        "" if buffer.first is None else f"{buffer.first} {buffer.first_operation}",
        "" if buffer.last is None else f"{buffer.last} {buffer.last_operation}",
        "" if buffer.lives_from is None else f"{buffer.lives_from}-{buffer.lives_to}",
        "" if buffer.offset is None else f"{buffer.offset:,}",
    )


def _write_traffic(ranks: RanksSummary, out: ReportWriter, *, in_detail: bool) -> None:
    entries = ranks.traffic if in_detail else ranks.by_pair()
    if not entries:
        return
    out.line()
    out.line("messages", Style.STRONG)
    shown = entries if in_detail else entries[:_MAX_ROWS]
    has_lost = any(entry.unreceived for entry in shown)
    columns = [
        Column("from", is_number=True),
        Column("to", is_number=True),
        *([Column("tag", is_number=True)] if in_detail else []),
        Column("messages", is_number=True),
        Column("bytes", is_number=True),
        *([Column("never received", is_number=True)] if has_lost else []),
    ]
    rows = [_traffic_row(entry, has_tag=in_detail, has_lost=has_lost) for entry in shown]
    out.table(columns, rows, indent=2)
    _write_rest(len(entries) - len(shown), "pair", out)


def _traffic_row(entry: TrafficEntry, *, has_tag: bool, has_lost: bool) -> Sequence[str]:
    return (
        str(entry.source),
        str(entry.destination),
        *(["all-reduce" if entry.tag is None else str(entry.tag)] if has_tag else []),
        f"{entry.messages:,}",
        _size(entry.size_bytes),
        *([f"{entry.unreceived:,}" if entry.unreceived else ""] if has_lost else []),
    )


def _write_rest(count: int, noun: str, out: ReportWriter) -> None:
    if count > 0:
        out.line(f"  {plural(count, noun)} more: `--details` lists all")
