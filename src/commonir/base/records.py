"""Immutable values with named fields that are cheap to declare: `dataclass` compiles methods for each class in each
process, although few of the classes are used.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, dataclass_transform


@dataclass_transform(frozen_default=True)
class Record:
    """Base of classes whose annotated members are the fields, in order; a member's value is its default.

    Constructing takes the fields by position or by name. Raises: TypeError for a wrong number or name of arguments.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__match_args__ = tuple(dict.fromkeys((*cls.__match_args__, *cls.__annotations__)))

    def __init__(self, *args: Any, **named: Any) -> None:
        cls, names = type(self), self.__match_args__
        values: dict[str, Any] = dict(zip(names, args, strict=False))
        twice = [name for name in named if name in values or name not in names]
        if len(args) > len(names) or twice:
            raise TypeError(f"{cls.__name__} takes {', '.join(names)}; {', '.join(twice) or len(args)} given")
        values.update(named)
        for name in names:
            if name not in values:
                if not hasattr(cls, name):
                    raise TypeError(f"{cls.__name__}: '{name}' is missing")
                values[name] = getattr(cls, name)
        self.__dict__.update(values)

    @classmethod
    def fields(cls) -> tuple[str, ...]:
        """Returns the names of the fields, in order."""
        return cls.__match_args__

    def replaced(self, **changes: object) -> Self:
        """Returns a copy with other values of some fields."""
        return type(self)(**{**self._values(), **changes})

    def _values(self) -> dict[str, object]:
        return {name: self.__dict__[name] for name in self.__match_args__}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"'{name}' of {type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"'{name}' of {type(self).__name__} cannot be removed")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), *self._values().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([f'{k}={v!r}' for k, v in self._values().items()])})"
