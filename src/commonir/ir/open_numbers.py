"""Numbers that are not told: each stands for every number of its type.

What gets by with one, be it reading, checking or printing, comes to the same for all of them. Whoever asks for the
number, or compares it, is stopped by `NumberAskedError`, which nobody but the one who gave it out should catch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, Self

from commonir.ir.attributes import FloatAttr, IntegerAttr
from commonir.ir.constant_text import ConstantPrinter
from commonir.ir.types import ElementType

NUMBER_MARK = "\f"
"""Stands for the number in a text: a character that no text has."""


class NumberAskedError(Exception):
    """Somebody wanted to know a number that is not told."""


class OpenNumber:
    """Any number of a type. No object stands for all of one type: it is not interned."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise NumberAskedError if name in ("value", "bits") else AttributeError(name)

    def __eq__(self, other: object) -> bool:
        raise NumberAskedError

    def __hash__(self) -> int:
        raise NumberAskedError

    def untyped_text(self, _printer: ConstantPrinter, /) -> str:
        return NUMBER_MARK


class OpenInteger(OpenNumber, IntegerAttr):
    """Any integer of a type."""

    __slots__ = ()

    def __new__(cls, type: ElementType) -> Self:
        made = object.__new__(cls)
        object.__setattr__(made, "type", type)
        return made

    def text(self, printer: ConstantPrinter, /) -> str:
        return f"{NUMBER_MARK} : {printer.type(self.type)}"

    def listed_text(self, _printer: ConstantPrinter, /) -> str:
        raise NumberAskedError


class OpenFloat(OpenNumber, FloatAttr):
    """Any number of a type of floating point."""

    __slots__ = ()

    def __new__(cls, type: ElementType) -> Self:
        made = object.__new__(cls)
        object.__setattr__(made, "type", type)
        return made

    def listed_text(self, _printer: ConstantPrinter, /) -> str:
        raise NumberAskedError


__all__ = ["NUMBER_MARK", "NumberAskedError", "OpenFloat", "OpenInteger", "OpenNumber"]
