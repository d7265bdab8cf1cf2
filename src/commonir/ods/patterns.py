"""Type patterns of operands and results: an element type or variable, and a shape with named wildcards.

`"T[b*, m, k]"` is a tensor of element type `T` whose shape is any number of dimensions `b`, then `m`, then `k`. Equal
names are equal dims within one operation. `*` alone matches any dims, which are independent of others; a number matches
itself. `"f32[]"` is a scalar tensor, `"T[*]"` a tensor of any rank, `"any"` any type, and a pattern without brackets
a tensor of any shape. `"list<T>"`, `"optional<T>"` and `"sparse<T>"` are a list, an optional value and a sparse tensor,
`"map<K[], T[]>"` is a map.
Source: Common IR specification, shapes of operator declarations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from commonir.ir.types import (
    ELEMENT_TYPES,
    DialectType,
    ElementType,
    ListType,
    MapType,
    OptionalType,
    SparseTensorType,
    TensorType,
    Type,
    are_known,
    have_like_parts,
)
from commonir.symbolic import Dim
from commonir.symbolic.constraints import Constraint, require


def version_number(version: str) -> int:
    """Returns the number at the end of a version name: 13 for `opset13`."""
    return int(version[len(version.rstrip("0123456789")) :] or 0)


class TypeVariable:
    """A set of types; all of its uses in a definition are one type of the set.

    `versions` has the sets by the version of the dialect from which they are valid, if they differ; the variable itself
    has the set of the newest.
    """

    __slots__ = ("name", "versions")

    name: str
    versions: Mapping[str, TypeVariable]

    def at(self, version: str) -> TypeVariable:
        """Returns the set for a version."""
        before = [v for v in self.versions if version_number(v) <= version_number(version)]
        return self.versions[max(before, key=version_number)] if before else self

    @property
    def elements(self) -> frozenset[ElementType]:
        """The element types of the tensors in the set."""
        return frozenset()

    def admits(self, type: Type) -> bool:
        """Returns whether a type is in the set."""
        raise NotImplementedError


class ElementClass(TypeVariable):
    """A set of element types, as a type variable of tensors of any shape."""

    __slots__ = ("members",)

    def __init__(
        self, members: Iterable[ElementType], name: str = "", versions: Mapping[str, TypeVariable] | None = None
    ) -> None:
        self.members = frozenset(members)
        self.name = name
        self.versions = versions or {}

    @property
    def elements(self) -> frozenset[ElementType]:
        return self.members

    def __contains__(self, element: ElementType) -> bool:
        return element in self.members

    def __or__(self, other: ElementClass) -> ElementClass:
        both = f"{self.name} or {other.name}" if self.name and other.name else ""
        return ElementClass(self.members | other.members, both)

    def admits(self, type: Type) -> bool:
        return isinstance(type, TensorType) and type.element in self.members

    def __str__(self) -> str:
        return self.name or ", ".join(sorted(m.name for m in self.members))


class SameAs(TypeVariable):
    """The set of another type variable of the definition, and the same choice."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.versions = {}


class TypeClass(TypeVariable):
    """A set of types of which not all are tensors."""

    __slots__ = ("members",)

    def __init__(self, members: Iterable[TypeVariable], versions: Mapping[str, TypeClass] | None = None) -> None:
        self.members = tuple(members)
        self.name = ""
        self.versions = versions or {}

    @property
    def elements(self) -> frozenset[ElementType]:
        return frozenset([e for m in self.members for e in m.elements])

    def admits(self, type: Type) -> bool:
        return any(m.admits(type) for m in self.members)

    def __str__(self) -> str:
        return ", ".join(map(str, self.members))


class AnyValue(TypeVariable):
    """All types of values."""

    __slots__ = ()

    def __init__(self) -> None:
        self.name = "any"
        self.versions = {}

    def admits(self, type: Type) -> bool:
        del type
        return True

    def __str__(self) -> str:
        return self.name


class Wrapped(TypeVariable):
    """Lists, optional values or sparse tensors of types of another set."""

    __slots__ = ("content", "wrapper")

    def __init__(self, wrapper: str, content: TypeVariable) -> None:
        self.wrapper = wrapper
        self.content = content
        self.name = ""
        self.versions = {}

    def admits(self, type: Type) -> bool:
        content = unwrapped(self.wrapper, type)
        return content is not None and self.content.admits(content)

    def __str__(self) -> str:
        return f"{self.wrapper}<{self.content}>"


