"""Computes operations on constants, for passes that fold them.

An operation is run as a program of its own. Programs are kept, and run again for every operation that differs from the
first in nothing but the contents of its operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core, ml_program
from commonir.ir.carriers import carrier
from commonir.ir.data import Data
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, TensorType, bf16, f16
from commonir.ods import Op, traits
from commonir.ods.local_sizes import symbols_stated
from commonir.passes.lower import lower
from commonir.runtime.engine import Engine, Executable
from commonir.runtime.operations import data_of_array

MAX_GROWTH_BYTES = 1 << 20
"""How much larger than what it is computed from a constant may be, if nothing else is asked for."""

_READ_BYTES = 1 << 12
"""Contents up to this size take part in a program where an operation reads the elements of an operand."""


class _Program(NamedTuple):
    """A program for operations of a kind; `inputs` are the numbers of the operands that it receives."""

    executable: Executable
    inputs: tuple[int, ...]


class Folding:
    """Computes operations of which all operands are constants.

    `fast` runs them, `exact` those with values in half precision, which it rounds after every operation. Results that
    are larger than the operands by more than a limit are not computed, nor are constants that are held compressed.
    """

    def __init__(self, fast: Engine, exact: Engine, max_growth_bytes: int = MAX_GROWTH_BYTES) -> None:
        self._fast = fast
        self._exact = exact
        self._limit = max_growth_bytes
        self._programs: dict[object, _Program | None] = {}

    def __call__(self, op: Op, operands: Sequence[Data]) -> tuple[Data, ...] | None:
        """The contents of the results; None for what is too large, holds no numbers or cannot be computed."""
        given = sum(d.size_bytes for d in operands)
        sizes = [_size_bytes(r) for r in op.results]
        types = [t for r in op.results if isinstance(t := carrier(r.type), TensorType)]
        if op.regions or isinstance(op, core.Decoded) or len(types) < len(op.results):
            return None
        if any(symbols_stated(op)):  # sizes that the program around it knows
            return None
        is_open = None in sizes
        if (is_open and given > _READ_BYTES) or any(size is not None and size > given + self._limit for size in sizes):
            return None
        stated = None if operands else op.constant_data()
        if stated is not None and [stated.type] == types:
            return (stated,)
        program = self._program(op, operands, range(len(operands)) if is_open or _is_open(op) else _read(op))
        if program is None:
            return None
        try:
            found = program.executable.run({str(n): operands[n].array() for n in program.inputs})
        except DiagnosticError:
            return None
        arrays = [found[str(n)] for n in range(len(types))]
        return tuple([data_of_array(t.with_shape(a.shape), a) for t, a in zip(types, arrays, strict=True)])

    def _program(self, op: Op, operands: Sequence[Data], read: Iterable[int]) -> _Program | None:
        read = [n for n in read if operands[n].size_bytes <= _READ_BYTES]
        types = tuple([v.type for v in op.operands])
        key = (type(op), types, op.operand_offsets, op.attribute_values, tuple(r.type for r in op.results))
        contents = tuple([(n, bytes(operands[n].buffer())) for n in read])
        try:
            known = (key, contents) in self._programs
        except TypeError:  # an attribute that no two operations share
            return self._prepared(op, operands, read)
        if not known:
            self._programs[key, contents] = self._prepared(op, operands, read)
        return self._programs[key, contents]

    def _prepared(self, op: Op, operands: Sequence[Data], read: Sequence[int]) -> _Program | None:
        inputs = [n for n in range(len(operands)) if n not in read]
        block = Block([op.operands[n].type for n in inputs], [str(n) for n in inputs])
        stands = dict(zip(inputs, block.arguments, strict=True))
        for n in read:
            stands[n] = _constant(op.operands[n], operands[n])
            block.append(_owner(stands[n]))
        copy = op.clone_shallow(tuple([stands[n] for n in range(len(operands))]), ())
        block.append(copy)
        block.append(ml_program.Return(copy.results))
        signature = FunctionType(tuple([a.type for a in block.arguments]), tuple([r.type for r in copy.results]))
        names = tuple([str(n) for n in range(len(copy.results))])
        module = Module()
        module.body.append(ml_program.Func("constant", signature, Region([block]), names))
        types = [carrier(r.type) for r in copy.results]
        has_halves = any(isinstance(t, TensorType) and t.element in (f16, bf16) for t in types)
        engine = self._exact if has_halves else self._fast
        try:
            return _Program(engine.prepare(lower(module)), tuple(inputs))
        except DiagnosticError:
            return None


def _constant(value: Value, data: Data) -> Value:
    """A constant of the program again, of its own type; where there is none, its contents as one of the core."""
    owner = value.owner
    if isinstance(owner, Op) and owner.has_trait(traits.ConstantLike):
        return owner.clone_shallow((), ()).results[value.index]
    return core.constant(data)


def _owner(value: Value) -> Op:
    assert isinstance(value.owner, Op)
    return value.owner


def _read(op: Op) -> list[int]:
    """The operands whose elements may decide what an operation is."""
    return [n for n, f in enumerate(op.operand_fields()) if f.by_value or f.constant]


def _is_open(op: Op) -> bool:
    """Whether the type of an operand does not tell how many elements it has."""
    kinds = [carrier(v.type) for v in op.operands]
    return any(isinstance(kind, TensorType) and not kind.is_static for kind in kinds)


def _size_bytes(value: Value) -> int | None:
    """The size of a tensor of numbers; None for what has none that is known."""
    kind = carrier(value.type)
    if not isinstance(kind, TensorType) or not kind.is_static or not kind.element.bits:
        return None
    return kind.element.size_bytes(kind.count)
