"""Common subexpression elimination: what computes the same as an operation that dominates it is replaced by that.

Only operations without effects and without regions are taken; those whose results nobody uses go. Works on programs of
any dialect, in place. Source: MLIR, pass `cse`.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.ir.dominance import Dominance
from commonir.ir.operation import Block, Operation, Region
from commonir.ods import Op, traits
from commonir.rewrite.greedy import is_dead

Known = dict[object, Op]


def eliminate_common(root: Operation) -> int:
    """Removes repeated and unused operations from everything in an operation; how many went."""
    removed = 0
    # A region is visited with what is known around it; of an isolated operation that is nothing.
    pending: list[tuple[Region, Known]] = [(region, {}) for region in root.regions]
    while pending:
        region, known = pending.pop()
        holder = region.parent
        is_graph = not isinstance(holder, Op) or holder.has_trait(traits.GraphRegion)
        for block, visible in _blocks_with_known(region, known):
            op = block.first
            while op is not None:
                following = op.next
                if is_dead(op) or (not is_graph and _is_repeated(op, visible)):
                    op.erase()
                    removed += 1
                else:
                    is_isolated = isinstance(op, Op) and op.has_trait(traits.IsolatedFromAbove)
                    pending += [(inner, {} if is_isolated else dict(visible)) for inner in op.regions]
                op = following
    return removed


def _blocks_with_known(region: Region, known: Known) -> Iterator[tuple[Block, Known]]:
    """The blocks of a region that can be reached, each after its dominator, with the table of what dominates it.

    The table is filled while a block is visited, and copied for the blocks below it after that.
    """
    if len(region.blocks) == 1:
        yield region.blocks[0], known
        return
    dominance = Dominance(region)
    below = dominance.below()
    pending = [(dominance.entry, known)] if dominance.entry is not None else []
    while pending:
        block, visible = pending.pop()
        own = dict(visible)
        yield block, own
        pending += [(child, own) for child in reversed(below[block])]


def _is_repeated(op: Operation, visible: Known) -> bool:
    """Puts the results of an operation that is known in the place of those of one that computes the same."""
    key = _identity(op)
    if key is None or not isinstance(op, Op):
        return False
    same = visible.setdefault(key, op)
    if same is op:
        return False
    for old, new in zip(op.results, same.results, strict=True):
        old.replace_all_uses_with(new)
    return True


def _identity(op: Operation) -> object:
    """What operations that compute the same have in common; None for those that are never replaced."""
    if not isinstance(op, Op) or op.regions or not op.results or not op.has_trait(traits.Pure):
        return None
    if op.has_trait(traits.Random) or op.has_trait(traits.Terminator):
        return None
    attributes = tuple(op.attribute_dictionary.items())
    return type(op), op.operands, op.operand_offsets, attributes, tuple([r.type for r in op.results])


__all__ = ["eliminate_common"]
