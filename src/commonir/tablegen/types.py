"""Types of TableGen values.

Types are compared by value; records know their base classes.
Source: TableGen Programmer's Reference, types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonir.tablegen.records import Record


class Type:
    """A type without parameters: `bit`, `int`, `string` (also written `code`) or `dag`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def is_a(self, other: Type) -> bool:
        """Returns whether every value of this type is also of the other type, without conversion."""
        return self == other

    def converts_to(self, other: Type) -> bool:
        """Returns whether values of this type can be converted to the other type."""
        if self is other:
            return True
        if self is INT:
            return other is BIT or isinstance(other, BitsType)
        if self is BIT:
            return other is INT or (isinstance(other, BitsType) and other.width == 1)
        return False

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Type({self})"


BIT, INT, STRING, DAG = Type("bit"), Type("int"), Type("string"), Type("dag")


class BitsType(Type):
    """`bits<n>`."""

    __slots__ = ("width",)

    def __init__(self, width: int) -> None:
        super().__init__(f"bits<{width}>")
        self.width = width

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BitsType) and other.width == self.width

    def __hash__(self) -> int:
        return hash(self.width)

    def converts_to(self, other: Type) -> bool:
        return self == other or other is INT or (other is BIT and self.width == 1)


class ListType(Type):
    """`list<T>`."""

    __slots__ = ("element",)

    def __init__(self, element: Type) -> None:
        super().__init__(f"list<{element}>")
        self.element = element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListType) and other.element == self.element

    def __hash__(self) -> int:
        return hash((ListType, self.element))

    def is_a(self, other: Type) -> bool:
        return isinstance(other, ListType) and self.element.is_a(other.element)

    def converts_to(self, other: Type) -> bool:
        return isinstance(other, ListType) and self.element.converts_to(other.element)


class RecordType(Type):
    """Records that derive from some classes; without classes, any record."""

    __slots__ = ("classes",)

    def __init__(self, classes: tuple[Record, ...]) -> None:
        names = [each.name_text for each in classes]
        super().__init__(names[0] if len(names) == 1 else f"{{{', '.join(sorted(names))}}}")
        self.classes = classes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordType) and set(other.classes) == set(self.classes)

    def __hash__(self) -> int:
        return hash(frozenset(self.classes))

    def derives_from(self, expected: Record) -> bool:
        """Returns whether records of this type derive from a class."""
        return any(each is expected or each.derives_from(expected) for each in self.classes)

    def is_a(self, other: Type) -> bool:
        return isinstance(other, RecordType) and all(self.derives_from(each) for each in other.classes)

    def converts_to(self, other: Type) -> bool:
        return self.is_a(other)


ANY_RECORD = RecordType(())


def common_type(a: Type, b: Type) -> Type | None:
    """Returns the type to which values of both types convert, if there is one."""
    if a == b:
        return a
    if isinstance(a, RecordType) and isinstance(b, RecordType):
        return _common_record_type(a, b)
    if a.converts_to(b):
        return b
    if b.converts_to(a):
        return a
    if isinstance(a, ListType) and isinstance(b, ListType):
        element = common_type(a.element, b.element)
        return None if element is None else ListType(element)
    return None


def _common_record_type(a: RecordType, b: RecordType) -> RecordType:
    shared: list[Record] = []
    pending = list(reversed(a.classes))
    while pending:
        each = pending.pop()
        if b.derives_from(each):
            if each not in shared:
                shared.append(each)
        else:
            pending.extend(reversed(each.parents))
    return RecordType(tuple(shared))
