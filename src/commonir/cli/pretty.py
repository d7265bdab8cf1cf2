"""The one place that uses rich: tables that fit, formatted pages and progress, all on terminals only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from commonir.cli.columns import Column


def print_table(
    stream: TextIO, columns: Sequence[Column], rows: Sequence[Sequence[str]], *, indent: int, has_colour: bool
) -> None:
    """Writes a table within the width of the terminal, folding cells that are too long. Cells must be harmless."""
    has_titles = any(column.title for column in columns)
    table = Table(box=None, show_header=has_titles, header_style="bold", pad_edge=False, padding=(0, 1))
    for column in columns:
        table.add_column(Text(column.title), justify="right" if column.is_number else "left", overflow="fold")
    for row in rows:
        # `Text`, not markup: brackets in names are not tags.
        table.add_row(*(Text(cell) for cell in row))
    _console(stream, has_colour).print(Padding(table, (0, 0, 0, indent), expand=False))


def print_markdown(stream: TextIO, text: str, *, has_colour: bool) -> None:
    """Writes a Markdown page. The text must be harmless."""
    _console(stream, has_colour).print(Markdown(text))


class ProgressDisplay:
    """A line with the current stage, the progress and the elapsed time."""

    __slots__ = ("_progress", "_task")

    def __init__(self, stream: TextIO, label: str, total: int | None, done: int) -> None:
        counts = (BarColumn(), MofNCompleteColumn()) if total else ()
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            *counts,
            TimeElapsedColumn(),
            console=_console(stream, has_colour=True),
            transient=True,
        )
        self._task = self._progress.add_task(label, total=total, completed=done)
        self._progress.start()

    def update(self, label: str, done: int) -> None:
        """Shows another stage or step."""
        self._progress.update(self._task, description=label, completed=done)

    def stop(self) -> None:
        """Removes the line."""
        self._progress.stop()


def _console(stream: TextIO, has_colour: bool) -> Console:
    return Console(file=stream, markup=False, emoji=False, highlight=False, no_color=not has_colour)
