"""Location attributes of MLIR, in all their forms.

`ir.origins.Location` is a plain position in a file.
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
    """A location. `file`, `line`, `column` and `name` are those of the first position and name in it."""

    __slots__ = ()

    @property
    def position(self) -> FileLineColLoc | None:
        """The first position in a file, None when there is none."""
        for result in _within(self):
            if isinstance(result, FileLineColLoc):
                return result
        return None

    @property
    def file(self) -> str:
        """The file of its position, or ""."""
        return "" if self.position is None else self.position.path

    @property
    def line(self) -> int:
        """The line of its position, from 1; 0 when it has none."""
        return 0 if self.position is None else self.position.start[0]

    @property
    def column(self) -> int:
        """The column of its position, from 1; 0 when it has none."""
        return 0 if self.position is None else self.position.start[1]

    @property
    def name(self) -> str:
        """The first name in it, or ""."""
        return next((nested.label for nested in _within(self) if isinstance(nested, NameLoc)), "")

    @property
    def parts(self) -> tuple[LocationAttr, ...]:
        """The locations nested directly in it."""
        return ()

    @property
    def is_short(self) -> bool:
        """Whether it is small enough to be printed without aliases; a location may be nested in it many times."""
        count = 0
        pending: list[tuple[LocationAttr, int]] = [(self, 1)]
        while pending:
            location, depth = pending.pop()
            count += 1
            if count > _MOST_PARTS or depth > _DEEPEST:
                return False
            pending.extend([(part, depth + 1) for part in location.parts])
        return True

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"loc({printer.nested_location(self)})"


def _within(location: LocationAttr) -> Iterator[LocationAttr]:
    """Yields a location and those nested in it, in the order of their text, each once."""
    seen: set[LocationAttr] = set()
    pending = [location]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            yield current
            pending.extend(reversed(current.parts))


class UnknownLoc(LocationAttr):
    """An unknown location."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls._intern()

    def location_text(self, _printer: ConstantPrinter, /) -> str:
        return "unknown"


class FileLineColLoc(LocationAttr):
    """A position or a range in a file; lines and columns from 1."""

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
    """A name, for example of the source operation, with an optional location."""

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
    """A location in a function that was called from another location."""

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
    """Several locations of one operation, with optional metadata. Built by `fused`."""

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
    """Returns several locations as one, as MLIR fuses them: fused ones of the same metadata are flattened, unknown and
    repeated ones are dropped, and a single one without metadata is returned unchanged.
    """
    unique: dict[LocationAttr, None] = {}
    for location in locations:
        if isinstance(location, FusedLoc) and location.metadata is metadata:
            unique.update(dict.fromkeys(location.locations))
        elif not isinstance(location, UnknownLoc):
            unique[location] = None
    if metadata is None and len(unique) < 2:
        return next(iter(unique), UnknownLoc())
    return FusedLoc(tuple(unique) or (UnknownLoc(),), metadata)
