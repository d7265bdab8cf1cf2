"""Interfaces by which analyses query the control flow of operations with successors and regions.

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
    """A mixin for definitions of terminators with successors."""

    __slots__ = ()

    def successor_operands(self, number: int) -> tuple[Value, ...]:
        """Returns the values passed to the arguments of a successor, by its index."""
        raise NotImplementedError

    def with_successor_operands(self, passed: Sequence[Sequence[Value]]) -> Op:
        """Returns a detached copy of the branch that passes other values to its successors."""
        raise NotImplementedError

    def selector_operands(self) -> tuple[Value, ...]:
        """Returns the operands that decide which successor runs next."""
        return ()

    def taken_successor(self, known: KnownData) -> int | None:
        """Returns the index of the successor that runs next, if the known values determine it."""
        del known
        return None


class RegionSuccessor(NamedTuple):
    """An edge of control flow: to a region of an operation, by its index, or out of the operation when None.

    `values` are passed to the last arguments of the first block of the region, or to the last results; the operation
    itself computes the preceding ones.
    """

    target: int | None
    values: tuple[Value, ...] = ()


class RegionBranch:
    """A mixin for definitions of operations whose control flow between regions is known."""

    __slots__ = ()

    def entry_successors(self, known: KnownData) -> Iterable[RegionSuccessor]:
        """Returns the edges by which control may enter the operation."""
        raise NotImplementedError

    def region_successors(self, number: int, last: Operation, known: KnownData) -> Iterable[RegionSuccessor]:
        """Returns the edges by which control may leave a region, by its index and terminator: by default to the end."""
        del number, known
        return (RegionSuccessor(None, last.operands),)


class Conditional(RegionBranch, Op):
    """Base of operations that run one of two regions: the first operand is the condition, a scalar bool.

    Both regions receive the other operands; the operands of their terminators become the results.
    """

    def choices(self) -> tuple[Region, Region | None]:
        """Returns the region that runs when the condition holds, and the other one, if there is one."""
        raise NotImplementedError

    def entry_successors(self, known: KnownData) -> Iterator[RegionSuccessor]:
        if not self.operands:  # reported by the verifier
            return
        condition, *passed = self.operands
        data = known(condition)
        for holds, chosen in zip((True, False), self.choices(), strict=True):
            if data is not None and bool(data.values()[0]) is not holds:
                continue
            has_blocks = chosen is not None and chosen.blocks
            yield RegionSuccessor(self.regions.index(chosen), tuple(passed)) if has_blocks else RegionSuccessor(None)


class SinglePath(NamedTuple):
    """The only path through an operation: `block`, if not None, runs once with the arguments `received`.

    `results` are the values of the results.
    """

    block: Block | None
    received: tuple[Value, ...]
    results: tuple[Value, ...]


def single_path(op: Operation, known: KnownData) -> SinglePath | None:
    """Returns the path through an operation, if the known values determine a single one without loops; else None."""
    if not isinstance(op, RegionBranch):
        return None
    edges = tuple(op.entry_successors(known))
    if len(edges) != 1:
        return None
    target, received = edges[0]
    if target is None:
        return SinglePath(None, (), received) if len(received) == len(op.results) else None
    blocks = op.regions[target].blocks
    last = blocks[0].last if len(blocks) == 1 else None
    if not isinstance(last, Op) or not last.has_trait(Terminator) or len(received) != len(blocks[0].arguments):
        return None
    exits = tuple(op.region_successors(target, last, known))
    if [edge.target for edge in exits] != [None] or len(exits[0].values) != len(op.results):
        return None
    return SinglePath(blocks[0], received, exits[0].values)
