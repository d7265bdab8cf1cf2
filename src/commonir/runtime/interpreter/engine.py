"""The reference engine: an interpreter that evaluates operations one after another by their definitions.

It is the oracle for the other engines. Kernels are evaluated directly, composites by running their body, algorithms by
calling them. Values are rounded to their declared element type after every operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import EXECUTION_FAILED
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Form, Op, infer, is_not_known, known_data, source_path
from commonir.ods.inference import operand_names
from commonir.ods.traits import Terminator
from commonir.runtime.binding.inputs import bind, requirements, symbol_dims
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions
from commonir.runtime.instances import instance, is_concrete, static_attributes
from commonir.runtime.interpreter.control import (
    Globals,
    RunContext,
    WithState,
    check_depth,
    global_of,
    run_control,
    started_run,
    used_inside,
)
from commonir.runtime.interpreter.evaluation import GRID_ELEMENTS, evaluate_kernel, evaluation_bytes, may_exceed_bits
from commonir.runtime.interpreter.operations import call_algorithm, constant_array, flat_values, unsupported
from commonir.runtime.interpreter.runtime_dims import block_dims, result_dims
from commonir.runtime.interpreter.specialization import Specializations
from commonir.runtime.interpreter.strided import evaluate_small_kernel
from commonir.runtime.limits import OutOfRange, check_array, no_memory
from commonir.runtime.seeding import with_seeds
from commonir.runtime.values import (
    compute_dtype,
    computed,
    copied,
    declared,
    declared_dtype,
    refine_unknown_types,
    shapes_of,
    value_type,
)
from commonir.symbolic import evaluate, symbols

Array = NDArray[Any]
Arrays = tuple[Array, ...]


class ReferenceEngine:
    """Evaluates definitions directly."""

    name = "reference"
    is_stepwise = True
    uses_communicator = True

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> ReferenceExecutable:
        """Prepares a function; see `Engine`."""
        return ReferenceExecutable(with_seeds(module, options.seed, function).function(function), options)


class ReferenceExecutable(WithState):
    """A function that the reference engine evaluates."""

    def __init__(self, function: Function, options: EngineOptions) -> None:
        super().__init__(Globals())
        self._function = function
        self._requirements = requirements(function)
        self._options = options
        self._specializations = Specializations()

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name; see `Executable`."""
        bound = bind(self._function, inputs, self._requirements)
        evaluator = Evaluator(bound.dims, started_run(self._globals, self._specializations, self._options))
        values = dict(zip(self._function.inputs, bound.arrays, strict=True))
        names = self._function.output_names
        try:
            with self._globals.run():
                evaluator.run_block(self._function.body, values)
            return {n: copied(values[v]) for n, v in zip(names, self._function.outputs, strict=True)}
        except MemoryError as error:
            raise no_memory(error) from error


class TooLargeError(Exception):
    """An operation is too large to be evaluated directly."""


