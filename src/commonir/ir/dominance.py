"""Dominance between the blocks of a region.

Source: Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.ir.operation import Block, Region


class Dominance:
    """The dominator tree of a region. Unreachable blocks are not part of it."""

    __slots__ = ("_order", "_parents", "entry")

    def __init__(self, region: Region) -> None:
        self.entry = region.blocks[0] if region.blocks else None
        order = reverse_postorder(region)
        self._order: Mapping[Block, int] = {block: n for n, block in enumerate(order)}
        self._parents: dict[Block, Block] = {}
        if len(order) > 1:
            self._compute(order)

    def _compute(self, order: list[Block]) -> None:
        parents, number = self._parents, self._order
        predecessors: dict[Block, list[Block]] = {block: [] for block in order}
        for block in order:
            for successor in block.successors:
                predecessors[successor].append(block)
        parents[order[0]] = order[0]
        changed = True
        while changed:
            changed = False
            for block in order[1:]:
                dominator: Block | None = None
                # In reverse, so that an exit shared by many blocks takes one walk up the tree instead of one per block.
                for other in reversed(predecessors[block]):
                    if other not in parents:
                        continue
                    met = other
                    while dominator is not None and met is not dominator:
                        if number[met] > number[dominator]:
                            met = parents[met]
                        else:
                            dominator = parents[dominator]
                    dominator = met
                if dominator is not None and parents.get(block) is not dominator:
                    parents[block] = dominator
                    changed = True
        del parents[order[0]]

    def is_reachable(self, block: Block) -> bool:
        """Returns whether a path leads from the entry to a block."""
        return block in self._order

    def dominates(self, first: Block, second: Block) -> bool:
        """Returns whether every path to the second block passes through the first. A block dominates itself."""
        if second not in self._order:
            return True
        if first not in self._order:
            return False
        at: Block | None = second
        while at is not None and self._order[at] > self._order[first]:
            at = self._parents.get(at)
        return at is first

    def children(self) -> Mapping[Block, list[Block]]:
        """Returns for each block its children in the dominator tree, in order of the region."""
        out: dict[Block, list[Block]] = {block: [] for block in self._order}
        for block, parent in self._parents.items():
            out[parent].append(block)
        return out


def reverse_postorder(region: Region) -> list[Block]:
    """Returns the reachable blocks in reverse postorder: each after its predecessors, loops aside."""
    if not region.blocks:
        return []
    out: list[Block] = []
    seen = {region.blocks[0]}
    pending = [(region.blocks[0], iter(region.blocks[0].successors))]
    while pending:
        block, following = pending[-1]
        successor = next(following, None)
        if successor is None:
            out.append(block)
            pending.pop()
        elif successor not in seen:
            seen.add(successor)
            pending.append((successor, iter(successor.successors)))
    out.reverse()
    return out
