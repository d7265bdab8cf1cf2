"""Operations whose `str` is their generic text: the base of all operations of programs.

The graph itself (`ir/operation.py`) does not depend on text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from commonir.ir.operation import Operation

if TYPE_CHECKING:
    from commonir.ir import cloning, printing, tables
else:
    from commonir.base.lazy import LazyModule

    # Few programs are printed in the generic form, shown in notebooks, or copied by `copy`.
    cloning = LazyModule("commonir.ir.cloning")
    printing = LazyModule("commonir.ir.printing")
    tables = LazyModule("commonir.ir.tables")


class PrintableOperation(Operation):
    """An operation that prints its generic form, with large constants elided."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(printing.Printer().lines(self))

    def _repr_html_(self) -> str:
        """Returns tables for a notebook: the interface and operations of functions, the fields of other operations."""
        return tables.html_of(self)

    def __deepcopy__(self, memo: Mapping[int, object]) -> Self:
        """Returns a copy outside of any block, on the same operands."""
        return cloning.clone(self)

    def __copy__(self) -> Self:
        """Returns a copy as `deepcopy` does: no two operations can have one region."""
        return cloning.clone(self)

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a program cannot be pickled: `commonir.dumps` and `commonir.save` write it")
