"""Types of values: interned, immutable, compared by identity.

Two requests for the same type return the same object, so `is` and a dictionary look-up compare types in constant time.
Element types cover the five formats this project reads; their names are those of MLIR where MLIR has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from types import MappingProxyType
from typing import Literal, Self, TypeGuard

from commonir.ir.constant_text import Attribute, Constant, ConstantPrinter
from commonir.symbolic import Dim, DimExpr, symbols
from commonir.symbolic import text as dimension_text

Shape = tuple[Dim | None, ...]

DYNAMIC = -(1 << 63)
"""The entry of a list of dims, offsets or strides that is known only when the program runs (`ShapedType::kDynamic`)."""

ElementKind = Literal["bool", "int", "uint", "index", "float", "complex", "string", "handle", "vector", "dialect"]


class Type(Constant):
    """The type of a value."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Type, ...]:
        """The types of the values that a value of this type consists of; empty for tensors and scalars."""
        return ()

    def with_parts(self, parts: tuple[Type, ...]) -> Type:
        """Returns the type with other types of its parts, of which there are as many."""
        del parts
        return self


class ElementType(Type):
    """The type of one element of a tensor, and of a scalar value. `name` is its whole text.

    Units: `bits` is the width in storage before packing; 0 for strings, handles, vectors and types of dialects. An
    `index` takes 64.
    """

    __slots__ = ("name", "kind", "bits")  # noqa: RUF023  the order of `_intern`

    name: str
    kind: ElementKind
    bits: int

    def __new__(cls, name: str, kind: ElementKind, bits: int) -> Self:
        return cls._intern(name, kind, bits)

    @property
    def is_float(self) -> bool:
        """Whether it is a real floating-point type."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether it is a signed or unsigned integer type (neither bool nor index)."""
        return self.kind in ("int", "uint")

    @property
    def is_numeric(self) -> bool:
        """Whether arithmetic is defined on it."""
        return self.kind in ("int", "uint", "float", "complex")

    @property
    def width(self) -> int:
        """The bits of a number: one of a bool, which is stored as a byte."""
        return 1 if self.kind == "bool" else self.bits

    @property
    def integer_limits(self) -> tuple[int, int]:
        """The least and the largest number of an integer type; a signless one, and an index, has a sign."""
        if self.kind == "uint":
            return 0, (1 << self.bits) - 1
        return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1

    def size_bytes(self, count: int) -> int:
        """Bytes that `count` packed elements take."""
        return (count * self.bits + 7) // 8

    def text(self, _printer: ConstantPrinter, /) -> str:
        return self.name


class ComplexType(ElementType):
    """Two numbers of one type: a real and an imaginary part."""

    __slots__ = ("part",)

    part: ElementType

    def __new__(cls, part: ElementType) -> Self:
        return cls._intern(f"complex<{part.name}>", "complex", 2 * part.bits, part)


boolean = ElementType("i1", "bool", 8)
"""A bool; stored as one byte. Printed `i1`, as in MLIR."""
i4 = ElementType("i4", "int", 4)
i8 = ElementType("i8", "int", 8)
i16 = ElementType("i16", "int", 16)
i32 = ElementType("i32", "int", 32)
i64 = ElementType("i64", "int", 64)
i2 = ElementType("i2", "int", 2)
u1 = ElementType("ui1", "uint", 1)
u2 = ElementType("ui2", "uint", 2)
u3 = ElementType("ui3", "uint", 3)
u4 = ElementType("ui4", "uint", 4)
u6 = ElementType("ui6", "uint", 6)
u8 = ElementType("ui8", "uint", 8)
u16 = ElementType("ui16", "uint", 16)
u32 = ElementType("ui32", "uint", 32)
u64 = ElementType("ui64", "uint", 64)
f16 = ElementType("f16", "float", 16)
bf16 = ElementType("bf16", "float", 16)
f32 = ElementType("f32", "float", 32)
f64 = ElementType("f64", "float", 64)
f8e4m3fn = ElementType("f8E4M3FN", "float", 8)
f8e4m3fnuz = ElementType("f8E4M3FNUZ", "float", 8)
f8e5m2 = ElementType("f8E5M2", "float", 8)
f8e5m2fnuz = ElementType("f8E5M2FNUZ", "float", 8)
f8e8m0fnu = ElementType("f8E8M0FNU", "float", 8)
f4e2m1fn = ElementType("f4E2M1FN", "float", 4)
f6e2m3fn = ElementType("f6E2M3FN", "float", 6)
f6e3m2fn = ElementType("f6E3M2FN", "float", 6)
complex64 = ComplexType(f32)
complex128 = ComplexType(f64)
string = ElementType("!builtin.string", "string", 0)
handle = ElementType("!builtin.handle", "handle", 0)