class Mapped(TypeVariable):
    """Maps from the element types of one set to the types of another."""

    __slots__ = ("content", "key")

    def __init__(self, key: ElementClass, content: TypeVariable) -> None:
        self.key = key
        self.content = content
        self.name = ""
        self.versions = {}

    def admits(self, type: Type) -> bool:
        if not isinstance(type, MapType):
            return False
        key, value = map(as_value, type.parts)
        return self.key.admits(key) and self.content.admits(value)

    def __str__(self) -> str:
        return f"map<{self.key}, {self.content}>"


def as_value(type: Type) -> Type:
    """Returns a key or value of a map as the type of a value: an element type becomes a scalar tensor."""
    return TensorType(type, ()) if isinstance(type, ElementType) and not isinstance(type, DialectType) else type


_WRAPPERS = ("list", "optional", "sparse", "map")


def unwrapped(wrapper: str, type: Type) -> Type | None:
    """Returns the type nested in a list, an optional value or a sparse tensor, or that of the values of a map; None for
    other types.
    """
    match wrapper, type:
        case "map", MapType(value=value):
            return as_value(value)
        case ("list", ListType(element=element)) | ("optional", OptionalType(element=element)):
            return element
        case "sparse", SparseTensorType():
            return type.dense
        case _:
            return None


def wrapped(wrapper: str, content: Type) -> Type | None:
    """Returns a list, an optional value or a sparse tensor of a type; None where there is none."""
    match wrapper:
        case "list":
            return ListType(content)
        case "optional":
            return OptionalType(content)
        case _:
            return SparseTensorType(content.element, content.shape) if isinstance(content, TensorType) else None


def lists(content: TypeVariable) -> Wrapped:
    """Declares lists of the types of a set."""
    return Wrapped("list", content)


def optionals(content: TypeVariable) -> Wrapped:
    """Declares optional values of the types of a set."""
    return Wrapped("optional", content)


def sparse(content: TypeVariable) -> Wrapped:
    """Declares sparse tensors of the element types of a set."""
    return Wrapped("sparse", content)


def maps(key: ElementClass, content: TypeVariable) -> Mapped:
    """Declares maps from scalars of the element types of one set to the types of another."""
    return Mapped(key, content)


def types(*members: TypeVariable) -> TypeClass:
    """Declares a type variable that ranges over the types of several sets."""
    return TypeClass(members)


def same_as(name: str) -> SameAs:
    """Returns, for older versions, the type of another type variable: `by_version(v1=same_as("T"), v2=FLOATS)`."""
    return SameAs(name)


def by_version(**versions: ElementClass | SameAs) -> ElementClass:
    """Declares a type variable whose set of element types grows with the versions of the dialect.

    Each set is valid from the version of its name: `by_version(opset7=FLOATS_1, opset22=FLOATS)`.
    """
    newest = versions[max(versions, key=version_number)]
    if isinstance(newest, SameAs):
        raise ValueError(f"the newest version has no element types of its own: it is the same as '{newest.name}'")
    return ElementClass(newest.members, newest.name, versions)


def types_by_version(**versions: TypeClass) -> TypeClass:
    """Declares, as `by_version`, a type variable for sets of which not all types are tensors."""
    return TypeClass(versions[max(versions, key=version_number)].members, versions)


def element_type(*members: ElementType | ElementClass) -> ElementClass:
    """Declares a type variable that ranges over some element types."""
    element_types: set[ElementType] = set()
    for m in members:
        element_types |= m.members if isinstance(m, ElementClass) else {m}
    return ElementClass(element_types, members[0].name if len(members) == 1 else "")


any_value = TypeClass([AnyValue()])
"""Any type of values; all of its uses in a definition are one type, up to shapes."""

_ALL = tuple(ELEMENT_TYPES.values())
any_element = ElementClass(_ALL, "any")
floats = ElementClass((e for e in _ALL if e.kind == "float"), "float")
signed_integers = ElementClass((e for e in _ALL if e.kind == "int"), "signed integer")
unsigned_integers = ElementClass((e for e in _ALL if e.kind == "uint"), "unsigned integer")
all_integers = ElementClass((e for e in _ALL if e.is_integer), "integer")
all_numbers = ElementClass((e for e in _ALL if e.is_numeric), "number")
CLASSES = {"any": any_element, "float": floats, "int": all_integers, "number": all_numbers}
"""Sets of element types that patterns may name without declaring a variable."""


_DIM = re.compile(r"\?|\??(?:\w+\*?|\*)")


class Mismatch(Exception):
    """A type does not match a pattern."""


