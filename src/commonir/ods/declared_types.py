"""Types of the parameters that a file declares: any type of value, with names and wildcards in shapes.

`f32[n, m*]` is a dense tensor, and within one declaration equal names are equal dims; `?` and `*` have no name;
`f32[]` is a scalar and `f32` a tensor of any shape. They may be nested in `sparse<...>`, `list<...>`, `optional<...>`,
`tuple<..., ...>` and `map<key, value>`; `!dialect.mnemonic<...>` is of a dialect, and `any` is any type. A shape has at
most one wildcard, so that names are unambiguous.

Source: Common IR specification, standard data types and tensor shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from commonir.base.suggestions import did_you_mean
from commonir.ir.types import (
    ELEMENT_TYPES,
    DialectType,
    ElementType,
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    symbols_of,
    unknown,
)
from commonir.notation import Constraint, require, without_implied
from commonir.ods.patterns import Bindings, ElementClass, Mismatch, Pattern, as_value
from commonir.symbolic import Dim, DimExpr, symbol, symbols

MAX_DEPTH = 32
"""The deepest nesting of types, which are read by recursion."""

_ELEMENT = re.compile(r"complex<f(?:32|64)>|!?[A-Za-z_][\w.]*")
_DIALECT_TYPE = re.compile(r"!(?!builtin\.)([A-Za-z_]\w*)\.([A-Za-z_]\w*)<([^<>]*)>")
_DIMENSION = re.compile(r"\d{1,18}|[A-Za-z_]\w*\*?|[*?]")


class TwoWildcards(ValueError):
    """A shape has more than one wildcard, so that names would be ambiguous."""


class Undetermined(Exception):
    """The type of a parameter cannot be inferred."""


class DeclaredType:
    """The declared type of a parameter."""

    __slots__ = ()

    def match(self, unification: Unification, type: Type) -> None:
        """Matches the type of a value. Raises: Mismatch or NotationError when it does not fit."""
        raise NotImplementedError

    def resolve(self, unification: Unification) -> Type:
        """Returns the resolved type, with unknown dims where they are not determined. Raises: Undetermined."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[DeclaredType, ...]:
        """The nested types."""
        return ()

    def leaves(self) -> Iterator[TensorOf]:
        """Yields the nested tensors, in order."""
        pending: list[DeclaredType] = [self]
        while pending:
            at = pending.pop()
            if isinstance(at, TensorOf):
                yield at
            pending.extend(reversed(at.parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeclaredType) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"<declared type {self}>"


class AnyOf(DeclaredType):
    """Any type."""

    __slots__ = ()

    def match(self, unification: Unification, type: Type) -> None:
        del unification, type

    def resolve(self, unification: Unification) -> Type:
        del unification
        raise Undetermined

    def __str__(self) -> str:
        return "any"


class TensorOf(DeclaredType):
    """A dense tensor, or a sparse one."""

    __slots__ = ("is_sparse", "pattern")

    def __init__(self, pattern: Pattern, is_sparse: bool = False) -> None:
        self.pattern = pattern
        self.is_sparse = is_sparse

    @property
    def dimensions(self) -> tuple[tuple[str, bool], ...]:
        """Names of dimensions, each with whether it is a wildcard; empty for any shape."""
        return self.pattern.dims or ()

    def match(self, unification: Unification, type: Type) -> None:
        match type:
            case TensorType() if not self.is_sparse:
                unification.tensor(self.pattern, type)
            case SparseTensorType(element=element, shape=shape) if self.is_sparse:
                unification.tensor(self.pattern, TensorType(element, shape))
            case _:
                raise Mismatch(f"expected {self}, found {type}")

    def resolve(self, unification: Unification) -> Type:
        result = unification.resolved(self.pattern)
        return SparseTensorType(result.element, result.shape) if self.is_sparse else result

    def __str__(self) -> str:
        return f"sparse<{self.pattern}>" if self.is_sparse else str(self.pattern)


class _Wrapped(DeclaredType):
    """A type with one nested type."""

    __slots__ = ("element",)

    wrapper: ClassVar[type[ListType | OptionalType]]
    keyword: ClassVar[str]

    def __init__(self, element: DeclaredType) -> None:
        self.element = element

    @property
    def parts(self) -> tuple[DeclaredType, ...]:
        return (self.element,)

    def match(self, unification: Unification, type: Type) -> None:
        if not isinstance(type, self.wrapper):
            raise Mismatch(f"expected {self}, found {type}")
        unification.match(self.element, type.element)

    def resolve(self, unification: Unification) -> Type:
        return self.wrapper(self.element.resolve(unification))

    def __str__(self) -> str:
        return f"{self.keyword}<{self.element}>"


class ListOf(_Wrapped):
    """A list of values of one type."""

    __slots__ = ()

    wrapper = ListType
    keyword = "list"


class OptionalOf(_Wrapped):
    """A value that may be absent."""

    __slots__ = ()

    wrapper = OptionalType
    keyword = "optional"


class TupleOf(DeclaredType):
    """A fixed number of values, each of its own type."""

    __slots__ = ("elements",)

    def __init__(self, elements: Iterable[DeclaredType]) -> None:
        self.elements = tuple(elements)

    @property
    def parts(self) -> tuple[DeclaredType, ...]:
        return self.elements

    def match(self, unification: Unification, type: Type) -> None:
        if not isinstance(type, TupleType) or len(type.elements) != len(self.elements):
            raise Mismatch(f"expected {self}, found {type}")
        for declared, types in zip(self.elements, type.elements, strict=True):
            unification.match(declared, types)

    def resolve(self, unification: Unification) -> Type:
        return TupleType(tuple([e.resolve(unification) for e in self.elements]))

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.elements))}>"


