"""The state of replacing one operation in a legalization: the candidates that are left, how to undo the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum

from commonir.base.diagnostics import Diagnostic
from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, known_data


class Fallback(Enum):
    """The alternatives to applying a rule to an operation."""

    REFERENCE = "its reference"
    LATER = "a later step"
    KEEP = "kept"


class LegalizationStep(NamedTuple):
    """A step of legalizing a source operation: what replaced which operation, and the names of the new ones.

    `origin` is the source operation, `by` the name of a rule, or what is done instead.
    """

    origin: Operation
    name: str
    by: str
    produced: tuple[str, ...]


class Attempt:
    """The attempt to replace an operation; `candidates` are what is left to try, the cheapest first.

    `reasons` say why those before did not apply. `failure` is what was first found in operations that a candidate gave.
    """

    __slots__ = (
        "applied",
        "built",
        "candidates",
        "failure",
        "frame",
        "is_cycle",
        "mark",
        "memo",
        "op",
        "operands",
        "reasons",
        "step_count",
    )

    def __init__(self, op: Operation, operands: tuple[Value, ...], frame: Frame, candidates: list[object]) -> None:
        self.op = op
        self.operands = operands
        self.frame = frame
        self.candidates = candidates
        self.reasons: list[str] = []
        self.failure: Diagnostic | None = None
        self.applied: object = None
        self.built: Sequence[Operation] = ()
        self.mark: Operation | None = frame.block.last
        self.memo: dict[object, Value] = {}
        self.step_count = 0
        self.is_cycle = False

    def is_same(self, other: Operation) -> bool:
        """Returns whether another operation is equal but for operands that are not constant, and has their types."""
        mine = self.op
        if type(mine) is not type(other) or len(mine.operands) != len(other.operands) or mine.regions or other.regions:
            return False
        if [r.type for r in mine.results] != [r.type for r in other.results]:
            return False
        if not isinstance(mine, Op) or not isinstance(other, Op):
            return False
        if mine.attribute_dictionary != other.attribute_dictionary:
            return False
        pairs = zip(mine.operands, other.operands, strict=True)
        return all(a.type is b.type and _is_same_constant(a, b) for a, b in pairs)


def _is_same_constant(a: Value, b: Value) -> bool:
    if a is b:
        return True
    first, second = known_data(a), known_data(b)
    if first is None or second is None:
        return first is second
    return first.identity == second.identity


class Frame:
    """Operations still to be legalized into a block, and a function to call afterwards.

    `attempt` gave the operations, if they replace another one.
    """

    __slots__ = ("_operations", "_postponed", "attempt", "block", "depth", "finish", "origin")

    def __init__(
        self,
        operations: Iterable[Operation],
        block: Block,
        origin: Operation | None = None,
        finish: Callable[[], None] | None = None,
        depth: int = 0,
        attempt: Attempt | None = None,
    ) -> None:
        self._operations: Iterator[Operation] = iter(operations)
        self._postponed: Operation | None = None
        self.block = block
        self.origin = origin
        self.finish = finish
        self.depth = depth
        self.attempt = attempt

    def next(self) -> Operation | None:
        """Returns the next operation."""
        op, self._postponed = self._postponed, None
        return op or next(self._operations, None)

    def postpone(self, op: Operation) -> None:
        """Puts an operation back at the front, to be visited after its nested operations."""
        self._postponed = op


def discard(operations: Sequence[Operation]) -> None:
    """Removes the operands of detached operations, so that they are not users any more."""
    for op in reversed(operations):
        op.operands = ()
        if op.successors:
            op.successors = ()
