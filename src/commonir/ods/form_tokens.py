"""The tokens of assembly formats, of operations as well as of types and attributes.

Literals are in backquotes; `$name`, words, punctuation and strings follow. Source: MLIR operation definitions,
declarative assembly format; MLIR, defining dialect attributes and types.
"""

from __future__ import annotations

from abc import abstractmethod

from commonir.base.lazy import lazy_pattern

_TOKEN = lazy_pattern(r'\s*(?:`([^`]*)`|\$([A-Za-z_]\w*)|([A-Za-z_][\w-]*)|([()^:,<>|?])|"([^"]*)")')
_KINDS = ("literal", "variable", "word", "mark", "string")
_LITERAL = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_$.]*|->|\.\.\.|[_:,=<>()\[\]{}?+*-]")
_LAYOUT = ("", " ", "\\n")
"""Literals that only change the layout."""
_MAX_DEPTH = 20
"""The most open parentheses: formats are read by recursion."""


class FormTokens:
    """Reads the tokens of one format. `token` is the current one: its kind, "end" after the last, and its text.
    `position` is the offset of the token that a fault is about, the last that was read.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.token: tuple[str, str] = ("end", "")
        self.position = 0
        self._start = 0
        self._at = 0
        self._depth = 0
        self.advance()

    @abstractmethod
    def fault(self, message: str) -> Exception:
        """Returns the error that the format is invalid."""

    def advance(self) -> tuple[str, str]:
        """Moves to the next token and returns the one that was current."""
        current = self.token
        self.position = self._start
        match = _TOKEN.match(self.source, self._at)
        if match is not None:
            self._at = match.end()
            self._start = match.start() + len(match[0]) - len(match[0].lstrip())
            self.token = (_KINDS[(match.lastindex or 1) - 1], match.group(match.lastindex or 1))
            self._depth += (self.token == ("mark", "(")) - (self.token == ("mark", ")"))
            if self._depth > _MAX_DEPTH:
                raise self.fault(f"parentheses are more than {_MAX_DEPTH} deep")
        elif self.source[self._at :].strip():
            self.position = self._at
            raise self.fault(f"unexpected character at {self._at}")
        else:
            self._start = len(self.source)
            self.token = ("end", "")
        return current

    def takes(self, mark: str) -> bool:
        """Consumes a mark if it is the current token, and returns whether it was."""
        if self.token != ("mark", mark):
            return False
        self.advance()
        return True

    def expect(self, mark: str) -> None:
        """Consumes a mark."""
        if not self.takes(mark):
            self.position = self._start
            raise self.fault(f"expected '{mark}', found '{self.token[1] or 'the end'}'")

    def check_literal(self, text: str) -> None:
        """Raises a fault for a literal that is neither a keyword, nor punctuation, nor layout."""
        if text not in _LAYOUT and not _LITERAL.fullmatch(text):
            raise self.fault(f"'{text}' is neither a word nor punctuation")

    def directive_name(self) -> str:
        """Reads `<name>(` of `custom<name>(..)`, and returns the name."""
        self.expect("<")
        kind, name = self.advance()
        if kind != "word":
            raise self.fault("custom<..> needs the name of a directive")
        self.expect(">")
        self.expect("(")
        return name
