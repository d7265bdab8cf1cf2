"""Tokens of MIL text, and its words.

Source: texts that Apple's compiler wrote, and texts by hand that it accepts; comments and quoted names are ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import MALFORMED_MIL_TEXT
from commonir.dialects.mil.base import VERSIONS, text_name
from commonir.formats.coreml.names import IDENTIFIER
from commonir.text.lexer import TokenStream

SCALAR_SYNTAX = "1.0"
"""The version whose scalars are tensors without dimensions: `tensor<int32, []>(1)`."""
PLAIN_SYNTAX = "1.3"
"""The version whose scalars are plain: `int32(1)`."""

OPSETS: Mapping[str, str] = MappingProxyType({version: text_name(version) for version in VERSIONS})
"""Operation sets as texts name them."""
OPSETS_BY_NAME: Mapping[str, str] = MappingProxyType({name: opset for opset, name in OPSETS.items()})

# Possessive: what separates tokens is never divided in another way, which would take exponential time.
_BLANK = r"(?:[ \t\r\n\f\v]++|//[^\n]*+)*+"
_HEX = r"0[xX](?:[0-9A-Fa-f]++\.?[0-9A-Fa-f]*+|\.[0-9A-Fa-f]++)(?:[pP][+-]?\d++)?"
_DECIMAL = r"(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?"
_DEFINITION = re.compile(r"[\w>]\s+([A-Za-z_][A-Za-z0-9_@]*+)\s*(?==|,[^;=]{0,200}=)", re.ASCII)
_AFTER_TYPE = frozenset("<(")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_ESCAPED = {char: f"\\{letter}" for letter, char in _NAMED.items()}
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f]')


class MilScanner(TokenStream):
    """Moves over one MIL text."""

    tokens = re.compile(
        _BLANK + r"(?:(?P<word>[A-Za-z_][A-Za-z0-9_@]*+)"
        r"|(?P<mark>->|\.\.\.|[,=<>(){}\[\]?;])"
        rf"|(?P<number>[+-]?(?:{_HEX}|{_DECIMAL})|[+-](?:inf(?:inity)?|nan)(?![A-Za-z0-9_@]))"
        r'|(?P<string>"(?:[^"\\]++|\\.)*+")'
        r"|(?P<end>\Z))",
        re.ASCII | re.DOTALL,
    )
    blank = re.compile(_BLANK)
    malformed = MALFORMED_MIL_TEXT

    def place_missing(self) -> int:
        return self.start

    @cached_property
    def definitions(self) -> Mapping[str, Sequence[int]]:
        """The offsets at which statements seem to define a name, in order, by name."""
        out: dict[str, list[int]] = {}
        for match in _DEFINITION.finditer(self.source):
            out.setdefault(match[1], []).append(match.start(1))
        return out

    def following(self) -> str:
        """The character that follows the current token; "" at the end."""
        match = self.blank.match(self.source, self.end)
        at = self.end if match is None else match.end()
        return self.source[at : at + 1]

    @property
    def is_type(self) -> bool:
        """Whether the current word is followed by `<` or `(`, as the type of a constant is."""
        return self.kind == "word" and self.following() in _AFTER_TYPE

    def name(self, what: str) -> str:
        """Moves over a name, which may be quoted."""
        if self.kind == "string":
            return self.text_literal()
        return self.expect_kind("word", what)

    def text_literal(self) -> str:
        """Moves over a string and returns its content."""
        at = self.start
        content = self.expect_kind("string", "a string")[1:-1]
        if "\\" not in content:
            return content
        for match in _ESCAPE.finditer(content):
            if match[2] is not None and match[2] not in _NAMED:
                self.fail(
                    f"'{match[0]}' is not an escape sequence", at=at, help='use \\", \\\\, \\n, \\r, \\t or \\xHH'
                )
        return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _NAMED[m[2]], content)

    def about(self, diagnostic: Diagnostic, offset: int) -> Diagnostic:
        """A finding about a part of the program, with the line that it is about."""
        place = self.finding("", at=offset)
        result = diagnostic.located(file=self.file)
        result.notes = (*diagnostic.notes, *place.notes)
        if result.file == self.file:
            result.line, result.column = place.line, place.column
        return result


def quoted(content: str) -> str:
    """A string literal."""
    return f'"{_TO_ESCAPE.sub(_escaped, content)}"'


def _escaped(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[0]) or f"\\x{ord(match[0]):02x}"


def name_text(name: str) -> str:
    """A name as it is printed: quoted when it is none that the format allows."""
    return name if IDENTIFIER.fullmatch(name) else quoted(name)
