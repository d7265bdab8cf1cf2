"""Programs out of MLIR text: the generic form of every operation, and the custom forms of those that are defined.

Operations are read by generators that a loop drives, so nested regions cost no recursion. Syntax stops at its first
fault; faults of names and types are collected and reported together. Operations are built without checks of their
definitions: that is the business of `ods.verify`. Limits: `Limits.max_text_bytes`, `max_operations`, and those of
`text/constants.py`. Source: MLIR language reference; scoping as mlir-opt has it.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from commonir.base.codes import (
    DUPLICATE_NAME,
    MALFORMED_REGION,
    UNDEFINED_VALUE,
    UNKNOWN_OPERATION,
    WRONG_ATTRIBUTE,
    WRONG_OPERAND_COUNT,
    WRONG_TYPE,
    Code,
)
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.lazy import LazyModule
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.suggestions import did_you_mean
from commonir.base.text import PIECE_SEPARATOR
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, DenseArrayAttr, DictionaryAttr, StringAttr
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Location, Origin, TextLines, TextLocation
from commonir.ir.types import FunctionType, Type
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import Dialects, Op
from commonir.ods.declares import Declares
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.fields import MISSING, Field
from commonir.ods.text_form import Argument, Use
from commonir.ods.traits import Terminator
from commonir.text.definitions import has_format, implicit_terminator, place_evident
from commonir.text.groups import GroupReader
from commonir.text.lexer import BLANK, SINCE, VALUE_NAME, VERSIONS
from commonir.text.recurring_lines import RecurringLines
from commonir.text.resources import read_resources
from commonir.text.unresolved_locations import UnresolvedLocations

if TYPE_CHECKING:
    from commonir.ods.declared import DeclaredOp
    from commonir.ods.own_forms import OwnForms
    from commonir.text import line_patterns
    from commonir.text.deduction import DeducedTypes
else:
    # The generic form has no use for them.
    line_patterns = LazyModule("commonir.text.line_patterns")

_HEAD = re.compile(
    rf"(?:({VALUE_NAME}){BLANK}={BLANK})?([A-Za-z_][A-Za-z0-9_$]*+\.[A-Za-z0-9_$.]*+)",
    re.ASCII,
)
_MAX_SUGGESTIONS = 20
_OF_OTHERS = "the generic form of other dialects is read; `--dialect FILE.td` defines one"
_OF_UNKNOWN = (
    "no dialect '{}' is known: `--dialect FILE.td` defines one, and its operations can be read in the generic form, "
    "which `mlir-opt --mlir-print-op-generic` prints"
)


class Bound(NamedTuple):
    """The left side of an operation: a name for one or several results."""

    name: str
    results: int
    at: int


Operators: TypeAlias = "dict[str, tuple[type[DeclaredOp], ...]]"


class _Scope:
    """What a region defines, the values that were used in it before their definition, and the operators that those it
    declares hide, or nothing. `blocks` are those that it defines or names, `wanted` the places of those only named.
    """

    __slots__ = ("awaited", "blocks", "hidden", "names", "wanted")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.awaited: dict[str, tuple[Value, int]] = {}
        self.hidden: Operators = {}
        self.blocks: dict[str, Block] = {}
        self.wanted: dict[str, int] = {}


Task = Generator["Task", object, object]
"""A part of the text being read: yields tasks to be done first, and is sent their results."""


def parse_module(
    source: str,
    dialects: Dialects,
    *,
    file: str = "<text>",
    limits: Limits = DEFAULT_LIMITS,
    versions: Mapping[str, str] | None = None,
    lines_before: int = 0,
) -> Module:
    """The program of a text. A text that is not one module is read as the contents of one.

    `versions` says for a dialect which of its versions is meant; otherwise the newest. `lines_before` counts the lines
    of the file that stand before the text.

    Raises: DiagnosticError (E0240, E0241, E0242, E0302, E0303, E0401, E0402, E0501 to E0505).
    """
    if len(source) > limits.max_text_bytes:
        message = f"the text has {len(source)} characters, more than {limits.max_text_bytes}"
        raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, file=file))
    return Parser(source, dialects, file, limits, versions or {}, lines_before).module()


class Parser(GroupReader):
    """Reads one text."""

    def __init__(
        self,
        source: str,
        dialects: Dialects,
        file: str,
        limits: Limits,
        versions: Mapping[str, str],
        lines_before: int = 0,
    ) -> None:
        self.dialects = dialects
        self.versions = dict(versions)
        self.findings = Diagnostics()
        self.count = 0
        self.values: dict[str, Value] = {}
        """The values in sight, by name."""
        self._scopes: list[_Scope] = []
        self._operators: Operators = {}
        self._defaults = ["builtin"]
        self._definitions: dict[str, type[Op] | None] = {}
        self.unresolved_locations = UnresolvedLocations()
        self.lines = TextLines(file, lines_before)
        self._suggestions = 0
        self._recurring_lines = RecurringLines(self)
        self.deduced: dict[object, DeducedTypes] = {}
        """Types that definitions gave for operations, by what the text says of them."""
        self.form_dictionaries: dict[
            tuple[type[Op], bool, str], tuple[dict[Field, Attribute], dict[str, Attribute]]
        ] = {}
        """What dictionaries state in the form of a definition, by their texts."""
        super().__init__(source, file, limits, lines_before)
        if dialects.forms:
            # Hardly a text has use for it.
            from commonir.text.parameters import read_attribute, read_type  # noqa: PLC0415

            forms = dialects.forms.items()
            # Types and attributes that have a class here are read as these.
            self.type_readers = {**{k[1:]: read_type(f) for k, f in forms if k[0] == "!"}, **self.type_readers}
            attributes = {k[1:]: read_attribute(f) for k, f in forms if k[0] == "#"}
            self.attribute_readers = {**attributes, **self.attribute_readers}

    def own_forms(self, dialect: str) -> OwnForms | None:
        found = self.dialects.get(dialect)
        return None if found is None else found.own

    def module(self) -> Module:
        """Reads the whole text.

        Raises: DiagnosticError with all findings, in the order of the text.
        """
        try:
            result = self._module_of_text()
            self.findings.raise_errors()
        except DiagnosticError as error:
            found = {id(d): d for d in (*self.findings, *error.diagnostics)}.values()
            raise DiagnosticError(*sorted(found, key=lambda d: (d.line or 0, d.column or 0))) from None
        return result

    def _module_of_text(self) -> Module:
        self.resources, tools, sections = read_resources(self)
        self._scopes.append(_Scope())
        found: list[Operation] = []
        while self.kind != "end":
            if self.start in sections:
                self.move_to(sections[self.start])
            elif self.kind in ("attribute", "type"):
                self.define_alias()
            else:
                op = self._run(self.operation())
                assert isinstance(op, Operation)
                found.append(op)
        self._close()
        for name, at in self.unresolved_locations.settle(self.attribute_aliases):
            message = f"operation location alias was never defined: '#{name}'"
            self.report(message, at, UNDEFINED_VALUE, did_you_mean(name, self.attribute_aliases))
        self.lines.set_text(self.source, is_retained=False)
        if len(found) == 1 and isinstance(found[0], Module):
            result = found[0]
        else:
            result = Module()
            # No text states this place. Of several programs in a file, one begins where the line ends that parts them.
            before = self.lines.before
            result.location = Location(self.file, before, len(PIECE_SEPARATOR) + 1 if before else 0)
            for op in found:
                result.body.append(op)
        result.tool_resources = tools
        return result

    @property
    def default_dialect(self) -> str:
        """The dialect whose operations need no prefix here."""
        return self._defaults[-1]

    def _run(self, task: Task) -> object:
        stack = [task]
        result: object = None
        while stack:
            try:
                stack.append(stack[-1].send(result))
                result = None
            except StopIteration as finished:
                stack.pop()
                result = finished.value
        return result

    # -- operations

    def operation(self) -> Task:
        """Reads one operation."""
        begin = start = self.start
        bound: list[Bound] = []
        if self.kind == "value":
            bound = self._bound()
            start = self.start
        self._count_operation()
        if self.kind == "string":
            op = yield from self._generic()
        elif self.kind == "word":
            op = yield from self._custom(sum([b.results for b in bound]))
            if op.regions:
                place_evident(op, TextLocation(self.lines, start))
        else:
            self.unexpected("an operation")
        self._recurring_lines.remember(op, bound, begin, start)
        self._place(op, start)
        self._define_results(op, bound)
        if isinstance(op, Declares):
            self._declare(op.declared())
        return op

    def _operation_at_once(self) -> Operation | None:
        """Reads an operation that a pattern covers or whose line occurred before.

        Returns None, and nothing is moved, where another stands.
        """
        at, op, name, start = self.start, None, "", 0
        found = _HEAD.match(self.source, at)
        definition = None if found is None else self.find(found[2])
        if found is not None and definition is not None and definition.assembly and definition.custom_form is None:
            name, start = found[1] or "", found.start(2)
            head = line_patterns.Head(name, definition, start, found.end())
            op = line_patterns.pattern_of(definition).read(self, head)
        if op is None:
            recurring = self._recurring_lines.read()
            if recurring is None:
                return None
            op, name, start = recurring
        self._count_operation()
        self._place(op, start)
        self._define_results(op, [Bound(name, 1, at)] if name else [])
        return op

    def _count_operation(self) -> None:
        self.count += 1
        if self.count > self.limits.max_operations:
            self.fail(f"more than {self.limits.max_operations} operations", code=LIMIT_EXCEEDED)

    def _place(self, op: Operation, start: int) -> None:
        if self.at("loc"):
            self._locate(op)
        else:
            op.location = TextLocation(self.lines, start)

    def _bound(self) -> list[Bound]:
        out: list[Bound] = []
        while True:
            at = self.start
            name = self.expect_kind("value", "a value '%name'")
            count = 1
            if self.take(":"):
                place = self.start
                count = self.whole(self.expect_kind("int", "a number of results"), place)
                if not count:
                    self.fail("a name stands for at least one result", at=place)
            out.append(Bound(name, count, at))
            if not self.take(","):
                self.expect("=")
                return out

    def _define_results(self, op: Operation, bound: list[Bound]) -> None:
        if len(bound) == len(op.results) == bound[0].results == 1 if bound else not op.results:
            for name, _, at in bound:
                self.define(name, op.result, at)
            return
        total = sum(b.results for b in bound)
        if bound and total != len(op.results):
            self.fail(f"{op.name} has {len(op.results)} results, but {total} are named", at=bound[0].at)
        results = iter(op.results)
        for name, count, at in bound:
            if count == 1:
                self.define(name, next(results), at)
                continue
            for n in range(count):
                value = next(results)
                self.define(f"{name}#{n}", value, at)
                if n == 0:
                    self.values[name] = value
                    self._scopes[-1].names.append(name)

    def _generic(self) -> Generator[Task, object, Operation]:
        start = self.start
        name = self.string()
        self.expect("(")
        uses = self.separated(self.use, ")")
        successors: tuple[Block, ...] = ()
        if self.take("["):
            successors = tuple(self.separated(self.successor, "]"))
        properties: dict[str, Attribute] | None = None
        if self.take("<"):
            properties = self.entries()
            self.expect(">")
        regions: list[Region] = []
        if self.take("("):
            while True:
                region = yield self.region(default=self._default_of(name))
                assert isinstance(region, Region)
                regions.append(region)
                if not self.take(","):
                    break
            self.expect(")")
        attributes = self.entries() if self.at("{") else {}
        self.expect(":")
        at = self.start
        signature = self.function_type()
        operands = self.operands(uses, signature.inputs, at)
        op = self.create(name, operands, properties, attributes, signature, regions, start, successors)
        op.successors = successors
        return op

    def _default_of(self, name: str) -> str:
        if name == Module.name:
            return "builtin"
        definition = self.find(name)
        return "builtin" if definition is None else definition.default_dialect

    def create(
        self,
        name: str,
        operands: tuple[Value, ...],
        properties: dict[str, Attribute] | None,
        attributes: dict[str, Attribute],
        signature: FunctionType,
        regions: list[Region],
        start: int,
        successors: tuple[Block, ...] = (),
    ) -> Operation:
        """An operation of a name on values, unchecked. Without `properties` the text does not state any."""
        if name == Module.name:
            if len(regions) != 1:
                self.report(f"{name}: requires one region", start, MALFORMED_REGION)
            return Module.of_regions({**(properties or {}), **attributes}, regions)
        definition = self.find(name, attributes.pop(SINCE, None))
        if definition is None:
            declared = self._operators.get(name)
            if declared:
                return self._declared(declared, operands, properties or {}, attributes, signature, regions, start)
            return UnregisteredOperation(name, operands, attributes, signature.results, regions, properties=properties)
        properties = {} if properties is None else properties
        fields = {f.spelling: f for f in definition.layout.attributes}
        sizes = properties.pop(GROUP_SIZES, attributes.pop(GROUP_SIZES, None))
        for key in properties:
            if key not in fields:
                help = did_you_mean(key, fields)
                self.report(f"{name}: '{key}' is not an attribute of it", start, WRONG_ATTRIBUTE, help)
        arguments: dict[str, object] = {}
        extra: dict[str, Attribute] = {}
        for key, value in {**properties, **attributes}.items():
            if key in fields:
                arguments[fields[key].name] = self.decoded(definition, fields[key], value, start)
            else:
                extra[key] = value
        arguments |= self.grouped(definition, operands, sizes, start)
        arguments |= self.divided_regions(definition, regions, start)
        if successors or definition.layout.successors:
            arguments |= self.destinations(definition, successors, start)
        return self.built(definition, arguments, signature.results, extra, start)

    def _declare(self, operators: Mapping[str, tuple[type[DeclaredOp], ...]]) -> None:
        """Makes operators known until the region at hand ends."""
        for name, definitions in operators.items():
            self._scopes[-1].hidden.setdefault(name, self._operators.get(name, ()))
            self._operators[name] = definitions

    def _declared(
        self,
        candidates: Sequence[type[DeclaredOp]],
        operands: tuple[Value, ...],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        signature: FunctionType,
        regions: list[Region],
        start: int,
    ) -> Operation:
        """An operation of an operator that the text itself declares, of the signature that fits its operands."""
        from commonir.ods.declared import OperatorUse, choose  # noqa: PLC0415  few texts declare operators

        sizes = properties.pop(GROUP_SIZES, None)
        counts = tuple(map(int, sizes.values)) if isinstance(sizes, DenseArrayAttr) else None
        names = next((d.layout.regions for d in candidates if len(d.layout.regions) == len(regions)), ())
        given = {f.spelling: region for f, region in zip(names, regions, strict=False)}
        try:
            found = choose(candidates, OperatorUse(operands, properties, counts, given, len(signature.results)))
        except DiagnosticError as error:
            self.findings.extend([self.located(d, start) for d in error.diagnostics])
            merged = {**properties, **attributes}
            return UnregisteredOperation(candidates[0].name, operands, merged, signature.results, regions)
        return self.built(found.definition, found.arguments, signature.results, attributes, start)

    def built(
        self,
        definition: type[Op],
        arguments: Mapping[str, object],
        types: Sequence[Type],
        extra: Mapping[str, Attribute],
        at: int,
    ) -> Op:
        """An operation, unchecked but for attributes that it cannot be without. It stands at an offset."""
        op = definition.build(arguments, types)
        if any(v is MISSING for v in op.attribute_values):
            self.report_missing(op, at)
        for key, value in extra.items():
            op.set_extra(key, value)
        return op

    def report_missing(self, op: Op, at: int) -> None:
        """Reports the attributes that an operation lacks."""
        for f, v in zip(op.layout.attributes, op.attribute_values, strict=True):
            if v is MISSING:
                self.report(f"{op.name}: requires attribute '{f.spelling}'", at, WRONG_ATTRIBUTE)

    def find(self, name: str, since: Attribute | None = None) -> type[Op] | None:
        """The definition of an operation, of the version that it or the module states."""
        if not isinstance(since, StringAttr) and name in self._definitions:
            return self._definitions[name]
        declared = since.value if isinstance(since, StringAttr) else self.versions.get(name.partition(".")[0], "")
        result = self.dialects.find(name, declared)
        if not isinstance(since, StringAttr):
            self._definitions[name] = result
        return result

    def decoded(self, definition: type[Op], field: Field, value: Attribute, at: int) -> object:
        """The Python value of a declared attribute; the attribute itself when it is of the wrong kind."""
        if field.type is None:
            return value
        try:
            return field.type.from_attribute(value)
        except ValueError as error:
            self.report(f"{definition.name}: attribute '{field.spelling}': {error}", at, WRONG_ATTRIBUTE)
            return value

    def _custom(self, bound: int) -> Generator[Task, object, Operation]:
        start = self.start
        name, definition = self._named()
        if name == Module.name:
            self.advance()
            return (yield from self._module())
        if definition is None:
            self._unknown(name)
        self.advance()
        # The generic form has no use for either.
        if definition.custom_form is not None:
            from commonir.text.python_forms import PythonReader  # noqa: PLC0415  see above

            return (yield from PythonReader(self, definition, bound, start).run(definition.custom_form))
        if not has_format(definition):
            self.fail(f"{name} has no custom form", at=start)
        from commonir.text.custom_forms import FormReader  # noqa: PLC0415  see above

        reader = FormReader(self, definition, bound, start)
        return (yield from reader.read()) if reader.plan.has_tasks else reader.read_at_once()

    def _named(self) -> tuple[str, type[Op] | None]:
        """The full name of the operation at the current token, and its definition."""
        name = self.text
        if "." in name:
            return name, self.find(name)
        full = f"{self.default_dialect}.{name}" if self.default_dialect else name
        return full, self.find(full)

    def _unknown(self, name: str) -> NoReturn:
        prefix = name.partition(".")[0]
        dialect = self.dialects.get(prefix)
        known = dialect.operations if dialect is not None else [f"{d}." for d in self.dialects.names()]
        message = f"unknown operation '{self.text}'"
        default = self.default_dialect
        if "." not in self.text and default not in ("", "builtin"):
            message += f" (tried '{default}.{self.text}' as well)"
        help = _OF_OTHERS if dialect is not None or "." not in name else _OF_UNKNOWN.format(prefix)
        self.fail(message, code=UNKNOWN_OPERATION, help=did_you_mean(name, known) or help)

    def _module(self) -> Generator[Task, object, Module]:
        attributes: dict[str, Attribute] = {}
        if self.kind == "symbol":
            attributes["sym_name"] = StringAttr(self.symbol())
        if self.take("attributes"):
            attributes |= self.entries()
        declared = attributes.pop(VERSIONS, None)
        for name, version in declared.entries if isinstance(declared, DictionaryAttr) else ():
            if isinstance(version, StringAttr):
                self.versions[name] = version.value
                self._definitions.clear()
                self._recurring_lines.clear()
        region = yield self.region(default="builtin")
        assert isinstance(region, Region)
        return Module.of_regions(attributes, [region])

    def _locate(self, op: Operation) -> None:
        """Reads where an operation comes from: perhaps an alias that the text defines later."""
        self.advance()
        self.expect("(")
        if self.kind == "attribute" and self.text[1:] not in self.attribute_aliases:
            self.unresolved_locations.await_alias(op, self.text[1:], self.start)
            self.advance()
        else:
            op.location = self.location()
        self.expect(")")

    def location_suffix(self) -> Origin:
        """Reads `loc(...)`; the current token is `loc`."""
        self.advance()
        self.expect("(")
        result = self.location()
        self.expect(")")
        return result

    # -- regions

    def region(self, entry: Sequence[Argument] | None = None, default: str = "") -> Task:
        """Reads a region.

        `entry` are the arguments of its first block when they stand before the region, which then has a block; where
        there are none of them, a label may tell them. `default` is the dialect whose operations need no prefix in it.
        """
        self.expect("{")
        self._defaults.append(default)
        self._scopes.append(_Scope())
        result = Region()
        if entry:
            result.add(self._with_arguments(Block(), entry))
        while not self.take("}"):
            if self.kind == "block":
                if entry and len(result.blocks) == 1 and not len(result.blocks[0]):
                    self.fail("a block that is given arguments before its region has no label")
                result.add(self._labelled_block())
                continue
            if not result.blocks:
                result.add(Block())
            op = self._operation_at_once() or (yield self.operation())
            assert isinstance(op, Operation)
            result.blocks[-1].append(op)
        if entry is not None and not result.blocks:
            result.add(Block())
        for name, at in self._scopes[-1].wanted.items():
            self.report(f"reference to an undefined block '{name}'", at, UNDEFINED_VALUE)
        self._close()
        self._defaults.pop()
        return result

    def end_region(self, definition: type[Op], region: Region) -> None:
        """Adds the operation that ends the regions of a definition where the text leaves it out."""
        name = implicit_terminator(definition)
        if not name:
            return
        if not region.blocks:
            region.add(Block())
        last = region.blocks[-1].last
        if last is None or not (isinstance(last, UnregisteredOperation) or _ends_block(last)):
            built = self.create(name, (), None, {}, FunctionType((), ()), [], self.start)
            region.blocks[-1].append(built)

    def successor(self) -> Block:
        """Reads the label of a block of the region at hand, which may come later."""
        at = self.start
        label = self.expect_kind("block", "a block '^name'")
        scope = self._scopes[-1]
        result = scope.blocks.get(label)
        if result is None:
            result = scope.blocks[label] = Block(label=_own_label(label))
            scope.wanted[label] = at
        return result

    def _labelled_block(self) -> Block:
        scope, at = self._scopes[-1], self.start
        label = self.advance()
        block = scope.blocks.get(label)
        if block is None:
            block = scope.blocks[label] = Block(label=_own_label(label))
        elif scope.wanted.pop(label, None) is None:
            self.fail(f"redefinition of block '{label}'", at=at, code=DUPLICATE_NAME)
        arguments: list[Argument] = []
        if self.take("("):
            arguments = self.separated(self.argument, ")")
        self.expect(":")
        return self._with_arguments(block, arguments)

    def argument(self, *, attributes: bool = False) -> Argument:
        """Reads `%name: type`, perhaps with attributes where they may stand, and where it comes from."""
        at = self.start
        name = self.expect_kind("value", "a value '%name'")
        self.expect(":")
        type = self.type()
        held = self.entries() if attributes and self.at("{") else {}
        origin = self.location_suffix() if self.at("loc") else TextLocation(self.lines, at)
        return Argument(name, at, type, held, origin)

    def _with_arguments(self, block: Block, arguments: Sequence[Argument]) -> Block:
        origins = [a.origin or TextLocation(self.lines, a.at) for a in arguments]
        values = block.add_arguments([a.type for a in arguments], origins)
        for argument, value in zip(arguments, values, strict=True):
            self.define(argument.name, value, argument.at)
        return block

    def successor_and_uses(self) -> tuple[Block, list[Use], list[Type]]:
        """Reads `^name`, perhaps with `(%a, %b : T, U)`."""
        block = self.successor()
        if not self.take("("):
            return block, [], []
        uses = self.uses()
        self.expect(":")
        types = list(self.types())
        self.expect(")")
        return block, uses, types

    # -- names

    def define(self, name: str, value: Value, at: int) -> None:
        """Gives a name to a value, and the value to those who used the name before."""
        if name in self.values:
            self.report(f"value '{name}' is defined twice", at, DUPLICATE_NAME)
        value.name = own_name(name) or value.name
        self.values[name] = value
        scope = self._scopes[-1]
        scope.names.append(name)
        if scope.awaited and name in scope.awaited:
            awaited, used = scope.awaited.pop(name)
            if awaited.type is not value.type:
                self.report(f"value '{name}' has type {value.type}, but is used as {awaited.type}", used, WRONG_TYPE)
            awaited.replace_all_uses_with(value)

    def resolve(self, use: Use, type: Type | None) -> Value:
        """The value of a name. `type` is what the use says of it; a value used before its definition needs it."""
        name, at = use
        result = self.values.get(name)
        if result is None and name.endswith("#0"):
            result = self.values.get(name[:-2])
        if result is None:
            for scope in reversed(self._scopes):
                if name in scope.awaited:
                    result = scope.awaited[name][0]
                    break
        if result is None:
            if type is None:
                self.fail(f"use of undefined value '{name}'", at=at, code=UNDEFINED_VALUE, help=self._near(name))
            result = Value(type)
            self._scopes[-1].awaited[name] = (result, at)
        if type is not None and result.type is not type:
            self.report(f"value '{name}' has type {result.type}, but is used as {type}", at, WRONG_TYPE)
        return result

    def operands(self, uses: Sequence[Use], types: Sequence[Type], at: int) -> tuple[Value, ...]:
        """The values of names whose types are stated."""
        if len(uses) != len(types):
            message = f"{len(uses)} operands have {len(types)} types"
            self.fail(message, at=at, code=WRONG_OPERAND_COUNT)
        return tuple([self.resolve(u, t) for u, t in zip(uses, types, strict=True)])

    def _near(self, name: str) -> str | None:
        # Compares with every name in sight: enough for a person, and no way to keep a reader busy.
        self._suggestions += 1
        return did_you_mean(name, self.values) if self._suggestions <= _MAX_SUGGESTIONS else None

    def _close(self) -> None:
        """Ends a scope: its names are forgotten, and what it still awaits may be defined around it."""
        scope = self._scopes.pop()
        if scope.awaited and self._scopes:
            outer = self._scopes[-1].awaited
            for name, (value, at) in scope.awaited.items():
                if name in outer:
                    value.replace_all_uses_with(outer[name][0])
                else:
                    outer[name] = (value, at)
        elif scope.awaited:
            for name, (_, at) in scope.awaited.items():
                self.report(f"use of undefined value '{name}'", at, UNDEFINED_VALUE, self._near(name))
        for name in scope.names:
            self.values.pop(name, None)
        self._operators.update(scope.hidden)

    def report(self, message: str, at: int, code: Code, help: str | None = None) -> None:
        """Records a fault and goes on."""
        self.findings.extend([self.finding(message, at=at, code=code, help=help)])


def _ends_block(op: Operation) -> bool:
    return isinstance(op, Op) and Terminator in op.traits


def own_name(name: str) -> str:
    """Returns the name that a value keeps of its name in a text: nothing of a number."""
    return "" if name[1:2].isdigit() else name[1:].partition("#")[0]


def _own_label(label: str) -> str:
    """What a block is called; nothing for a label as printers make them."""
    name = label[1:]
    return "" if name.removeprefix("bb").isdecimal() else name
