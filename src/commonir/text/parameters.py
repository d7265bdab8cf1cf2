"""Reads the parameters of types and attributes that a dialect defines, and writes them as MLIR does.

They are stored as text in the form of MLIR, so that equal types have equal texts.
Source: MLIR, defining dialect attributes and types, assembly format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.ir.attributes import Attribute, DialectAttr
from commonir.ir.literals import quoted
from commonir.ir.types import DialectType, Type
from commonir.ods.parameter_forms import (
    CustomPlace,
    FormElement,
    Group,
    Listing,
    Parameter,
    ParameterCategory,
    ParameterForm,
    ParameterPlace,
    Word,
)
from commonir.text.lexer import BARE_ID
from commonir.text.types import parts_of_dialect

if TYPE_CHECKING:
    from commonir.text.attributes import AttributeReader
    from commonir.text.types import TypeReader

_OPEN, _CLOSE = "<({[", ">)}],"


def read_type(form: ParameterForm) -> Callable[[TypeReader], Type]:
    """Returns a reader of a type after its name."""

    def read(reader: TypeReader) -> Type:
        return DialectType(form.dialect, *_parts(form, _FormReader(reader, form).text()))

    return read


def read_attribute(form: ParameterForm) -> Callable[[AttributeReader], Attribute]:
    """Returns a reader of an attribute after its name."""

    def read(reader: AttributeReader) -> Attribute:
        return DialectAttr(form.dialect, *_parts(form, _FormReader(reader.types, form).text()))

    return read


def _parts(form: ParameterForm, text: str) -> tuple[str, str | None]:
    """Returns the mnemonic and body of the text after a mnemonic."""
    return parts_of_dialect("", f"{form.mnemonic}{text}")


class _FormReader:
    """Reads the parameters of one type or attribute."""

    def __init__(self, source: TypeReader, form: ParameterForm) -> None:
        self.source = source
        self.form = form
        self.texts: dict[Parameter, str] = {}

    def text(self) -> str:
        """Returns the text after the mnemonic."""
        elements = self.form.elements or ()
        self._read(elements)
        missing = [
            p.name for p in self.form.parameters if p not in self.texts and not p.optional and p in _all(elements)
        ]
        if missing:
            self.source.tokens.fail(f"{self.form.dialect}.{self.form.mnemonic}: parameter '{missing[0]}' is missing")
        writer = _FormWriter({p: text for p, text in self.texts.items() if text != p.default})
        writer.write(elements)
        return writer.out

    def _read(self, elements: Sequence[FormElement]) -> None:
        for e in elements:
            match e:
                case Word(text=text):
                    for part in text.split():
                        self.source.tokens.expect(part)
                case ParameterPlace(parameter=parameter):
                    self._value(parameter)
                case Listing(parameters=parameters, named=named):
                    self._listing(parameters, named)
                case CustomPlace(name=name):
                    self.source.tokens.fail(f"{self.form.dialect}.{self.form.mnemonic}: custom<{name}> is C++")
                case Group():
                    self._read(e.elements if self._starts(e.elements) else e.otherwise)

    def _starts(self, elements: Sequence[FormElement]) -> bool:
        first = next((e for e in elements if not (isinstance(e, Word) and not e.text.strip())), None)
        if isinstance(first, Word):
            return self.source.tokens.at(first.text)
        return not (self.source.tokens.kind == "mark" and self.source.tokens.text in (">", ")", "]", "}", ",", ":"))

    def _listing(self, parameters: Sequence[Parameter], named: bool) -> None:
        tokens = self.source.tokens
        left = {p.name: p for p in parameters}
        for n, p in enumerate(parameters):
            if tokens.at(">") or tokens.at(")"):
                return
            if n:
                tokens.expect(",")
            parameter = p
            if named:
                name = tokens.expect_kind("word", "the name of a parameter")
                if name not in left:
                    tokens.fail(f"expected one of {', '.join(left)}, found '{name}'")
                parameter = left.pop(name)
                tokens.expect("=")
            self._value(parameter)

    def _value(self, parameter: Parameter) -> None:
        if not parameter.is_list:
            self.texts[parameter] = self._single(parameter)
            return
        if self.source.tokens.kind == "mark" and self.source.tokens.text in _CLOSE:
            self.texts[parameter] = ""
            return
        members = [self._single(parameter)]
        while self.source.tokens.take(","):
            members.append(self._single(parameter))
        self.texts[parameter] = ", ".join(members)

    def _single(self, parameter: Parameter) -> str:
        source, tokens = self.source, self.source.tokens
        match parameter.kind:
            case ParameterCategory.INTEGER:
                return str(self._integer(parameter))
            case ParameterCategory.FLOAT:
                sign = "-" if tokens.take("-") else ""
                if tokens.kind not in ("float", "int"):
                    tokens.unexpected("a number")
                return f"{sign}{tokens.advance()}"
            case ParameterCategory.BOOLEAN:
                if tokens.text in ("0", "1"):
                    return "true" if tokens.advance() == "1" else "false"
                if not (tokens.at("true") or tokens.at("false")):
                    tokens.unexpected("true or false")
                return tokens.advance()
            case ParameterCategory.STRING:
                return quoted(tokens.string())
            case ParameterCategory.TYPE:
                return self._tested(parameter, source.type)
            case ParameterCategory.CASE:
                return self._cases(parameter)
            case ParameterCategory.ATTRIBUTE | ParameterCategory.UNKNOWN:
                return self._tested(parameter, source.attributes.attribute)

    def _tested(self, parameter: Parameter, read: Callable[[], Type | Attribute]) -> str:
        at = self.source.tokens.start
        value = read()
        if parameter.test is not None and not parameter.test(value):
            expected = parameter.cpp.removeprefix("mlir::")
            self.source.tokens.fail(f"'{parameter.name}' must be {expected}, found {value}", at=at)
        return str(value)

    def _integer(self, parameter: Parameter) -> int:
        tokens = self.source.tokens
        at, is_negative = tokens.start, tokens.take("-")
        digits = tokens.start
        number = tokens.integer_value(tokens.expect_kind("int", "an integer"), digits)
        number = -number if is_negative else number
        bits = parameter.bits
        least, most = (-(1 << bits - 1), 1 << bits - 1) if parameter.signed else (0, 1 << bits)
        if bits and not least <= number < most:
            tokens.fail(
                f"'{parameter.name}' of type {parameter.cpp} is from {least} to {most - 1}, not {number}", at=at
            )
        return number

    def _cases(self, parameter: Parameter) -> str:
        source = self.source
        cases = [self._case(parameter)]
        while parameter.separator and source.tokens.take(parameter.separator.strip()):
            cases.append(self._case(parameter))
        shown = cases[0] if parameter.joined is None else parameter.joined(cases)
        return shown if parameter.separator or BARE_ID.fullmatch(shown) else quoted(shown)

    def _case(self, parameter: Parameter) -> str:
        source, at = self.source, self.source.tokens.start
        is_quoted = source.tokens.kind == "string" and not parameter.separator
        word = source.tokens.string() if is_quoted else source.tokens.expect_kind("word", "a keyword")
        if word not in parameter.cases:
            source.tokens.fail(f"expected one of {', '.join(parameter.cases)}, found '{word}'", at=at)
        return word


def _all(elements: Sequence[FormElement]) -> set[Parameter]:
    """Returns the parameters that elements outside of groups name."""
    out: set[Parameter] = set()
    for e in elements:
        if isinstance(e, ParameterPlace):
            out.add(e.parameter)
        elif isinstance(e, Listing):
            out.update(e.parameters)
    return out


class _FormWriter:
    """Writes parameters by a form, with the blanks of MLIR."""

    def __init__(self, texts: Mapping[Parameter, str]) -> None:
        self.texts = texts
        self.out = ""
        self.space = True
        self.punctuation = False

    def write(self, elements: Sequence[FormElement]) -> None:
        """Writes elements in order."""
        for e in elements:
            match e:
                case Word(text=text):
                    self._literal(text)
                case ParameterPlace(parameter=parameter):
                    if parameter in self.texts:
                        self._put(self.texts[parameter])
                case Listing(parameters=parameters, named=named):
                    shown = [p for p in parameters if p in self.texts]
                    self._put(", ".join([f"{p.name} = {self.texts[p]}" if named else self.texts[p] for p in shown]))
                case CustomPlace():
                    pass
                case Group():
                    self.write(e.elements if any(p in self.texts for p in e.anchors) else e.otherwise)

    def _put(self, text: str) -> None:
        self.out += f" {text}" if self.space or not self.punctuation else text
        self.space, self.punctuation = True, False

    def _literal(self, text: str) -> None:
        if not text.strip():
            self.out += text
            self.space, self.punctuation = False, not text
            return
        tight = len(text) == 1 and text in (_CLOSE if self.punctuation else _OPEN + _CLOSE)
        self.out += text if tight or not self.space else f" {text}"
        self.space = not (len(text) == 1 and text in _OPEN)
        self.punctuation = not (text[0].isalpha() or text[0] == "_")
