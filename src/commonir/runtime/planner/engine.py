"""The default engine: programs as plans of numpy calls, compiled once for each set of sizes.

A block runs as segments: as many operations as possible become one array program, planned and kept for the shapes it
was planned for. Between segments stand operations that only running can size (non-zero, ranges) and those that run
nested programs. Half-precision values are held in single precision and rounded where they leave the program
(`docs/architecture.md`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import EXECUTION_FAILED, RUN_LIMIT_EXCEEDED
from commonir.base.collecting import no_collection
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir.ml_program import Global
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Form, Op, path_of
from commonir.ods.traits import Pure
from commonir.runtime.binding import requirements, symbol_sizes
from commonir.runtime.blas import limited_threads
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions
from commonir.runtime.interpreter.control import Globals, WithState, check_depth, is_control, run_control, used_inside
from commonir.runtime.interpreter.engine import Evaluator, TooLargeError
from commonir.runtime.interpreter.evaluation import OutOfRange
from commonir.runtime.interpreter.operations import call_algorithm
from commonir.runtime.interpreter.runtime_dims import block_sizes, result_sizes
from commonir.runtime.interpreter.specialization import Specializations
from commonir.runtime.limits import no_memory
from commonir.runtime.planner.array_plan import ArrayPlan
from commonir.runtime.planner.nesting import with_loops
from commonir.runtime.planner.repeated_binding import Binder
from commonir.runtime.planner.schedule import BlockSchedule, PlanStep, RecordedRun, Schedule, ScheduleEntry, SingleStep
from commonir.runtime.planner.segment_planning import Planning, Segment, plan_segment
from commonir.runtime.planner.tracing import is_only_decoded
from commonir.runtime.ranks.communicator import communicates
from commonir.runtime.seeding import with_seeds
from commonir.runtime.state import mutable_globals
from commonir.runtime.values import computed, copied, declared, is_array, refine_unknown_types, shapes_of

Array = NDArray[Any]
Arrays = tuple[Array, ...]
T = TypeVar("T")

DIRECT_RUNS = 4
"""How often a whole program is evaluated without a plan for the same shapes; nested blocks are once."""

DIRECT_ELEMENTS = 1 << 15
"""Operations with a grid of up to this many elements may be evaluated without a plan."""

NESTED_SHAPES = 3
"""Shapes for which loops are planned with what is around them; plans of their bodies hold for any number of rounds."""


class NumpyEngine:
    """Runs programs with numpy."""

    name = "numpy"
    uses_communicator = True

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> NumpyExecutable:
        """Prepares a function; see `Engine`."""
        prepared = with_loops(with_seeds(module, options.seed, function), function)
        return NumpyExecutable(prepared, prepared.function(function), options)


class NumpyExecutable(WithState):
    """A prepared function, with the plans built for it so far."""

    def __init__(self, module: Module, function: Function, options: EngineOptions) -> None:
        self._function = function
        self._binder = Binder(function, requirements(function))
        self._outputs = tuple(zip(function.output_names, function.outputs, strict=True))
        self._shared = _Shared(options, mutable_globals(module).values())
        self._whole: _Whole | None = None
        super().__init__(self._shared.globals)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name; see `Executable`."""
        try:
            return self._run(inputs)
        except MemoryError as error:
            raise no_memory(error) from error

    def _run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        arrays = None if self._whole is None else self._binder.bound_as_before(inputs)
        if self._whole is not None and arrays is not None and self._whole.holds_for(arrays):
            return self._run_plan(self._whole, arrays)
        self._whole = None
        bound = self._binder.bind(inputs)
        self._start_clock()
        values = dict(zip(self._function.inputs, bound.arrays, strict=True))
        runner = _BlockRunner(self._shared, bound.sizes, 0)
        try:
            with self._shared.threads(), self._shared.globals.run():
                runner.run_block(self._function.body, values)
        finally:
            self._shared.forget_inputs()
        self._whole = self._as_whole(runner.only_segment, bound.arrays)
        return {n: copied(declared(values[v], v.type)) for n, v in self._outputs}

    def _start_clock(self) -> None:
        limit = self._shared.options.time_limit_seconds
        self._shared.deadline = None if limit is None else time.monotonic() + limit

    def _as_whole(self, segment: Segment | None, bound: Arrays) -> _Whole | None:
        """Returns a plan that is all of the function, for inputs of the same sizes; None where there is more to a
        run.
        """
        if segment is None or segment.stored or self._shared.resizable or self._shared.options.communicator is not None:
            return None
        places = {v: n for n, v in enumerate(self._function.inputs)}
        read = [places[v] for v in segment.inputs if isinstance(v, Value) and v in places]
        built = {v: n for n, v in enumerate(segment.outputs)}
        outputs = [(n, built[v], v.type) for n, v in self._outputs if v in built]
        if len(read) < len(segment.inputs) or len(outputs) < len(self._outputs):
            return None
        guarded = [(places[v], bound[places[v]].tobytes()) for v in segment.guarded]
        return _Whole(segment.plan, read, outputs, guarded)

    def _run_plan(self, whole: _Whole, arrays: Arrays) -> dict[str, Array]:
        """Returns a run of which all is one plan."""
        self._start_clock()
        given = [arrays[n] for n in whole.inputs]
        try:
            with self._shared.threads() if whole.plan.may_use_blas else nullcontext():
                results = self._shared.run_plan(whole.plan, given)
        finally:
            self._shared.forget_inputs()
        return {name: np.array(declared(results[n], type)) for name, n, type in whole.outputs}

    def explain(self) -> Explanation:
        """Returns a description of the plans built so far."""
        return Explanation(tuple(self._shared.schedule.segments()))