ELEMENT_TYPES: Mapping[str, ElementType] = MappingProxyType(
    {value.name: value for value in tuple(globals().values()) if isinstance(value, ElementType)}
)
"""The element types that formats use, by their names in the text form. MLIR has more: see `element_named`."""

index = ElementType("index", "index", 64)
"""An integer of the width of the machine, for positions and sizes; MLIR's `index`."""

MORE_FLOATS: Mapping[str, ElementType] = MappingProxyType(
    {
        name: ElementType(name, "float", bits)
        for name, bits in {
            "tf32": 19, "f80": 80, "f128": 128, "f8E4M3": 8, "f8E3M4": 8, "f8E4M3B11FNUZ": 8
        }.items()
    }
)  # fmt: skip
"""Floating-point types of MLIR beyond those that formats use."""

Signedness = Literal["signless", "signed", "unsigned"]

WIDEST_INTEGER = 2**24 - 1
"""Bits of the widest integer type that MLIR allows."""

_PREFIXES: Mapping[Signedness, str] = MappingProxyType({"signless": "i", "signed": "si", "unsigned": "ui"})
# The most digits of the width of an integer type.
_MOST_DIGITS = 8
_SIGNEDNESS: Mapping[str, Signedness] = MappingProxyType({prefix: name for name, prefix in _PREFIXES.items()})


def integer_type(bits: int, signedness: Signedness = "signless") -> ElementType:
    """Returns the integer type of a width. One bit without a sign is a bool, as in MLIR.

    Raises: ValueError when the width is negative or more than `WIDEST_INTEGER`.
    """
    if not 0 <= bits <= WIDEST_INTEGER:
        raise ValueError(f"an integer type has 0 to {WIDEST_INTEGER} bits, not {bits}")
    if bits == 1 and signedness == "signless":
        return boolean
    return ElementType(f"{_PREFIXES[signedness]}{bits}", "uint" if signedness == "unsigned" else "int", bits)


def signedness_of(element: ElementType) -> Signedness:
    """Returns the signedness of an integer type."""
    return _SIGNEDNESS.get(element.name[:2], "signless")


def is_signless(element: ElementType) -> bool:
    """Returns whether it is a signless integer type, bools included."""
    return element.name[0] == "i" and element.kind in ("bool", "int")


def element_named(name: str) -> ElementType | None:
    """Returns the element type of a name: integers of any width, `index` and every float; None for other names."""
    result = ELEMENT_TYPES.get(name) or MORE_FLOATS.get(name)
    if result is not None:
        return result
    if name == "index":
        return index
    digits = name.lstrip("siu")
    signedness = _SIGNEDNESS.get(name[: len(name) - len(digits)])
    if signedness is None or not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        return None
    return integer_type(int(digits), signedness) if int(digits) <= WIDEST_INTEGER else None


def unsigned_type(bits: int) -> ElementType:
    """Returns the unsigned integer type of a width."""
    result = element_named(f"ui{bits}")
    assert result is not None
    return result


class NoneType(Type):
    """The type with one value; MLIR's `none`."""

    __slots__ = ()

    def text(self, _printer: ConstantPrinter, /) -> str:
        return "none"


none = NoneType()


_NUMBER = frozenset({int})


