"""Elements of SVG as text, and how much room words take. Everything that comes from a file is escaped here.

Source: SVG 1.1, Second Edition; XML 1.0.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from xml.sax.saxutils import escape as escape_markup
from xml.sax.saxutils import quoteattr

from commonir.base.text import escape

_NARROW = frozenset("filjtrI.,:;|!'()[]· 1")
_WIDE = frozenset("mwMW@%→←")
_ELLIPSIS = "…"


def element(tag: str, *content: str, **attributes: str | float) -> str:
    """An element. An underscore in the name of an attribute is a hyphen, and one at its end is dropped."""
    given = "".join([f" {_name(key)}={quoteattr(_value(value))}" for key, value in attributes.items()])
    return f"<{tag}{given}>{''.join(content)}</{tag}>" if content else f"<{tag}{given}/>"


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else f"{round(value, 1):g}"


def words(content: str) -> str:
    """Text of an element."""
    return escape_markup(escape(content))


def title(lines: Iterable[str]) -> str:
    """What is told of an element when one points at it."""
    return element("title", "\n".join(map(words, lines)))


def width_of(content: str, size: float) -> float:
    """About how wide a text is, in a sans-serif font of a size; rather too much than too little."""
    return size * sum(map(_width, content))


def _width(char: str) -> float:
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if unicodedata.combining(char):
        return 0.0
    return 0.34 if char in _NARROW else 0.92 if char in _WIDE else 0.72 if char.isupper() else 0.6


def shortened(content: str, size: float, room: float) -> str:
    """A text that fits into some room, its end left out where it does not."""
    shown = escape(content)
    if width_of(shown, size) <= room:
        return shown
    used = width_of(_ELLIPSIS, size)
    out = ""
    for char in shown:
        used += size * _width(char)
        if used > room:
            break
        out += char
    return out.rstrip() + _ELLIPSIS


__all__ = ["element", "shortened", "title", "width_of", "words"]
