"""The generic text form of operations, and the order in which every text form visits a program.

`Printer` walks with a stack of its own, so nesting costs no recursion, and yields lines as it goes. A subclass changes
what an operation looks like by overriding `pieces`. Names: a value keeps its own where it has one, made an identifier
and unique in its scope; other values are numbered. Indentation stops growing at `MAX_INDENT`, so that deep programs
stay linear in size. Source: MLIR language reference, operations and regions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from commonir.ir.attribute_text import DEFAULT_ELISION, attribute_text, dictionary_text, quoted

if TYPE_CHECKING:
    from commonir.ir.attributes import Attribute
    from commonir.ir.operation import Block, Location, Operation, Region, Value
    from commonir.ir.types import Type

MAX_INDENT = 40
"""Levels of nesting that are indented."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_$.-]")
_BARE_NAME = re.compile(r"[A-Za-z_$.-][A-Za-z0-9_$.-]*", re.ASCII)


class Nested(NamedTuple):
    """A region within the text of its operation. `named`: the arguments of its first block are printed before it."""

    region: Region
    named: bool = False


class Neighbourhood(NamedTuple):
    """The part of a program that is printed: `kept` is `shown` and what holds it; a comment stands for the rest."""

    shown: frozenset[Operation]
    kept: frozenset[Operation]

    @staticmethod
    def around(ops: Iterable[Operation], distance: int) -> Neighbourhood:
        """The operations, and up to `distance` operations before and after each in its block."""
        shown: set[Operation] = set()
        for op in ops:
            before: Operation | None = op
            after: Operation | None = op
            shown.add(op)
            for _ in range(distance):
                before = before.previous if before is not None else None
                after = after.next if after is not None else None
                shown.update(o for o in (before, after) if o is not None)
        return Neighbourhood(frozenset(shown), frozenset({a for op in shown for a in op.ancestors()} | shown))


Lines = Iterator["str | Lines"]
Piece = str | Nested


