"""What analyses ask of control flow: of terminators with successors, and of what only branches state.

Source: MLIR, interface of branch operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.ir.data import Data
from commonir.ir.module import Function
from commonir.ir.operation import Operation, Value
from commonir.ods.operation import Op
from commonir.ods.traits import Unstructured

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


def is_unstructured(op: Operation) -> bool:
    """Whether an operation is control flow that becomes plain conditions and loops before it is lowered."""
    if isinstance(op, Function):
        return any(len(region.blocks) > 1 for region in op.regions)
    return isinstance(op, Op) and op.has_trait(Unstructured)


__all__ = ["Branch", "KnownData", "is_unstructured"]
