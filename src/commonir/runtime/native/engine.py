"""The native engine: blocks as machine code, compiled once for all sizes.

A block runs as steps: as many operations as possible become one graph of kernels, which is compiled; others run alone,
as in the other engines.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.base.codes import EXECUTION_FAILED, UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op
from commonir.ods.traits import Terminator
from commonir.runtime.binding import bind, requirements, symbol_dims
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions
from commonir.runtime.interpreter.control import Globals, WithState, check_depth, is_control, run_control
from commonir.runtime.interpreter.engine import Evaluator
from commonir.runtime.interpreter.evaluation import OutOfRange
from commonir.runtime.interpreter.runtime_dims import block_dims, result_dims
from commonir.runtime.interpreter.specialization import Specializations
from commonir.runtime.kernel_graph.building import GraphBuilder, NotAKernel
from commonir.runtime.kernel_graph.fusing import fuse_nodes
from commonir.runtime.limits import no_memory, time_is_up
from commonir.runtime.native.compiled_graph import CompiledGraph
from commonir.runtime.native.compiler import host_target
from commonir.runtime.native.scalar_functions import NotCompiled
from commonir.runtime.seeding import with_seeds
from commonir.runtime.values import computed, copied, declared, shapes_of

Array = NDArray[Any]
Arrays = tuple[Array, ...]

_NO_LIMIT = 1 << 62


class NativeEngine:
    """Runs programs as machine code."""

    name = "native"
    uses_communicator = True

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> NativeExecutable:
        """Prepares a function; see `Engine`."""
        if options.memory_limit_bytes is not None:
            message = "the engine 'native' has no memory limit"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help="use the engine 'numpy'"))
        return NativeExecutable(with_seeds(module, options.seed, function).function(function), options)


class CompiledStep(NamedTuple):
    """Operations of a block that are compiled together, the values that they read, and those that others need."""

    graph: CompiledGraph
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]


class SingleStep(NamedTuple):
    """An operation that runs alone."""

    op: Operation


Step = CompiledStep | SingleStep


class NativeExecutable(WithState):
    """A prepared function, with the code of the blocks that ran so far."""

    def __init__(self, function: Function, options: EngineOptions) -> None:
        super().__init__(Globals())
        self._function = function
        self._requirements = requirements(function)
        self.options = options
        self._steps: dict[Block, list[Step]] = {}
        self._specializations = Specializations()
        if options.plan_ahead:
            self.steps_of(function.body)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name; see `Executable`."""
        bound = bind(self._function, inputs, self._requirements)
        limit = self.options.time_limit_seconds
        deadline = None if limit is None else time.monotonic() + limit
        runner = _BlockRunner(self, bound.dims, deadline, 0)
        values = {v: computed(x, v.type) for v, x in zip(self._function.inputs, bound.arrays, strict=True)}
        try:
            with self._globals.run():
                runner.run_block(self._function.body, values)
        except MemoryError as error:
            raise no_memory(error) from error
        names = self._function.output_names
        return {n: copied(declared(values[v], v.type)) for n, v in zip(names, self._function.outputs, strict=True)}

    def evaluator(self, dims: Mapping[str, int], deadline: float | None, depth: int) -> Evaluator:
        """Returns an evaluator of single operations."""
        communicator = self.options.communicator
        return Evaluator(dims, self._globals, deadline, depth, self._specializations, _NO_LIMIT, communicator)

    def steps_of(self, block: Block) -> list[Step]:
        """Returns the steps of a block, which are compiled once."""
        result = self._steps.get(block)
        if result is None:
            result = self._steps[block] = _steps_of(block)
        return result


class _BlockRunner:
    """Runs blocks for some values of symbols."""

    def __init__(
        self, executable: NativeExecutable, dims: Mapping[str, int], deadline: float | None, depth: int
    ) -> None:
        self._executable = executable
        self._dims = dict(dims)
        self._deadline = deadline
        self._depth = depth
        self.communicator = executable.options.communicator

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Runs the operations of a block, adding their results to the values."""
        self._check_time()
        check_depth(self._depth)
        dims = block_dims(block, values, self._dims)
        inside = _BlockRunner(self._executable, dims, self._deadline, self._depth + 1)
        for step in self._executable.steps_of(block):
            inside._run_step(step, values)

    def call(self, function: Function, arguments: Arrays) -> Arrays:
        """Runs a function."""
        runner = _BlockRunner(self._executable, symbol_dims(function, arguments), self._deadline, self._depth)
        values = dict(zip(function.inputs, arguments, strict=True))
        runner.run_block(function.body, values)
        return tuple([values[v] for v in function.outputs])

    def _check_time(self) -> None:
        if self.communicator is not None:
            self.communicator.check()
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise time_is_up()

    def _run_step(self, step: Step, values: dict[Value, Array]) -> None:
        self._check_time()
        if isinstance(step, CompiledStep):
            arrays = [computed(values[v], v.type) for v in step.inputs]
            try:
                results: Sequence[Array] = step.graph.run(arrays, self._dims)
            except OutOfRange as error:
                help = "other inputs may work; `--engine reference` names the operation"
                raise DiagnosticError(Diagnostic(EXECUTION_FAILED, str(error), help=help)) from None
            values.update(zip(step.outputs, results, strict=True))
            return
        op = step.op
        if is_control(op):
            results = run_control(op, values, self)
        else:
            evaluator = self._executable.evaluator(self._dims, self._deadline, self._depth)
            results = evaluator.decoded(op) or evaluator.results(op, values)
        values.update(zip(op.results, results, strict=False))
        self._dims.update(result_dims(op, shapes_of(results)))


def _steps_of(block: Block) -> list[Step]:
    """Returns the steps of a block: as many operations as possible together."""
    out: list[Step] = []
    pending: list[Operation] = []
    builder = GraphBuilder()
    for op in block.operations:
        if isinstance(op, Op) and op.has_trait(Terminator):
            break
        try:
            builder.add(op)
            pending.append(op)
        except NotAKernel:
            out += _compiled(builder, pending)
            out.append(SingleStep(op))
            builder, pending = GraphBuilder(), []
    return [*out, *_compiled(builder, pending)]


def _compiled(builder: GraphBuilder, operations: Sequence[Operation]) -> list[Step]:
    """Returns operations as one compiled step, or each alone if they cannot be compiled."""
    inside = set(operations)
    outputs = [v for op in operations for v in op.results if any(u not in inside for u in v.users)]
    if not outputs:
        return []
    for v in outputs:
        builder.output(v)
    try:
        graph = builder.graph
        fuse_nodes(graph)
        compiled = CompiledGraph(graph, host_target())
    except NotCompiled:
        return [SingleStep(op) for op in operations]
    return [CompiledStep(compiled, tuple(builder.inputs), tuple(outputs))]


ENGINE = NativeEngine()
