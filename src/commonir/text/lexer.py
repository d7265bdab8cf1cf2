"""The token stream of MLIR text.

There are no token objects: the stream has the kind, text and offset of the current token. Lines and columns are counted
when a diagnostic needs them. Limits: `Limits.max_nesting_depth`. Source: MLIR language reference, lexical structure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import ClassVar, NoReturn, TypeVar

from commonir.base.codes import Code
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import LIMIT_EXCEEDED, MALFORMED_TEXT, NESTING_TOO_DEEP
from commonir.base.lazy import lazy_pattern
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.ir.origins import starts_of_lines

T = TypeVar("T")

VERSIONS = "commonir.versions"
"""The attribute of a module with the versions of dialects that are not the newest."""
SINCE = "commonir.since"
"""The attribute of an operation with the version of its definition, if it differs from the module's."""

BARE_ID = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_$.]*", re.ASCII)

# Possessive: backtracking into the blanks between tokens would take exponential time.
BLANK = r"(?:[ \t\r\n\0]++|//[^\n]*+)*+"
"""White space and comments between tokens, as a regular expression."""
COMMA = r"[ \t\r\n]*+,[ \t\r\n]*+"
"""A comma with white space around it and no comment, in which a pattern for items would find some."""
SUFFIX_ID = r"(?:\d++|[A-Za-z$._-][A-Za-z0-9$._-]*+)"
"""The name of a value, block or alias after its prefix, as a regular expression."""
VALUE_NAME = f"%{SUFFIX_ID}"
"""The name of a value, as a regular expression."""
VALUE_USE = rf"{VALUE_NAME}(?:#\d++)?+"
"""The use of a value, as a regular expression."""
VALUE_USES = f"{VALUE_USE}(?:{COMMA}{VALUE_USE})*+"
"""Uses of values, separated by commas without comments, as a regular expression."""
_TOKEN = re.compile(
    BLANK + r"(?:(?P<word>[A-Za-z_][A-Za-z0-9_$.]*)"
    rf"|(?P<value>{VALUE_NAME})"
    r"|(?P<mark>->|::|\{-\#|\#-\}|\.\.\.|[,=<>(){}\[\]:?*+/|-])"
    r"|(?P<float>\d+\.\d*(?:[eE][+-]?\d+)?)"
    r"|(?P<int>0x[0-9A-Fa-f]+|\d+)"
    r'|(?P<string>"[^"\\\n\v\f]*+(?:\\(?:["\\nt]|[0-9A-Fa-f]{2})[^"\\\n\v\f]*+)*+")'
    r"|(?P<symbol>@(?:[A-Za-z_][A-Za-z0-9_$.]*|(?=\")))"
    rf"|(?P<block>\^{SUFFIX_ID})"
    rf"|(?P<type>!{SUFFIX_ID})"
    rf"|(?P<attribute>\#{SUFFIX_ID})"
    r"|(?P<end>\Z))",
    re.ASCII,
)
_ESCAPE = lazy_pattern(rb"\\(?:([\"\\nt])|([0-9A-Fa-f]{2}))")
_NAMED = {b'"': b'"', b"\\": b"\\", b"n": b"\n", b"t": b"\t"}
_BODY = lazy_pattern(r'[^][(){}<>"]+|->|"(?:[^"\\\n]|\\.)*"|[][(){}<>]')
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_LONGEST_NUMBER = 400


class _Level:
    """Leaves a level of nesting at the end of a `with` block: cheaper than a generator."""

    __slots__ = ("_tokens",)

    def __init__(self, tokens: TokenStream) -> None:
        self._tokens = tokens

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._tokens.depth -= 1


