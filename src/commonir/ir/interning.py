"""One object per distinct content, so that comparing is `is` and hashing is by address.

The table holds weak references: what no program uses any more is forgotten.
"""

from __future__ import annotations

from typing import ClassVar, Self
from weakref import WeakValueDictionary


class Interned:
    """Base of immutable values whose content is their slots.

    A subclass lists its fields in `__slots__` and gives a typed `__new__` that calls `_intern` with one value per
    field, those of its base class first.
    """

    __slots__ = ("__weakref__",)

    _fields: ClassVar[tuple[str, ...]] = ()
    _table: ClassVar[WeakValueDictionary[tuple[object, ...], Interned]] = WeakValueDictionary()

    def __init_subclass__(cls) -> None:
        own: tuple[str, ...] = cls.__dict__.get("__slots__", ())
        cls._fields = (*cls._fields, *own)

    @classmethod
    def _intern(cls, *content: object, key: tuple[object, ...] | None = None) -> Self:
        """The object of this content. `key` stands for it in comparisons where `==` is too coarse (0.0 and -0.0)."""
        full_key = (cls, *(content if key is None else key))
        found = cls._table.get(full_key)
        if isinstance(found, cls):
            return found
        made = object.__new__(cls)
        for slot, value in zip(cls._fields, content, strict=True):
            object.__setattr__(made, slot, value)
        cls._table[full_key] = made
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(f"{type(self).__name__} is interned and cannot be pickled")
