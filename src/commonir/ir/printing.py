"""The generic text form of operations, and the order in which every text form visits a program.

`Printer` has an explicit stack, so nesting needs no recursion, and yields lines incrementally. A subclass changes the
text of operations by overriding `pieces`; `Names` provides names of values. With `upstream`, layout and comments are
those of mlir-opt. Indentation is limited to `MAX_INDENT`, so that the text of deep programs stays linear in size.

Source: MLIR language reference, operations and regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, entries_text
from commonir.ir.constant_text import DEFAULT_ELISION, Constant, ConstantPrinter, Typing
from commonir.ir.literals import quoted
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Origin
from commonir.ir.types import FunctionType, Type
from commonir.ir.value_names import Names, OwnNames

MAX_INDENT = 40
"""Levels of nesting that are indented; mlir-opt indents all, and is followed up to `_MAX_UPSTREAM_INDENT`."""
_MAX_UPSTREAM_INDENT = 400

_LONGEST_CACHED = 400
_LINES_AT_ONCE = 256
# Longer lines, which contain large constants, are not copied again.
_LONG = 10_000


class Inexpressible(Exception):
    """The form of a definition cannot express this operation: it is printed in the generic form."""


class Nested(NamedTuple):
    """A region within the text of its operation.

    `named`: the arguments of its first block are printed before it. `terminator`: its first block shows its last
    operation. `empty_block`: an empty first block shows its label. `deeper`: levels it is indented more than usual.
    """

    region: Region
    named: bool = False
    terminator: bool = True
    empty_block: bool = True
    deeper: int = 0


class Neighbourhood(NamedTuple):
    """The part of a program that is printed: `printed` are the operations of `shown` and those that enclose them.
    Comments replace the rest.
    """

    shown: frozenset[Operation]
    printed: frozenset[Operation]

    @staticmethod
    def around(ops: Iterable[Operation], distance: int) -> Neighbourhood:
        """Returns the part of a program with these operations, and up to `distance` ones before and after each."""
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


class Printer(ConstantPrinter):
    """Prints one program once. `elide`: constants of more elements are elided; None prints all.

    `locations` prints locations, `names` only their names; `around` selects the operations that are printed. `naming`
    has the names of values and blocks. `margin` is the indentation of the current operation, for forms that span lines.
    """

    def __init__(
        self,
        *,
        elide: int | None = DEFAULT_ELISION,
        locations: bool = False,
        names: bool = False,
        around: Neighbourhood | None = None,
        upstream: bool = False,
        naming: Names | None = None,
    ) -> None:
        super().__init__(elide, upstream=upstream)
        self.locations = locations
        self.names = names
        self.around = around
        self.naming: Names = OwnNames() if naming is None else naming
        self._deepest = _MAX_UPSTREAM_INDENT if upstream else MAX_INDENT
        self._known: dict[tuple[Constant, Typing] | Constant, str] = {}
        self._predecessors: dict[Block, list[Block]] = {}
        self.margin = ""

    def lines(self, root: Operation) -> Iterator[str]:
        """Yields the text of an operation and everything nested in it, in chunks of lines."""
        self.naming.start(root)
        stack: list[Lines] = [self._operation(root, 0)]
        while stack:
            item = next(stack[-1], None)
            if item is None:
                stack.pop()
            elif isinstance(item, str):
                yield item
            else:
                stack.append(item)

    # -- the text of an operation

    def pieces(self, op: Operation) -> Iterable[Piece]:
        """Returns the text of an operation after its results, with its regions. By default the generic form."""
        return self.generic(op)

    def generic(self, op: Operation) -> Iterable[Piece]:
        """Returns the generic form, which is complete and can be read without the definition."""
        # mlir-opt numbers aliases of types before those of attributes.
        operands = ", ".join([self.type(v.type) for v in op.operands])
        signature = f"({operands}) -> {self.result_types([r.type for r in op.results])}"
        text = f"{quoted(op.name)}({self.values(op.operands)})"
        if op.successors:
            text += f"[{', '.join([self.label(block) for block in op.successors])}]"
        properties = op.properties
        if properties or op.has_properties:
            text += f" <{self.properties_text(op, properties)}>"
        out: list[Piece] = [text]
        for n, region in enumerate(op.regions):
            out += (", " if n else " (", Nested(region))
        ending = ")" if op.regions else ""
        extra = self.discardable(op)
        if extra:
            ending += f" {self.dictionary(extra)}"
        out.append(f"{ending} : {signature}")
        return out

    def properties_text(self, op: Operation, properties: Mapping[str, Attribute]) -> str:  # noqa: ARG002
        """Returns the properties of an operation in the generic form."""
        return self.dictionary(properties)

    def discardable(self, op: Operation) -> Mapping[str, Attribute]:
        """Returns the undeclared attributes that are printed."""
        return op.discardable

    def is_terminator(self, op: Operation) -> bool:  # noqa: ARG002  the generic form shows all operations
        """Returns whether an operation is a terminator by its definition, which custom forms may omit."""
        return False

    def value(self, value: Value) -> str:
        """Returns the name of a value, with its percent sign."""
        return self.naming.value(value)

    def values(self, values: Iterable[Value]) -> str:
        """Returns names of values, separated by commas."""
        return ", ".join(self.naming.values(tuple(values)))

    def label(self, block: Block) -> str:
        """Returns the label of a block, with its caret."""
        return self.naming.label(block)

    def type(self, type: Constant) -> str:
        result = self._known.get(type)
        if result is None:
            result = self._known[type] = type.text(self)
        return result

    def attribute(self, attr: Constant, typing: Typing = "typed") -> str:
        result = self._known.get((attr, typing))
        if result is None:
            result = super().attribute(attr, typing)
            if len(result) <= _LONGEST_CACHED:
                self._known[attr, typing] = result
        return result

    def dictionary(self, entries: Mapping[str, Attribute]) -> str:
        """Returns attributes by name, in braces."""
        return entries_text(entries.items(), self)

    def argument(self, value: Value) -> str:
        """Returns an argument of a block with its type."""
        return f"{self.value(value)}: {self.type(value.type)}"

    def result_types(self, types: Sequence[Type]) -> str:
        """Returns the right side of a signature."""
        if len(types) == 1 and not isinstance(types[0], FunctionType):
            return self.type(types[0])
        return f"({', '.join([self.type(t) for t in types])})"

    # -- the walk

    def _operation(self, op: Operation, depth: int) -> Lines:
        indent = "  " * min(depth, self._deepest)
        line = indent + (self.naming.bound(op) if op.results else "")
        self.margin = indent
        location = self.location(op.location) if self.locations or self.names else ""
        for piece in self.pieces(op):
            if isinstance(piece, str):
                line += piece
            else:
                yield line + "{"
                yield self._region(piece, depth + 1 + piece.deeper)
                line = f"{'  ' * min(depth + piece.deeper, self._deepest)}}}"
                self.margin = indent
        yield line + location

    def location(self, location: Origin | None) -> str:
        """Returns the location printed after an operation."""
        if location is None or not (self.locations or (self.names and location.name)):
            return ""
        if not self.locations:
            return f" loc({quoted(location.name)})"
        if isinstance(location, Constant):
            return f" loc({self.nested_location(location)})"
        position = f"{quoted(location.file)}:{location.line}:{location.column}" if location.line else ""
        name = quoted(location.name) if location.name else ""
        return f" loc({f'{name}({position})' if name and position else name or position or 'unknown'})"

    def _region(self, nested: Nested, depth: int) -> Lines:
        region = nested.region
        scope = self.naming.open(region)
        if self.upstream and len(region.blocks) > 1:
            self._predecessors = region.predecessors()
        indent = "  " * min(depth, self._deepest)
        outer = "  " * min(depth - 1, self._deepest)
        for n, block in enumerate(region.blocks):
            if n or self._shows_label(block, nested):
                yield outer + self._header(block)
            skipped = 0
            lines: list[str] = []
            for op in block.operations:
                if self.around is not None and op not in self.around.printed:
                    skipped += 1
                    continue
                if skipped:
                    lines.append(f"{indent}// {skipped} operations")
                    skipped = 0
                if not n and not nested.terminator and op.next is None and self.is_terminator(op):
                    break
                self.margin = indent
                line = "" if op.regions else indent + self._line(op)
                if lines and (len(lines) == _LINES_AT_ONCE or op.regions or len(line) > _LONG):
                    yield "\n".join(lines)
                    lines = []
                if op.regions:
                    yield self._operation(op, depth)
                elif len(line) > _LONG:
                    yield line
                else:
                    lines.append(line)
            if skipped:
                lines.append(f"{indent}// {skipped} operations")
            if lines:
                yield "\n".join(lines)
        self.naming.close(scope)

    def _line(self, op: Operation) -> str:
        """Returns the text of an operation without regions."""
        bound = self.naming.bound(op) if op.results else ""
        location = self.location(op.location) if self.locations or self.names else ""
        pieces = self.pieces(op)
        text = pieces[0] if isinstance(pieces, list) and len(pieces) == 1 else "".join(map(str, pieces))
        return f"{bound}{text}{location}"

    def _shows_label(self, block: Block, nested: Nested) -> bool:
        if block.label and not self.upstream:
            return True
        return not nested.named and bool(block.arguments or (nested.empty_block and not len(block)))

    def _header(self, block: Block) -> str:
        arguments = ", ".join(map(self.argument, block.arguments))
        shown = f"{self.label(block)}{f'({arguments})' if arguments else ''}:"
        if not self.upstream or block.parent is None:
            return shown
        before = self._predecessors_of(block)
        if len(before) == 1:
            return f"{shown}  // pred: {self.label(before[0])}"
        if before:
            return f"{shown}  // {len(before)} preds: {', '.join(map(self.label, before))}"
        return shown if block is block.parent.blocks[0] else f"{shown}  // no predecessors"

    def _predecessors_of(self, block: Block) -> list[Block]:
        region = block.parent
        if region is None or len(region.blocks) == 1:
            return []
        if block not in self._predecessors:
            # The cache has the last region printed, which may be nested in an earlier block.
            self._predecessors = region.predecessors()
        return self._predecessors[block]
