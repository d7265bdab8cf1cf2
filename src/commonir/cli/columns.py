"""The columns of tables."""

from __future__ import annotations

from commonir.base.tuples import NamedTuple


class Column(NamedTuple):
    """A column of a table; numbers are aligned to the right."""

    title: str
    is_number: bool = False
