"""Runs blocks as graphs of kernels, for any engine that can run such graphs.

A block runs as steps: as many operations as possible become one graph, which a back end prepares; others run alone, as
in the other engines.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.module import Function
from commonir.ir.operation import Block, Operation, Value
from commonir.ods import Op, known_data
from commonir.ods.data_dependent_dims import dims_introduced
from commonir.ods.traits import Pure
from commonir.runtime.binding.inputs import BoundInputs, bind, requirements, symbol_dims
from commonir.runtime.binding.ports import names_of
from commonir.runtime.engine import EngineOptions
from commonir.runtime.interpreter.control import (
    Globals,
    RunContext,
    WithState,
    check_depth,
    is_control,
    run_control,
    started_run,
)
from commonir.runtime.interpreter.engine import Evaluator, TooLargeError
from commonir.runtime.interpreter.runtime_dims import block_dims, result_dims
from commonir.runtime.interpreter.specialization import Specializations
from commonir.runtime.kernel_graph.block_steps import BackEnd, GraphStep, SingleStep, Step, last_uses, steps_of
from commonir.runtime.kernel_graph.program_building import operations_of
from commonir.runtime.kernel_graph.repeated_runs import RepeatedRun, repeated_run
from commonir.runtime.kernel_graph.timing import OnKernel, RunTimes
from commonir.runtime.limits import no_memory, reporting_out_of_range
from commonir.runtime.ranks.program import communicates
from commonir.runtime.values import computed, copied, declared, shapes_of

Array = NDArray[Any]
Arrays = tuple[Array, ...]

_NO_LIMIT = 1 << 62

DIRECT_RUNS = 4
"""The runs of a block that are evaluated without graphs if it is small."""

DIRECT_ELEMENTS = 1 << 15
"""Operations with a grid of up to this many elements are small."""

_MAX_BLOCKS = 4096
"""The blocks whose steps are kept: operations whose meaning depends on data bring new ones."""


class OnlyGraph(NamedTuple):
    """A graph that computes a function, the shapes of the inputs, and the values of the symbols in a run."""

    function: Function
    step: GraphStep
    shapes: tuple[tuple[int, ...], ...]
    dims: Mapping[str, int]


class GraphExecutable(WithState):
    """A prepared function, with the graphs of the blocks that ran so far."""

    def __init__(self, function: Function, options: EngineOptions, back_end: BackEnd) -> None:
        super().__init__(Globals())
        self._function = function
        self._requirements = requirements(function)
        self._names = names_of(function)
        self._outputs = tuple(zip(function.output_names, function.outputs, strict=True))
        self._inputs = tuple(function.inputs)
        self._last_kinds: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}
        self._last_dims: dict[str, int] | None = None
        self.options = options
        self._back_end = back_end
        self._steps: dict[Block, list[Step]] = {}
        self._beside: dict[GraphStep, list[Step]] = {}
        self._last_uses: dict[Block, list[tuple[Value, ...]]] = {}
        self.specializations = Specializations()
        self.direct_runs: dict[Block, int] = {}
        self.times: RunTimes | None = None
        self._repeated: RepeatedRun | None = None
        if options.plan_ahead:
            self.steps_of(function.body)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name; see `Executable`."""
        repeated = self._repeated
        try:
            outputs = None
            if repeated is not None and self.times is None and repeated.fits(inputs):
                outputs = repeated.run(inputs)
            return self._run(inputs) if outputs is None else outputs
        except MemoryError as error:
            raise no_memory(error) from error

    def _run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        bound = self._bound(inputs)
        runner = _BlockRunner(self, started_run(self._globals, self.specializations, self.options), bound.dims, 0)
        values = {v: computed(x, v.type) for v, x in zip(self._inputs, bound.arrays, strict=True)}
        with self._globals.run():
            runner.run_block(self._function.body, values)
        self._repeated = self._repeated_run(inputs)
        out: dict[str, Array] = {}
        for n, v in self._outputs:
            array = declared(values[v], v.type)
            is_own = v in runner.new and array is values[v]
            runner.new.discard(v)
            out[n] = array if is_own else copied(array)
        return out

    def _bound(self, inputs: Mapping[str, Array]) -> BoundInputs:
        """Returns values for the inputs. Arrays like those of the run before need no checks."""
        kinds = {n: (x.dtype, x.shape) for n, x in inputs.items() if type(x) is np.ndarray}
        if self._last_dims is not None and kinds == self._last_kinds and len(kinds) == len(inputs):
            return BoundInputs(tuple([inputs[n] for n in self._names]), dict(self._last_dims))
        bound = bind(self._function, inputs, self._requirements)
        # Values that were converted, and defaults, are bound anew in each run.
        pairs = zip(self._names, bound.arrays, strict=True)
        is_plain = len(kinds) == len(self._names) and all(inputs[n] is x for n, x in pairs)
        self._last_kinds, self._last_dims = kinds, dict(bound.dims) if is_plain else None
        return bound

    def _repeated_run(self, inputs: Mapping[str, Array]) -> RepeatedRun | None:
        """Returns the run that was, if it consisted of one graph, without limits and communication."""
        options = self.options
        if self._last_dims is None or self._function.body not in self._steps:
            return None
        if options.time_limit_seconds is not None or options.communicator is not None:
            return None
        only = self.only_graph(inputs)
        if only is None or not all(only.step.graph.is_output_new):
            return None
        step, names = only.step, dict(zip(self._inputs, self._names, strict=True))
        return repeated_run(only.function, names, inputs, step.inputs, step.outputs, step.graph.run, only.dims)

    def may_run_directly(self, block: Block) -> bool:
        """Returns whether a block is to be evaluated without graphs: in its first runs preparing takes longer."""
        runs = self.direct_runs.get(block, 0)
        if self.options.plan_ahead or self.options.memory_limit_bytes is not None or runs >= DIRECT_RUNS:
            return False
        is_plain = runs > 0 or all(_is_plain(op) for op in operations_of(block))
        self.direct_runs[block] = runs + 1 if is_plain else DIRECT_RUNS
        return is_plain

    def only_graph(self, inputs: Mapping[str, Array]) -> OnlyGraph | None:
        """Returns the graph that a run with some inputs consists of; None if there is more to it."""
        function = self._function
        steps = self.steps_of(function.body)
        step = steps[0] if len(steps) == 1 else None
        if not isinstance(step, GraphStep):
            return None
        if not {*function.outputs} <= {*step.outputs} or not {*step.inputs} <= {*function.inputs}:
            return None
        bound = self._bound(inputs)
        values = {v: computed(x, v.type) for v, x in zip(function.inputs, bound.arrays, strict=True)}
        dims = block_dims(function.body, values, bound.dims)
        if not step.fits([values[v] for v in step.inputs], dims):
            return None
        return OnlyGraph(function, step, tuple([x.shape for x in bound.arrays]), dims)

    def steps_beside(self, step: GraphStep) -> list[Step]:
        """Returns the steps for runs that a graph does not fit: those that no data decide of, or single operations."""
        if not step.may_refuse:
            return [SingleStep(op) for op in step.operations]
        result = self._beside.get(step)
        if result is None:
            result = self._beside[step] = steps_of(step.operations, self._back_end, follows_data=False)
        return result

    def steps_and_last_uses(self, block: Block) -> Iterable[tuple[Step, tuple[Value, ...]]]:
        """Returns the steps of a block, each with the values that are not needed after it."""
        steps = self.steps_of(block)
        result = self._last_uses.get(block)
        if result is None:
            result = self._last_uses[block] = last_uses(steps, set(self._function.outputs))
        return zip(steps, result, strict=True)

    def steps_of(self, block: Block) -> list[Step]:
        """Returns the steps of a block, which are prepared once."""
        result = self._steps.get(block)
        if result is None:
            if len(self._steps) >= _MAX_BLOCKS:
                self._steps.clear()
                self._beside.clear()
                self._last_uses.clear()
            result = self._steps[block] = steps_of(
                operations_of(block), self._back_end, follows_data=self._back_end.follows_data
            )
        return result


