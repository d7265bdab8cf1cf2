"""Which blocks of a region every way to a block leads through.

Source: Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.ir.operation import Block, Region


class Dominance:
    """The dominator tree of a region. Blocks that cannot be reached are in no tree."""

    __slots__ = ("_above", "_order", "entry")

    def __init__(self, region: Region) -> None:
        self.entry = region.blocks[0] if region.blocks else None
        order = reverse_postorder(region)
        self._order: Mapping[Block, int] = {block: n for n, block in enumerate(order)}
        self._above: dict[Block, Block] = {}
        if len(order) > 1:
            self._settle(order)

    def _settle(self, order: list[Block]) -> None:
        above, number = self._above, self._order
        before: dict[Block, list[Block]] = {block: [] for block in order}
        for block in order:
            for successor in block.successors:
                before[successor].append(block)
        above[order[0]] = order[0]
        changed = True
        while changed:
            changed = False
            for block in order[1:]:
                found: Block | None = None
                # The last first: then a way out that many blocks have is found in one walk up, not in one for each.
                for other in reversed(before[block]):
                    if other not in above:
                        continue
                    met = other
                    while found is not None and met is not found:
                        if number[met] > number[found]:
                            met = above[met]
                        else:
                            found = above[found]
                    found = met
                if found is not None and above.get(block) is not found:
                    above[block] = found
                    changed = True
        del above[order[0]]

    def is_reachable(self, block: Block) -> bool:
        """Returns whether some way leads from the entry to a block."""
        return block in self._order

    def above(self, block: Block) -> Block | None:
        """Returns the closest other block that every way to a block leads through; None for the entry."""
        return self._above.get(block)

    def dominates(self, first: Block, second: Block) -> bool:
        """Returns whether every way to the second block leads through the first, which may be the second."""
        if second not in self._order:
            return True
        if first not in self._order:
            return False
        at: Block | None = second
        while at is not None and self._order[at] > self._order[first]:
            at = self._above.get(at)
        return at is first

    def below(self) -> Mapping[Block, list[Block]]:
        """For each block, those whose closest dominator it is, in order of the region."""
        out: dict[Block, list[Block]] = {block: [] for block in self._order}
        for block, parent in self._above.items():
            out[parent].append(block)
        return out


def reverse_postorder(region: Region) -> list[Block]:
    """Returns the blocks that can be reached, each after those that lead to it as far as there are no loops."""
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


__all__ = ["Dominance", "reverse_postorder"]
