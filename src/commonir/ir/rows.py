"""Operations of a block that are made when somebody asks for one of them.

A reader that knows that each operation of a block says what an earlier one says, on other values of the same types,
hands over rows instead of operations: for each its kind, and which values it is given. Whoever touches an operation of
the block, or asks who uses one of its arguments, makes all of them, and nothing tells then that there were rows.
Verifier and printer work on the kinds.
"""

# pyright: reportPrivateUsage=false
# Rows take the place of what blocks and values keep.

from __future__ import annotations

from _thread import allocate_lock  # of `threading` nothing else is needed, which takes long to load
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

from commonir.base.collecting import no_collection
from commonir.ir.attributes import Attribute, FloatAttr, IntegerAttr
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.origins import Origin
from commonir.ir.types import Type


class Kind:
    """What operations of one kind share.

    `like` is one of them that is nowhere. `order` are the places of its operands among the names used in its text,
    None where they stand in order. `family`: an operation with an open number, where that made this kind of it by
    telling `number`; what holds for it whatever the number, holds for all kinds of the family.
    """

    __slots__ = ("extra", "family", "like", "number", "operand_types", "order", "result_types")

    def __init__(
        self, like: Operation, order: tuple[int, ...] | None = None, extra: dict[str, Attribute] | None = None
    ) -> None:
        self.like = like
        self.operand_types: list[Type] = [v.type for v in like.operands]
        self.result_types: tuple[Type, ...] = tuple([r.type for r in like.results])
        self.order = order
        self.extra = extra
        self.family: Operation | None = None
        self.number: IntegerAttr | FloatAttr | None = None


class Rows(ABC):
    """The operations of a block.

    `kinds`: what kind each is of. `values`: for each its results, and then its operands in the order of its text, as
    numbers: arguments of the block first, then results in order. No operation has regions, successors or a symbol, or
    is given a value that is not of the block or comes later. `result_count` is that of all of them together.
    `distinct`: each kind once, in order of first use, known when a block holds them.
    """

    def __init__(
        self, arguments: tuple[Value, ...], kinds: Sequence[Kind], values: Sequence[int], result_count: int
    ) -> None:
        self.arguments = arguments
        self.kinds = kinds
        self.values = values
        self.result_count = result_count
        self.distinct: Iterable[Kind] = ()
        self._lock = allocate_lock()

    @abstractmethod
    def origins(self) -> Iterable[tuple[Origin, str]]:
        """For each operation where it comes from, and what its result is called."""

    @property
    def alike(self) -> list[Operation]:
        """One operation of each kind, and one of kinds that differ in a number only."""
        return [*{kind if kind.family is None else kind.family: kind.like for kind in self.distinct}.values()]

    @property
    def ending(self) -> Operation:
        """An operation like the last."""
        return self.kinds[-1].like

    @property
    def counts(self) -> list[tuple[Operation, int]]:
        """One operation of each kind, in order of first use, with how many of the kind there are."""
        return [(kind.like, count) for kind, count in Counter(self.kinds).items()]

    @property
    def ending_operands(self) -> tuple[Value, ...]:
        """What the last operation is given: arguments, and for results values of the same names and types."""
        kind = self.kinds[-1]
        numbers = self.values[len(self.values) - len(kind.operand_types) :]
        wanted = set(numbers)
        made = {n: v for n, v in enumerate(self.arguments) if n in wanted}
        number = len(self.arguments)
        for row, (_, name) in zip(self.kinds, self.origins(), strict=True):
            if len(made) == len(wanted):
                break
            for n, kind_of_result in enumerate(row.result_types, number):
                if n in wanted:
                    made[n] = Value(kind_of_result, name=name)
            number += len(row.result_types)
        operands = [made[n] for n in numbers]
        return tuple(operands if kind.order is None else [operands[n] for n in kind.order])

    def append_to(self, block: Block) -> list[Value]:
        """Makes the operations; returns the values of the block, in order."""
        return self._append(block, self.arguments)

    def hold(self, block: Block) -> None:
        """Becomes what a block without operations holds."""
        self.distinct = tuple(dict.fromkeys(self.kinds))
        block.rows = self
        block._count = len(self.kinds)
        # Asking for one of them calls `make`.
        del block._first, block._last
        block.__class__ = _BlockOfRows
        for argument in self.arguments:
            del argument._users
            argument.__class__ = _ArgumentOfRows

    def copied(self, arguments: tuple[Value, ...]) -> Self:
        """The same operations on the arguments of another block."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made.arguments = arguments
        made._lock = allocate_lock()
        return made

    def make(self, block: Block) -> None:
        """Puts operations in the place of the rows, at once for other threads, which may have done it meanwhile."""
        with self._lock, no_collection():
            if block.rows is None:
                return
            made, arguments = Block(), [Value(a.type) for a in self.arguments]
            self._append(made, arguments)
            for op in made.operations:
                op.parent = block
            for argument, own in zip(arguments, self.arguments, strict=True):
                for op in argument.users:
                    op._operands = tuple([own if v is argument else v for v in op._operands])
                own._users = argument._users
            block._first, block._last = made._first, made._last
            block.rows = None
            # Last: nothing is missing any more.
            block.__class__ = Block
            for own in self.arguments:
                own.__class__ = Value

    def _append(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        made = list(arguments)
        values, at = self.values, 0
        for kind, (origin, name) in zip(self.kinds, self.origins(), strict=True):
            first = at + len(kind.result_types)
            at = first + len(kind.operand_types)
            operands = [made[n] for n in values[first:at]]
            if kind.order is not None:
                operands = [operands[n] for n in kind.order]
            results = block.append_like(kind.like, tuple(operands), kind.result_types, kind.extra, origin)
            if name:
                results[0].name = name
            made += results
        return made


class _BlockOfRows(Block):
    """What a block is while it holds rows: one that makes them when it is asked for its operations.

    Only these have a `__getattr__`, because attributes of a class that has one are found slowly.
    """

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if self.rows is not None and name in ("_first", "_last"):
                self.rows.make(self)
            return object.__getattribute__(self, name)


class _ArgumentOfRows(Value):
    """What an argument of such a block is: who uses it is not known before there are operations."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            block = self.owner if name == "_users" else None
            if isinstance(block, Block) and block.rows is not None:
                block.rows.make(block)
            return object.__getattribute__(self, name)


def counted(block: Block) -> list[tuple[Operation, int]]:
    """The operations of a block, each with 1; of one that holds rows an operation of each kind, which is nowhere, with
    how many there are.
    """
    return [(op, 1) for op in block.operations] if block.rows is None else block.rows.counts


def walk_counted(root: Operation) -> Iterator[tuple[Operation, int]]:
    """As `Operation.walk`, each as `counted` gives it."""
    pending: list[tuple[Operation, int]] = [(root, 1)]
    while pending:
        op, count = pending.pop()
        yield op, count
        for block in [block for region in reversed(op.regions) for block in reversed(region.blocks)]:
            pending += reversed(counted(block))


def ending_operands(block: Block) -> tuple[Value, ...]:
    """What the last operation of a block is given, or values of the same names and types that are nowhere."""
    if block.rows is not None:
        return block.rows.ending_operands
    return () if block.last is None else block.last.operands


__all__ = ["Kind", "Rows", "counted", "ending_operands", "walk_counted"]
