"""Operations whose `str` is their generic text: the base of all operations of programs.

The graph itself (`ir/operation.py`) does not depend on text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.ir.operation import Operation

if TYPE_CHECKING:
    from commonir.ir import printing
else:
    from commonir.base.lazy import LazyModule

    # Few programs are printed in the generic form.
    printing = LazyModule("commonir.ir.printing")


class PrintableOperation(Operation):
    """An operation that prints its generic form, with large constants elided."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(printing.Printer().lines(self))
