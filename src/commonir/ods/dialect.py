"""Dialects and the registry of those in use, which is a value and is passed in.

A dialect is found through the entry points of installed packages (group `commonir.dialects`), ours like anybody's; ours are
also listed here, so that finding them costs no scan of installed packages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import import_module

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
        self._loaded = {d.name: d for d in given}
        self._discover = discover
        self._references = dict(_OURS) if discover else {}
        self._scanned = not discover

    def get(self, name: str) -> Dialect | None:
        """The dialect of a name."""
        found = self._loaded.get(name)
        if found is not None:
            return found
        if name not in self._references:
            self._scan()
        reference = self._references.get(name)
        return None if reference is None else self._load(name, reference)

    def names(self) -> tuple[str, ...]:
        """Names of all dialects that can be had, sorted."""
        self._scan()
        return tuple(sorted({*self._loaded, *self._references}))

    def find(self, name: str, version: str = "") -> type[Op] | None:
        """The definition of an operation by its full name, such as `mil.conv`."""
        dialect = self.get(name.partition(".")[0])
        return None if dialect is None else dialect.find(name, version)

    def _load(self, name: str, reference: str) -> Dialect:
        module, _, member = reference.partition(":")
        found = getattr(import_module(module), member)
        if not isinstance(found, Dialect):
            raise TypeError(f"entry point '{name}' of {ENTRY_POINTS} is not a Dialect: {reference}")
        self._loaded[name] = found
        return found

    def _scan(self) -> None:
        if self._scanned:
            return
        self._scanned = True
        from importlib.metadata import entry_points

        for entry in entry_points(group=ENTRY_POINTS):
            self._references.setdefault(entry.name, entry.value)
