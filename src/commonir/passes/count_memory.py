"""Counts the memory that the values of a run need at once, as a formula in its symbolic dimensions.

A value lives from the operation that computes it to its last use; inputs and constants are not released earlier than
other values, and constants, which are weights, are not counted. Engines that fuse or reuse need less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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


def _steps(block: Block) -> Iterator[Dim | _Mark]:
    """Yields the bytes that begin to live in a block, negated where they end, and marks."""
    operations = list(block.operations)
    last_use = _last_uses(operations)
    for value in block.arguments:
        yield size_bytes(value)
    unused = [value for value in block.arguments if value not in last_use]
    for n, op in enumerate(operations):
        is_constant = isinstance(op, Op) and op.has_trait(traits.ConstantLike)
        for value in () if is_constant else op.results:
            yield size_bytes(value)
        yield _Mark.OPERATION
        for inner in (inner for region in op.regions for inner in region.blocks):
            yield _Mark.BEGIN
            yield from _steps(inner)
            yield _Mark.END
        for value in (*unused, *_released(op, n, last_use)):
            yield -size_bytes(value)
        unused = []


def _last_uses(operations: list[Operation]) -> Mapping[Value, int]:
    """Returns the index of the last operation that uses each value, nested uses included."""
    out: dict[Value, int] = {}
    for n, op in enumerate(operations):
        for each in op.walk():
            for value in each.operands:
                out[value] = n
    return out


def _released(op: Operation, index: int, last_use: Mapping[Value, int]) -> Iterator[Value]:
    """Yields the values of a block that no operation after one uses."""
    used = dict.fromkeys(v for each in op.walk() for v in each.operands)
    parent = op.parent
    for value in used:
        owner = value.owner
        is_constant = isinstance(owner, Op) and owner.has_trait(traits.ConstantLike)
        is_own = owner is parent or (isinstance(owner, Operation) and owner.parent is parent)
        if last_use[value] == index and is_own and not is_constant:
            yield value
    yield from (v for v in op.results if v not in last_use)


def size_bytes(value: Value) -> Dim:
    """Returns the bytes of a tensor, 0 where they are not known."""
    type = value.type
    if not isinstance(type, TensorType) or type.shape is None or None in type.shape:
        return 0
    count = element_count(tuple([d for d in type.shape if d is not None]))
    return count * max(type.element.bits // 8, 1)
