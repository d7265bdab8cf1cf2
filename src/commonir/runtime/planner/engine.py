"""The default engine: plans of numpy calls, built once for each set of shapes.

A block runs as segments: as many operations as possible become one array program, whose plan is cached for its shapes.
Operations with data-dependent dims (non-zero, ranges), and control operations that cannot be planned, run alone between
segments. Half-precision values are computed in single precision and rounded where they leave the program
(`docs/performance.md`).
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
from commonir.dialects import core
from commonir.dialects.mlir.ml_program import Global
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Form, Op, source_path
from commonir.ods.traits import Pure
from commonir.runtime.binding import requirements, symbol_dims
from commonir.runtime.blas import limited_threads
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions
from commonir.runtime.interpreter.control import Globals, WithState, check_depth, is_control, run_control, used_inside
from commonir.runtime.interpreter.engine import Evaluator, TooLargeError
from commonir.runtime.interpreter.operations import call_algorithm
from commonir.runtime.interpreter.runtime_dims import block_dims, result_dims
from commonir.runtime.interpreter.specialization import Specializations
from commonir.runtime.limits import OutOfRange, no_memory
from commonir.runtime.nesting import with_loops
from commonir.runtime.planner.array_plan import ArrayPlan
from commonir.runtime.planner.repeated_binding import Binder
from commonir.runtime.planner.schedule import BlockSchedule, PlanStep, RecordedRun, Schedule, ScheduleEntry, SingleStep
from commonir.runtime.planner.segment_planning import Planning, Segment, plan_segment
from commonir.runtime.planner.tracing import is_only_decoded
from commonir.runtime.ranks.program import communicates
from commonir.runtime.seeding import with_seeds
from commonir.runtime.state import mutable_globals
from commonir.runtime.values import computed, copied, declared, is_array, refine_unknown_types, shapes_of

Array = NDArray[Any]
Arrays = tuple[Array, ...]
T = TypeVar("T")

DIRECT_RUNS = 4
"""The number of runs with the same shapes that are evaluated without a plan; for nested blocks it is one."""

DIRECT_ELEMENTS = 1 << 15
"""Operations with a grid of up to this many elements may be evaluated without a plan."""

DIRECT_ROUNDS = 1 << 9
"""Loops with up to this many operations in all iterations together may be evaluated without a plan."""

PLANNED_DEPTH = 8
"""Loops that hold regions deeper than this are planned from inside: planning one whole takes several frames a level."""

NESTED_SHAPES = 3
"""The number of shapes for which loops are planned as part of a segment; then only their bodies are planned."""


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
        self._function_plan: _FunctionPlan | None = None
        super().__init__(self._shared.globals)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name; see `Executable`."""
        try:
            return self._run(inputs)
        except MemoryError as error:
            raise no_memory(error) from error

    def _run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        arrays = None if self._function_plan is None else self._binder.bound_as_before(inputs)
        if self._function_plan is not None and arrays is not None and self._function_plan.holds_for(arrays):
            return self._run_plan(self._function_plan, arrays)
        self._function_plan = None
        bound = self._binder.bind(inputs)
        self._start_clock()
        values = dict(zip(self._function.inputs, bound.arrays, strict=True))
        runner = _BlockRunner(self._shared, bound.dims, 0)
        try:
            with self._shared.threads(), self._shared.globals.run():
                runner.run_block(self._function.body, values)
        finally:
            self._shared.forget_inputs()
        self._function_plan = self._as_function_plan(runner.only_segment, bound.arrays)
        return {n: copied(declared(values[v], v.type)) for n, v in self._outputs}

    def _start_clock(self) -> None:
        limit = self._shared.options.time_limit_seconds
        self._shared.deadline = None if limit is None else time.monotonic() + limit

    def _as_function_plan(self, segment: Segment | None, bound: Arrays) -> _FunctionPlan | None:
        """Returns the plan that ran as a plan of the whole function; None if a run has more to do."""
        if (
            segment is None
            or segment.stored
            or self._shared.dynamic_globals
            or self._shared.options.communicator is not None
        ):
            return None
        positions = {v: n for n, v in enumerate(self._function.inputs)}
        plan_inputs = [positions[v] for v in segment.inputs if isinstance(v, Value) and v in positions]
        results = {v: n for n, v in enumerate(segment.outputs)}
        outputs = [(n, results[v], v.type) for n, v in self._outputs if v in results]
        if len(plan_inputs) < len(segment.inputs) or len(outputs) < len(self._outputs):
            return None
        guarded = [(positions[v], bound[positions[v]].tobytes()) for v in segment.guarded]
        return _FunctionPlan(segment.plan, plan_inputs, outputs, guarded)

    def _run_plan(self, function_plan: _FunctionPlan, arrays: Arrays) -> dict[str, Array]:
        """Runs the plan of the whole function."""
        self._start_clock()
        plan_inputs = [arrays[n] for n in function_plan.inputs]
        try:
            with self._shared.threads() if function_plan.plan.may_use_blas else nullcontext():
                results = self._shared.run_plan(function_plan.plan, plan_inputs)
        finally:
            self._shared.forget_inputs()
        return {name: np.array(declared(results[n], type)) for name, n, type in function_plan.outputs}

    def explain(self) -> Explanation:
        """Returns a description of the plans built so far."""
        return Explanation(tuple(self._shared.schedule.segments()))


