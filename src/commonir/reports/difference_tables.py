"""Writes structural differences of two programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.reports.columns import Column
from commonir.reports.layout import ReportWriter, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.reports import Change, Differences, OperationDifference, WeightDifference

DIFFERENCES_SHOWN = 20
_TITLES = {
    "changed": "changed",
    "removed": "only in the first",
    "added": "only in the second",
    "retyped": "differ in type only because their inputs do",
    "renamed": "renamed",
}
_LISTED_ONLY_IF_ALL = ("retyped", "renamed")


class Listed(NamedTuple):
    """Up to how many differences of each category are listed, None for all, and the option that lists all."""

    most: int | None = DIFFERENCES_SHOWN
    option: str = ""

    def rest(self, count: int) -> str:
        """Returns the line that some are left out."""
        return f"  and {count:,} more{f' (`{self.option}`)' if self.option else ''}"


def write_differences(differences: Differences, out: ReportWriter, listed: Listed) -> None:
    """Lists the differences by category."""
    verdict = "the same" if differences.are_same else "different"
    first, second = differences.formats
    out.line(f"{first} against {second}, compared as {differences.compared_as}: {verdict}", Style.STRONG)
    _write_changes("interface", differences.interface, out, listed)
    counts = [f"{differences.same_operations} the same", *_counts(differences)]
    out.line(f"operations: {', '.join(counts)}")
    for kind, title in _TITLES.items():
        entries = differences.of_kind(kind)
        if entries and (listed.most is None or kind not in _LISTED_ONLY_IF_ALL):
            _write_operations(title, entries, out, listed)
    if differences.same_weights or differences.weights:
        beyond = sum(not weight.is_within for weight in differences.weights)
        within = len(differences.weights) - beyond
        apart = [f"{beyond} different", *([f"{within} within the tolerance"] if within else [])]
        out.line(f"weights: {', '.join([f'{differences.same_weights} the same', *apart])}")
        _write_weights(differences.weights, out, listed)
    _write_changes("files", differences.about, out, listed)


def _counts(differences: Differences) -> list[str]:
    counts = {kind: len(differences.of_kind(kind)) for kind in _TITLES}
    return [f"{count} {_TITLES[kind]}" for kind, count in counts.items() if count]


def _write_changes(title: str, changes: Sequence[Change], out: ReportWriter, listed: Listed) -> None:
    if not changes:
        return
    out.line(f"{title}: {plural(len(changes), 'difference')}")
    rows = [(change.what, change.before, change.after) for change in changes[: listed.most]]
    _write_rows((Column(""), Column("first"), Column("second")), rows, len(changes), out, listed)


def _write_rows(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], count: int, out: ReportWriter, listed: Listed
) -> None:
    if rows:
        out.table(columns, rows, indent=2)
    if rows and len(rows) < count:
        out.line(listed.rest(count - len(rows)))


def _write_operations(
    title: str, differences: Sequence[OperationDifference], out: ReportWriter, listed: Listed
) -> None:
    columns = [Column(title), Column("operation"), Column(""), Column("first"), Column("second")]
    rows: list[tuple[str, ...]] = []
    for entry in differences[: listed.most]:
        name = _either(entry.name, entry.other_name)
        operation = _either(entry.operation, entry.other_operation)
        changes = [(change.what, change.before, change.after) for change in entry.changes] or [("", "", "")]
        rows += [
            (name if not n else "", operation if not n else "", *_filled(change)) for n, change in enumerate(changes)
        ]
    entries = len(differences[: listed.most])
    if any(any(row[2:]) for row in rows):
        out.table(columns, rows, indent=2)
    elif rows:
        out.table(columns[:2], [row[:2] for row in rows], indent=2)
    if rows and entries < len(differences):
        out.line(listed.rest(len(differences) - entries))


def _filled(change: tuple[str, str, str]) -> tuple[str, str, str]:
    what, before, after = change
    return (what, before or "nothing", after or "nothing") if what else change


def _either(before: str, after: str) -> str:
    """Returns both names if they differ, otherwise the one that exists."""
    return f"{before} -> {after}" if before and after and before != after else before or after


def _write_weights(differences: Sequence[WeightDifference], out: ReportWriter, listed: Listed) -> None:
    shown = sorted(differences, key=_severity, reverse=True)[: listed.most]
    numbers = [Column(title, is_number=True) for title in ("largest", "relative", "elements apart")]
    is_measured = any(weight.largest is not None for weight in shown)
    columns = [Column("weight"), Column("type"), *(numbers if is_measured else ())]
    rows = [_weight_row(weight, is_measured=is_measured) for weight in shown]
    _write_rows(columns, rows, len(differences), out, listed)


def _severity(weight: WeightDifference) -> tuple[bool, float]:
    return not weight.is_within, weight.relative or 0.0


def _weight_row(weight: WeightDifference, *, is_measured: bool) -> tuple[str, ...]:
    names = _either(weight.name, weight.other_name), _either(weight.type, weight.other_type)
    if not is_measured:
        return names
    if weight.largest is None or weight.relative is None:
        return (*names, "", "", "")
    return (*names, f"{weight.largest:.2g}", f"{weight.relative:.2g}", f"{weight.beyond:,} of {weight.count:,}")