def are_numbers(shape: Shape | None) -> TypeGuard[tuple[int, ...]]:
    """Returns whether every dimension of a shape is a number."""
    return shape is not None and _NUMBER.issuperset(map(type, shape))


def are_known(shape: Shape | None) -> TypeGuard[tuple[Dim, ...]]:
    """Returns whether every dimension of a shape is a number or symbolic."""
    return shape is not None and None not in shape


class TensorType(Type):
    """A dense tensor of one element type.

    `shape` is None for unknown rank. A dimension is an `int`, a symbolic expression, or None when it is unknown: two
    unknown dimensions are never taken to be equal. `encoding` is a dialect's description of how it is stored.
    """

    __slots__ = ("element", "shape", "encoding")  # noqa: RUF023  the order of `_intern`

    element: ElementType
    shape: Shape | None
    encoding: Attribute | None

    def __new__(cls, element: ElementType, shape: Shape | None, encoding: Attribute | None = None) -> Self:
        return cls._intern(element, shape, encoding)

    @property
    def rank(self) -> int | None:
        """Number of dimensions, None when unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every dimension is a number."""
        return are_numbers(self.shape)

    @property
    def static_shape(self) -> tuple[int, ...]:
        """The shape as numbers.

        Raises: ValueError when a dimension is not a number.
        """
        if not are_numbers(self.shape):
            raise ValueError(f"{self} has no static shape")
        return self.shape

    @property
    def count(self) -> int:
        """Number of elements of a static tensor. Raises: ValueError when a dimension is not a number."""
        return prod(self.static_shape)

    def with_shape(self, shape: Shape | None) -> TensorType:
        """Returns a type of the same element type and encoding with another shape."""
        return TensorType(self.element, shape, self.encoding)

    def without_symbolic_dims(self) -> TensorType:
        """Returns the type with unknown dimensions in place of symbolic ones."""
        if self.shape is None:
            return self
        return self.with_shape(tuple([d if isinstance(d, int) else None for d in self.shape]))

    def with_element(self, element: ElementType) -> TensorType:
        """Returns a type of the same shape and encoding with another element type."""
        return TensorType(element, self.shape, self.encoding)

    def text(self, printer: ConstantPrinter, /) -> str:
        encoding = "" if self.encoding is None else f", {printer.attribute(self.encoding)}"
        return f"tensor<{shape_text(self.shape)}{printer.type(self.element)}{encoding}>"


def shape_text(shape: Shape | None) -> str:
    """Returns the dimensions of a tensor or memref as they are printed before its element type."""
    return "*x" if shape is None else "".join([f"{dim_text(d)}x" for d in shape])


def dim_text(dim: Dim | None) -> str:
    """Returns a dimension as it is printed inside a tensor type: a number, `?`, or a quoted expression."""
    if dim is None:
        return "?"
    if isinstance(dim, int):
        return str(dim)
    return f'"{dimension_text(dim)}"'


class MemRefType(Type):
    """A reference to memory that holds elements; MLIR's `memref`.

    `layout` maps indices to elements; None is row-major order without gaps. `memory_space` is None
    for the default one. Of unknown rank (`shape` None) there is no layout.
    """

    __slots__ = ("element", "shape", "layout", "memory_space")  # noqa: RUF023  the order of `_intern`

    element: Type
    shape: Shape | None
    layout: Attribute | None
    memory_space: Attribute | None

    def __new__(
        cls, element: Type, shape: Shape | None, layout: Attribute | None = None, memory_space: Attribute | None = None
    ) -> Self:
        return cls._intern(element, shape, layout, memory_space)

    @property
    def rank(self) -> int | None:
        """Number of dimensions, None when unknown."""
        return None if self.shape is None else len(self.shape)

    def text(self, printer: ConstantPrinter, /) -> str:
        layout = "" if self.layout is None else f", {printer.attribute(self.layout)}"
        space = "" if self.memory_space is None else f", {printer.attribute(self.memory_space, 'listed')}"
        return f"memref<{shape_text(self.shape)}{printer.type(self.element)}{layout}{space}>"


