"""Puts values in the place of the results of an operation: what every driver of rewrites does."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import InternalError
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import operations_behind


def stand_in(
    op: Operation, values: Sequence[Value], made: Sequence[Operation] = ()
) -> tuple[list[Operation], list[Operation]]:
    """Makes the users of an operation's results use other values; the operation itself stays.

    What stands behind the values and is in no block yet is put before it, after the operations `made`, which are too.
    Returns what is new in the program, and the users.
    """
    block = op.parent
    if block is None:
        raise InternalError(f"{op.name} is in no block")
    new = _placed(op, block, values, made)
    users: list[Operation] = []
    for old, value in zip(op.results, values, strict=True):
        if old.name and not value.name and value.owner in new:
            value.name = old.name
        users += old.users
        old.replace_all_uses_with(value)
    return new, users


def _placed(op: Operation, block: Block, values: Sequence[Value], made: Sequence[Operation]) -> list[Operation]:
    if not made and all(not isinstance(v.owner, Operation) or v.owner.parent is not None for v in values):
        return []
    new = list(dict.fromkeys([*made, *operations_behind(values)]))
    for each in new:
        block.insert_before(op, each)
        each.location = each.location or op.location
    return new


__all__ = ["stand_in"]