class Explanation:
    """The steps of all plans of an executable, for inspection."""

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
        # Their contents may have another shape in the next run, so that a plan may not fit.
        self.dynamic_globals = [g for g in variables if not (isinstance(g.type, TensorType) and g.type.is_static)]
        self.deadline: float | None = None
        # Time limits and other ranks are checked between operations.
        self.plans_control = options.time_limit_seconds is None and options.communicator is None
        self.schedule = Schedule()
        self.decoded: dict[Operation, Array] = {}
        self.specializations = Specializations()
        # The plans of the current run, which have read their inputs.
        self.used_plans: set[ArrayPlan] = set()

    def evaluator(self, dims: dict[str, int], depth: int) -> Evaluator:
        """Returns an evaluator of small operations."""
        communicator = self.options.communicator
        return Evaluator(dims, self.globals, self.deadline, depth, self.specializations, DIRECT_ELEMENTS, communicator)

    def threads(self) -> AbstractContextManager[object]:
        """Returns a context that limits the threads of BLAS."""
        return limited_threads(self.options.threads)

    def check_time(self) -> None:
        """Checks the deadline and other ranks. Raises: DiagnosticError (E0711, and errors of other ranks)."""
        if self.options.communicator is not None:
            self.options.communicator.check()
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, "the time limit of the run has passed"))

    def run_plan(self, plan: ArrayPlan, arrays: Sequence[Array]) -> list[Array]:
        """Returns the results of a plan, valid until it runs again."""
        self.used_plans.add(plan)
        try:
            return plan.run(arrays, self.deadline)
        except OutOfRange as error:
            help = "other inputs may work; `--engine reference` names the operation"
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, str(error), help=help)) from None

    def forget_inputs(self) -> None:
        """Makes the plans that ran read all of their inputs in the next run: the caller may write into its arrays."""
        for plan in self.used_plans:
            plan.forget()
        self.used_plans.clear()


class _FunctionPlan(NamedTuple):
    """A plan that computes all outputs of a function.

    `inputs` are the positions of the inputs that it reads, `outputs` the names, positions and types of outputs,
    `guarded` the positions and contents of inputs for which it is valid.
    """

    plan: ArrayPlan
    inputs: list[int]
    outputs: list[tuple[str, int, Type]]
    guarded: list[tuple[int, bytes]]

    def holds_for(self, arrays: Arrays) -> bool:
        """Returns whether inputs of the same shapes have the contents for which the plan is valid."""
        return all(arrays[position].tobytes() == contents for position, contents in self.guarded)


