"""Operations that run nested programs or reach outside of their block, for engines that run programs by block."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import EXECUTION_FAILED, FAILED_ASSERTION, UNKNOWN_FUNCTION, UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import Op, path_of
from commonir.ods.traits import Communicates
from commonir.runtime.ranks.communicator import Communicator, communicates
from commonir.runtime.state import State, misfit
from commonir.runtime.values import declared, learn_types

Array = NDArray[Any]
Arrays = tuple[Array, ...]

MAX_DEPTH = 100
"""How deep functions, branches and loops may run each other."""


_CONTROL = (core.If, core.While, core.Scan, core.Call, core.Require)


class Runner(Protocol):
    """What an engine does with the programs inside of an operation, and by what it communicates."""

    @property
    def communicator(self) -> Communicator | None:
        """What executes operations that communicate; None for a program that runs alone."""
        ...

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Runs the operations of a block, adding their results to the values."""
        ...

    def call(self, function: Function, arguments: Arrays) -> Arrays:
        """Runs a function of the module."""
        ...


def is_control(op: Operation) -> bool:
    """Returns whether an operation runs nested programs, communicates, or may end the run."""
    return controls(type(op))


def controls(kind: type[Operation]) -> bool:
    """Returns whether operations of a class run nested programs, communicate, or may end the run."""
    return issubclass(kind, _CONTROL) or (issubclass(kind, Op) and kind.has_trait(Communicates))


def run_control(op: Operation, values: Mapping[Value, Array], runner: Runner) -> Arrays:
    """Returns the results of an operation that runs nested programs, communicates, or may end the run.

    Raises: DiagnosticError (E0706, E0709, E0716).
    """
    match op:
        case core.If():
            region = op.then if bool(values[op.condition]) else op.orelse
            result = _yielded(region.block, dict(values), runner)
            learn_types(op.results, region.block.last.operands if region.block.last else ())
            return result
        case core.While():
            return _loop(op, values, runner)
        case core.Scan():
            return _scan(op, values, runner)
        case core.Call():
            return runner.call(_callee(op), tuple([values[v] for v in op.arguments]))
        case core.Require():
            if not bool(values[op.condition]):
                raise DiagnosticError(Diagnostic(FAILED_ASSERTION, op.message, where=path_of(op)))
            return ()
        case _ if communicates(op):
            return (runner.communicator or Communicator()).execute(op, values)
        case _:
            message = f"{op.name} cannot be run: lower the program first"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, where=path_of(op)))


def _yielded(block: Block, values: dict[Value, Array], runner: Runner) -> Arrays:
    runner.run_block(block, values)
    last = block.last
    return () if last is None else tuple([values[v] for v in last.operands])


def _loop(op: core.While, values: Mapping[Value, Array], runner: Runner) -> Arrays:
    count = len(op.initial)
    current = tuple([values[v] for v in op.initial])
    outer = used_inside(op, values)
    stacks: list[list[Array]] = [[] for _ in op.ys[count:]]
    for nested in (op.condition, op.body):
        learn_types(nested.block.arguments, op.initial)
    while True:
        inner = {**outer, **dict(zip(op.condition.block.arguments, current, strict=True))}
        (again,) = _yielded(op.condition.block, inner, runner)
        if not bool(again):
            break
        inner = {**outer, **dict(zip(op.body.block.arguments, current, strict=True))}
        found = _yielded(op.body.block, inner, runner)
        current = found[:count]
        for stack, x in zip(stacks, found[count:], strict=True):
            stack.append(x)
    _learn_loop(op.ys, op.body.block, count)
    return (*current, *[_stacked(op, v, stack) for v, stack in zip(op.ys[count:], stacks, strict=True)])


def _learn_loop(results: Sequence[Value], body: Block, count: int) -> None:
    """Gives results of a loop the types that running its body told."""
    learn_types(results[:count], body.arguments)
    if body.last is not None:
        learn_types(results[count:], body.last.operands[count:])


def _stacked(op: Operation, result: Value, slices: list[Array]) -> Array:
    """Slices along a new first axis. Raises: DiagnosticError (E0708) when their shapes differ."""
    if not slices:
        return _no_slices(result)
    if len({x.shape for x in slices}) > 1:
        message = f"{op.name}: values of different shapes cannot be stacked"
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=path_of(op)))
    return np.stack(slices)


