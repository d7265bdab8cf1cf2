"""Queries of analyses about operations that lead to blocks and regions.

Source: MLIR, interfaces of branch operations and of operations that branch into their regions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ods.operation import Op
from commonir.ods.traits import Terminator

KnownData = Callable[[Value], Data | None]


class Branch:
    """Mixed into the definitions of terminators that lead to blocks."""

    __slots__ = ()

    def passed(self, number: int) -> tuple[Value, ...]:
        """Returns the values that become the arguments of a successor, by its number."""
        raise NotImplementedError

    def passing(self, passed: Sequence[Sequence[Value]]) -> Op:
        """Returns the same branch, in no block, that passes other values to its successors."""
        raise NotImplementedError

    def decided_by(self) -> tuple[Value, ...]:
        """Returns the operands that decide which successor runs next."""
        return ()

    def taken(self, known: KnownData) -> int | None:
        """Returns the number of the successor that runs next, when what is known tells."""
        del known
        return None


class Way(NamedTuple):
    """Where control may go: to a region of an operation, by its number, or on after the operation when None.

    `values` become the last arguments of the first block of the region, or the results; those before them are made by
    the operation itself.
    """

    target: int | None
    values: tuple[Value, ...] = ()


class RegionBranch:
    """Mixed into the definitions of operations that run their regions in ways that are known."""

    __slots__ = ()

    def entered(self, known: KnownData) -> Iterable[Way]:
        """Returns where control may go first."""
        raise NotImplementedError

    def left(self, number: int, last: Operation, known: KnownData) -> Iterable[Way]:
        """Returns where control may go from a region, by its number, that ends with an operation."""
        raise NotImplementedError


class Choice(RegionBranch, Op):
    """Base of operations that run one of two regions: the first operand is the condition, which is one bool.

    Both regions receive the other operands; what they end with becomes the results.
    """

    def choices(self) -> tuple[Region, Region | None]:
        """Returns the region that runs when the condition holds, and the one that runs when it does not, if there is
        one.
        """
        raise NotImplementedError

    def entered(self, known: KnownData) -> Iterator[Way]:
        if not self.operands:  # which the verifier tells
            return
        condition, *passed = self.operands
        data = known(condition)
        for holds, chosen in zip((True, False), self.choices(), strict=True):
            if data is not None and bool(data.values()[0]) is not holds:
                continue
            is_there = chosen is not None and chosen.blocks
            yield Way(self.regions.index(chosen), tuple(passed)) if is_there else Way(None)

    def left(self, number: int, last: Operation, known: KnownData) -> Iterator[Way]:
        del number, known
        yield Way(None, last.operands)


class Passage(NamedTuple):
    """The only way through an operation: `block` runs, once, if one does, and receives `received`.

    `given` are what become the results.
    """

    block: Block | None
    received: tuple[Value, ...]
    given: tuple[Value, ...]


def only_passage(op: Operation, known: KnownData) -> Passage | None:
    """Returns the only way through an operation, where what is known tells that there is one and that it repeats
    nothing.
    """
    if not isinstance(op, RegionBranch):
        return None
    ways = tuple(op.entered(known))
    if len(ways) != 1:
        return None
    target, received = ways[0]
    if target is None:
        return Passage(None, (), received) if len(received) == len(op.results) else None
    blocks = op.regions[target].blocks
    last = blocks[0].last if len(blocks) == 1 else None
    if not isinstance(last, Op) or not last.has_trait(Terminator) or len(received) != len(blocks[0].arguments):
        return None
    onward = tuple(op.left(target, last, known))
    if [way.target for way in onward] != [None] or len(onward[0].values) != len(op.results):
        return None
    return Passage(blocks[0], received, onward[0].values)


__all__ = ["Branch", "Choice", "KnownData", "Passage", "RegionBranch", "Way", "only_passage"]
