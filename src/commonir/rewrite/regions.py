"""Simplifies regions of several blocks: removes unreachable blocks, and values that only use each other.

Source: MLIR, simplification of regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from commonir.ir.dominance import reverse_postorder
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ods import Op
from commonir.ods.branching import Branch
from commonir.ods.effects import Effects, effects_of, may_have_no_effect


def simplify_regions(root: Operation) -> bool:
    """Removes unreachable blocks, and unneeded operations and block arguments, from regions of several blocks in an
    operation.

    Returns whether there were any.
    """
    changed = False
    for region in list(_regions_of_blocks(root)):
        changed |= remove_unreachable(region)
        if len(region.blocks) > 1:
            changed |= _remove_unneeded(region)
    return changed


def _regions_of_blocks(root: Operation) -> Iterator[Region]:
    pending = [root]
    while pending:
        for region in pending.pop().regions:
            if len(region.blocks) > 1:
                yield region
            pending += [op for block in region.blocks for op in block.operations if op.regions]


def remove_unreachable(region: Region) -> bool:
    """Removes unreachable blocks; returns whether there were any."""
    if len(region.blocks) < 2:
        return False
    reached = set(reverse_postorder(region))
    unreachable = [block for block in region.blocks if block not in reached]
    if unreachable:
        region.blocks[:] = [block for block in region.blocks if block in reached]
        erase_blocks(unreachable)
    return bool(unreachable)


def erase_blocks(blocks: Iterable[Block]) -> None:
    """Erases all operations of removed blocks, which only use each other."""
    blocks = list(blocks)
    _erase_together([op for block in blocks for op in block.operations])
    for block in blocks:
        block.parent = None


def _erase_together(ops: Sequence[Operation]) -> None:
    """Erases operations that, including their regions, only use each other."""
    for op in ops:
        for nested in op.walk():
            nested.operands = ()
            nested.successors = ()
    for op in ops:
        op.detach()


def _remove_unneeded(region: Region) -> bool:
    live = _Liveness(region).live
    changed = False
    for block in region.blocks[1:]:
        remaining = [n for n, a in enumerate(block.arguments) if a in live]
        if len(remaining) < len(block.arguments) and _can_drop(block):
            _drop_arguments(block, remaining)
            changed = True
    dead = [
        op
        for block in region.blocks
        for op in block.operations
        if _has_no_write(op) and not any(r in live for r in op.results)
    ]
    _erase_together(dead)
    return changed or bool(dead)


def _has_no_write(op: Operation) -> bool:
    return may_have_no_effect(type(op)) and effects_of(op) <= Effects.READS


class _Liveness:
    """The results and block arguments of a region on which operations with effects depend."""

    def __init__(self, region: Region) -> None:
        self.live: set[Value] = set()
        self.pending: list[Value] = []
        for block in region.blocks:
            for op in block.operations:
                if not _has_no_write(op):
                    self._need(self._needed_by(op))
        while self.pending:
            value = self.pending.pop()
            owner = value.owner
            if isinstance(owner, Operation):
                self._need(owner.values_used)
            elif owner is not None and owner.parent is region:
                for block in dict.fromkeys(owner.predecessors):
                    self._need(_passed_to(block, owner, value.index))

    def _need(self, values: Iterable[Value]) -> None:
        for v in values:
            if v not in self.live:
                self.live.add(v)
                self.pending.append(v)

    @staticmethod
    def _needed_by(op: Operation) -> Iterable[Value]:
        if not isinstance(op, Branch):
            return op.values_used
        passed = {v for n in range(len(op.successors)) for v in op.successor_operands(n)}
        return op.selector_operands() if passed else op.operands


def _passed_to(block: Block, target: Block, index: int) -> Iterator[Value]:
    last = block.last
    if isinstance(last, Branch):
        for n, successor in enumerate(last.successors):
            if successor is target:
                yield last.successor_operands(n)[index]


def _can_drop(block: Block) -> bool:
    return all(isinstance(b.last, Branch) for b in block.predecessors)


def _drop_arguments(block: Block, remaining: list[int]) -> None:
    for before in dict.fromkeys(block.predecessors):
        last = before.last
        if isinstance(last, Branch) and isinstance(last, Op):
            passed = [
                tuple([last.successor_operands(n)[k] for k in remaining])
                if successor is block
                else last.successor_operands(n)
                for n, successor in enumerate(last.successors)
            ]
            replace_branch(last, last.with_successor_operands(passed))
    dropped = [a for n, a in enumerate(block.arguments) if n not in remaining]
    block.keep_arguments(remaining)
    for a in dropped:
        for op in a.users:
            op.operands = tuple([v for v in op.operands if v is not a])


def replace_branch(old: Op, new: Op) -> None:
    """Replaces a branch by a new one, preserving its undeclared attributes."""
    block = old.parent
    if block is None:
        raise ValueError("the branch is not in a block")
    new.location = old.location
    new.update_extra(old.extra)
    block.insert_before(old, new)
    old.erase()
