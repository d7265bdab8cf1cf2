"""Types of values: interned, immutable, compared by identity.

Two requests for the same type give the same object, so `is` and a dictionary look-up compare types in constant time.
Element types cover the five formats this project reads; their names are those of MLIR where MLIR has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, Self

from commonir.ir.interning import Interned
from commonir.symbolic import Dim, DimExpr, symbols, text

UnknownDim = None
Shape = tuple[Dim | None, ...]

ElementKind = Literal["bool", "int", "uint", "float", "complex", "string", "handle"]


class Type(Interned):
    """A type of values."""

    __slots__ = ()

    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self)


class ElementType(Type):
    """The type of one element of a tensor, and of a scalar value.

    Units: `bits` is the width in storage before packing; 0 for strings and handles.
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
        """Whether it is a signed or unsigned integer type (not bool)."""
        return self.kind in ("int", "uint")

    @property
    def is_numeric(self) -> bool:
        """Whether arithmetic is defined on it."""
        return self.kind in ("int", "uint", "float", "complex")

    def size_bytes(self, count: int) -> int:
        """Bytes that `count` packed elements take."""
        return (count * self.bits + 7) // 8

    def __str__(self) -> str:
        return self.name


boolean = ElementType("i1", "bool", 8)
"""A truth value; stored as one byte. Printed `i1`, as in MLIR."""
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
complex64 = ElementType("complex<f32>", "complex", 64)
complex128 = ElementType("complex<f64>", "complex", 128)
string = ElementType("!builtin.string", "string", 0)
handle = ElementType("!builtin.handle", "handle", 0)

ELEMENT_TYPES: Mapping[str, ElementType] = MappingProxyType(
    {value.name: value for value in tuple(globals().values()) if isinstance(value, ElementType)}
)
"""Every element type by its name in the text form."""


class IndexType(Type):
    """An integer of the width of the machine, for positions; MLIR's `index`."""

    __slots__ = ()

    def __str__(self) -> str:
        return "index"


class NoneType(Type):
    """The type with one value; MLIR's `none`."""

    __slots__ = ()

    def __str__(self) -> str:
        return "none"


class TokenType(Type):
    """Orders operations with effects in a graph region; ml_program's token."""

    __slots__ = ()

    def __str__(self) -> str:
        return "!ml_program.token"


index = IndexType()
none = NoneType()
token = TokenType()


class TensorType(Type):
    """A dense tensor of one element type.

    `shape` is None for unknown rank. A dimension is an `int`, a symbolic expression, or None when nothing is known of
    it: two unknown dimensions are never taken to be equal.
    """

    __slots__ = ("element", "shape")

    element: ElementType
    shape: Shape | None

    def __new__(cls, element: ElementType, shape: Shape | None) -> Self:
        return cls._intern(element, shape)

    @property
    def rank(self) -> int | None:
        """Number of dimensions, None when unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every dimension is a number."""
        return self.shape is not None and all(type(d) is int for d in self.shape)

    @property
    def static_shape(self) -> tuple[int, ...]:
        """The shape as numbers.

        Raises: ValueError when a dimension is not a number.
        """
        if self.shape is None:
            raise ValueError(f"{self} has no static shape")
        dims: list[int] = []
        for d in self.shape:
            if not isinstance(d, int):
                raise ValueError(f"{self} has no static shape")
            dims.append(d)
        return tuple(dims)

    @property
    def count(self) -> int:
        """Number of elements of a static tensor. Raises: ValueError when a dimension is not a number."""
        out = 1
        for d in self.static_shape:
            out *= d
        return out

    def with_shape(self, shape: Shape | None) -> TensorType:
        """The same element type under another shape."""
        return TensorType(self.element, shape)

    def with_element(self, element: ElementType) -> TensorType:
        """The same shape with another element type."""
        return TensorType(element, self.shape)

    def __str__(self) -> str:
        if self.shape is None:
            return f"tensor<*x{self.element}>"
        return f"tensor<{''.join(f'{dim_text(d)}x' for d in self.shape)}{self.element}>"


