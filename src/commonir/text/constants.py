"""Types and attributes out of MLIR text.

`ConstantReader` is the part of the parser that needs no program. Nesting is limited by `Limits.max_nesting_depth`,
tensor literals by `max_immediate_elements`, ranks by `max_rank`.
Source: MLIR language reference, types and attributes; dense literals and their bytes as mlir-opt 22 reads them.
"""

from __future__ import annotations

import re
from binascii import Error as HexError
from binascii import unhexlify
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from math import isinf
from typing import TypeVar

from commonir.base.codes import ELIDED_CONSTANT, LIMIT_EXCEEDED, NESTING_TOO_DEEP, UNSUPPORTED_TEXT
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.suggestions import did_you_mean
from commonir.ir.attribute_text import ELIDED
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    BytesAttr,
    DataAttr,
    DenseArrayAttr,
    DialectAttr,
    DictionaryAttr,
    DimsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from commonir.ir.data import Data, InlineData, Scalar, data_of, rounded
from commonir.ir.types import (
    ELEMENT_TYPES,
    ComplexType,
    DialectType,
    ElementType,
    FunctionType,
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    StateType,
    TensorType,
    TupleType,
    Type,
    boolean,
    element_named,
    f64,
    i64,
    none,
    string,
    token,
    unknown,
)
from commonir.symbolic import Dim, DimSyntaxError, parse
from commonir.text.lexer import Scanner

T = TypeVar("T")

_DIMENSION = re.compile(r"\s*(?:(\d+)|(\?)|(\*)|\"([^\"\n]*)\")\s*x\s*", re.ASCII)
_BODY = re.compile(r'[^][(){}<>"]+|->|"(?:[^"\\\n]|\\.)*"|[][(){}<>]')
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_UNREAD_TYPES = ("memref", "vector")
_UNREAD_ATTRIBUTES = ("affine_map", "affine_set", "strided", "sparse", "distinct", "loc", "opaque")


