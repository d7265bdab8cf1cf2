"""The width of text in a sans-serif font, and texts shortened to a width."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from commonir.base.text import escape

_NARROW = frozenset("filjtrI.,:;|!'()[]·/ ")
_WIDE = frozenset("mwMW@%→←…")
_ELLIPSIS = "…"
_LEAST_LETTERS = 3


def width_of(content: str, size: float) -> float:
    """Returns the approximate width of a text in a sans-serif font, an upper bound rather than a lower one."""
    return size * sum(map(_width, content))


@lru_cache(1 << 12)
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