class VectorType(ElementType):
    """A small vector of numbers; MLIR's `vector`. `scalable` marks the dimensions that are multiples of `vscale`.

    It may be the element of a tensor.
    """

    __slots__ = ("element", "shape", "scalable")  # noqa: RUF023  the order of `_intern`

    element: ElementType
    shape: tuple[int, ...]
    scalable: tuple[bool, ...]

    def __new__(cls, element: ElementType, shape: tuple[int, ...], scalable: tuple[bool, ...] = ()) -> Self:
        flags = scalable or (False,) * len(shape)
        dims = "".join([f"[{n}]x" if s else f"{n}x" for n, s in zip(shape, flags, strict=True)])
        return cls._intern(f"vector<{dims}{element.name}>", "vector", 0, element, shape, flags)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def count(self) -> int:
        """Number of elements, for `vscale` 1 if it is scalable."""
        out = 1
        for n in self.shape:
            out *= n
        return out


class SparseTensorType(Type):
    """A tensor stored as its nonzero elements and their indices; its shape is that of the dense tensor."""

    __slots__ = ("element", "shape")

    element: ElementType
    shape: Shape | None

    def __new__(cls, element: ElementType, shape: Shape | None) -> Self:
        return cls._intern(element, shape)

    @property
    def dense(self) -> TensorType:
        """The dense tensor with the same elements."""
        return TensorType(self.element, self.shape)

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"!builtin.sparse<{printer.type(self.dense)}>"


class ListType(Type):
    """A list of values of one type; `length` is None when it may change."""

    __slots__ = ("element", "length")

    element: Type
    length: Dim | None

    def __new__(cls, element: Type, length: Dim | None = None) -> Self:
        return cls._intern(element, length)

    @property
    def parts(self) -> tuple[Type, ...]:
        return (self.element,)

    def with_parts(self, parts: tuple[Type, ...]) -> Type:
        return ListType(parts[0], self.length)

    def text(self, printer: ConstantPrinter, /) -> str:
        return (
            f"!builtin.list<{printer.type(self.element)}{'' if self.length is None else f', {dim_text(self.length)}'}>"
        )


class TupleType(Type):
    """A fixed number of values, each of its own type; MLIR's `tuple`."""

    __slots__ = ("elements",)

    elements: tuple[Type, ...]

    def __new__(cls, elements: tuple[Type, ...]) -> Self:
        return cls._intern(elements)

    @property
    def parts(self) -> tuple[Type, ...]:
        return self.elements

    def with_parts(self, parts: tuple[Type, ...]) -> Type:
        return TupleType(parts)

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"tuple<{', '.join(map(printer.type, self.elements))}>"


class MapType(Type):
    """A dictionary from scalar keys to values."""

    __slots__ = ("key", "value")

    key: Type
    value: Type

    def __new__(cls, key: Type, value: Type) -> Self:
        return cls._intern(key, value)

    @property
    def parts(self) -> tuple[Type, ...]:
        return (self.key, self.value)

    def with_parts(self, parts: tuple[Type, ...]) -> Type:
        return MapType(*parts)

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"!builtin.map<{printer.type(self.key)}, {printer.type(self.value)}>"


class OptionalType(Type):
    """A value that may be absent."""

    __slots__ = ("element",)

    element: Type

    def __new__(cls, element: Type) -> Self:
        return cls._intern(element)

    @property
    def parts(self) -> tuple[Type, ...]:
        return (self.element,)

    def with_parts(self, parts: tuple[Type, ...]) -> Type:
        return OptionalType(parts[0])

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"!builtin.optional<{printer.type(self.element)}>"


class StateType(Type):
    """Storage that keeps its contents between calls."""

    __slots__ = ("element",)

    element: Type

    def __new__(cls, element: Type) -> Self:
        return cls._intern(element)

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"!builtin.state<{printer.type(self.element)}>"


