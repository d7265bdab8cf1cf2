"""Simplification rules of a dialect: rewrite rules, and functions for rewrites that rules cannot express.

A function takes an operation and an `Editor`, with which it changes the program, and returns whether it did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from commonir.ir.cloning import clone
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import Type, boolean, i64, index
from commonir.ods.mlir_op import FromData
from commonir.ods.operation import Op
from commonir.ods.terms import Precedence, Rewrite


class Editor:
    """Changes a program, and records which operations to visit again and which were erased.

    `find` returns definitions of other dialects by name, for rules whose results have operations of these.
    """

    __slots__ = ("erased", "find", "touched")

    def __init__(self, find: Callable[[str], type[Op] | None] = lambda _: None) -> None:
        self.find = find
        self.touched: list[Operation] = []
        self.erased: list[Operation] = []

    def touch(self, *ops: Operation) -> None:
        """Records that operations have changed."""
        self.touched += ops

    def insert(self, op: Operation, before: Operation) -> None:
        """Inserts a new operation before an operation."""
        if before.parent is None:
            raise ValueError(f"{before.name} is not in a block")
        before.parent.insert_before(before, op)
        op.location = op.location or before.location
        self.touched.append(op)

    def replace_uses(self, value: Value, by: Value) -> None:
        """Replaces all uses of a value by another one."""
        self.touched += value.users
        if isinstance(by.owner, Operation):
            self.touched.append(by.owner)
        by.name = by.name or value.name
        value.replace_all_uses_with(by)

    def replace(self, op: Operation, values: Sequence[Value]) -> None:
        """Replaces the results of an operation by values, and erases it."""
        for old, new in zip(op.results, values, strict=True):
            self.replace_uses(old, new)
        self.erase(op)

    def substitute(self, op: Operation, new_op: Operation) -> bool:
        """Replaces an operation by a new one with the same result types; returns True."""
        self.insert(new_op, op)
        self.replace(op, new_op.results)
        return True

    def forward(self, op: Operation, value: Value | None) -> bool:
        """Replaces the result of an operation by a value of the same type; returns whether the types are equal."""
        if value is None or value.type is not op.results[0].type:
            return False
        self.replace(op, (value,))
        return True

    def erase(self, op: Operation) -> None:
        """Erases an operation with everything in it."""
        self.erased += op.walk()
        self.touched += [v.owner for v in op.values_used if isinstance(v.owner, Operation)]
        op.erase()

    def set_operands(self, op: Operation, operands: Sequence[Value]) -> None:
        """Replaces all operands of an operation."""
        self.touched += [v.owner for v in (*op.operands, *operands) if isinstance(v.owner, Operation)]
        op.operands = tuple(operands)
        self.touched.append(op)

    def create(self, name: str, arguments: Sequence[object], types: Sequence[Type], before: Operation) -> Op | None:
        """Inserts a new operation before another one, by the name of its definition; returns None when that is
        unknown.
        """
        definition = self.find(name)
        if definition is None:
            return None
        fields = [f.name for f in definition.layout.arguments]
        op = definition.build(dict(zip(fields, arguments, strict=False)), types)
        self.insert(op, before)
        return op

    def bool_constant(self, is_true: bool, before: Operation) -> Value | None:
        """Inserts a constant bool before an operation and returns it."""
        return self.constant(data_of(boolean, (), (is_true,)), boolean, before)

    def index_constant(self, number: int, before: Operation) -> Value | None:
        """Inserts a constant index before an operation and returns it."""
        return self.constant(data_of(i64, (), (number,)), index, before)

    def constant(self, data: Data, type: Type, before: Operation) -> Value | None:
        """Inserts a constant of a type before an operation; returns None when no operation can represent it."""
        definition = self.find("arith.constant")
        if definition is None or not issubclass(definition, FromData):
            return None
        result = definition.from_data(data, type)
        if not isinstance(result, Op):
            return None
        self.insert(result, before)
        return result.results[0]

    def inline(self, block: Block, before: Operation, values: Sequence[Value]) -> tuple[Value, ...]:
        """Moves the operations of a block before an operation, with values for its arguments, and returns the operands
        of the terminator, which is erased.
        """
        target = before.parent
        if target is None or block.last is None:
            raise ValueError("a block without a terminator cannot be inlined, nor can one before a detached operation")
        for argument, value in zip(block.arguments, values, strict=True):
            self.replace_uses(argument, value)
        last = block.last
        for op in list(block.operations):
            if op is not last:
                op.detach()
                target.insert_before(before, op)
                self.touched.append(op)
        result = last.operands
        self.erase(last)
        return result

    def inline_copy(self, block: Block, before: Operation, values: Sequence[Value]) -> tuple[Value, ...]:
        """Copies the operations of a block before an operation, with values for its arguments, and returns the operands
        of the terminator.
        """
        mapping = dict(zip(block.arguments, values, strict=True))
        last = block.last
        for op in block.operations:
            if op is not last and isinstance(op, Op):
                self.insert(clone(op, mapping), before)
        return () if last is None else tuple([mapping.get(v, v) for v in last.operands])


Simplification = Callable[[Any, Editor], bool]
"""Simplifies an operation in place; returns whether it changed anything."""


class Rules:
    """The simplification rules of a dialect. Rules of equal benefit are tried in order.

    The results of `rounding` may be rounded differently: users choose whether these functions apply.
    """

    __slots__ = ("functions", "rewrites", "rounding")

    def __init__(
        self,
        rewrites: Iterable[Rewrite] = (),
        functions: Mapping[type[Op], Sequence[Simplification]] = MappingProxyType({}),
        rounding: Mapping[type[Op], Sequence[Simplification]] = MappingProxyType({}),
    ) -> None:
        self.rewrites = tuple([r.preceding(Precedence.ORDER) for r in rewrites])
        self.functions = functions
        self.rounding = rounding