class Pattern:
    """A parsed pattern.

    `dims` is None for any shape, `has_wildcard` whether one of them matches several dims; `content` is the
    pattern nested in a list, an optional value or a sparse tensor, by `wrapper`, or that of the values of a map, whose
    keys match `key`.
    """

    __slots__ = ("content", "dims", "element", "has_wildcard", "key", "spec", "wrapper")

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.wrapper, bracket, nested = spec.partition("<")
        self.content: Pattern | None = None
        self.key: Pattern | None = None
        self.has_wildcard = False
        if bracket and spec.partition("[")[0] not in ELEMENT_TYPES:
            if self.wrapper not in _WRAPPERS or not nested.endswith(">"):
                raise ValueError(f"'{spec}' is neither a tensor nor one of {', '.join(_WRAPPERS)} of a type")
            key, comma, value = nested[:-1].partition(", ") if self.wrapper == "map" else ("", "", nested[:-1])
            self.key = Pattern(key) if comma else None
            self.content = Pattern(value)
            self.element = self.content.element
            self.dims = None
            return
        self.wrapper = ""
        self.element, bracket, rest = spec.partition("[")
        self.dims: tuple[tuple[str, bool], ...] | None = None
        if bracket:
            if not rest.endswith("]"):
                raise ValueError(f"the type pattern '{spec}' does not end with ']'")
            names = [part.strip() for part in rest.removesuffix("]").split(",") if part.strip()]
            wrong = next((name for name in names if _DIM.fullmatch(name) is None), None)
            if wrong is not None:
                raise ValueError(f"'{wrong}' in the type pattern '{spec}' is not a dim: n, 3, or s* for any number")
            self.dims = tuple([(name.rstrip("*").removeprefix("?"), name.endswith("*")) for name in names])
            wildcards = sum(many for _, many in self.dims)
            self.has_wildcard = wildcards > 0
            if wildcards > 1:
                raise ValueError(f"'{spec}' has more than one wildcard: matching would not be determined")

    def __str__(self) -> str:
        return self.spec

    def with_element(self, element: str) -> Pattern:
        """Returns the pattern with another element type or type variable."""
        if self.content is not None:
            return Pattern(f"{self.wrapper}<{self.content.with_element(element)}>")
        return Pattern(element + self.spec.removeprefix(self.element))


class TypeConstraint(Pattern):
    """A named set of types, as in MLIR: `admits` returns whether a type is in it.

    `summary` completes `must be ...`; `builds` is the only type of the set, if a text may omit it. `short` is the type,
    `dialect.mnemonic`, of which forms write only the part in brackets. `is_buildable`: texts may omit the type,
    although only C++ may know it.
    """

    __slots__ = ("admits", "builds", "is_buildable", "name", "short", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        admits: Callable[[Type], bool],
        builds: Type | None = None,
        short: str = "",
        *,
        is_buildable: bool = False,
    ) -> None:
        self.is_buildable = is_buildable or builds is not None
        super().__init__("any")
        self.short = short
        self.name = name
        self.summary = summary
        self.admits = admits
        self.builds = builds

    def __str__(self) -> str:
        return self.summary


any_type = Pattern("any")


