"""Assembly formats compiled into regular expressions: what most operations look like is read in one match.

A pattern covers an operation without regions of which every optional group is absent; all else, and whatever does not
match, is read token by token (`text/custom_forms.py`), which also reports what is wrong. A definition gets its pattern
when it has been met a few times, as compiling takes as long as reading some operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, DenseArrayAttr, StringAttr
from commonir.ir.operation import Value
from commonir.ir.types import Type, i64
from commonir.ods import MlirOp, Op, attr_types
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import MISSING, Field, FieldKind
from commonir.ods.type_rules import type_of_attribute
from commonir.text.assembly import (
    AttributeDictionary,
    Custom,
    Element,
    FunctionalType,
    Group,
    Literal,
    Operands,
    Optional,
    TypeOf,
    Variable,
    format_of,
)
from commonir.text.custom_forms import FormReader
from commonir.text.deduction import Deduction, StatedTypes
from commonir.text.lexer import BLANK, VALUE_NAME

if TYPE_CHECKING:
    from commonir.text.parser import Parser

FIRST_USES = 8
"""Operations of a definition that are read before its pattern is compiled."""

_NAME = rf"{VALUE_NAME}(?:#\d++)?+"
_TYPE = r'(?:(?:tensor|vector|memref)<[^<>"#!]*+>|[a-z][a-z0-9]*+(?![A-Za-z0-9_$.<]))'
_CONSTANT = rf'(?:dense<[^<>"#!/]*+>|-?\d[0-9.eE+-]*+){BLANK}:{BLANK}{_TYPE}|(?:true|false)(?![A-Za-z0-9_$.])'
_DICTIONARY = r'\{[^{}"#!]*+\}'
_SEVERAL_NAMES = f"{_NAME}(?:{BLANK},{BLANK}{_NAME})*+"
_EACH_NAME = re.compile(_NAME, re.ASCII)


class Head(NamedTuple):
    """The beginning of an operation: the name of its result or "", its definition, and where the name stands."""

    result: str
    definition: type[Op]
    start: int
    end: int


class _Statement:
    """What the text says of one operation: names of operands, types and attributes by field."""

    __slots__ = ("arguments", "extra", "head", "types", "uses")

    def __init__(self, head: Head) -> None:
        self.head = head
        self.uses: dict[Field, list[str]] = {}
        self.types: StatedTypes = {}
        self.arguments: dict[str, object] = {}
        self.extra: dict[str, Attribute] = {}


class _Part(NamedTuple):
    """An element of a format: its expression, and for each group what takes the text of the group, for which fields.

    What takes a text returns whether the format expects it; it is given the offset, too.
    """

    expression: str
    groups: tuple[tuple[_Take, Group], ...] = ()


class LinePattern:
    """Reads operations of one definition whose format it could compile."""

    def __init__(self, definition: type[Op]) -> None:
        self._definition = definition
        self._uses = 0
        self._is_compiled = False
        self._pattern: re.Pattern[str] | None = None
        self._groups: list[tuple[_Take, Group]] = []
        self._deduction = Deduction(definition, states_results=format_of(definition).states_results)
        self._keywords: dict[tuple[Field, str], object] = {}

    def read(self, parser: Parser, head: Head) -> Op | None:
        """Reads an operation after its name; None, and nothing is moved, when the pattern does not cover it."""
        if not self._is_compiled:
            self._uses += 1
            if self._uses >= FIRST_USES:
                self._is_compiled = True
                self._compile()
        if self._pattern is None:
            return None
        found = self._pattern.match(parser.source, head.end)
        if found is None:
            return None
        begin, findings = parser.start, len(parser.findings)
        try:
            op = self._read(parser, _Statement(head), found)
        except DiagnosticError:
            # Token by token, the text may mean something else; if not, the finding is the same.
            op = None
        parser.move_to(begin if op is None else found.end())
        if op is None:
            parser.findings.truncate(findings)
        return op

    def _read(self, parser: Parser, statement: _Statement, match: re.Match[str]) -> Op | None:
        for n, (take, group) in enumerate(self._groups, 1):
            text = match[n]
            if text is not None and not take(self, parser, statement, group, text, match.start(n)):
                return None
        return self._build(parser, statement)

    # -- what groups state

    def name_operands(self, parser: Parser, statement: _Statement, group: Group, text: str, at: int) -> bool:
        del at
        if isinstance(group, Variable):
            statement.uses[group.field] = _EACH_NAME.findall(text) if group.field.variadic else [text]
            return True
        names = _EACH_NAME.findall(text)
        inputs = self._definition.layout.inputs
        counts = parser.group_counts(self._definition, len(names), None, statement.head.start)
        rest = iter(names)
        statement.uses = {f: [*islice(rest, n)] for f, n in zip(inputs, counts, strict=True)}
        return True

    def state_types(self, parser: Parser, statement: _Statement, group: Group, text: str, at: int) -> bool:
        types = parser.types_of_text(text, at) if text else ()
        if types is None:
            return False
        layout = self._definition.layout
        if isinstance(group, Variable):
            statement.types[group.field.name] = types
            return group.field.variadic or len(types) == 1
        of_operands = isinstance(group, Operands)
        at = 0
        for f in layout.inputs if of_operands else layout.results:
            count = len(statement.uses.get(f, ())) if of_operands else 1
            statement.types[f.name] = types[at : at + count]
            at += count
        return at == len(types)

    def decode_keyword(self, parser: Parser, statement: _Statement, group: Group, text: str, at: int) -> bool:
        del at
        field = _field_of(group)
        value = self._keywords.get((field, text), MISSING)
        if value is MISSING:
            if field.type is None or text not in field.type.cases:
                return False
            value = parser.decoded(self._definition, field, StringAttr(text), statement.head.start)
            self._keywords[field, text] = value
        statement.arguments[field.name] = value
        return True

    def decode_integers(self, parser: Parser, statement: _Statement, group: Group, text: str, at: int) -> bool:
        del at
        field, numbers = _field_of(group), tuple(map(int, text.split(","))) if text else ()
        value = parser.decoded(self._definition, field, DenseArrayAttr(i64, numbers), statement.head.start)
        statement.arguments[field.name] = value
        return True

    def read_constant(self, parser: Parser, statement: _Statement, group: Group, text: str, at: int) -> bool:
        field, value = _field_of(group), parser.attribute_of_text(text, at)
        if value is None:
            return False
        statement.arguments[field.name] = parser.decoded(self._definition, field, value, statement.head.start)
        return self._state_type(statement, field)

    def read_dictionary(self, parser: Parser, statement: _Statement, group: Group, text: str, at: int) -> bool:
        del group, text
        reader = FormReader(parser, self._definition, 0, statement.head.start)
        parser.move_to(at)
        reader.read_attributes(keyword=False)
        for f, attribute in reader.attributes.items():
            statement.arguments[f.name] = parser.decoded(self._definition, f, attribute, statement.head.start)
            self._state_type(statement, f)
        statement.extra = reader.extra
        return True

    def _state_type(self, statement: _Statement, field: Field) -> bool:
        """Records the type of an attribute, if it has one."""
        type = type_of_attribute(statement.arguments[field.name])
        if type is not None:
            statement.types[field.name] = (type,)
        return True

    def _build(self, parser: Parser, statement: _Statement) -> Op | None:
        definition, arguments = self._definition, statement.arguments
        layout, get = definition.layout, parser.values.get
        counts = tuple([len(statement.uses.get(f, ())) for f in layout.inputs])
        inputs, results = self._deduction.types(counts, statement.types, parser.deduced)
        if results is None:
            return None
        types = dict(inputs)
        operands: list[Value] = []
        for f in layout.inputs:
            names = statement.uses.get(f, [])
            values = [get(name) for name in names]
            expected: Sequence[Type | None] = types.get(f, [None] * len(names))
            group = tuple([v for v, t in zip(values, expected, strict=False) if v is not None and t in (None, v.type)])
            if not len(group) == len(names) == len(expected):
                return None
            operands += group
            arguments[f.name] = group if f.variadic else group[0]
        attributes = tuple([arguments.get(f.name, f.default) for f in layout.attributes])
        if any(v is MISSING for v in attributes):
            return None
        if layout.is_plain:
            op = definition.assembled(tuple(operands), None, attributes, (), results)
        else:
            op = definition.build(arguments, results)
        for name, value in statement.extra.items():
            op.set_extra(name, value)
        return op

    def _compile(self) -> None:
        """Compiles the format, if there is a pattern for all that it may say of a plain operation."""
        definition = self._definition
        layout = definition.layout
        is_covered = issubclass(definition, MlirOp) and definition.assembly and definition.custom_form is None
        if not is_covered or layout.regions or layout.successors or layout.parameters:
            return
        parts = [_part(e) for e in format_of(definition).elements]
        known = [p for p in parts if p is not None]
        named = {g.field for p in known for _, g in p.groups if isinstance(g, Variable)}
        names_all = any(
            isinstance(g, Operands) and take is LinePattern.name_operands for p in known for take, g in p.groups
        )
        if len(known) < len(parts) or any(f.optional for f in layout.inputs):
            return
        if not names_all and not named.issuperset([f for f in layout.inputs if f.is_required]):
            return
        if named.intersection(layout.attributes):
            # What is read before it must not stand in a dictionary too.
            known = [_NO_DICTIONARY if p is _DICTIONARY_PART else p for p in known]
        self._groups = [g for p in known for g in p.groups]
        self._pattern = re.compile("".join([p.expression for p in known]), re.ASCII)


_Take = Callable[[LinePattern, "Parser", _Statement, Group, str, int], bool]
_DICTIONARY_PART = _Part(f"(?:{BLANK}({_DICTIONARY})|(?!{BLANK}[{{]))", ((LinePattern.read_dictionary, Operands()),))
_NO_DICTIONARY = _Part(f"(?!{BLANK}[{{])")


@cache
def pattern_of(definition: type[Op]) -> LinePattern:
    """Returns the pattern of a definition."""
    return LinePattern(definition)


def _part(element: Element) -> _Part | None:
    """Returns the expression of an element; None where there is none."""
    match element:
        case Literal(text=text):
            return _Part(BLANK + _word(text) if text.strip() else "")
        case Variable(field=field):
            return _variable(element, field)
        case TypeOf(group=group) if not element.short:
            several = rf"{_TYPE}(?:{BLANK},{BLANK}{_TYPE})*+"
            is_single = isinstance(group, Variable) and not group.field.variadic
            return _Part(f"{BLANK}({_TYPE if is_single else several})", ((LinePattern.state_types, group),))
        case FunctionalType(inputs=inputs, results=results):
            several = rf"(?:{_TYPE}(?:{BLANK},{BLANK}{_TYPE})*+)?+"
            expression = rf"{BLANK}\({BLANK}({several}){BLANK}\){BLANK}->{BLANK}"
            return _Part(
                f"{expression}({_TYPE})", ((LinePattern.state_types, inputs), (LinePattern.state_types, results))
            )
        case AttributeDictionary(keyword=keyword):
            return _Part(f"(?!{BLANK}{_word('attributes')})") if keyword else _DICTIONARY_PART
        case Operands():
            return _Part(f"(?:{BLANK}({_SEVERAL_NAMES}))?+", ((LinePattern.name_operands, element),))
        case Optional(elements=elements, otherwise=()):
            first = next((e for e in elements if not (isinstance(e, Literal) and not e.text.strip())), None)
            return _Part(f"(?!{BLANK}{_word(first.text)})") if isinstance(first, Literal) else None
        case Custom(name="DynamicIndexList", arguments=(Variable() as values, Variable() as static)):
            numbers = rf"(?:-?\d{{1,18}}(?:{BLANK},{BLANK}-?\d{{1,18}})*+)?+"
            nothing = ((LinePattern.name_operands, values), (LinePattern.decode_integers, static))
            return _Part(rf"{BLANK}\[(){BLANK}({numbers}){BLANK}\]", nothing)
        case _:
            return None


def _variable(element: Variable, field: Field) -> _Part | None:
    if field.kind is FieldKind.OPERAND and field.is_required and not field.variadic:
        return _Part(f"{BLANK}({_NAME})", ((LinePattern.name_operands, element),))
    if field.kind is FieldKind.OPERAND and field.variadic:
        return _Part(f"(?:{BLANK}({_SEVERAL_NAMES}))?+", ((LinePattern.name_operands, element),))
    if field.kind is FieldKind.ATTRIBUTE and isinstance(field.type, AttrType) and field.type.cases:
        return _Part(f"{BLANK}([A-Za-z_][A-Za-z0-9_$.]*+)", ((LinePattern.decode_keyword, element),))
    if field.kind is FieldKind.ATTRIBUTE and field.type is attr_types.any_attribute:
        return _Part(f"{BLANK}({_CONSTANT})", ((LinePattern.read_constant, element),))
    return None


def _field_of(group: Group) -> Field:
    assert isinstance(group, Variable)
    return group.field


def _word(text: str) -> str:
    """Returns the expression of a keyword, which ends there, or of punctuation."""
    return re.escape(text) + (r"(?![A-Za-z0-9_$.])" if text[0].isalpha() else "")
