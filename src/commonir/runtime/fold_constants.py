"""Evaluates operations on constants, for passes that fold them.

An operation is run as a program of its own. Programs are cached, and run again for every operation that differs from
the first only in the contents of its operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.core_types import core_type
from commonir.ir.data import ArrayData, Data, Scalar
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, TensorType, bf16, f16
from commonir.notation import NotationError
from commonir.ods import Form, Op, infer, traits
from commonir.ods.data_dependent_dims import symbols_mentioned
from commonir.passes.lower import lower
from commonir.runtime.engine import Engine, Executable
from commonir.runtime.interpreter.operations import data_of_array
from commonir.runtime.interpreter.specialization import operands_read

MAX_GROWTH_BYTES = 1 << 20
"""The number of bytes by which a folded constant may exceed its operands, unless a pass has another limit."""

_RESULT_BYTES, _RESULTS_PER_CONSTANT = 1 << 28, 16
"""The most bytes of all results, and by how many times those of the constants of a program they may exceed that:
operations that use each other's results could double them each time.
"""

_READ_BYTES = 1 << 12
"""Operands of up to this size become constants of the program where the operation depends on their elements."""


class _Program(NamedTuple):
    """A program for equal operations; `inputs` are the positions of the operands that it receives."""

    executable: Executable
    inputs: tuple[int, ...]


class _OpPrograms:
    """The programs for operations of one class with equal attributes and types, by the contents of some operands.

    `largest_bytes` is the size of the largest static result.
    """

    __slots__ = ("by_contents", "is_dynamic", "largest_bytes", "read", "types")

    def __init__(self, op: Op, types: tuple[TensorType, ...]) -> None:
        sizes = [_static_size_bytes(r) for r in op.results]
        self.types = types
        self.is_dynamic = None in sizes
        self.largest_bytes = max([size for size in sizes if size is not None], default=0)
        # The operands on whose elements the semantics of the operation may depend.
        self.read = range(len(op.operands)) if self.is_dynamic or _has_dynamic_operands(op) else operands_read(op)
        self.by_contents: dict[tuple[tuple[int, bytes | tuple[Scalar, ...]], ...], _Program | None] = {}


class Folding:
    """Evaluates operations whose operands are all constants.

    `fast` runs them, `exact` those with values in half precision, which it rounds after every operation. Results that
    exceed the operands by more than a limit are not computed, nor are compressed constants.
    """

    def __init__(self, fast: Engine, exact: Engine, max_growth_bytes: int = MAX_GROWTH_BYTES) -> None:
        self._fast = fast
        self._exact = exact
        self._max_growth_bytes = max_growth_bytes
        self._cache: dict[object, _OpPrograms | None] = {}
        self._read: dict[int, Data] = {}
        self._most_bytes = _RESULT_BYTES

    def __call__(self, op: Op, operands: Sequence[Data]) -> tuple[Data, ...] | None:
        """Returns the contents of the results; None if they are too large, not numbers or cannot be computed."""
        declared = None if operands else op.constant_data()
        if declared is not None and core_type(op.results[0].type) is declared.type:
            return None if declared.size_bytes > self._max_growth_bytes else (declared,)
        programs = self._cached_programs(op)
        if programs is None:
            return None
        operand_bytes = sum([_held_bytes(d) for d in operands])
        if programs.is_dynamic and operand_bytes > _READ_BYTES:
            return None
        if programs.largest_bytes > operand_bytes + self._max_growth_bytes or not self._permits(programs, operands):
            return None
        types = programs.types
        program = self._program(programs, op, operands)
        if program is None:
            return None
        try:
            outputs = program.executable.run({str(n): operands[n].array() for n in program.inputs})
        except DiagnosticError:
            return None
        arrays = [outputs[str(n)] for n in range(len(types))]
        return tuple([data_of_array(t.with_shape(a.shape), a) for t, a in zip(types, arrays, strict=True)])

    def _permits(self, programs: _OpPrograms, operands: Sequence[Data]) -> bool:
        """Returns whether the results of all operations stay within their limit, with those of one more."""
        for data in operands:
            # What an engine computed is an array.
            if not isinstance(data, ArrayData) and id(data) not in self._read:
                self._read[id(data)] = data
                self._most_bytes += _RESULTS_PER_CONSTANT * data.size_bytes
        self._most_bytes -= programs.largest_bytes
        return self._most_bytes >= 0

    def _cached_programs(self, op: Op) -> _OpPrograms | None:
        """Returns the cached programs for operations equal to one; None if it cannot be evaluated."""
        if op.regions:
            return None
        types, results = tuple([v.type for v in op.operands]), tuple([r.type for r in op.results])
        key = (type(op), types, op.operand_offsets, op.attribute_values, results)
        try:
            is_known = key in self._cache
        except TypeError:  # an attribute that is not hashable
            return _new_programs(op)
        if not is_known:
            self._cache[key] = _new_programs(op)
        return self._cache[key]

    def _program(self, programs: _OpPrograms, op: Op, operands: Sequence[Data]) -> _Program | None:
        read = [n for n in programs.read if operands[n].size_bytes <= _READ_BYTES]
        contents = tuple([(n, operands[n].contents()) for n in read])
        if contents not in programs.by_contents:
            programs.by_contents[contents] = self._prepared(op, operands, read)
        return programs.by_contents[contents]

    def _prepared(self, op: Op, operands: Sequence[Data], read: Sequence[int]) -> _Program | None:
        inputs = [n for n in range(len(operands)) if n not in read]
        block = Block([op.operands[n].type for n in inputs], [str(n) for n in inputs])
        copies = dict(zip(inputs, block.arguments, strict=True))
        for n in read:
            copies[n] = _constant(op.operands[n], operands[n])
            block.append(_owner(copies[n]))
        copy = op.clone_shallow(tuple([copies[n] for n in range(len(operands))]), ())
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


def _held_bytes(data: Data) -> int:
    """Returns the bytes of a constant; of strings, which have no packed form, their characters."""
    return data.size_bytes if data.element.bits else sum([len(str(v)) for v in data.values()])


def _new_programs(op: Op) -> _OpPrograms | None:
    if _decodes(op):
        return None
    types = tuple([t for r in op.results if isinstance(t := core_type(r.type), TensorType)])
    if len(types) < len(op.results) or any(symbols_mentioned(op)):  # the enclosing program binds these symbols
        return None
    return _OpPrograms(op, types)


def _decodes(op: Op) -> bool:
    """Returns whether an operation takes a compressed tensor, which stays so, to its elements."""
    if isinstance(op, core.Decoded):
        return True
    if op.form is not Form.COMPOSITE:
        return False
    try:
        return any(isinstance(inner, core.Decoded) for inner in infer(op).body)
    except (DiagnosticError, NotationError):
        return False


def _constant(value: Value, data: Data) -> Value:
    """Returns a copy of the constant operation that defines a value, else a core constant with its contents."""
    owner = value.owner
    if isinstance(owner, Op) and owner.has_trait(traits.ConstantLike):
        return owner.clone_shallow((), ()).results[value.index]
    return core.constant(data)


def _owner(value: Value) -> Op:
    assert isinstance(value.owner, Op)
    return value.owner


def _has_dynamic_operands(op: Op) -> bool:
    """Returns whether an operand has a dynamic shape."""
    types = [core_type(v.type) for v in op.operands]
    return any(isinstance(type, TensorType) and not type.is_static for type in types)


def _static_size_bytes(value: Value) -> int | None:
    """Returns the bytes of a static tensor of numbers; None for other types."""
    type = core_type(value.type)
    if not isinstance(type, TensorType) or not type.is_static or not type.element.bits:
        return None
    return type.element.size_bytes(type.count)
