"""Printers of MLIR text without the forms of operations: the generic form, names and aliases.

Source: behaviour of mlir-opt 22, checked in `tests/text/test_mlir_opt.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.lazy import lazy_pattern
from commonir.ir.affine import AffineMapAttr, IntegerSetAttr
from commonir.ir.attributes import Attribute, DialectAttr, DistinctAttr, StringAttr, UnitAttr
from commonir.ir.constant_text import Constant, Typing
from commonir.ir.literals import quoted, symbol_text
from commonir.ir.locations import FileLineColLoc, LocationAttr, NameLoc, UnknownLoc
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Origin, TextLocation
from commonir.ir.printing import Nested, Part, Piece, Printer
from commonir.ods import Dialects, Op
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.fields import BOUND
from commonir.ods.traits import Terminator
from commonir.text.alias_printing import DEFERRED_MARK, Aliases, definition_only
from commonir.text.definitions import default_dialect, implicit_terminator
from commonir.text.lexer import SINCE
from commonir.text.resources import resource_lines
from commonir.text.upstream_names import UpstreamNames

_DEFERRED = lazy_pattern(f"{DEFERRED_MARK}(\\d+){DEFERRED_MARK}")


class VersionedPrinter(Printer):
    """Prints the generic form, with the versions of old definitions, and the aliases of mlir-opt."""

    def __init__(
        self,
        dialects: Dialects,
        versions: Mapping[str, str],
        *,
        elide: int | None,
        locations: bool,
        names: bool,
        part: Part | None,
        upstream: bool = False,
        generic: bool = False,
    ) -> None:
        naming = UpstreamNames(generic=generic) if upstream else None
        super().__init__(elide=elide, locations=locations, names=names, part=part, upstream=upstream, naming=naming)
        self.versions = versions
        self._dialects = dialects
        self._expected: dict[type[Operation], bool] = {}
        self._names: dict[tuple[str, str], str] = {}
        self.untyped: AbstractSet[Value] = frozenset()
        """Values whose types are not written where they are operands."""
        # Whether operations of the same types have those that a reader would infer.
        self.inferred: dict[object, bool] = {}
        # The last printed block, and the dialect whose operations need no prefix in it.
        self._block: Block | None = None
        self._default = default_dialect(None)
        self._aliases = Aliases()
        self._in_location = False
        self._deferred: list[str] = []
        self._aliased = True

    def upstream_lines(self, root: Operation) -> Iterator[str]:
        """Yields the lines of mlir-opt: aliases before and after the program, and an empty line at the end."""
        lines = list(self.lines(root))
        if self._deferred:
            lines = [
                _DEFERRED.sub(lambda match: self._deferred[int(match[1])], line) if DEFERRED_MARK in line else line
                for line in lines
            ]
        if self._aliases:
            self._aliases.number()
            yield from self._aliases.definitions(deferred=False)
            yield from map(self._aliases.resolved, lines)
            yield from self._aliases.definitions(deferred=True)
        else:
            yield from lines
        yield from resource_lines(self.resources, root.tool_resources if isinstance(root, Module) else {})
        yield ""

    def generic(self, op: Operation) -> Iterable[Piece]:
        return self._generic_with_regions(op) if self.upstream and op.regions else super().generic(op)

    def _generic_with_regions(self, op: Operation) -> Iterator[Piece]:
        """Yields the pieces of `generic`. mlir-opt numbers the aliases inside an operation before those of its own
        attributes, which are therefore printed after its regions, into a placeholder.
        """
        number = len(self._deferred)
        self._deferred.append("")
        blocks = f"[{', '.join([self.label(block) for block in op.successors])}]" if op.successors else ""
        yield f"{quoted(op.name)}({self.values(op.operands)}){blocks}{DEFERRED_MARK}{number}{DEFERRED_MARK} ("
        for n, region in enumerate(op.regions):
            if n:
                yield ", "
            yield Nested(region)
        operands = ", ".join([self.type(v.type) for v in op.operands])
        signature = f"({operands}) -> {self.result_types([r.type for r in op.results])}"
        properties, extra = op.properties, self.discardable(op)
        if properties and extra and isinstance(op, Op):
            for _, held in sorted({**properties, **extra}.items()):
                self.attribute(held)
        if properties or op.has_properties:
            self._deferred[number] = f" <{self.properties_text(op, properties)}>"
        yield f"){f' {self.dictionary(extra)}' if extra else ''} : {signature}"

    def properties_text(self, op: Operation, properties: Mapping[str, Attribute]) -> str:
        if not self.upstream or isinstance(op, Op | Module):
            return self.dictionary(properties)
        # mlir-opt prints no aliases in the properties of an unregistered operation.
        known, self._known, self._aliased = self._known, {}, False
        try:
            return self.dictionary(properties)
        finally:
            self._known, self._aliased = known, True

    def attribute(self, attr: Constant, typing: Typing = "typed") -> str:
        if self.upstream and self._aliased:
            if isinstance(attr, LocationAttr):
                return self._location_mark(attr)
            name = alias_of(attr)
            if name:
                return self._aliases.mark(attr, name, lambda: attr.text(self), deferred=self._in_location)
        return super().attribute(attr, typing)

    def nested_location(self, location: Constant) -> str:
        return self._location_mark(location) if self.upstream and self._aliased else super().nested_location(location)

    def _location_mark(self, location: Constant) -> str:
        if isinstance(location, FileLineColLoc):
            # The usual location, without nested locations.
            return self._mark_of(location)
        # Nested locations come first, at any depth: the text of a location needs theirs.
        pending = [location]
        while True:
            parts = pending[-1].parts if isinstance(pending[-1], LocationAttr) else ()
            unmarked = [part for part in parts if part not in self._aliases]
            if unmarked:
                pending += reversed(unmarked)
                continue
            mark = self._mark_of(pending.pop())
            if not pending:
                return mark

    def _mark_of(self, location: Constant) -> str:
        text = lambda: f"loc({location.location_text(self)})"  # noqa: E731
        return self._aliases.mark(location, "loc", text, deferred=self._in_location)

    def location(self, location: Origin | None) -> str:
        if not (self.upstream and self.locations):
            if self.locations and isinstance(location, LocationAttr) and not location.is_short:
                help = "mlir-opt's names for values (`--names mlir`) come with aliases for locations"
                message = "a location is too long or too deep to be written without aliases"
                raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, help=help))
            return super().location(location)
        return f" loc({self._trailing_mark(location)})"

    def _trailing_mark(self, location: Origin | None) -> str:
        """Returns the mark of the location of an operation, whose alias is defined after the program."""
        self._in_location = True
        try:
            return self._location_mark(as_attribute(location))
        finally:
            self._in_location = False

    def location_defined(self, location: Origin | None) -> str:
        """Returns a mark that only defines the alias for the location of an operation; "" if none are printed."""
        return definition_only(self._trailing_mark(location)) if self.upstream and self.locations else ""

    def argument(self, value: Value) -> str:
        return super().argument(value) + self.argument_location(value)

    def argument_location(self, value: Value) -> str:
        """Returns the location of a block argument as text; "" if locations are not printed."""
        if not (self.upstream and self.locations) or not isinstance(value.owner, Block):
            return ""
        location = as_attribute(value.owner.origin_of(value))
        # mlir-opt defines an alias for it, which it does not use here.
        defined = definition_only(self._location_mark(location))
        return f"{defined} loc({location.location_text(self)})"

    def is_expected(self, op: Operation) -> bool:
        """Returns whether an operation has the definition that the parser would choose."""
        definition = type(op)
        result = self._expected.get(definition)
        if result is None:
            prefix = op.name.partition(".")[0]
            dialect = self._dialects.get(prefix) if isinstance(op, Op) and op.since else None
            result = dialect is None or dialect.find(op.name, self.versions.get(prefix, "")) is definition
            self._expected[definition] = result
        return result

    def discardable(self, op: Operation) -> Mapping[str, Attribute]:
        if isinstance(op, Op) and not self.is_expected(op):
            return {SINCE: StringAttr(op.since), **self.undeclared(op)}
        return self.undeclared(op)


class FormPrinter(VersionedPrinter):
    """The printer that forms of operations use."""

    def name(self, op: Operation) -> str:
        """Returns the name of an operation, without the default dialect of the enclosing region."""
        if op.parent is not self._block:
            self._block, self._default = op.parent, default_dialect(op.parent_op)
        result = self._names.get((op.name, self._default))
        if result is None:
            dialect, _, own = op.name.partition(".")
            result = own if self._default and dialect == self._default and "." not in own else op.name
            self._names[op.name, self._default] = result
        return result

    def shown_attributes(self, op: Op, named: frozenset[str]) -> Mapping[str, Attribute]:
        """Returns the attributes in the dictionary of a custom form: those without a name in it or a default value."""
        out: dict[str, Attribute] = {}
        for f, v in zip(op.layout.attributes, op.attribute_values, strict=True):
            if f.spelling in named or v is None or v is BOUND or f.type is None or (v is False and f.default is False):
                continue
            if v is not f.default and (f.default is None or v != f.default) and v != f.elided:
                out[f.spelling] = f.type.to_attribute(v)
        out.update((k, v) for k, v in self.undeclared(op).items() if k not in named and k != GROUP_SIZES)
        return out

    def shows_terminator(self, op: Op, region: Region) -> bool:
        """Returns whether the terminator of a region is printed; an implicit one without contents is not."""
        implied = implicit_terminator(type(op))
        last = region.blocks[0].last if region.blocks else None
        if not implied or last is None:
            return True
        return bool(last.attribute_dictionary or last.operands or last.results) or last.name != implied

    def is_terminator(self, op: Operation) -> bool:
        return isinstance(op, Op) and Terminator in op.traits

    def symbol(self, name: str) -> str:
        """Returns `@name` of a symbol."""
        return symbol_text(name)

    def successor(self, block: Block, values: Sequence[Value]) -> str:
        """Returns the text of a successor with its operands."""
        if not values:
            return self.label(block)
        types = ", ".join([self.type(v.type) for v in values])
        return f"{self.label(block)}({self.values(values)} : {types})"


def alias_of(constant: Constant) -> str:
    """Returns the name of the alias that mlir-opt prints for an attribute, without number; "" for most."""
    match constant:
        case DialectAttr(dialect="ml_program", mnemonic="extern"):
            return "extern"
        case AffineMapAttr():
            return "map"
        case IntegerSetAttr():
            return "set"
        case DistinctAttr(content=content) if content is not None and not isinstance(content, UnitAttr):
            return "distinct"
        case DialectAttr(dialect="sparse_tensor", mnemonic="encoding"):
            return "sparse"
        case _:
            return ""


def as_attribute(origin: Origin | None) -> LocationAttr:
    """Returns a location as an attribute."""
    if origin is None or isinstance(origin, LocationAttr):
        return UnknownLoc() if origin is None else origin
    if isinstance(origin, TextLocation):
        return FileLineColLoc(origin.file, *origin.place)
    has_place = origin.line or not origin.name
    place = FileLineColLoc(origin.file, origin.line, origin.column) if has_place else None
    return NameLoc(origin.name, place) if origin.name else place or UnknownLoc()