class Explanation:
    """The steps of all plans of an executable, for people and tests."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.steps = tuple([label for s in segments for label in s.plan.labels])
        self.fallbacks = tuple([label for s in segments for label in s.plan.fallbacks])
        self.size_bytes = sum(s.plan.size_bytes for s in segments)

    def __str__(self) -> str:
        return "\n".join([*self.steps, f"{len(self.fallbacks)} fallbacks, {self.size_bytes} bytes"])


class _Shared:
    """The options, the contents of globals and the schedule of an executable, for the runs of all of its blocks."""

    def __init__(self, options: EngineOptions, variables: Iterable[Global]) -> None:
        self.options = options
        self.globals = Globals()
        # Those whose contents may have another shape in the next run, for which a plan is of no use.
        self.resizable = [g for g in variables if not (isinstance(g.type, TensorType) and g.type.is_static)]
        self.deadline: float | None = None
        # The time limit is looked at between operations, and other ranks are waited for there.
        self.plans_control = options.time_limit_seconds is None and options.communicator is None
        self.schedule = Schedule()
        self.decoded: dict[Operation, Array] = {}
        self.statements = Specializations()
        # The plans that ran in this run: what they read is theirs until it ends.
        self.used: set[ArrayPlan] = set()

    def evaluator(self, sizes: dict[str, int], depth: int) -> Evaluator:
        """Evaluates small operations on values as this engine holds them."""
        communicator = self.options.communicator
        return Evaluator(sizes, self.globals, self.deadline, depth, self.statements, DIRECT_ELEMENTS, communicator)

    def threads(self) -> AbstractContextManager[object]:
        """Limits the threads of BLAS while a program runs."""
        return limited_threads(self.options.threads)

    def check_time(self) -> None:
        """Checks the deadline and other ranks. Raises: DiagnosticError (E0711, and errors of other ranks)."""
        if self.options.communicator is not None:
            self.options.communicator.check()
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, "the time limit of the run has passed"))

    def run_plan(self, plan: ArrayPlan, arrays: Sequence[Array]) -> list[Array]:
        """Returns the results of a plan, valid until it runs again."""
        self.used.add(plan)
        try:
            return plan.run(arrays, self.deadline)
        except OutOfRange as error:
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, str(error))) from None

    def forget_inputs(self) -> None:
        """Makes the plans that ran read all of their inputs in the next run: the caller may write into its arrays."""
        for plan in self.used:
            plan.forget()
        self.used.clear()


class _Whole(NamedTuple):
    """A plan that is all of a function: the places of the inputs that it reads, names, places and types of outputs, and
    the places and contents of inputs for which it was made.
    """

    plan: ArrayPlan
    inputs: list[int]
    outputs: list[tuple[str, int, Type]]
    guarded: list[tuple[int, bytes]]

    def holds_for(self, arrays: Arrays) -> bool:
        """Returns whether inputs like those before have the contents for which it was made."""
        return all(arrays[place].tobytes() == contents for place, contents in self.guarded)


class _BlockRunner:
    """Runs blocks segment by segment, under given sizes of symbolic dimensions."""

    def __init__(self, shared: _Shared, dims: dict[str, int], depth: int) -> None:
        self._shared = shared
        self._dims = dims
        self._depth = depth
        self.communicator = shared.options.communicator
        # The plan that was all of the block that ran last.
        self.only_segment: Segment | None = None

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Runs the operations of a block, adding the results that are needed later to the values."""
        # A loop may run forever without a step of a plan.
        self._shared.check_time()
        check_depth(self._depth)
        schedule = self._shared.schedule.of(block)
        entry = schedule.entry(0, values, self._dims, self._stored_shapes())
        recorded = entry.recorded
        if recorded is not None:
            inside = _BlockRunner(self._shared, dict(recorded.dims), self._depth + 1)
            at, steps = inside._follow(recorded, schedule, values)
            is_from_begin, dims = True, recorded.dims
        else:
            inside = _BlockRunner(self._shared, block_sizes(block, values, self._dims), self._depth + 1)
            at, steps = inside._run_directly(entry, schedule, values), []
            is_from_begin, dims = at == 0, dict(inside._dims)
        if at < len(schedule.operations):
            inside._run_rest(schedule, values, at, steps)
            if is_from_begin and not self._shared.resizable:
                entry.recorded = RecordedRun(dims, steps)
        only = steps[0] if is_from_begin and len(steps) == 1 else None
        self.only_segment = only.segment if isinstance(only, PlanStep) else None

    def _follow(
        self, recorded: RecordedRun, schedule: BlockSchedule, values: dict[Value, Array]
    ) -> tuple[int, list[PlanStep | SingleStep]]:
        """Runs a block in its recorded steps while they hold; returns the index of what is left, and the steps."""
        at = 0
        for n, step in enumerate(recorded.steps):
            if isinstance(step, SingleStep):
                shapes = self._run_single(schedule, at, values)
                if shapes != step.shapes:
                    return at + 1, [*recorded.steps[:n], SingleStep(shapes)]
                at += 1
                continue
            if step.entry.plan_for(values) is not step.segment:
                return at, recorded.steps[:n]
            self._run_segment(step.segment, values)
            at = step.segment.stop
        return at, recorded.steps

    def _run_rest(
        self, schedule: BlockSchedule, values: dict[Value, Array], at: int, steps: list[PlanStep | SingleStep]
    ) -> None:
        """Runs the operations of a block from one on, and adds the steps."""
        # Values that are still needed: a block may fall into thousands of segments, each of which looks at all of them.
        live = values
        while at < len(schedule.operations):
            if not schedule.is_single[at] and (self._shared.plans_control or not is_control(schedule.operations[at])):
                live = {v: x for v, x in live.items() if schedule.is_needed(v, at)}
                step = self._planned_step(schedule, at, live)
                self._run_segment(step.segment, values)
                live.update([(v, values[v]) for v in step.segment.outputs])
                steps.append(step)
                at = step.segment.stop
            if at < len(schedule.operations):
                op = schedule.operations[at]
                steps.append(SingleStep(self._run_single(schedule, at, values)))
                live.update([(v, values[v]) for v in op.results if v in values])
                at += 1

    def _run_single(self, schedule: BlockSchedule, at: int, values: dict[Value, Array]) -> list[tuple[int, ...]]:
        """Runs one operation of a block alone; returns the shapes of its results."""
        op = schedule.operations[at]
        results = self._single_results(op, values, lambda operands: schedule.instance_at(at, operands, self._dims))
        values.update(zip(op.results, results, strict=False))
        shapes = shapes_of(results)
        if schedule.defined_dims[at]:
            self._dims.update({s.name: shapes[s.position][s.axis] for s in schedule.defined_dims[at]})
        return shapes

    def _run_directly(self, entry: ScheduleEntry, schedule: BlockSchedule, values: dict[Value, Array]) -> int:
        """Evaluates operations from the first on while they are small, the first times that shapes are met: a plan
        would cost more than it saves. Returns the index of the first operation that is left.
        """
        # Only a plan knows what memory it takes.
        if self._shared.options.plan_ahead or self._shared.options.memory_limit_bytes is not None:
            return 0
        count = len(schedule.operations)
        if entry.direct_stop == count and entry.direct_runs >= (DIRECT_RUNS if self._depth == 1 else 1):
            return 0
        # Inputs of the program have the declared element types.
        arrays = [(v, x) for v, x in values.items() if is_array(x) and schedule.is_needed(v, 0)]
        values.update([(v, computed(x, v.type)) for v, x in arrays])
        at, dims = 0, dict(self._dims)
        evaluator = self._shared.evaluator(self._dims, self._depth)
        while at < entry.direct_stop and self._evaluate_if_small(schedule.operations[at], values, evaluator):
            at += 1
        done = schedule.operations[:at]
        if at < count and all(_is_pure(op) for op in done):
            # They are part of the plan that is needed anyway, and need not be evaluated alone in every run.
            for result in [r for op in done for r in op.results]:
                values.pop(result, None)
            self._dims.clear()
            self._dims.update(dims)
            at = 0
        entry.direct_stop = at
        entry.direct_runs += 1
        return at

    def _evaluate_if_small(self, op: Operation, values: dict[Value, Array], evaluator: Evaluator) -> bool:
        """Evaluates an operation if it is small; returns whether it did."""
        self._shared.check_time()
        if is_only_decoded(op):
            return True
        try:
            if is_control(op):
                results = self._control_results(op, values)
            else:
                results = evaluator.decoded(op) or evaluator.results(op, values)
        except TooLargeError:
            return False
        values.update(zip(op.results, results, strict=False))
        self._dims.update(result_sizes(op, shapes_of(results)))
        return True

    def call(self, function: Function, arguments: Arrays) -> Arrays:
        """Runs a function."""
        inner = _BlockRunner(self._shared, symbol_sizes(function, arguments), self._depth)
        values = dict(zip(function.inputs, arguments, strict=True))
        inner.run_block(function.body, values)
        return tuple([values[v] for v in function.outputs])

    def _stored_shapes(self) -> tuple[tuple[Global, tuple[int, ...] | None], ...]:
        return tuple([(g, self._shared.globals.shape(g)) for g in self._shared.resizable])

    def _planned_step(self, schedule: BlockSchedule, start: int, values: Mapping[Value, Array]) -> PlanStep:
        """Returns the plan for operations of a block from one on, for values that are needed there."""
        tensors = {v: x for v, x in values.items() if _is_tensor(v, x)}
        entry = schedule.entry(start, tensors, self._dims, self._stored_shapes())
        shared = self._shared
        control = shared.plans_control and schedule.planned_shapes(start) < NESTED_SHAPES

        def build(guarded: tuple[Value, ...] | None) -> Segment:
            planning = Planning(shared.globals, shared.decoded, shared.options.memory_limit_bytes, control)
            with no_collection():
                return plan_segment(
                    planning, self._dims, tensors, schedule.operations, start, schedule.is_needed, guarded
                )

        segment = entry.plan_or_build(values, build)
        schedule.drop_old_plans(start)
        return PlanStep(entry, segment)

    def _run_segment(self, segment: Segment, values: dict[Value, Array]) -> None:
        """Runs operations of a block as one plan, and adds their results and the dims that these define."""
        arrays = [self._shared.globals.load(v) if isinstance(v, Global) else values[v] for v in segment.inputs]
        results = self._shared.run_plan(segment.plan, arrays)
        count = len(segment.outputs)
        values.update(zip(segment.outputs, [np.array(x) for x in results[:count]], strict=True))
        for target, array in zip(segment.stored, results[count:], strict=True):
            self._shared.globals.store(target, array)
        self._dims.update(segment.sizes)

    def _control_results(self, op: Operation, values: Mapping[Value, Array]) -> Arrays:
        """Returns the results of an operation that runs nested programs or communicates."""
        results = run_control(op, values, self)
        if communicates(op):
            return tuple([computed(x, r.type) for x, r in zip(results, op.results, strict=True)])
        return results

    def _single_results(
        self, op: Operation, values: Mapping[Value, Array], instance_on: Callable[[Sequence[Array]], Op]
    ) -> Arrays:
        """Returns the results of an operation that runs alone: dims depend on data, or it runs programs."""
        if is_control(op) or not isinstance(op, Op) or op.form not in (Form.ALGORITHM, Form.COMPOSITE):
            return self._control_results(op, values)
        operands = [values[v] for v in op.operands]
        if op.form is Form.COMPOSITE:
            return self._run_stated(op, operands, values)
        try:
            results = call_algorithm(instance_on(operands), *operands)
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=path_of(op)) for d in error.diagnostics]) from None
        return tuple([computed(x, r.type) for x, r in zip(results, op.results, strict=True)])

    def _run_stated(self, op: Op, operands: Sequence[Array], values: Mapping[Value, Array]) -> Arrays:
        """Returns the results of an operation whose meaning depends on the elements of its operands."""
        try:
            declared = self._shared.statements.of(op, operands, self._dims)
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=path_of(op)) for d in error.diagnostics]) from None
        inner = {**used_inside(op, values), **{v: operands[n] for n, v in declared.inputs.items()}}
        self.run_block(declared.block, inner)
        refine_unknown_types(op.results, declared.outputs)
        return tuple([inner[v] for v in declared.outputs])


def _is_pure(op: Operation) -> bool:
    return isinstance(op, Op) and op.has_trait(Pure)


def _is_tensor(value: Value, x: object) -> bool:
    return is_array(x) and isinstance(value.type, TensorType)


ENGINE = NumpyEngine()
