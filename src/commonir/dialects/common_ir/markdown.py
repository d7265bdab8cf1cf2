"""Finds what CommonMark renders as raw HTML, and the prose of a text: what is neither code nor HTML.

Blocks are found as the specification's parsing strategy says: containers (quotes and list items) that a line continues,
then the blocks that it begins. Inline structure matters as far as it decides about `<`: backslash escapes, code spans,
autolinks, and the destinations, titles and labels of links. Nothing is rendered.

Source: CommonMark 0.31.2, sections 4 to 6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonir.base.tuples import NamedTuple

_ATTRIBUTE = r"""\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
_TAG = rf"<[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>"
_HTML = re.compile(
    rf"{_TAG}|<!-->|<!--->|<!--.*?-->|<\?.*?\?>|<![A-Za-z][^>]*>|<!\[CDATA\[.*?\]\]>", re.DOTALL | re.ASCII
)
_AUTOLINK = re.compile(
    r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>\x00-\x1f]*>|"
    r"<[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*>"
)
_BLOCK_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
_HTML_BLOCK = re.compile(
    rf"<(?:(?:script|pre|style|textarea)(?:\s|>|$)|!--|\?|![A-Za-z]|!\[CDATA\[|/?(?:{_BLOCK_NAMES})(?:\s|/?>|$))",
    re.IGNORECASE,
)
_TAG_ALONE = re.compile(rf"(?:{_TAG})\s*$", re.ASCII)