class _BlockRunner:
    """Runs blocks segment by segment, for some values of symbolic dimensions."""

    def __init__(self, shared: _Shared, dims: dict[str, int], depth: int) -> None:
        self._shared = shared
        self._dims = dims
        self._depth = depth
        self.communicator = shared.options.communicator
        # The plan of the last block, if it ran as one segment.
        self.only_segment: Segment | None = None

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Runs the operations of a block, adding the results that are needed later to the values."""
        # A loop that never runs a plan may not terminate.
        self._shared.check_time()
        check_depth(self._depth)
        schedule = self._shared.schedule.get(block)
        entry = schedule.entry(0, values, self._dims, self._global_shapes())
        recorded = entry.recorded
        if recorded is not None:
            runner = _BlockRunner(self._shared, dict(recorded.dims), self._depth + 1)
            at, steps = runner._follow(recorded, schedule, values)
            is_complete, dims = True, recorded.dims
        else:
            runner = _BlockRunner(self._shared, block_dims(block, values, self._dims), self._depth + 1)
            at, steps = runner._run_directly(entry, schedule, values), []
            is_complete, dims = at == 0, dict(runner._dims)
        if at < len(schedule.operations):
            runner._run_rest(schedule, values, at, steps)
            if is_complete and not self._shared.dynamic_globals:
                entry.recorded = RecordedRun(dims, steps)
        only = steps[0] if is_complete and len(steps) == 1 else None
        self.only_segment = only.segment if isinstance(only, PlanStep) else None

    def _follow(
        self, recorded: RecordedRun, schedule: BlockSchedule, values: dict[Value, Array]
    ) -> tuple[int, list[PlanStep | SingleStep]]:
        """Runs a block in its recorded steps while they apply; returns the next operation's index, and the steps."""
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
        """Runs the operations of a block from an index on, and appends the steps."""
        # Only values that are still needed: a block may have thousands of segments, and each looks at all live values.
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
        """Evaluates the first operations while they are small, and returns the index of the next one.

        This happens in the first runs with some shapes, where building a plan would take longer than it saves.
        """
        # Only plans check the memory limit.
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
        evaluated = schedule.operations[:at]
        if at < count and all(_is_pure(op) for op in evaluated):
            # A plan is needed anyway: it includes them, so that they are not evaluated separately in every run.
            for result in [r for op in evaluated for r in op.results]:
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
        if _may_be_long(op, values):
            return False
        try:
            if is_control(op):
                results = self._control_results(op, values)
            else:
                results = evaluator.decoded(op) or evaluator.results(op, values)
        except TooLargeError:
            return False
        values.update(zip(op.results, results, strict=False))
        self._dims.update(result_dims(op, shapes_of(results)))
        return True

    def call(self, function: Function, arguments: Arrays) -> Arrays:
        """Runs a function."""
        runner = _BlockRunner(self._shared, symbol_dims(function, arguments), self._depth)
        values = dict(zip(function.inputs, arguments, strict=True))
        runner.run_block(function.body, values)
        return tuple([values[v] for v in function.outputs])

    def _global_shapes(self) -> tuple[tuple[Global, tuple[int, ...] | None], ...]:
        return tuple([(g, self._shared.globals.shape(g)) for g in self._shared.dynamic_globals])

    def _planned_step(self, schedule: BlockSchedule, start: int, values: Mapping[Value, Array]) -> PlanStep:
        """Returns the plan for operations of a block from an index on, for the values that they need."""
        tensors = {v: x for v, x in values.items() if _is_tensor(v, x)}
        entry = schedule.entry(start, tensors, self._dims, self._global_shapes())
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
        """Runs a segment, and adds its results and the dims that these define."""
        arrays = [self._shared.globals.load(v) if isinstance(v, Global) else values[v] for v in segment.inputs]
        results = self._shared.run_plan(segment.plan, arrays)
        count = len(segment.outputs)
        values.update(zip(segment.outputs, [np.array(x) for x in results[:count]], strict=True))
        for target, array in zip(segment.stored, results[count:], strict=True):
            self._shared.globals.store(target, array)
        self._dims.update(segment.dims)

    def _control_results(self, op: Operation, values: Mapping[Value, Array]) -> Arrays:
        """Returns the results of an operation that runs nested blocks or communicates."""
        results = run_control(op, values, self)
        if communicates(op):
            return tuple([computed(x, r.type) for x, r in zip(results, op.results, strict=True)])
        return results

    def _single_results(
        self, op: Operation, values: Mapping[Value, Array], instance_on: Callable[[Sequence[Array]], Op]
    ) -> Arrays:
        """Returns the results of an operation that runs alone: its dims depend on data, or it runs nested blocks."""
        if is_control(op) or not isinstance(op, Op) or op.form not in (Form.ALGORITHM, Form.COMPOSITE):
            return self._control_results(op, values)
        operands = [values[v] for v in op.operands]
        if op.form is Form.COMPOSITE:
            return self._run_specialized(op, operands, values)
        try:
            results = call_algorithm(instance_on(operands), *operands)
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=source_path(op)) for d in error.diagnostics]) from None
        return tuple([computed(x, r.type) for x, r in zip(results, op.results, strict=True)])

    def _run_specialized(self, op: Op, operands: Sequence[Array], values: Mapping[Value, Array]) -> Arrays:
        """Returns the results of an operation whose semantics depend on the elements of its operands."""
        try:
            specialization = self._shared.specializations.get(op, operands, self._dims)
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=source_path(op)) for d in error.diagnostics]) from None
        block_values = {**used_inside(op, values), **{v: operands[n] for n, v in specialization.inputs.items()}}
        self.run_block(specialization.block, block_values)
        refine_unknown_types(op.results, specialization.outputs)
        return tuple([block_values[v] for v in specialization.outputs])


def _may_be_long(op: Operation, values: Mapping[Value, Array]) -> bool:
    """Returns whether a loop may have so many iterations that planning it pays off at once."""
    match op:
        case core.While():
            return not _is_deeper(op, PLANNED_DEPTH)
        case core.Scan():
            return len(values[op.sequences[0]]) * len(op.body.block) > DIRECT_ROUNDS
        case _:
            return False


def _is_deeper(op: Operation, levels: int) -> bool:
    """Returns whether regions of an operation are nested more than some levels deep; looks no deeper than that."""
    inner = [nested for region in op.regions for nested in region.block.operations if nested.regions]
    return bool(inner) and (levels == 0 or any(_is_deeper(nested, levels - 1) for nested in inner))


def _is_pure(op: Operation) -> bool:
    return isinstance(op, Op) and op.has_trait(Pure)


def _is_tensor(value: Value, x: object) -> bool:
    return is_array(x) and isinstance(value.type, TensorType)


ENGINE = NumpyEngine()