class FunctionType(Type):
    """The types of the arguments and results of a function."""

    __slots__ = ("inputs", "results")

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __new__(cls, inputs: tuple[Type, ...], results: tuple[Type, ...]) -> Self:
        return cls._intern(inputs, results)

    def text(self, printer: ConstantPrinter, /) -> str:
        inputs = ", ".join(map(printer.type, self.inputs))
        results = ", ".join(map(printer.type, self.results))
        single = len(self.results) == 1 and not isinstance(self.results[0], FunctionType)
        return f"({inputs}) -> {results if single else f'({results})'}"


class DialectType(ElementType):
    """A dialect type that has no class here, stored and printed as it was read: `!dialect.mnemonic<body>`.

    `mnemonic` is "" for the form `!dialect<body>`; `body` is None without brackets. It may be the
    element of a tensor.
    """

    __slots__ = ("dialect", "mnemonic", "body")  # noqa: RUF023  the order of `_intern`

    dialect: str
    mnemonic: str
    body: str | None

    def __new__(cls, dialect: str, mnemonic: str, body: str | None = None) -> Self:
        name = f"!{dialect}{f'.{mnemonic}' if mnemonic else ''}{'' if body is None else f'<{body}>'}"
        return cls._intern(name, "dialect", 0, dialect, mnemonic, body)


token = DialectType("ml_program", "token")
"""The type of what orders operations with effects in a graph region."""


class UnknownType(Type):
    """The type of a value that is neither declared nor inferred: it may be any value.

    Only programs read from files without types have it; the actual type is known when it runs.
    """

    __slots__ = ()

    def text(self, _printer: ConstantPrinter, /) -> str:
        return "!builtin.unknown"


unknown = UnknownType()


def tensor(element: ElementType, *shape: Dim | None) -> TensorType:
    """Returns a tensor type: `tensor(f32, 2, 3)`. Raises: TypeError for another type than one of elements, and for
    dims that are in a sequence.
    """
    if not isinstance(element, ElementType):  # pyright: ignore[reportUnnecessaryIsInstance]  # for callers without types
        raise TypeError(f"tensor takes an element type, such as `commonir.ir.types.f32`, found {element!r}")
    if any(isinstance(d, tuple | list) for d in shape):
        raise TypeError(f"tensor takes dims one by one, as in `tensor(f32, 2, 3)`, found {shape[0]!r}")
    return TensorType(element, shape)


def have_like_parts(a: Type, b: Type) -> bool:
    """Returns whether two types are of one kind and consist of equally many parts."""
    return bool(a.parts) and type(a) is type(b) and len(a.parts) == len(b.parts)


def is_collection(type: Type) -> bool:
    """Returns whether values of a type consist of others: lists, tuples, maps, optional values and sparse tensors."""
    return bool(type.parts) or isinstance(type, SparseTensorType)


def tensors_in(type: Type) -> Iterator[TensorType]:
    """Yields the types of the tensors that a value of a type consists of, in order: itself, or those of its parts."""
    pending = [type]
    while pending:
        at = pending.pop()
        if isinstance(at, TensorType | SparseTensorType):
            yield at if isinstance(at, TensorType) else at.dense
        pending += reversed(at.parts)


def symbols_of(types: Iterable[Type]) -> dict[str, None]:
    """Returns names of the symbolic dimensions in types and their parts, in order of occurrence."""
    out: dict[str, None] = {}
    for t in types:
        for tensor in (t,) if isinstance(t, TensorType) else tensors_in(t):
            for d in tensor.shape or ():
                if isinstance(d, DimExpr):
                    out.update(dict.fromkeys(symbols(d)))
    return out


def with_known_dims(type: Type, source: Type) -> Type:
    """Returns a type with the dims of another type of the same value, where inference has none."""
    if not isinstance(type, TensorType) or not isinstance(source, TensorType):
        return type
    if type.shape is None:
        return type.with_shape(source.shape)
    if source.shape is None or len(source.shape) != len(type.shape) or None not in type.shape:
        return type
    return type.with_shape(tuple([s if n is None else n for n, s in zip(type.shape, source.shape, strict=True)]))
