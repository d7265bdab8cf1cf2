"""The interface of operations that declare operators, for parsers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonir.ir.operation import Operation

if TYPE_CHECKING:
    from commonir.ods.declared import DeclaredOp


class Declares(Operation):
    """An operation that declares operators for later operations of its region, and for regions nested in these."""

    __slots__ = ()

    @abstractmethod
    def declared(self) -> Mapping[str, tuple[type[DeclaredOp], ...]]:
        """The definitions of the declared operators, by operation name."""
