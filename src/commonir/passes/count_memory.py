"""Counts the memory that the values of a run need at once, as a formula in its symbolic dimensions.

A value lives from the operation that computes it to its last use; inputs and constants are not released earlier than
other values, and constants, which are weights, are not counted. Engines that fuse or reuse need less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto

from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import Op, traits
from commonir.symbolic import Dim, element_count, evaluate, largest, symbols, total

_SAMPLES = (1, 8, 64, 1024)
"""Values of all symbols at which formulas are compared."""


def peak_memory(function: Function) -> Dim:
    """Returns the bytes of values needed at once in one run of a function; values of unknown dims count nothing.

    Of the formulas for each operation, the result has those that are largest where all symbols are equal to a sample.
    """
    most = [-1] * len(_SAMPLES)
    where = [0] * len(_SAMPLES)
    now = [0] * len(_SAMPLES)
    outside: list[list[int]] = []
    known: dict[Dim, list[int]] = {}
    for n, step in enumerate(_steps(function.body)):
        match step:
            case _Mark.OPERATION:
                for k, value in enumerate(now):
                    if value > most[k]:
                        most[k], where[k] = value, n
            case _Mark.BEGIN:
                outside.append(list(now))
            case _Mark.END:
                now = outside.pop()
            case _:
                if step not in known:
                    known[step] = [evaluate(step, dict.fromkeys(symbols(step), sample)) for sample in _SAMPLES]
                now = [a + b for a, b in zip(now, known[step], strict=True)]
    candidates = _live_bytes(function.body, dict.fromkeys(where))
    return largest(*candidates) if candidates else 0


class _Mark(Enum):
    OPERATION = auto()
    """An operation runs."""
    BEGIN = auto()
    """A nested block begins."""
    END = auto()
    """A nested block ends, and what lives in it with it."""


def _live_bytes(body: Block, places: Iterable[int]) -> list[Dim]:
    """Returns the bytes of values that live at some steps, in order of these."""
    steps = list(_steps(body))
    out: list[Dim] = []
    for place in places:
        live: list[Dim] = []
        outside: list[int] = []
        for step in steps[:place]:
            match step:
                case _Mark.OPERATION:
                    pass
                case _Mark.BEGIN:
                    outside.append(len(live))
                case _Mark.END:
                    del live[outside.pop() :]
                case _:
                    live.append(step)
        out.append(total(live))
    return out


def _steps(body: Block) -> Iterator[Dim | _Mark]:
    """Yields the bytes that begin to live in a block and in those nested in it, negated where they end, and marks."""
    released = _released(body)
    open_blocks = [_steps_in(body, released)]
    while open_blocks:
        step = next(open_blocks[-1], None)
        if step is None:
            open_blocks.pop()
        elif isinstance(step, Block):
            open_blocks.append(_steps_in(step, released))
        else:
            yield step


def _steps_in(block: Block, released: Mapping[Operation, Sequence[Value]]) -> Iterator[Dim | _Mark | Block]:
    """Yields the steps of the operations of a block, and the blocks nested in these in place of their steps."""
    for value in block.arguments:
        yield size_bytes(value)
    for op in block.operations:
        for value in () if _is_constant(op) else op.results:
            yield size_bytes(value)
        yield _Mark.OPERATION
        for inner in (inner for region in op.regions for inner in region.blocks):
            yield _Mark.BEGIN
            yield inner
            yield _Mark.END
        for value in released.get(op, ()):
            yield -size_bytes(value)


def _released(body: Block) -> Mapping[Operation, Sequence[Value]]:
    """Returns the values that each operation is the last to use, itself or in its regions, of those of its own block.

    An operation releases its unused results too, and the first one of a block the unused arguments of the block.
    """
    at: dict[Block | None, Operation] = {}
    last_user: dict[Value, Operation] = {}
    for op in (nested for child in body.operations for nested in child.walk()):
        block = op.parent
        if block is not None and block not in at:
            last_user.update(dict.fromkeys(block.arguments, op))
        at[block] = op
        for value in op.operands:
            owner = value.owner
            user = at.get(owner.parent if isinstance(owner, Operation) else owner)
            if user is not None:
                last_user[value] = user
        last_user.update(dict.fromkeys(op.results, op))
    out: dict[Operation, list[Value]] = {}
    for value, op in last_user.items():
        if not _is_constant(value.owner):
            out.setdefault(op, []).append(value)
    return out


def _is_constant(owner: object) -> bool:
    return isinstance(owner, Op) and owner.has_trait(traits.ConstantLike)


def size_bytes(value: Value) -> Dim:
    """Returns the bytes of a tensor, 0 where they are not known."""
    type = value.type
    if not isinstance(type, TensorType) or type.shape is None or None in type.shape:
        return 0
    count = element_count(tuple([d for d in type.shape if d is not None]))
    return count * max(type.element.bits // 8, 1)
