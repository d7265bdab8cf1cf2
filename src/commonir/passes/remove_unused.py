"""Removes unused operations without effect."""

from __future__ import annotations

from collections.abc import Callable

from commonir.ir.operation import Block, Operation
from commonir.ods import Op, traits
from commonir.ods.data_dependent_dims import defined_dims, symbols_mentioned


def remove_unused(block: Block, is_needed: Callable[[Op], bool] | None = None) -> int:
    """Erases unused operations without effect in a block and nested blocks; returns their number.

    An operation stays if it has effects, or defines a dim that an attribute of another operation mentions.
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
                    for nested in op.walk():
                        mentioned.update(symbols_mentioned(nested))
                # What is nested is looked at later, when what it needs from outside has been decided on.
                for region in op.regions:
                    pending.extend(region.blocks)
            op = previous
    return erased


def _is_removable(op: Operation, mentioned: set[str]) -> bool:
    """Returns whether an operation is pure and unused; `mentioned` are symbols that attributes mention."""
    if not isinstance(op, Op) or not op.has_trait(traits.Pure) or op.has_trait(traits.Terminator):
        return False
    for r in op.results:
        if r.is_used:
            return False
    return not mentioned or not any(dim.name in mentioned for dim in defined_dims(op))