def dim_text(dim: Dim | None) -> str:
    """A dimension as it is printed inside a tensor type: a number, `?`, or a quoted expression."""
    if dim is None:
        return "?"
    if isinstance(dim, int):
        return str(dim)
    return f'"{text(dim)}"'


class SparseTensorType(Type):
    """A tensor held as the elements that are not zero and their places; its shape is that of the dense one."""

    __slots__ = ("element", "shape")

    element: ElementType
    shape: Shape | None

    def __new__(cls, element: ElementType, shape: Shape | None) -> Self:
        return cls._intern(element, shape)

    @property
    def dense(self) -> TensorType:
        """The dense tensor with the same elements."""
        return TensorType(self.element, self.shape)

    def __str__(self) -> str:
        return f"!builtin.sparse<{self.dense}>"


class ListType(Type):
    """A list of values of one type; `length` is None when it may change."""

    __slots__ = ("element", "length")

    element: Type
    length: Dim | None

    def __new__(cls, element: Type, length: Dim | None = None) -> Self:
        return cls._intern(element, length)

    def __str__(self) -> str:
        return f"!builtin.list<{self.element}{'' if self.length is None else f', {self.length}'}>"


class TupleType(Type):
    """A fixed number of values, each of its own type; MLIR's `tuple`."""

    __slots__ = ("elements",)

    elements: tuple[Type, ...]

    def __new__(cls, elements: tuple[Type, ...]) -> Self:
        return cls._intern(elements)

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.elements))}>"


class MapType(Type):
    """A dictionary from scalar keys to values."""

    __slots__ = ("key", "value")

    key: Type
    value: Type

    def __new__(cls, key: Type, value: Type) -> Self:
        return cls._intern(key, value)

    def __str__(self) -> str:
        return f"!builtin.map<{self.key}, {self.value}>"


class OptionalType(Type):
    """A value that may be absent."""

    __slots__ = ("element",)

    element: Type

    def __new__(cls, element: Type) -> Self:
        return cls._intern(element)

    def __str__(self) -> str:
        return f"!builtin.optional<{self.element}>"


class StateType(Type):
    """Storage that keeps its contents between calls."""

    __slots__ = ("element",)

    element: Type

    def __new__(cls, element: Type) -> Self:
        return cls._intern(element)

    def __str__(self) -> str:
        return f"!builtin.state<{self.element}>"


class FunctionType(Type):
    """What a function receives and returns."""

    __slots__ = ("inputs", "results")

    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __new__(cls, inputs: tuple[Type, ...], results: tuple[Type, ...]) -> Self:
        return cls._intern(inputs, results)

    def __str__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        results = ", ".join(map(str, self.results))
        single = len(self.results) == 1 and not isinstance(self.results[0], FunctionType)
        return f"({inputs}) -> {results if single else f'({results})'}"


class DialectType(Type):
    """A type of a dialect that has no class here: kept and printed as it was read."""

    __slots__ = ("dialect", "name", "body")  # noqa: RUF023  the order of `_intern`

    dialect: str
    name: str
    body: str

    def __new__(cls, dialect: str, name: str, body: str = "") -> Self:
        return cls._intern(dialect, name, body)

    def __str__(self) -> str:
        return f"!{self.dialect}.{self.name}{f'<{self.body}>' if self.body else ''}"


unknown = DialectType("builtin", "unknown")
"""The type of a value of which a program says nothing and nothing can be inferred: any value may be of it.

Only programs read from files without types have it, where an engine decides when it gets there.
"""


def tensor(element: ElementType, *shape: Dim | None) -> TensorType:
    """A tensor type, written shortly: `tensor(f32, 2, 3)`."""
    return TensorType(element, shape)


def symbols_of(types: Iterable[Type]) -> dict[str, None]:
    """Names of the symbolic dimensions in tensor types, in order of occurrence."""
    out: dict[str, None] = {}
    for t in types:
        if isinstance(t, TensorType) and t.shape is not None:
            for d in t.shape:
                if isinstance(d, DimExpr):
                    out.update(dict.fromkeys(symbols(d)))
    return out
