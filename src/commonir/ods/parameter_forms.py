"""The parameters of types and attributes of a dialect, and their text: `!d.pair<4, f32>`.

A form is a format in MLIR's notation: literals in backquotes, `$parameter`, `params`, `struct(params)`, `qualified(..)`
and optional groups `( ... $x^ )?` with an alternative `: ( ... )`. It is read and written by `text/parameters.py`.

Source: MLIR, defining dialect attributes and types, assembly format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from itertools import pairwise

from commonir.base.records import Record
from commonir.ods.form_tokens import FormTokens


class ParameterCategory(Enum):
    """The category of a parameter."""

    INTEGER = auto()
    FLOAT = auto()
    BOOLEAN = auto()
    STRING = auto()
    TYPE = auto()
    ATTRIBUTE = auto()
    CASE = auto()
    UNKNOWN = auto()


class Parameter(Record):
    """A parameter. `cases` are the words of an enumeration, joined by `separator` for sets of flags; `default` is the
    text of the value that is omitted; None if there is none. `bits` and `signed` are the range of an integer; 0 bits
    for any. `joined` returns the text of a set of flags, `test` whether a type or attribute is of the class.
    """

    name: str
    kind: ParameterCategory
    is_list: bool = False
    optional: bool = False
    cases: tuple[str, ...] = ()
    separator: str = ""
    cpp: str = ""
    default: str | None = None
    bits: int = 0
    signed: bool = True
    joined: Callable[[Sequence[str]], str] | None = None
    test: Callable[[object], bool] | None = None


class Word(Record):
    """A literal: a keyword, punctuation, or a blank."""

    text: str


class ParameterPlace(Record):
    """The position of a parameter."""

    parameter: Parameter


class Listing(Record):
    """Parameters separated by commas; each as `name = value` if `named`. `in_cpp`: some are read by C++."""

    parameters: tuple[Parameter, ...]
    named: bool
    in_cpp: bool = False


class Group(Record):
    """Elements that are present when one of the anchor parameters is, else `otherwise`."""

    elements: tuple[FormElement, ...]
    anchors: tuple[Parameter, ...]
    otherwise: tuple[FormElement, ...] = ()


class CustomPlace(Record):
    """A directive `custom<name>(..)` that reads and writes parameters in C++."""

    name: str
    parameters: tuple[Parameter, ...]


FormElement = Word | ParameterPlace | Listing | CustomPlace | Group


class ParameterForm(Record):
    """A type or attribute of a dialect: its name, parameters, and form. `elements` is None for a form in C++, whose
    text is stored.
    """

    dialect: str
    mnemonic: str
    parameters: tuple[Parameter, ...]
    elements: tuple[FormElement, ...] | None
    summary: str = ""


class FormError(ValueError):
    """A form is invalid."""


def parsed_form(text: str, parameters: Sequence[Parameter]) -> tuple[FormElement, ...]:
    """Returns the elements of a form. Raises: FormError if it is malformed, or does not have every parameter once."""
    reader = _Reader(text, {p.name: p for p in parameters})
    result, anchors = reader.elements()
    if reader.token[0] != "end" or anchors:
        raise reader.fault(f"unexpected '{reader.token[1] or '^'}'")
    for p in parameters:
        if not p.optional and p.name not in reader.seen:
            raise reader.fault(f"parameter '{p.name}' is missing")
    return result


class _Reader(FormTokens):
    def __init__(self, text: str, parameters: Mapping[str, Parameter]) -> None:
        self.parameters = parameters
        self.seen: set[str] = set()
        super().__init__(text)

    def fault(self, message: str) -> FormError:
        return FormError(f"{message} in '{self.source}'")

    def parameter(self, name: str) -> Parameter:
        """Returns a parameter, which is now in the form."""
        if name not in self.parameters:
            raise self.fault(f"no parameter is called '{name}'")
        if name in self.seen:
            raise self.fault(f"parameter '{name}' occurs twice")
        self.seen.add(name)
        return self.parameters[name]

    def elements(self) -> tuple[tuple[FormElement, ...], list[FormElement]]:
        """Returns the elements up to a closing parenthesis or the end, and those marked by `^`."""
        out: list[FormElement] = []
        anchors: list[FormElement] = []
        while self.token[0] != "end" and self.token != ("mark", ")"):
            out.append(self.element())
            if self.takes("^"):
                anchors.append(out[-1])
        for listing, comma in pairwise(out):
            optional = isinstance(listing, Listing) and listing.named and any(p.optional for p in listing.parameters)
            if optional and isinstance(comma, Word) and comma.text == ",":
                raise self.fault("'struct' with optional parameters is before ','")
        return tuple(out), anchors

    def element(self) -> FormElement:
        match self.advance():
            case "literal", text:
                self.check_literal(text)
                return Word(text)
            case "variable", name:
                return ParameterPlace(self.parameter(name))
            case "mark", "(":
                return self.group()
            case "word", "params":
                return Listing(self.all_parameters(), named=False)
            case "word", "struct":
                return self.struct()
            case "word", "qualified":
                return ParameterPlace(self.qualified())
            case "word", "custom":
                return self.custom()
            case _, text:
                raise self.fault(f"'{text}' has no meaning")

    def all_parameters(self) -> tuple[Parameter, ...]:
        return tuple([self.parameter(name) for name in self.parameters])

    def qualified(self) -> Parameter:
        self.expect("(")
        kind, name = self.advance()
        if kind != "variable":
            raise self.fault(f"qualified(..) takes a parameter, not '{name}'")
        self.expect(")")
        return self.parameter(name)

    def struct(self) -> Listing:
        self.expect("(")
        if self.token == ("word", "params"):
            self.advance()
            self.expect(")")
            return Listing(self.all_parameters(), named=True)
        out: list[Parameter] = []
        in_cpp = False
        while True:
            kind, text = self.advance()
            if kind == "word" and text == "qualified":
                out.append(self.qualified())
            elif kind == "word" and text == "custom":
                out += self.custom().parameters
                in_cpp = True
            elif kind == "variable":
                out.append(self.parameter(text))
            else:
                raise self.fault(f"struct(..) takes parameters, not '{text}'")
            if self.takes(")"):
                return Listing(tuple(out), named=True, in_cpp=in_cpp)
            self.expect(",")

    def custom(self) -> CustomPlace:
        name = self.directive_name()
        out: list[Parameter] = []
        while True:
            match self.advance():
                case "variable", text:
                    out.append(self.parameter(text))
                case "string", _:
                    pass
                case "word", "ref":
                    self.expect("(")
                    _, text = self.advance()
                    if text not in self.seen:
                        raise self.fault(f"ref(${text}) refers to what is not before it")
                    self.expect(")")
                case _, text:
                    raise self.fault(f"custom<{name}> takes parameters, not '{text}'")
            if self.takes(")"):
                return CustomPlace(name, tuple(out))
            self.expect(",")

    def group(self) -> Group:
        elements, anchors = self.elements()
        self.expect(")")
        otherwise: tuple[FormElement, ...] = ()
        inverted = not anchors
        if self.takes(":"):
            self.expect("(")
            otherwise, more = self.elements()
            anchors += more
            self.expect(")")
        self.expect("?")
        if len(anchors) != 1:
            raise self.fault("an optional group needs one anchor '^'")
        for element in (*elements, *otherwise):
            if any(not p.optional for p in _parameters_of(element)):
                raise self.fault("a parameter in an optional group is not optional")
        anchor = _parameters_of(anchors[0])
        if not anchor:
            raise self.fault("an anchor '^' follows a parameter")
        # The anchor may be in the alternative: the first elements are present when it is absent.
        return Group(otherwise, anchor, elements) if inverted else Group(elements, anchor, otherwise)


def has_cpp(elements: Sequence[FormElement]) -> bool:
    """Returns whether elements have a directive in C++."""
    return any(
        isinstance(e, CustomPlace)
        or (isinstance(e, Listing) and e.in_cpp)
        or (isinstance(e, Group) and has_cpp((*e.elements, *e.otherwise)))
        for e in elements
    )


def _parameters_of(element: FormElement) -> tuple[Parameter, ...]:
    match element:
        case ParameterPlace(parameter=parameter):
            return (parameter,)
        case Listing(parameters=parameters) | CustomPlace(parameters=parameters):
            return parameters
        case _:
            return ()
