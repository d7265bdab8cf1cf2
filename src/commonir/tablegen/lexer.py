"""Tokens of TableGen text: the preprocessor, includes, and locations.

A `SourceFile` has the text and the tokens of one file, so that a file that many others include is read once.
`TokenStream` iterates over a file and those that it includes. It never reads outside of the include folders. Source:
TableGen Programmer's Reference, lexical analysis, include files, preprocessing facilities.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NoReturn

from commonir.base import file_codes
from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.safe_paths import open_regular
from commonir.base.tuples import NamedTuple
from commonir.tablegen.headers import NOT_INSTALLED, PRELUDE

Token = tuple[str, str, int]
"""Kind, text and offset. The kind of a keyword or mark is its own text; the others are named in `TokenKind`."""

_TOKEN = re.compile(
    r"(?P<id>[A-Za-z_]\w*+)"
    r"|(?P<mark>\.\.\.|[=;:,.<>(){}\[\]?#](?<!\[(?=\{))|-(?!\d))"
    r"|(?P<code>\[\{)"
    r'|(?P<string>"(?:[^"\\\n]|\\[^\n])*+")'
    r"|(?P<int>0x[0-9A-Fa-f]++(?!\w)|[+-]?\d++(?!\w))"
    r"|(?P<binary>0b[01]++(?!\w))"
    r"|(?P<number_id>\d++[A-Za-z_]\w*+)"
    r"|(?P<var>\$[A-Za-z_]\w*+)"
    r"|(?P<bang>![a-z]++)",
    re.ASCII,
)
_BLANK = re.compile(r"(?:[ \t\r\n]++|//[^\n]*+)++")
_COMMENT_MARK = re.compile(r"/\*|\*/")
_DIRECTIVE = re.compile(r"[ \t]*#(define|ifdef|ifndef|else|endif)\b([^\n]*+)", re.ASCII)
_MACRO = re.compile(r"[ \t]*([A-Za-z_]\w*)", re.ASCII)
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "t": "\t", "n": "\n"}

_WORDS = """assert bit bits class code dag def defm defset deftype defvar dump else false field foreach if in include
int let list multiclass string then true"""
KEYWORDS = frozenset(_WORDS.split())

MOST_INCLUDES = 5_000
_MOST_INCLUDED_CHARS = 2**26
"""Characters of all included files: a file that is included again is read again, so that includes may double."""


class Location(NamedTuple):
    """A position in a file."""

    file: SourceFile
    offset: int

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self.file.line_of(self.offset)

    def diagnostic(self, code: Code, message: str, *, help: str | None = None) -> Diagnostic:
        """Returns a diagnostic at this location, with its line."""
        line = self.line
        start = self.file.line_starts[line - 1]
        text = self.file.text[start:].split("\n", 1)[0]
        column = self.offset - start
        first = max(0, column - 60)
        shown = text[first : first + 120].replace("\t", " ").rstrip()
        return Diagnostic(
            code,
            message,
            file=self.file.name,
            line=line,
            column=column + 1,
            notes=(shown, " " * (column - first) + "^"),
            help=help,
        )


class Segment(NamedTuple):
    """The tokens up to a directive or the end, and the offset of that."""

    tokens: list[Token]
    end: int


class SourceFile:
    """The text of one file and its tokens."""

    __slots__ = ("_segments", "_starts", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._segments: dict[int, Segment] = {}
        self._starts: list[int] = []

    @property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins."""
        if not self._starts:
            self._starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        return self._starts

    def line_of(self, offset: int) -> int:
        """Returns the line of an offset, from 1."""
        return bisect_right(self.line_starts, offset)

    def fail(self, offset: int, message: str) -> NoReturn:
        """Raises: MALFORMED_TABLEGEN."""
        raise DiagnosticError(Location(self, offset).diagnostic(file_codes.MALFORMED_TABLEGEN, message))

    def segment(self, start: int) -> Segment:
        """Returns the tokens from an offset to the next directive."""
        result = self._segments.get(start)
        if result is None:
            result = self._segments[start] = self._scan(start)
        return result

    def _scan(self, at: int) -> Segment:
        text, match, blank = self.text, _TOKEN.match, _BLANK.match
        tokens: list[Token] = []
        add = tokens.append
        while True:
            skipped = blank(text, at)
            at = at if skipped is None else skipped.end()
            token: re.Match[str] | None = match(text, at)
            if token is None:
                if at == len(text):
                    return Segment(tokens, at)
                if text.startswith("/*", at):
                    at = self._comment_end(at)
                    continue
                self._unreadable(at)
            kind = token.lastgroup or ""
            word = token.group()
            if kind == "id":
                add((word if word in KEYWORDS else "id", word, at))
            elif kind == "mark":
                if word == "#" and self._is_directive(at):
                    return Segment(tokens, at)
                add((word, word, at))
            elif kind == "code":
                end = text.find("}]", at)
                if end < 0:
                    self.fail(at, "the code fragment is not closed with '}]'")
                add(("code", text[at + 2 : end], at))
                at = end + 2
                continue
            elif kind == "string":
                add(("string", self._unescaped(word, at) if "\\" in word else word[1:-1], at))
            elif kind == "number_id":
                add(("id", word, at))
            elif kind == "var":
                add(("var", word[1:], at))
            else:
                add((kind, word, at))
            at = token.end()

    def _unescaped(self, token: str, at: int) -> str:
        def plain(match: re.Match[str]) -> str:
            escaped = _ESCAPES.get(match.group(1))
            if escaped is None:
                self.fail(at + match.start(), f"unknown escape '{match.group()}' in a string")
            return escaped

        return re.sub(r"\\(.)", plain, token)[1:-1]

    def _comment_end(self, start: int) -> int:
        depth = 0
        for mark in _COMMENT_MARK.finditer(self.text, start):
            depth += 1 if mark.group() == "/*" else -1
            if depth == 0:
                return mark.end()
        return self.fail(start, "the comment is not closed with '*/'")

    def _unreadable(self, at: int) -> NoReturn:
        char = self.text[at]
        if char == '"':
            self.fail(at, "the string is not closed on its line")
        self.fail(at, f"unexpected character {char!r}")

    def _is_directive(self, at: int) -> bool:
        """Returns whether a `#` is the first mark of its line, and begins a directive."""
        before = self.text.rfind("\n", 0, at) + 1
        return not self.text[before:at].strip() and _DIRECTIVE.match(self.text, at) is not None

    def directive(self, at: int) -> tuple[str, str, int]:
        """Returns the directive at an offset, its macro, and the offset of the next line.

        Raises: MALFORMED_TABLEGEN when it has no macro but needs one, or more than that.
        """
        match = _DIRECTIVE.match(self.text, at)
        assert match is not None
        name, rest = match.group(1), match.group(2)
        macro = ""
        if name not in ("else", "endif"):
            named = _MACRO.match(rest)
            if named is None:
                self.fail(at, f"'#{name}' needs the name of a macro")
            macro, rest = named.group(1), rest[named.end() :]
        rest = rest.strip()
        end = match.end()
        if rest.startswith("/*"):
            end = self._comment_end(self.text.index("/*", match.start(2)))
        elif rest and not rest.startswith("//"):
            self.fail(at, f"only comments may follow '#{name}'")
        return name, macro, end

    def skipped(self, at: int) -> tuple[str, int]:
        """Returns the directive that ends a skipped region, `else` or `endif`, and its offset."""
        depth = 0
        start = self.text.find("\n", at)
        while start >= 0:
            match = _DIRECTIVE.match(self.text, start + 1)
            if match is not None:
                name = match.group(1)
                if depth == 0 and name in ("else", "endif"):
                    return name, start + 1
                depth += {"ifdef": 1, "ifndef": 1, "endif": -1}.get(name, 0)
            start = self.text.find("\n", start + 1)
        return self.fail(at, "the conditional region is not closed with '#endif'")


