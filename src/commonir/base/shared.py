"""What several steps over one program share, such as its call graph, so that it is computed once for all of them."""

from __future__ import annotations

from typing import TypeVar

_T = TypeVar("_T")


class Shared:
    """One object of each class that is asked for, made at the first time; valid while the program does not change."""

    __slots__ = ("_items",)

    def __init__(self) -> None:
        self._items: dict[type[object], object] = {}

    def of(self, kind: type[_T]) -> _T:
        """Returns the object of a class that takes no arguments."""
        result = self._items.get(kind)
        if not isinstance(result, kind):
            result = self._items[kind] = kind()
        return result
