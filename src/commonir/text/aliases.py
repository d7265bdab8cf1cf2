"""Aliases as mlir-opt chooses them: short names for affine maps, sets, locations and what dialects ask for.

An alias is numbered only when the whole text is known, so where one is used a mark stands until then. Marks are
characters that no text has. Aliases are ordered by how deeply they refer to others, types first, then by name, then
by first use; those that only locations of operations use come after the program.
Source: behaviour of mlir-opt 22, checked in `tests/text/test_mlir_opt.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter

from commonir.base.lazy import lazy_pattern
from commonir.ir.constant_text import Constant

_MARK = lazy_pattern("\0(\\d+)\0")
_SILENT = lazy_pattern("\2(\\d+)\2")
_EITHER = lazy_pattern("[\0\2](\\d+)[\0\2]")


class _Alias:
    """One alias in the making."""

    __slots__ = ("constant", "deferred", "depth", "is_attribute", "name", "order", "shown", "text")

    def __init__(self, constant: Constant, name: str, *, is_attribute: bool) -> None:
        self.constant = constant
        self.name = name
        self.order = 0
        self.is_attribute = is_attribute
        self.depth = 1
        self.deferred = True
        self.text = ""
        self.shown = ""


class Aliases:
    """The aliases of one text.

    While `is_ahead`, text is made before what stands before it in the program: which aliases it uses is told by `met`
    when its turn has come.
    """

    def __init__(self) -> None:
        self.is_ahead = False
        self._met = 0
        self._all: list[_Alias] = []
        self._by_constant: dict[Constant, int] = {}

    def __bool__(self) -> bool:
        return bool(self._all)

    def __contains__(self, constant: Constant) -> bool:
        return constant in self._by_constant

    def mark(
        self, constant: Constant, name: str, text: Callable[[], str], *, is_attribute: bool = True, deferred: bool
    ) -> str:
        """What stands for an alias until it is numbered.

        `text` is what it stands for, which may hold other marks; `deferred` says that its definition may come last.
        """
        number = self._by_constant.get(constant)
        if number is None:
            number = self._by_constant[constant] = len(self._all)
            built = _Alias(constant, name, is_attribute=is_attribute)
            self._all.append(built)
            built.text = text()
            built.depth = 1 + max([self._all[n].depth for n in marks_in(built.text)], default=0)
        if not deferred:
            self._come_first([number])
        if not self.is_ahead:
            self._meet([number])
        return f"\0{number}\0"

    def met(self, text: str) -> None:
        """Says that a text that was made ahead follows now."""
        self._meet(marks_in(text))

    def _meet(self, pending: list[int]) -> None:
        for number in pending:
            if self._all[number].order:
                continue
            stack = [number]
            while stack:
                alias = self._all[stack[-1]]
                inner = [n for n in marks_in(alias.text) if not self._all[n].order] if not alias.order else []
                if inner:
                    stack += reversed(inner)
                    continue
                stack.pop()
                if not alias.order:
                    self._met += 1
                    alias.order = self._met

    def _come_first(self, pending: list[int]) -> None:
        while pending:
            alias = self._all[pending.pop()]
            if alias.deferred:
                alias.deferred = False
                pending += marks_in(alias.text)

    def number(self) -> None:
        """Gives all their names, when everything was used."""
        counts: dict[str, int] = {}
        for alias in sorted(self._all, key=attrgetter("depth", "is_attribute", "name", "order")):
            count = counts.get(alias.name, 0)
            counts[alias.name] = count + 1
            suffix = "" if not count else f"_{count}" if alias.name[-1].isdigit() else str(count)
            alias.shown = f"{'#' if alias.is_attribute else '!'}{alias.name}{suffix}"

    def definitions(self, *, deferred: bool) -> list[str]:
        """The lines that define them, those before or those after the program."""
        ordered = sorted(self._all, key=attrgetter("depth", "is_attribute", "name", "order"))
        return [f"{a.shown} = {self.resolved(a.text)}" for a in ordered if a.deferred == deferred]

    def resolved(self, text: str) -> str:
        """A text with names where marks were."""
        if "\2" in text:
            text = _SILENT.sub("", text)
        return _MARK.sub(self._shown, text) if "\0" in text else text

    def _shown(self, found: re.Match[str]) -> str:
        return self._all[int(found.group(1))].shown


def silent(mark: str) -> str:
    """A mark that says that an alias is defined here, of which nothing is seen."""
    return mark.replace("\0", "\2")


def marks_in(text: str) -> list[int]:
    """The numbers of the aliases that a text uses or defines."""
    return [int(n) for n in _EITHER.findall(text)] if "\0" in text or "\2" in text else []
