"""Checks that are made once for all operations of a program that are alike.

Operations are alike that differ in nothing but what values of the same types they are given. Whether one is right is
asked of a stand-in that is nowhere, on values that nothing defines: if its definition asks for more than types and
attributes, as one that looks at the operation around it or at a constant that it is given, every one is checked by
itself. So no definition has to say what its checks depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Sized

from commonir.ir.operation import Operation
from commonir.ods.mlir_op import MlirOp

_MOST = 50_000


class AlikeChecks:
    """What is known of one program, which must not change meanwhile.

    `check` gives everything that is wrong with an operation.
    """

    __slots__ = ("_check", "_known")

    def __init__(self, check: Callable[[MlirOp], Sized]) -> None:
        self._check = check
        self._known: dict[object, bool] = {}

    def is_right(self, op: Operation) -> bool:
        """Whether an operation is known to be right wherever it stands, but for where its operands come from."""
        key = op.likeness()
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[key] = isinstance(op, MlirOp) and key is not None and self._is_right_anywhere(op)
        return known

    def _is_right_anywhere(self, op: MlirOp) -> bool:
        try:
            return not len(self._check(op.stand_in()))
        except AttributeError:
            # It asked for something that a stand-in has not.
            return False


__all__ = ["AlikeChecks"]
