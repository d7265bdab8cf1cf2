"""Replaces control flow by operations in a row, for targets that have none.

A loop becomes its rounds where their number is known, and a choice between branches selects among the results of both.
What is known of shapes and numbers in a round becomes constant. Loops of too many operations stay, and loops and
branches whose number of rounds or shapes of results depend on data. The source does not change.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import TensorType, i64
from commonir.ods import Op, known_contents, known_dims, traits
from commonir.passes.transcribe import Transcription, copied, with_functions
from commonir.rewrite.expand import expand

MOST_OPERATIONS = 1 << 12
"""How many operations the loops of a function may become."""


def straight_line(module: Module) -> Module:
    """Returns a lowered module with as little control flow as possible; the module itself if it has none."""
    if not any(op.regions or _runs_nested(op) for f in _functions(module) for op in f.body.operations):
        return module
    diagnostics = Diagnostics()
    result = with_functions(module, [_Rounds(f, diagnostics).function() for f in _functions(module)])
    diagnostics.raise_errors()
    return result


def _functions(module: Module) -> list[ml_program.Func]:
    return [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]


def _runs_nested(op: Operation) -> bool:
    return isinstance(op, Op) and op.has_trait(traits.RunsNested)


class _Loop(NamedTuple):
    """The values of a loop after some rounds: what goes on to the next one, and what each round adds to stacks."""

    states: tuple[Value, ...]
    slices: list[tuple[Value, ...]]

    def after(self, result: Sequence[Value]) -> _Loop:
        """Returns the values after another round."""
        count = len(self.states)
        return _Loop(tuple(result[:count]), [*self.slices, tuple(result[count:])])

    def results(self, *, is_reversed: bool = False) -> tuple[Value, ...]:
        """Returns the last states and the stacks."""
        slices = self.slices[::-1] if is_reversed else self.slices
        return (*self.states, *[core.stack(each, 0) for each in zip(*slices, strict=True)])


class _Rounds(Transcription):
    """The copy of a function without control flow."""

    def __init__(self, source: ml_program.Func, diagnostics: Diagnostics) -> None:
        super().__init__(source, diagnostics)
        self._left = MOST_OPERATIONS
        self._rounds: list[Block] = []

    def rewritten(self, op: Operation, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Sequence[Value]:
        result: Sequence[Value] | None = None
        match op:
            case core.Yield() if op.parent in self._rounds:
                return ()
            case core.Scan():
                result = self._scan(op, operands)
            case core.While():
                result = self._while(op, operands)
            case core.If():
                result = self._if(op, operands)
            case Op() if _runs_nested(op) and not regions:
                return self._expanded(op, operands)
            case _:
                pass
        if result is not None:
            return result
        built = copied(op, operands, regions)
        return _constants(built) or self.place(built).results

    def _expanded(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value]:
        expansion = expand(op, operands)
        scans = [inner for inner in expansion.operations if isinstance(inner, core.Scan)]
        if not all(self._count_of(scan, scan.sequences) for scan in scans):
            # Messages are about the operation that stays.
            return self.place(copied(op, operands)).results
        for inner in expansion.operations:
            self.transcribe(inner, inner.regions)
        return [self.values.get(v, v) for v in expansion.results]

    def _scan(self, op: core.Scan, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        count = len(op.initial)
        loop, sequences = _Loop(operands[:count], []), operands[count:]
        length = self._count_of(op, sequences)
        if not length:
            return None
        for n in reversed(range(length)) if op.reverse else range(length):
            position = core.scalar(n, i64)
            slices = [self.placed(core.gather(v, position, 0)) for v in sequences]
            loop = loop.after(self._round(op.body.block, (*loop.states, *slices)))
        return loop.results(is_reversed=op.reverse)

    def _count_of(self, op: core.Scan, sequences: Sequence[Value]) -> int:
        """Returns the number of rounds, or 0 if it is not known or they are too many operations."""
        type = sequences[0].type
        length = type.shape[0] if isinstance(type, TensorType) and type.shape else None
        return length if isinstance(length, int) and length * _size(op.body.block) <= self._left else 0

    def _while(self, op: core.While, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        loop = _Loop(operands, [])
        while self._left > 0:
            outer, self.block = self.block, Block()
            (answer,) = self._round(op.condition.block, loop.states)
            self.block = outer
            match known_dims(answer):
                case (1,):
                    loop = loop.after(self._round(op.body.block, loop.states))
                case (0,) if loop.slices or len(op.ys) == len(operands):
                    return loop.results()
                case _:
                    return None
        return None

    def _if(self, op: core.If, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        (condition,) = operands
        known = known_dims(condition)
        if known is not None:
            return self._round((op.then if known == (1,) else op.orelse).block, ())
        first, second = [self._round(region.block, ()) for region in (op.then, op.orelse)]
        types = [(a.type, b.type) for a, b in zip(first, second, strict=True)]
        if not all(a is b and isinstance(a, TensorType) and a.is_static for a, b in types):
            return None
        return [core.select(condition, a, b) for a, b in zip(first, second, strict=True)]

    def _round(self, body: Block, values: Sequence[Value]) -> tuple[Value, ...]:
        """Copies the operations of a block on values for its arguments, and returns what it yields."""
        self.values.update(zip(body.arguments, values, strict=True))
        self._left -= _size(body)
        target = self.block
        self._rounds.append(body)
        self.fill(target, body)
        self._rounds.pop()
        self.block = target
        last = body.last
        assert isinstance(last, core.Yield)
        return tuple([self.values.get(v, v) for v in last.values])


def _size(block: Block) -> int:
    return sum(1 for op in block.operations for _ in op.walk())


def _constants(op: Operation) -> tuple[Value, ...]:
    """Returns a constant for an operation that is not placed yet, if its only result consists of known integers."""
    if not isinstance(op, Op) or op.has_trait(traits.ConstantLike) or len(op.results) != 1:
        return ()
    data = known_contents(op.results[0])
    if data is None:
        return ()
    op.operands = ()
    return (core.Constant(data).y,)
