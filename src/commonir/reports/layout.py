"""Outputs of reports: a terminal, text, or HTML.

A report is written once, as lines, pairs and tables; each destination decides how they look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Protocol

from commonir.reports.columns import Column


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


class ReportWriter(Protocol):
    """Writes the parts of reports. It escapes all texts."""

    def line(self, text: str = "", style: Style | None = None) -> None:
        """Writes a line."""
        ...

    def heading(self, text: str) -> None:
        """Writes a line in bold."""
        ...

    def pairs(self, rows: Iterable[tuple[str, str]]) -> None:
        """Writes names and values in two columns, without rows that have no value."""
        ...

    def table(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[str]],
        indent: int = 0,
        *,
        most: int | None = None,
        rest: str = "",
    ) -> None:
        """Writes a table; where room is scarce, about `most` rows, and that the option `rest` shows the others."""
        ...
