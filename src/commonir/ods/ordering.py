"""Sorts the operations of a block so that each follows those whose results it uses, where one order means the same."""

from __future__ import annotations

from contextlib import suppress

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.data_order import data_order, rearrange
from commonir.ir.operation import Block, Operation
from commonir.ir.types import unknown
from commonir.ods.effects import Effects, effects_of
from commonir.ods.operation import Op

SORTED = "sorted the operations, so that each follows those that it uses"
"""The text of the fix of a block in another order."""


def sorted_operations(block: Block, *, ordered_by_data: bool = False) -> list[Operation]:
    """Returns the operations of a block in topological order; none if they form a cycle, or if operations with effects
    would change their order, which does not matter where data alone order a block.
    """
    order = data_order(block).operations
    if not ordered_by_data and _with_effects(order) != _with_effects(list(block.operations)):
        return []
    return order


def sort_operations(block: Block) -> None:
    """Sorts the operations of a block, if one order means the same."""
    order = sorted_operations(block)
    if order:
        put_in_order(block, order)


def put_in_order(block: Block, order: list[Operation]) -> None:
    """Puts the operations of a block in an order, and infers the types that nothing stated before."""
    rearrange(block, order)
    for op in order:
        if isinstance(op, Op) and any(v.type is unknown for v in op.results):
            # Only a fix infers types: reading and verifying a text must not load this.
            from commonir.notation import NotationError  # noqa: PLC0415
            from commonir.ods.inference import infer  # noqa: PLC0415

            with suppress(DiagnosticError, NotationError):
                for v, type in zip(op.results, infer(op).types, strict=False):
                    v.retype(type if v.type is unknown else v.type)


def _with_effects(operations: list[Operation]) -> list[Operation]:
    return [op for op in operations if effects_of(op) is not Effects.NONE]
