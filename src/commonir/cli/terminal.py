"""Text on standard output and standard error: color, tables, pages.

Colour, tables that are folded to fit, and progress appear only on a terminal; a pipe or file gets plain text in full.
Every text passes `escape` on its way, except through `raw`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

import click

from commonir.base.text import escape, escape_lines
from commonir.reports.columns import Column, fold, table_lines
from commonir.reports.layout import Style

_USUAL_WIDTH = 80
_LONGEST_LINE = 100
"""The width of running text."""


class Terminal:
    """Standard output or standard error."""

    __slots__ = ("has_colour", "is_error", "is_terminal")

    def __init__(self, *, is_error: bool = False) -> None:
        self.is_error = is_error
        self.is_terminal = self.stream.isatty()
        self.has_colour = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    @property
    def stream(self) -> TextIO:
        """Returns the stream, looked up at each use so that a test can replace it."""
        return sys.stderr if self.is_error else sys.stdout

    def raw(self, text: str) -> None:
        """Writes text without escaping; it must be harmless."""
        click.echo(text, file=self.stream, nl=False, color=self.has_colour)

    def line(self, text: str = "", style: Style | None = None) -> None:
        """Writes a line."""
        self.raw(self.styled(escape(text), style) + "\n")

    def lines(self, text: str) -> None:
        """Writes a text of several lines."""
        self.raw(escape_lines(text if text.endswith("\n") else text + "\n"))

    def styled(self, text: str, style: Style | None) -> str:
        """Returns the text in a style, if color is on. The text must be harmless."""
        if style is None or not self.has_colour:
            return text
        return click.style(text, fg=style.colour, bold=style.is_bold or None)

    @property
    def width(self) -> int | None:
        """Returns the number of columns of the terminal, None in a pipe or file, where lines have any length."""
        if not self.is_terminal:
            return None
        with suppress(ValueError):
            if (columns := int(os.environ.get("COLUMNS", ""))) > 0:
                return columns
        try:
            return os.get_terminal_size(self.stream.fileno()).columns or _USUAL_WIDTH
        except OSError:
            return _USUAL_WIDTH

    def paragraph(self, text: str) -> None:
        """Writes running text, broken into lines."""
        width = min(self.width or _USUAL_WIDTH, _LONGEST_LINE)
        self.raw("".join(line + "\n" for line in fold(escape(text), width)))

    def heading(self, text: str) -> None:
        """Writes a line in bold; on a terminal it is broken where it is too long, and its rest is indented."""
        lines = fold(escape(text), self.width, hanging=2) if self.width else [escape(text)]
        self.raw("".join(self.styled(line, Style.STRONG) + "\n" for line in lines))

    def pairs(self, rows: Iterable[tuple[str, str]]) -> None:
        """Writes names and values in two columns, without rows that have no value."""
        shown = [(name, escape(value)) for name, value in rows if value]
        margin = max((len(name) for name, _ in shown), default=0) + 2
        for name, value in shown:
            lines = [value] if self.width is None else fold(value, max(self.width - margin, 1))
            self.raw(f"{self.styled(name.ljust(margin), Style.FAINT)}{lines[0]}\n")
            self.raw("".join(f"{' ' * margin}{line}\n" for line in lines[1:]))

    def table(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[str]],
        indent: int = 0,
        *,
        most: int | None = None,
        rest: str = "",
    ) -> None:
        """Writes a table; on a terminal it fits the width.

        With `most`, a terminal shows about so many rows, how many others there are, and that the option `rest` shows
        them.
        """
        # A line for a single row takes as much room as the row.
        count = most if self.is_terminal and most is not None and len(rows) > most + 1 else len(rows)
        cells = [[escape(cell) for cell in row] for row in rows[:count]]
        titles, lines = table_lines(columns, cells, indent, self.width)
        self.raw("".join([self.styled(line, Style.STRONG) + "\n" for line in titles]))
        self.raw("".join([line + "\n" for line in lines]))
        if count < len(rows):
            self.line(f"{' ' * indent}and {len(rows) - count:,} others: {rest}")

    def markdown(self, text: str) -> None:
        """Writes a page: formatted on a terminal, as Markdown elsewhere."""
        if self.is_terminal:
            from commonir.cli.pretty import print_markdown  # noqa: PLC0415  rich is slow to import

            print_markdown(self.stream, escape_lines(text), has_colour=self.has_colour)
        else:
            self.lines(text)


@contextmanager
def quiet_pipes() -> Generator[None]:
    """Ends a block silently when the reader of the output closes the pipe."""
    try:
        yield
    except BrokenPipeError:
        discard(sys.stdout, sys.stderr)


def discard(*streams: TextIO) -> None:
    """Discards what is written from now on and what waits to be written, so that the flush at exit cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
