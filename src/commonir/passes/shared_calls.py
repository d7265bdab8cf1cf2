"""Copies what a call became when it was lowered, for further calls of the same function on values of the same types.

Lowering a call means to check, infer and expand every operation of the function again; copying the result takes a
tenth of the time. What a function becomes depends on the types of its arguments, and on their contents where these are
known, so calls with known contents are not shared. Nor are those that introduced dims or had findings.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.cloning import clone
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType
from commonir.rewrite.expand import is_known


class CallStart(NamedTuple):
    """The first call of a function on values of some types, before its body is lowered.

    `marks` are counts that stay the same if lowering the body has no other effect than its operations.
    """

    key: object
    arguments: tuple[Value, ...]
    before: Operation | None
    marks: tuple[int, ...]


class _LoweredCall(NamedTuple):
    """The operations that a call became, from `first` to `last` in their block, and its results."""

    arguments: tuple[Value, ...]
    first: Operation | None
    last: Operation | None
    outputs: tuple[Value, ...]
    names: tuple[str, ...]

    def operations(self) -> list[Operation]:
        out: list[Operation] = []
        op = self.first
        while op is not None:
            out.append(op)
            op = None if op is self.last else op.next
        return out

    def is_closed(self) -> bool:
        """Returns whether the operations and results use nothing but the arguments and each other."""
        known = {*self.arguments}
        operations = self.operations()
        for op in operations:
            known.update(op.results)
        return all(v in known for v in self.outputs) and all(v in known for op in operations for v in op.values_used)


class SharedCalls:
    """The results of lowering the calls in a function, by the called function and the types of the arguments."""

    def __init__(self) -> None:
        self._by_key: dict[object, _LoweredCall] = {}
        self._open: set[object] = set()

    @staticmethod
    def key(called: Function, operands: Sequence[Value], block: Block) -> object | None:
        """Returns the key of a call; None if it cannot be shared."""
        if any(not isinstance(v.type, TensorType) or is_known(v) for v in operands):
            return None
        position = {v: n for n, v in reversed(list(enumerate(operands)))}
        return called, block.parent is None, tuple([(v.type, position[v]) for v in operands])

    def copy(self, key: object, operands: Sequence[Value], block: Block) -> tuple[Value, ...] | None:
        """Appends a copy of what a call of this key became to a block, and returns its results; None if there is
        nothing to copy.
        """
        lowered = self._by_key.get(key)
        if lowered is None:
            return None
        if key not in self._open:
            # Looked at when it is first copied, because many functions are called once.
            if not lowered.is_closed():
                del self._by_key[key]
                return None
            self._open.add(key)
        values = dict(zip(lowered.arguments, operands, strict=True))
        for op in lowered.operations():
            block.append(clone(op, values))
        outputs = tuple([values[v] for v in lowered.outputs])
        for v, name in zip(outputs, lowered.names, strict=True):
            v.name = v.name if v in operands else name
        return outputs

    def record(self, start: CallStart, outputs: Sequence[Value], block: Block, marks: tuple[int, ...]) -> None:
        """Records what the call became that began at `start`, if lowering it had no other effect."""
        if marks == start.marks:
            first = block.first if start.before is None else start.before.next
            last = None if first is None else block.last
            names = tuple([v.name for v in outputs])
            self._by_key[start.key] = _LoweredCall(start.arguments, first, last, tuple(outputs), names)