class Evaluator:
    """Evaluates operations on arrays for some values of symbolic dimensions.

    `limit` is the number of elements above which it refuses an operation (`TooLargeError`). With a limit, values have
    the dtypes of the numpy engine, which uses it for small operations.
    """

    def __init__(self, dims: Mapping[str, int], context: RunContext, depth: int = 0, limit: int | None = None) -> None:
        self._dims = dims
        self.context = context
        self._depth = depth
        self._limit = limit

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Evaluates the operations of a block, adding their results to the values."""
        # A loop with an empty body may not terminate.
        self.context.check_time()
        check_depth(self._depth)
        dims = block_dims(block, values, self._dims)
        inside = self._nested(dims, self._depth + 1)
        with self.context.memory.block():
            for op in block.operations:
                if isinstance(op, Op) and op.has_trait(Terminator):
                    return
                self.context.check_time()
                try:
                    results = inside.results(op, values)
                except MemoryError as error:
                    raise no_memory(error, op.name) from error
                self.context.memory.hold(results)
                values.update(zip(op.results, results, strict=False))
                dims.update(result_dims(op, shapes_of(results)))

    def _nested(self, dims: Mapping[str, int], depth: int) -> Evaluator:
        """Returns an evaluator for a nested block or a callee, with other dims."""
        return Evaluator(dims, self.context, depth, self._limit)

    def call(self, function: Function, arguments: Arrays) -> Arrays:
        """Evaluates a function."""
        inner = self._nested(symbol_dims(function, arguments), self._depth)
        values = dict(zip(function.inputs, arguments, strict=True))
        inner.run_block(function.body, values)
        return tuple([values[v] for v in function.outputs])

    def results(self, op: Operation, values: dict[Value, Array]) -> Arrays:
        """Returns the results of an operation for the values of its operands.

        Raises: DiagnosticError (E0708, E0709, E0711).
        """
        if not isinstance(op, Op):
            raise DiagnosticError(unsupported(op))
        self._check_memory(op)
        for r in op.results:
            if isinstance(r.type, TensorType) and r.type.is_static:
                check_array(r.type.static_shape, (r.type.element.bits + 7) // 8, op.name)
        if op.form is Form.STRUCTURAL:
            return self._structural(op, values)
        try:
            return self.apply(op, tuple([values[v] for v in op.operands]), values)
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=source_path(op)) for d in error.diagnostics]) from None
        except OutOfRange as error:
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, f"{op.name}: {error}", where=source_path(op))) from None

    def _check_memory(self, op: Operation) -> None:
        """Checks that there is memory for the results of an operation, as far as their sizes are known."""
        if self.context.memory.limit_bytes is not None:
            types = [r.type for r in op.results]
            size_bytes = sum([_size_bytes(t, self._dims) for t in types if isinstance(t, TensorType)])
            self.context.memory.check(size_bytes, op.name)

    def decoded(self, op: Operation) -> Arrays | None:
        """Returns the result of an operation whose contents are known before running; None for other operations."""
        if not isinstance(op, Op) or op.form is Form.STRUCTURAL or len(op.results) != 1:
            return None
        data = known_data(op.results[0])
        if data is None:
            return None
        self._check_limit(data.count)
        self._check_memory(op)
        return (self._in_run_dtype(data.array(), data.type),)

    def apply(self, op: Op, operands: Arrays, values: Mapping[Value, Array] | None = None) -> Arrays:
        """Returns the results of a kernel, composite or algorithm; `values` has those that its regions capture."""
        if op.form is Form.ALGORITHM:
            return self._algorithm(op, operands)
        is_specialized = op.form is Form.COMPOSITE and (op.infers_types or bool(op.regions))
        concrete = None if is_specialized else self._instance_of(op, operands)
        if concrete is None:
            return self._specialized(op, operands, values or {})
        refine_unknown_types(op.results, concrete.results)
        if concrete.form is Form.KERNEL:
            return tuple(self._kernels(concrete, operands))
        return self._composite(concrete, operands)

    def _instance_of(self, op: Op, operands: Arrays) -> Op | None:
        """Returns the operation on operands of static shape; None if its semantics depend on their elements."""
        if is_concrete(op):
            return None if infer(op).is_data_dependent else op
        try:
            concrete = instance(
                op, [Value(value_type(v, x)) for v, x in zip(op.operands, operands, strict=True)], self._dims
            )
        except DiagnosticError as error:
            if is_not_known(error):
                return None
            raise
        return None if infer(concrete).is_data_dependent else concrete

    def _specialized(self, op: Op, operands: Arrays, values: Mapping[Value, Array]) -> Arrays:
        specialization = self.context.specializations.get(op, operands, self._dims)
        block_values = {**used_inside(op, values), **{v: operands[n] for n, v in specialization.inputs.items()}}
        self.run_block(specialization.block, block_values)
        refine_unknown_types(op.results, specialization.outputs)
        return tuple([block_values[v] for v in specialization.outputs])

    def _kernels(self, op: Op, operands: Arrays) -> Iterator[Array]:
        arrays = dict(zip(operand_names(op), operands, strict=True))
        derived = infer(op)
        for kernel, dims in zip(derived.kernels, derived.extents, strict=True):
            extents = {n: d if isinstance(d, int) else evaluate(d, self._dims) for n, d in dims.items()}
            self._check_limit(prod(extents.values()))
            if self.context.memory.limit_bytes is not None:
                self.context.memory.check(evaluation_bytes(kernel, extents), op.name)
            if self._limit is None:
                yield evaluate_kernel(kernel, extents, arrays)
                continue
            if prod(extents.values()) > GRID_ELEMENTS:
                array = evaluate_kernel(kernel, extents, arrays, compute_dtype)
            else:
                with np.errstate(all="ignore"):
                    array = evaluate_small_kernel(kernel, extents, arrays)
            narrow = may_exceed_bits(kernel)
            yield array.astype(declared_dtype(kernel.dtype)).astype(array.dtype) if narrow else array

    def _check_limit(self, elements: int) -> None:
        if self._limit is not None and elements > self._limit:
            raise TooLargeError

    def _composite(self, op: Op, operands: Arrays) -> Arrays:
        derived = infer(op)
        values: dict[Value, Array] = {}
        arrays = dict(zip(op.operands, operands, strict=True))
        for placeholder, value in zip(flat_values(derived.inputs), flat_values(op.grouped_operands()), strict=True):
            values[placeholder] = arrays[value]
        for inner in derived.body:
            values.update(zip(inner.results, self.results(inner, values), strict=True))
        return tuple([values[v] for v in derived.outputs])

    def _algorithm(self, op: Op, operands: Arrays) -> Arrays:
        attributes = static_attributes(op, self._dims)
        results = call_algorithm(op.with_attributes(**attributes) if attributes else op, *operands)
        return tuple([self._in_run_dtype(x, r.type) for x, r in zip(results, op.results, strict=False)])

    def _in_run_dtype(self, x: Array, type: Type) -> Array:
        return declared(x, type) if self._limit is None else computed(x, type)

    def _structural(self, op: Op, values: dict[Value, Array]) -> Arrays:
        if len(op.results) == 1 and isinstance(type := op.results[0].type, TensorType) and type.is_static:
            self._check_limit(type.count)
        constant = constant_array(op, self._dims)
        if constant is not None:
            return (self._in_run_dtype(constant, op.results[0].type),)
        target = global_of(op)
        if target is None:
            return run_control(op, values, self)
        if op.results:
            return (self._in_run_dtype(self.context.contents.load(target), op.results[0].type),)
        self.context.contents.store(target, values[op.operands[0]])
        return ()


def _size_bytes(type: TensorType, dims: Mapping[str, int]) -> int:
    """Returns the bytes of a tensor; 0 if its shape is not known."""
    shape = type.shape
    if shape is None or any(d is None or not {*symbols(d)} <= {*dims} for d in shape):
        return 0
    return prod([evaluate(d, dims) for d in shape if d is not None]) * (type.element.bits + 7) // 8


ENGINE = ReferenceEngine()
