"""Declarative assembly formats: the text of an operation after its name, for printer and parser.

A definition has its format in MLIR's notation (`assembly="$x attr-dict `:` type($x)"`); for one without,
`default_format` returns one. Elements: literals in backquotes, `$field`, `type($field)`, `type(operands)`,
`type(results)`, `operands`, `results`, `regions`, `successors`, `attr-dict`, `attr-dict-with-keyword`, `prop-dict`,
`functional-type(a, b)`, `custom<Name>(...)` with `ref(...)` for elements of other directives, `qualified(...)`,
`oilist(...)`, and optional groups `( ... )?` with an anchor `^` and an alternative `:( ... )?`. One is added here:
`signature` is a function type, or one type when all operands and results have it.
Source: MLIR operation definitions, declarative assembly format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from commonir.base.diagnostics import InternalError
from commonir.base.lazy import lazy_pattern
from commonir.base.tuples import NamedTuple
from commonir.ods import Op, attr_types
from commonir.ods.definition import RESULT_SIZES
from commonir.ods.fields import Field, FieldKind
from commonir.ods.patterns import TypeConstraint
from commonir.ods.property_types import unit


class Literal(NamedTuple):
    """A keyword or punctuation; a blank or empty literal only changes the layout."""

    text: str


class Variable:
    """Operands, an attribute, regions, successors or a symbol. `qualified`: an attribute is written with its prefix."""

    # Not a named tuple: a `Field` is a descriptor, which type checkers would evaluate on access.
    __slots__ = ("field", "qualified")

    def __init__(self, field: Field, *, qualified: bool = False) -> None:
        self.field = field
        self.qualified = qualified


class TypeOf(NamedTuple):
    """Types of a group of values, separated by commas. `qualified`: with their prefixes."""

    group: Variable | Operands | Results
    qualified: bool = False

    @property
    def short(self) -> str:
        """Returns the type, `dialect.mnemonic`, of which only the parameters are written; "" for any other."""
        field = self.group.field if isinstance(self.group, Variable) else None
        if field is None or self.qualified or field.variadic or not field.is_required:
            return ""
        return field.pattern.short if isinstance(field.pattern, TypeConstraint) else ""


class Operands(NamedTuple):
    """All operands."""


class Results(NamedTuple):
    """All results, of which only the types are written."""


class Regions(NamedTuple):
    """All regions, separated by commas."""


class Successors(NamedTuple):
    """All successors, separated by commas."""


class AttributeDictionary(NamedTuple):
    """Attributes that the format does not name; with `keyword`, after the word `attributes`."""

    keyword: bool


class PropertyDictionary(NamedTuple):
    """Declared attributes that the format does not name, in `<{..}>`."""


class FunctionalType(NamedTuple):
    """Types of operands, an arrow, types of results."""

    inputs: Variable | Operands | Results
    results: Variable | Operands | Results


class Signature(NamedTuple):
    """All operand and result types: one type when all are the same, else a function type."""


class Reference(NamedTuple):
    """`ref(x)`: an element that another directive prints."""

    element: Variable | TypeOf


class Custom(NamedTuple):
    """A custom directive (`text/directives.py`)."""

    name: str
    arguments: tuple[Variable | TypeOf | Reference | Literal | AttributeDictionary | PropertyDictionary, ...]


class Optional(NamedTuple):
    """An optional group: `elements` if the element at `anchor` is present, else the elements `otherwise`.

    `inverted`: the anchor is one of `otherwise`, which are written if it is present.
    """

    elements: tuple[Element, ...]
    anchor: Element
    otherwise: tuple[Element, ...] = ()
    inverted: bool = False

    def is_implied(self, element: Element) -> bool:
        """Returns whether an element is a flag that the presence of the group implies."""
        if element is not self.anchor or not _is_flag(element):
            return False
        return element is not self.elements[0] and (not self.otherwise or element is not self.otherwise[0])


def _is_flag(element: Element) -> bool:
    return isinstance(element, Variable) and (element.field.type is attr_types.unit or element.field.type is unit)


class AnyOrder(NamedTuple):
    """Clauses that may come in any order, each at most once and recognized by its first word."""

    clauses: tuple[tuple[Element, ...], ...]

    def is_implied(self, clause: Sequence[Element], element: Element) -> bool:
        """Returns whether an element is a flag that the presence of its clause implies: the clause is only a word."""
        return len(clause) == len(("word", "flag")) and element is clause[1] and _is_flag(element)


Group = Variable | Operands | Results
"""An element with any number of values."""

Element = (
    Literal
    | Variable
    | TypeOf
    | Operands
    | Results
    | Regions
    | Successors
    | AttributeDictionary
    | PropertyDictionary
    | FunctionalType
    | Signature
    | Reference
    | Custom
    | Optional
    | AnyOrder
)


class Format(NamedTuple):
    """A parsed format.

    `named`: attributes it names, which the attribute dictionary omits. `states_results`: whether it has the
    types of all results. `has_signature`: whether a directive prints the arguments of the first block of the region.
    `has_properties`: whether declared attributes have a dictionary of their own.
    """

    elements: tuple[Element, ...]
    named: frozenset[Field]
    states_results: bool
    has_signature: bool
    has_properties: bool


_TOKEN = lazy_pattern(r'\s*(?:`([^`]*)`|\$([A-Za-z_]\w*)|([a-z][a-z-]*)|(\)\s*\?|[()^:,<>|]|[A-Z]\w*)|"([^"]*)")')

_LITERAL = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_$.]*|->|::|\.\.\.|[,:=<>(){}\[\]?*+|/-]")


# Attributes that directives print although they are not among their arguments.
_IMPLIED_ATTRIBUTES = {"SwitchOpCases": ("case_operand_segments",)}


@cache
def format_of(definition: type[Op]) -> Format:
    """Returns the assembly format of a definition, its own or the default."""
    elements = _Reader(definition, definition.assembly or default_format(definition)).read()
    inside = list(_walk(elements))
    named = [e.field for e in inside if isinstance(e, Variable) and e.field.kind is FieldKind.ATTRIBUTE]
    implied = [name for e in inside if isinstance(e, Custom) for name in _IMPLIED_ATTRIBUTES.get(e.name, ())]
    if _has_types_by_group(definition, inside):
        implied.append(RESULT_SIZES)
    named += [f for f in definition.layout.attributes if f.spelling in implied]
    properties = any(isinstance(e, PropertyDictionary) for e in inside)
    signature = any(isinstance(e, Custom) and e.name == "FunctionSignature" for e in inside)
    return Format(elements, frozenset(named), _states_results(definition, inside), signature, properties)


def _states_results(definition: type[Op], inside: list[Element]) -> bool:
    if any(isinstance(e, Signature) for e in inside):
        return True
    return any(isinstance(g, Results) for g in _groups_with_types(inside)) or _fields_with_types(inside).issuperset(
        definition.layout.results
    )


def _has_types_by_group(definition: type[Op], inside: list[Element]) -> bool:
    """Returns whether the format has a list of types for each variadic or optional result."""
    return _fields_with_types(inside).issuperset([f for f in definition.layout.results if f.variadic or f.optional])


def _groups_with_types(inside: list[Element]) -> list[Group]:
    """Returns the groups whose types the format prints."""
    alone = [e.group for e in inside if isinstance(e, TypeOf)]
    return [*alone, *[g for e in inside if isinstance(e, FunctionalType) for g in (e.inputs, e.results)]]


def _fields_with_types(inside: list[Element]) -> set[Field]:
    return {g.field for g in _groups_with_types(inside) if isinstance(g, Variable)}


def default_format(definition: type[Op]) -> str:
    """Returns the format of a definition that has none.

    `%y = core.conv %x, %weight bias(%b) {strides = [2, 2]} : (...) -> ...`: required operands, then each optional one
    and each parameter that is bound to a value in a group under its name, other attributes, types, regions under their
    names. The single variadic operand of an operation without other such groups needs no name.
    """
    layout = definition.layout
    required = [f for f in layout.inputs if f.kind is FieldKind.OPERAND and f.is_required]
    grouped = [f for f in layout.inputs if f not in required]
    parts = [f"${f.spelling}" for f in layout.attributes if f.type is attr_types.symbol_name]
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


def _walk(elements: tuple[Element, ...]) -> Iterator[Element]:
    """Yields all elements, including nested ones."""
    for e in elements:
        yield e
        match e:
            case Optional(elements=inner, otherwise=otherwise):
                yield from _walk((*inner, *otherwise))
            case AnyOrder(clauses=clauses):
                for clause in clauses:
                    yield from _walk(clause)
            case Custom(arguments=arguments):
                yield from arguments
            case _:
                pass


class _Reader:
    """Reads one format. Errors are internal errors, because formats are part of definitions."""

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
        """Moves to the next token and returns the one that was current."""
        current = self.token
        match = _TOKEN.match(self.source, self.at)
        if match is None:
            if self.source[self.at :].strip():
                raise self.fault(f"unexpected character at {self.at}")
            self.token = ("end", "")
            return current
        self.at = match.end()
        kind = ("literal", "variable", "word", "mark", "string")[(match.lastindex or 1) - 1]
        text = match.group(match.lastindex or 1)
        self.token = (kind, ")?" if kind == "mark" and text.endswith("?") else text)
        return current

    def expect(self, mark: str) -> None:
        if self.advance() != ("mark", mark):
            raise self.fault(f"expected '{mark}'")

    def read(self) -> tuple[Element, ...]:
        elements, anchor = self.elements()
        if self.token[0] != "end" or anchor is not None:
            raise self.fault("unexpected '^' or ')'")
        return elements

    def elements(self) -> tuple[tuple[Element, ...], Element | None]:
        out: list[Element] = []
        anchor: Element | None = None
        while self.token[0] != "end" and self.token not in (("mark", ")?"), ("mark", ")"), ("mark", "|")):
            out.append(self.element())
            if self.token == ("mark", "^"):
                self.advance()
                anchor = out[-1]
        return tuple(out), anchor

    def element(self) -> Element:
        kind, text = self.advance()
        match kind, text:
            case "literal", _:
                if text.strip() and text != "\\n" and not _LITERAL.fullmatch(text):
                    raise self.fault(f"'{text}' is neither a word nor punctuation")
                return Literal("\n" if text == "\\n" else text)
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
            case "word", "qualified":
                self.expect("(")
                inner = self.element()
                self.expect(")")
                if isinstance(inner, TypeOf):
                    return TypeOf(inner.group, qualified=True)
                return Variable(inner.field, qualified=True) if isinstance(inner, Variable) else inner
            case "word", "ref":
                self.expect("(")
                reported = self.element()
                self.expect(")")
                if not isinstance(reported, Variable | TypeOf):
                    raise self.fault("ref(..) takes a field or its type")
                return Reference(reported)
            case "word", "oilist":
                return self.any_order()
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
                raise self.fault(f"'{text}' is not a group of values")

    def optional(self) -> Optional:
        elements, anchor = self.elements()
        otherwise: tuple[Element, ...] = ()
        inverted = False
        if self.token == ("mark", ")"):
            self.advance()
            self.expect(":")
            self.expect("(")
            otherwise, other = self.elements()
            if anchor is None and other is not None:
                anchor, inverted = other, True
        self.expect(")?")
        if anchor is None:
            raise self.fault("an optional group needs an anchor '^'")
        return Optional(elements, anchor, otherwise, inverted)

    def any_order(self) -> AnyOrder:
        self.expect("(")
        clauses: list[tuple[Element, ...]] = []
        while True:
            elements, _ = self.elements()
            if not elements or not isinstance(elements[0], Literal):
                raise self.fault("a clause of oilist(..) starts with a word")
            clauses.append(elements)
            if self.token == ("mark", ")"):
                self.advance()
                return AnyOrder(tuple(clauses))
            self.expect("|")

    def custom(self) -> Custom:
        self.expect("<")
        _, name = self.advance()
        self.expect(">")
        self.expect("(")
        arguments: list[Variable | TypeOf | Reference | Literal | AttributeDictionary | PropertyDictionary] = []
        while self.token != ("mark", ")"):
            if self.token[0] == "string":
                arguments.append(Literal(self.advance()[1]))
            else:
                built = self.element()
                if not isinstance(built, Variable | TypeOf | Reference | AttributeDictionary | PropertyDictionary):
                    raise self.fault(f"custom<{name}> takes fields, their types and dictionaries")
                arguments.append(built)
            if self.token == ("mark", ","):
                self.advance()
        self.advance()
        return Custom(name, tuple(arguments))


_WORDS: dict[str, Element] = {
    "operands": Operands(),
    "results": Results(),
    "regions": Regions(),
    "successors": Successors(),
    "prop-dict": PropertyDictionary(),
    "attr-dict": AttributeDictionary(keyword=False),
    "attr-dict-with-keyword": AttributeDictionary(keyword=True),
    "signature": Signature(),
}
