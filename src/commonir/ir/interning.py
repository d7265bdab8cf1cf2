"""Interning: one object per distinct content, so that values are compared and hashed by identity.

The table holds weak references: objects that are no longer used are dropped.
"""

from __future__ import annotations

from _weakref import ReferenceType  # avoids loading `weakref`
from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class _WeakEntry(ReferenceType["Interned"]):
    """An entry of the table: a weak reference to an object, and the key of the entry."""

    __slots__ = ("key",)

    key: tuple[object, ...]


class Interned:
    """Base of immutable values whose content is their slots.

    A subclass lists its fields in `__slots__` and gives a typed `__new__` that calls `_intern` with one value per
    field, those of its base class first.
    """

    __slots__ = ("__weakref__",)

    _setters: ClassVar[tuple[Callable[[Interned, object], None], ...]] = ()
    _table: ClassVar[dict[tuple[object, ...], _WeakEntry]] = {}

    def __init_subclass__(cls) -> None:
        own: tuple[str, ...] = cls.__dict__.get("__slots__", ())
        cls._setters = (*cls._setters, *[cls.__dict__[slot].__set__ for slot in own])

    @classmethod
    def _intern(cls, *content: object, key: tuple[object, ...] | None = None) -> Self:
        """Returns the object of this content. `key` replaces the content where `==` is too coarse (0.0 and -0.0)."""
        full_key = (cls, *content) if key is None else (cls, *key)
        entry = cls._table.get(full_key)
        if entry is not None:
            result = entry()
            if isinstance(result, cls):
                return result
        built = object.__new__(cls)
        for put, value in zip(cls._setters, content, strict=True):
            put(built, value)
        cls._register(full_key, built)
        return built

    @classmethod
    def _lookup(cls, key: tuple[object, ...]) -> Self | None:
        """Returns the object stored under a key; None when there is none."""
        entry = cls._table.get(key)
        result = None if entry is None else entry()
        return result if isinstance(result, cls) else None

    @classmethod
    def _register(cls, key: tuple[object, ...], built: Interned) -> None:
        """Adds an object to the table."""
        entry = cls._table[key] = _WeakEntry(built, cls._forget)
        entry.key = key

    @staticmethod
    def _forget(entry: _WeakEntry, table: dict[tuple[object, ...], _WeakEntry] = _table) -> None:
        """Removes the entry of an object that is gone, unless a new object has replaced it."""
        # The table is a default value because globals are None when Python ends.
        if table.get(entry.key) is entry:
            del table[entry.key]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Mapping[int, object]) -> Self:
        return self

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(f"{type(self).__name__} is interned and cannot be pickled")
