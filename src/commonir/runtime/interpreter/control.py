"""Evaluates operations with regions, calls, globals and communication, for engines that run block by block."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import EXECUTION_FAILED, FAILED_ASSERTION, UNKNOWN_FUNCTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import Op, source_path
from commonir.ods.traits import Communicates
from commonir.runtime.engine import EngineOptions
from commonir.runtime.interpreter.operations import unsupported
from commonir.runtime.interpreter.specialization import Specializations
from commonir.runtime.limits import MemoryUse, time_is_up
from commonir.runtime.ranks.communicator import Communicator
from commonir.runtime.ranks.program import communicates
from commonir.runtime.state import State, misfit
from commonir.runtime.values import declared, refine_unknown_types

Array = NDArray[Any]
Arrays = tuple[Array, ...]

MAX_DEPTH = 100
"""The maximal nesting depth of calls, branches and loops."""


_CONTROL = (core.If, core.While, core.Scan, core.Call, core.Require)


class Runner(Protocol):
    """How an engine runs the regions of an operation, and communicates."""

    @property
    def context(self) -> RunContext:
        """State that the blocks of the run share."""
        ...

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Runs the operations of a block, adding their results to the values."""
        ...

    def call(self, function: Function, arguments: Arrays) -> Arrays:
        """Runs a function of the module."""
        ...


def is_control(op: Operation) -> bool:
    """Returns whether an operation has regions, calls, communicates, or may end the run."""
    return controls(type(op))


def controls(op_class: type[Operation]) -> bool:
    """Returns whether operations of a class have regions, call, communicate, or may end the run."""
    return issubclass(op_class, _CONTROL) or (issubclass(op_class, Op) and op_class.has_trait(Communicates))


def run_control(op: Operation, values: Mapping[Value, Array], runner: Runner) -> Arrays:
    """Returns the results of an operation that has regions, calls, communicates, or may end the run.

    Raises: DiagnosticError (E0706, E0709, E0716).
    """
    match op:
        case core.If():
            region = op.then if bool(values[op.condition]) else op.orelse
            result = _yielded(region.block, dict(values), runner)
            refine_unknown_types(op.results, region.block.last.operands if region.block.last else ())
            return result
        case core.While():
            return _loop(op, values, runner)
        case core.Scan():
            return _scan(op, values, runner)
        case core.Call():
            return runner.call(_callee(op), tuple([values[v] for v in op.arguments]))
        case core.Require():
            if not bool(values[op.condition]):
                message = op.message_with([values[v] for v in op.values])
                raise DiagnosticError(Diagnostic(FAILED_ASSERTION, message, where=source_path(op)))
            return ()
        case _ if communicates(op):
            return (runner.context.communicator or Communicator()).execute(op, values)
        case _:
            raise DiagnosticError(unsupported(op))


def _yielded(block: Block, values: dict[Value, Array], runner: Runner) -> Arrays:
    runner.run_block(block, values)
    last = block.last
    return () if last is None else tuple([values[v] for v in last.operands])


def _loop(op: core.While, values: Mapping[Value, Array], runner: Runner) -> Arrays:
    count = len(op.initial)
    current = tuple([values[v] for v in op.initial])
    captured = used_inside(op, values)
    stacks: list[list[Array]] = [[] for _ in op.ys[count:]]
    for nested in (op.condition, op.body):
        refine_unknown_types(nested.block.arguments, op.initial)
    while True:
        block_values = {**captured, **dict(zip(op.condition.block.arguments, current, strict=True))}
        (holds,) = _yielded(op.condition.block, block_values, runner)
        if not bool(holds):
            break
        block_values = {**captured, **dict(zip(op.body.block.arguments, current, strict=True))}
        results = _yielded(op.body.block, block_values, runner)
        current = results[:count]
        for stack, x in zip(stacks, results[count:], strict=True):
            stack.append(x)
    _refine_loop_types(op.ys, op.body.block, count)
    return (*current, *[_stacked(op, v, stack) for v, stack in zip(op.ys[count:], stacks, strict=True)])


def _refine_loop_types(results: Sequence[Value], body: Block, count: int) -> None:
    """Refines the unknown types of loop results by those of the values that the body computed."""
    refine_unknown_types(results[:count], body.arguments)
    if body.last is not None:
        refine_unknown_types(results[count:], body.last.operands[count:])


def _stacked(op: Operation, result: Value, slices: list[Array]) -> Array:
    """Returns slices stacked along a new first axis. Raises: DiagnosticError (E0708) when their shapes differ."""
    if not slices:
        return _no_slices(result)
    if len({x.shape for x in slices}) > 1:
        message = f"{op.name}: values of different shapes cannot be stacked"
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=source_path(op)))
    return np.stack(slices)


def used_inside(op: Operation, values: Mapping[Value, Array]) -> dict[Value, Array]:
    """Returns the values that the regions of an operation capture."""
    if not op.regions:
        return {}
    return {v: values[v] for inner in op.walk() if inner is not op for v in inner.operands if v in values}


