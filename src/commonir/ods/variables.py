"""Interfaces of operations that define, read and write variables of a module, by which they are lowered.

A variable keeps its contents between runs, as a mutable `ml_program.global`, to which it is lowered.
"""

from __future__ import annotations

from abc import abstractmethod

from commonir.ir.attributes import Attribute
from commonir.ir.module import Symbol
from commonir.ir.operation import Operation, Value
from commonir.ir.types import Type


class VariableDefinition(Symbol):
    """Defines a variable."""

    __slots__ = ()

    @property
    @abstractmethod
    def variable_type(self) -> Type:
        """The type of its contents."""

    @property
    @abstractmethod
    def initial_contents(self) -> Attribute | None:
        """Its initial value; None when that is undefined."""


class VariableUse(Operation):
    """Reads a variable as its only result, or replaces its contents."""

    __slots__ = ()

    @property
    @abstractmethod
    def variable_name(self) -> str:
        """The name of the variable."""

    @property
    @abstractmethod
    def stored(self) -> Value | None:
        """The new contents; None when it reads."""