class _BlockRunner:
    """Runs blocks for some values of symbols."""

    def __init__(self, executable: GraphExecutable, context: RunContext, dims: Mapping[str, int], depth: int) -> None:
        self._executable = executable
        self.context = context
        self._dims = dict(dims)
        self.depth = depth
        # Values whose arrays nothing else has.
        self.new: set[Value] = set()

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Runs the operations of a block, adding their results to the values."""
        self.context.check_time()
        check_depth(self.depth)
        dims = block_dims(block, values, self._dims)
        inside = _BlockRunner(self._executable, self.context, dims, self.depth + 1)
        inside.new = self.new
        if self._executable.may_run_directly(block) and inside._ran_directly(block, values):
            return
        with self.context.memory.block():
            for step, released in self._executable.steps_and_last_uses(block):
                inside._run_step(step, values)
                for v in released:
                    values.pop(v, None)

    def _ran_directly(self, block: Block, values: dict[Value, Array]) -> bool:
        """Evaluates the operations of a block one after another; returns whether all of them are small."""
        evaluator = _SingleEvaluator(self, self._dims, DIRECT_ELEMENTS)
        known, dims = dict(values), dict(self._dims)
        try:
            for op in operations_of(block):
                self.context.check_time()
                if is_only_decoded(op):
                    continue
                results = evaluator.decoded(op) or evaluator.results(op, known)
                known.update(zip(op.results, results, strict=False))
                self._dims.update(result_dims(op, shapes_of(results)))
        except TooLargeError:
            self._executable.direct_runs[block] = DIRECT_RUNS
            self._dims = dims
            return False
        values.update(known)
        return True

    def call(self, function: Function, arguments: Arrays) -> Arrays:
        """Runs a function."""
        runner = _BlockRunner(self._executable, self.context, symbol_dims(function, arguments), self.depth)
        values = dict(zip(function.inputs, arguments, strict=True))
        runner.run_block(function.body, values)
        return tuple([values[v] for v in function.outputs])

    def _run_step(self, step: Step, values: dict[Value, Array]) -> None:
        self.context.check_time()
        if isinstance(step, GraphStep):
            self._run_graph(step, values)
        else:
            self._run_single(step.op, values)

    def _run_graph(self, step: GraphStep, values: dict[Value, Array]) -> None:
        arrays = [computed(values[v], v.type) for v in step.inputs]
        results = self._results_of(step, arrays) if step.fits(arrays, self._dims) else None
        if results is None:
            before = dict(self._dims)
            for other in self._executable.steps_beside(step):
                self._run_step(other, values)
            if step.may_refuse:
                step.refuse(arrays, before)
            return
        values.update(zip(step.outputs, results, strict=True))
        if step.may_refuse:
            introduced = dims_introduced(step.outputs, self._dims)
            self._dims.update({d.name: results[d.position].shape[d.axis] for d in introduced})
        new = [v for v, is_new in zip(step.outputs, step.graph.is_output_new, strict=True) if is_new]
        self.new.update(new)
        self.context.memory.hold([values[v] for v in new])

    def _results_of(self, step: GraphStep, arrays: Sequence[Array]) -> Sequence[Array] | None:
        start = time.monotonic()
        with reporting_out_of_range():
            results = step.graph.run(arrays, self._dims, self._on_kernel(step))
        step.seconds = max(time.monotonic() - start, step.seconds or 0.0)
        return results

    def _on_kernel(self, step: GraphStep) -> OnKernel | None:
        """Returns the function that is called after each kernel of a graph; None for a graph that runs at once."""
        times = self._executable.times
        if times is not None:
            return times.of_kernels(step)
        # Another rank may have failed while a loop runs, and other graphs are done soon.
        if self.context.deadline is None and (self.context.communicator is None or not step.has_loops):
            return None
        # A graph that will be done long before the deadline needs no checks.
        if self.context.deadline is not None and step.is_short(self.context.deadline - time.monotonic()):
            return None
        return lambda _node, _origins: self.context.check_time()

    def _run_single(self, op: Operation, values: dict[Value, Array]) -> None:
        times = self._executable.times
        if times is not None:
            with times.of_operation(op):
                self._run_op(op, values)
        else:
            self._run_op(op, values)

    def _run_op(self, op: Operation, values: dict[Value, Array]) -> None:
        if is_control(op):
            results = self._control_results(op, values)
        else:
            evaluator = _SingleEvaluator(self, self._dims)
            results = evaluator.decoded(op) or evaluator.results(op, values)
        self.context.memory.hold(results)
        values.update(zip(op.results, results, strict=False))
        self._dims.update(result_dims(op, shapes_of(results)))

    def _control_results(self, op: Operation, values: dict[Value, Array]) -> Arrays:
        results = run_control(op, values, self)
        if communicates(op):
            return tuple([computed(x, r.type) for x, r in zip(results, op.results, strict=True)])
        return results


class _SingleEvaluator(Evaluator):
    """Evaluates single operations; blocks inside of them run as graphs."""

    def __init__(self, runner: _BlockRunner, dims: Mapping[str, int], limit: int = _NO_LIMIT) -> None:
        super().__init__(dims, runner.context, runner.depth, limit)
        self._runner = runner

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        self._runner.run_block(block, values)


def is_only_decoded(op: Operation) -> bool:
    """Returns whether all users of a constant are decoded constants themselves, so that it need not be computed."""
    if len(op.results) != 1 or known_data(op.results[0]) is None:
        return False
    users = op.results[0].users
    return bool(users) and all(len(u.results) == 1 and known_data(u.results[0]) is not None for u in users)


def _is_plain(op: Operation) -> bool:
    """Returns whether an operation only computes its results, and may be evaluated twice."""
    return isinstance(op, Op) and op.has_trait(Pure) and not op.regions and not is_control(op)
