"""`typing.NamedTuple` without its checks of annotations, which it compiles one by one in each process."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _Named(type):
        """Makes the tuple of a class that is declared: annotated members are its fields, in order."""

        def __new__(cls, name, bases, members):  # noqa: ARG004  as of every metaclass
            fields = members.get("__annotations__", {})
            defaults = [members[field] for field in fields if field in members]
            result = namedtuple(name, fields, defaults=defaults, module=members["__module__"])  # noqa: PYI024  see above
            for key, value in members.items():
                if key not in fields:
                    setattr(result, key, value)
            return result

    NamedTuple = type.__new__(_Named, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
