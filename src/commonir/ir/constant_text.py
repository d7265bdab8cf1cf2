"""The common base of types and attributes, and how both are printed.

A type or attribute prints itself by its method `text`, and everything nested in it through the printer, so that a
printer can put an alias for any part. Classes of dialects do the same. Source: MLIR language reference, types and
attributes.
"""

from __future__ import annotations

from typing import Literal

from commonir.ir.interning import Interned

DEFAULT_ELISION = 16
"""By default, constants with more elements than this are elided."""

LARGEST_LITERAL = 100
"""Constants with more elements than this are printed as the hexadecimal digits of their bytes, as by mlir-opt."""


Typing = Literal["typed", "listed", "untyped"]
"""Whether an attribute is written with its type: always; only if it is not the default one, as mlir-opt does within
lists; or never, where the surrounding text determines it.
"""


class Constant(Interned):
    """A type or an attribute."""

    __slots__ = ()

    def text(self, printer: ConstantPrinter, /) -> str:
        """Returns the text form. The printer writes nested types and attributes."""
        raise NotImplementedError

    def listed_text(self, printer: ConstantPrinter, /) -> str:
        """Returns the text form of an attribute in a list, where mlir-opt leaves out the usual types of numbers."""
        return self.text(printer)

    def untyped_text(self, printer: ConstantPrinter, /) -> str:
        """Returns the text form of an attribute without its type, where that is known."""
        return self.text(printer)

    def location_text(self, printer: ConstantPrinter, /) -> str:
        """Returns the text form of a location inside `loc(...)`."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text(_PLAIN)

    def __repr__(self) -> str:
        return self.text(_PLAIN)


class Attribute(Constant):
    """A compile-time constant."""

    __slots__ = ()


class ConstantPrinter:
    """Writes types and attributes. A subclass overrides `type`, `attribute` and `nested_location`.

    `elide`: constants of more elements are elided; None prints all. `upstream`: everything is written as by
    mlir-opt, with sorted dictionaries, its form of numbers, and types in lists omitted where it does; otherwise
    dictionaries keep their order, and numbers have the fewest digits that read back to the same number. `literal`:
    constants of more elements are written as hexadecimal digits. `resources` are the constants that were written as
    references to the resource section, by key; the caller, who sets `refers_to_resources`, prints their contents there.
    """

    __slots__ = ("_numbers", "elide", "literal", "refers_to_resources", "resources", "upstream")

    def __init__(
        self, elide: int | None = DEFAULT_ELISION, *, upstream: bool = False, literal: int = LARGEST_LITERAL
    ) -> None:
        self.elide = elide
        self.upstream = upstream
        self.literal = literal
        self._numbers: dict[Constant, int] = {}
        self.refers_to_resources = upstream
        self.resources: dict[str, object] = {}

    def type(self, type: Constant) -> str:
        """Returns a type as it is printed."""
        return type.text(self)

    def attribute(self, attr: Constant, typing: Typing = "typed") -> str:
        """Returns an attribute as it is printed."""
        match typing:
            case "typed":
                return attr.text(self)
            case "listed":
                return attr.listed_text(self)
            case "untyped":
                return attr.untyped_text(self)

    def nested_location(self, location: Constant) -> str:
        """Returns a location as it is printed inside `loc(...)` and inside other locations."""
        return location.location_text(self)

    def number(self, distinct: Constant) -> int:
        """Returns the number of a distinct attribute, counted in the order of printing as by mlir-opt."""
        return self._numbers.setdefault(distinct, len(self._numbers))


_PLAIN = ConstantPrinter()
