"""Applies the folders and canonicalization rules of definitions until none applies.

What an operation equals is stated in its definition (`fold`, `canonicalize`, `constant_dims`); this pass only goes
where they lead. Values keep their names, and a value that the program returns stays the one it returns.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import InternalError
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Value, clone
from commonir.notation import NotKnownError
from commonir.ods import Op, operations_behind
from commonir.passes.remove_unused import remove_unused
from commonir.rewrite.expand import folded

# A rule leads to something simpler; far fewer rewrites than this happen to each operation of a real program.
_REWRITES_PER_OPERATION = 16


def canonicalized(module: Module) -> Module:
    """A simpler equal module; the one given is not touched."""
    copy = clone(module)
    canonicalize(copy)
    return copy


def canonicalize(module: Module) -> int:
    """Rewrites a lowered module in place and returns the number of rewrites.

    Raises: InternalError when rules lead in a circle.
    """
    pending = [op for op in module.nested() if op.results]
    limit = _REWRITES_PER_OPERATION * (len(pending) + 1)
    gone: set[Operation] = set()
    count = 0
    pending.reverse()
    while pending:
        op = pending.pop()
        if op in gone or not isinstance(op, Op) or op.parent is None:
            continue
        values = _simpler(op)
        if values is None:
            continue
        count += 1
        if count > limit:
            raise InternalError(f"canonicalization rules lead in a circle, last at {op.name}")
        pending.extend(_replace(op, values))
        gone.add(op)
    for function in module.functions.values():
        remove_unused(function.body)
    return count


def _simpler(op: Op) -> Sequence[Value] | None:
    try:
        value = folded(op)
        return op.canonicalize() if value is None else (value,)
    except NotKnownError:
        # Of operands of unknown types nothing simpler is known.
        return None


def _replace(op: Op, values: Sequence[Value]) -> list[Operation]:
    """Puts values in the place of the results, and returns the operations to look at again."""
    block = op.parent
    if not isinstance(block, Block):
        raise InternalError(f"{op.name} is in no block")
    made = operations_behind(values)
    for new in made:
        block.insert_before(op, new)
        new.location = new.location or op.location
    again = [*made]
    for old, new in zip(op.results, values, strict=True):
        if new.owner in made:
            new.name = new.name or old.name
        again += old.users
        old.replace_all_uses_with(new)
    op.erase()
    return again
