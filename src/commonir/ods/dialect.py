"""Dialects and the registry of those in use, which is a value and is passed in.

A dialect is found through the entry points of installed packages (group `commonir.dialects`), ours like anybody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from commonir.base.plugins import Plugins
from commonir.ods.operation import Op

ENTRY_POINTS = "commonir.dialects"

_OURS = {
    "builtin": "commonir.dialects.builtin:DIALECT",
    "ml_program": "commonir.dialects.ml_program:DIALECT",
    "core": "commonir.dialects.core:DIALECT",
    "mil": "commonir.dialects.mil:DIALECT",
    "onnx": "commonir.dialects.onnx:DIALECT",
}


class Dialect:
    """A set of operation definitions under one name.

    `versions` are the names of its versions, oldest first; a definition says by `since` from which one it holds.
    """

    def __init__(
        self, name: str, operations: Iterable[type[Op]], *, summary: str = "", versions: Iterable[str] = ()
    ) -> None:
        self.name = name
        self.summary = summary
        self.versions = tuple(versions)
        self._definitions = tuple(operations)

    @cached_property
    def operations(self) -> Mapping[str, tuple[type[Op], ...]]:
        """Definitions by full name, oldest first."""
        out: dict[str, list[type[Op]]] = {}
        for definition in self._definitions:
            out.setdefault(definition.name, []).append(definition)
        return {name: tuple(sorted(found, key=self._age)) for name, found in out.items()}

    def _age(self, definition: type[Op]) -> int:
        return self.versions.index(definition.since) if definition.since in self.versions else -1

    def find(self, name: str, version: str = "") -> type[Op] | None:
        """The newest definition of a full name that is not newer than a version; without a version, the newest."""
        found = self.operations.get(name, ())
        if version in self.versions:
            limit = self.versions.index(version)
            found = tuple(d for d in found if self._age(d) <= limit)
        return found[-1] if found else None


def definitions_in(namespace: Mapping[str, object], dialect: str) -> tuple[type[Op], ...]:
    """The definitions of a dialect among the members of a module, in order."""
    prefix = f"{dialect}."
    out: dict[type[Op], None] = {}
    for member in namespace.values():
        if isinstance(member, type) and issubclass(member, Op) and member.name.startswith(prefix):
            out[member] = None
    return tuple(out)


class Dialects:
    """The dialects in use. Those that are named but not loaded yet are imported when first asked for."""

    def __init__(self, given: Iterable[Dialect] = (), *, discover: bool = True) -> None:
        self._plugins = Plugins(Dialect, ENTRY_POINTS, _OURS, given, discover=discover)

    def get(self, name: str) -> Dialect | None:
        """The dialect of a name."""
        return self._plugins.get(name)

    def working(self) -> Iterator[Dialect]:
        """All dialects that can be had, but for plugins that fail to load."""
        return iter(self._plugins)

    def names(self) -> tuple[str, ...]:
        """Names of all dialects that can be had, sorted."""
        return self._plugins.names()

    def find(self, name: str, version: str = "") -> type[Op] | None:
        """The definition of an operation by its full name, such as `mil.conv`."""
        dialect = self.get(name.partition(".")[0])
        return None if dialect is None else dialect.find(name, version)