class Bindings:
    """The bindings of a definition's names in one operation."""

    __slots__ = ("constraints", "elements", "many", "one", "types", "unranked")

    def __init__(self) -> None:
        self.types: dict[str, Type] = {}
        self.one: dict[str, Dim] = {}
        self.many: dict[str, tuple[Dim, ...]] = {}
        self.elements: dict[str, ElementType] = {}
        self.constraints: tuple[Constraint, ...] = ()
        self.unranked = False

    def match(
        self, pattern: Pattern, type: Type, dims: tuple[Dim, ...] | None, variables: Mapping[str, TypeVariable]
    ) -> None:
        """Matches one type. `dims` is its shape with a fresh symbol for each unknown dimension.

        Raises: Mismatch when the element type or the rank differs; NotationError when a dimension does.
        """
        if isinstance(pattern, TypeConstraint):
            if not pattern.admits(type):
                raise Mismatch(f"must be {pattern.summary}, found {type}")
            return
        if pattern.dims is None and pattern.element == "any" and not pattern.wrapper:
            return
        if pattern.content is not None:
            content = unwrapped(pattern.wrapper, type)
            if content is None:
                raise Mismatch(f"expected {pattern}, found {type}")
            if pattern.key is not None and isinstance(type, MapType):
                self.match(pattern.key, as_value(type.key), (), variables)
            self.match(pattern.content, content, known_shape(content), variables)
            return
        variable = variables.get(pattern.element)
        if isinstance(variable, TypeClass):
            self._match_type(pattern.element, variable, type)
            return
        if not isinstance(type, TensorType):
            raise Mismatch(f"expected a tensor {pattern}, found {type}")
        self._match_element(pattern, type.element, variables)
        if pattern.dims is None:
            return
        if dims is None:
            self.unranked = True
            return
        self._match_shape(pattern, pattern.dims, dims)

    def _match_type(self, name: str, variable: TypeClass, type: Type) -> None:
        if not variable.admits(type):
            raise Mismatch(f"expected one of {variable}, found {type}")
        before = self.types.setdefault(name, type)
        if not differ_only_in_shape(before, type):
            raise Mismatch(f"expected a type as of the other operands, {before}, found {type}")

    def _match_element(self, pattern: Pattern, element: ElementType, variables: Mapping[str, TypeVariable]) -> None:
        name = pattern.element
        variable = variables.get(name)
        if isinstance(variable, ElementClass):
            if element not in variable:
                raise Mismatch(f"expected element type {variable}, found {element}")
            before = self.elements.setdefault(name, element)
            if before is not element:
                raise Mismatch(f"expected element type {before} as of the other operands, found {element}")
        elif name in CLASSES:
            if element not in CLASSES[name]:
                raise Mismatch(f"expected element type {name}, found {element}")
        elif name and ELEMENT_TYPES.get(name) is not element:
            raise Mismatch(f"expected element type {name}, found {element}")

    def _match_shape(self, pattern: Pattern, names: tuple[tuple[str, bool], ...], dims: tuple[Dim, ...]) -> None:
        star = pattern.has_wildcard
        spare = len(dims) - len(names) + star
        if spare < 0 or (spare and not star):
            raise Mismatch(
                f"expected rank {len(names) - star}{' or more' if star else ''} ({pattern}), found rank {len(dims)}"
            )
        at = 0
        for name, many in names:
            matched = dims[at : at + spare] if many else dims[at : at + 1]
            at += len(matched)
            if name.isdigit():
                self.constraints += require(matched[0], "==", int(name), f"dimension {at - 1} of {pattern}")
            elif name:
                self._bind(name, many, matched)

    def _bind(self, name: str, many: bool, dims: tuple[Dim, ...]) -> None:
        before = self.many.setdefault(name, dims) if many else (self.one.setdefault(name, dims[0]),)
        if before is dims:
            return
        if len(before) != len(dims):
            raise Mismatch(f"{name}* stands for {len(before)} dimensions elsewhere and for {len(dims)} here")
        for a, b in zip(before, dims, strict=True):
            if a is not b:
                self.constraints += require(b, "==", a, f"dimension {name}")

    def resolve(self, pattern: Pattern) -> Type | None:
        """Returns the type of a pattern when all of its names are bound; None when they are not."""
        if isinstance(pattern, TypeConstraint):
            return pattern.builds
        if pattern.content is not None:
            content = self.resolve(pattern.content) or self._of_unknown_rank(pattern.content)
            key = None if pattern.key is None else self.resolve(pattern.key)
            if isinstance(key, TensorType) and content is not None:
                return MapType(key.element, content)
            return None if content is None else wrapped(pattern.wrapper, content)
        if pattern.element in self.types:
            return self.types[pattern.element]
        element = self.elements.get(pattern.element) or ELEMENT_TYPES.get(pattern.element)
        if element is None or pattern.dims is None:
            return None
        shape: list[Dim] = []
        for name, many in pattern.dims:
            if many and name in self.many:
                shape += self.many[name]
            elif not many and name in self.one:
                shape.append(self.one[name])
            elif name.isdigit():
                shape.append(int(name))
            else:
                return TensorType(element, None) if self.unranked else None
        return TensorType(element, tuple(shape))

    def _of_unknown_rank(self, pattern: Pattern) -> TensorType | None:
        element = self.elements.get(pattern.element) or ELEMENT_TYPES.get(pattern.element)
        return None if element is None else TensorType(element, None)


def known_shape(type: Type) -> tuple[Dim, ...] | None:
    """Returns the shape of a tensor if all its dimensions are known, else None."""
    shape = type.shape if isinstance(type, TensorType) else None
    return shape if are_known(shape) else None


def differ_only_in_shape(a: Type, b: Type) -> bool:
    """Returns whether two types differ only in the shapes of tensors."""
    match a, b:
        case TensorType(), TensorType():
            return a.element is b.element
        case SparseTensorType(), SparseTensorType():
            return a.element is b.element
        case _ if have_like_parts(a, b):
            return all(map(differ_only_in_shape, a.parts, b.parts))
        case _:
            return a is b
