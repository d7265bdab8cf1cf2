"""Replaces the results of an operation by other values, for all drivers of rewrites."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import InternalError
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import operations_behind


def replace_results(
    op: Operation, values: Sequence[Value], operations: Sequence[Operation] = ()
) -> tuple[list[Operation], list[Operation]]:
    """Makes the users of an operation's results use other values; the operation itself stays.

    `operations`, and then the detached operations that define the values, are inserted before it. Returns the inserted
    operations, and the users.
    """
    block = op.parent
    if block is None:
        raise InternalError(f"{op.name} is not in a block")
    new = _placed(op, block, values, operations)
    users: list[Operation] = []
    for old, value in zip(op.results, values, strict=True):
        if old.name and not value.name and value.owner in new:
            value.name = old.name
        users += old.users
        old.replace_all_uses_with(value)
    return new, users


def _placed(op: Operation, block: Block, values: Sequence[Value], operations: Sequence[Operation]) -> list[Operation]:
    if not operations and all(not isinstance(v.owner, Operation) or v.owner.parent is not None for v in values):
        return []
    new = list(dict.fromkeys([*operations, *operations_behind(values)]))
    for each in new:
        block.insert_before(op, each)
        each.location = each.location or op.location
    return new