def used_inside(op: Operation, values: Mapping[Value, Array]) -> dict[Value, Array]:
    """Returns the values from outside that the nested programs of an operation use."""
    if not op.regions:
        return {}
    return {v: values[v] for inner in op.walk() if inner is not op for v in inner.operands if v in values}


def _scan(op: core.Scan, values: Mapping[Value, Array], runner: Runner) -> Arrays:
    states = tuple([values[v] for v in op.initial])
    sequences = [values[v] for v in op.sequences]
    outer = used_inside(op, values)
    learn_types(op.body.block.arguments, [*op.initial, *op.sequences])
    count = len(sequences[0])
    stacks: list[Array] = []
    for n in range(count - 1, -1, -1) if op.reverse else range(count):
        given = (*states, *[x[n, ...] for x in sequences])
        inner = {**outer, **dict(zip(op.body.block.arguments, given, strict=True))}
        found = _yielded(op.body.block, inner, runner)
        states, slices = found[: len(states)], found[len(states) :]
        stacks = stacks or [np.empty((count, *x.shape), x.dtype) for x in slices]
        for stack, x in zip(stacks, slices, strict=True):
            if stack.shape[1:] != x.shape:
                message = f"{op.name}: values of different shapes cannot be stacked"
                raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=path_of(op)))
            stack[n] = x
    _learn_loop(op.ys, op.body.block, len(states))
    return (*states, *(stacks or [_no_slices(v) for v in op.ys[len(states) :]]))


def _no_slices(result: Value) -> Array:
    """Returns what is stacked when there was no round."""
    kind = result.type
    if not isinstance(kind, TensorType):
        message = "nothing was stacked, and the program does not say of what type it would be"
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message))
    sizes = [d if isinstance(d, int) else 0 for d in kind.shape or ()]
    return np.empty((0, *sizes[1:]), dtype_of(kind.element.name))


def _callee(op: core.Call) -> Function:
    for holder in op.ancestors():
        if isinstance(holder, Module) and op.callee in holder.functions:
            return holder.functions[op.callee]
    raise DiagnosticError(Diagnostic(UNKNOWN_FUNCTION, f"the program has no function '{op.callee}'", where=path_of(op)))


class Globals:
    """The contents of the mutable globals of a module, which outlive a run. `state` has those stored so far by name."""

    def __init__(self) -> None:
        self.state = State()

    @contextmanager
    def run(self) -> Generator[None]:
        """Leaves everything as it was when what happens inside fails."""
        state, before = self.state, dict(self.state)
        try:
            yield
        except BaseException:
            state.clear()
            state.update(before)
            raise

    def load(self, source: ml_program.Global) -> Array:
        """Returns the contents.

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
            message = f"global @{source.sym_name} is extern, and nothing of that name is given"
            help = "name an archive that holds it with `--extern`"
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message, where=path_of(source), help=help))

    def shape(self, source: ml_program.Global) -> tuple[int, ...] | None:
        """Returns the shape of the contents; None when they are undefined."""
        if source.sym_name not in self.state and source.data is None:
            return None
        return self.load(source).shape

    def store(self, target: ml_program.Global, array: Array) -> None:
        """Replaces the contents by a copy in the element type that the global declares."""
        built = declared(array, target.type)
        self.state[target.sym_name] = np.array(array) if built is array else built


class HoldsState:
    """Gives an executable its `state`, which is what mutable globals hold; see `Executable`."""

    def __init__(self, contents: Globals) -> None:
        self._globals = contents

    @property
    def state(self) -> State:
        """What mutable globals hold; see `Executable`."""
        return self._globals.state

    @state.setter
    def state(self, state: State) -> None:
        self._globals.state = state


def global_of(op: Op) -> ml_program.Global | None:
    """Returns the global that an operation loads or stores; None when it does neither, or the module has no such
    global.
    """
    match op:
        case ml_program.GlobalUse():
            return op.target
        case _:
            return None


def check_depth(depth: int) -> None:
    """Raises: DiagnosticError (E0708) when functions, branches and loops run each other too deeply."""
    if depth > MAX_DEPTH:
        message = f"functions, branches and loops run each other more than {MAX_DEPTH} deep"
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, message))