class ConstantReader(Scanner):
    """Reads types and attributes at the current token."""

    def __init__(self, source: str, file: str = "<text>", limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self.depth = 0
        self.type_aliases: dict[str, Type] = {}
        self.attribute_aliases: dict[str, Attribute] = {}
        self.resources: dict[str, bytes] = {}
        self._tensors: dict[str, TensorType] = {}
        super().__init__(source, file)

    @contextmanager
    def nested(self) -> Generator[None]:
        """One level deeper.

        Raises: NESTING_TOO_DEEP.
        """
        self.depth += 1
        if self.depth > self.limits.max_nesting_depth:
            self.fail(f"nested more than {self.limits.max_nesting_depth} deep", code=NESTING_TOO_DEEP)
        yield
        self.depth -= 1

    def separated(self, item: Callable[[], T], close: str) -> list[T]:
        """Items separated by commas up to a closing mark, which is moved over."""
        out: list[T] = []
        if self.take(close):
            return out
        while True:
            out.append(item())
            if self.take(close):
                return out
            if not self.take(","):
                self.unexpected(f"',' or '{close}'")

    # -- types

    def type(self) -> Type:
        """Reads a type."""
        match self.kind:
            case "word":
                return self._named_type()
            case "type":
                return self._dialect_type()
            case "mark" if self.text == "(":
                return self.function_type()
            case _:
                return self.unexpected("a type")

    def types(self) -> tuple[Type, ...]:
        """Types separated by commas, at least one."""
        out = [self.type()]
        while self.take(","):
            out.append(self.type())
        return tuple(out)

    def function_type(self) -> FunctionType:
        """Reads `(types) -> type` or `(types) -> (types)`."""
        with self.nested():
            self.expect("(")
            inputs = self.separated(self.type, ")")
            self.expect("->")
            results = self.separated(self.type, ")") if self.take("(") else [self.type()]
            return FunctionType(tuple(inputs), tuple(results))

    def _named_type(self) -> Type:
        name, start = self.text, self.start
        if name == "tensor":
            return self._tensor()
        if name == "tuple":
            with self.nested():
                self.advance()
                self.expect("<")
                return TupleType(tuple(self.separated(self.type, ">")))
        if name == "none":
            self.advance()
            return none
        if name in _UNREAD_TYPES:
            self.fail(f"type '{name}' is not supported", code=UNSUPPORTED_TEXT)
        found = self._element_named(name)
        if found is None:
            help = did_you_mean(name, [*ELEMENT_TYPES, "tensor", "tuple", "index", "none"])
            self.fail(f"expected a type, found '{name}'", at=start, help=help)
        return found

    def _element_named(self, name: str) -> ElementType | None:
        """Moves over an element type that starts with a word; None when the word names none."""
        if name == "complex":
            self.advance()
            self.expect("<")
            part = self.element_type()
            self.expect(">")
            return ComplexType(part)
        found = element_named(name)
        if found is not None:
            self.advance()
        return found

    def element_type(self) -> ElementType:
        """Reads the type of an element."""
        if self.kind == "type":
            start = self.start
            found = self._dialect_type()
            if isinstance(found, ElementType):
                return found
            self.fail(f"tensors of {found} are not supported", at=start, code=UNSUPPORTED_TEXT)
        if self.kind != "word":
            self.unexpected("an element type")
        name = self.text
        if name in _UNREAD_TYPES:
            self.fail(f"tensors of '{name}' are not supported", code=UNSUPPORTED_TEXT)
        found = self._element_named(name)
        if found is None:
            self.fail(f"expected an element type, found '{name}'", help=did_you_mean(name, ELEMENT_TYPES))
        return found

    def tensor_type(self) -> TensorType:
        """Reads a tensor type."""
        if not self.at("tensor"):
            self.unexpected("a tensor type")
        return self._tensor()

    def _tensor(self) -> TensorType:
        start = self.start
        close = self.source.find(">", self.end)
        # Most types recur: a whole one is looked up by its text. One whose element type has brackets is not found here.
        known = self._tensors.get(self.source[start : close + 1])
        if known is not None:
            self.move_to(close + 1)
            return known
        self.advance()
        if not self.at("<"):
            self.unexpected("'<'")
        shape = self._dimensions(self.end)
        element = self.element_type()
        if self.at(","):
            self.fail("encodings of tensors are not supported", code=UNSUPPORTED_TEXT)
        if not self.at(">"):
            self.unexpected("'x' or '>'")
        made = TensorType(element, shape)
        if self.start == close:
            self._tensors[self.source[start : self.end]] = made
        self.advance()
        return made

    def _dimensions(self, at: int) -> tuple[Dim | None, ...] | None:
        shape: list[Dim | None] = []
        ranked = True
        while (found := _DIMENSION.match(self.source, at)) is not None:
            number, unknown, star, expression = found.groups()
            if number is not None:
                shape.append(self.whole(number, found.start()))
            elif unknown is not None:
                shape.append(None)
            elif star is not None:
                ranked = False
            else:
                shape.append(self.dimension(expression, found.start(4)))
            at = found.end()
            if len(shape) > self.limits.max_rank:
                self.fail(f"more than {self.limits.max_rank} dimensions", at=at, code=LIMIT_EXCEEDED)
        if not ranked and shape:
            self.fail("expected '*' alone, found other dimensions", at=at)
        self.move_to(at)
        return tuple(shape) if ranked else None

    def whole(self, digits: str, at: int) -> int:
        """The number that decimal digits say."""
        if len(digits) > _LONGEST_NUMBER:
            self.fail(f"a number of {len(digits)} digits", at=at, code=LIMIT_EXCEEDED)
        return int(digits)

    def dimension(self, expression: str, at: int) -> Dim:
        """The dimension that an expression says."""
        try:
            return parse(expression)
        except DimSyntaxError as error:
            self.fail(f"a dimension is not understood: {error}", at=at)

    def _dialect_type(self) -> Type:
        start = self.start
        name = self.text[1:]
        if "." not in name and not self.source.startswith("<", self.end):
            if name not in self.type_aliases:
                self.fail(f"undefined type alias '!{name}'", help=did_you_mean(name, self.type_aliases))
            self.advance()
            return self.type_aliases[name]
        reader = _BUILTIN_TYPES.get(name)
        if reader is not None:
            with self.nested():
                self.advance()
                self.expect("<")
                made = reader(self)
                self.expect(">")
                return made
        if name == "builtin.string":
            self.advance()
            return string
        if f"!{name}" in ELEMENT_TYPES:
            self.advance()
            return ELEMENT_TYPES[f"!{name}"]
        alone = {"ml_program.token": token, "builtin.unknown": unknown}.get(name)
        if alone is not None:
            self.advance()
            return alone
        dialect, _, rest = name.partition(".")
        if dialect == "builtin":
            self.fail(f"unknown type '!{name}'", at=start)
        return DialectType(dialect, rest, self._body() or None)

    def _body(self) -> str:
        """The text between balanced angle brackets after the current token, if it is there; moves over all of it."""
        if not self.source.startswith("<", self.end):
            self.advance()
            return ""
        open_at = self.end
        pending: list[str] = []
        at = open_at
        while True:
            found = _BODY.match(self.source, at)
            if found is None:
                self.fail("unbalanced '<'", at=open_at)
            piece = found.group()
            at = found.end()
            if piece.endswith("-") and self.source.startswith(">", at):  # an arrow closes nothing
                at += 1
            elif piece in _CLOSING:
                pending.append(_CLOSING[piece])
                if len(pending) > self.limits.max_nesting_depth:
                    self.fail(f"nested more than {self.limits.max_nesting_depth} deep", at=at, code=NESTING_TOO_DEEP)
            elif len(piece) == 1 and piece in ">)]}":
                if pending.pop() != piece:
                    self.fail(f"unbalanced '{piece}'", at=at - 1)
                if not pending:
                    break
        body = self.source[open_at + 1 : at - 1]
        self.move_to(at)
        return body

    # -- attributes

    def attribute(self) -> Attribute:
        """Reads an attribute."""
        with self.nested():
            match self.kind:
                case "string":
                    return StringAttr(self.string())
                case "int" | "float":
                    return self._number(negative=False)
                case "symbol":
                    return self.symbol_reference()
                case "attribute":
                    return self._dialect_attribute()
                case "type":
                    return TypeAttr(self.type())
                case "mark":
                    return self._marked_attribute()
                case "word":
                    return self._named_attribute()
                case _:
                    return self.unexpected("an attribute")

    def symbol_reference(self) -> SymbolRefAttr:
        """Reads `@a::@b`."""
        path = [self.symbol()]
        while self.take("::"):
            path.append(self.symbol())
        return SymbolRefAttr(*path)

    def dictionary(self) -> DictionaryAttr:
        """Reads `{name = attribute, name}`."""
        self.expect("{")
        entries: dict[str, Attribute] = {}

        def entry() -> None:
            start = self.start
            name = self.key()
            if name in entries:
                self.fail(f"attribute '{name}' is given twice", at=start)
            entries[name] = self.attribute() if self.take("=") else UnitAttr()

        self.separated(entry, "}")
        return DictionaryAttr(tuple(entries.items()))

    def key(self) -> str:
        """Reads the name of an attribute."""
        if self.kind == "string":
            return self.string()
        return self.expect_kind("word", "the name of an attribute")

    def _marked_attribute(self) -> Attribute:
        match self.text:
            case "[":
                self.advance()
                return ArrayAttr(tuple(self.separated(self.attribute, "]")))
            case "{":
                return self.dictionary()
            case "-":
                self.advance()
                if self.kind not in ("int", "float"):
                    self.unexpected("a number")
                return self._number(negative=True)
            case "(":
                return TypeAttr(self.function_type())
            case _:
                return self.unexpected("an attribute")

    def _named_attribute(self) -> Attribute:
        name = self.text
        match name:
            case "true" | "false":
                self.advance()
                return BoolAttr(name == "true")
            case "unit":
                self.advance()
                return UnitAttr()
            case "dense":
                return DataAttr(self._dense())
            case "dense_resource":
                return DataAttr(self._resource())
            case "array":
                return self._dense_array()
            case _ if name in _UNREAD_ATTRIBUTES:
                return self.fail(f"attribute '{name}' is not supported", code=UNSUPPORTED_TEXT)
            case _:
                return TypeAttr(self.type())

    def _number(self, *, negative: bool) -> Attribute:
        literal, kind, start = self.text, self.kind, self.start
        self.advance()
        found: ElementType | None = None
        if self.take(":"):
            at = self.start
            stated = self.type()
            if not isinstance(stated, ElementType):
                self.fail(f"a number cannot be of type {stated}", at=at)
            found = stated
        is_float = kind == "float" if found is None else found.is_float
        if is_float:
            element = f64 if found is None else found
            return FloatAttr(self._float(literal, kind, negative, element, start), element)
        if kind == "float":
            self.fail(f"expected an integer for type {found}, found '{literal}'", at=start)
        value = self._integer(literal, negative, i64 if found is None else found, start)
        return BoolAttr(value != 0) if found is boolean else IntegerAttr(value, i64 if found is None else found)

    def _integer(self, literal: str, negative: bool, type: ElementType, start: int) -> int:
        value = int(literal, 16) if literal.startswith("0x") else self.whole(literal, start)
        value = -value if negative else value
        if not (type.is_integer or type is boolean or type.kind == "index"):
            self.fail(f"a number cannot be of type {type}", at=start)
        bits = 1 if type is boolean else type.bits
        unsigned = type.kind == "uint"
        if literal.startswith("0x") and not unsigned and not negative and 1 << (bits - 1) <= value < 1 << bits:
            value -= 1 << bits
        low, high = (0, 1 << bits) if unsigned else (-(1 << (bits - 1)), 1 << (bits - 1))
        if type is boolean:
            low, high = -1, 2
        if not low <= value < high:
            self.fail(f"{'-' if negative else ''}{literal} does not fit {type}", at=start)
        return value

    def _float(self, literal: str, kind: str, negative: bool, element: ElementType, start: int) -> float:
        if kind == "float":
            value = rounded(-float(literal) if negative else float(literal), element)
            if isinf(value):
                self.fail(f"{literal} does not fit {element}", at=start)
            return value
        if not literal.startswith("0x") or negative:
            self.fail(f"expected a number with a point for type {element}, found '{literal}'", at=start)
        bits = int(literal, 16)
        if bits >> element.bits or element.bits % 8:
            self.fail(f"{literal} does not fit {element}", at=start)
        content = bits.to_bytes(element.bits // 8, "little")
        value = InlineData(TensorType(element, ()), content).values()[0]
        assert isinstance(value, float)
        return value

    def _dense_array(self) -> DenseArrayAttr:
        self.advance()
        self.expect("<")
        element = self.element_type()
        if self.take(">"):
            return DenseArrayAttr(element, ())
        self.expect(":")
        values = self.separated(lambda: self.scalar(element), ">")
        return DenseArrayAttr(element, tuple([v for v in values if isinstance(v, int | float)]))

    def _dialect_attribute(self) -> Attribute:
        name = self.text[1:]
        if "." not in name and not self.source.startswith("<", self.end):
            if name not in self.attribute_aliases:
                self.fail(f"undefined attribute alias '#{name}'", help=did_you_mean(name, self.attribute_aliases))
            self.advance()
            return self.attribute_aliases[name]
        if name in _COMMONIR_ATTRIBUTES:
            self.advance()
            self.expect("<")
            made = _COMMONIR_ATTRIBUTES[name](self)
            self.expect(">")
            return made
        dialect, _, rest = name.partition(".")
        start = self.end + 1
        body = self._body() or None
        type = self.type() if self.take(":") else None
        if name == "ml_program.extern" and body and type is None:
            # The form of the specification, from before the type stood after a colon.
            return DialectAttr(dialect, rest, None, self._reread(body, start))
        return DialectAttr(dialect, rest, body, type)

    def _reread(self, body: str, start: int) -> Type:
        after = self.end, self.kind, self.text, self.start
        self.move_to(start)
        made = self.type()
        if self.start != start + len(body.rstrip()) and not self.at(">"):
            self.unexpected("'>'")
        self.end, self.kind, self.text, self.start = after
        return made

    # -- constant tensors

    def _dense(self) -> Data:
        self.advance()
        self.expect("<")
        start = self.start
        literal = self._literal_text()
        self.expect(":")
        type_at = self.start
        type = self.tensor_type()
        if not type.is_static:
            self.fail(f"a constant needs a static shape, found {type}", at=type_at)
        if type.count > self.limits.max_immediate_elements:
            self.fail(f"a constant of {type.count} elements", at=type_at, code=LIMIT_EXCEEDED)
        return _DenseReader(literal, self, type, start).data()

    def _literal_text(self) -> tuple[int, int]:
        """The place of a literal up to its `>`, which is moved over: its elements are read once the type is known."""
        start = self.start
        at = start
        while True:
            at = _UP_TO_CLOSE.match(self.source, at).end()  # pyright: ignore[reportOptionalMemberAccess]  # matches always
            if self.source.startswith(">", at):
                break
            if at >= len(self.source):
                self.fail("unterminated literal", at=start)
            at += 1
        self.move_to(at + 1)
        return start, at

    def _resource(self) -> Data:
        self.advance()
        self.expect("<")
        start = self.start
        key = self.key()
        self.expect(">")
        self.expect(":")
        type = self.tensor_type()
        if key == ELIDED:
            self.fail("the contents of this constant were left out of the text", at=start, code=ELIDED_CONSTANT)
        if key not in self.resources:
            self.fail(f"no resource has the key '{key}'", at=start, help=did_you_mean(key, self.resources))
        if not type.is_static:
            self.fail(f"a constant needs a static shape, found {type}", at=start)
        content = self.resources[key]
        try:
            return InlineData(type, content)
        except ValueError as error:
            self.fail(f"resource '{key}': {error}", at=start)

    def scalar(self, element: ElementType) -> Scalar | complex:
        """Reads one element of an array."""
        if self.kind == "string":
            return self.string()
        if self.kind == "word" and self.text in ("true", "false"):
            return self.advance() == "true"
        if self.at("(") and isinstance(element, ComplexType):
            self.advance()
            part = element.part
            real = self.scalar(part)
            self.expect(",")
            imaginary = self.scalar(part)
            self.expect(")")
            if isinstance(real, int | float) and isinstance(imaginary, int | float):
                return complex(real, imaginary)
            self.unexpected("a complex number")
        negative = self.take("-")
        if self.kind not in ("int", "float"):
            self.unexpected("a number")
        literal, kind, start = self.text, self.kind, self.start
        self.advance()
        if element.is_float:
            return self._float(literal, kind, negative, element, start)
        if kind == "float":
            self.fail(f"expected an integer for type {element}, found '{literal}'", at=start)
        return self._integer(literal, negative, element, start)


class _DenseReader:
    """Reads the elements of one literal."""

    def __init__(self, span: tuple[int, int], reader: ConstantReader, type: TensorType, start: int) -> None:
        self.reader = reader
        self.type = type
        self.start = start
        self.span = span

    def data(self) -> Data:
        reader, type = self.reader, self.type
        after = reader.end, reader.kind, reader.text, reader.start
        reader.move_to(self.span[0])
        if reader.kind == "string" and type.element.kind != "string":
            made = self._from_hex()
        else:
            made = self._from_elements()
        reader.end, reader.kind, reader.text, reader.start = after
        return made

    def _from_hex(self) -> Data:
        literal = self.reader.text[1:-1]
        element, size_bytes = self.type.element, self.type.element.size_bytes(self.type.count)
        try:
            content = unhexlify(literal[2:]) if literal.startswith("0x") else None
        except HexError:
            content = None
        if content is None:
            self.reader.fail("expected hexadecimal digits '0x...' in pairs", at=self.start)
        if element.bits >= 8 and len(content) * 8 == element.bits and self.type.count > 1:
            content *= self.type.count
        if len(content) != size_bytes:
            message = f"{self.type} takes {size_bytes} bytes, but {len(content)} are given"
            self.reader.fail(message, at=self.start)
        return InlineData(self.type, content)

    def _from_elements(self) -> Data:
        shape = self.type.static_shape
        reader = self.reader
        values: list[Scalar | complex] = []
        if reader.start < self.span[1]:
            if reader.at("["):
                self._level(shape, values)
            else:
                values = [reader.scalar(self.type.element)] * self.type.count
        elif self.type.count:
            reader.fail(f"expected {self.type.count} elements, found none", at=self.start)
        if reader.start != self.span[1]:
            reader.unexpected("'>'")
        return data_of(self.type.element, shape, values)  # pyright: ignore[reportArgumentType]  # complex numbers too

    def _level(self, shape: Sequence[int], values: list[Scalar | complex]) -> None:
        reader = self.reader
        if not shape:
            reader.unexpected("one element")
        start = reader.start
        reader.expect("[")
        count = 0
        while not reader.at("]"):
            if len(shape) > 1:
                self._level(shape[1:], values)
            else:
                values.append(reader.scalar(self.type.element))
            count += 1
            if not reader.at("]"):
                reader.expect(",")
        reader.advance()
        if count != shape[0]:
            reader.fail(f"expected {shape[0]} elements here, found {count}", at=start)


_LONGEST_NUMBER = 400
_UP_TO_CLOSE = re.compile(r'(?>[^>"]++|"(?:[^"\\\n]|\\.)*+")*+')


def _list_type(reader: ConstantReader) -> Type:
    element = reader.type()
    if not reader.take(","):
        return ListType(element)
    at = reader.start
    length = reader.expect_kind("int", "a length")
    return ListType(element, reader.whole(length, at))


def _map_type(reader: ConstantReader) -> Type:
    key = reader.type()
    reader.expect(",")
    return MapType(key, reader.type())


def _sparse_type(reader: ConstantReader) -> Type:
    at = reader.start
    dense = reader.type()
    if not isinstance(dense, TensorType):
        reader.fail("expected the type of a tensor", at=at)
    return SparseTensorType(dense.element, dense.shape)


_BUILTIN_TYPES: dict[str, Callable[[ConstantReader], Type]] = {
    "builtin.list": _list_type,
    "builtin.map": _map_type,
    "builtin.optional": lambda reader: OptionalType(reader.type()),
    "builtin.sparse": _sparse_type,
    "builtin.state": lambda reader: StateType(reader.type()),
}


def _dims(reader: ConstantReader) -> Attribute:
    def one() -> Dim:
        at = reader.start
        if reader.kind == "string":
            return reader.dimension(reader.string(), at)
        negative = reader.take("-")
        size = reader.whole(reader.expect_kind("int", "a dimension"), at)
        return -size if negative else size

    out = [one()]
    while reader.take(","):
        out.append(one())
    return DimsAttr(tuple(out))


def _bytes(reader: ConstantReader) -> Attribute:
    at = reader.start
    digits = reader.string()
    try:
        return BytesAttr(bytes.fromhex(digits.removeprefix("0x")))
    except ValueError:
        reader.fail("expected hexadecimal digits '0x...' in pairs", at=at)


_COMMONIR_ATTRIBUTES: dict[str, Callable[[ConstantReader], Attribute]] = {
    "commonir.dims": _dims,
    "commonir.bytes": _bytes,
}
