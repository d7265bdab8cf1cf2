"""Finds control flow that must be restructured before lowering (`passes/structure_control.py`)."""

from __future__ import annotations

from commonir.ir.module import Function
from commonir.ir.operation import Operation
from commonir.ods import Op
from commonir.ods.traits import Unstructured


def is_unstructured(op: Operation) -> bool:
    """Returns whether an operation is a function of several blocks, or control flow other than simple conditions and
    loops.
    """
    if isinstance(op, Function):
        return any(len(region.blocks) > 1 for region in op.regions)
    return isinstance(op, Op) and op.has_trait(Unstructured)
