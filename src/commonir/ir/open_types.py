"""Types of tensors that are not told: each stands for every one.

What is read with some comes to the same for all tensors that are not each other: an open type is itself and no other.
Whoever asks for more is stopped by `TypeAskedError`, which nobody but the one who gave it out should catch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, Self

from commonir.ir.constant_text import ConstantPrinter
from commonir.ir.types import TensorType


class TypeAskedError(Exception):
    """Somebody wanted to know a type that is not told."""


class OpenTensor(TensorType):
    """Any type of tensors. It is not interned: another one may be another type."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return object.__new__(cls)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise TypeAskedError if name in TensorType.__slots__ else AttributeError(name)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        raise TypeAskedError

    __hash__ = TensorType.__hash__

    def text(self, _printer: ConstantPrinter, /) -> str:
        raise TypeAskedError


__all__ = ["OpenTensor", "TypeAskedError"]
