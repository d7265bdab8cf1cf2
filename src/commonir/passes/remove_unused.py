"""Removes operations without effect whose results nobody uses."""

from __future__ import annotations

from commonir.ir.operation import Block
from commonir.ods import Op, traits


def remove_unused(block: Block) -> int:
    """Erases operations without effect whose results nobody uses, in a block and below; returns how many."""
    erased = 0
    pending = [block]
    while pending:
        current = pending.pop()
        op = current.last
        while op is not None:
            previous = op.previous
            pure = isinstance(op, Op) and op.has_trait(traits.Pure) and not op.has_trait(traits.Terminator)
            if pure and not any(r.is_used for r in op.results):
                op.erase()
                erased += 1
            else:
                pending.extend(b for region in op.regions for b in region.blocks)
            op = previous
    return erased