class MapOf(DeclaredType):
    """A map from keys to values."""

    __slots__ = ("key", "value")

    def __init__(self, key: DeclaredType, value: DeclaredType) -> None:
        self.key = key
        self.value = value

    @property
    def parts(self) -> tuple[DeclaredType, ...]:
        return (self.key, self.value)

    def match(self, unification: Unification, type: Type) -> None:
        if not isinstance(type, MapType):
            raise Mismatch(f"expected {self}, found {type}")
        unification.match(self.key, as_value(type.key))
        unification.match(self.value, as_value(type.value))

    def resolve(self, unification: Unification) -> Type:
        key = self.key.resolve(unification)
        return MapType(key.element if isinstance(key, TensorType) else key, self.value.resolve(unification))

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"


class DialectOf(DeclaredType):
    """A type of a dialect that says nothing of its contents, such as `!onnx.opaque<com.example::Tree>`."""

    __slots__ = ("type",)

    def __init__(self, type: DialectType) -> None:
        self.type = type

    def match(self, unification: Unification, type: Type) -> None:
        del unification
        if type is not self.type:
            raise Mismatch(f"expected {self}, found {type}")

    def resolve(self, unification: Unification) -> Type:
        del unification
        return self.type

    def __str__(self) -> str:
        return str(self.type)


# -- unification


