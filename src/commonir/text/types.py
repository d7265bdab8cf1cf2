"""Reader of types in MLIR text.

`TypeReader` reads types at the current token. The types of a dialect are read by functions under their names; others
are stored as written. Limits: `Limits.max_nesting_depth`, `max_rank`. Source: MLIR language reference, types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from commonir.base.file_codes import LIMIT_EXCEEDED, UNSUPPORTED_TEXT
from commonir.base.lazy import lazy_pattern
from commonir.base.suggestions import did_you_mean
from commonir.ir.affine import AffineMapAttr, StridedLayoutAttr
from commonir.ir.attributes import Attribute, BoolAttr, DialectAttr, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.types import (
    ELEMENT_TYPES,
    ComplexType,
    DialectType,
    ElementType,
    FunctionType,
    MemRefType,
    TensorType,
    TupleType,
    Type,
    VectorType,
    element_named,
    none,
)
from commonir.symbolic import Dim, DimSyntaxError, parse
from commonir.text.alias_table import AliasTable
from commonir.text.lexer import BLANK, TokenStream, is_balanced

LARGEST_DIMENSION = 2**63 - 1
"""The largest dimension."""

_WORDS = frozenset({"tensor", "memref", "vector", "tuple", "none", "complex"})
WITHOUT_OTHERS = frozenset({"builtin", "dlti", "quant"})
"""Dialects of which all types and attributes are read here."""

PLAIN_TYPE = (
    r'(?:(?:tensor|vector|memref)<[^<>"#!]*+>|[a-z][a-z0-9]*+(?![A-Za-z0-9_$.<])'
    r'|![a-z_]++\.[a-z_]++(?:<[^<>"#!]*+>|(?![A-Za-z0-9_$.<-])))'
)
"""A type without aliases, as a regular expression."""
PLAIN_TYPES = rf"{PLAIN_TYPE}(?:{BLANK},{BLANK}{PLAIN_TYPE})*+"
"""Such types, separated by commas, as a regular expression."""

_SIGNATURE = lazy_pattern(
    rf"\({BLANK}((?:{PLAIN_TYPES})?+){BLANK}\){BLANK}->{BLANK}"
    rf"(?:({PLAIN_TYPE})|\({BLANK}((?:{PLAIN_TYPES})?+){BLANK}\))",
    re.ASCII,
)

_DIMENSION = lazy_pattern(r"\s*(?:(\d+)|(\?)|(\*)|\"([^\"\n]*)\")\s*x\s*", re.ASCII)
_PLAIN_TENSOR = re.compile(r"tensor<((?:\d{1,18}x){0,16})([a-z]+[0-9]*)>")
_VECTOR_DIMENSION = lazy_pattern(r"\s*(?:(\d+)|\[\s*(\d+)\s*\])\s*x\s*", re.ASCII)
_MANY_DIMENSIONS = 16
_VECTOR_ELEMENTS = ("bool", "int", "uint", "index", "float")
_MEMORY_ELEMENTS = (*_VECTOR_ELEMENTS, "complex", "vector")
_OWN_NAME = lazy_pattern(r"<\s*([A-Za-z_][A-Za-z0-9_$.]*)", re.ASCII)
_PRETTY = lazy_pattern(r"([A-Za-z][A-Za-z0-9._]*)(?:<(.*)>)?", re.DOTALL | re.ASCII)


class AttributeSource(Protocol):
    """Reads the attributes that types contain."""

    def attribute(self, type: Type | None = None) -> Attribute:
        """Reads an attribute at the current token."""
        ...


class DialectForms(Protocol):
    """Reads the types and attributes that dialects define, and rejects undefined ones."""

    def read_type(self, types: TypeReader, dialect: str) -> Type | None:
        """Reads the type of a dialect; returns None, and consumes nothing, if it is stored as written."""

    def read_attribute(self, types: TypeReader, dialect: str, type: Type | None) -> Attribute | None:
        """Reads the attribute of a dialect; as `read_type`. Without `type`, one may follow it."""

    def checked(self, types: TypeReader, attribute: DialectAttr, at: int) -> DialectAttr:
        """Returns an attribute that is stored as written, or an equal one in its first form. Raises: MALFORMED_TEXT."""
        ...

    def check_encoding(self, types: TypeReader, type: TensorType, at: int) -> None:
        """Checks that the encoding of a tensor fits its shape. Raises: MALFORMED_TEXT."""

    def may_be_stored(self, type: DialectType) -> bool:
        """Returns whether memory may have elements of a type."""
        ...


TypeReaders: TypeAlias = "Mapping[str, Callable[[TypeReader], Type]]"
"""Readers of the types of dialects by name; the current token is the one after the name."""


class TypeReader:
    """Reads types at the current token. `dialects` is None where a dialect may have any type."""

    attributes: AttributeSource
    """Set by the reader of attributes, which is built from this one."""

    def __init__(
        self, tokens: TokenStream, aliases: AliasTable, readers: TypeReaders, dialects: DialectForms | None
    ) -> None:
        self.tokens = tokens
        self.aliases = aliases
        self.readers = readers
        self.dialects = dialects
        self._known_types: dict[str, tuple[Type, ...]] = {}
        self.tensors: dict[str, TensorType] = {}
        """Tensor types by their texts."""

    # -- types

    def type(self) -> Type:
        """Reads a type."""
        tokens = self.tokens
        match tokens.kind:
            case "word":
                return self._named_type()
            case "type":
                return self._dialect_type()
            case "mark" if tokens.text == "(":
                return self.function_type()
            case _:
                return tokens.unexpected("a type")

    def types(self) -> tuple[Type, ...]:
        """Reads one or more types separated by commas."""
        out = [self.type()]
        while self.tokens.take(","):
            out.append(self.type())
        return tuple(out)

    def function_type(self) -> FunctionType:
        """Reads `(types) -> type` or `(types) -> (types)`."""
        inputs, results = self.signature()
        return FunctionType(tuple(inputs), tuple(results))

    def signature(self) -> tuple[list[Type], tuple[Type, ...]]:
        """Reads the input and result types of a function."""
        tokens = self.tokens
        match = _SIGNATURE.match(tokens.source, tokens.start)
        with tokens.nested():
            if match is not None and match.lastindex is not None:
                inputs, results = (self._plain_group(match, n) for n in (1, match.lastindex))
                if inputs is not None and results is not None:
                    tokens.move_to(match.end())
                    return [*inputs], results
            tokens.expect("(")
            inputs = tokens.separated(self.type, ")")
            tokens.expect("->")
            return inputs, self.results()

    def _plain_group(self, match: re.Match[str], group: int) -> tuple[Type, ...] | None:
        """Returns the types in a group of a match; None if it contains anything else."""
        return self.types_of_text(match[group], match.start(group)) if match[group] else ()

    def results(self) -> tuple[Type, ...]:
        """Reads `type` or `(types)`."""
        return tuple(self.tokens.separated(self.type, ")")) if self.tokens.take("(") else (self.type(),)

    def _named_type(self) -> Type:
        tokens = self.tokens
        name = tokens.text
        match name:
            case "tensor":
                return self._tensor()
            case "memref":
                return self._memory()
            case "vector":
                return self._vector()
            case "tuple":
                with tokens.nested():
                    tokens.advance()
                    tokens.expect("<")
                    return TupleType(tuple(tokens.separated(self.type, ">")))
            case "none":
                tokens.advance()
                return none
            case _:
                pass
        result = self._element_named(name)
        if result is None:
            help = did_you_mean(name, [*ELEMENT_TYPES, "tensor", "tuple", "index", "none", "vector", "memref"])
            tokens.fail(f"expected a type, found '{name}'", at=tokens.place_missing(), help=help)
        return result

    def begins_type(self, word: str) -> bool:
        """Returns whether a word begins a type."""
        return word in _WORDS or element_named(word) is not None

    def _element_named(self, name: str) -> ElementType | None:
        """Reads an element type that starts with a word; returns None when the word is not an element type."""
        tokens = self.tokens
        if name == "complex":
            with tokens.nested():
                tokens.advance()
                tokens.expect("<")
                at = tokens.start
                part = self.element_type()
                if part.kind not in ("bool", "int", "uint", "float"):
                    tokens.fail(f"expected an integer or floating-point type, found {part}", at=at)
                tokens.expect(">")
                return ComplexType(part)
        result = element_named(name)
        if result is not None:
            tokens.advance()
        return result

    def element_type(self) -> ElementType:
        """Reads the type of an element."""
        tokens = self.tokens
        start = tokens.start
        if tokens.kind == "type":
            result = self._dialect_type()
            if isinstance(result, ElementType):
                return result
            tokens.fail(f"{result} is not a type of elements", at=start)
        if tokens.kind != "word":
            tokens.unexpected("an element type")
        name = tokens.text
        if name == "vector":
            return self._vector()
        if name in ("memref", "tensor", "tuple", "none"):
            tokens.fail(f"'{name}' is not a type of elements", code=UNSUPPORTED_TEXT)
        result = self._element_named(name)
        if result is None:
            help = did_you_mean(name, ELEMENT_TYPES)
            tokens.fail(f"expected an element type, found '{name}'", at=tokens.place_missing(), help=help)
        return result

    def tensor_type(self) -> TensorType:
        """Reads a tensor type."""
        if not self.tokens.at("tensor"):
            self.tokens.unexpected("a tensor type")
        return self._tensor()

    def _tensor(self) -> TensorType:
        tokens = self.tokens
        start = tokens.start
        close = tokens.source.find(">", tokens.end)
        parts = self.aliases.parts
        # Most types recur, so they are looked up by their texts, except those with brackets in the element type.
        text = tokens.source[start : close + 1]
        with tokens.nested():
            known = self.tensors.get(text) or self._plain_tensor(text)
        if known is not None:
            tokens.move_to(close + 1)
            return known
        tokens.advance()
        if not tokens.at("<"):
            tokens.unexpected("'<'")
        with tokens.nested():
            shape = self._dimensions(tokens.end)
            element = self.element_type()
            encoding = None
            if tokens.at(","):
                at = tokens.start
                tokens.advance()
                encoding = self.attributes.attribute()
                if shape is None:
                    tokens.fail("a tensor of unknown rank has no encoding", at=at)
            if not tokens.at(">"):
                tokens.unexpected("'x' or '>'")
        result = TensorType(element, shape, encoding)
        if self.dialects is not None and isinstance(encoding, DialectAttr):
            self.dialects.check_encoding(self, result, start)
        if tokens.start == close and self.aliases.parts == parts:
            self.tensors[tokens.source[start : tokens.end]] = result
        tokens.advance()
        return result

    def _plain_tensor(self, text: str) -> TensorType | None:
        """Returns the type of a text `tensor<2x3xf32>`; None for any other."""
        match = _PLAIN_TENSOR.fullmatch(text)
        element = None if match is None or self.tokens.limits.max_rank < _MANY_DIMENSIONS else element_named(match[2])
        if match is None or element is None:
            return None
        result = self.tensors[text] = TensorType(element, tuple(map(int, match[1].split("x")[:-1])))
        return result

    def types_of_text(self, text: str, at: int) -> tuple[Type, ...] | None:
        """Returns the types in a text at an offset, separated by commas; None if they are not the whole text."""
        tokens = self.tokens
        known = self._known_types.get(text)
        if known is not None:
            return known
        plain = self.tensors.get(text) or self._plain_tensor(text)
        if plain is not None:
            result = self._known_types[text] = (plain,)
            return result
        before = tokens.state()
        tokens.move_to(at)
        result: tuple[Type, ...] = (self.type(),)
        while not (is_whole := tokens.is_behind(at + len(text))) and tokens.take(","):
            result += (self.type(),)
        tokens.restore(before)
        if not is_whole:
            return None
        self._known_types[text] = result
        return result

    def _vector(self) -> VectorType:
        tokens = self.tokens
        tokens.advance()
        if not tokens.at("<"):
            tokens.unexpected("'<'")
        shape: list[int] = []
        scalable: list[bool] = []
        at = tokens.end
        while (match := _VECTOR_DIMENSION.match(tokens.source, at)) is not None:
            dim = tokens.integer_value(match[1] or match[2], at)
            if not 0 < dim <= LARGEST_DIMENSION:
                tokens.fail(f"a vector has sizes of 1 and more, found {dim}", at=at)
            shape.append(dim)
            scalable.append(match[2] is not None)
            at = match.end()
            if len(shape) > tokens.limits.max_rank:
                tokens.fail(f"more than {tokens.limits.max_rank} dimensions", at=at, code=LIMIT_EXCEEDED)
        tokens.move_to(at)
        at = tokens.start
        with tokens.nested():
            element = self.element_type()
        if element.kind not in _VECTOR_ELEMENTS:
            tokens.fail(f"vector elements must be integers, floating-point numbers or index, found {element}", at=at)
        tokens.expect(">")
        return VectorType(element, tuple(shape), tuple(scalable))

    def _memory(self) -> MemRefType:
        tokens = self.tokens
        tokens.advance()
        if not tokens.at("<"):
            tokens.unexpected("'<'")
        with tokens.nested():
            shape = self._dimensions(tokens.end)
            at = tokens.start
            element = self.type()
            if not self._is_memory_element(element):
                tokens.fail(f"memory has no elements of {element}", at=at)
            layout: Attribute | None = None
            space: Attribute | None = None
            while tokens.take(","):
                at = tokens.start
                attribute = self.attributes.attribute()
                if isinstance(attribute, AffineMapAttr | StridedLayoutAttr):
                    if layout is not None or space is not None or shape is None:
                        tokens.fail("a memref of known rank may have one layout, before the memory space", at=at)
                    self._check_layout(attribute, len(shape), at)
                    layout = attribute
                elif space is not None:
                    tokens.fail("a memref has at most one memory space", at=at)
                else:
                    self._check_space(attribute, at)
                    space = attribute
            tokens.expect(">")
        if isinstance(layout, AffineMapAttr) and layout.map.is_identity:
            layout = None
        if isinstance(space, IntegerAttr | BoolAttr) and space.value == 0:
            space = None
        return MemRefType(element, shape, layout, space)

    def _is_memory_element(self, element: Type) -> bool:
        if isinstance(element, DialectType):
            return self.dialects is None or self.dialects.may_be_stored(element)
        is_number = isinstance(element, ElementType) and element.kind in _MEMORY_ELEMENTS
        return is_number or isinstance(element, MemRefType)

    def _check_layout(self, layout: AffineMapAttr | StridedLayoutAttr, rank: int, at: int) -> None:
        layout_rank = layout.map.dims if isinstance(layout, AffineMapAttr) else len(layout.strides)
        if layout_rank != rank:
            self.tokens.fail(f"the layout is for rank {layout_rank}, but the rank is {rank}", at=at)

    def _check_space(self, space: Attribute, at: int) -> None:
        # Of the attributes of dialects, all may be one.
        if not isinstance(space, IntegerAttr | BoolAttr | StringAttr | DictionaryAttr | DialectAttr):
            self.tokens.fail(f"{space} is not a memory space", at=at)

    def _dimensions(self, at: int) -> tuple[Dim | None, ...] | None:
        tokens = self.tokens
        shape: list[Dim | None] = []
        ranked = True
        while (match := _DIMENSION.match(tokens.source, at)) is not None:
            number, unknown, star, expression = match.groups()
            if number is not None:
                dim = tokens.integer_value(number, match.start())
                if dim > LARGEST_DIMENSION:
                    tokens.fail(f"{dim} is not a valid dimension", at=match.start())
                shape.append(dim)
            elif unknown is not None:
                shape.append(None)
            elif star is not None:
                ranked = False
            else:
                shape.append(self.dimension(expression, match.start(4)))
            at = match.end()
            if len(shape) > tokens.limits.max_rank:
                tokens.fail(f"more than {tokens.limits.max_rank} dimensions", at=at, code=LIMIT_EXCEEDED)
        if not ranked and shape:
            tokens.fail("expected '*' alone, found other dimensions", at=at)
        tokens.move_to(at)
        if tokens.kind == "int" or tokens.text in ("?", "*"):
            tokens.advance()
            tokens.unexpected("'x'")
        return tuple(shape) if ranked else None

    def dimension(self, expression: str, at: int) -> Dim:
        """Returns the dimension of an expression."""
        try:
            return parse(expression)
        except DimSyntaxError as error:
            self.tokens.fail(f"a dimension is not understood: {error}", at=at)

    def _dialect_type(self) -> Type:
        tokens = self.tokens
        start = tokens.start
        name = tokens.text[1:]
        has_body = tokens.source.startswith("<", tokens.end)
        if "." not in name and not has_body:
            if name not in self.aliases.types:
                tokens.fail(f"undefined type alias '!{name}'", help=did_you_mean(name, self.aliases.types))
            self.aliases.use(tokens)
            return self.aliases.types[name]
        reader = self.readers.get(name)
        if reader is not None:
            with tokens.nested():
                tokens.advance()
                return reader(self)
        dialect, _, rest = name.partition(".")
        if not rest:
            inner = self.own_name(dialect, self.readers)
            if inner:
                with tokens.nested():
                    built = self.readers[inner](self)
                    tokens.expect(">")
                    return built
        if dialect in WITHOUT_OTHERS:
            tokens.fail(f"unknown type '!{name}'", at=start + len(dialect) + 2)
        result = None if self.dialects is None else self.dialects.read_type(self, dialect)
        if result is not None:
            return result
        return DialectType(dialect, *parts_of_dialect(rest, tokens.body()))

    def own_name(self, dialect: str, readers: Mapping[str, object]) -> str:
        """Reads `<name` of `!dialect<name ...>` and returns `dialect.name`; "" without a reader."""
        tokens = self.tokens
        match = _OWN_NAME.match(tokens.source, tokens.end)
        name = "" if match is None else f"{dialect}.{match[1]}"
        if match is None or name not in readers:
            return ""
        tokens.move_to(match.end())
        return name


def parts_of_dialect(rest: str, body: str | None) -> tuple[str, str | None]:
    """Returns the mnemonic and body of the text after the name of a dialect; `rest` begins with a point.

    The mnemonic is that of the form with a point, even if the text has another form; it is "" if there is none.
    """
    text = rest if body is None else f"{rest}<{body}>" if rest else body
    result = _PRETTY.fullmatch(text)
    if result is None or (result[2] is not None and not is_balanced(result[2])):
        return "", text
    return result[1], result[2]
