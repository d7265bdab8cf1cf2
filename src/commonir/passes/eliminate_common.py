"""Eliminates common subexpressions: an operation is replaced by an equal one that dominates it.

It covers operations without effect, also those with regions of one block, and repeated reads without a possible write
in between. Unused operations are removed. Works on programs of any dialect, in place. Source: MLIR, pass `cse`.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.ir.dominance import Dominance
from commonir.ir.equality import are_equal
from commonir.ir.operation import Block, Operation, Region
from commonir.ods import Op, traits
from commonir.ods.effects import Effects, effects_of, is_unneeded, may_have_no_effect

_Visit = Iterator["_Visit"]
"""Visits something; gives the visits of what is in it, to be made before it goes on."""


def eliminate_common(root: Operation) -> int:
    """Removes repeated and unused operations from everything in an operation; returns their number."""
    elimination = _Elimination()
    pending = [elimination.visit(region, _Available(), _is_ordered(root)) for region in reversed(root.regions)]
    while pending:
        nested = next(pending[-1], None)
        if nested is None:
            pending.pop()
        else:
            pending.append(nested)
    for op in elimination.removed:
        op.erase()
    return len(elimination.removed)


class _Available:
    """The operations that dominate the current one, by key."""

    __slots__ = ("_by_key", "_log")

    def __init__(self) -> None:
        self._by_key: dict[object, list[Op]] = {}
        self._log: list[object] = []

    def latest(self, key: object) -> Op | None:
        """Returns the last operation with a key."""
        result = self._by_key.get(key)
        return result[-1] if result else None

    def add(self, key: object, op: Op) -> None:
        """Adds an operation."""
        self._by_key.setdefault(key, []).append(op)
        self._log.append(key)

    @property
    def mark(self) -> int:
        """The current state, for `forget_since`."""
        return len(self._log)

    def forget_since(self, mark: int) -> None:
        """Removes all operations that were added since a mark."""
        while len(self._log) > mark:
            self._by_key[self._log.pop()].pop()


class _Elimination:
    """One run of the pass. `removed` are the operations to erase at the end."""

    def __init__(self) -> None:
        self.removed: list[Operation] = []
        self._candidates: set[Operation] = set()
        # How many operations that may write were passed: two that read with the same count read the same.
        self._writes = 0
        self._writes_before: dict[Op, int] = {}

    def visit(self, region: Region, available: _Available, is_ordered: bool) -> _Visit:
        """Visits the reachable blocks of a region, each with the operations of the blocks that dominate it."""
        mark = available.mark
        if len(region.blocks) == 1:
            yield from self._block(region.blocks[0], available, is_ordered)
        elif region.blocks:
            dominance = Dominance(region)
            below = dominance.children()
            pending: list[Block | int] = [region.blocks[0]]
            while pending:
                current = pending.pop()
                if isinstance(current, int):
                    available.forget_since(current)
                    continue
                pending.append(available.mark)
                yield from self._block(current, available, is_ordered)
                pending += reversed(below[current])
        available.forget_since(mark)

    def _block(self, block: Block, available: _Available, is_ordered: bool) -> _Visit:
        for op in block.operations:
            is_isolated = isinstance(op, Op) and op.has_trait(traits.IsolatedFromAbove)
            for region in op.regions:
                yield self.visit(region, _Available() if is_isolated else available, _is_ordered(op))
            self._consider(op, available, is_ordered)

    def _consider(self, op: Operation, available: _Available, is_ordered: bool) -> None:
        if not isinstance(op, Op) or not may_have_no_effect(type(op)):
            self._writes += not (isinstance(op, Op) and op.has_trait(traits.Pure))
        elif is_unneeded(op):
            self.removed.append(op)
        elif any(len(region.blocks) != 1 for region in op.regions):
            return
        else:
            key = _identity(op)
            same = None if key is None else available.latest(key)
            if same is None or not self._is_same(same, op):
                self._remember(op, key, available)
            elif self._replace(op, same, is_ordered):
                self.removed.append(op)

    def _remember(self, op: Op, key: object, available: _Available) -> None:
        if key is not None:
            available.add(key, op)
            self._candidates.add(op)
            if not op.has_trait(traits.Pure):
                self._writes_before[op] = self._writes

    def _is_same(self, available: Op, op: Op) -> bool:
        """Returns whether two operations with equal keys compute the same."""
        if op.regions and not are_equal(available, op, shared=True):
            return False
        if op.has_trait(traits.Pure):
            return True
        match effects_of(op):
            case Effects.NONE:
                return True
            case Effects.READS:
                return available.parent is op.parent and self._writes_before[available] == self._writes
            case _:
                return False

    def _replace(self, op: Op, same: Op, is_ordered: bool) -> bool:
        """Replaces the results of an operation by those of another one; returns whether it can be erased."""
        for old, new in zip(op.results, same.results, strict=True):
            if is_ordered:
                old.replace_all_uses_with(new)
                continue
            # What was visited is known by its operands.
            for user in old.users:
                if user not in self._candidates:
                    user.operands = tuple([new if v is old else v for v in user.operands])
        return not any(r.is_used for r in op.results)


def _is_ordered(holder: Operation) -> bool:
    """Returns whether the operations in an operation run in the order of the text."""
    return isinstance(holder, Op) and not holder.has_trait(traits.GraphRegion)


def _identity(op: Op) -> object:
    """Returns a key that equal computations share; None for operations that are never merged."""
    if not op.results or op.has_trait(traits.Random):
        return None
    operands = op.operands
    if op.has_trait(traits.Commutative):
        operands = tuple(sorted(operands, key=id))
    attributes = tuple(op.attribute_dictionary.items())
    return type(op), operands, op.operand_offsets, attributes, tuple([r.type for r in op.results])
