"""Parses MLIR text: the generic form of every operation, and the custom forms of defined operations.

Operations are read by generators that a loop drives, so nested regions need no recursion. Parsing stops at the first
syntax error; errors of names and types are collected and reported together. Definitions are not verified here. Limits:
`Limits.max_text_bytes`, `max_operations`, and those of `text/attributes.py`. Source: MLIR language reference.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from commonir.base.codes import UNDEFINED_VALUE, UNKNOWN_OPERATION
from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.lazy import LazyModule
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.suggestions import did_you_mean
from commonir.base.text import PIECE_SEPARATOR, plural
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, DictionaryAttr, StringAttr
from commonir.ir.locations import NameLoc
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region
from commonir.ir.origins import Location, TextLocation
from commonir.ods import Dialects, Op
from commonir.ods.declares import Declares
from commonir.ods.text_form import Argument, FormTask
from commonir.ods.unknown_dialects import unknown_operation
from commonir.text.definitions import has_format, locate_implicit_terminators
from commonir.text.form_context import FormContext
from commonir.text.lexer import BLANK, SUFFIX_ID, VALUE_NAME, VERSIONS, TokenStream
from commonir.text.resources import read_resources

if TYPE_CHECKING:
    from commonir.text import custom_forms, line_patterns, python_forms
else:
    # The generic form does not need them.
    custom_forms = LazyModule("commonir.text.custom_forms")
    line_patterns = LazyModule("commonir.text.line_patterns")
    python_forms = LazyModule("commonir.text.python_forms")

_HEAD = re.compile(
    rf"(?:({VALUE_NAME}){BLANK}={BLANK})?([A-Za-z_][A-Za-z0-9_$.]*+)",
    re.ASCII,
)
_LOCATION = re.compile(rf"loc{BLANK}\({BLANK}(?:#({SUFFIX_ID})|\"([^\"\\\n\v\f]*+)\"){BLANK}\)", re.ASCII)
_STATEMENT = re.compile(r"^[ \t]*+(?:%[^=\n\"]*+=[ \t]*+)?\"?([A-Za-z_]\w*+)\.[A-Za-z_]", re.ASCII | re.MULTILINE)
_MAX_LISTED = 8
"""Dialects that a note lists."""
_UNKNOWN_FORM = (
    "without it, operations of '{}' can be read in the generic form, which `mlir-opt --mlir-print-op-generic` prints"
)


class _Results(NamedTuple):
    """A name on the left side of an operation, for one or several results."""

    name: str
    number: int
    at: int


Task = Generator["Task", object, object]
"""A coroutine of the parser: yields nested tasks, and receives their results."""


def parse_module(
    source: str,
    dialects: Dialects,
    *,
    file: str = "<text>",
    limits: Limits = DEFAULT_LIMITS,
    versions: Mapping[str, str] | None = None,
    lines_before: int = 0,
    unknown_forms: dict[str, int] | None = None,
) -> Module:
    """Reads the program of a text. Operations outside of a module are put into one.

    `versions` has the versions of dialects that are not the newest. `lines_before` counts the lines of the file before
    the text. `unknown_forms` receives types and attributes of dialects that are not known, with the offset of the first
    use.

    Raises: DiagnosticError (E0240, E0241, E0242, E0302, E0303, E0401, E0402, E0501 to E0505).
    """
    if len(source) > limits.max_text_bytes:
        message = f"the text has {len(source)} characters, more than {limits.max_text_bytes}"
        raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, file=file))
    with no_collection():
        tokens = TokenStream(source, file, limits, lines_before)
        context = FormContext(tokens, dialects, versions or {})
        result = _Parser(context).module()
        if unknown_forms is not None:
            unknown_forms |= context.unknown_forms
        return result


class _Parser:
    """Reads the operations and regions of one text."""

    def __init__(self, context: FormContext) -> None:
        self._context = context
        self._tokens = context.tokens
        self._attributes = context.attributes
        self._names = context.names
        self._builder = context.builder
        self._count = 0

    def module(self) -> Module:
        """Reads the whole text.

        Raises: DiagnosticError with all errors, in the order of the text.
        """
        diagnostics = self._tokens.diagnostics
        try:
            result = self._module_of_text()
            diagnostics.raise_errors()
        except DiagnosticError as error:
            unique = {id(d): d for d in (*diagnostics, *error.diagnostics)}.values()
            raise DiagnosticError(*sorted(unique, key=lambda d: (d.line or 0, d.column or 0))) from None
        return result

    def _module_of_text(self) -> Module:
        tokens, aliases, lines = self._tokens, self._attributes.aliases, self._context.lines
        self._attributes.resources, tools, sections = read_resources(tokens)
        self._names.open()
        ops: list[Operation] = []
        while tokens.kind != "end":
            if tokens.start in sections:
                tokens.move_to(sections[tokens.start])
            elif tokens.kind in ("attribute", "type"):
                self._attributes.define_alias()
            else:
                op = self._operation()
                if not isinstance(op, Operation):
                    op = self._run(op)
                    assert isinstance(op, Operation)
                ops.append(op)
        self._names.close()
        for name, at in self._context.unresolved_locations.resolve(aliases.attributes):
            message = f"operation location alias was never defined: '#{name}'"
            tokens.report(message, at, UNDEFINED_VALUE, did_you_mean(name, aliases.attributes))
        lines.set_text(tokens.source, is_retained=False)
        if len(ops) == 1 and isinstance(ops[0], Module):
            result = ops[0]
        else:
            result = Module()
            # The module has no text of its own. A program that is not the first of its file begins after the separator.
            before = lines.before
            result.location = Location(tokens.file, before, len(PIECE_SEPARATOR) + 1 if before else 0)
            for op in ops:
                result.body.append(op)
        result.tool_resources = tools
        return result

    @staticmethod
    def _run(task: Task) -> object:
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

    def _operation(self) -> Operation | Task:
        """Reads an operation, or returns the task that reads one which may have regions."""
        op = self._matched()
        if op is not None:
            return op
        tokens = self._tokens
        named = self._result_names() if tokens.kind == "value" else []
        start = tokens.start
        self._count_operation()
        if tokens.kind == "string":
            read: Operation | Generator[Task, object, Operation] = self._generic()
        elif tokens.kind == "word":
            read = self._custom(sum([r.number for r in named]))
        else:
            tokens.unexpected("an operation")
        if isinstance(read, Operation):
            return self._finished(read, named, start)
        return self._with_regions(read, named, start)

    def _with_regions(self, task: Generator[Task, object, Operation], named: Sequence[_Results], start: int) -> Task:
        return self._finished((yield from task), named, start)

    def _finished(self, op: Operation, named: Sequence[_Results], start: int) -> Operation:
        """Returns an operation that was read, after its location and the names of its results and symbols are set."""
        self._locate(op, start)
        if named:
            self._name_results(op, named)
        if isinstance(op, Declares):
            self._names.declare(op.declared())
        return op

    def _matched(self) -> Operation | None:
        """Reads an operation by the pattern of its definition; returns None, and consumes nothing, for any other."""
        tokens = self._tokens
        at = tokens.start
        head = _HEAD.match(tokens.source, at)
        definition = None if head is None else self._named(head[2])[1]
        pattern = None if definition is None else line_patterns.pattern_of(definition)
        if head is None or pattern is None:
            return None
        name, start = head[1] or "", head.start(2)
        op = pattern.read(self._context, name, start, head.end())
        if op is None:
            return None
        self._count_operation()
        self._locate(op, start)
        if name:
            self._names.define(name, op.results[0], at)
        return op

    def _count_operation(self) -> None:
        self._count += 1
        if self._count > self._tokens.limits.max_operations:
            self._tokens.fail(f"more than {self._tokens.limits.max_operations} operations", code=LIMIT_EXCEEDED)

    def _locate(self, op: Operation, start: int) -> None:
        """Sets the location of an operation: its offset, or a `loc(...)`, whose alias may be defined later."""
        tokens = self._tokens
        if not tokens.at("loc"):
            op.location = TextLocation(self._context.lines, start)
            return
        plain = _LOCATION.match(tokens.source, tokens.start)
        if plain is not None and plain[2] is not None:
            op.location = NameLoc(plain[2])
        elif plain is not None and plain[1] not in self._attributes.aliases.attributes:
            self._context.unresolved_locations.add_alias_use(op, plain[1], plain.start(1) - 1)
        else:
            op.location = self._context.location_suffix()
            return
        tokens.move_to(plain.end())

    def _result_names(self) -> list[_Results]:
        tokens = self._tokens
        out: list[_Results] = []
        while True:
            at = tokens.start
            name = tokens.expect_kind("value", "a value '%name'")
            count = 1
            if tokens.take(":"):
                place = tokens.start
                count = tokens.integer_value(tokens.expect_kind("int", "a number of results"), place)
                if not count:
                    tokens.fail("a name must have at least one result", at=place)
            out.append(_Results(name, count, at))
            if not tokens.take(","):
                tokens.expect("=")
                return out

    def _name_results(self, op: Operation, named: Sequence[_Results]) -> None:
        total = sum(r.number for r in named)
        if total != len(op.results):
            self._tokens.fail(
                f"{op.name} has {plural(len(op.results), 'result')}, but {total} are named", at=named[0].at
            )
        first = 0
        for name, count, at in named:
            if count == 1:
                self._names.define(name, op.results[first], at)
            else:
                self._names.define_group(name, op.results[first : first + count], at)
            first += count

    def _generic(self) -> Generator[Task, object, Operation]:
        tokens, context = self._tokens, self._context
        start = tokens.start
        name = tokens.string()
        tokens.expect("(")
        uses = tokens.separated(context.use, ")")
        successors: tuple[Block, ...] = ()
        if tokens.take("["):
            successors = tuple(tokens.separated(context.successor, "]"))
        properties: dict[str, Attribute] | None = None
        if tokens.take("<"):
            properties = self._attributes.entries()
            tokens.expect(">")
        regions: list[Region] = []
        if tokens.take("("):
            while True:
                region = yield self._region(None, self._default_of(name))
                assert isinstance(region, Region)
                regions.append(region)
                if not tokens.take(","):
                    break
            tokens.expect(")")
        attributes = self._attributes.entries() if tokens.at("{") else {}
        tokens.expect(":")
        at = tokens.start
        signature = context.types.function_type()
        operands = self._names.resolve_all(uses, signature.inputs, at)
        op = self._builder.create(name, operands, properties, attributes, signature, regions, start, successors)
        op.successors = successors
        return op

    def _default_of(self, name: str) -> str:
        if name == Module.name:
            return "builtin"
        definition = self._builder.find(name)
        return "builtin" if definition is None else definition.default_dialect

    def _custom(self, result_count: int) -> Operation | Generator[Task, object, Operation]:
        context, tokens = self._context, self._tokens
        start = tokens.start
        name, definition = self._named(tokens.text)
        if name == Module.name:
            tokens.advance()
            return self._module()
        if definition is None:
            self._unknown(name)
        tokens.advance()
        if definition.custom_form is not None:
            reader = python_forms.PythonReader(context, definition, result_count, start)
            return self._form(definition.custom_form.read(reader), definition, start)
        if not has_format(definition):
            tokens.fail(f"{name} has no custom form", at=start)
        form = custom_forms.form_of(definition)
        if not form.has_regions:
            return form.read_at_once(context, result_count, start)
        return self._form(form.read(context, result_count, start), definition, start)

    def _form(self, form: FormTask, definition: type[Op], start: int) -> Generator[Task, object, Operation]:
        """Drives a form: reads the regions that it requests."""
        try:
            request = next(form)
            while True:
                region = yield self._region(request.entry, definition.default_dialect)
                assert isinstance(region, Region)
                request = form.send(region)
        except StopIteration as finished:
            result: object = finished.value
            assert isinstance(result, Operation)
            locate_implicit_terminators(result, TextLocation(self._context.lines, start))
            return result

    def _named(self, name: str) -> tuple[str, type[Op] | None]:
        """Returns the full name of an operation in the current region, and its definition."""
        default = "" if "." in name else self._context.default_dialect
        full = f"{default}.{name}" if default else name
        return full, self._builder.find(full)

    def _unknown(self, name: str) -> NoReturn:
        prefix, text = name.partition(".")[0], self._tokens.text
        dialects = self._builder.dialects
        message = f"unknown operation '{text}'"
        default = self._context.default_dialect
        if "." not in text and default not in ("", "builtin"):
            message += f" (tried '{default}.{text}' as well)"
        help = unknown_operation(name, dialects, _UNKNOWN_FORM.format(prefix))
        result = self._tokens.finding(message, code=UNKNOWN_OPERATION, help=help)
        result.notes += tuple(self._also_unknown(prefix))
        raise DiagnosticError(result)

    def _also_unknown(self, prefix: str) -> Iterator[str]:
        """Yields a note with the other dialects that the text uses and that are not known."""
        tokens, dialects = self._tokens, self._builder.dialects
        used = {m[1]: None for m in _STATEMENT.finditer(tokens.source, tokens.start) if m[1] != prefix}
        others = [name for name in used if dialects.get(name) is None]
        if dialects.get(prefix) is None and others:
            yield f"not known either: {', '.join(others[:_MAX_LISTED])}{', ...' if len(others) > _MAX_LISTED else ''}"

    def _module(self) -> Generator[Task, object, Module]:
        attributes: dict[str, Attribute] = {}
        if self._tokens.kind == "symbol":
            attributes["sym_name"] = StringAttr(self._tokens.symbol())
        if self._tokens.take("attributes"):
            attributes |= self._attributes.entries()
        declared = attributes.pop(VERSIONS, None)
        for name, version in declared.entries if isinstance(declared, DictionaryAttr) else ():
            if isinstance(version, StringAttr):
                self._builder.set_version(name, version.value)
        region = yield self._region(None, "builtin")
        assert isinstance(region, Region)
        return Module.of_regions(attributes, [region])

    # -- regions

    def _region(self, entry: Sequence[Argument] | None, default: str) -> Task:
        """Reads a region.

        `entry` has the arguments of the first block where they are written before the region, which then has a block;
        if it is (), a label may state them. `default` is the dialect whose operations need no prefix in the region.
        """
        tokens, names = self._tokens, self._names
        tokens.expect("{")
        self._context.default_dialects.append(default)
        names.open()
        result = Region()
        if entry:
            result.add(self._with_arguments(Block(), entry))
        while not tokens.take("}"):
            if tokens.kind == "block":
                if entry and len(result.blocks) == 1 and not len(result.blocks[0]):
                    tokens.fail("a block with arguments before its region must not have a label")
                result.add(self._labelled_block())
                continue
            if not result.blocks:
                result.add(Block())
            op = self._operation()
            if not isinstance(op, Operation):
                op = yield op
                assert isinstance(op, Operation)
            result.blocks[-1].append(op)
        if entry is not None and not result.blocks:
            result.add(Block())
        names.close()
        self._context.default_dialects.pop()
        return result

    def _labelled_block(self) -> Block:
        tokens, at = self._tokens, self._tokens.start
        block = self._names.define_block(tokens.advance(), at)
        arguments: list[Argument] = []
        if tokens.take("("):
            arguments = self._context.arguments()
        tokens.expect(":")
        return self._with_arguments(block, arguments)

    def _with_arguments(self, block: Block, arguments: Sequence[Argument]) -> Block:
        origins = [a.origin or TextLocation(self._context.lines, a.at) for a in arguments]
        values = block.add_arguments([a.type for a in arguments], origins)
        for argument, value in zip(arguments, values, strict=True):
            self._names.define(argument.name, value, argument.at)
        return block
