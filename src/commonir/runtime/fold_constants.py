"""Computes operations on constants, for passes that fold them.

An operation is run as a program of its own. Programs are kept, and run again for every operation that differs from the
first in nothing but the contents of its operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.core_types import core_type
from commonir.ir.data import Data, Scalar
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, TensorType, bf16, f16
from commonir.ods import Op, traits
from commonir.ods.data_dependent_dims import symbols_mentioned
from commonir.passes.lower import lower
from commonir.runtime.engine import Engine, Executable
from commonir.runtime.interpreter.operations import data_of_array

MAX_GROWTH_BYTES = 1 << 20
"""How much larger than what it is computed from a constant may be, if nothing else is asked for."""

_READ_BYTES = 1 << 12
"""Contents up to this size take part in a program where an operation reads the elements of an operand."""


class _Program(NamedTuple):
    """A program for operations of a kind; `inputs` are the numbers of the operands that it receives."""

    executable: Executable
    inputs: tuple[int, ...]


class _Folded:
    """What all operations of one class, attributes and types have in common, and the programs that compute them by the
    contents of operands that decide what they are.

    Units: `largest` is the bytes of the largest result of known size.
    """

    __slots__ = ("is_open", "largest", "programs", "read", "types")

    def __init__(self, op: Op, types: tuple[TensorType, ...]) -> None:
        sizes = [_size_bytes(r) for r in op.results]
        self.types = types
        self.is_open = None in sizes
        self.largest = max([size for size in sizes if size is not None], default=0)
        # The operands whose elements may decide what the operation is.
        self.read = range(len(op.operands)) if self.is_open or _is_open(op) else _read(op)
        self.programs: dict[tuple[tuple[int, bytes | tuple[Scalar, ...]], ...], _Program | None] = {}


class Folding:
    """Computes operations of which all operands are constants.

    `fast` runs them, `exact` those with values in half precision, which it rounds after every operation. Results that
    are larger than the operands by more than a limit are not computed, nor are constants that are held compressed.
    """

    def __init__(self, fast: Engine, exact: Engine, max_growth_bytes: int = MAX_GROWTH_BYTES) -> None:
        self._fast = fast
        self._exact = exact
        self._limit = max_growth_bytes
        self._known: dict[object, _Folded | None] = {}

    def __call__(self, op: Op, operands: Sequence[Data]) -> tuple[Data, ...] | None:
        """Returns the contents of the results; None for what is too large, holds no numbers or cannot be computed."""
        declared = None if operands else op.constant_data()
        if declared is not None and core_type(op.results[0].type) is declared.type:
            return None if declared.size_bytes > self._limit else (declared,)
        folded = self._folded(op)
        if folded is None:
            return None
        if folded.is_open or folded.largest > self._limit:
            given = sum(d.size_bytes for d in operands)
            if (folded.is_open and given > _READ_BYTES) or folded.largest > given + self._limit:
                return None
        types = folded.types
        program = self._program(folded, op, operands)
        if program is None:
            return None
        try:
            found = program.executable.run({str(n): operands[n].array() for n in program.inputs})
        except DiagnosticError:
            return None
        arrays = [found[str(n)] for n in range(len(types))]
        return tuple([data_of_array(t.with_shape(a.shape), a) for t, a in zip(types, arrays, strict=True)])

    def _folded(self, op: Op) -> _Folded | None:
        """Returns what is known of operations like one; None for those that are not computed."""
        if op.regions or isinstance(op, core.Decoded):
            return None
        types, results = tuple([v.type for v in op.operands]), tuple([r.type for r in op.results])
        key = (type(op), types, op.operand_offsets, op.attribute_values, results)
        try:
            is_known = key in self._known
        except TypeError:  # an attribute that no two operations share
            return _folded(op)
        if not is_known:
            self._known[key] = _folded(op)
        return self._known[key]

    def _program(self, folded: _Folded, op: Op, operands: Sequence[Data]) -> _Program | None:
        read = [n for n in folded.read if operands[n].size_bytes <= _READ_BYTES]
        contents = tuple([(n, operands[n].contents()) for n in read])
        if contents not in folded.programs:
            folded.programs[contents] = self._prepared(op, operands, read)
        return folded.programs[contents]

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
        types = [core_type(r.type) for r in copy.results]
        has_halves = any(isinstance(t, TensorType) and t.element in (f16, bf16) for t in types)
        engine = self._exact if has_halves else self._fast
        try:
            return _Program(engine.prepare(lower(module)), tuple(inputs))
        except DiagnosticError:
            return None


def _folded(op: Op) -> _Folded | None:
    types = tuple([t for r in op.results if isinstance(t := core_type(r.type), TensorType)])
    if len(types) < len(op.results) or any(symbols_mentioned(op)):  # sizes that the program around it knows
        return None
    return _Folded(op, types)


def _constant(value: Value, data: Data) -> Value:
    """Returns a constant of the program again, of its own type; where there is none, its contents as one of the
    core.
    """
    owner = value.owner
    if isinstance(owner, Op) and owner.has_trait(traits.ConstantLike):
        return owner.clone_shallow((), ()).results[value.index]
    return core.constant(data)


def _owner(value: Value) -> Op:
    assert isinstance(value.owner, Op)
    return value.owner


def _read(op: Op) -> list[int]:
    """Returns the operands whose elements may decide what an operation is."""
    return [n for n, f in enumerate(op.operand_fields()) if f.by_value or f.constant]


def _is_open(op: Op) -> bool:
    """Returns whether the type of an operand does not tell how many elements it has."""
    kinds = [core_type(v.type) for v in op.operands]
    return any(isinstance(kind, TensorType) and not kind.is_static for kind in kinds)


def _size_bytes(value: Value) -> int | None:
    """Returns the size of a tensor of numbers; None for what has none that is known."""
    kind = core_type(value.type)
    if not isinstance(kind, TensorType) or not kind.is_static or not kind.element.bits:
        return None
    return kind.element.size_bytes(kind.count)