class Sources:
    """A cache of files by their real path, for one or more loads."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self._files: dict[tuple[str, int, int], SourceFile] = {}

    def read(self, path: str, name: str) -> SourceFile:
        """Returns the file at a real path; `name` is its name in messages.

        Raises: FILE_NOT_FOUND, FILE_NOT_ACCESSIBLE, LIMIT_EXCEEDED, MALFORMED_TABLEGEN when it is not UTF-8.
        """
        try:
            stat = os.stat(path)
            key = (path, stat.st_mtime_ns, stat.st_size)
            if key in self._files:
                return self._files[key]
            if stat.st_size > self.limits.max_text_bytes:
                message = f"the file has {stat.st_size} bytes; at most {self.limits.max_text_bytes} are read"
                raise DiagnosticError(Diagnostic(file_codes.LIMIT_EXCEEDED, message, file=name))
            with open_regular(path) as stream:
                content = stream.read()
        except FileNotFoundError:
            raise DiagnosticError(Diagnostic(file_codes.FILE_NOT_FOUND, "there is no such file", file=name)) from None
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise DiagnosticError(Diagnostic(file_codes.FILE_NOT_ACCESSIBLE, reason, file=name)) from None
        try:
            result = self._files[key] = SourceFile(name, content.decode())
        except UnicodeDecodeError as error:
            message = f"the text is not UTF-8: byte {error.start}"
            raise DiagnosticError(Diagnostic(file_codes.MALFORMED_TABLEGEN, message, file=name)) from None
        return result


class _TokenPosition:
    """The reading position in one file: its segment, the open regions, and their expected ends."""

    __slots__ = ("file", "folder", "index", "regions", "segment")

    def __init__(self, file: SourceFile, folder: str) -> None:
        self.file = file
        self.folder = folder
        self.segment = file.segment(0)
        self.index = 0
        self.regions: list[tuple[int, bool]] = []


class TokenStream:
    """Iterates over a file and those that it includes; `kind`, `text` and `start` are those of the current token.

    The kind `end` is that of the end of the outermost file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        include_dirs: Sequence[str],
        defines: Iterable[str],
        sources: Sources,
        prelude: str = "",
    ) -> None:
        self.sources = sources
        self.macros = set(defines)
        self.include_dirs = tuple(include_dirs)
        real = os.path.realpath(path)
        self._position = _TokenPosition(sources.read(real, os.fspath(path)), os.path.dirname(real))
        self._including: list[_TokenPosition] = []
        if prelude:
            self._including.append(self._position)
            self._position = _TokenPosition(SourceFile("<prelude>", prelude), self._position.folder)
        self.included: list[str] = [real]
        self._included_chars = 0
        self.kind = ""
        self.text = ""
        self.start = 0
        self.file = self._position.file
        self.advance()

    def advance(self) -> str:
        """Moves to the next token and returns the text of the one that was current."""
        before = self.text
        while True:
            position = self._position
            tokens = position.segment.tokens
            index = position.index
            if index < len(tokens):
                position.index = index + 1
                self.kind, self.text, self.start = tokens[index]
                if self.kind != "include":
                    return before
                self._include()
            elif not self._next_segment():
                self.kind, self.text, self.start = "end", "", position.segment.end
                return before

    @property
    def location(self) -> Location:
        """The location of the current token."""
        return Location(self.file, self.start)

    def fail(self, message: str, *, at: Location | None = None) -> NoReturn:
        """Raises: MALFORMED_TABLEGEN at a location, by default that of the current token."""
        raise DiagnosticError((at or self.location).diagnostic(file_codes.MALFORMED_TABLEGEN, message))

    # -- directives

    def _next_segment(self) -> bool:
        """Continues after a directive or an included file; returns False at the end of the main file."""
        position = self._position
        file, at = position.file, position.segment.end
        if at == len(file.text):
            if position.regions:
                file.fail(position.regions[-1][0], "the conditional region is not closed with '#endif'")
            if not self._including:
                return False
            self._position = self._including.pop()
            self.file = self._position.file
            return True
        name, macro, after = file.directive(at)
        while True:
            if name == "define":
                self.macros.add(macro)
            elif name == "endif":
                self._close(position, at, name)
            elif name == "else":
                begin, _ = self._close(position, at, name)
                name, at = file.skipped(at)
                position.regions.append((begin, True))
                _, macro, after = file.directive(at)
                continue
            elif (macro in self.macros) == (name == "ifdef"):
                position.regions.append((at, False))
            else:
                position.regions.append((at, False))
                name, at = file.skipped(at)
                _, macro, after = file.directive(at)
                if name == "else":
                    position.regions[-1] = (position.regions[-1][0], True)
                else:
                    position.regions.pop()
            break
        position.segment, position.index = file.segment(after), 0
        return True

    def _close(self, position: _TokenPosition, at: int, name: str) -> tuple[int, bool]:
        if not position.regions:
            position.file.fail(at, f"'#{name}' without '#ifdef' or '#ifndef'")
        begin, in_else = position.regions.pop()
        if name == "else" and in_else:
            position.file.fail(at, "a second '#else' of one region")
        return begin, in_else

    # -- includes

    def _include(self) -> None:
        position = self._position
        tokens, index = position.segment.tokens, position.index
        if index == len(tokens) or tokens[index][0] != "string":
            self.fail("expected the name of a file in quotes after 'include'")
        _, name, self.start = tokens[index]
        position.index = index + 1
        if len(self._including) >= self.sources.limits.max_nesting_depth:
            result = self.location.diagnostic(
                file_codes.NESTING_TOO_DEEP, f"files include each other {len(self._including)} deep"
            )
            raise DiagnosticError(result)
        if os.path.isabs(name) or "\0" in name:
            self._refuse(name, "its name is absolute" if os.path.isabs(name) else "its name has a null character")
        for folder in (*self.include_dirs, self._outermost.folder, position.folder):
            real = os.path.realpath(os.path.join(folder, name))
            if not os.path.isfile(real):
                continue
            if not self._is_allowed(real):
                self._refuse(name, "it lies outside of the folder of the file and those given with -I")
            self._including.append(position)
            source = self.sources.read(real, os.path.join(folder, name))
            self._included_chars += len(source.text)
            if self._included_chars > _MOST_INCLUDED_CHARS or len(self.included) > MOST_INCLUDES:
                message = f"more than {MOST_INCLUDES:,} files of {_MOST_INCLUDED_CHARS:,} characters are included"
                raise DiagnosticError(self.location.diagnostic(file_codes.LIMIT_EXCEEDED, message))
            self._position = _TokenPosition(source, os.path.dirname(real))
            self.file = self._position.file
            self.included.append(real)
            return
        is_of_mlir = name.startswith("mlir/") and str(PRELUDE) in self.include_dirs
        help = (
            f"{NOT_INSTALLED}; without them there are mlir/IR and mlir/Interfaces only"
            if is_of_mlir
            else "give the folder that it is in with -I"
        )
        result = self.location.diagnostic(
            file_codes.TABLEGEN_INCLUDE, f"the included file '{name}' is not found", help=help
        )
        raise DiagnosticError(result)

    @property
    def _outermost(self) -> _TokenPosition:
        return self._including[0] if self._including else self._position

    def _is_allowed(self, real: str) -> bool:
        roots = [self._outermost.folder, *(os.path.realpath(folder) for folder in self.include_dirs)]
        return any(real.startswith(os.path.join(root, "")) for root in roots)

    def _refuse(self, name: str, reason: str) -> NoReturn:
        message = f"the included file '{name}' is not read: {reason}"
        raise DiagnosticError(self.location.diagnostic(file_codes.INCLUDE_OUTSIDE, message))
