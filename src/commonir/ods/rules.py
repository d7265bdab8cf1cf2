"""Simplification rules of a dialect: rules as data, and functions for what rules cannot express.

A function gets an operation and an `Editor`, by which it changes the program, and returns whether it did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from commonir.ir.cloning import clone
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import Type, boolean, i64, index
from commonir.ods.mlir_op import HoldsData
from commonir.ods.operation import Op
from commonir.ods.terms import Precedence, Rewrite


class Editor:
    """Changes a program, and keeps what has to be looked at again and what is gone.

    `find` gives definitions of other dialects by their names, for rules that lead to their operations.
    """

    __slots__ = ("erased", "find", "touched")

    def __init__(self, find: Callable[[str], type[Op] | None] = lambda _: None) -> None:
        self.find = find
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
        if isinstance(by.owner, Operation):
            self.touched.append(by.owner)
        by.name = by.name or value.name
        value.replace_all_uses_with(by)

    def replace(self, op: Operation, values: Sequence[Value]) -> None:
        """Puts values in the place of the results of an operation, which goes."""
        for old, new in zip(op.results, values, strict=True):
            self.replace_uses(old, new)
        self.erase(op)

    def substitute(self, op: Operation, new_op: Operation) -> bool:
        """Puts a new operation in the place of one, whose results have the types of its own; True."""
        self.insert(new_op, op)
        self.replace(op, new_op.results)
        return True

    def hand_on(self, op: Operation, value: Value | None) -> bool:
        """Puts a value in the place of the result of an operation, where there is one of its type; whether it did."""
        if value is None or value.type is not op.results[0].type:
            return False
        self.replace(op, (value,))
        return True

    def erase(self, op: Operation) -> None:
        """Removes an operation with everything in it."""
        self.erased += op.walk()
        self.touched += [v.owner for v in op.values_used if isinstance(v.owner, Operation)]
        op.erase()

    def set_operands(self, op: Operation, operands: Sequence[Value]) -> None:
        """Gives an operation other operands, as many as it has."""
        self.touched += [v.owner for v in (*op.operands, *operands) if isinstance(v.owner, Operation)]
        op.operands = tuple(operands)
        self.touched.append(op)

    def made(self, name: str, arguments: Sequence[object], types: Sequence[Type], before: Operation) -> Op | None:
        """Returns a new operation before another one, by the name of its definition; None when that is not known."""
        definition = self.find(name)
        if definition is None:
            return None
        fields = [f.name for f in definition.layout.arguments]
        op = definition.build(dict(zip(fields, arguments, strict=False)), types)
        self.insert(op, before)
        return op

    def truth(self, is_true: bool, before: Operation) -> Value | None:
        """Returns a constant bool, made before an operation."""
        return self.constant(data_of(boolean, (), (is_true,)), boolean, before)

    def position(self, number: int, before: Operation) -> Value | None:
        """Returns a constant position, made before an operation."""
        return self.constant(data_of(i64, (), (number,)), index, before)

    def constant(self, data: Data, type: Type, before: Operation) -> Value | None:
        """Returns a constant of a type with some contents, made before an operation; None when nothing can hold
        them.
        """
        definition = self.find("arith.constant")
        if definition is None or not issubclass(definition, HoldsData):
            return None
        result = definition.holding(data, type)
        if not isinstance(result, Op):
            return None
        self.insert(result, before)
        return result.results[0]

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
        result = last.operands
        self.erase(last)
        return result

    def inline_copy(self, block: Block, before: Operation, values: Sequence[Value]) -> tuple[Value, ...]:
        """Does what a block does once more, before an operation, on values for its arguments; what the block ends with
        says the values that are returned.
        """
        stands = dict(zip(block.arguments, values, strict=True))
        last = block.last
        for op in block.operations:
            if op is not last and isinstance(op, Op):
                self.insert(clone(op, stands), before)
        return () if last is None else tuple([stands.get(v, v) for v in last.operands])


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
