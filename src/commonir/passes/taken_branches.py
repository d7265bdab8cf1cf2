"""Puts what runs in the place of operations through which there is one way, as an If whose condition is a constant."""

from __future__ import annotations

from commonir.ir.data import Data
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, known_data, traits
from commonir.ods.branching import SinglePath, single_path
from commonir.passes.named_values import identity_definition


def constant_data(value: Value) -> Data | None:
    """The contents of the result of a constant operation."""
    owner = value.owner
    return known_data(value) if isinstance(owner, Op) and owner.has_trait(traits.ConstantLike) else None


class TakenBranches:
    """Takes the ways that constants decide in one function."""

    def __init__(self, function: Function) -> None:
        self._copies = identity_definition(function)

    def take(self, op: Operation) -> bool:
        """Puts what runs in an operation before it, and removes the operation; False where it stays."""
        passage = single_path(op, constant_data)
        home = op.parent
        if passage is None or not isinstance(home, Block):
            return False
        inside = self._move(passage, op, home)
        for r, value in zip(op.results, passage.results, strict=True):
            stands = value
            if passage.block is not None and value in passage.block.arguments:
                stands = passage.received[passage.block.arguments.index(value)]
            if home.last is not None and r in home.last.operands:
                stands = self._returned(r, stands, op, home, inside)
            r.replace_all_uses_with(stands)
        op.erase()
        return True

    def _move(self, passage: SinglePath, op: Operation, home: Block) -> set[Value]:
        """Moves the operations of the block that runs, but its end; what they compute and do not share."""
        inside: set[Value] = set()
        if passage.block is None:
            return inside
        for inner in list(passage.block.operations):
            if inner is passage.block.last:
                break
            inner.detach()
            home.insert_before(op, inner)
            if not (isinstance(inner, Op) and inner.has_trait(traits.ConstantLike)):
                inside.update(inner.results)
        for argument, value in zip(passage.block.arguments, passage.received, strict=True):
            argument.replace_all_uses_with(value)
        return inside

    def _returned(self, r: Value, value: Value, op: Operation, home: Block, inside: set[Value]) -> Value:
        """Returns the value that replaces a result, under its name."""
        if self._copies is None:
            return value
        if value not in inside:
            built = self._copies(value)
            home.insert_before(op, built)
            value = built.results[0]
        inside.discard(value)
        value.name = r.name
        return value