class TokenStream:
    """The tokens of one text. `kind`, `text` and `start` are those of the current token; `end` is where it ends.

    A subclass for another language defines its tokens, the blanks between them, and the code of its diagnostics.
    """

    tokens: ClassVar[re.Pattern[str]] = _TOKEN
    blank: ClassVar[re.Pattern[str]] = re.compile(BLANK)
    malformed: ClassVar[Code] = MALFORMED_TEXT

    def __init__(
        self, source: str, file: str = "<text>", limits: Limits = DEFAULT_LIMITS, lines_before: int = 0
    ) -> None:
        self.source = source
        self.limits = limits
        self.depth = 0
        self.deepest = 0
        """The largest depth since this was set to 0, with aliases expanded."""
        self._level = _Level(self)
        self.lines_before = lines_before
        """Lines of the file before the text."""
        self.file = file
        self.kind: str = ""
        self.text: str = ""
        self.start: int = 0
        self.end: int = 0
        self.diagnostics = Diagnostics()
        """Errors that were reported without stopping."""
        self._lines: Sequence[int] = ()
        self._match = self.tokens.match
        self.advance()

    def advance(self) -> str:
        """Moves to the next token and returns the text of the one that was current."""
        before = self.text
        match = self._match(self.source, self.end)
        if match is None:
            self._unreadable()
        # The token is the only group that has matched, and ends the match.
        self.kind = match.lastgroup or ""
        group = match.lastindex or 0
        self.text = match[group]
        self.start, self.end = match.span(group)
        return before

    def move_to(self, offset: int) -> None:
        """Moves to the token at or after an offset."""
        self.end = offset
        self.advance()

    def state(self) -> tuple[str, str, int, int]:
        """Returns the position of the current token for `restore`."""
        return self.kind, self.text, self.start, self.end

    def restore(self, state: tuple[str, str, int, int]) -> None:
        """Returns to an earlier position."""
        self.kind, self.text, self.start, self.end = state

    def is_behind(self, offset: int) -> bool:
        """Returns whether the current token is the first one at or after an offset."""
        return self.start >= offset and not self.source[offset : self.start].strip()

    def _unreadable(self) -> NoReturn:
        at = self.end
        blank = self.blank.match(self.source, at)
        at = at if blank is None else blank.end()
        char = self.source[at]
        self.fail("unterminated or malformed string" if char == '"' else f"unexpected character {char!r}", at=at)

    # -- expectations

    def at(self, mark: str) -> bool:
        """Returns whether the current token is this punctuation or keyword."""
        return self.text == mark and self.kind in ("mark", "word")

    def take(self, mark: str) -> bool:
        """Consumes this punctuation or keyword if it is the current token; returns whether it was."""
        if self.text == mark and self.kind in ("mark", "word"):
            self.advance()
            return True
        return False

    def expect(self, mark: str) -> None:
        """Consumes this punctuation or keyword.

        Raises: MALFORMED_TEXT if it is not the current token.
        """
        if not self.take(mark):
            self.unexpected(f"'{mark}'", at=self.start if mark[0].isalpha() else None)

    def expect_kind(self, kind: str, what: str) -> str:
        """Consumes a token of this kind and returns its text.

        Raises: MALFORMED_TEXT if the current token is of another kind.
        """
        if self.kind != kind:
            self.unexpected(what)
        return self.advance()

    def unexpected(self, expected: str, *, at: int | None = None) -> NoReturn:
        """Raises a diagnostic with the expected and the current token, at an offset or where the former is missing."""
        found = "the end of the text" if self.kind == "end" else f"'{_shortened(self.text)}'"
        self.fail(f"expected {expected}, found {found}", at=self.place_missing() if at is None else at)

    def place_missing(self) -> int:
        """Returns the offset at which a token before the current one is missing."""
        # After the previous token, perhaps lines above, as mlir-opt does; `//` in these lines begins a comment.
        source = self.source
        end = at = max(self.start - (self.kind == "end"), 0)
        while True:
            while end and source[end - 1] in " \t":
                end -= 1
            if not end:
                return at
            if source[end - 1] not in "\r\n":
                return end
            end -= 1
            begin = source.rfind("\n", 0, end) + 1
            comment = source.find("//", max(begin, source.rfind("\r", begin, end)), end)
            end = end if comment < 0 else comment

    # -- strings

    def string(self) -> str:
        """Consumes a string literal and returns its content, with bytes that are not UTF-8 as surrogates."""
        return unquoted(self.expect_kind("string", "a string"))

    def symbol(self) -> str:
        """Consumes `@name` or `@"name"` and returns the name."""
        if self.kind != "symbol":
            self.unexpected("a symbol '@name'", at=self.start)
        name = self.advance()
        return name[1:] if len(name) > 1 else self.string()

    # -- numbers

    def integer_value(self, digits: str, at: int) -> int:
        """Returns the value of decimal or hexadecimal digits."""
        if len(digits) > _LONGEST_NUMBER:
            self.fail(f"a number of {len(digits)} digits", at=at, code=LIMIT_EXCEEDED)
        return int(digits, 16) if digits.startswith("0x") else int(digits)

    def integer(self, most: int = (1 << 63) - 1) -> int:
        """Reads an integer of 64 bits, which may be negative."""
        start = self.start
        sign = -1 if self.take("-") else 1
        at = self.start
        number = sign * self.integer_value(self.expect_kind("int", "an integer"), at)
        if not -(1 << 63) <= number <= most:
            self.fail(f"{number} does not fit 64 bits", at=start)
        return number

    # -- lists and nesting

    def nested(self) -> _Level:
        """Returns a context manager for one level of nesting.

        Raises: NESTING_TOO_DEEP.
        """
        self.depth += 1
        if self.depth > self.deepest:
            self.reach(self.depth)
        return self._level

    def reach(self, depth: int) -> None:
        """Records a depth. Raises: NESTING_TOO_DEEP."""
        if depth > self.limits.max_nesting_depth:
            self.fail(f"nested more than {self.limits.max_nesting_depth} deep", code=NESTING_TOO_DEEP)
        self.deepest = max(depth, self.deepest)

    def separated(self, item: Callable[[], T], close: str) -> list[T]:
        """Reads items separated by commas and the closing mark after them."""
        out: list[T] = []
        if self.take(close):
            return out
        while True:
            out.append(item())
            if self.take(close):
                return out
            if not self.take(","):
                self.unexpected(f"',' or '{close}'")

    def body(self) -> str | None:
        """Reads balanced angle brackets after the current token; returns the text in them, None without brackets."""
        if not self.source.startswith("<", self.end):
            self.advance()
            return None
        open_at = self.end
        pending: list[str] = []
        at = open_at
        while True:
            match = _BODY.match(self.source, at)
            if match is None:
                self.fail(f"unbalanced '{pending[-1]}' after '{self.text}'", at=open_at)
            piece = match.group()
            at = match.end()
            if piece.endswith("-") and self.source.startswith(">", at):  # an arrow is not a closing bracket
                at += 1
            elif piece in _CLOSING:
                pending.append(piece)
                if len(pending) > self.limits.max_nesting_depth:
                    self.fail(f"nested more than {self.limits.max_nesting_depth} deep", at=at, code=NESTING_TOO_DEEP)
            elif len(piece) == 1 and piece in ">)]}":
                if _CLOSING[pending[-1]] != piece:
                    self.fail(f"unbalanced '{pending[-1]}' after '{self.text}'", at=open_at)
                pending.pop()
                if not pending:
                    break
        body = self.source[open_at + 1 : at - 1]
        self.move_to(at)
        return body

    # -- diagnostics

    def place(self, offset: int) -> tuple[int, int]:
        """Returns the line and column of an offset, from 1; columns count bytes."""
        if not self._lines:
            self._lines = starts_of_lines(self.source)
        line = bisect_right(self._lines, offset)
        begin = self._lines[line - 1]
        wide = 0 if self.source.isascii() else len(self.source[begin:offset].encode("utf-8", "surrogateescape"))
        return line + self.lines_before, (wide or offset - begin) + 1

    def finding(
        self, message: str, *, at: int | None = None, code: Code | None = None, help: str | None = None
    ) -> Diagnostic:
        """Returns a diagnostic at an offset, or at the current token, with its line."""
        offset = self.start if at is None else at
        line, column = self.place(offset)
        notes = caret_notes(self.source, offset, line)
        return Diagnostic(
            code or self.malformed, message, file=self.file, line=line, column=column, notes=notes, help=help
        )

    def located(self, diagnostic: Diagnostic, offset: int) -> Diagnostic:
        """Returns a diagnostic with the location of an offset."""
        result = self.finding(diagnostic.message, at=offset, code=diagnostic.code, help=diagnostic.help)
        result.notes = (*diagnostic.notes, *result.notes)
        return result

    def report(self, message: str, at: int, code: Code, help: str | None = None) -> None:
        """Records a diagnostic and continues."""
        self.diagnostics.extend([self.finding(message, at=at, code=code, help=help)])

    def fail(
        self, message: str, *, at: int | None = None, code: Code | None = None, help: str | None = None
    ) -> NoReturn:
        """Raises a diagnostic."""
        raise DiagnosticError(self.finding(message, at=at, code=code, help=help))


