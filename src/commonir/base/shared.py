"""Objects that several steps over one program share, such as its call graph, so that each is computed once."""

from __future__ import annotations

from typing import TypeVar

_T = TypeVar("_T")


class Shared:
    """One object of each class that is asked for, made at the first time; valid while the program does not change."""

    __slots__ = ("_items",)

    def __init__(self) -> None:
        self._items: dict[type[object], object] = {}

    def of(self, item_class: type[_T]) -> _T:
        """Returns the object of a class that takes no arguments."""
        result = self._items.get(item_class)
        if not isinstance(result, item_class):
            result = self._items[item_class] = item_class()
        return result
