"""The words of the text form of ONNX, and where they stand.

Comments go from `#` to the end of the line. Source: ONNX textual syntax (docs/Syntax.md of ONNX 1.23).
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NoReturn

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import MALFORMED_ONNX_TEXT
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple


class TokenKind(Enum):
    """The type of a token."""

    NAME = auto()
    TEXT = auto()
    INTEGER = auto()
    FLOAT = auto()
    MARK = auto()
    END = auto()


class Word(NamedTuple):
    """One word, and the number of its line."""

    kind: TokenKind
    text: str
    line: int


_WORD = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*)
      | (?P<FLOAT>[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)|-(?:nan|inf|infinity)\b)
      | (?P<INTEGER>[-+]?\d+)
      | (?P<NAME>[A-Za-z_][A-Za-z0-9_]*)
      | "(?P<TEXT>(?:[^"\\]|\\.)*)"
      | (?P<MARK>=>|[(){}\[\]<>=,:@?.])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
# More than any number of 64 bits has.
_MOST_DIGITS = 40
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def words_of(source: str, file: str) -> list[Word]:
    """The words of a text, with one for its end. Raises: MALFORMED_ONNX_TEXT."""
    out: list[Word] = []
    at, line = 0, 1
    while at < len(source):
        m = _WORD.match(source, at)
        if m is None:
            fail(f"unexpected '{escape(source[at])}'", line, file)
        group = m.lastgroup or ""
        if group != "skip":
            text = m.group(group)
            if group == "INTEGER" and len(text) > _MOST_DIGITS:
                fail(f"an integer of {len(text)} digits", line, file)
            out.append(Word(TokenKind[group], _ESCAPED.sub(r"\1", text) if group == "TEXT" else text, line))
        line += source.count("\n", at, m.end())
        at = m.end()
    out.append(Word(TokenKind.END, "", line))
    return out


def fail(message: str, line: int, file: str) -> NoReturn:
    """Raises: MALFORMED_ONNX_TEXT."""
    raise DiagnosticError(Diagnostic(MALFORMED_ONNX_TEXT, message, file=file or None, line=line))


def quoted(text: str) -> str:
    """A text as it stands in quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def named(text: str) -> str:
    """A name, in quotes where it is not an identifier."""
    return text if IDENTIFIER.fullmatch(text) else quoted(text)
