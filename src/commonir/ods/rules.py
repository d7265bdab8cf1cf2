"""What a dialect says of simpler forms of its operations: rules as data, and functions for what rules cannot say.

A function gets an operation and an `Editor`, through which alone it changes the program, and tells whether it did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from commonir.ir.operation import Block, Operation, Value
from commonir.ods.operation import Op
from commonir.ods.terms import Precedence, Rewrite


class Editor:
    """Changes a program, and keeps what has to be looked at again and what is gone."""

    __slots__ = ("erased", "touched")

    def __init__(self) -> None:
        self.touched: list[Operation] = []
        self.erased: list[Operation] = []

    def touch(self, *ops: Operation) -> None:
        """Says that something about operations is new."""
        self.touched += ops

    def insert(self, op: Operation, before: Operation) -> None:
        """Puts a new operation before another one."""
        if before.parent is None:
            raise ValueError(f"{before.name} is in no block")
        before.parent.insert_before(before, op)
        op.location = op.location or before.location
        self.touched.append(op)

    def replace_uses(self, value: Value, by: Value) -> None:
        """Makes all users of a value use another one."""
        self.touched += value.users
        by.name = by.name or value.name
        value.replace_all_uses_with(by)

    def replace(self, op: Operation, values: Sequence[Value]) -> None:
        """Puts values in the place of the results of an operation, which goes."""
        for old, new in zip(op.results, values, strict=True):
            self.replace_uses(old, new)
        self.erase(op)

    def erase(self, op: Operation) -> None:
        """Removes an operation with everything in it."""
        self.erased += op.walk()
        self.touched += [v.owner for v in op.values_used if isinstance(v.owner, Operation)]
        op.erase()

    def set_operands(self, op: Operation, operands: Sequence[Value]) -> None:
        """Gives an operation other operands, as many as it has."""
        self.touched += [v.owner for v in op.operands if isinstance(v.owner, Operation)]
        op.operands = tuple(operands)
        self.touched.append(op)

    def inline(self, block: Block, before: Operation, values: Sequence[Value]) -> tuple[Value, ...]:
        """Moves what a block does before an operation, on values for its arguments; what the block ends with, which
        goes, says the values that are returned.
        """
        place = before.parent
        if place is None or block.last is None:
            raise ValueError("only a block with an end can stand before an operation of a block")
        for argument, value in zip(block.arguments, values, strict=True):
            self.replace_uses(argument, value)
        last = block.last
        for op in list(block.operations):
            if op is not last:
                op.detach()
                place.insert_before(before, op)
                self.touched.append(op)
        found = last.operands
        self.erase(last)
        return found


Simplification = Callable[[Any, Editor], bool]
"""Makes an operation simpler in place; False when it leaves everything as it was."""


class Rules:
    """How operations of a dialect become simpler. Of rules of one benefit the first is tried first."""

    __slots__ = ("functions", "rewrites")

    def __init__(
        self,
        rewrites: Iterable[Rewrite] = (),
        functions: Mapping[type[Op], Sequence[Simplification]] = MappingProxyType({}),
    ) -> None:
        self.rewrites = tuple([r.preceding(Precedence.ORDER) for r in rewrites])
        self.functions = functions


__all__ = ["Editor", "Rules", "Simplification"]
