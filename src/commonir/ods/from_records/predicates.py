"""Predicates of constraints: trees of C++ conditions, compiled to tests of types and attributes.

Conditions are combined by `And`, `Or` and `Neg`; `SubstLeaves` and `Concat` select a part of the value. A condition
that is not understood counts as satisfied, and is listed in `Predicate.unknown`.

Source: MLIR operation definitions, predicates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from commonir.base.diagnostics import DiagnosticError
from commonir.base.file_codes import NESTING_TOO_DEEP
from commonir.ir.attributes import is_sequence
from commonir.ods.from_records.cpp_classes import Test
from commonir.ods.from_records.expressions import SELF, MissingProperty, compiled, normal, numbers_of, path_of
from commonir.ods.from_records.values import is_a, record_of, records_of, text_of
from commonir.tablegen import Record

_MAX_DEPTH = 100

_OVER_ELEMENT = re.compile(r"\[\]\([\w:]+ (\w+)\) ?\{ ?return")
_APPLIED = re.compile(r"; ?\}\((.*)\)", re.DOTALL)
_OVER_ALL = re.compile(r"all_of\((.*), \[&?\]\([\w:]+ (\w+)\) ?\{ ?return(?: \2 &&)?(?: \()?", re.DOTALL)
_ENDS_ALL = re.compile(r"\)?; ?\}\)")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A test, and the conditions in it that are not understood, which count as satisfied."""

    holds: Test
    unknown: tuple[str, ...] = ()


ALWAYS = Predicate(lambda _: True)


def both(one: Predicate, other: Predicate) -> Predicate:
    """Returns the conjunction of two predicates."""
    return Predicate(lambda v: one.holds(v) and other.holds(v), (*one.unknown, *other.unknown))


def each(inner: Predicate) -> Predicate:
    """Returns the predicate that all items of a tuple satisfy another."""
    return Predicate(lambda v: is_sequence(v) and all(map(inner.holds, v)), inner.unknown)


class Predicates:
    """The predicates of one load, each read once. `classes` are tests by C++ class name."""

    def __init__(self, classes: Mapping[str, Test]) -> None:
        self.classes = classes
        self._known: dict[tuple[Record, str], Predicate] = {}

    def of(self, constraint: Record) -> Predicate:
        """Returns the predicate of a constraint."""
        predicate = record_of(constraint, "predicate")
        return ALWAYS if predicate is None else self.read(predicate)

    def read(self, record: Record, variable: str = SELF, depth: int = 0) -> Predicate:
        """Reads a predicate on a variable."""
        key = record, variable
        result = self._known.get(key)
        if result is None:
            if depth > _MAX_DEPTH:
                message = f"predicates are more than {_MAX_DEPTH} deep within each other"
                raise DiagnosticError(record.locations[0].diagnostic(NESTING_TOO_DEEP, message))
            result = self._known[key] = self._built_predicate(record, variable, depth)
        return result

    def _built_predicate(self, record: Record, variable: str, depth: int) -> Predicate:
        if not is_a(record, "CombinedPred"):
            text = text_of(record, "predExpr")
            test = compiled(text, self.classes, variable)
            return Predicate(lambda _: True, (normal(text),)) if test is None else Predicate(test)
        kind = record_of(record, "kind")
        match "" if kind is None else kind.name_text:
            case "PredCombinerSubstLeaves":
                return self._substituted(record, variable, depth)
            case "PredCombinerConcat":
                return self._concatenated(record, variable, depth)
            case name:
                parts = [self.read(each, variable, depth + 1) for each in records_of(record, "children")]
                return _combined(name, parts)

    def _child(self, record: Record) -> Record:
        return next(records_of(record, "children"))

    def _substituted(self, record: Record, variable: str, depth: int) -> Predicate:
        """Returns a predicate with another expression in place of `$_self`."""
        pattern, replacement = text_of(record, "pattern"), normal(text_of(record, "replacement"))
        if replacement == variable:
            return self.read(self._child(record), pattern, depth + 1)
        path = path_of(replacement, variable)
        if path is None:
            return Predicate(lambda _: True, (f"of {replacement}",))
        inner = self.read(self._child(record), pattern, depth + 1)

        return Predicate(lambda v: _holds(lambda of: inner.holds(path(of)), v), inner.unknown)

    def _concatenated(self, record: Record, variable: str, depth: int) -> Predicate:
        """Returns the predicate of `Concat`: on a part of a value, or on each of its items."""
        before, after = normal(text_of(record, "prefix")), normal(text_of(record, "suffix"))
        bound, applied = _OVER_ELEMENT.fullmatch(before), _APPLIED.fullmatch(after)
        if bound is not None and applied is not None:
            path = path_of(applied[1], variable)
            if path is not None:
                inner = self.read(self._child(record), bound[1], depth + 1)
                return Predicate(lambda v: _holds(lambda of: inner.holds(path(of)), v), inner.unknown)
        every = _OVER_ALL.fullmatch(before)
        if every is not None and _ENDS_ALL.fullmatch(after):
            inner = self.read(self._child(record), every[2], depth + 1)
            items = path_of(every[1], variable)
            if items is not None:
                return Predicate(
                    lambda v: _holds(lambda of: all(inner.holds(item) for item in numbers_of(items(of))), v),
                    inner.unknown,
                )
        return Predicate(lambda _: True, (f"{before} .. {after}",))


def _holds(test: Test, value: object) -> bool:
    try:
        return test(value)
    except MissingProperty:
        return False


def _combined(name: str, parts: list[Predicate]) -> Predicate:
    unknown = tuple(dict.fromkeys([text for part in parts for text in part.unknown]))
    match name:
        case "PredCombinerAnd":
            return Predicate(lambda v: all(part.holds(v) for part in parts), unknown)
        case "PredCombinerOr":
            # A part that is not understood counts as satisfied, and so does the disjunction.
            return Predicate(lambda v: any(part.holds(v) for part in parts), unknown)
        case _:
            if unknown:
                return Predicate(lambda _: True, unknown)
            return Predicate(lambda v: not any(part.holds(v) for part in parts))
