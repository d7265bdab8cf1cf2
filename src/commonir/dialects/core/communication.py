"""Core operations by which the ranks of a program exchange tensors. A transport executes them.

A program of ranks has a function for each, which declares its rank. Messages with the same source, destination and tag
arrive in the order in which they were sent; a send does not block. Source: ARK model files, execution rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects.core.base import ELEMENTS, NUMBERS, CoreOp, function
from commonir.ir.attributes import IntegerAttr
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType, Type, i64
from commonir.ods import attr_types, attribute, operand, result, traits

_RANK, _WORLD_SIZE = "core.rank", "core.world_size"


class Send(CoreOp, name="core.send", traits=(traits.Communicates,)):
    """Sends a copy of a tensor to another rank; nothing waits for its arrival."""

    x: Value = operand("T[*]")
    destination: int = attribute(attr_types.integer, doc="the rank that receives it")
    tag: int = attribute(attr_types.integer, doc="distinguishes messages between the same two ranks")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        return ()


class Recv(CoreOp, name="core.recv", traits=(traits.Communicates,)):
    """Receives a tensor from another rank."""

    source: int = attribute(attr_types.integer, doc="the rank that sends it")
    tag: int = attribute(attr_types.integer, doc="distinguishes messages between the same two ranks")
    shape: tuple[int, ...] = attribute(attr_types.integers, doc="the shape of the tensor")
    element: ElementType = attribute(attr_types.element, doc="the element type of the tensor")
    y: Value = result("T[*]")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(self.element, self.shape),)


class AllReduce(CoreOp, name="core.all_reduce", traits=(traits.Communicates,)):
    """Sums the tensors of all ranks.

    Rank `r` of `n` adds to its own tensor those of ranks r - 1, r - 2 and so on, modulo n, rounding after each.
    """

    x: Value = operand("T[*]")
    y: Value = result("T[*]")
    T = NUMBERS

    def infer(self) -> tuple[Type, ...]:
        return (self.x.type,)


class Barrier(CoreOp, name="core.barrier", traits=(traits.Communicates,)):
    """Synchronizes all ranks."""

    def infer(self) -> tuple[Type, ...]:
        return ()


class Exchange(NamedTuple):
    """A step of an all-reduce on one rank: the rank that it sends its tensor to, and the rank whose tensor it adds."""

    destination: int
    source: int


def all_reduce_steps(rank: int, world_size: int) -> tuple[Exchange, ...]:
    """The messages of a `core.all_reduce` on a rank, in order.

    In step i, rank r gives its own tensor to rank r + i, waits for that of rank r - i, and adds it to its sum.
    """
    return tuple([Exchange((rank + i) % world_size, (rank - i) % world_size) for i in range(1, world_size)])


recv = function(Recv)
all_reduce = function(AllReduce)


def set_rank(op: Function, rank: int, world_size: int) -> None:
    """States which rank of how many a function is what runs on."""
    op.set_extra(_RANK, IntegerAttr(rank, i64))
    op.set_extra(_WORLD_SIZE, IntegerAttr(world_size, i64))


def rank_of(op: Operation) -> tuple[int, int] | None:
    """The rank that runs a function, and how many there are; None for a function that is of no rank."""
    rank, world_size = op.extra.get(_RANK), op.extra.get(_WORLD_SIZE)
    if isinstance(rank, IntegerAttr) and isinstance(world_size, IntegerAttr):
        return rank.value, world_size.value
    return None


def ranks_of(module: Module) -> tuple[Function, ...]:
    """The functions that are what ranks run, in the order of ranks; none in a program that is not of ranks."""
    result = {rank: op for op in module.functions.values() for rank, _ in [rank_of(op) or (-1, 0)] if rank >= 0}
    return tuple([result[rank] for rank in sorted(result)])


def are_all_ranks(functions: Sequence[Function]) -> bool:
    """Returns whether functions are what each rank of a program runs, in the order of ranks."""
    return [rank_of(op) for op in functions] == [(n, len(functions)) for n in range(len(functions))]
