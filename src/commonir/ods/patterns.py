"""Type patterns of operands and results: an element type or variable, and a shape with named wildcards.

`"T[b*, m, k]"` is a tensor of element type `T` whose shape is any number of dimensions `b`, then `m`, then `k`. Equal
names stand for equal sizes within one operation. `*` alone matches any dimensions and correlates nothing; a number is
itself. `"f32[]"` is a scalar tensor, `"T[*]"` a tensor of any rank, and a pattern without brackets matches any type.
Source: Common IR specification, shapes of operator declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from commonir.ir.types import ELEMENT_TYPES, ElementType, TensorType, Type
from commonir.notation import Constraint, require
from commonir.symbolic import Dim


class ElementClass:
    """A set of element types; in the body of a definition a type variable, one choice for all of its uses."""

    __slots__ = ("members", "name")

    def __init__(self, members: Iterable[ElementType], name: str = "") -> None:
        self.members = frozenset(members)
        self.name = name

    def __contains__(self, element: ElementType) -> bool:
        return element in self.members

    def __or__(self, other: ElementClass) -> ElementClass:
        return ElementClass(self.members | other.members, " or ".join(n for n in (self.name, other.name) if n))

    def __str__(self) -> str:
        return self.name or ", ".join(sorted(m.name for m in self.members))


def element_type(*members: ElementType | ElementClass) -> ElementClass:
    """Declares a type variable that ranges over some element types."""
    found: set[ElementType] = set()
    for m in members:
        found |= m.members if isinstance(m, ElementClass) else {m}
    return ElementClass(found, members[0].name if len(members) == 1 else "")


_ALL = tuple(ELEMENT_TYPES.values())
any_element = ElementClass(_ALL, "any")
floats = ElementClass((e for e in _ALL if e.kind == "float"), "float")
signed_integers = ElementClass((e for e in _ALL if e.kind == "int"), "signed integer")
unsigned_integers = ElementClass((e for e in _ALL if e.kind == "uint"), "unsigned integer")
all_integers = ElementClass((e for e in _ALL if e.is_integer), "integer")
all_numbers = ElementClass((e for e in _ALL if e.is_numeric), "number")
_CLASSES = {"any": any_element, "float": floats, "int": all_integers, "number": all_numbers}


class Mismatch(Exception):
    """A type does not have the form of a pattern."""


class Pattern:
    """A parsed pattern. `dims` is None where any type is allowed."""

    __slots__ = ("dims", "element", "spec")

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.element, bracket, rest = spec.partition("[")
        self.dims: tuple[tuple[str, bool], ...] | None = None
        if bracket:
            names = [part.strip() for part in rest.removesuffix("]").split(",") if part.strip()]
            self.dims = tuple([(name.rstrip("*"), name.endswith("*")) for name in names])
            if sum(many for _, many in self.dims) > 1:
                raise ValueError(f"'{spec}' has more than one wildcard: matching would not be determined")

    def __str__(self) -> str:
        return self.spec


any_type = Pattern("any")


class Bindings:
    """What the names of a definition stand for in one operation."""

    __slots__ = ("constraints", "elements", "many", "one", "unranked")

    def __init__(self) -> None:
        self.one: dict[str, Dim] = {}
        self.many: dict[str, tuple[Dim, ...]] = {}
        self.elements: dict[str, ElementType] = {}
        self.constraints: tuple[Constraint, ...] = ()
        self.unranked = False

    def match(
        self,
        pattern: Pattern,
        type: Type,
        dims: tuple[Dim, ...] | None,
        variables: Mapping[str, ElementClass],
    ) -> None:
        """Matches one type. `dims` is its shape with a fresh symbol for each unknown dimension.

        Raises: Mismatch when element type or rank do not fit; NotationError when a dimension cannot.
        """
        if pattern.dims is None and pattern.element == "any":
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

    def _match_element(self, pattern: Pattern, found: ElementType, variables: Mapping[str, ElementClass]) -> None:
        name = pattern.element
        if name in variables:
            if found not in variables[name]:
                raise Mismatch(f"expected element type {variables[name]}, found {found}")
            before = self.elements.setdefault(name, found)
            if before is not found:
                raise Mismatch(f"expected element type {before} as of the other operands, found {found}")
        elif name in _CLASSES:
            if found not in _CLASSES[name]:
                raise Mismatch(f"expected element type {name}, found {found}")
        elif name and ELEMENT_TYPES.get(name) is not found:
            raise Mismatch(f"expected element type {name}, found {found}")

    def _match_shape(self, pattern: Pattern, names: tuple[tuple[str, bool], ...], dims: tuple[Dim, ...]) -> None:
        star = any(many for _, many in names)
        spare = len(dims) - len(names) + star
        if spare < 0 or (spare and not star):
            raise Mismatch(
                f"expected rank {len(names) - star}{' or more' if star else ''} ({pattern}), found rank {len(dims)}"
            )
        at = 0
        for name, many in names:
            size = dims[at : at + spare] if many else dims[at : at + 1]
            at += len(size)
            if name.isdigit():
                self.constraints += require(size[0], "==", int(name), f"dimension {at - 1} of {pattern}")
            elif name:
                self._bind(name, many, size)

    def _bind(self, name: str, many: bool, size: tuple[Dim, ...]) -> None:
        before = self.many.setdefault(name, size) if many else (self.one.setdefault(name, size[0]),)
        if len(before) != len(size):
            raise Mismatch(f"{name}* stands for {len(before)} dimensions elsewhere and for {len(size)} here")
        for a, b in zip(before, size, strict=True):
            if a is not b:
                self.constraints += require(a, "==", b, f"dimension {name}")

    def resolve(self, pattern: Pattern) -> TensorType | None:
        """The type a pattern stands for when all of its names are bound; None when they are not."""
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


__all__ = [
    "Bindings",
    "ElementClass",
    "Mismatch",
    "Pattern",
    "all_integers",
    "all_numbers",
    "any_element",
    "any_type",
    "element_type",
    "floats",
    "signed_integers",
    "unsigned_integers",
]
