"""Elements of SVG as text, and how much room words take. Everything that comes from a file is escaped here.

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
    """Returns an element. An underscore in the name of an attribute is a hyphen, and one at its end is dropped."""
    attributes_ = "".join([f" {_name(key)}={quoteattr(_value(value))}" for key, value in attributes.items()])
    return f"<{tag}{attributes_}>{''.join(content)}</{tag}>" if content else f"<{tag}{attributes_}/>"


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else _number(value)


Position = tuple[float, float]


def point_text(place: Position) -> str:
    """Returns a place as the commands of paths write it."""
    return f"{_number(place[0])} {_number(place[1])}"


def _number(value: float) -> str:
    return f"{round(value, 1):g}"


def words(content: str) -> str:
    """Returns text of an element."""
    return escape_markup(escape(content))


def title(lines: Iterable[str]) -> str:
    """Returns the tooltip of an element."""
    return element("title", "\n".join(map(words, lines)))


def width_of(content: str, size: float) -> float:
    """About how wide a text is, in a sans-serif font of a size; rather too much than too little."""
    return size * sum(map(_width, content))


def _width(char: str) -> float:
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if unicodedata.combining(char):
        return 0.0
    return 0.42 if char in _NARROW else 1.0 if char in _WIDE else 0.75 if char.isupper() else 0.64


def shortened(content: str, size: float, room: float) -> str:
    """Returns a text that fits into some room, its end left out where it does not."""
    shown = escape(content)
    if width_of(shown, size) <= room:
        return shown
    return _fitting(shown, size, room).rstrip() + _ELLIPSIS


def tail_of(content: str, size: float, room: float) -> str:
    """Returns a text that fits into some room, its beginning left out where it does not: names end with what tells them
    apart.

    Nothing, where hardly anything is left of it.
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