def _scan(op: core.Scan, values: Mapping[Value, Array], runner: Runner) -> Arrays:
    states = tuple([values[v] for v in op.initial])
    sequences = [values[v] for v in op.sequences]
    captured = used_inside(op, values)
    refine_unknown_types(op.body.block.arguments, [*op.initial, *op.sequences])
    _check_slices(op, sequences)
    count = len(sequences[0])
    stacks: list[Array] = []
    for n in range(count - 1, -1, -1) if op.reverse else range(count):
        arguments = (*states, *[x[n, ...] for x in sequences])
        block_values = {**captured, **dict(zip(op.body.block.arguments, arguments, strict=True))}
        results = _yielded(op.body.block, block_values, runner)
        states, slices = results[: len(states)], results[len(states) :]
        stacks = stacks or [np.empty((count, *x.shape), x.dtype) for x in slices]
        for stack, x in zip(stacks, slices, strict=True):
            if stack.shape[1:] != x.shape:
                message = f"{op.name}: values of different shapes cannot be stacked"
                raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=source_path(op)))
            stack[n] = x
    _refine_loop_types(op.ys, op.body.block, len(states))
    return (*states, *(stacks or [_no_slices(v) for v in op.ys[len(states) :]]))


def _check_slices(op: core.Scan, sequences: Sequence[Array]) -> None:
    """Checks slices against the sizes that the body declares. Raises: DiagnosticError (E0708)."""
    for v, x in zip(op.body.block.arguments[len(op.initial) :], sequences, strict=True):
        sizes = v.type.shape if isinstance(v.type, TensorType) else None
        if sizes is not None and any(isinstance(d, int) and d != n for d, n in zip(sizes, x.shape[1:], strict=True)):
            message = f"{op.name}: slices of shape {list(x.shape[1:])} for {v.type}"
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=source_path(op)))


def _no_slices(result: Value) -> Array:
    """Returns the stacked result of a loop without iterations."""
    type = result.type
    if not isinstance(type, TensorType):
        message = "a loop without iterations has a result of unknown type"
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message))
    dims = [d if isinstance(d, int) else 0 for d in type.shape or ()]
    return np.empty((0, *dims[1:]), dtype_of(type.element.name))


def _callee(op: core.Call) -> Function:
    called = op.function()
    if called is not None:
        return called
    raise DiagnosticError(
        Diagnostic(UNKNOWN_FUNCTION, f"the program has no function '{op.callee}'", where=source_path(op))
    )


class Globals:
    """The contents of the mutable globals of a module across runs. `state` has those stored so far."""

    def __init__(self) -> None:
        self.state = State()

    @contextmanager
    def run(self) -> Generator[None]:
        """Returns a context that restores the contents on failure."""
        state, before = self.state, dict(self.state)
        try:
            yield
        except BaseException:
            state.clear()
            state.update(before)
            raise

    def load(self, source: ml_program.Global) -> Array:
        """Returns the contents of a global.

        Raises: DiagnosticError (E0703 when they are not of its type, E0708 when they are undefined).
        """
        result = self.state.get(source.sym_name)
        if result is not None:
            faults = list(misfit(source, result))
            if faults:
                raise DiagnosticError(*faults)
            return result
        if source.data is not None:
            return source.data.array()
        message = f"global @{source.sym_name} is loaded before anything is stored"
        help = None
        if source.is_extern:
            message = f"global @{source.sym_name} is extern, and has no value"
            help = "give an archive with its value by `--extern`"
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=source_path(source), help=help))

    def shape(self, source: ml_program.Global) -> tuple[int, ...] | None:
        """Returns the shape of the contents of a global; None when they are undefined."""
        if source.sym_name not in self.state and source.data is None:
            return None
        return self.load(source).shape

    def store(self, target: ml_program.Global, array: Array) -> None:
        """Replaces the contents of a global by a copy in its declared element type."""
        built = declared(array, target.type)
        self.state[target.sym_name] = np.array(array) if built is array else built


class RunContext(NamedTuple):
    """State that the blocks of a run share: the contents of globals, specializations of operations, and limits."""

    contents: Globals
    specializations: Specializations
    deadline: float | None
    memory: MemoryUse
    communicator: Communicator | None

    def check_time(self) -> None:
        """Checks that time is left, and that no other rank has failed. Raises: DiagnosticError (E0711)."""
        if self.communicator is not None:
            self.communicator.check()
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise time_is_up()


def started_run(contents: Globals, specializations: Specializations, options: EngineOptions) -> RunContext:
    """Returns the context of a run that begins now."""
    seconds = options.time_limit_seconds
    deadline = None if seconds is None else time.monotonic() + seconds
    return RunContext(contents, specializations, deadline, MemoryUse(options.memory_limit_bytes), options.communicator)


class WithState:
    """A mixin with the `state` of an executable: the contents of mutable globals; see `Executable`."""

    def __init__(self, contents: Globals) -> None:
        self._globals = contents

    @property
    def state(self) -> State:
        """The contents of mutable globals; see `Executable`."""
        return self._globals.state

    @state.setter
    def state(self, state: State) -> None:
        self._globals.state = state


def global_of(op: Op) -> ml_program.Global | None:
    """Returns the global that an operation loads or stores; None if there is none."""
    match op:
        case ml_program.GlobalUse():
            return op.target
        case _:
            return None


def check_depth(depth: int) -> None:
    """Checks the nesting depth of calls, branches and loops. Raises: DiagnosticError (E0708)."""
    if depth > MAX_DEPTH:
        message = f"calls, branches and loops are nested more than {MAX_DEPTH} deep"
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message))
