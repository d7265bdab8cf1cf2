"""Deferred printing of the aliases that mlir-opt prints: for affine maps, integer sets, locations and others.

The name of an alias is known only when the whole program is printed, so a placeholder is printed for each use and
replaced at the end. Placeholders consist of characters that do not occur in a text. Aliases are numbered in program
order: sorted by the depth of aliases in them, types first, then by name, then by first use. Those that only locations
of operations use are defined after the program.
Source: behaviour of mlir-opt 22, checked in `tests/text/test_mlir_opt.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter

from commonir.base.lazy import lazy_pattern
from commonir.ir.constant_text import Constant

DEFERRED_MARK = "\1"
"""Encloses the number of a placeholder for text that is not known yet."""
_USE_MARK = "\0"
_DEFINITION_MARK = "\2"
_USE = lazy_pattern(f"{_USE_MARK}(\\d+){_USE_MARK}")
_DEFINITION = lazy_pattern(f"{_DEFINITION_MARK}(\\d+){_DEFINITION_MARK}")
_EITHER = lazy_pattern(f"[{_USE_MARK}{_DEFINITION_MARK}](\\d+)[{_USE_MARK}{_DEFINITION_MARK}]")


class _Alias:
    """An alias that has no number yet."""

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

    While `is_out_of_order`, text is printed before the text that precedes it in the program; `mark_used` records its
    uses when printing reaches it.
    """

    def __init__(self) -> None:
        self.is_out_of_order = False
        self._used_count = 0
        self._all: list[_Alias] = []
        self._by_constant: dict[Constant, int] = {}

    def __bool__(self) -> bool:
        return bool(self._all)

    def __contains__(self, constant: Constant) -> bool:
        return constant in self._by_constant

    def mark(
        self, constant: Constant, name: str, text: Callable[[], str], *, is_attribute: bool = True, deferred: bool
    ) -> str:
        """Returns the placeholder of an alias.

        `text` returns the text of the constant, which may contain other placeholders. `deferred`: the definition may
        follow the program.
        """
        number = self._by_constant.get(constant)
        if number is None:
            number = self._by_constant[constant] = len(self._all)
            built = _Alias(constant, name, is_attribute=is_attribute)
            self._all.append(built)
            built.text = text()
            built.depth = 1 + max([self._all[n].depth for n in aliases_in(built.text)], default=0)
        if not deferred:
            self._define_before([number])
        if not self.is_out_of_order:
            self._number_in_order([number])
        return f"{_USE_MARK}{number}{_USE_MARK}"

    def mark_used(self, text: str) -> None:
        """Records the uses in a text that was printed out of order."""
        self._number_in_order(aliases_in(text))

    def _number_in_order(self, pending: list[int]) -> None:
        for number in pending:
            if self._all[number].order:
                continue
            stack = [number]
            while stack:
                alias = self._all[stack[-1]]
                inner = [n for n in aliases_in(alias.text) if not self._all[n].order] if not alias.order else []
                if inner:
                    stack += reversed(inner)
                    continue
                stack.pop()
                if not alias.order:
                    self._used_count += 1
                    alias.order = self._used_count

    def _define_before(self, pending: list[int]) -> None:
        while pending:
            alias = self._all[pending.pop()]
            if alias.deferred:
                alias.deferred = False
                pending += aliases_in(alias.text)

    def number(self) -> None:
        """Assigns names to all aliases, after all uses were recorded."""
        counts: dict[str, int] = {}
        for alias in sorted(self._all, key=attrgetter("depth", "is_attribute", "name", "order")):
            count = counts.get(alias.name, 0)
            counts[alias.name] = count + 1
            suffix = "" if not count else f"_{count}" if alias.name[-1].isdigit() else str(count)
            alias.shown = f"{'#' if alias.is_attribute else '!'}{alias.name}{suffix}"

    def definitions(self, *, deferred: bool) -> list[str]:
        """Returns the lines with the definitions before or after the program."""
        ordered = sorted(self._all, key=attrgetter("depth", "is_attribute", "name", "order"))
        return [f"{a.shown} = {self.resolved(a.text)}" for a in ordered if a.deferred == deferred]

    def resolved(self, text: str) -> str:
        """Returns a text with names in place of placeholders."""
        if _DEFINITION_MARK in text:
            text = _DEFINITION.sub("", text)
        return _USE.sub(self._shown, text) if _USE_MARK in text else text

    def _shown(self, match: re.Match[str]) -> str:
        return self._all[int(match[1])].shown


def definition_only(placeholder: str) -> str:
    """Returns a placeholder that defines its alias but prints nothing."""
    return placeholder.replace(_USE_MARK, _DEFINITION_MARK)


def aliases_in(text: str) -> list[int]:
    """Returns the numbers of the aliases that a text uses or defines."""
    return [int(n) for n in _EITHER.findall(text)] if _USE_MARK in text or _DEFINITION_MARK in text else []
