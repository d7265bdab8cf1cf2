"""Types out of MLIR text: those of MLIR's builtin dialect, ours, and those of dialects.

`TypeReader` reads types at the current token. A dialect's own types are read by functions under their names; others are
kept as they are written. Limits: `Limits.max_nesting_depth`, `max_rank`. Source: MLIR language reference, types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from commonir.base.file_codes import LIMIT_EXCEEDED, NESTING_TOO_DEEP, UNSUPPORTED_TEXT
from commonir.base.lazy import LazyModule, lazy_pattern
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.affine import AffineMapAttr, StridedLayoutAttr
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.types import (
    ELEMENT_TYPES,
    ComplexType,
    DialectType,
    ElementType,
    FunctionType,
    ListType,
    MapType,
    MemRefType,
    OptionalType,
    SparseTensorType,
    StateType,
    TensorType,
    TupleType,
    Type,
    VectorType,
    element_named,
    handle,
    none,
    string,
    token,
    unknown,
)
from commonir.symbolic import Dim, DimSyntaxError, parse
from commonir.text.elements import ElementReader

if TYPE_CHECKING:
    from commonir.ods.own_forms import OwnForms
    from commonir.text import own_forms, quantized_types
else:
    own_forms = LazyModule("commonir.text.own_forms")
    # Few programs are quantized.
    quantized_types = LazyModule("commonir.text.quantized_types")

T = TypeVar("T")

LARGEST_DIMENSION = 2**63 - 1
"""The largest size of an axis."""

WITHOUT_OTHERS = frozenset({"builtin", "dlti", "quant"})
"""Dialects of which all types and attributes are read here."""

_DIMENSION = lazy_pattern(r"\s*(?:(\d+)|(\?)|(\*)|\"([^\"\n]*)\")\s*x\s*", re.ASCII)
_PLAIN_TENSOR = re.compile(r"tensor<((?:\d{1,18}x){0,16})([a-z]+[0-9]*)>")
_VECTOR_DIMENSION = lazy_pattern(r"\s*(?:(\d+)|\[\s*(\d+)\s*\])\s*x\s*", re.ASCII)
_BODY = lazy_pattern(r'[^][(){}<>"]+|->|"(?:[^"\\\n]|\\.)*"|[][(){}<>]')
_MANY_DIMENSIONS = 16
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_SMALL_ALIAS = 32
_VECTOR_ELEMENTS = ("bool", "int", "uint", "index", "float")
_MEMORY_ELEMENTS = (*_VECTOR_ELEMENTS, "complex", "vector")
_PRETTY = lazy_pattern(r"([A-Za-z][A-Za-z0-9._]*)(?:<(.*)>)?", re.DOTALL | re.ASCII)


class Extent(NamedTuple):
    """How much an alias stands for, those within it written out: parts between commas, and how deep they nest."""

    parts: int
    depth: int


class _Level:
    """What `with` leaves when what is nested has been read: cheaper than a generator, of which a text makes many."""

    __slots__ = ("_reader",)

    def __init__(self, reader: TypeReader) -> None:
        self._reader = reader

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._reader.depth -= 1


class TypeReader(ElementReader):
    """Reads types at the current token."""

    def __init__(
        self, source: str, file: str = "<text>", limits: Limits = DEFAULT_LIMITS, lines_before: int = 0
    ) -> None:
        self.depth = 0
        self.deepest = 0
        """The depth that was reached since this was set to 0, aliases written out."""
        self.extents: dict[str, Extent] = {}
        """What aliases stand for, by their names with their signs: none of those of locations, which stay aliases."""
        self.alias_parts = 0
        """The parts that aliases stood for: all in the definition of an alias, otherwise those of large ones."""
        self.defines_alias = False
        self._level = _Level(self)
        self.type_aliases: dict[str, Type] = {}
        self.type_readers: Mapping[str, Callable[[TypeReader], Type]] = _TYPES
        self._known_types: dict[str, tuple[Type, ...]] = {}
        self.tensors: dict[str, TensorType] = {}
        """Types of tensors by their texts, as far as they were read."""
        super().__init__(source, file, limits, lines_before)

    def own_forms(self, dialect: str) -> OwnForms | None:  # noqa: ARG002
        """The types and attributes of a dialect; None where it may have any."""
        return None

    def attribute(self, type: Type | None = None) -> Attribute:
        """Reads an attribute, which may stand within a type."""
        raise NotImplementedError

    def nested(self) -> _Level:
        """One level deeper.

        Raises: NESTING_TOO_DEEP.
        """
        self.depth += 1
        if self.depth > self.deepest:
            self._reach(self.depth)
        return self._level

    def _reach(self, depth: int) -> None:
        if depth > self.limits.max_nesting_depth:
            self.fail(f"nested more than {self.limits.max_nesting_depth} deep", code=NESTING_TOO_DEEP)
        self.deepest = max(depth, self.deepest)

    def use_alias(self, name: str) -> None:
        """Counts what the alias at the current token stands for, and moves over it.

        Raises: NESTING_TOO_DEEP, LIMIT_EXCEEDED.
        """
        extent = self.extents.get(name)
        if extent is not None:
            self._reach(self.depth + extent.depth)
            if self.defines_alias or extent.parts > _SMALL_ALIAS:
                self.alias_parts += extent.parts
            most = self.limits.max_alias_parts
            if self.alias_parts > most and not self.defines_alias:
                message = (
                    f"with its aliases written out, the text has more than {most:,} types and attributes up to here"
                )
                help = f"use '{name}' less often, or let it and the aliases within it stand for less"
                self.fail(message, code=LIMIT_EXCEEDED, help=help)
        self.advance()

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
        inputs, results = self.signature()
        return FunctionType(tuple(inputs), tuple(results))

    def signature(self) -> tuple[list[Type], list[Type]]:
        """Reads the types of a function, of what it takes and what it returns."""
        with self.nested():
            self.expect("(")
            inputs = self.separated(self.type, ")")
            self.expect("->")
            return inputs, self.separated(self.type, ")") if self.take("(") else [self.type()]

    def _named_type(self) -> Type:
        name = self.text
        match name:
            case "tensor":
                return self._tensor()
            case "memref":
                return self._memory()
            case "vector":
                return self._vector()
            case "tuple":
                with self.nested():
                    self.advance()
                    self.expect("<")
                    return TupleType(tuple(self.separated(self.type, ">")))
            case "none":
                self.advance()
                return none
            case _:
                pass
        result = self._element_named(name)
        if result is None:
            help = did_you_mean(name, [*ELEMENT_TYPES, "tensor", "tuple", "index", "none", "vector", "memref"])
            self.fail(f"expected a type, found '{name}'", at=self.place_missing(), help=help)
        return result

    def _element_named(self, name: str) -> ElementType | None:
        """Moves over an element type that starts with a word; None when the word names none."""
        if name == "complex":
            with self.nested():
                self.advance()
                self.expect("<")
                at = self.start
                part = self.element_type()
                if part.kind not in ("bool", "int", "uint", "float"):
                    self.fail(f"expected an integer or floating-point type, found {part}", at=at)
                self.expect(">")
                return ComplexType(part)
        result = element_named(name)
        if result is not None:
            self.advance()
        return result

    def element_type(self) -> ElementType:
        """Reads the type of an element."""
        start = self.start
        if self.kind == "type":
            result = self._dialect_type()
            if isinstance(result, ElementType):
                return result
            self.fail(f"{result} is not a type of elements", at=start)
        if self.kind != "word":
            self.unexpected("an element type")
        name = self.text
        if name == "vector":
            return self._vector()
        if name in ("memref", "tensor", "tuple", "none"):
            self.fail(f"'{name}' is not a type of elements", code=UNSUPPORTED_TEXT)
        result = self._element_named(name)
        if result is None:
            help = did_you_mean(name, ELEMENT_TYPES)
            self.fail(f"expected an element type, found '{name}'", at=self.place_missing(), help=help)
        return result

    def tensor_type(self) -> TensorType:
        """Reads a tensor type."""
        if not self.at("tensor"):
            self.unexpected("a tensor type")
        return self._tensor()

    def _tensor(self) -> TensorType:
        start = self.start
        close = self.source.find(">", self.end)
        parts = self.alias_parts
        # Most types recur: a whole one is looked up by its text. One whose element type has brackets is not found here.
        known = self.tensors.get(self.source[start : close + 1])
        if known is not None:
            self.move_to(close + 1)
            return known
        plain = _PLAIN_TENSOR.match(self.source, start)
        element = None if plain is None or self.limits.max_rank < _MANY_DIMENSIONS else element_named(plain[2])
        if plain is not None and element is not None:
            with self.nested():
                dims = plain[1].split("x")[:-1]
            result = self.tensors[plain[0]] = TensorType(element, tuple(map(int, dims)))
            self.move_to(plain.end())
            return result
        self.advance()
        if not self.at("<"):
            self.unexpected("'<'")
        with self.nested():
            shape = self._dimensions(self.end)
            element = self.element_type()
            encoding = None
            if self.at(","):
                at = self.start
                self.advance()
                encoding = self.attribute()
                if shape is None:
                    self.fail("a tensor of unknown rank has no encoding", at=at)
            if not self.at(">"):
                self.unexpected("'x' or '>'")
        result = TensorType(element, shape, encoding)
        if self.start == close and self.alias_parts == parts:
            self.tensors[self.source[start : self.end]] = result
        self.advance()
        return result

    def types_of_text(self, text: str, at: int) -> tuple[Type, ...] | None:
        """Returns types separated by commas, which stand at an offset; None when they are not read completely there."""
        known = self._known_types.get(text)
        if known is not None:
            return known
        before = self.end, self.kind, self.text, self.start
        self.move_to(at)
        result = self.types()
        is_whole = self.start >= at + len(text) and not self.source[at + len(text) : self.start].strip()
        self.end, self.kind, self.text, self.start = before
        if not is_whole:
            return None
        self._known_types[text] = result
        return result

    def _vector(self) -> VectorType:
        self.advance()
        if not self.at("<"):
            self.unexpected("'<'")
        shape: list[int] = []
        scalable: list[bool] = []
        at = self.end
        while (found := _VECTOR_DIMENSION.match(self.source, at)) is not None:
            size = self.whole(found[1] or found[2], at)
            if not 0 < size <= LARGEST_DIMENSION:
                self.fail(f"a vector has sizes of 1 and more, found {size}", at=at)
            shape.append(size)
            scalable.append(found[2] is not None)
            at = found.end()
            if len(shape) > self.limits.max_rank:
                self.fail(f"more than {self.limits.max_rank} dimensions", at=at, code=LIMIT_EXCEEDED)
        self.move_to(at)
        at = self.start
        element = self.element_type()
        if element.kind not in _VECTOR_ELEMENTS:
            self.fail(f"vectors of {element} are none: expected integers, floating-point numbers or index", at=at)
        self.expect(">")
        return VectorType(element, tuple(shape), tuple(scalable))

    def _memory(self) -> MemRefType:
        self.advance()
        if not self.at("<"):
            self.unexpected("'<'")
        with self.nested():
            shape = self._dimensions(self.end)
            at = self.start
            element = self.type()
            is_element = isinstance(element, ElementType) and element.kind in _MEMORY_ELEMENTS
            if not is_element and not isinstance(element, MemRefType):
                self.fail(f"memory has no elements of {element}", at=at)
            layout: Attribute | None = None
            space: Attribute | None = None
            while self.take(","):
                at = self.start
                found = self.attribute()
                if isinstance(found, AffineMapAttr | StridedLayoutAttr):
                    if layout is not None or space is not None or shape is None:
                        self.fail("a layout stands once, before the memory space, in a memory of known rank", at=at)
                    self._check_layout(found, len(shape), at)
                    layout = found
                elif space is not None:
                    self.fail("a memory has one memory space", at=at)
                else:
                    self._check_space(found, at)
                    space = found
            self.expect(">")
        if isinstance(layout, AffineMapAttr) and layout.map.is_identity:
            layout = None
        if isinstance(space, IntegerAttr) and space.value == 0:
            space = None
        return MemRefType(element, shape, layout, space)

    def _check_layout(self, layout: AffineMapAttr | StridedLayoutAttr, rank: int, at: int) -> None:
        found = layout.map.dims if isinstance(layout, AffineMapAttr) else len(layout.strides)
        if found != rank:
            self.fail(f"the layout is for rank {found}, but the rank is {rank}", at=at)

    def _check_space(self, space: Attribute, at: int) -> None:
        if not isinstance(space, IntegerAttr | StringAttr | DictionaryAttr) and not self.is_own_attribute(space):
            self.fail(f"{space} is not a memory space", at=at)

    def is_own_attribute(self, attr: Attribute) -> bool:  # noqa: ARG002
        """Whether an attribute is one of a dialect that is known, which may stand where an unknown one may not."""
        return False

    def _dimensions(self, at: int) -> tuple[Dim | None, ...] | None:
        shape: list[Dim | None] = []
        ranked = True
        while (found := _DIMENSION.match(self.source, at)) is not None:
            number, unknown, star, expression = found.groups()
            if number is not None:
                size = self.whole(number, found.start())
                if size > LARGEST_DIMENSION:
                    self.fail(f"{size} is not a size of an axis", at=found.start())
                shape.append(size)
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
        if self.kind == "int" or self.text in ("?", "*"):
            self.advance()
            self.unexpected("'x'")
        return tuple(shape) if ranked else None

    def dimension(self, expression: str, at: int) -> Dim:
        """The dimension that an expression says."""
        try:
            return parse(expression)
        except DimSyntaxError as error:
            self.fail(f"a dimension is not understood: {error}", at=at)

    def _dialect_type(self) -> Type:
        start = self.start
        name = self.text[1:]
        has_body = self.source.startswith("<", self.end)
        if "." not in name and not has_body:
            if name not in self.type_aliases:
                self.fail(f"undefined type alias '!{name}'", help=did_you_mean(name, self.type_aliases))
            self.use_alias(self.text)
            return self.type_aliases[name]
        reader = self.type_readers.get(name)
        if reader is not None:
            with self.nested():
                self.advance()
                return reader(self)
        dialect, _, rest = name.partition(".")
        if not rest:
            inner = self._own_name(dialect, self.type_readers)
            if inner:
                with self.nested():
                    built = self.type_readers[inner](self)
                    self.expect(">")
                    return built
        if dialect in WITHOUT_OTHERS:
            self.fail(f"unknown type '!{name}'", at=start + len(dialect) + 2)
        own = self.own_forms(dialect)
        result = None if own is None else own_forms.read_own_type(self, own)
        if result is not None:
            return result
        return DialectType(dialect, *parts_of_dialect(rest, self.body()))

    def _own_name(self, dialect: str, readers: Mapping[str, object]) -> str:
        """The name under which readers know what stands in `!dialect<name ...>`, moved over; "" when they do not."""
        found = _OWN_NAME.match(self.source, self.end)
        name = "" if found is None else f"{dialect}.{found[1]}"
        if found is None or name not in readers:
            return ""
        self.move_to(found.end())
        return name

    def body(self) -> str | None:
        """The text between balanced angle brackets after the current token, moved over; None without brackets."""
        if not self.source.startswith("<", self.end):
            self.advance()
            return None
        open_at = self.end
        pending: list[str] = []
        at = open_at
        while True:
            found = _BODY.match(self.source, at)
            if found is None:
                self.fail(f"unbalanced '{pending[-1]}' after '{self.text}'", at=open_at)
            piece = found.group()
            at = found.end()
            if piece.endswith("-") and self.source.startswith(">", at):  # an arrow closes nothing
                at += 1
            elif piece in _CLOSING:
                pending.append(piece)
                if len(pending) > self.limits.max_nesting_depth:
                    self.fail(f"nested more than {self.limits.max_nesting_depth} deep", at=at, code=NESTING_TOO_DEEP)
            elif len(piece) == 1 and piece in ">)]}":
                if _CLOSING[pending[-1]] != piece:
                    self.fail(f"unbalanced '{pending[-1]}' after '{self.text}'", at=open_at)
                pending.pop()
                if not pending:
                    break
        body = self.source[open_at + 1 : at - 1]
        self.move_to(at)
        return body


def parts_of_dialect(rest: str, body: str | None) -> tuple[str, str | None]:
    """Mnemonic and body of what stands behind the name of a dialect, `rest` with a point before it.

    What MLIR would write with a point has a mnemonic, however it is written; anything else is a body alone.
    """
    text = rest if body is None else f"{rest}<{body}>" if rest else body
    result = _PRETTY.fullmatch(text)
    if result is None or (result[2] is not None and not _is_balanced(result[2])):
        return "", text
    return result[1], result[2]


def _is_balanced(body: str) -> bool:
    """Whether brackets close within a body, so that it ends where the text that holds it ends."""
    pending: list[str] = []
    for piece in _BODY.findall(body.replace("->", "  ")):
        if piece in _CLOSING:
            pending.append(_CLOSING[piece])
        elif len(piece) == 1 and piece in ">)]}" and (not pending or pending.pop() != piece):
            return False
    return not pending


_OWN_NAME = lazy_pattern(r"<\s*([A-Za-z_][A-Za-z0-9_$.]*)", re.ASCII)


def _list_type(reader: TypeReader) -> Type:
    element = reader.type()
    if not reader.take(","):
        return ListType(element)
    at = reader.start
    if reader.kind == "string":
        return ListType(element, reader.dimension(reader.string(), at))
    return ListType(element, reader.whole(reader.expect_kind("int", "a length"), at))


def _map_type(reader: TypeReader) -> Type:
    key = reader.type()
    reader.expect(",")
    return MapType(key, reader.type())


def _sparse_type(reader: TypeReader) -> Type:
    at = reader.start
    dense = reader.type()
    if not isinstance(dense, TensorType):
        reader.fail("expected the type of a tensor", at=at)
    return SparseTensorType(dense.element, dense.shape)


def _shape_type(reader: TypeReader) -> Type:
    at = reader.start
    rank = reader.integer()
    if rank < 0:
        reader.fail(f"invalid rank (must be >= 0): {rank}", at=at)
    return DialectType("tosa", "shape", str(rank))


def _bracketed(read: Callable[[TypeReader], Type]) -> Callable[[TypeReader], Type]:
    def within(reader: TypeReader) -> Type:
        reader.expect("<")
        result = read(reader)
        reader.expect(">")
        return result

    return within


_TYPES: Mapping[str, Callable[[TypeReader], Type]] = MappingProxyType(
    {
        "builtin.list": _bracketed(_list_type),
        "builtin.map": _bracketed(_map_type),
        "builtin.optional": _bracketed(lambda reader: OptionalType(reader.type())),
        "builtin.sparse": _bracketed(_sparse_type),
        "builtin.state": _bracketed(lambda reader: StateType(reader.type())),
        "builtin.string": lambda _: string,
        "builtin.handle": lambda _: handle,
        "builtin.unknown": lambda _: unknown,
        "ml_program.token": lambda _: token,
        "quant.any": quantized_types.read_any,
        "quant.calibrated": quantized_types.read_calibrated,
        "quant.uniform": quantized_types.read_uniform,
        "tosa.shape": _bracketed(_shape_type),
    }
)
"""What reads the types that have classes here, by their names, at the token after the name."""
