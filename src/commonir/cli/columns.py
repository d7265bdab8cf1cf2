"""The columns of tables."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.tuples import NamedTuple


class Column(NamedTuple):
    """A column of a table. Numbers are aligned to the right; an optional column is left out where it is empty."""

    title: str
    is_number: bool = False
    is_optional: bool = False


NODE = Column("node", is_optional=True)
"""The names that the file gives its nodes, where they are not those of values."""


def needed(
    columns: Sequence[Column], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[Column], Sequence[Sequence[str]]]:
    """Returns the columns and rows of a table without optional columns that are empty."""
    empty = {n for n, c in enumerate(columns) if c.is_optional and not any(row[n] for row in rows)}
    if not empty:
        return columns, rows
    return [c for n, c in enumerate(columns) if n not in empty], [
        [cell for n, cell in enumerate(row) if n not in empty] for row in rows
    ]