class Unification:
    """Bindings of the names of one declaration for one use of it, over known, symbolic and unknown dims.

    An unknown dimension gets a temporary symbol during unification. Two symbols of the program that must be equal
    become a constraint and remain two symbols.
    """

    def __init__(self, variables: Mapping[str, ElementClass], types: Iterable[Type]) -> None:
        self.variables = variables
        self.is_partial = False
        self._bindings = Bindings()
        self._taken = set(symbols_of(types))
        self._own: dict[Dim, Dim] = {}
        self._resolved_count = 0
        self._undecided: list[Constraint] = []

    def match(self, declared: DeclaredType, type: Type) -> None:
        """Matches the type of one value. Raises: Mismatch or NotationError when it does not fit."""
        if type is unknown:
            self.is_partial = True
            return
        declared.match(self, type)
        self._resolve_symbols()

    def tensor(self, pattern: Pattern, type: TensorType) -> None:
        """Matches a dense tensor type."""
        dims = None if type.shape is None else tuple([self._fresh() if d is None else d for d in type.shape])
        self._bindings.match(pattern, type, dims, self.variables)

    def _fresh(self) -> Dim:
        name = f"?{len(self._own)}"
        while name in self._taken:
            name += "'"
        self._taken.add(name)
        result = symbol(name, 0)
        self._own[result] = result
        return result

    def _resolve_symbols(self) -> None:
        """Resolves temporary symbols. Raises: NotationError when one would be equal to two different dims."""
        pending = self._bindings.constraints[self._resolved_count :]
        self._resolved_count += len(pending)
        for c in pending:
            lhs, rhs = self._root(c.lhs), self._root(c.rhs)
            if lhs in self._own:
                self._own[lhs] = rhs
            elif rhs in self._own:
                self._own[rhs] = lhs
            else:
                self._undecided.extend(require(lhs, "==", rhs, c.why))

    def _root(self, dim: Dim) -> Dim:
        while dim in self._own and self._own[dim] is not dim:
            dim = self._own[dim]
        return dim

    def _resolved_dim(self, dim: Dim) -> Dim | None:
        root = self._root(dim)
        return None if root in self._own else root

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints on symbols of the program, which their values decide."""
        return without_implied(c for c in self._undecided if not any(name.startswith("?") for name in c.symbols))

    @property
    def dims(self) -> dict[str, Dim]:
        """The known bindings of names of single dimensions."""
        dims = {name: self._resolved_dim(d) for name, d in self._bindings.one.items()}
        return {name: d for name, d in dims.items() if d is not None}

    @property
    def elements(self) -> Mapping[str, ElementType]:
        """The known bindings of type variables."""
        return self._bindings.elements

    def resolved(self, pattern: Pattern) -> TensorType:
        """Returns the tensor type of a pattern, with unknown dims or rank where they are not determined.

        Raises: Undetermined when its element type is not known.
        """
        bound = self._bindings
        element = bound.elements.get(pattern.element) or ELEMENT_TYPES.get(pattern.element)
        variable = self.variables.get(pattern.element)
        if element is None and variable is not None and len(variable.members) == 1:
            element = next(iter(variable.members))
        if element is None:
            raise Undetermined
        if pattern.dims is None:
            return TensorType(element, None)
        shape: list[Dim | None] = []
        for name, is_many in pattern.dims:
            if is_many:
                if not name or name not in bound.many:
                    return TensorType(element, None)
                shape += [self._resolved_dim(d) for d in bound.many[name]]
            elif name.isdigit():
                shape.append(int(name))
            else:
                shape.append(self._resolved_dim(bound.one[name]) if name in bound.one else None)
        return TensorType(element, tuple(shape))


# -- reading


def declared_type(text: str, variables: Iterable[str] = ()) -> DeclaredType:
    """Parses a declared type. Raises: ValueError for an invalid text."""
    return _Reader(text, frozenset(variables)).read()


_WRAPPERS = ("list", "optional", "sparse", "tuple", "map")


class _Reader:
    """Parses the text of a declared type."""

    def __init__(self, text: str, variables: frozenset[str]) -> None:
        self.text = text
        self.at = 0
        self.variables = variables

    def read(self) -> DeclaredType:
        result = self._type(0)
        self._skip()
        if self.at < len(self.text):
            raise self._wrong(f"nothing may follow, found '{self.text[self.at :]}'")
        return result

    def _wrong(self, message: str) -> ValueError:
        return ValueError(f"'{self.text}' is not a type: {message}")

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _take(self, char: str) -> bool:
        self._skip()
        if not self.text.startswith(char, self.at):
            return False
        self.at += len(char)
        return True

    def _type(self, depth: int) -> DeclaredType:
        if depth > MAX_DEPTH:
            raise self._wrong(f"it nests deeper than {MAX_DEPTH}")
        self._skip()
        match = _DIALECT_TYPE.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
            return DialectOf(DialectType(match[1], match[2], match[3]))
        match = _ELEMENT.match(self.text, self.at)
        if match is None:
            raise self._wrong("expected an element type or a collection")
        self.at = match.end()
        word = match[0]
        if word in _WRAPPERS and self._take("<"):
            return self._wrapped(word, depth)
        if word == "any" and not self._take("["):
            return AnyOf()
        if word not in ELEMENT_TYPES and word not in self.variables:
            near = did_you_mean(word, [*self.variables, *ELEMENT_TYPES, *_WRAPPERS])
            raise self._wrong(f"'{word}' is not an element type" + (f"; {near}" if near else ""))
        return TensorOf(self._tensor(word))

    def _tensor(self, element: str) -> Pattern:
        if not self._take("["):
            return Pattern(element)
        end = self.text.find("]", self.at)
        if end < 0:
            raise self._wrong("']' is missing")
        names = [part.strip() for part in self.text[self.at : end].split(",")]
        self.at = end + 1
        if names == [""]:
            return Pattern(f"{element}[]")
        for name in names:
            if not _DIMENSION.fullmatch(name):
                raise self._wrong(f"'{name}' is not a dimension: a number, a name, '?', '*' or a name followed by '*'")
        if sum(name.endswith("*") for name in names) > 1:
            text = "a shape has at most one wildcard, or what names stand for would not be determined"
            raise TwoWildcards(str(self._wrong(text)))
        return Pattern(f"{element}[{', '.join(names)}]")

    def _wrapped(self, word: str, depth: int) -> DeclaredType:
        parts: list[DeclaredType] = []
        if not self._take(">"):
            while True:
                parts.append(self._type(depth + 1))
                if self._take(">"):
                    break
                if not self._take(","):
                    raise self._wrong("expected ',' or '>'")
        if word == "tuple":
            return TupleOf(parts)
        expected = 2 if word == "map" else 1
        if len(parts) != expected:
            raise self._wrong(f"{word}<...> is of {expected} type{'s' * (expected > 1)}, not {len(parts)}")
        first = parts[0]
        match word:
            case "list":
                return ListOf(first)
            case "optional":
                return OptionalOf(first)
            case "map":
                return MapOf(first, parts[1])
            case _:
                if not isinstance(first, TensorOf) or first.is_sparse:
                    raise self._wrong(f"sparse<...> is of a dense tensor, not of {first}")
                return TensorOf(first.pattern, is_sparse=True)


def as_declared(type: Type) -> DeclaredType:
    """Returns the type of a value in the form of declarations; dims that are neither names nor numbers are `?`."""
    match type:
        case TensorType():
            return TensorOf(_pattern_of(type))
        case SparseTensorType(element=element, shape=shape):
            return TensorOf(_pattern_of(TensorType(element, shape)), is_sparse=True)
        case ListType(element=element):
            return ListOf(as_declared(element))
        case OptionalType(element=element):
            return OptionalOf(as_declared(element))
        case TupleType(elements=elements):
            return TupleOf(map(as_declared, elements))
        case MapType(key=key, value=value):
            return MapOf(as_declared(as_value(key)), as_declared(as_value(value)))
        case DialectType():
            return DialectOf(type)
        case _:
            return AnyOf()


def _pattern_of(type: TensorType) -> Pattern:
    if type.shape is None:
        return Pattern(type.element.name)
    return Pattern(f"{type.element}[{', '.join([_name_of(d) or '?' for d in type.shape])}]")


def _name_of(dim: Dim | None) -> str | None:
    """Returns a dimension in the form of declarations; None for one that is unknown or an expression."""
    if isinstance(dim, DimExpr):
        name = next(iter(symbols(dim)), "")
        return name if dim in (symbol(name), symbol(name, 0)) and name.isidentifier() else None
    return None if dim is None else str(dim)


def conflicting_names(declared: Iterable[DeclaredType]) -> tuple[str, ...]:
    """Returns names that are used both for one dimension and for any number of them."""
    one: dict[str, None] = {}
    many: dict[str, None] = {}
    for leaf in (leaf for d in declared for leaf in d.leaves()):
        for name, is_many in leaf.dimensions:
            if name and not name.isdigit():
                (many if is_many else one)[name] = None
    return tuple([name for name in one if name in many])
