"""Dialects and the registry of those in use, which is a value and is passed as an argument.

Dialects are found by the entry points of installed packages (group `commonir.dialects`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonir.base.diagnostics import InternalError
from commonir.base.plugins import Plugins, imported
from commonir.ods.operation import Op
from commonir.ods.rules import Rules

if TYPE_CHECKING:
    from commonir.ods.own_forms import OwnForms
    from commonir.ods.parameter_forms import ParameterForm

ENTRY_POINTS = "commonir.dialects"

OURS = {
    "builtin": "commonir.dialects.mlir.builtin:DIALECT",
    "ml_program": "commonir.dialects.mlir.ml_program:DIALECT",
    "core": "commonir.dialects.core:DIALECT",
    "common_ir": "commonir.dialects.common_ir:DIALECT",
    "mil": "commonir.dialects.mil:DIALECT",
    "onnx": "commonir.dialects.onnx:DIALECT",
    "arith": "commonir.dialects.mlir.arith:DIALECT",
    "ark": "commonir.dialects.ark:DIALECT",
    "cf": "commonir.dialects.mlir.cf:DIALECT",
    "complex": "commonir.dialects.mlir.complex:DIALECT",
    "func": "commonir.dialects.mlir.func:DIALECT",
    "index": "commonir.dialects.mlir.index:DIALECT",
    "math": "commonir.dialects.mlir.math:DIALECT",
    "scf": "commonir.dialects.mlir.scf:DIALECT",
    "sdy": "commonir.dialects.mlir.sdy:DIALECT",
    "shape": "commonir.dialects.mlir.shape:DIALECT",
    "tensor": "commonir.dialects.mlir.tensor:DIALECT",
    "linalg": "commonir.dialects.mlir.linalg:DIALECT",
    "check": "commonir.dialects.mlir.stablehlo.check:DIALECT",
    "chlo": "commonir.dialects.mlir.stablehlo.chlo:DIALECT",
    "interpreter": "commonir.dialects.mlir.stablehlo.interpreter:DIALECT",
    "stablehlo": "commonir.dialects.mlir.stablehlo:DIALECT",
    "tosa": "commonir.dialects.mlir.tosa:DIALECT",
    "ub": "commonir.dialects.mlir.ub:DIALECT",
}
"""The built-in dialects by name, as `module:member`."""


class LazyDefinitions(Iterable["type[Op]"]):
    """The definitions of a dialect that is a package, where each operation has one.

    `members` are the names that the modules of the package define, separated by spaces, by module; type checkers read
    them from the `__init__.pyi` of the package, which `python -m tests.member_stubs` writes. A module is loaded
    when one of its members is used, or an operation whose class has its name, such as `IntDiv` for `tosa.intdiv`; any
    other look-up loads all modules.
    """

    def __init__(self, package: str, members: Mapping[str, str]) -> None:
        self._package = package
        self._prefix = f"{package.rpartition('.')[2]}."
        self._modules = {name: module for module, names in members.items() for name in names.split()}
        self._likely = {name.rstrip("_").lower(): name for name in self._modules}

    def __iter__(self) -> Iterator[type[Op]]:
        return iter(definitions_in({name: self.member(name) for name in self._modules}, self._prefix[:-1]))

    def member(self, name: str) -> object:
        """Returns a member of the package. Raises: AttributeError."""
        if name not in self._modules:
            raise AttributeError(f"module '{self._package}' has no attribute '{name}'")
        return getattr(import_module(f"{self._package}.{self._modules[name]}"), name)

    def called(self, name: str) -> type[Op] | None:
        """Returns the definition of an operation, by its full name, if its class has its name."""
        likely = self._likely.get(name.removeprefix(self._prefix).replace("_", ""))
        result = None if likely is None else self.member(likely)
        if isinstance(result, type) and issubclass(result, Op) and result.name == name:
            return result
        return None


class _Versioned(Mapping[str, "tuple[type[Op], ...]"]):
    """Definitions by full name, oldest first. Those of older versions are built on demand."""

    def __init__(self, definitions: Iterable[type[Op]], order: Sequence[str]) -> None:
        self._order = order
        self._source = definitions
        self._entries: dict[str, list[tuple[str, type[Op]]]] = {}

    @cached_property
    def _definitions(self) -> Mapping[str, list[type[Op]]]:
        out: dict[str, list[type[Op]]] = {}
        for definition in self._source:
            out.setdefault(definition.name, []).append(definition)
        return out

    def __getitem__(self, name: str) -> tuple[type[Op], ...]:
        if name not in self._definitions:
            raise KeyError(name)
        return tuple([definition.at(version) for version, definition in self._of(name)])

    def __contains__(self, name: object) -> bool:
        return name in self._definitions

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    def newest(self, name: str, allowed: Callable[[str], bool]) -> type[Op] | None:
        """Returns the newest definition of a name that an allowed version added."""
        for version, definition in reversed(self._of(name)):
            if allowed(version):
                return definition.at(version)
        return None

    def _of(self, name: str) -> Sequence[tuple[str, type[Op]]]:
        """Returns the definitions of a name, with the versions that added them."""
        result, order = self._entries.get(name), self._order
        if result is None:
            only = self._source.called(name) if isinstance(self._source, LazyDefinitions) else None
            own = self._definitions.get(name, ()) if only is None else (only,)
            result = [(version, definition) for definition in own for version in definition.versions or ("",)]
            if len(result) > 1:
                result.sort(key=lambda entry: order.index(entry[0]) if entry[0] in order else -1)
            if result:
                self._entries[name] = result
        return result


class Dialect:
    """A set of operation definitions under one name.

    `versions` are the names of its versions, oldest first; `since` of a definition is the first that has it. Names that
    differ in more than their number belong to separate sets of operations with separate versions. `constants` are the
    operations, perhaps of other dialects, that represent folded results: the first applicable one is used. With
    `keeps_names`, names of values have a meaning in its formats. `rules` names the `Rules` of the dialect as
    `module:member`, loaded on first use. `forms` are types and attributes of the dialect whose parameters are known, by
    `!d.name` and `#d.name`. `own` names the `OwnForms` of the dialect, all of its types and attributes; without it,
    texts may have any. `source` returns the document that defines an operation whose docstring names none.
    `systems` returns the systems that have a version, as text, "" where versions belong to no systems. `meaningful` are
    the undeclared attributes of the dialect that matter to what a program does; the others serve its files.
    """

    def __init__(
        self,
        name: str,
        operations: Iterable[type[Op]],
        *,
        summary: str = "",
        versions: Iterable[str] = (),
        constants: str = "",
        rules: str = "",
        keeps_names: bool = False,
        forms: Mapping[str, ParameterForm] = MappingProxyType({}),
        own: str = "",
        source: Callable[[type[Op]], str] | None = None,
        systems: Callable[[str], str] = lambda _version: "",
        meaningful: Iterable[str] = (),
    ) -> None:
        if isinstance(operations, type):
            raise TypeError(f"Dialect '{name}' takes a sequence of definitions, found {operations!r}")
        self.name = name
        self.meaningful = frozenset(meaningful)
        self.systems = systems
        self.source = source
        self.constants = tuple(constants.split())
        self._rules = rules
        self.forms = forms
        self._own = own
        self.summary = summary
        self.keeps_names = keeps_names
        self.versions = tuple(versions)
        self._definitions = operations if isinstance(operations, LazyDefinitions) else self._own_among(operations)
        self._newest: dict[tuple[str, str], type[Op]] = {}

    def _own_among(self, operations: Iterable[type[Op]]) -> tuple[type[Op], ...]:
        """Returns definitions. Raises: ValueError for one whose name texts would look up in another dialect."""
        result = tuple(operations)
        for definition in result:
            if definition.name.partition(".")[0] != self.name:
                message = (
                    f"operations of dialect '{self.name}' are called '{self.name}.NAME', found '{definition.name}'"
                )
                raise ValueError(message)
        return result

    def __repr__(self) -> str:
        return f"<Dialect {self.name}{': ' + self.summary if self.summary else ''}>"

    def replaced(self, operations: Iterable[type[Op]], forms: Mapping[str, ParameterForm], summary: str) -> Dialect:
        """Returns the dialect with additional or replaced definitions."""
        by_name = {definition.name: definition for definition in operations}
        return Dialect(
            self.name,
            [*by_name.values(), *[d for d in self._definitions if d.name not in by_name]],
            summary=summary or self.summary,
            versions=self.versions,
            constants=" ".join(self.constants),
            rules=self._rules,
            keeps_names=self.keeps_names,
            forms={**self.forms, **forms},
            source=self.source,
            systems=self.systems,
            meaningful=self.meaningful,
        )

    @cached_property
    def rules(self) -> Rules:
        """Returns the simplification rules of the dialect."""
        if not self._rules:
            return Rules()
        result = imported(self._rules)
        if not isinstance(result, Rules):
            raise InternalError(f"{self._rules} has no rules")
        return result

    @cached_property
    def own(self) -> OwnForms | None:
        """All types and attributes of the dialect; None if they are not declared."""
        if not self._own:
            return None
        from commonir.ods.own_forms import OwnForms  # noqa: PLC0415  few texts have attributes of dialects

        result = imported(self._own)
        if not isinstance(result, OwnForms):
            raise InternalError(f"{self._own} has no types and attributes")
        return result

    @cached_property
    def _versioned(self) -> _Versioned:
        return _Versioned(self._definitions, self.versions)

    @property
    def operations(self) -> Mapping[str, tuple[type[Op], ...]]:
        """Definitions by full name, oldest first."""
        return self._versioned

    def find(self, name: str, version: str = "") -> type[Op] | None:
        """Returns the newest definition of a full name that is not newer than a version; without a version, the
        newest.
        """
        age = self._ages.get(version)
        key = name, version if age else ""
        result = self._newest.get(key)
        if result is None:
            result = self._versioned.newest(name, lambda own: age is None or _is_within(self._ages.get(own), *age))
            if result is not None:
                self._newest[key] = result
        return result

    def version_text(self, version: str) -> str:
        """Returns a version for messages: the systems that have it, or its name."""
        return self.systems(version) or version

    def holds_in(self, definition: type[Op], version: str) -> bool:
        """Returns whether a definition is valid in a version; one without versions, or of another set, always is."""
        expected, own = self._ages.get(version), self._ages.get(definition.since)
        if expected is None or own is None or expected[0] != own[0]:
            return True
        return self.find(definition.name, version) is definition

    def newer_versions(self, version: str) -> tuple[str, ...]:
        """Returns the versions of the same set of operations after one, oldest first."""
        age = self._ages.get(version)
        ages = self._ages.items()
        return tuple([v for v, (family, n) in ages if age is not None and family == age[0] and n > age[1]])

    @cached_property
    def _ages(self) -> Mapping[str, tuple[str, int]]:
        return {v: (_family(v), n) for n, v in enumerate(self.versions)}


def _family(version: str) -> str:
    """Returns the part of a version's name before its number; "" for a name without a number."""
    stem = version.rstrip("0123456789")
    return "" if stem == version else stem


