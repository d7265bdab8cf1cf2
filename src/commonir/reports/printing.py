"""Reports as plain text, and as HTML for notebooks: what the command line shows, without a terminal.

HTML has no colours of its own, so that it fits light and dark pages, and no scripts; all texts are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from commonir.base.advice import in_python
from commonir.base.text import escape, escape_html
from commonir.reports import Comparison, Differences, Entries, Profile, ProfileComparison, Report, Summary
from commonir.reports.columns import Column, table_lines
from commonir.reports.comparison_tables import write_comparison
from commonir.reports.difference_tables import Listed, write_differences
from commonir.reports.layout import ReportWriter, Style
from commonir.reports.profile_tables import write_profile, write_profiles
from commonir.reports.summary_tables import SummaryParts, write_summary

_ON_ONE_LINE = ";white-space:nowrap"
_USUAL_MOST = 50
"""The number of rows of a table in a notebook."""


class TextWriter:
    """Collects the lines of a report, in full."""

    __slots__ = ("lines",)

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str = "", style: Style | None = None) -> None:
        """Writes a line."""
        del style
        self.lines.append(in_python(escape(text)))

    def heading(self, text: str) -> None:
        """Writes a line."""
        self.lines.append(escape(text))

    def pairs(self, rows: Iterable[tuple[str, str]]) -> None:
        """Writes names and values in two columns, without rows that have no value."""
        shown = [(name, escape(value)) for name, value in rows if value]
        margin = max((len(name) for name, _ in shown), default=0) + 2
        self.lines += [f"{name.ljust(margin)}{in_python(value)}" for name, value in shown]

    def table(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[str]],
        indent: int = 0,
        *,
        most: int | None = None,
        rest: str = "",
    ) -> None:
        """Writes a table with all its rows."""
        del most, rest
        titles, lines = table_lines(columns, [[escape(cell) for cell in row] for row in rows], indent)
        self.lines += [*titles, *lines]


class HtmlWriter:
    """Collects the elements of a report, with about 50 rows of a table."""

    __slots__ = ("elements",)

    def __init__(self) -> None:
        self.elements: list[str] = []

    def line(self, text: str = "", style: Style | None = None) -> None:
        """Writes a line; an empty one separates nothing, because elements have margins."""
        if text:
            shown = escape_html(in_python(escape(text.strip())))
            self.elements.append(f"<div>{f'<b>{shown}</b>' if style is Style.STRONG else shown}</div>")

    def heading(self, text: str) -> None:
        """Writes a line in bold."""
        self.line(text, Style.STRONG)

    def pairs(self, rows: Iterable[tuple[str, str]]) -> None:
        """Writes names and values as a table, without rows that have no value."""
        self.table([Column(""), Column("")], [(name, in_python(value)) for name, value in rows if value])

    def table(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[str]],
        indent: int = 0,
        *,
        most: int | None = None,
        rest: str = "",
    ) -> None:
        """Writes a table; the number of rows that are left out is in a line after it."""
        del indent, rest
        used = [n for n, c in enumerate(columns) if (c.title and not c.is_optional) or any(row[n] for row in rows)]
        limit = most or _USUAL_MOST
        shown = rows[:limit] if len(rows) > limit + 1 else rows
        head = [columns[n].title for n in used]
        body = [[row[n] for n in used] for row in shown]
        numbers = [columns[n].is_number for n in used]
        parts = [_row(head, numbers, "th")] if any(head) else []
        self.elements.append(f"<table>{''.join([*parts, *[_row(cells, numbers, 'td') for cells in body]])}</table>")
        if len(shown) < len(rows):
            self.line(f"and {len(rows) - len(shown):,} others")


def _row(cells: Sequence[str], numbers: Sequence[bool], tag: str) -> str:
    sides = ["right" if is_number else "left" for is_number in numbers]
    shown = [
        f'<{tag} style="text-align:{side}{_ON_ONE_LINE if side == "right" else ""}">{escape_html(escape(c))}</{tag}>'
        for c, side in zip(cells, sides, strict=True)
    ]
    return f"<tr>{''.join(shown)}</tr>"


def write_report(report: Report, out: ReportWriter) -> None:
    """Writes a report as the command does that prints it; of others, its fields."""
    match report:
        case Summary():
            write_summary(report, report.heading, out, SummaryParts())
        case Comparison():
            write_comparison(report, out, is_complete=False)
        case Profile():
            write_profile(report, out)
        case ProfileComparison():
            write_profiles(report, out)
        case Differences():
            write_differences(report, out, Listed())
        case _:
            out.heading(report.heading or type(report).__name__)
            out.pairs([(name.replace("_", " "), _cell(getattr(report, name))) for name in report.fields()])


def report_text(report: Report) -> str:
    """Returns a report as text."""
    out = TextWriter()
    write_report(report, out)
    return "\n".join(out.lines)


def report_html(report: Report) -> str:
    """Returns a report as an HTML element."""
    return html_of(lambda out: write_report(report, out))


def entries_text(entries: Sequence[Report]) -> str:
    """Returns reports of one class as the text of a table."""
    out = TextWriter()
    _write_entries(entries, out)
    return "\n".join(out.lines)


def entries_html(entries: Sequence[Report]) -> str:
    """Returns reports of one class as a table in HTML."""
    return html_of(lambda out: _write_entries(entries, out))


def _write_entries(entries: Sequence[Report], out: ReportWriter) -> None:
    """Writes a table with a row for each report and a column for each field that some of them have."""
    if entries:
        names = entries[0].fields()
        values = [[getattr(entry, name) for entry in entries] for name in names]
        columns = [
            Column(name.replace("_", " "), all(isinstance(v, int | float) for v in of_field), is_optional=True)
            for name, of_field in zip(names, values, strict=True)
        ]
        out.table(columns, [[_cell(v) for v in row] for row in zip(*values, strict=True)])


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case Entries():
            return repr(value) if value else ""
        case float():
            return f"{value:.4g}"
        case tuple() | list():
            return ", ".join([_cell(part) for part in value])  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  fields have parts of any type
        case _:
            return value if isinstance(value, str) else repr(value)


def html_of(write: Callable[[ReportWriter], None]) -> str:
    """Returns the output of a function as an HTML element."""
    out = HtmlWriter()
    write(out)
    return f'<div class="commonir">{"".join(out.elements)}</div>'
