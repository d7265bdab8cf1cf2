"""What analyses ask of terminators with successors.

Source: MLIR, interface of branch operations.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.ir.data import Data
from commonir.ir.operation import Value

KnownData = Callable[[Value], Data | None]


class Branch:
    """Mixed into the definitions of terminators that lead to blocks."""

    __slots__ = ()

    def passed(self, number: int) -> tuple[Value, ...]:
        """The values that become the arguments of a successor, by its number."""
        raise NotImplementedError

    def taken(self, known: KnownData) -> int | None:
        """The number of the successor that runs next, when what is known tells."""
        del known
        return None


__all__ = ["Branch", "KnownData"]
