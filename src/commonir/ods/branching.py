"""What analyses ask of operations that lead to blocks and regions.

Source: MLIR, interfaces of branch operations and of operations that branch into their regions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data
from commonir.ir.operation import Operation, Value
from commonir.ods.operation import Op

KnownData = Callable[[Value], Data | None]


class Branch:
    """Mixed into the definitions of terminators that lead to blocks."""

    __slots__ = ()

    def passed(self, number: int) -> tuple[Value, ...]:
        """The values that become the arguments of a successor, by its number."""
        raise NotImplementedError

    def passing(self, passed: Sequence[Sequence[Value]]) -> Op:
        """The same branch, in no block, that passes other values to its successors."""
        raise NotImplementedError

    def decided_by(self) -> tuple[Value, ...]:
        """The operands that decide which successor runs next."""
        return ()

    def taken(self, known: KnownData) -> int | None:
        """The number of the successor that runs next, when what is known tells."""
        del known
        return None


class Way(NamedTuple):
    """Where control may go: to a region of an operation, by its number, or on after the operation when None.

    `values` become the last arguments of the first block of the region, or the results; those before them are made by
    the operation itself.
    """

    target: int | None
    values: tuple[Value, ...] = ()


class RegionBranch:
    """Mixed into the definitions of operations that run their regions in ways that are known."""

    __slots__ = ()

    def entered(self, known: KnownData) -> Iterable[Way]:
        """Where control may go first."""
        raise NotImplementedError

    def left(self, number: int, last: Operation, known: KnownData) -> Iterable[Way]:
        """Where control may go from a region, by its number, that ends with an operation."""
        raise NotImplementedError


__all__ = ["Branch", "KnownData", "RegionBranch", "Way"]
