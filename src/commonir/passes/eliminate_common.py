"""Common subexpression elimination: what computes the same as an operation that dominates it is replaced by that.

Operations without effect are taken, also those with regions of one block; of those that only read, what is read again
with nothing between that may write. What nobody uses goes. Works on programs of any dialect, in place.
Source: MLIR, pass `cse`.
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
    """Removes repeated and unused operations from everything in an operation; how many went."""
    work = _Elimination()
    pending = [work.visit(region, _Known(), _is_ordered(root)) for region in reversed(root.regions)]
    while pending:
        nested = next(pending[-1], None)
        if nested is None:
            pending.pop()
        else:
            pending.append(nested)
    for op in work.gone:
        op.erase()
    return len(work.gone)


class _Known:
    """The operations that are visible at a place, by what they compute."""

    __slots__ = ("_by_key", "_log")

    def __init__(self) -> None:
        self._by_key: dict[object, list[Op]] = {}
        self._log: list[object] = []

    def latest(self, key: object) -> Op | None:
        """The operation with a key that came last."""
        result = self._by_key.get(key)
        return result[-1] if result else None

    def add(self, key: object, op: Op) -> None:
        """Makes an operation known."""
        self._by_key.setdefault(key, []).append(op)
        self._log.append(key)

    @property
    def mark(self) -> int:
        """A moment, to go back to."""
        return len(self._log)

    def forget_since(self, mark: int) -> None:
        """Goes back to a moment."""
        while len(self._log) > mark:
            self._by_key[self._log.pop()].pop()


class _Elimination:
    """One run of the pass. `gone` are the operations that go when it is over."""

    def __init__(self) -> None:
        self.gone: list[Operation] = []
        self._kept: set[Operation] = set()
        # How many operations that may write were passed: two that read with the same count read the same.
        self._writes = 0
        self._writes_before: dict[Op, int] = {}

    def visit(self, region: Region, known: _Known, is_ordered: bool) -> _Visit:
        """Visits the blocks of a region that can be reached, each with what is known in those that dominate it."""
        outside = known.mark
        if len(region.blocks) == 1:
            yield from self._block(region.blocks[0], known, is_ordered)
        elif region.blocks:
            dominance = Dominance(region)
            below = dominance.children()
            pending: list[Block | int] = [region.blocks[0]]
            while pending:
                at = pending.pop()
                if isinstance(at, int):
                    known.forget_since(at)
                    continue
                pending.append(known.mark)
                yield from self._block(at, known, is_ordered)
                pending += reversed(below[at])
        known.forget_since(outside)

    def _block(self, block: Block, known: _Known, is_ordered: bool) -> _Visit:
        for op in block.operations:
            is_isolated = isinstance(op, Op) and op.has_trait(traits.IsolatedFromAbove)
            for inner in op.regions:
                yield self.visit(inner, _Known() if is_isolated else known, _is_ordered(op))
            self._consider(op, known, is_ordered)

    def _consider(self, op: Operation, known: _Known, is_ordered: bool) -> None:
        if not isinstance(op, Op) or not may_have_no_effect(type(op)):
            self._writes += not (isinstance(op, Op) and op.has_trait(traits.Pure))
        elif is_unneeded(op):
            self.gone.append(op)
        elif any(len(region.blocks) != 1 for region in op.regions):
            return
        else:
            key = _identity(op)
            same = None if key is None else known.latest(key)
            if same is None or not self._is_same(same, op):
                self._remember(op, key, known)
            elif self._replace(op, same, is_ordered):
                self.gone.append(op)

    def _remember(self, op: Op, key: object, known: _Known) -> None:
        if key is not None:
            known.add(key, op)
            self._kept.add(op)
            if not op.has_trait(traits.Pure):
                self._writes_before[op] = self._writes

    def _is_same(self, known: Op, op: Op) -> bool:
        """Whether two operations with one key compute the same."""
        if op.regions and not are_equal(known, op, shared=True):
            return False
        if op.has_trait(traits.Pure):
            return True
        match effects_of(op):
            case Effects.NONE:
                return True
            case Effects.READS:
                return known.parent is op.parent and self._writes_before[known] == self._writes
            case _:
                return False

    def _replace(self, op: Op, same: Op, is_ordered: bool) -> bool:
        """Puts the results of an operation in the place of those of another; whether that can go."""
        for old, new in zip(op.results, same.results, strict=True):
            if is_ordered:
                old.replace_all_uses_with(new)
                continue
            # What was visited is known by its operands.
            for user in old.users:
                if user not in self._kept:
                    user.operands = tuple([new if v is old else v for v in user.operands])
        return not any(r.is_used for r in op.results)


def _is_ordered(holder: Operation) -> bool:
    """Whether what an operation holds is in the order in which it runs."""
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
