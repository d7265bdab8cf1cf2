"""Moves the constants of a program to the beginning of the functions that use them, without duplicates.

Source: MLIR, folding of operations.
"""

from __future__ import annotations

from commonir.ir.data import FileData
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, traits

_COMPARED_BYTES = 1 << 16
"""Constants up to this size are compared by contents."""


class ConstantPool:
    """The constants at the beginning of isolated operations, by contents."""

    __slots__ = ("_constants", "_owned")

    def __init__(self) -> None:
        self._constants: dict[tuple[Block, object], Op] = {}
        self._owned: set[Operation] = set()

    def adopt(self, op: Op) -> Value | None:
        """Moves a constant to the pool of its function; returns the value that replaces it if there is an equal one."""
        block, key = _pool_block(op), identity(op)
        if block is None or key is None:
            return None
        same = self._constants.setdefault((block, key), op)
        if same is not op:
            return same.results[0]
        self._owned.add(op)
        if block.first is not op and op.previous not in self._owned:
            _move_to_front(op, block)
        return None

    def place(self, op: Op, near: Operation) -> Value:
        """Inserts a new constant in the pool of the function that encloses an operation, and returns it or an equal
        existing one.
        """
        block, key = _pool_block(near), identity(op)
        if block is None:
            raise ValueError(f"{near.name} is not in a block")
        same = None if key is None else self._constants.get((block, key))
        if same is not None and same.parent is not None:
            return same.results[0]
        _move_to_front(op, block)
        self._owned.add(op)
        if key is not None:
            self._constants[block, key] = op
        return op.results[0]

    def forget(self, op: Operation) -> None:
        """Removes an erased constant from the pool."""
        if op in self._owned and isinstance(op, Op):
            self._owned.discard(op)
            block, key = _pool_block(op), identity(op)
            if block is not None and self._constants.get((block, key)) is op:
                del self._constants[block, key]


def _move_to_front(op: Operation, block: Block) -> None:
    if op.parent is not None:
        op.detach()
    if block.first is None:
        block.append(op)
    else:
        block.insert_before(block.first, op)


def _pool_block(op: Operation) -> Block | None:
    """Returns the first block of the closest region around an operation whose holder is isolated from above."""
    block = op.parent
    while block is not None and block.parent is not None:
        holder = block.parent.parent
        if holder is None or not isinstance(holder, Op) or holder.has_trait(traits.IsolatedFromAbove):
            return block.parent.blocks[0]
        block = holder.parent
    return block


def identity(op: Op) -> object:
    """Returns a key that equal constants share; None for those that are not compared."""
    data = op.constant_data()
    if data is not None and (isinstance(data, FileData) or data.size_bytes > _COMPARED_BYTES):
        return None
    if op.operands or op.regions:
        return None
    return type(op), tuple([r.type for r in op.results]), tuple(op.attribute_dictionary.items())
