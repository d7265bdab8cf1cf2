"""The elements of declarative assembly formats: the text of an operation after its name.

A definition has its format in MLIR's notation (`assembly="$x attr-dict `:` type($x)"`). Elements: literals in
backquotes, `$field`, `type($field)`, `type(operands)`, `type(results)`, `operands`, `results`, `regions`,
`successors`, `attr-dict`, `attr-dict-with-keyword`, `prop-dict`, `functional-type(a, b)`, `custom<Name>(...)` with
`ref(...)` for elements of other directives, `qualified(...)`, `oilist(...)`, and optional groups `( ... )?` with an
anchor `^` and an alternative `:( ... )?`. One is added here: `signature` is a function type, or one type when all
operands and results have it. `text/format_parser.py` reads the notation, `text/formats.py` has the format of each
definition.
Source: MLIR operation definitions, declarative assembly format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ods import attr_types
from commonir.ods.fields import Field
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

    element: Element


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


def walk(elements: Sequence[Element]) -> Iterator[Element]:
    """Yields all elements, including nested ones."""
    for e in elements:
        yield e
        match e:
            case Optional(elements=inner, otherwise=otherwise):
                yield from walk((*inner, *otherwise))
            case AnyOrder(clauses=clauses):
                for clause in clauses:
                    yield from walk(clause)
            case Custom(arguments=arguments):
                yield from arguments
            case _:
                pass
