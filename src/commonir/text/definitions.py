"""What reader and writer of texts ask of definitions: whether they have a form, and what is evident in one."""

from __future__ import annotations

from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.origins import Origin
from commonir.ods import MlirOp, Op
from commonir.ods.text_form import TextForm


def has_format(definition: type[Op]) -> bool:
    """Whether a definition has a custom form. Those of MLIR's dialects that state none have the generic form only."""
    return bool(definition.assembly) or not issubclass(definition, MlirOp)


def default_dialect(holder: Operation | None) -> str:
    """The dialect whose operations need no prefix directly inside of an operation, or outside of all."""
    if holder is None or isinstance(holder, Module):
        return "builtin"
    return holder.default_dialect if isinstance(holder, TextForm) else ""


def implicit_terminator(definition: type[Op]) -> str:
    """The name of the operation that ends the regions of a definition without being written; "" when there is none."""
    for trait in definition.traits:
        result: object = getattr(trait, "terminator", "")
        if isinstance(result, str) and result:
            return result
    return ""


def place_evident(holder: Operation, origin: Origin) -> None:
    """Gives a place to the operations at the end of the regions of one that the text does not write."""
    for region in holder.regions:
        for block in region.blocks:
            op = block.last
            while op is not None and op.location is None:
                op.location = origin
                op = op.previous
