"""Assembly formats compiled into regular expressions: what most operations look like is read in one match.

A pattern covers an operation without regions; all else, and whatever does not match, is read token by token
(`text/custom_forms.py`), which also reports what is wrong. A definition gets its pattern
when it has been met a few times, as compiling takes as long as reading some operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
from commonir.text.deduction import Deduction, StatedTypes
from commonir.text.form_context import FormContext
from commonir.text.form_reader import FormReader, plan_of
from commonir.text.lexer import BLANK, VALUE_NAME

FIRST_USES = 8
"""Operations of a definition that are read before its pattern is compiled."""

_NAME = rf"{VALUE_NAME}(?:#\d++)?+"
_TYPE = r'(?:(?:tensor|vector|memref)<[^<>"#!]*+>|[a-z][a-z0-9]*+(?![A-Za-z0-9_$.<]))'
_CONSTANT = rf'(?:dense<[^<>"#!/]*+>|-?\d[0-9.eE+-]*+){BLANK}:{BLANK}{_TYPE}|(?:true|false)(?![A-Za-z0-9_$.])'
_DICTIONARY = r'\{[^{}"#!]*+\}'
_SEVERAL_NAMES = f"{_NAME}(?:{BLANK},{BLANK}{_NAME})*+"
_EACH_NAME = re.compile(_NAME, re.ASCII)


class _Statement:
    """What the text says of one operation: names of operands for each input, types and attributes by field name."""

    __slots__ = ("arguments", "context", "extra", "start", "types", "uses")

    def __init__(self, context: FormContext, start: int, inputs: int) -> None:
        self.context = context
        self.start = start
        self.uses: list[list[str]] = [[]] * inputs
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
        self._pattern: re.Pattern[str] | None = None
        self._groups: list[tuple[_Take, Group]] = []
        self._deduction = Deduction(definition, states_results=format_of(definition).states_results)
        self._positions = {f: n for n, f in enumerate(definition.layout.inputs)}
        self._input_names = [f.name for f in definition.layout.inputs]

    def read(self, context: FormContext, result_name: str, start: int, end: int) -> Op | None:
        """Reads an operation whose name stands from `start` to `end`, with its operands.

        Returns None, with nothing read, when the pattern does not cover it.
        """
        if self._uses < FIRST_USES:
            self._uses += 1
            if self._uses == FIRST_USES:
                self._compile()
        tokens = context.tokens
        found = None if self._pattern is None else self._pattern.match(tokens.source, end)
        if found is None:
            return None
        begin, fault_count = tokens.start, len(tokens.diagnostics)
        try:
            op = self._read(_Statement(context, start, len(self._positions)), found, bool(result_name))
        except DiagnosticError:
            # Token by token, the text may mean something else; if not, the diagnostic is the same.
            op = None
        if op is None or len(tokens.diagnostics) > fault_count:
            tokens.move_to(begin)
            tokens.diagnostics.truncate(fault_count)
            return None
        tokens.move_to(found.end())
        return op

    def _read(self, statement: _Statement, match: re.Match[str], has_name: bool) -> Op | None:
        for n, (take, group) in enumerate(self._groups, 1):
            text = match[n]
            if text is not None and not take(self, statement, group, text, match.start(n)):
                return None
        context, stated = statement.context, statement.types
        counts = tuple(map(len, statement.uses))
        types, results = self._deduction.types(counts, stated, context.deduced)
        if results is None or (has_name and len(results) != 1):
            return None
        values = context.names.values
        operands: list[Value] = []
        for name, type in zip([name for names in statement.uses for name in names], types, strict=True):
            value = values.get(name)
            if value is None or (type is not None and value.type is not type):
                return None
            operands.append(value)
        op = context.builder.assemble(
            self._definition, tuple(operands), counts, statement.arguments, results, statement.start
        )
        for name, attribute in statement.extra.items():
            op.set_extra(name, attribute)
        return op

    # -- what groups state

    def name_operands(self, statement: _Statement, group: Group, text: str, at: int) -> bool:
        del at
        if isinstance(group, Variable):
            field = group.field
            statement.uses[self._positions[field]] = _EACH_NAME.findall(text) if field.variadic else [text]
            return True
        names = _EACH_NAME.findall(text)
        counts = statement.context.builder.group_counts(self._definition, len(names), None, statement.start)
        rest = iter(names)
        statement.uses = [[*islice(rest, n)] for n in counts]
        return True

    def state_types(self, statement: _Statement, group: Group, text: str, at: int) -> bool:
        types = statement.context.types.types_of_text(text, at) if text else ()
        if types is None:
            return False
        if isinstance(group, Variable):
            statement.types[group.field.name] = types
            return group.field.variadic or len(types) == 1
        layout, rest = self._definition.layout, iter(types)
        if isinstance(group, Operands):
            counts = [*map(len, statement.uses)]
            statement.types |= {n: tuple(islice(rest, c)) for n, c in zip(self._input_names, counts, strict=True)}
            return sum(counts) == len(types)
        statement.types |= {f.name: tuple(islice(rest, 1)) for f in layout.results}
        return len(layout.results) == len(types)

    def decode_attribute(self, statement: _Statement, group: Group, text: str, at: int) -> bool:
        field, context = _field_of(group), statement.context
        value = context.attribute_values.get((field, text), MISSING)
        if value is MISSING:
            context.tokens.move_to(at)
            reader = FormReader(context, plan_of(self._definition), 0, statement.start)
            value = self._decoded(statement, field, reader.read_attribute(field))
            if not context.tokens.is_behind(at + len(text)):
                return False
            context.attribute_values[field, text] = value
        statement.arguments[field.name] = value
        return self._state_type(statement, field)

    def decode_integers(self, statement: _Statement, group: Group, text: str, at: int) -> bool:
        del at
        field, numbers = _field_of(group), tuple(map(int, text.split(","))) if text else ()
        statement.arguments[field.name] = self._decoded(statement, field, DenseArrayAttr(i64, numbers))
        return True

    def read_constant(self, statement: _Statement, group: Group, text: str, at: int) -> bool:
        value = statement.context.attributes.attribute_of_text(text, at)
        if value is None:
            return False
        field = _field_of(group)
        statement.arguments[field.name] = self._decoded(statement, field, value)
        return self._state_type(statement, field)

    def read_dictionary(self, statement: _Statement, group: Group, text: str, at: int) -> bool:
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


_Take = Callable[[LinePattern, _Statement, Group, str, int], bool]
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
            takes = ((LinePattern.state_types, inputs), *[(LinePattern.state_types, results)] * 2)
            return _Part(rf"{expression}(?:({_TYPE})|\({BLANK}({several}){BLANK}\))", takes)
        case AttributeDictionary(keyword=keyword):
            return _Part(f"(?!{BLANK}{_word('attributes')})") if keyword else _DICTIONARY_PART
        case Operands():
            return _Part(f"(?:{BLANK}({_SEVERAL_NAMES}))?+", ((LinePattern.name_operands, element),))
        case Optional(otherwise=()):
            return _optional(element)
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
    if field.kind is not FieldKind.ATTRIBUTE:
        return None
    if field.type is attr_types.any_attribute:
        return _Part(f"{BLANK}({_CONSTANT})", ((LinePattern.read_constant, element),))
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
    return _Part(f"{BLANK}({text})", ((LinePattern.decode_attribute, element),))


def _optional(group: Optional) -> _Part | None:
    """Returns the expression of elements that are present, or of which the first is absent."""
    elements = [e for e in group.elements if not (isinstance(e, Literal) and not e.text.strip())]
    first = elements[0] if elements else None
    if isinstance(first, Literal):
        absent = f"(?!{BLANK}{_word(first.text)})"
    elif isinstance(first, Operands) or (isinstance(first, Variable) and first.field.kind is FieldKind.OPERAND):
        absent = f"(?!{BLANK}%)"
    else:
        return None
    parts = [None if group.is_silent(e) or isinstance(e, AttributeDictionary) else _part(e) for e in elements]
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return _Part(absent) if isinstance(first, Literal) else None
    return _Part(f"(?:{''.join([p.expression for p in known])}|{absent})", tuple([g for p in known for g in p.groups]))


def _field_of(group: Group) -> Field:
    assert isinstance(group, Variable)
    return group.field


def _word(text: str) -> str:
    """Returns the expression of a keyword, which ends there, or of punctuation."""
    return re.escape(text) + (r"(?![A-Za-z0-9_$.])" if text[0].isalpha() else "")
