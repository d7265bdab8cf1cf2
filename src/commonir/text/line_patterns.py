"""Assembly formats compiled into regular expressions: most operations are read in one match.

A pattern covers an operation without regions. A text that does not match is read token by token
(`text/custom_forms.py`), which also reports errors. The pattern of a definition is compiled after a few operations,
as compiling takes as long as reading some.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, DenseArrayAttr
from commonir.ir.operation import Value
from commonir.ir.types import i64
from commonir.ods import MlirOp, Op, attr_types
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.text_form import ExtendsAssembly
from commonir.ods.type_rules import type_of_attribute
from commonir.text import assembly, formats
from commonir.text.deduction import Deduction, StatedTypes
from commonir.text.form_context import FormContext, Meaning
from commonir.text.form_reader import FormReader, plan_of
from commonir.text.lexer import BLANK, COMMA, SUFFIX_ID, VALUE_USE, VALUE_USES
from commonir.text.operation_builder import offsets_of
from commonir.text.types import PLAIN_TYPE, PLAIN_TYPES

FIRST_USES = 8
"""Operations of a definition that are read before its pattern is compiled."""

_CONSTANT = rf'(?:dense<[^<>"#!/]*+>|-?\d[0-9.eE+-]*+){BLANK}:{BLANK}{PLAIN_TYPE}|(?:true|false)(?![A-Za-z0-9_$.])'
_DICTIONARY = r'\{[^{}"#!]*+\}'
_EACH_NAME = re.compile(VALUE_USE, re.ASCII)
_LONGEST_CACHED = 1000
"""The most characters of a statement whose meaning is cached."""


class _Statement:
    """The types and attributes that the text of one operation states, by field name."""

    __slots__ = ("arguments", "context", "counts", "extra", "start", "types")

    def __init__(self, context: FormContext, start: int, counts: tuple[int, ...]) -> None:
        self.context = context
        self.start = start
        self.counts = counts
        self.types: StatedTypes = {}
        self.arguments: dict[str, object] = {}
        self.extra: Mapping[str, Attribute] = {}


class _PatternPart(NamedTuple):
    """An element of a format: its expression, and for each capture group a reader of its text with the fields.

    A reader also gets the offset of the text, and returns whether the format expects the text. It is None for names.
    """

    expression: str
    groups: tuple[tuple[_Take | None, assembly.Group], ...] = ()


class LinePattern:
    """Reads operations of one definition whose format it could compile."""

    def __init__(self, definition: type[Op]) -> None:
        self._definition = definition
        self._uses = 0
        self._pattern: re.Pattern[str] | None = None
        # Numbers of groups: of all operands or the operands of each field, and of the other texts.
        self._all_operands = 0
        self._operands: list[tuple[int, Field]] = []
        self._groups: list[tuple[int, _Take, assembly.Group]] = []
        self._text_groups: list[int] = []
        self._successors: list[int] = []
        self._deduction = Deduction(definition, states_results=formats.format_of(definition).states_results)
        self._input_names = [f.name for f in definition.layout.inputs]

    def read(self, context: FormContext, result_name: str, start: int, end: int) -> Op | None:
        """Reads an operation with its operands; its name is in the text from `start` to `end`.

        Returns None, and consumes nothing, when the pattern does not match it.
        """
        if self._uses < FIRST_USES:
            self._uses += 1
            if self._uses == FIRST_USES:
                self._compile()
        match = None if self._pattern is None else self._pattern.match(context.tokens.source, end)
        if match is None:
            return None
        counts, names = self._named(match)
        key = (self._definition, counts, match.group(*self._text_groups) if self._text_groups else "")
        meaning = context.meanings.get(key)
        if meaning is None:
            meaning = self._meaning(_Statement(context, start, counts), match)
            if meaning is None:
                return None
            if match.end() - end <= _LONGEST_CACHED:
                context.meanings[key] = meaning
        if len(names) != len(meaning.operand_types) or (result_name and len(meaning.result_types) != 1):
            return None
        values = context.names.values
        operands: list[Value] = []
        for name, type in zip(names, meaning.operand_types, strict=True):
            value = values.get(name)
            if value is None or (type is not None and value.type is not type):
                return None
            operands.append(value)
        op = self._definition.assembled(tuple(operands), meaning.offsets, meaning.attributes, (), meaning.result_types)
        if self._successors:
            op.successors = tuple([context.names.block(match[n], match.start(n)) for n in self._successors])
        op.update_extra(meaning.extra)
        context.tokens.move_to(match.end())
        return op

    def _named(self, match: re.Match[str]) -> tuple[tuple[int, ...], list[str]]:
        """Returns how many operands each field has, and the names of all."""
        if self._all_operands:
            names = _EACH_NAME.findall(match[self._all_operands] or "")
            fixed = len(self._input_names) - 1
            inputs = self._definition.layout.inputs
            return tuple([max(len(names) - fixed, 0) if f.variadic else 1 for f in inputs]), names
        counts: list[int] = []
        names: list[str] = []
        for number, field in self._operands:
            text = match[number]
            group = [] if text is None else _EACH_NAME.findall(text) if field.variadic else [text]
            counts.append(len(group))
            names += group
        return tuple(counts), names

    def _meaning(self, statement: _Statement, match: re.Match[str]) -> Meaning | None:
        """Returns the types and attributes of a match; None if the format reads the text in another way."""
        tokens = statement.context.tokens
        before, fault_count = tokens.state(), len(tokens.diagnostics)
        try:
            result = self._taken(statement, match)
        except DiagnosticError:
            # Reading token by token may succeed; if not, it reports the same diagnostic.
            result = None
        if len(tokens.diagnostics) > fault_count:
            tokens.diagnostics.truncate(fault_count)
            result = None
        tokens.restore(before)
        return result

    def _taken(self, statement: _Statement, match: re.Match[str]) -> Meaning | None:
        for n, take, group in self._groups:
            text = match[n]
            if text is not None and not take(self, statement, group, text, match.start(n)):
                return None
        counts, layout = statement.counts, self._definition.layout
        types, results = self._deduction.types(counts, statement.types, statement.context.deduced)
        attributes = tuple([statement.arguments.get(f.name, f.default) for f in layout.attributes])
        if results is None or any(v is MISSING for v in attributes):
            return None
        return Meaning(types, results, offsets_of(self._definition, counts), attributes, statement.extra)

    # -- readers of capture groups

    def state_types(self, statement: _Statement, group: assembly.Group, text: str, at: int) -> bool:
        types = statement.context.types.types_of_text(text, at) if text else ()
        if types is None:
            return False
        if isinstance(group, assembly.Variable):
            statement.types[group.field.name] = types
            return group.field.variadic or len(types) == 1
        layout, rest = self._definition.layout, iter(types)
        if isinstance(group, assembly.Operands):
            counts = zip(self._input_names, statement.counts, strict=True)
            statement.types |= {name: tuple(islice(rest, count)) for name, count in counts}
            return sum(statement.counts) == len(types)
        statement.types |= {f.name: tuple(islice(rest, 1)) for f in layout.results}
        return len(layout.results) == len(types)

    def decode_attribute(self, statement: _Statement, group: assembly.Group, text: str, at: int) -> bool:
        field, tokens = _field_of(group), statement.context.tokens
        tokens.move_to(at)
        reader = FormReader(statement.context, plan_of(self._definition), 0, statement.start)
        statement.arguments[field.name] = self._decoded(statement, field, reader.read_attribute(field))
        return tokens.is_behind(at + len(text)) and self._state_type(statement, field)

    def decode_integers(self, statement: _Statement, group: assembly.Group, text: str, at: int) -> bool:
        del at
        field, numbers = _field_of(group), tuple(map(int, text.split(","))) if text else ()
        statement.arguments[field.name] = self._decoded(statement, field, DenseArrayAttr(i64, numbers))
        return True

    def read_constant(self, statement: _Statement, group: assembly.Group, text: str, at: int) -> bool:
        value = statement.context.attributes.attribute_of_text(text, at)
        if value is None:
            return False
        field = _field_of(group)
        statement.arguments[field.name] = self._decoded(statement, field, value)
        return self._state_type(statement, field)

    def read_dictionary(self, statement: _Statement, group: assembly.Group, text: str, at: int) -> bool:
        del group, text
        statement.context.tokens.move_to(at)
        reader = FormReader(statement.context, plan_of(self._definition), 0, statement.start)
        reader.read_attributes(keyword=False)
        for field, attribute in reader.attributes.items():
            statement.arguments[field.name] = self._decoded(statement, field, attribute)
            self._state_type(statement, field)
        statement.extra = reader.extra
        return True

    def _state_type(self, statement: _Statement, field: Field) -> bool:
        """Records the type of an attribute, if it has one."""
        type = type_of_attribute(statement.arguments[field.name])
        if type is not None:
            statement.types[field.name] = (type,)
        return True

    def _decoded(self, statement: _Statement, field: Field, attribute: Attribute) -> object:
        return statement.context.builder.decoded(self._definition, field, attribute, statement.start)

    def _compile(self) -> None:
        """Compiles the format, if a pattern can express each element of it."""
        definition = self._definition
        layout = definition.layout
        if not issubclass(definition, MlirOp) and layout.results:
            return
        if layout.regions or layout.parameters or any(f.variadic for f in layout.successors):
            return
        parts = [_part(e) for e in formats.format_of(definition).elements]
        known = [p for p in parts if p is not None]
        groups = [g for p in known for g in p.groups]
        names = [(n, g) for n, (take, g) in enumerate(groups, 1) if take is None]
        named = {g.field: n for n, g in names if isinstance(g, assembly.Variable)}
        named_all = next((n for n, g in names if isinstance(g, assembly.Operands)), 0)
        variadic = sum(f.variadic for f in layout.inputs)
        if len(known) < len(parts) or any(f.optional for f in layout.inputs) or (named_all and variadic > 1):
            return
        if not named_all and len(named) < len(layout.inputs):
            return
        if any(isinstance(g, assembly.Variable) and g.field.kind is FieldKind.ATTRIBUTE for _, g in groups):
            # An attribute that was read before the dictionary must not occur in it again.
            known = [_NO_DICTIONARY if p is _DICTIONARY_PART else p for p in known]
            groups = [g for p in known for g in p.groups]
        self._all_operands = named_all
        self._operands = [(named[f], f) for f in layout.inputs] if not named_all else []
        self._groups = [(n, take, g) for n, (take, g) in enumerate(groups, 1) if take is not None]
        self._successors = [named[f] for f in layout.successors]
        self._text_groups = [n for n, _, _ in self._groups]
        self._pattern = re.compile("".join([p.expression for p in known]), re.ASCII)


_Take = Callable[[LinePattern, _Statement, assembly.Group, str, int], bool]
_DICTIONARY_PART = _PatternPart(
    f"(?:{BLANK}({_DICTIONARY})|(?!{BLANK}[{{]))", ((LinePattern.read_dictionary, assembly.Operands()),)
)
_NO_DICTIONARY = _PatternPart(f"(?!{BLANK}[{{])")


@cache
def pattern_of(definition: type[Op]) -> LinePattern | None:
    """Returns the pattern of a definition; None if Python code reads its form, or it has only the generic form."""
    form = definition.custom_form
    is_data = bool(definition.assembly) and (form is None or isinstance(form, ExtendsAssembly))
    return LinePattern(definition) if is_data else None


def _part(element: assembly.Element) -> _PatternPart | None:
    """Returns the expression of an element; None when no expression can match it."""
    match element:
        case assembly.Literal(text=text):
            return _PatternPart(BLANK + _word(text) if text.strip() else "")
        case assembly.Variable(field=field):
            return _variable(element, field)
        case assembly.TypeOf(group=group) if not element.short:
            is_single = isinstance(group, assembly.Variable) and not group.field.variadic
            return _PatternPart(
                f"{BLANK}({PLAIN_TYPE if is_single else PLAIN_TYPES})", ((LinePattern.state_types, group),)
            )
        case assembly.FunctionalType(inputs=inputs, results=results):
            several = rf"(?:{PLAIN_TYPES})?+"
            expression = rf"{BLANK}\({BLANK}({several}){BLANK}\){BLANK}->{BLANK}"
            takes = ((LinePattern.state_types, inputs), *[(LinePattern.state_types, results)] * 2)
            return _PatternPart(rf"{expression}(?:({PLAIN_TYPE})|\({BLANK}({several}){BLANK}\))", takes)
        case assembly.AttributeDictionary(keyword=keyword):
            return _PatternPart(f"(?!{BLANK}{_word('attributes')})") if keyword else _DICTIONARY_PART
        case assembly.Operands():
            return _PatternPart(f"(?:{BLANK}({VALUE_USES}))?+", ((None, element),))
        case assembly.Optional(otherwise=()):
            return _optional(element)
        case assembly.Custom("DynamicIndexList", (assembly.Variable() as values, assembly.Variable() as static)):
            numbers = rf"(?:-?\d{{1,18}}(?:{COMMA}-?\d{{1,18}})*+)?+"
            nothing = ((None, values), (LinePattern.decode_integers, static))
            return _PatternPart(rf"{BLANK}\[(){BLANK}({numbers}){BLANK}\]", nothing)
        case _:
            return None


def _variable(element: assembly.Variable, field: Field) -> _PatternPart | None:
    if field.group_sizes:
        return None
    if field.kind is FieldKind.OPERAND and field.is_required and not field.variadic:
        return _PatternPart(f"{BLANK}({VALUE_USE})", ((None, element),))
    if field.kind is FieldKind.OPERAND and field.variadic:
        return _PatternPart(f"(?:{BLANK}({VALUE_USES}))?+", ((None, element),))
    if field.kind is FieldKind.SUCCESSOR:
        return _PatternPart(rf"{BLANK}(\^{SUFFIX_ID})", ((None, element),))
    if field.kind is not FieldKind.ATTRIBUTE:
        return None
    if field.type is attr_types.any_attribute:
        return _PatternPart(f"{BLANK}({_CONSTANT})", ((LinePattern.read_constant, element),))
    if not isinstance(field.type, AttrType):
        return None
    if field.type.cases:
        text = "[A-Za-z_][A-Za-z0-9_$.]*+"
    elif field.type in (attr_types.symbol_name, attr_types.symbol):
        text = rf"@[A-Za-z_][A-Za-z0-9_$.]*+(?!{BLANK}::)"
    elif field.type.elides_type:
        text = r"-?\d{1,18}(?![A-Za-z0-9_.])|\[[-0-9, ]*+\]"
    else:
        text = "<[A-Za-z0-9_, ]*+>"
    return _PatternPart(f"{BLANK}({text})", ((LinePattern.decode_attribute, element),))


def _optional(group: assembly.Optional) -> _PatternPart | None:
    """Returns the expression of an optional group: its elements, or the absence of the first one."""
    elements = [e for e in group.elements if not (isinstance(e, assembly.Literal) and not e.text.strip())]
    first = elements[0] if elements else None
    if isinstance(first, assembly.Literal):
        absent = f"(?!{BLANK}{_word(first.text)})"
    elif isinstance(first, assembly.Operands | assembly.Variable) and _is_operand(first):
        absent = f"(?!{BLANK}%)"
    else:
        return None
    parts = [None if group.is_implied(e) or isinstance(e, assembly.AttributeDictionary) else _part(e) for e in elements]
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return _PatternPart(absent) if isinstance(first, assembly.Literal) else None
    return _PatternPart(
        f"(?:{''.join([p.expression for p in known])}|{absent})", tuple([g for p in known for g in p.groups])
    )


def _is_operand(group: assembly.Operands | assembly.Variable) -> bool:
    return isinstance(group, assembly.Operands) or group.field.kind is FieldKind.OPERAND


def _field_of(group: assembly.Group) -> Field:
    assert isinstance(group, assembly.Variable)
    return group.field


def _word(text: str) -> str:
    """Returns the expression of a keyword, up to its end, or of punctuation."""
    return re.escape(text) + (r"(?![A-Za-z0-9_$.])" if text[0].isalpha() else "")
