"""Text on standard output and standard error: color, tables, pages.

Colour, tables that are folded to fit, and progress appear only on a terminal; a pipe or file gets plain text in full.
Every text passes `escape` on its way, except through `raw`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import TextIO

import click

from commonir.base.text import escape, escape_lines
from commonir.cli.columns import Column, needed


class Style(Enum):
    """The role of a piece of text, with its style in click."""

    ERROR = ("red", True)
    WARNING = ("yellow", True)
    NOTE = ("cyan", True)
    GOOD = ("green", True)
    STRONG = (None, True)
    FAINT = ("bright_black", False)

    @property
    def colour(self) -> str | None:
        """Returns the color, by click's name."""
        return self.value[0]

    @property
    def is_bold(self) -> bool:
        """Returns whether it is bold."""
        return self.value[1]


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

    def paragraph(self, text: str) -> None:
        """Writes running text, broken into lines."""
        from shutil import get_terminal_size  # noqa: PLC0415  loads modules for archives

        self.raw(click.wrap_text(escape(text), min(get_terminal_size().columns, 100)) + "\n")

    def pairs(self, rows: Iterable[tuple[str, str]]) -> None:
        """Writes names and values in two columns, without rows that have no value."""
        shown = [(name, value) for name, value in rows if value]
        width = max((len(name) for name, _ in shown), default=0)
        for name, value in shown:
            self.raw(f"{self.styled(name.ljust(width), Style.FAINT)}  {escape(value)}\n")

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]], indent: int = 0) -> None:
        """Writes a table; on a terminal it fits the width."""
        columns, rows = needed(columns, rows)
        cells = [[escape(cell) for cell in row] for row in rows]
        if self.is_terminal:
            # rich takes longer to import than everything else that a small command needs.
            from commonir.cli.pretty import print_table  # noqa: PLC0415

            print_table(self.stream, columns, cells, indent=indent, has_colour=self.has_colour)
        else:
            self.raw(plain_table(columns, cells, indent))

    def markdown(self, text: str) -> None:
        """Writes a page: formatted on a terminal, as Markdown elsewhere."""
        if self.is_terminal:
            from commonir.cli.pretty import print_markdown  # noqa: PLC0415  (as above)

            print_markdown(self.stream, escape_lines(text), has_colour=self.has_colour)
        else:
            self.lines(text)


@contextmanager
def quiet_pipes() -> Generator[None]:
    """Ends a block silently when the reader of the output closes the pipe."""
    try:
        yield
    except BrokenPipeError:
        # The flush at exit must not fail either.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())


def plain_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], indent: int = 0) -> str:
    """Returns a table as text, in full width."""
    titles = [column.title for column in columns]
    lines = [titles, *rows] if any(titles) else list(rows)
    widths = [max((len(line[place]) for line in lines), default=0) for place in range(len(columns))]

    def written(line: Sequence[str]) -> str:
        cells = (
            cell.rjust(width) if column.is_number else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        )
        return " " * indent + "  ".join(cells).rstrip() + "\n"

    return "".join(written(line) for line in lines)
