"""Reads reports from their JSON form: the inverse of `Report.to_json`. Fields that are not known are ignored, as a
version after this one may add some; those that are missing have their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import inf, nan
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from commonir.base.strict_json import Json
from commonir.reports.report import Report

R = TypeVar("R", bound=Report)

_NUMBERS = {"inf": inf, "-inf": -inf, "nan": nan}
"""Numbers that JSON does not have, as the command line writes them."""


class ReportError(ValueError):
    """The error of a JSON value that is not the form of a report; the message begins with the place in it."""


def read_report(report: type[R], value: Json, place: str = "result") -> R:
    """Returns a report of a class from its JSON form, which is at a place. Raises: ReportError."""
    if not isinstance(value, dict):
        raise ReportError(f"{place}: expected an object, found {_described(value)}")
    types = _types_of(report)
    fields: dict[str, object] = {}
    for name in report.fields():
        if name in value:
            fields[name] = _read(types[name], value[name], f"{place}.{name}")
        elif not hasattr(report, name):
            raise ReportError(f"{place}: '{name}' is missing")
    return report(**fields)


@cache
def _types_of(report: type[Report]) -> dict[str, Any]:
    """Returns the types of the fields of a report. A profile has as many reports as operations."""
    return get_type_hints(report)


def _read(expected: Any, value: Json, place: str) -> object:
    """Returns a value of a type that a field of a report has: a report, a number, a text, or several of them."""
    origin, parts = get_origin(expected), get_args(expected)
    named: object = expected if origin is None else origin
    if origin in (Union, UnionType):
        (only,) = [part for part in parts if part is not NoneType]
        return None if value is None else _read(only, value, place)
    if isinstance(expected, type) and issubclass(expected, Report):
        return read_report(expected, value, place)
    if origin is tuple and isinstance(value, list):
        kinds = parts[:1] * len(value) if parts[1:] == (...,) else parts
        if len(kinds) == len(value):
            return tuple(
                [_read(kind, v, f"{place}[{n}]") for n, (kind, v) in enumerate(zip(kinds, value, strict=True))]
            )
    if origin is Mapping and isinstance(value, dict):
        return {name: _read(parts[1], part, f"{place}['{name}']") for name, part in value.items()}
    if expected is float and isinstance(value, str) and value in _NUMBERS:
        return _NUMBERS[value]
    if expected is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not expected:
        name = str(getattr(named, "__name__", named))
        raise ReportError(f"{place}: expected {_NAMES[name]}, found {_described(value)}")
    return value


_NAMES = {
    "str": "a text",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "tuple": "a list",
    "list": "a list",
    "Mapping": "an object",
    "dict": "an object",
    "NoneType": "null",
}


def _described(value: Json) -> str:
    return _NAMES[type(value).__name__]
