"""The one place that uses rich: formatted pages and progress, on terminals only."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


def print_markdown(stream: TextIO, text: str, *, has_colour: bool) -> None:
    """Writes a Markdown page. The text must be harmless."""
    _console(stream, has_colour).print(Markdown(text))


class ProgressDisplay:
    """A line with the current stage, the progress and the elapsed time."""

    __slots__ = ("_progress", "_task")

    def __init__(self, stream: TextIO, label: str, total: int | None, done: int, *, has_colour: bool) -> None:
        counts = (BarColumn(), MofNCompleteColumn()) if total else ()
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            *counts,
            TimeElapsedColumn(),
            console=_console(stream, has_colour),
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
