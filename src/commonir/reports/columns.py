"""Tables: columns that are as wide as their cells, and fit the terminal.

Where a table is wider than the terminal, columns of sentences are folded between words. If that is not enough, the
widest columns become narrower, and a cell that is longer than its column stands on a line of its own. If that is not
enough either, each row takes several lines, with as many columns as fit on each. What is longer than a line is folded
after punctuation. Nothing is cut off.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from commonir.base.tuples import NamedTuple

_GAP = 2
_CONTINUED = 4
"""The indentation of the further lines of a row."""
_MIN_SENTENCE = 24
"""The width below which a column is not folded between words."""
_MIN_NAME = 16
"""The width below which a column does not become narrower than its cells."""
_BREAKS = re.compile(r"[\s,/:;=<(\[{_.\-]|(?<=[\d?\"])x")
"""Characters after which a long cell is folded: separators of paths, names and lists, and between the dims of types."""


class Column(NamedTuple):
    """A column of a table. Numbers are aligned to the right; an optional column is left out where it is empty."""

    title: str
    is_number: bool = False
    is_optional: bool = False


NODE = Column("node", is_optional=True)
"""The names that the file gives its nodes, where they are not those of values."""


def text_width(text: str) -> int:
    """Returns the number of columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "FW" else 1 for char in text
    )


def table_lines(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], indent: int = 0, width: int | None = None
) -> tuple[list[str], list[str]]:
    """Returns the lines of the titles, if there are any, and of the rows of a table, within a width or in full.

    Columns without any text take no room, nor do optional ones with a title alone. No line ends with spaces.
    """
    titles = [column.title for column in columns]
    used = [n for n, c in enumerate(columns) if (c.title and not c.is_optional) or any(row[n] for row in rows)]
    has_titles = any(titles[n] for n in used)
    cells = [[row[n] for n in used] for row in ([titles, *rows] if has_titles else rows)]
    widths = [max(text_width(row[n]) for row in cells) for n in range(len(used))]
    numbers = [columns[n].is_number for n in used]
    layout = _RowLayout(widths, numbers, indent, width)
    if width is not None and layout.end > width:
        layout = _fitting(cells, layout, width)
    lines = [layout.lines(row) for row in cells]
    count = 1 if has_titles else 0
    return [line for row in lines[:count] for line in row], [line for row in lines[count:] for line in row]


class _RowLayout:
    """How rows become lines: the place of each column, and the columns that begin a new line."""

    __slots__ = ("_breaks", "_starts", "end", "indent", "is_folded", "numbers", "width", "widths")

    def __init__(
        self,
        widths: Sequence[int],
        numbers: Sequence[bool],
        indent: int,
        width: int | None,
        *,
        is_folded: bool = False,
        is_packed: bool = False,
    ) -> None:
        self.widths: list[int] = []
        self.numbers = numbers
        self.indent = indent
        self.width = width
        self.is_folded = is_folded
        self._starts: list[int] = []
        self._breaks: set[int] = set()
        self.end = indent
        for n, own in enumerate(widths):
            at = self.end + (_GAP if n else 0)
            if is_packed and n and width is not None and at + own > width:
                self._breaks.add(n)
                at = indent + _CONTINUED
                own = min(own, max(width - at, 1))
            self._starts.append(at)
            self.widths.append(own)
            self.end = at + own

    def lines(self, row: Sequence[str]) -> list[str]:
        """Returns the lines of a row."""
        out: list[str] = []
        top = 0
        for n, cell in enumerate(row):
            at, own = self._starts[n], self.widths[n]
            if n in self._breaks:
                top = len(out)
            size = text_width(cell)
            if size <= own:
                _put(out, top, at, [" " * (own - size) + cell if self.numbers[n] else cell] if cell else [])
            elif self.is_folded:
                _put(out, top, at, fold(cell, own))
            else:
                # What is too wide for its column ends the line.
                at = at if at + size <= (self.width or 0) else self.indent + (_CONTINUED if n else 0)
                is_free = n == 0 or (at == self._starts[n] and all(text_width(line) < at for line in out[top:]))
                _put(out, top if is_free else len(out), at, fold(cell, max((self.width or 0) - at, 1)))
                top = len(out)
        return [line.rstrip() for line in out] or [""]


def _put(out: list[str], top: int, at: int, cells: Sequence[str]) -> None:
    """Writes the lines of a cell into lines, from the line `top` and the column `at` on."""
    out += [""] * (top + len(cells) - len(out))
    for n, cell in enumerate(cells, top):
        out[n] += " " * (at - text_width(out[n])) + cell


def _fitting(cells: Sequence[Sequence[str]], full: _RowLayout, width: int) -> _RowLayout:
    """Returns the layout of a table that is too wide for one line for each row."""
    excess = full.end - width
    words = [max(text_width(word) for row in cells for word in row[n].split(" ")) for n in range(len(full.widths))]
    folded = _narrowed(full.widths, [max(_MIN_SENTENCE, word) for word in words], excess)
    if folded is not None:
        return _RowLayout(folded, full.numbers, full.indent, width, is_folded=True)
    names = [own if is_number else _MIN_NAME for own, is_number in zip(full.widths, full.numbers, strict=True)]
    narrow = _narrowed(full.widths, names, excess)
    if narrow is not None:
        return _RowLayout(narrow, full.numbers, full.indent, width)
    return _RowLayout(
        [min(own, width - full.indent) for own in full.widths], full.numbers, full.indent, width, is_packed=True
    )


def _narrowed(widths: Sequence[int], least: Sequence[int], excess: int) -> list[int] | None:
    """Returns widths of columns that are together smaller by `excess`, the widest first; None if that is too much."""
    out = list(widths)
    while excess > 0:
        widest = max(range(len(out)), key=lambda n: (out[n] > least[n], out[n]))
        taken = min(excess, out[widest] - least[widest])
        if taken <= 0:
            return None
        out[widest] -= taken
        excess -= taken
    return out


def fold(text: str, width: int, hanging: int = 0) -> list[str]:
    """Returns a text in lines of a width: broken between words, a long word after punctuation, otherwise anywhere.

    Lines after the first are indented by `hanging`.
    """
    out: list[str] = []
    margin = ""
    while text_width(text) > width - len(margin):
        fits = max(_count_within(text, width - len(margin)), 1)
        # A space at the end of a line is left out.
        space = text.rfind(" ", 1, fits + 1)
        at = space + 1 if space > 0 else _last_break(text, fits)
        out.append(margin + text[:at].rstrip())
        text = text[at:].lstrip(" ")
        margin = " " * hanging
    return [*out, margin + text] if text or not out else out


def _last_break(text: str, fits: int) -> int:
    """Returns where a word is best broken within some characters, between the folders of a path if it is one."""
    folder = text.rfind("/", 0, fits) + 1
    breaks = [match.end() for match in _BREAKS.finditer(text, 0, fits)]
    return next((at for at in (folder, *breaks[-1:]) if at * 3 > fits), fits)


def _count_within(text: str, width: int) -> int:
    """Returns how many characters fit into a width."""
    if text.isascii():
        return width
    total = 0
    for n, char in enumerate(text):
        total += text_width(char)
        if total > width:
            return n
    return len(text)


def type_text(type: str) -> str:
    """Returns a type as tables show it: `string[3]`, not `!builtin.string[3]`; `map<tensor<string>, tensor<f64>>`."""
    return type.replace("!builtin.", "")
