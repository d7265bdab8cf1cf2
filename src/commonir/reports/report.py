"""The base of reports: their JSON form, and how they print themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypeGuard, TypeVar, overload

from commonir.base.records import Record
from commonir.base.text import plural, shortened

if TYPE_CHECKING:
    from commonir.reports import printing
else:
    from commonir.base.lazy import LazyModule

    # Commands print with their own writers, and JSON needs none.
    printing = LazyModule("commonir.reports.printing")

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
_Reported: TypeAlias = "Report | bool | int | float | str | Sequence[_Reported] | Mapping[str, _Reported] | None"

_MOST_NAMED = 20


def _are_reports(value: object) -> TypeGuard[Sequence[Report]]:
    """Returns whether a field lists reports."""
    return isinstance(value, tuple | list) and isinstance(next(iter(value), None), Report)  # pyright: ignore[reportUnknownArgumentType]  of any parts


class Report(Record):
    """Something reported; its fields are the keys of its JSON form.

    `repr` is one line, `str` the text of the command that prints it, and a notebook shows the tables of that command.
    Fields that list reports are `Entries`.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        for name, value in self.__dict__.items():
            if _are_reports(value):
                self.__dict__[name] = Entries(value)

    @property
    def heading(self) -> str:
        """Its subject and its most important fact, in a line; "" if its fields say that."""
        return ""

    def __repr__(self) -> str:
        if self.heading:
            return shortened(f"<{type(self).__name__}: {self.heading}", ">")
        return shortened(super().__repr__()[:-1], ")")

    def __str__(self) -> str:
        return printing.report_text(self)

    def _repr_html_(self) -> str:
        """Returns its tables for a notebook."""
        return printing.report_html(self)

    def to_json(self) -> dict[str, JsonValue]:
        """Its fields by name, as JSON values."""
        return {name: _json_value(getattr(self, name)) for name in self.fields()}


EntryT = TypeVar("EntryT", bound=Report)


class Entries(tuple[EntryT, ...]):
    """Reports of one class. `repr` is one line; `str` and a notebook show a table with a row for each."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> EntryT: ...
    @overload
    def __getitem__(self, index: slice, /) -> Entries[EntryT]: ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> EntryT | Entries[EntryT]:
        return Entries(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def __repr__(self) -> str:
        if not self:
            return "()"
        first = next((f for f in self[0].fields() if f == "name"), self[0].fields()[0])
        names = ", ".join(filter(None, [str(getattr(entry, first)) for entry in self[:_MOST_NAMED]]))
        noun = type(self[0]).__name__
        nouns = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else None
        return shortened(f"<{plural(len(self), noun, nouns)}{f': {names}' if names else ''}", ">")

    def __str__(self) -> str:
        return printing.entries_text(self)

    def _repr_html_(self) -> str:
        """Returns a table for a notebook."""
        return printing.entries_html(self)


def _json_value(value: _Reported) -> JsonValue:
    match value:
        case Report():
            return value.to_json()
        case Mapping():
            return {key: _json_value(part) for key, part in value.items()}
        case tuple() | list():
            return [_json_value(part) for part in value]
        case _:
            assert value is None or isinstance(value, bool | int | float | str), "a report holds texts and numbers"
            return value
