"""`NamedTuple` as of `typing`, but that declaring one costs little: that of `typing` compiles the constructor of each
class, and its annotations one by one, in every process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import _tuplegetter, namedtuple
    from types import FunctionType

    _new = tuple.__new__

    # Constructors by the number of fields: each class has the one of its number, with its own names for the fields.
    _CONSTRUCTORS = (
        lambda cls: _new(cls, ()),
        lambda cls, a: _new(cls, (a,)),
        lambda cls, a, b: _new(cls, (a, b)),
        lambda cls, a, b, c: _new(cls, (a, b, c)),
        lambda cls, a, b, c, d: _new(cls, (a, b, c, d)),
        lambda cls, a, b, c, d, e: _new(cls, (a, b, c, d, e)),
        lambda cls, a, b, c, d, e, f: _new(cls, (a, b, c, d, e, f)),
        lambda cls, a, b, c, d, e, f, g: _new(cls, (a, b, c, d, e, f, g)),
        lambda cls, a, b, c, d, e, f, g, h: _new(cls, (a, b, c, d, e, f, g, h)),
    )

    def _constructor(name, fields, defaults):
        if len(fields) >= len(_CONSTRUCTORS):
            return namedtuple(name, fields, defaults=defaults).__new__  # noqa: PYI024  the fields have no types here
        code = _CONSTRUCTORS[len(fields)].__code__
        named = code.replace(co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{name}.__new__")
        return FunctionType(named, globals(), "__new__", tuple(defaults))

    @classmethod
    def _make(cls, values):
        made = _new(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes):
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    def _repr(self):
        return f"{type(self).__name__}({', '.join([f'{k}={v!r}' for k, v in zip(self._fields, self, strict=True)])})"

    def _getnewargs(self):
        return tuple(self)

    _SHARED = {
        "__slots__": (),
        "_make": _make,
        "_replace": _replace,
        "_asdict": _asdict,
        "__repr__": _repr,
        "__getnewargs__": _getnewargs,
    }

    class _Named(type):
        """Makes the tuple of a class that is declared: annotated members are its fields, in order."""

        def __new__(cls, name, bases, members):  # noqa: ARG004  as of every metaclass
            fields = tuple(members.get("__annotations__", ()))
            defaults = {field: members[field] for field in fields if field in members}
            if [*defaults] != [*fields[len(fields) - len(defaults) :]]:
                raise TypeError(f"{name}: a field without a default follows one with a default")
            getters = {field: _tuplegetter(n, None) for n, field in enumerate(fields)}
            facts = {"_fields": fields, "__match_args__": fields, "_field_defaults": defaults}
            constructor = _constructor(name, fields, defaults.values())
            return type(name, (tuple,), {**_SHARED, "__new__": constructor, **facts, **members, **getters})

    NamedTuple = type.__new__(_Named, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
