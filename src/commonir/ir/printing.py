"""The generic text form of operations, and the order in which every text form visits a program.

`Printer` has an explicit stack, so nesting needs no recursion, and yields lines incrementally. A subclass changes the
text of operations by overriding `pieces`; `Names` provides names of values. With `upstream`, layout and comments are
those of mlir-opt. Indentation is limited to `MAX_INDENT`, so that the text of deep programs stays linear in size.

Source: MLIR language reference, operations and regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonir.base.text import plural
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


class Part(NamedTuple):
    """A part of a program: the operations `shown`, without those that enclose them; `printed` has both. A comment
    replaces what is nested in shown operations and not shown. `centre` are those among them that were asked for.
    `titles` are comments in place of enclosing operations.
    """

    centre: frozenset[Operation]
    shown: frozenset[Operation]
    printed: frozenset[Operation]
    titles: Mapping[Operation, str]


Lines = Iterator["str | Lines"]
Piece = str | Nested


class Printer(ConstantPrinter):
    """Prints one program once. `elide`: constants of more elements are elided; None prints all.

    `locations` prints locations, `names` only their names; `part` selects the operations that are printed. `naming`
    has the names of values and blocks. `margin` is the indentation of the current operation, for forms that span lines.
    """

    def __init__(
        self,
        *,
        elide: int | None = DEFAULT_ELISION,
        locations: bool = False,
        names: bool = False,
        part: Part | None = None,
        upstream: bool = False,
        naming: Names | None = None,
    ) -> None:
        super().__init__(elide, upstream=upstream)
        self.locations = locations
        self.names = names
        self.part = part
        self.is_partial = part is not None
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
        """Returns the undeclared attributes that are printed in the generic form."""
        return self.undeclared(op)

    def undeclared(self, op: Operation) -> Mapping[str, Attribute]:
        """Returns the undeclared attributes of the operation itself that are printed."""
        return op.discardable

    def is_printed(self, op: Operation) -> bool:
        """Returns whether an operation is printed, or one nested in it; asked only if `is_partial`."""
        return self.part is None or op in self.part.printed

    def omitted(self, block: Block) -> str:
        """Returns the comment about operations of a block that are not printed; asked only if `is_partial`."""
        count = sum(not self.is_printed(op) for op in block.operations)
        return plural(count, "operation") if count else ""

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
        if self.part is not None and op not in self.part.shown:
            if op in self.part.titles:
                yield f"{indent}// {self.part.titles[op]}"
            for region in op.regions:
                yield self._region(Nested(region), depth)
            return
        line = indent + (self.naming.bound(op) if op.results else "")
        self.margin = indent
        location = self.location_of(op) if self.locations or self.names else ""
        for piece in self.pieces(op):
            if isinstance(piece, str):
                line += piece
            else:
                yield line + "{"
                yield self._region(piece, depth + 1 + piece.deeper)
                line = f"{'  ' * min(depth + piece.deeper, self._deepest)}}}"
                self.margin = indent
        yield line + location

    def location_of(self, op: Operation) -> str:
        """Returns the location printed after an operation, where any are."""
        return self.location(op.location)

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
        is_enclosing = self.part is not None and region.parent not in self.part.shown
        for n, block in enumerate(region.blocks):
            if not is_enclosing and (n or self._shows_label(block, nested)):
                yield outer + self._header(block)
            lines: list[str] = []
            if self.is_partial and not is_enclosing and (note := self.omitted(block)):
                lines.append(f"{indent}// {note}")
            for op in block.operations:
                if self.is_partial and not self.is_printed(op):
                    continue
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
            if lines:
                yield "\n".join(lines)
        self.naming.close(scope)

    def _line(self, op: Operation) -> str:
        """Returns the text of an operation without regions."""
        bound = self.naming.bound(op) if op.results else ""
        location = self.location_of(op) if self.locations or self.names else ""
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
