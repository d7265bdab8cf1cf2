"""One object per distinct content, so that comparing is `is` and hashing is by address.

The table holds weak references: what no program uses any more is forgotten.
"""

from __future__ import annotations

from _weakref import ReferenceType  # of `weakref` nothing else is needed
from typing import TYPE_CHECKING, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Callable


class _Held(ReferenceType["Interned"]):
    """What the table has for a content: an object that it does not keep alive, and where it stands."""

    __slots__ = ("key",)

    key: tuple[object, ...]


class Interned:
    """Base of immutable values whose content is their slots.

    A subclass lists its fields in `__slots__` and gives a typed `__new__` that calls `_intern` with one value per
    field, those of its base class first.
    """

    __slots__ = ("__weakref__",)

    _setters: ClassVar[tuple[Callable[[Interned, object], None], ...]] = ()
    _table: ClassVar[dict[tuple[object, ...], _Held]] = {}

    def __init_subclass__(cls) -> None:
        own: tuple[str, ...] = cls.__dict__.get("__slots__", ())
        cls._setters = (*cls._setters, *[cls.__dict__[slot].__set__ for slot in own])

    @classmethod
    def _intern(cls, *content: object, key: tuple[object, ...] | None = None) -> Self:
        """Returns the object of this content. `key` stands for it in comparisons where `==` is too coarse (0.0 and
        -0.0).
        """
        full_key = (cls, *content) if key is None else (cls, *key)
        held = cls._table.get(full_key)
        if held is not None:
            result = held()
            if isinstance(result, cls):
                return result
        built = object.__new__(cls)
        for put, value in zip(cls._setters, content, strict=True):
            put(built, value)
        cls._hold(full_key, built)
        return built

    @classmethod
    def _known(cls, key: tuple[object, ...]) -> Self | None:
        """Returns the object of this key, if there is one."""
        held = cls._table.get(key)
        result = None if held is None else held()
        return result if isinstance(result, cls) else None

    @classmethod
    def _hold(cls, key: tuple[object, ...], made: Interned) -> None:
        """Makes an object the one of a key, as long as somebody uses it."""
        held = cls._table[key] = _Held(made, cls._forget)
        held.key = key

    @staticmethod
    def _forget(held: _Held) -> None:
        """Takes an object that is gone out of the table, unless another one of its content stands there already."""
        table = Interned._table
        if table.get(held.key) is held:
            del table[held.key]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(f"{type(self).__name__} is interned and cannot be pickled")