class Printer:
    """Prints one program once. `elide`: constants of more elements are left out, None prints all.

    `locations` adds where operations come from, `names` only their names; `around` leaves out what is far from some
    operations.
    """

    def __init__(
        self,
        *,
        elide: int | None = DEFAULT_ELISION,
        locations: bool = False,
        names: bool = False,
        around: Neighbourhood | None = None,
    ) -> None:
        self.elide = elide
        self.locations = locations
        self.names = names
        self.around = around
        self._names: dict[Value, str] = {}
        self._taken: set[str] = set()
        self._suffixes: dict[str, int] = {}
        self._count = 0
        self._types: dict[Type, str] = {}
        self._labels: dict[Block, str] = {}

    def lines(self, root: Operation) -> Iterator[str]:
        """The text of an operation and all it holds, line by line."""
        for v in (*root.operands, *root.results):
            self.value(v)
        stack: list[Lines] = [self._operation(root, 0)]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
            elif isinstance(item, str):
                yield item
            else:
                stack.append(item)

    # -- what an operation looks like

    def pieces(self, op: Operation) -> Sequence[Piece]:
        """The text of an operation after its results, with its regions in place. The generic form."""
        return self.generic(op)

    def generic(self, op: Operation) -> list[Piece]:
        """The generic form: everything is said, and it reads back without knowing the operation."""
        text = f"{quoted(op.name)}({self.values(op.operands)})"
        if op.successors:
            text += f"[{', '.join([self.label(block) for block in op.successors])}]"
        properties = op.properties
        if properties:
            text += f" <{dictionary_text(properties.items(), self.elide)}>"
        out: list[Piece] = [text]
        for n, region in enumerate(op.regions):
            out += (", " if n else " (", Nested(region))
        ending = ")" if op.regions else ""
        extra = self.discardable(op)
        if extra:
            ending += f" {dictionary_text(extra.items(), self.elide)}"
        operands = ", ".join([self.type(v.type) for v in op.operands])
        out.append(f"{ending} : ({operands}) -> {self.result_types([r.type for r in op.results])}")
        return out

    def discardable(self, op: Operation) -> Mapping[str, Attribute]:
        """Undeclared attributes as they are printed."""
        return op.discardable

    def value(self, value: Value) -> str:
        """The name of a value, with its percent sign."""
        found = self._names.get(value)
        return self._name(value) if found is None else found

    def values(self, values: Iterable[Value]) -> str:
        """Names of values, separated by commas."""
        return ", ".join([self.value(v) for v in values])

    def type(self, type: Type) -> str:
        """A type."""
        found = self._types.get(type)
        if found is None:
            found = self._types[type] = str(type)
        return found

    def result_types(self, types: Sequence[Type]) -> str:
        """The right side of a signature."""
        if len(types) == 1:
            shown = self.type(types[0])
            return f"({shown})" if shown.startswith("(") else shown
        return f"({', '.join([self.type(t) for t in types])})"

    # -- the walk

    def _operation(self, op: Operation, depth: int) -> Lines:
        indent = "  " * min(depth, MAX_INDENT)
        count = self._count
        line = indent + self._bound(op)
        for piece in self.pieces(op):
            if isinstance(piece, str):
                line += piece
            else:
                yield line + "{"
                yield self._region(piece, depth + 1)
                line = indent + "}"
        yield line + self._location(op.location)
        self._count = count

    def _bound(self, op: Operation) -> str:
        return f"{self.values(op.results)} = " if op.results else ""

    def _location(self, location: Location | None) -> str:
        if location is None or not (self.locations or (self.names and location.name)):
            return ""
        if not self.locations:
            return f" loc({quoted(location.name)})"
        place = f"{quoted(location.file)}:{location.line}:{location.column}" if location.line else ""
        name = quoted(location.name) if location.name else ""
        return f" loc({f'{name}({place})' if name and place else name or place or 'unknown'})"

    def _region(self, nested: Nested, depth: int) -> Lines:
        region, named = nested
        count, scope = self._count, self._open(region)
        self._labels.update(zip(region.blocks, _labels(region), strict=True))
        indent = "  " * min(depth, MAX_INDENT)
        for n, block in enumerate(region.blocks):
            if n or block.label or (not named and (block.arguments or not len(block))):
                yield "  " * min(depth - 1, MAX_INDENT) + self._header(block)
            skipped = 0
            for op in block.operations:
                if self.around is not None and op not in self.around.kept:
                    skipped += 1
                    continue
                if skipped:
                    yield f"{indent}// {skipped} operations"
                    skipped = 0
                if op.regions:
                    yield self._operation(op, depth)
                else:
                    location = self._location(op.location) if self.locations or self.names else ""
                    yield indent + self._bound(op) + "".join(map(str, self.pieces(op))) + location
            if skipped:
                yield f"{indent}// {skipped} operations"
        self._close(scope)
        self._count = count

    def label(self, block: Block) -> str:
        """The label of a block."""
        return self._labels.get(block, "^<unknown>")

    def _header(self, block: Block) -> str:
        arguments = ", ".join([f"{self.value(a)}: {self.type(a.type)}" for a in block.arguments])
        return f"{self.label(block)}{f'({arguments})' if arguments else ''}:"

    # -- names

    def _open(self, region: Region) -> list[Value]:
        """Names everything a region defines: in a graph region it may be used before it is defined."""
        scope: list[Value] = []
        for block in region.blocks:
            scope += block.arguments
            for op in block.operations:
                scope += op.results
        for v in scope:
            self.value(v)
        return scope

    def _close(self, scope: list[Value]) -> None:
        for v in scope:
            self._taken.discard(self._names.pop(v))

    def _name(self, value: Value) -> str:
        if value.name:
            name = self._unique(identifier(value.name))
        else:
            name = f"%{self._count}"
            while name in self._taken:
                self._count += 1
                name = f"%{self._count}"
            self._count += 1
        self._names[value] = name
        self._taken.add(name)
        return name

    def _unique(self, name: str) -> str:
        made = f"%{name}"
        while made in self._taken:
            count = self._suffixes.get(name, 0)
            self._suffixes[name] = count + 1
            made = f"%{name}_{count}"
        return made


def identifier(name: str) -> str:
    """A name as MLIR lets values have it: other characters become `_`, and it does not look like a number."""
    if _BARE_NAME.fullmatch(name):
        return name
    made = _NOT_IN_NAMES.sub("_", name)
    return f"_{made}" if made[0].isdigit() else made


def _labels(region: Region) -> list[str]:
    """Labels of the blocks of a region: their own where they have one, made unique."""
    out: list[str] = []
    taken: set[str] = set()
    for n, block in enumerate(region.blocks):
        label = f"^{identifier(block.label) if block.label else f'bb{n}'}"
        while label in taken:
            label += "_"
        taken.add(label)
        out.append(label)
    return out


__all__ = ["MAX_INDENT", "Lines", "Neighbourhood", "Nested", "Piece", "Printer", "attribute_text", "identifier"]
