"""Names of values and blocks in a text.

`Names` is the protocol of a printer. `OwnNames` uses the names of values and blocks, converted to identifiers that
are unique in their scope, and numbers those without one. `text/upstream_names.py` names them as mlir-opt does.
Source: MLIR language reference, identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from commonir.base.lazy import lazy_pattern
from commonir.ir.operation import Block, Operation, Region, Value

_NOT_IN_NAMES = lazy_pattern(r"[^A-Za-z0-9_$.-]")
_BARE_NAME = lazy_pattern(r"[A-Za-z_$.-][A-Za-z0-9_$.-]*", re.ASCII)


class Names(Protocol):
    """Names of the values and blocks of one program."""

    def start(self, root: Operation) -> None:
        """Begins a text."""
        ...

    def value(self, value: Value) -> str:
        """Returns the name of a value where it is used, with its percent sign."""
        ...

    def values(self, values: Sequence[Value]) -> tuple[str, ...]:
        """Returns the names of several values."""
        ...

    def share(self, value: Value, other: Value) -> None:
        """Gives a value the name of a value in a sibling region, which is not visible to it."""
        ...

    def bound(self, op: Operation) -> str:
        """Returns the names of the results of an operation, with the equals sign."""
        ...

    def label(self, block: Block) -> str:
        """Returns the label of a block, with its caret."""
        ...

    def open(self, region: Region) -> object:
        """Begins the text of a region."""
        ...

    def close(self, scope: object) -> None:
        """Ends the text of a region; `scope` is what `open` returned."""
        ...


class _RegionScope:
    """The values named in a region, and the counter before it."""

    __slots__ = ("count", "values")

    def __init__(self, count: int) -> None:
        self.count = count
        self.values: list[Value] = []


class OwnNames:
    """Keeps the names of values and blocks. A nested region continues the numbering of the enclosing one."""

    def __init__(self) -> None:
        self._names: dict[Value, str] = {}
        self._labels: dict[Block, str] = {}
        self._taken: set[str] = set()
        self._suffixes: dict[str, int] = {}
        self._count = 0
        self._sharing: set[Value] = set()

    def start(self, root: Operation) -> None:
        for v in (*root.operands, *root.results):
            self.value(v)

    def value(self, value: Value) -> str:
        name = self._names.get(value)
        return self._name(value) if name is None else name

    def values(self, values: Sequence[Value]) -> tuple[str, ...]:
        return tuple(map(self.value, values))

    def share(self, value: Value, other: Value) -> None:
        self._names[value] = self.value(other)
        self._sharing.add(value)

    def bound(self, op: Operation) -> str:
        return ", ".join([self.value(v) for v in op.results]) + " = "

    def label(self, block: Block) -> str:
        return self._labels.get(block, "^<unknown>")

    def open(self, region: Region) -> object:
        # In a graph region a value may be used before it is defined.
        scope = _RegionScope(self._count)
        for block in region.blocks:
            scope.values += block.arguments
            for op in block.operations:
                scope.values += op.results
        for v in scope.values:
            self.value(v)
        self._labels.update(zip(region.blocks, _labels(region), strict=True))
        return scope

    def close(self, scope: object) -> None:
        assert isinstance(scope, _RegionScope)
        for v in scope.values:
            name = self._names.pop(v)
            if v in self._sharing:
                self._sharing.remove(v)
            else:
                self._taken.discard(name)
        self._count = scope.count

    def _name(self, value: Value) -> str:
        if value.name:
            name = self._unique(self.spelled(value.name))
        else:
            name = f"%{self._count}"
            while name in self._taken:
                self._count += 1
                name = f"%{self._count}"
            self._count += 1
        self._names[value] = name
        self._taken.add(name)
        return name

    def spelled(self, name: str) -> str:
        """Returns the name of a value as it is written."""
        return identifier(name)

    def _unique(self, name: str) -> str:
        result = f"%{name}"
        while result in self._taken:
            count = self._suffixes.get(name, 0)
            self._suffixes[name] = count + 1
            result = f"%{name}_{count}"
        return result


def identifier(name: str) -> str:
    """Returns a name as a valid value name of MLIR: other characters become `_`, and a leading digit is prefixed."""
    if _BARE_NAME.fullmatch(name):
        return name
    built = _NOT_IN_NAMES.sub("_", name)
    return f"_{built}" if built[0].isdigit() else built


def _labels(region: Region) -> list[str]:
    """Returns unique labels for the blocks of a region, derived from their own labels if they have one."""
    out: list[str] = []
    taken: set[str] = set()
    for n, block in enumerate(region.blocks):
        label = f"^{identifier(block.label) if block.label else f'bb{n}'}"
        while label in taken:
            label += "_"
        taken.add(label)
        out.append(label)
    return out
