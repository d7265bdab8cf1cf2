"""Declarative assembly formats: the text of an operation after its name, said once for printer and parser.

A definition states its format in MLIR's notation (`assembly="$x attr-dict `:` type($x)"`); for one that states none,
`default_format` writes one. Elements: literals in backquotes, `$field`, `type($field)`, `type(operands)`,
`type(results)`, `operands`, `results`, `regions`, `attr-dict`, `attr-dict-with-keyword`, `functional-type(a, b)`,
`custom<Name>(...)`, optional groups `( ... )?` with an anchor `^` and an alternative `:( ... )?`. One is ours:
`signature` is a function type, or one type when all operands and results have it.
Source: MLIR operation definitions, declarative assembly format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from commonir.base.diagnostics import InternalError
from commonir.ods import Op, kinds
from commonir.ods.fields import Field, FieldKind


class Literal(NamedTuple):
    """A keyword or punctuation; a blank or nothing where only layout is meant."""

    text: str


class Variable:
    """Operands, an attribute, regions or a symbol."""

    # No named tuple: a `Field` is a descriptor, which type checkers would evaluate on access.
    __slots__ = ("field",)

    def __init__(self, field: Field) -> None:
        self.field = field


class TypeOf(NamedTuple):
    """Types of a group of values, separated by commas."""

    group: Variable | Operands | Results


class Operands(NamedTuple):
    """All operands."""


class Results(NamedTuple):
    """All results; only their types have a text."""


class Regions(NamedTuple):
    """All regions, separated by commas."""


class AttributeDictionary(NamedTuple):
    """Attributes that the format does not name; with `keyword`, the word `attributes` stands before them."""

    keyword: bool


class FunctionalType(NamedTuple):
    """Types of operands, an arrow, types of results."""

    inputs: Variable | Operands | Results
    results: Variable | Operands | Results


class Signature(NamedTuple):
    """All operand and result types: one type when all are the same, else a function type."""


class Custom(NamedTuple):
    """A directive with code of its own (`text/directives.py`)."""

    name: str
    arguments: tuple[Variable | TypeOf, ...]


class Optional(NamedTuple):
    """Elements that are there when the one at `anchor` has something to say; `otherwise` when it has not."""

    elements: tuple[Element, ...]
    anchor: int
    otherwise: tuple[Element, ...] = ()


Element = (
    Literal
    | Variable
    | TypeOf
    | Operands
    | Results
    | Regions
    | AttributeDictionary
    | FunctionalType
    | Signature
    | Custom
    | Optional
)


class Format(NamedTuple):
    """A parsed format.

    `named`: attributes it names, which the attribute dictionary leaves out. `states_results`: whether it says the
    types of all results. `has_signature`: whether a directive prints the arguments of the first block of the region.
    """

    elements: tuple[Element, ...]
    named: frozenset[Field]
    states_results: bool
    has_signature: bool


_TOKEN = re.compile(r"\s*(?:`([^`]*)`|\$([A-Za-z_]\w*)|([a-z][a-z-]*)|(\)\?|[()^:,<>]|[A-Z]\w*))")

_LITERAL = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*|->|[,:=<>(){}\[\]?*+]")


@cache
def format_of(definition: type[Op]) -> Format:
    """The assembly format of a definition, its own or the default."""
    elements = _Reader(definition, definition.assembly or default_format(definition)).read()
    inside = list(_every(elements))
    named = [e.field for e in inside if isinstance(e, Variable) and e.field.kind is FieldKind.ATTRIBUTE]
    signature = any(
        isinstance(a, Variable) and a.field.kind is FieldKind.REGION
        for e in inside
        if isinstance(e, Custom)
        for a in e.arguments
    )
    return Format(elements, frozenset(named), _states_results(definition, inside), signature)


def _states_results(definition: type[Op], inside: list[Element]) -> bool:
    if any(isinstance(e, Signature) or (isinstance(e, TypeOf) and isinstance(e.group, Results)) for e in inside):
        return True
    groups = [e.group if isinstance(e, TypeOf) else e.results for e in inside if isinstance(e, TypeOf | FunctionalType)]
    stated = {g.field for g in groups if isinstance(g, Variable)}
    return any(isinstance(g, Results) for g in groups) or stated.issuperset(definition.layout.results)


def default_format(definition: type[Op]) -> str:
    """The format of a definition that states none.

    `%y = core.conv %x, %weight bias(%b) {strides = [2, 2]} : (...) -> ...`: required operands, then each optional one
    and each parameter that is bound to a value in a group under its name, other attributes, types, regions under their
    names. The single variadic operand of an operation without other such groups needs no name.
    """
    layout = definition.layout
    required = [f for f in layout.inputs if f.kind is FieldKind.OPERAND and f.is_required]
    grouped = [f for f in layout.inputs if f not in required]
    parts = [f"${f.spelling}" for f in layout.attributes if f.type is kinds.symbol_name]
    parts += [" `,` ".join(f"${f.spelling}" for f in required)]
    if len(grouped) == 1 and grouped[0].variadic:
        name = grouped[0].spelling
        parts.append(f"(`,` ${name}^)?" if required else f"${name}")
    else:
        parts += [f"(`{f.spelling}` `` `(` ${f.spelling}^ `)`)?" for f in grouped]
    parts.append("attr-dict")
    if layout.inputs or layout.results:
        parts.append("`:` signature")
    if len(layout.regions) == 1:
        parts.append(f"${layout.regions[0].spelling}")
    else:
        parts += [f"`{f.spelling}` ${f.spelling}" for f in layout.regions]
    return " ".join(filter(None, parts))


def _every(elements: tuple[Element, ...]) -> Iterator[Element]:
    """All elements, also those inside of others."""
    for e in elements:
        yield e
        if isinstance(e, Optional):
            yield from _every((*e.elements, *e.otherwise))
        elif isinstance(e, Custom):
            yield from e.arguments


class _Reader:
    """Reads one format. A fault is one of the definition, so it is an internal error."""

    def __init__(self, definition: type[Op], source: str) -> None:
        self.definition = definition
        self.source = source
        self.at = 0
        self.fields = {f.spelling: f for f in definition.layout.by_name.values()}
        self.token: tuple[str, str] = ("end", "")
        self.advance()

    def fault(self, message: str) -> InternalError:
        return InternalError(f"{self.definition.name}: assembly format: {message} in '{self.source}'")

    def advance(self) -> tuple[str, str]:
        """Moves on and returns the token that was current."""
        current = self.token
        found = _TOKEN.match(self.source, self.at)
        if found is None:
            if self.source[self.at :].strip():
                raise self.fault(f"unexpected character at {self.at}")
            self.token = ("end", "")
            return current
        self.at = found.end()
        kind = ("literal", "variable", "word", "mark")[(found.lastindex or 1) - 1]
        self.token = (kind, found.group(found.lastindex or 1))
        return current

    def expect(self, mark: str) -> None:
        if self.advance() != ("mark", mark):
            raise self.fault(f"expected '{mark}'")

    def read(self) -> tuple[Element, ...]:
        elements, anchor = self.elements()
        if self.token[0] != "end" or anchor is not None:
            raise self.fault("unexpected '^' or ')'")
        return elements

    def elements(self) -> tuple[tuple[Element, ...], int | None]:
        out: list[Element] = []
        anchor: int | None = None
        while self.token[0] != "end" and self.token not in (("mark", ")?"), ("mark", ")")):
            out.append(self.element())
            if self.token == ("mark", "^"):
                self.advance()
                anchor = len(out) - 1
        return tuple(out), anchor

    def element(self) -> Element:
        kind, text = self.advance()
        match kind, text:
            case "literal", _:
                if text.strip() and not _LITERAL.fullmatch(text):
                    raise self.fault(f"'{text}' is neither a word nor punctuation")
                return Literal(text)
            case "variable", _:
                return self.variable(text)
            case "mark", "(":
                return self.optional()
            case "word", "type":
                self.expect("(")
                group = self.group()
                self.expect(")")
                return TypeOf(group)
            case "word", "functional-type":
                self.expect("(")
                inputs = self.group()
                self.expect(",")
                results = self.group()
                self.expect(")")
                return FunctionalType(inputs, results)
            case "word", "custom":
                return self.custom()
            case "word", _ if text in _WORDS:
                return _WORDS[text]
            case _:
                raise self.fault(f"'{text}' has no meaning")

    def variable(self, name: str) -> Variable:
        if name not in self.fields:
            raise self.fault(f"no field is called '{name}'")
        return Variable(self.fields[name])

    def group(self) -> Variable | Operands | Results:
        match self.advance():
            case "variable", name:
                return self.variable(name)
            case "word", "operands":
                return Operands()
            case "word", "results":
                return Results()
            case _, text:
                raise self.fault(f"'{text}' is no group of values")

    def optional(self) -> Optional:
        elements, anchor = self.elements()
        otherwise: tuple[Element, ...] = ()
        if self.token == ("mark", ")"):
            self.advance()
            self.expect(":")
            self.expect("(")
            otherwise, _ = self.elements()
        self.expect(")?")
        if anchor is None:
            raise self.fault("an optional group needs an anchor '^'")
        return Optional(elements, anchor, otherwise)

    def custom(self) -> Custom:
        self.expect("<")
        _, name = self.advance()
        self.expect(">")
        self.expect("(")
        arguments: list[Variable | TypeOf] = []
        while self.token != ("mark", ")"):
            made = self.element()
            if not isinstance(made, Variable | TypeOf):
                raise self.fault(f"custom<{name}> takes fields and their types")
            arguments.append(made)
            if self.token == ("mark", ","):
                self.advance()
        self.advance()
        return Custom(name, tuple(arguments))


_WORDS: dict[str, Element] = {
    "operands": Operands(),
    "results": Results(),
    "regions": Regions(),
    "attr-dict": AttributeDictionary(keyword=False),
    "attr-dict-with-keyword": AttributeDictionary(keyword=True),
    "signature": Signature(),
}
