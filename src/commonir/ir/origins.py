"""Locations of operations: positions in texts, and names of source operations."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import ClassVar, Self

from commonir.base.diagnostics import Diagnostic
from commonir.base.text import escape
from commonir.ir.interning import Interned
from commonir.ir.locations import LocationAttr


class Location(Interned):
    """The location of an operation: a position in a text, and the name of the source operation."""

    __slots__ = ("file", "line", "column", "name")  # noqa: RUF023  the order of `_intern`

    file: str
    line: int
    column: int
    name: str

    def __new__(cls, file: str = "", line: int = 0, column: int = 0, name: str = "") -> Self:
        return cls._intern(file, line, column, name)

    def __str__(self) -> str:
        position = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return " ".join(part for part in (position, f"'{self.name}'" if self.name else "") if part)

    def __repr__(self) -> str:
        return f"<Location {escape(str(self)) or 'unknown'}>"


class TextLines:
    """The offsets at which the lines of a text begin, computed when first needed."""

    __slots__ = ("_starts", "_text", "_wide", "before", "file")

    def __init__(self, file: str, before: int = 0) -> None:
        self.file = file
        self.before = before
        """Lines of the file before the text."""
        self._text: str | None = None
        self._wide: str = ""
        self._starts: Sequence[int] = ()

    def set_text(self, text: str, *, is_retained: bool) -> None:
        """Sets the text. Its lines are counted lazily if the text stays in memory anyway."""
        self._wide = "" if text.isascii() else text
        if is_retained:
            self._text = text
        else:
            self._starts = starts_of_lines(text)

    @property
    def starts(self) -> Sequence[int]:
        """The offset at which each line begins."""
        text = self._text
        if text is not None:
            self._starts, self._text = starts_of_lines(text), None
        return self._starts

    def column(self, offset: int) -> int:
        """Returns the column of an offset from 1, counted in bytes."""
        start = self.starts[bisect_right(self.starts, offset) - 1]
        length = len(self._wide[start:offset].encode("utf-8", "surrogateescape")) if self._wide else offset - start
        return length + 1

    def place(self, offset: int) -> tuple[int, int]:
        """Returns line and column of an offset, twice as fast as computing them separately."""
        if self._wide:
            return bisect_right(self.starts, offset) + self.before, self.column(offset)
        number = bisect_right(self.starts, offset)
        return number + self.before, offset - self.starts[number - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Returns the offset of a line of the file and a column."""
        start = self.starts[line - self.before - 1]
        if not self._wide:
            return start + column - 1
        encoded = self._wide[start : start + column].encode("utf-8", "surrogateescape")[: column - 1]
        return start + len(encoded.decode("utf-8", "surrogateescape"))


def starts_of_lines(text: str) -> Sequence[int]:
    """Returns the offset at which each line of a text begins."""
    return array("q", [0, *[match.end() for match in re.finditer("\n", text)]])


class TextLocation:
    """A position in a text, whose line and column are computed when needed."""

    __slots__ = ("lines", "offset")

    name: ClassVar[str] = ""

    def __init__(self, lines: TextLines, offset: int) -> None:
        self.lines = lines
        self.offset = offset

    @property
    def file(self) -> str:
        """The file of the text."""
        return self.lines.file

    @property
    def line(self) -> int:
        """The line, from 1."""
        return bisect_right(self.lines.starts, self.offset) + self.lines.before

    @property
    def column(self) -> int:
        """The column in bytes, from 1."""
        return self.lines.column(self.offset)

    @property
    def place(self) -> tuple[int, int]:
        """Line and column."""
        return self.lines.place(self.offset)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


Origin = Location | TextLocation | LocationAttr
"""The location of an operation or an argument in its source."""


def located_at(diagnostic: Diagnostic, origin: Origin | None) -> Diagnostic:
    """Returns a diagnostic with the line and column of its origin, if that is a text."""
    if not isinstance(origin, TextLocation) or diagnostic.line is not None:
        return diagnostic
    result = diagnostic.located(file=origin.file)
    if result.file == origin.file:
        result.line, result.column = origin.line, origin.column
    return result
