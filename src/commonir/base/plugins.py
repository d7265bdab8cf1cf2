"""Objects found by name: ours, those passed in, and those that installed packages offer through entry points.

Ours are listed as references `module:member`, so that finding them imports nothing else and does not scan installed
packages; these are scanned for a name that is not ours, or for all names.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Generic, Protocol, TypeVar

from commonir.base.codes import BROKEN_PLUGIN
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import escape

_OWN = "commonir."


class PluginWarning(UserWarning):
    """A plugin of another package, or an optional package, does not work or is not used."""


def warn(message: str) -> None:
    """Warns of a plugin, once for each message."""
    warnings.warn(escape(message), PluginWarning, stacklevel=2)


@cache
def imported(reference: str) -> object:
    """Imports and returns the object that a reference `module:member` names."""
    module, _, member = reference.partition(":")
    return getattr(import_module(module), member)


class Named(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str:
        """The name by which it is selected."""
        ...


T = TypeVar("T", bound=Named)


class Plugins(Generic[T]):
    """Plugins of one type by name, loaded on first use.

    `group` is the group of entry points. An object of another type behind an entry point is an error when it is
    requested.
    """

    def __init__(
        self, cls: type[T], group: str, ours: Mapping[str, str], extra: Iterable[T] = (), *, discover: bool = True
    ) -> None:
        self._class = cls
        self._group = group
        self._loaded = {thing.name: thing for thing in extra}
        self._references = dict(ours) if discover else {}
        self._own = tuple(dict.fromkeys((*self._loaded, *self._references)))
        self._is_scanned = not discover

    def names(self) -> tuple[str, ...]:
        """Returns the names of all available objects, sorted."""
        self._scan()
        return tuple(sorted({*self._loaded, *self._references}))

    def __contains__(self, name: str) -> bool:
        """Returns whether an object has a name; installed packages are scanned for names that are not ours."""
        return name in self._loaded or name in self._references or name in self.names()

    def __iter__(self) -> Iterator[T]:
        """Yields all available objects, loading each; those of other packages last, without those that fail."""
        yield from self.own()
        yield from self.others()

    def own(self) -> Iterator[T]:
        """Yields ours and those that were passed in, loading each, without a scan of installed packages."""
        yield from self._working(self._own)

    def others(self) -> Iterator[T]:
        """Yields those of other packages, loading each, without those that fail."""
        yield from self._working([name for name in self.names() if name not in self._own])

    def _working(self, names: Iterable[str]) -> Iterator[T]:
        for name in names:
            try:
                plugin = self.get(name)
            except DiagnosticError as error:
                warn(error.diagnostics[0].message)
                continue
            if plugin is not None:
                yield plugin

    def get(self, name: str) -> T | None:
        """Returns the object with a name; None when there is none.

        Raises: DiagnosticError (E0715) when it cannot be loaded, or is not what its entry point promises.
        """
        result = self._loaded.get(name)
        if result is not None:
            return result
        if name not in self._references:
            self._scan()
        reference = self._references.get(name)
        if reference is None:
            return None
        built = self._load(name, reference)
        self._loaded[name] = built
        return built

    def _load(self, name: str, reference: str) -> T:
        try:
            result = imported(reference)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if reference.startswith(_OWN):
                raise
            raise self._broken(name, reference, f"{type(error).__name__}: {error}") from error
        # Asking a protocol costs more than everything else here.
        if not reference.startswith(_OWN) and not isinstance(result, self._class):
            raise self._broken(name, reference, f"it is not a {self._class.__name__}")
        return result  # pyright: ignore[reportReturnType]  ours are of the kind under which they are listed

    def _broken(self, name: str, reference: str, reason: str) -> DiagnosticError:
        message = f"the plugin '{name}' ({self._group}) cannot be loaded: {reason}"
        help = "update or uninstall the package that offers it"
        return DiagnosticError(Diagnostic(BROKEN_PLUGIN, message, notes=(f"found: {reference}",), help=help))

    def _scan(self) -> None:
        if self._is_scanned:
            return
        self._is_scanned = True
        # Scanning installed packages costs more than the rest of start-up.
        from importlib.metadata import entry_points  # noqa: PLC0415

        try:
            entries = entry_points(group=self._group)
        except Exception as error:  # noqa: BLE001  damaged metadata of any installed package
            warn(f"plugins ({self._group}) cannot be searched: {type(error).__name__}: {error}")
            return
        for entry in entries:
            used = self._references.setdefault(entry.name, entry.value)
            if used != entry.value or entry.name in self._loaded:
                warn(f"the plugin '{entry.name}' ({self._group}) is not used, as its name is taken: {entry.value}")