_ATX = re.compile(r"#{1,6}(?:\s|$)")
_FENCE = re.compile(r"(?P<fence>`{3,})[^`]*$|(?P<tildes>~{3,})")
_SETEXT = re.compile(r"(?:=+|-+)\s*$")
_BREAK = re.compile(r"(?:(?:\*\s*){3,}|(?:_\s*){3,}|(?:-\s*){3,})$")
_ITEM = re.compile(r"(?:[-+*]|(?P<number>\d{1,9})[.)])(?=\s|$)")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
_IN_BRACKETS = re.compile(r"<(?:[^<>\n\\]|\\.)*>")
_TITLE = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)""", re.DOTALL)
_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_LINE_END = re.compile(r"[ \t]*(?:\n|$)")
_MAX_DEPTH = 64
"""How deep quotes and list items nest; what is deeper is text."""
_TICKS = re.compile(r"`+")
_SPECIAL = re.compile(r"[\\<\[\]]|!\[|`+")


class Piece(NamedTuple):
    """A part of a text: raw HTML, or prose."""

    text: str
    is_html: bool = False


def pieces(text: str) -> Iterator[Piece]:
    """Yields the raw HTML and the prose of a text in order; code is left out. Nothing follows a block of HTML."""
    labels: set[str] = set()
    blocks = list(_Blocks(labels).read(text))
    for block in blocks:
        if block.is_html:
            yield block
        else:
            yield from _inline(block.text, labels)


# -- blocks


class _Container(NamedTuple):
    """A quote, or a list item whose content is indented; `is_empty` says of an item that it has no content yet."""

    indent: int | None = None
    is_empty: bool = False


class _Blocks:
    """Finds the paragraphs and headings of a text, and the first block of HTML."""

    def __init__(self, labels: set[str]) -> None:
        self._labels = labels
        self._open: list[_Container] = []
        self._paragraph: list[str] = []
        self._fence = ""
        self._matched = 0

    def read(self, text: str) -> Iterator[Piece]:
        """Yields blocks in order."""
        for line in text.splitlines():
            rest = self._continued(line.expandtabs(4))
            if self._fence and self._matched == len(self._open):
                stripped = rest.strip()
                is_end = len(stripped) >= len(self._fence) and set(stripped) == set(self._fence[0])
                if is_end and _indent(rest) < 4:
                    self._fence = ""
                continue
            self._fence = ""
            for block in self._line(rest):
                yield block
                if block.is_html:
                    return
        yield from self._closed()

    def _continued(self, rest: str) -> str:
        """Returns what of a line follows the markers of the containers that it continues."""
        self._matched = 0
        for container in self._open:
            indent = _indent(rest)
            if container.indent is None:
                if indent > 3 or not rest.startswith(">", indent):
                    break
                rest = rest[indent + 1 :].removeprefix(" ")
            elif not rest.strip():
                if container.is_empty:
                    break
                rest = ""
            elif indent >= container.indent:
                rest = rest[container.indent :]
            else:
                break
            self._matched += 1
        return rest

    def _line(self, rest: str) -> Iterator[Piece]:
        """Yields the blocks that a line ends, and HTML that it begins."""
        is_lazy = self._matched < len(self._open)
        while rest.strip() and len(self._open) < _MAX_DEPTH:
            indent = _indent(rest)
            content = rest[indent:]
            if indent > 3:
                if not self._paragraph:
                    yield from self._begin()
                    return
                break
            if content.startswith(">"):
                yield from self._begin(_Container())
                is_lazy = False
                rest = content[1:].removeprefix(" ")
                continue
            if _ATX.match(content):
                yield from self._begin()
                yield Piece(content.strip("# "))
                return
            fence = _FENCE.match(content)
            if fence is not None:
                yield from self._begin()
                self._fence = fence["fence"] or fence["tildes"]
                return
            if _HTML_BLOCK.match(content) or (not self._paragraph and _TAG_ALONE.match(content)):
                yield from self._begin()
                tag = _HTML.match(content)
                yield Piece(tag[0] if tag is not None else content.split()[0], is_html=True)
                return
            if self._paragraph and not is_lazy and _SETEXT.match(content):
                yield from self._closed()
                return
            item = None if _BREAK.match(content) else _ITEM.match(content)
            if item is None:
                if _BREAK.match(content):
                    yield from self._begin()
                    return
                break
            after = content[item.end() :]
            if self._paragraph and not is_lazy and (not after.strip() or item["number"] not in (None, "1")):
                break
            spaces = _indent(after)
            width = spaces if after.strip() and spaces <= 4 else 1
            yield from self._begin(_Container(indent=indent + item.end() + width, is_empty=not after.strip()))
            is_lazy = False
            rest = after[width:]
        yield from self._text(rest, is_lazy=is_lazy)

    def _text(self, rest: str, *, is_lazy: bool) -> Iterator[Piece]:
        """Adds a line to the paragraph, or ends it with an empty one."""
        if not rest.strip():
            if self._paragraph or is_lazy:
                yield from self._begin()
            return
        if not (is_lazy and self._paragraph):
            if is_lazy:
                yield from self._begin()
            self._fill()
        self._paragraph.append(rest.strip())

    def _begin(self, container: _Container | None = None) -> Iterator[Piece]:
        """Ends the paragraph and the containers that the line does not continue, and begins another one."""
        yield from self._closed()
        del self._open[self._matched :]
        self._fill()
        if container is not None:
            self._open.append(container)
            self._matched += 1

    def _fill(self) -> None:
        """Notes that the innermost container has content."""
        if self._open and self._open[-1].is_empty:
            self._open[-1] = self._open[-1]._replace(is_empty=False)

    def _closed(self) -> Iterator[Piece]:
        """Ends the paragraph: what follows its definitions of links is text."""
        text = "\n".join(self._paragraph)
        self._paragraph = []
        while text:
            end = _definition(text, self._labels)
            if not end:
                yield Piece(text)
                return
            text = text[end:]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# -- links


def _definition(text: str, labels: set[str]) -> int:
    """Returns the length of the definition of a link that a text begins with; 0 where it begins with none."""
    label = _LABEL.match(text)
    if label is None or not label[1].strip() or not text.startswith(":", label.end()):
        return 0
    at = _skipped(text, label.end() + 1)
    end = _destination(text, at)
    if end < 0 or (end == at):
        return 0
    after = _skipped(text, end)
    title = _TITLE.match(text, after) if after > end else None
    line_end = None if title is None else _LINE_END.match(text, title.end())
    line_end = line_end or _LINE_END.match(text, end)
    if line_end is None:
        return 0
    labels.add(_normalized(label[1]))
    return line_end.end()


def _normalized(label: str) -> str:
    return " ".join(label.split()).casefold()


def _skipped(text: str, at: int) -> int:
    """Skips spaces and at most one end of a line."""
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _destination(text: str, at: int) -> int:
    """Returns where the destination of a link ends; -1 where there is none, `at` for an empty one."""
    if text.startswith("<", at):
        match = _IN_BRACKETS.match(text, at)
        return -1 if match is None else match.end()
    depth = 0
    while at < len(text):
        char = text[at]
        if char <= " " or char == "\x7f" or (char == ")" and not depth):
            break
        depth += (char == "(") - (char == ")")
        at += 2 if char == "\\" and text[at + 1 : at + 2] in _PUNCTUATION else 1
    return -1 if depth else at


def _link_end(text: str, at: int) -> int:
    """Returns where a link ends whose text ends before `at`; -1 if no destination in parentheses follows."""
    if not text.startswith("(", at):
        return -1
    end = _destination(text, _skipped(text, at + 1))
    if end < 0:
        return -1
    after = _skipped(text, end)
    title = _TITLE.match(text, after) if after > end else None
    if title is not None:
        after = _skipped(text, title.end())
    return after + 1 if text.startswith(")", after) else -1


# -- inline structure


class _Bracket(NamedTuple):
    """An opening bracket: where its text begins, and whether a link may begin there."""

    start: int
    is_image: bool
    is_active: bool = True


def _inline(text: str, labels: set[str]) -> Iterator[Piece]:
    """Yields the raw HTML and the prose in the text of a block."""
    # Where the last run of each number of backticks begins: a span that is not closed costs no search.
    last = {len(m[0]): m.start() for m in _TICKS.finditer(text)}
    brackets: list[_Bracket] = []
    begin = at = 0
    while (special := _SPECIAL.search(text, at)) is not None:
        at = special.start()
        char = text[at]
        end = at + len(special[0])
        match char:
            case "\\":
                at = end + 1 if text[end : end + 1] in _PUNCTUATION else end
                continue
            case "`":
                ticks = len(special[0])
                if last.get(ticks, -1) > at:
                    yield Piece(text[begin:at])
                    begin = end = next(m.end() for m in _TICKS.finditer(text, end) if len(m[0]) == ticks)
                at = end
                continue
            case "<":
                link = _AUTOLINK.match(text, at)
                html = _HTML.match(text, at) if link is None else None
                if html is not None:
                    yield Piece(text[begin:at])
                    yield Piece(html[0], is_html=True)
                    begin = html.end()
                at = (link or html or special).end()
                continue
            case "]":
                at = _closed_bracket(text, end, brackets, labels)
                continue
            case _:
                brackets.append(_Bracket(start=end, is_image=char == "!"))
        at = end
    yield Piece(text[begin:])


def _closed_bracket(text: str, at: int, brackets: list[_Bracket], labels: set[str]) -> int:
    """Returns where text goes on after a closing bracket: after the link, if it closes one."""
    if not brackets:
        return at
    opener = brackets.pop()
    if not opener.is_active:
        return at
    end = _link_end(text, at)
    if end < 0:
        label = _LABEL.match(text, at)
        name = label[1] if label is not None and label[1].strip() else text[opener.start : at - 1]
        if _normalized(name) not in labels:
            return at
        end = at if label is None else label.end()
    if not opener.is_image:
        brackets[:] = [b if b.is_image else b._replace(is_active=False) for b in brackets]
    return end
