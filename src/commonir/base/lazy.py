"""Modules that are loaded, and regular expressions that are compiled, on first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING


class LazyModule:
    """A proxy of a module that is loaded on first use.

    A member in lower case is a function, which can be named without loading the module and is looked up when it is
    called. Any other member loads the module.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_loaded = False

    def __getattr__(self, name: str) -> object:
        if not self._is_loaded and name[0].islower():
            return _LazyFunction(self, name)
        result = self.loaded(name)
        vars(self)[name] = result
        return result

    def loaded(self, name: str) -> object:
        """Returns a member of the module after loading it."""
        module = import_module(self._name)
        self._is_loaded = True
        return getattr(module, name)


class _LazyFunction:
    """A function of a module that was not loaded yet when the function was named."""

    __slots__ = ("_function", "_module", "_name")

    def __init__(self, module: LazyModule, name: str) -> None:
        self._module = module
        self._name = name
        self._function: object = None

    @property
    def __wrapped__(self) -> Callable[..., object]:
        if self._function is None:
            self._function = self._module.loaded(self._name)
        assert callable(self._function)
        return self._function

    def __call__(self, *args: object, **named: object) -> object:
        return self.__wrapped__(*args, **named)


def import_members(namespace: dict[str, object], members: Mapping[str, str], package: str = "") -> None:
    """Imports the members that the modules of a package define into a namespace; its own package by default.

    `members` are the names, separated by spaces, by module. Type checkers read them from the `__init__.pyi` beside the
    package, which `python -m tests.member_stubs` writes.
    """
    for module, names in members.items():
        loaded = import_module(f"{package or namespace['__name__']}.{module}")
        namespace.update({name: getattr(loaded, name) for name in names.split()})


def lazy_members(
    namespace: dict[str, object], members: Mapping[str, str], others: Mapping[str, str]
) -> Callable[[str], object]:
    """Returns a `__getattr__` for a package that loads the members of its modules on first use.

    `members` is as for `import_members`; the modules of `others` are named from the outermost package on.
    """
    package = str(namespace["__name__"])
    outermost = package.partition(".")[0]
    modules = {name: f"{package}.{module}" for module, names in members.items() for name in names.split()}
    modules.update({name: f"{outermost}.{module}" for module, names in others.items() for name in names.split()})

    def load(name: str) -> object:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        result = namespace[name] = getattr(import_module(module), name)
        return result

    return load


if TYPE_CHECKING:
    from re import compile as lazy_pattern
else:

    class _LazyPattern:
        """A regular expression that is compiled when it is first used."""

        def __init__(self, pattern, flags=0):
            self._pattern = pattern
            self._flags = flags

        def __getattr__(self, name):
            result = getattr(re.compile(self._pattern, self._flags), name)
            vars(self)[name] = result
            return result

    lazy_pattern = _LazyPattern

__all__ = ["LazyModule", "import_members", "lazy_pattern"]
