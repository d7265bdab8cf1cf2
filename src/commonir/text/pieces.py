"""Files of several programs, separated by lines `// -----`, as mlir-opt's option `--split-input-file` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonir.base.lazy import lazy_pattern
from commonir.base.text import PIECE_SEPARATOR
from commonir.base.tuples import NamedTuple

_SEPARATOR_LINE = lazy_pattern(rf"^[ \t]*{PIECE_SEPARATOR}[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


class Piece(NamedTuple):
    """The text of one program."""

    text: str
    lines_before: int
    """Lines of the file before it."""


def pieces_of(source: str) -> Iterator[Piece]:
    """Returns the programs of a text, in order; the whole text if it has no separator line."""
    start, before = 0, 0
    for line in _SEPARATOR_LINE.finditer(source):
        piece = source[start : line.start()]
        yield Piece(piece, before)
        before += piece.count("\n") + 1
        start = line.end()
    yield Piece(source[start:], before)
