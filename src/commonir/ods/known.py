"""Values whose contents are known before the program runs."""

from __future__ import annotations

from commonir.ir.data import Data
from commonir.ir.operation import Operation, Value
from commonir.ir.types import Type
from commonir.symbolic import Dim


class Known(Operation):
    """Stands for the operation behind an operand whose elements are known, while a reference is traced."""

    __slots__ = ("data", "dims")

    name = "builtin.known"

    def __init__(self, type: Type, dims: tuple[Dim, ...] | None, data: Data | None = None) -> None:
        super().__init__((), (type,))
        self.dims = dims
        self.data = data

    def constant_data(self) -> Data | None:
        return self.data

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return self.dims


def known_data(value: Value) -> Data | None:
    """The contents of a value that a constant operation defines."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    if len(owner.results) == 1:
        return owner.constant_data()
    found = owner.constant_results()
    return found[value.index] if found else None


def known_dims(value: Value) -> tuple[Dim, ...] | None:
    """The elements of an integer value when they are known before running, perhaps as symbolic expressions."""
    owner = value.owner
    return owner.constant_dims() if isinstance(owner, Operation) else None
