"""The reference engine: every operation evaluated as its definition says, one after another.

It is the oracle of the other engines: kernels by direct evaluation, composites by running their body, algorithms by calling them.
Values are rounded to their declared element type after every operation.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of
from commonir.base.codes import EXECUTION_FAILED, RUN_LIMIT_EXCEEDED, UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import ELEMENT_TYPES, TensorType, Type
from commonir.ods import Form, Op, infer, known_data, known_dims, operations_behind, path_of
from commonir.ods.fields import FieldKind
from commonir.runtime.binding import bind, requirements
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions, function_of
from commonir.runtime.evaluation import OutOfRange, evaluate_kernel
from commonir.runtime.instances import instance, is_concrete
from commonir.symbolic import evaluate

Array = NDArray[Any]
Arrays = tuple[Array, ...]


class ReferenceEngine:
    """Evaluates definitions; slow, and close to what they say."""

    name = "reference"

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> ReferenceExecutable:
        """Makes a function ready to run; see `Engine`."""
        return ReferenceExecutable(function_of(module, function), options)


class ReferenceExecutable:
    """A function to be evaluated."""

    def __init__(self, function: Function, options: EngineOptions) -> None:
        self._function = function
        self._needed = requirements(function)
        self._limit = options.time_limit_seconds

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by name; see `Executable`."""
        bound = bind(self._function, inputs, self._needed)
        deadline = None if self._limit is None else time.monotonic() + self._limit
        evaluator = Evaluator(bound.sizes, deadline)
        values = dict(zip(self._function.inputs, bound.arrays, strict=True))
        evaluator.run_block(self._function.body, values)
        names = self._function.output_names
        return {n: np.array(values[v]) for n, v in zip(names, self._function.outputs, strict=True)}


class Evaluator:
    """Evaluates operations on arrays under given sizes of symbolic dimensions."""

    def __init__(self, sizes: Mapping[str, int], deadline: float | None = None) -> None:
        self._sizes = sizes
        self._deadline = deadline

    def run_block(self, block: Block, values: dict[Value, Array]) -> Operation | None:
        """Evaluates the operations of a block, adding their results to the values; returns the one that ended it."""
        for op in block.operations:
            if _is_terminator(op):
                return op
            self._check_time()
            for value, array in zip(op.results, self.results(op, values), strict=True):
                values[value] = array
        return None

    def _check_time(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, "the time limit of the run has passed"))

    def results(self, op: Operation, values: dict[Value, Array]) -> Arrays:
        """The results of an operation for the values of its operands.

        Raises: DiagnosticError (E0708, E0709).
        """
        if not isinstance(op, Op):
            raise DiagnosticError(unsupported(op))
        if op.form is Form.STRUCTURAL:
            return self._structural(op, values)
        try:
            return self.apply(op, tuple([values[v] for v in op.operands]))
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=path_of(op)) for d in error.diagnostics]) from None
        except OutOfRange as error:
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, f"{op.name}: {error}", where=path_of(op))) from None

    def apply(self, op: Op, operands: Arrays) -> Arrays:
        """The results of an operation that is a kernel, a composite or an algorithm."""
        if op.form is Form.ALGORITHM:
            return self._algorithm(op, operands)
        placed = op if is_concrete(op) else instance(op, [Value(type_of(x)) for x in operands], self._sizes)
        if placed.form is Form.KERNEL:
            return tuple(self._kernels(placed, operands))
        return self._composite(placed, operands)

    def _kernels(self, op: Op, operands: Arrays) -> Iterator[Array]:
        arrays = named_operands(op, operands)
        derived = infer(op)
        for kernel, extents in zip(derived.kernels, derived.extents, strict=True):
            yield evaluate_kernel(kernel, {n: evaluate(d, self._sizes) for n, d in extents.items()}, arrays)

    def _composite(self, op: Op, operands: Arrays) -> Arrays:
        derived = infer(op)
        values: dict[Value, Array] = {}
        given = dict(zip(op.operands, operands, strict=True))
        for placeholder, value in zip(_flat(derived.inputs), _flat(op.grouped_operands()), strict=True):
            values[placeholder] = given[value]
        for inner in operations_behind(derived.outputs):
            values.update(zip(inner.results, self.results(inner, values), strict=True))
        return tuple([values[v] for v in derived.outputs])

    def _algorithm(self, op: Op, operands: Arrays) -> Arrays:
        given = dict(zip(op.operands, operands, strict=True))
        try:
            with np.errstate(all="ignore"):
                returned = op.reference(*[_replaced(v, given) for v in op.grouped_operands()])
        except (ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, f"{op.name}: {error}")) from error
        found = returned if isinstance(returned, tuple) else (returned,)
        return tuple([declared(x, r.type) for x, r in zip(found, op.results, strict=True)])

    def _structural(self, op: Op, values: dict[Value, Array]) -> Arrays:
        constant = constant_array(op, self._sizes)
        if constant is not None:
            return (constant,)
        raise DiagnosticError(unsupported(op))


def unsupported(op: Operation) -> Diagnostic:
    """The finding that an operation has no evaluation."""
    return Diagnostic(UNSUPPORTED_EXECUTION, f"{op.name} cannot be run: lower the program first", where=path_of(op))


def constant_array(op: Op, sizes: Mapping[str, int]) -> Array | None:
    """The result of an operation that defines a constant, or a vector of dimensions whose sizes are given."""
    if len(op.results) != 1 or not isinstance(type := op.results[0].type, TensorType):
        return None
    data = known_data(op.results[0])
    if data is not None:
        return data.array()
    dims = known_dims(op.results[0])
    if dims is None:
        return None
    numbers = [evaluate(d, sizes) for d in dims]
    return np.asarray(numbers, dtype_of(type.element.name)).reshape(type.static_shape)


def declared(array: Array, type: Type) -> Array:
    """An array with the element type that the program declares."""
    made = np.asarray(array)
    if isinstance(type, TensorType):
        return made.astype(dtype_of(type.element.name), copy=False)
    return made


def type_of(array: Array) -> TensorType:
    """The tensor type of an array."""
    return TensorType(ELEMENT_TYPES[name_of(array.dtype)], array.shape)


def named_operands(op: Op, operands: Sequence[Any]) -> dict[str, Any]:
    """What stands for the operands of a kernel, by the names under which the kernel reads them."""
    given = dict(zip(op.operands, operands, strict=True))
    out: dict[str, Any] = {}
    for f in op.layout.inputs:
        value = op.field_value(f) if f.kind is FieldKind.OPERAND else None
        if isinstance(value, Value):
            out[f.name] = given[value]
        elif value is not None:
            out.update({f"{f.name}{n}": given[v] for n, v in enumerate(value)})
    return out


def _flat(grouped: Sequence[Value | tuple[Value, ...] | None]) -> list[Value]:
    """The values of grouped operands in order."""
    out: list[Value] = []
    for v in grouped:
        out += v if isinstance(v, tuple) else () if v is None else (v,)
    return out


def _replaced(value: Value | tuple[Value, ...] | None, given: Mapping[Value, Array]) -> Any:
    if isinstance(value, tuple):
        return tuple([given[v] for v in value])
    return None if value is None else given[value]


def _is_terminator(op: Operation) -> bool:
    return isinstance(op, Op) and any(t.name == "Terminator" for t in op.traits)


ENGINE = ReferenceEngine()
