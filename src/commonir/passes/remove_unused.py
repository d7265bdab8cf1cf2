"""Removes operations without effect whose results nobody uses."""

from __future__ import annotations

from collections.abc import Callable

from commonir.ir.operation import Block, Operation
from commonir.ods import Op, traits
from commonir.ods.local_sizes import defined_sizes, symbols_stated


def remove_unused(block: Block, is_needed: Callable[[Op], bool] | None = None) -> int:
    """Erases operations without effect whose results nobody uses, in a block and below; returns how many.

    One that tells a size that an attribute of another one mentions stays, and one that is needed for something else.
    """
    erased = 0
    mentioned: set[str] = set()
    pending = [block]
    while pending:
        current = pending.pop()
        op = current.last
        while op is not None:
            previous = op.previous
            is_told = any(size.name in mentioned for size in defined_sizes(op))
            if _is_removable(op) and not is_told and (is_needed is None or not (isinstance(op, Op) and is_needed(op))):
                op.erase()
                erased += 1
            else:
                # What is nested is looked at later, when what it needs from outside has been decided on.
                inside = op.walk() if current is block else ()
                mentioned.update(name for inner in inside for name in symbols_stated(inner))
                pending.extend(b for region in op.regions for b in region.blocks)
            op = previous
    return erased


def _is_removable(op: Operation) -> bool:
    pure = isinstance(op, Op) and op.has_trait(traits.Pure) and not op.has_trait(traits.Terminator)
    return pure and not any(r.is_used for r in op.results)
