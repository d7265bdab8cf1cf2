"""Operations that make operators known: what every reader of texts asks of an operation, without what operators are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonir.ir.operation import Operation

if TYPE_CHECKING:
    from commonir.ods.declared import DeclaredOp


class Declares(Operation):
    """An operation that makes operators known to those that stand after it in its region, and inside of them."""

    __slots__ = ()

    @abstractmethod
    def declared(self) -> Mapping[str, tuple[type[DeclaredOp], ...]]:
        """Definitions by the names of their operations."""
