"""SVG elements as text, and the width of text. Everything that comes from a file is escaped here.

Source: SVG 1.1, Second Edition; XML 1.0.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from xml.sax.saxutils import escape as escape_markup
from xml.sax.saxutils import quoteattr

from commonir.base.text import escape

_NARROW = frozenset("filjtrI.,:;|!'()[]·/ ")
_WIDE = frozenset("mwMW@%→←…")
_ELLIPSIS = "…"
_LEAST_LETTERS = 3


def element(tag: str, *content: str, **attributes: str | float) -> str:
    """Returns an element. An underscore in the name of an attribute becomes a hyphen; a trailing one is dropped."""
    attributes_ = "".join([f" {_name(key)}={quoteattr(_value(value))}" for key, value in attributes.items()])
    return f"<{tag}{attributes_}>{''.join(content)}</{tag}>" if content else f"<{tag}{attributes_}/>"


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else _number(value)


Position = tuple[float, float]


def point_text(place: Position) -> str:
    """Returns a position in the syntax of path commands."""
    return f"{_number(place[0])} {_number(place[1])}"


def _number(value: float) -> str:
    return f"{round(value, 1):g}"


def words(content: str) -> str:
    """Returns a text element."""
    return escape_markup(escape(content))


def title(lines: Iterable[str]) -> str:
    """Returns the tooltip of an element."""
    return element("title", "\n".join(map(words, lines)))


def width_of(content: str, size: float) -> float:
    """Returns the approximate width of a text in a sans-serif font, an upper bound rather than a lower one."""
    return size * sum(map(_width, content))


def _width(char: str) -> float:
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if unicodedata.combining(char):
        return 0.0
    return 0.42 if char in _NARROW else 1.0 if char in _WIDE else 0.75 if char.isupper() else 0.64


def shortened(content: str, size: float, room: float) -> str:
    """Returns a text shortened to a width at its end."""
    shown = escape(content)
    if width_of(shown, size) <= room:
        return shown
    return _fitting(shown, size, room).rstrip() + _ELLIPSIS


def tail_of(content: str, size: float, room: float) -> str:
    """Returns a text shortened to a width at its beginning, because the ends of names distinguish them; "" if hardly
    anything is left.
    """
    shown = escape(content)
    if width_of(shown, size) <= room:
        return shown
    left = _fitting(shown[::-1], size, room)[::-1].lstrip()
    return _ELLIPSIS + left if len(left) > _LEAST_LETTERS else ""


def _fitting(content: str, size: float, room: float) -> str:
    """Returns the longest prefix of a text that fits, with a mark where it is cut."""
    used = width_of(_ELLIPSIS, size)
    for n, char in enumerate(content):
        used += size * _width(char)
        if used > room:
            return content[:n]
    return content
