"""Operations whose `str` is their generic text: the base of all operations of programs.

The graph itself (`ir/operation.py`) does not depend on text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.base.text import escape_html
from commonir.ir.operation import Operation

if TYPE_CHECKING:
    from commonir.ir import printing
else:
    from commonir.base.lazy import LazyModule

    # Few programs are printed in the generic form.
    printing = LazyModule("commonir.ir.printing")


_MOST_LINES = 30


class PrintableOperation(Operation):
    """An operation that prints its generic form, with large constants elided."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(printing.Printer().lines(self))

    def _repr_html_(self) -> str:
        """Returns the beginning of its text for a notebook."""
        lines = str(self).splitlines()
        more = [f"... {len(lines) - _MOST_LINES:,} more lines"] if len(lines) > _MOST_LINES else []
        return f"<pre>{escape_html(chr(10).join([*lines[:_MOST_LINES], *more]))}</pre>"
