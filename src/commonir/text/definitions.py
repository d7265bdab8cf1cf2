"""Properties of definitions for the reader and the writer of text: custom forms and implicit terminators."""

from __future__ import annotations

from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.origins import Origin
from commonir.ods import MlirOp, Op
from commonir.ods.text_form import TextForm


def has_format(definition: type[Op]) -> bool:
    """Returns whether a definition has a custom form. An `MlirOp` without a format has the generic form only."""
    return bool(definition.assembly) or not issubclass(definition, MlirOp)


def default_dialect(parent: Operation | None) -> str:
    """Returns the dialect whose operations need no prefix directly inside an operation, or at the top level."""
    if parent is None or isinstance(parent, Module):
        return "builtin"
    return parent.default_dialect if isinstance(parent, TextForm) else ""


def implicit_terminator(definition: type[Op]) -> str:
    """Returns the name of the terminator that the text of the regions of a definition omits; "" if there is none."""
    for trait in definition.traits:
        result: object = getattr(trait, "terminator", "")
        if isinstance(result, str) and result:
            return result
    return ""


def locate_implicit_terminators(parent: Operation, origin: Origin) -> None:
    """Sets the location of the terminators of an operation's regions that the text omits."""
    for region in parent.regions:
        for block in region.blocks:
            op = block.last
            while op is not None and op.location is None:
                op.location = origin
                op = op.previous