_WIDEST_LINE = 160
_LEFT_OUT = "..."


def caret_notes(source: str, offset: int, line: int) -> tuple[str, ...]:
    """Returns the line of a text at an offset, and a caret below the offset; a long line is cut around it.

    `line` is its number. Returns () for a line with characters that do not print.
    """
    first = source.rfind("\n", 0, offset) + 1
    last = source.find("\n", offset)
    end = len(source) if last < 0 else last
    begin = first
    if end - first > _WIDEST_LINE:
        begin = max(first, min(offset - _WIDEST_LINE // 2, end - _WIDEST_LINE))
    before = _LEFT_OUT if begin > first else ""
    after = _LEFT_OUT if end > begin + _WIDEST_LINE else ""
    shown = f"{before}{source[begin : min(end, begin + _WIDEST_LINE)]}{after}".replace("\t", " ").rstrip()
    if not shown.isprintable():
        return ()
    return (f"{line} | {shown}", f"{' ' * len(str(line))} | {' ' * (offset - begin + len(before))}^")


def is_balanced(body: str) -> bool:
    """Returns whether all brackets of a text are closed within it."""
    pending: list[str] = []
    for piece in _BODY.findall(body.replace("->", "  ")):
        if piece in _CLOSING:
            pending.append(_CLOSING[piece])
        elif len(piece) == 1 and piece in ">)]}" and (not pending or pending.pop() != piece):
            return False
    return not pending


def unquoted(literal: str) -> str:
    """Returns the content of a string literal with its quotes."""
    content = literal[1:-1]
    if "\\" not in content:
        return content
    result = _ESCAPE.sub(_unescape, content.encode("utf-8", "surrogateescape"))
    return result.decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    named, digits = match.groups()
    return _NAMED[named] if named is not None else bytes.fromhex(digits.decode())


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
