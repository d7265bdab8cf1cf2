"""The parameters of types and attributes of a dialect, and their text: `!d.pair<4, f32>`.

A form is a format in MLIR's notation: literals in backquotes, `$parameter`, `params`, `struct(params)`, `qualified(..)`
and optional groups `( ... $x^ )?` with an alternative `: ( ... )`. It is read and written by `text/parameters.py`.

Source: MLIR, defining dialect attributes and types, assembly format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum, auto

from commonir.base.records import Record


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
    """A parameter. `cases` are the words of an enumeration, joined by `separator` for sets of flags."""

    name: str
    kind: ParameterCategory
    is_list: bool = False
    optional: bool = False
    cases: tuple[str, ...] = ()
    separator: str = ""
    cpp: str = ""


class Word(Record):
    """A literal: a keyword, punctuation, or a blank."""

    text: str


class ParameterPlace(Record):
    """The position of a parameter."""

    parameter: Parameter


class Listing(Record):
    """Parameters separated by commas; each as `name = value` if `named`."""

    parameters: tuple[Parameter, ...]
    named: bool


class Group(Record):
    """Elements that are present when the anchor parameter is, else `otherwise`."""

    elements: tuple[FormElement, ...]
    anchor: Parameter
    otherwise: tuple[FormElement, ...] = ()


FormElement = Word | ParameterPlace | Listing | Group


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


_TOKEN = re.compile(r"\s*(?:`([^`]*)`|\$(\w+)|([a-z][a-z-]*)|(\)\s*\?|[()^:,]))")
_MAX_DEPTH = 20


def parsed_form(text: str, parameters: Sequence[Parameter]) -> tuple[FormElement, ...]:
    """Returns the elements of a form. Raises: FormError."""
    reader = _Reader(text, {p.name: p for p in parameters})
    result, anchor = reader.elements(0)
    if reader.token[0] != "end" or anchor is not None:
        raise FormError(f"unexpected '{reader.token[1]}' in '{text}'")
    return result


class _Reader:
    def __init__(self, text: str, parameters: Mapping[str, Parameter]) -> None:
        self.text = text
        self.parameters = parameters
        self.at = 0
        self.token = ("end", "")
        self.advance()

    def advance(self) -> tuple[str, str]:
        current = self.token
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            if self.text[self.at :].strip():
                raise FormError(f"'{self.text[self.at :].strip()[:20]}' cannot be read in '{self.text}'")
            self.token = ("end", "")
            return current
        self.at = match.end()
        kind = ("literal", "variable", "word", "mark")[(match.lastindex or 1) - 1]
        text = match[match.lastindex or 1]
        self.token = (kind, ")?" if kind == "mark" and text.endswith("?") else text)
        return current

    def expect(self, mark: str) -> None:
        if self.advance() != ("mark", mark):
            raise FormError(f"expected '{mark}' in '{self.text}'")

    def parameter(self, name: str) -> Parameter:
        if name not in self.parameters:
            raise FormError(f"no parameter is called '{name}' in '{self.text}'")
        return self.parameters[name]

    def elements(self, depth: int) -> tuple[tuple[FormElement, ...], Parameter | None]:
        if depth > _MAX_DEPTH:
            raise FormError(f"groups are more than {_MAX_DEPTH} deep")
        out: list[FormElement] = []
        anchor: Parameter | None = None
        while self.token[0] != "end" and self.token not in (("mark", ")"), ("mark", ")?")):
            out.append(self.element(depth))
            if self.token == ("mark", "^"):
                self.advance()
                last = out[-1]
                anchor = last.parameter if isinstance(last, ParameterPlace) else None
                if isinstance(last, Listing) and last.parameters:
                    anchor = last.parameters[0]
                if anchor is None:
                    raise FormError(f"an anchor '^' follows a parameter in '{self.text}'")
        return tuple(out), anchor

    def element(self, depth: int) -> FormElement:
        match self.advance():
            case "literal", text:
                return Word(text)
            case "variable", name:
                return ParameterPlace(self.parameter(name))
            case "mark", "(":
                return self.group(depth)
            case "word", "params":
                return Listing(tuple(self.parameters.values()), named=False)
            case "word", "struct":
                return self.struct()
            case "word", "qualified":
                self.expect("(")
                inner = self.element(depth)
                self.expect(")")
                return inner
            case _, text:
                raise FormError(f"'{text}' has no meaning in '{self.text}'")

    def struct(self) -> Listing:
        self.expect("(")
        if self.token == ("word", "params"):
            self.advance()
            self.expect(")")
            return Listing(tuple(self.parameters.values()), named=True)
        out: list[Parameter] = []
        while True:
            kind, text = self.advance()
            if kind == "word" and text == "qualified":
                self.expect("(")
                out.append(self.parameter(self.advance()[1]))
                self.expect(")")
            elif kind == "variable":
                out.append(self.parameter(text))
            else:
                raise FormError(f"struct(..) takes parameters, not '{text}'")
            if self.token == ("mark", ")"):
                self.advance()
                return Listing(tuple(out), named=True)
            self.expect(",")

    def group(self, depth: int) -> Group:
        elements, anchor = self.elements(depth + 1)
        otherwise: tuple[FormElement, ...] = ()
        if self.token == ("mark", ")"):
            self.advance()
            self.expect(":")
            self.expect("(")
            otherwise, other = self.elements(depth + 1)
            if anchor is None and other is not None:
                # The anchor is in the alternative: the first elements are present when it is absent.
                elements, otherwise, anchor = otherwise, elements, other
        self.expect(")?")
        if anchor is None:
            raise FormError(f"an optional group needs an anchor '^' in '{self.text}'")
        return Group(elements, anchor, otherwise)
