"""Removes operations without effect whose results nobody uses."""

from __future__ import annotations

from collections.abc import Callable

from commonir.ir.operation import Block, Operation
from commonir.ods import Op, traits
from commonir.ods.data_dependent_dims import defined_dims, symbols_mentioned


def remove_unused(block: Block, is_needed: Callable[[Op], bool] | None = None) -> int:
    """Erases operations without effect whose results nobody uses, in a block and below; returns how many.

    An operation that defines a dim named in another one's attribute stays, and so does one with other effects.
    """
    erased = 0
    mentioned: set[str] = set()
    pending = [block]
    while pending:
        current = pending.pop()
        op = current.last
        while op is not None:
            previous = op.previous
            if _is_removable(op, mentioned) and (is_needed is None or not (isinstance(op, Op) and is_needed(op))):
                op.erase()
                erased += 1
            else:
                if current is block and (op.regions or (isinstance(op, Op) and op.attribute_values)):
                    for inner in op.walk():
                        mentioned.update(symbols_mentioned(inner))
                # What is nested is looked at later, when what it needs from outside has been decided on.
                for region in op.regions:
                    pending.extend(region.blocks)
            op = previous
    return erased


def _is_removable(op: Operation, mentioned: set[str]) -> bool:
    """Whether an operation does nothing but compute what nobody uses; `mentioned` are sizes that attributes mention."""
    if not isinstance(op, Op) or not op.has_trait(traits.Pure) or op.has_trait(traits.Terminator):
        return False
    for r in op.results:
        if r.is_used:
            return False
    return not mentioned or not any(size.name in mentioned for size in defined_dims(op))
