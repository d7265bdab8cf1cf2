"""Where things come from, as attributes: MLIR's locations.

`ir.origins.Location` is a plain place in a file; these are all the kinds that texts have.
Source: MLIR builtin dialect, location attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from commonir.ir.attributes import Attribute
from commonir.ir.constant_text import ConstantPrinter
from commonir.ir.literals import quoted

_MOST_PARTS = 10_000
_DEEPEST = 100


class LocationAttr(Attribute):
    """A location. `file`, `line`, `column` and `name` are those of the first place and name within."""

    __slots__ = ()

    @property
    def place(self) -> FileLineColLoc | None:
        """The first place in a file, None when it has none."""
        for result in _within(self):
            if isinstance(result, FileLineColLoc):
                return result
        return None

    @property
    def file(self) -> str:
        """The file of its place, or ""."""
        return "" if self.place is None else self.place.path

    @property
    def line(self) -> int:
        """The line of its place, from 1; 0 when it has none."""
        return 0 if self.place is None else self.place.start[0]

    @property
    def column(self) -> int:
        """The column of its place, from 1; 0 when it has none."""
        return 0 if self.place is None else self.place.start[1]

    @property
    def name(self) -> str:
        """The first name within, or ""."""
        return next((found.label for found in _within(self) if isinstance(found, NameLoc)), "")

    @property
    def parts(self) -> tuple[LocationAttr, ...]:
        """The locations it is made of."""
        return ()

    @property
    def is_short(self) -> bool:
        """Whether it can be written without aliases: what it is made of may be the same location again and again."""
        count = 0
        pending: list[tuple[LocationAttr, int]] = [(self, 1)]
        while pending:
            found, depth = pending.pop()
            count += 1
            if count > _MOST_PARTS or depth > _DEEPEST:
                return False
            pending.extend([(part, depth + 1) for part in found.parts])
        return True

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"loc({printer.nested_location(self)})"


def _within(location: LocationAttr) -> Iterator[LocationAttr]:
    """Yields a location and those it is made of, in the order of their text, each once."""
    met: set[LocationAttr] = set()
    pending = [location]
    while pending:
        found = pending.pop()
        if found not in met:
            met.add(found)
            yield found
            pending.extend(reversed(found.parts))


class UnknownLoc(LocationAttr):
    """Nothing is known."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls._intern()

    def location_text(self, _printer: ConstantPrinter, /) -> str:
        return "unknown"


class FileLineColLoc(LocationAttr):
    """A place in a file, or the part of it from there to an end; lines and columns from 1."""

    __slots__ = ("path", "start", "end")  # noqa: RUF023  the order of `_intern`

    path: str
    start: tuple[int, int]
    end: tuple[int, int]

    def __new__(cls, path: str, line: int, column: int, end: tuple[int, int] | None = None) -> Self:
        return cls._intern(path, (line, column), end or (line, column))

    def location_text(self, _printer: ConstantPrinter, /) -> str:
        (line, column), (last, end) = self.start, self.end
        more = "" if self.end == self.start else f" to {'' if last == line else last}:{end}"
        return f"{quoted(self.path)}:{line}:{column}{more}"


class NameLoc(LocationAttr):
    """A name, for example of what an operation was made from, and perhaps where that is."""

    __slots__ = ("label", "child")  # noqa: RUF023  the order of `_intern`

    label: str
    child: LocationAttr

    def __new__(cls, label: str, child: LocationAttr | None = None) -> Self:
        return cls._intern(label, UnknownLoc() if child is None else child)

    @property
    def parts(self) -> tuple[LocationAttr, ...]:
        return () if isinstance(self.child, UnknownLoc) else (self.child,)

    def location_text(self, printer: ConstantPrinter, /) -> str:
        return quoted(self.label) + "".join([f"({printer.nested_location(part)})" for part in self.parts])


class CallSiteLoc(LocationAttr):
    """A place in a function that was called from another place."""

    __slots__ = ("callee", "caller")

    callee: LocationAttr
    caller: LocationAttr

    def __new__(cls, callee: LocationAttr, caller: LocationAttr) -> Self:
        return cls._intern(callee, caller)

    @property
    def parts(self) -> tuple[LocationAttr, ...]:
        return (self.callee, self.caller)

    def location_text(self, printer: ConstantPrinter, /) -> str:
        return f"callsite({printer.nested_location(self.callee)} at {printer.nested_location(self.caller)})"


class FusedLoc(LocationAttr):
    """Several locations of one thing, perhaps with what made it of them. Made by `fused`."""

    __slots__ = ("locations", "metadata")

    locations: tuple[LocationAttr, ...]
    metadata: Attribute | None

    def __new__(cls, locations: tuple[LocationAttr, ...], metadata: Attribute | None = None) -> Self:
        return cls._intern(locations, metadata)

    @property
    def parts(self) -> tuple[LocationAttr, ...]:
        return self.locations

    def location_text(self, printer: ConstantPrinter, /) -> str:
        metadata = "" if self.metadata is None else f"<{printer.attribute(self.metadata)}>"
        return f"fused{metadata}[{', '.join(map(printer.nested_location, self.locations))}]"


def fused(locations: Sequence[LocationAttr], metadata: Attribute | None = None) -> LocationAttr:
    """Returns several locations as one, as MLIR makes it: fused ones of the same metadata are taken apart, unknown and
    repeated ones are left out, and one alone without metadata stays what it is.
    """
    held: dict[LocationAttr, None] = {}
    for location in locations:
        if isinstance(location, FusedLoc) and location.metadata is metadata:
            held.update(dict.fromkeys(location.locations))
        elif not isinstance(location, UnknownLoc):
            held[location] = None
    if metadata is None and len(held) < 2:
        return next(iter(held), UnknownLoc())
    return FusedLoc(tuple(held) or (UnknownLoc(),), metadata)


__all__ = ["CallSiteLoc", "FileLineColLoc", "FusedLoc", "LocationAttr", "NameLoc", "UnknownLoc", "fused"]