def _is_within(age: tuple[str, int] | None, family: str, limit: int) -> bool:
    return age is None or age[0] != family or age[1] <= limit


def definitions_in(namespace: Mapping[str, object], dialect: str) -> tuple[type[Op], ...]:
    """Returns the definitions of a dialect among the members of a module, in order."""
    prefix = f"{dialect}."
    out: dict[type[Op], None] = {}
    for member in namespace.values():
        if isinstance(member, type) and issubclass(member, Op) and member.name.startswith(prefix):
            out[member] = None
    return tuple(out)


class Dialects:
    """The dialects in use. They are imported on first use.

    `forms` are those of the dialects in the argument. With `allows_unregistered`, programs may use dialects that are
    not known.
    """

    def __init__(
        self, dialects: Iterable[Dialect] = (), *, discover: bool = True, allows_unregistered: bool = False
    ) -> None:
        known = tuple(dialects)
        self.allows_unregistered = allows_unregistered
        self._plugins = Plugins(Dialect, ENTRY_POINTS, OURS, known, discover=discover)
        self.forms: Mapping[str, ParameterForm] = {k: v for dialect in known for k, v in dialect.forms.items()}

    def get(self, name: str) -> Dialect | None:
        """Returns the dialect of a name."""
        return self._plugins.get(name)

    def working(self) -> Iterator[Dialect]:
        """Yields all available dialects, except plugins that fail to load."""
        return iter(self._plugins)

    def names(self) -> tuple[str, ...]:
        """Returns the names of all available dialects, sorted."""
        return self._plugins.names()

    def is_meaningful(self, attribute: str) -> bool:
        """Returns whether an attribute says something about the operation, and not only how a file stores it."""
        prefix, dot, _ = attribute.partition(".")
        dialect = self.get(prefix) if dot else None
        return not dot or (dialect is not None and attribute in dialect.meaningful)

    def find(self, name: str, version: str = "") -> type[Op] | None:
        """Returns the definition of an operation by its full name, such as `mil.conv`."""
        dialect = self.get(name.partition(".")[0])
        return None if dialect is None else dialect.find(name, version)
