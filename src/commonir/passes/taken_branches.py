"""Replaces operations with a single possible path by the block that runs, such as an If with a constant condition."""

from __future__ import annotations

from commonir.ir.data import Data
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, known_data, traits
from commonir.ods.branching import SinglePath, single_path
from commonir.passes.named_values import identity_definition


def constant_data(value: Value) -> Data | None:
    """Returns the contents of the result of a constant operation; None for other values."""
    owner = value.owner
    return known_data(value) if isinstance(owner, Op) and owner.has_trait(traits.ConstantLike) else None


class TakenBranches:
    """Takes the branches that constants decide, in one function."""

    def __init__(self, function: Function) -> None:
        self._identity = identity_definition(function)

    def take(self, op: Operation) -> bool:
        """Replaces an operation by the block that runs; returns False if no constant decides that."""
        passage = single_path(op, constant_data)
        block = op.parent
        if passage is None or not isinstance(block, Block):
            return False
        inside = self._move(passage, op, block)
        for r, value in zip(op.results, passage.results, strict=True):
            replacement = value
            if passage.block is not None and value in passage.block.arguments:
                replacement = passage.received[passage.block.arguments.index(value)]
            if block.last is not None and r in block.last.operands:
                replacement = self._returned(r, replacement, op, block, inside)
            r.replace_all_uses_with(replacement)
        op.erase()
        return True

    def _move(self, passage: SinglePath, op: Operation, block: Block) -> set[Value]:
        """Moves the operations of the block that runs, except its terminator; returns their results but constants."""
        inside: set[Value] = set()
        if passage.block is None:
            return inside
        for inner in list(passage.block.operations):
            if inner is passage.block.last:
                break
            inner.detach()
            block.insert_before(op, inner)
            if not (isinstance(inner, Op) and inner.has_trait(traits.ConstantLike)):
                inside.update(inner.results)
        for argument, value in zip(passage.block.arguments, passage.received, strict=True):
            argument.replace_all_uses_with(value)
        return inside

    def _returned(self, r: Value, value: Value, op: Operation, block: Block, inside: set[Value]) -> Value:
        """Returns the value that replaces a result, under its name."""
        if self._identity is None:
            return value
        if value not in inside:
            built = self._identity(value)
            block.insert_before(op, built)
            value = built.results[0]
        inside.discard(value)
        value.name = r.name
        return value
