"""The base of reports: their JSON form, and how they print themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from commonir.base.records import Record
from commonir.base.text import shortened

if TYPE_CHECKING:
    from commonir.reports import printing
else:
    from commonir.base.lazy import LazyModule

    # Commands print with their own writers, and JSON needs none.
    printing = LazyModule("commonir.reports.printing")

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
_Reported: TypeAlias = "Report | bool | int | float | str | Sequence[_Reported] | Mapping[str, _Reported] | None"


class Report(Record):
    """Something reported; its fields are the keys of its JSON form.

    `repr` is one line, `str` the text of the command that prints it, and a notebook shows the tables of that command.
    """

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
