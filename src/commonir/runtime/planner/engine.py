"""The default engine: programs as plans of numpy calls, compiled once for each set of sizes.

A block runs as segments: as many operations as possible become one array program, planned and kept for the shapes it
was planned for. Between segments stand operations that only running can size (non-zero, ranges) and those that run
nested programs. Half-precision values are held in single precision and rounded where they leave the program
(`docs/architecture.md`).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
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
from commonir.ir.types import TensorType, Type, symbols_of, unknown
from commonir.ods import Form, Op, known_dims, path_of
from commonir.ods.local_sizes import defined_sizes, symbols_stated, symbols_within
from commonir.ods.traits import Pure
from commonir.runtime.binding import requirements, sizes_of
from commonir.runtime.blas import limited_threads
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions
from commonir.runtime.instances import instance, is_concrete
from commonir.runtime.interpreter.control import Globals, HoldsState, check_depth, is_control, run_control, used_inside
from commonir.runtime.interpreter.engine import Evaluator, TooLargeError
from commonir.runtime.interpreter.evaluation import OutOfRange
from commonir.runtime.interpreter.local_sizes import sizes_inside, sizes_learned
from commonir.runtime.interpreter.operations import call_algorithm
from commonir.runtime.interpreter.specialization import Statements
from commonir.runtime.limits import no_memory
from commonir.runtime.planner.array_plan import ArrayPlan
from commonir.runtime.planner.block_tracing import operations_of
from commonir.runtime.planner.nesting import with_loops
from commonir.runtime.planner.repeated_binding import Binder
from commonir.runtime.planner.segment_planning import Planning, Segment, plan_segment
from commonir.runtime.planner.tracing import is_only_decoded
from commonir.runtime.ranks.peers import communicates
from commonir.runtime.seeding import with_seeds
from commonir.runtime.state import mutable_globals
from commonir.runtime.values import (
    computed,
    copied,
    declared,
    is_array,
    learn_types,
    shapes_of,
    value_type,
)

Array = NDArray[Any]
Arrays = tuple[Array, ...]
T = TypeVar("T")

DIRECT_RUNS = 4
"""How often a whole program is evaluated without a plan for the same shapes; nested blocks are once."""

DIRECT_ELEMENTS = 1 << 15
"""What an operation may compute at most, in elements of its grid, to be evaluated without a plan."""

SEEN_SHAPES = 64
"""Shapes remembered for each block that was evaluated without a plan."""

KEPT_PLANS = 8
"""Shapes for which plans are kept, for each place of a program where one starts; each has buffers of its own."""

KEPT_INSTANCES = 8
"""Shapes of operands for which an operation is kept that runs alone."""

KEPT_CONTENTS = 4
"""Contents of inputs for which plans of their own are made; then there is one for all others."""

NESTED_SHAPES = 3
"""Shapes for which loops are planned with what is around them; plans of their bodies hold for any number of rounds."""


class NumpyEngine:
    """Runs programs with numpy."""

    name = "numpy"
    hands_over = True

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> NumpyExecutable:
        """Makes a function ready to run; see `Engine`."""
        prepared = with_loops(with_seeds(module, options.seed, function), function)
        return NumpyExecutable(prepared, prepared.function(function), options)


class NumpyExecutable(HoldsState):
    """A function with the plans made for it so far."""

    def __init__(self, module: Module, function: Function, options: EngineOptions) -> None:
        self._function = function
        self._binder = Binder(function, requirements(function))
        self._outputs = tuple(zip(function.output_names, function.outputs, strict=True))
        self._shared = _Shared(options, mutable_globals(module).values())
        self._whole: _Whole | None = None
        super().__init__(self._shared.globals)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by name; see `Executable`."""
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
            # The caller may write into its arrays between runs.
            for segment in self._shared.segments():
                segment.plan.forget()
        self._whole = self._as_whole(runner.only_segment, bound.arrays)
        return {n: copied(declared(values[v], v.type)) for n, v in self._outputs}

    def _start_clock(self) -> None:
        limit = self._shared.options.time_limit_seconds
        self._shared.deadline = None if limit is None else time.monotonic() + limit

    def _as_whole(self, segment: Segment | None, bound: Arrays) -> _Whole | None:
        """A plan that is all of the function, for inputs of the same sizes; None where there is more to a run."""
        if segment is None or segment.stored or self._shared.resizable or self._shared.options.peers is not None:
            return None
        places = {v: n for n, v in enumerate(self._function.inputs)}
        read = [places[v] for v in segment.inputs if isinstance(v, Value) and v in places]
        made = {v: n for n, v in enumerate(segment.outputs)}
        outputs = [(n, made[v], v.type) for n, v in self._outputs if v in made]
        if len(read) < len(segment.inputs) or len(outputs) < len(self._outputs):
            return None
        pinned = [(places[v], bound[places[v]].tobytes()) for v in segment.pinned]
        return _Whole(segment.plan, read, outputs, pinned)

    def _run_plan(self, whole: _Whole, arrays: Arrays) -> dict[str, Array]:
        """A run of which all is one plan."""
        self._start_clock()
        given = [arrays[n] for n in whole.inputs]
        try:
            with self._shared.threads() if whole.plan.may_use_blas else nullcontext():
                found = _run_plan(whole.plan, given, self._shared.deadline)
        finally:
            whole.plan.forget()
        return {name: np.array(declared(found[n], kind)) for name, n, kind in whole.outputs}

    def explain(self) -> Explanation:
        """What the plans made so far consist of."""
        return Explanation(tuple(self._shared.segments()))


class Explanation:
    """The steps of all plans of an executable, for people and tests."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.steps = tuple([label for s in segments for label in s.plan.labels])
        self.fallbacks = tuple([label for s in segments for label in s.plan.fallbacks])
        self.size_bytes = sum(s.plan.size_bytes for s in segments)

    def __str__(self) -> str:
        return "\n".join([*self.steps, f"{len(self.fallbacks)} fallbacks, {self.size_bytes} bytes"])


class _Shared:
    """What all parts of an executable share: options, contents of globals, and plans by block and place."""

    def __init__(self, options: EngineOptions, variables: Iterable[Global]) -> None:
        self.options = options
        self.globals = Globals()
        # Those whose contents may have another shape in the next run, for which a plan is of no use.
        self.resizable = [g for g in variables if not (isinstance(g.type, TensorType) and g.type.is_static)]
        self.deadline: float | None = None
        # The time limit is looked at between operations, and other ranks are waited for there.
        self.plans_control = options.time_limit_seconds is None and options.peers is None
        self._plans: dict[tuple[Block, int], _Recent[_Segments]] = {}
        self._layouts: dict[Block, _BlockLayout] = {}
        self.decoded: dict[Operation, Array] = {}
        self.statements = Statements()
        self.placed: dict[Op, _Placed] = {}
        # How blocks ran last.
        self.trails: dict[Block, _Trail] = {}
        # How far blocks were evaluated directly, by the shapes of what they were given.
        self.direct: dict[Block, _Recent[_Direct]] = {}

    def evaluator(self, sizes: dict[str, int], depth: int) -> Evaluator:
        """Evaluates small operations on values as this engine holds them."""
        peers = self.options.peers
        return Evaluator(sizes, self.globals, self.deadline, depth, self.statements, DIRECT_ELEMENTS, peers)

    def threads(self) -> AbstractContextManager[object]:
        """Limits the threads of BLAS while a program runs."""
        return limited_threads(self.options.threads)

    def check_time(self) -> None:
        """Raises: DiagnosticError (E0711) when the deadline of the run has passed, and what other ranks raise."""
        if self.options.peers is not None:
            self.options.peers.check()
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, "the time limit of the run has passed"))

    def plans(self, block: Block, start: int) -> _Recent[_Segments]:
        """The plans that start at an operation of a block."""
        return self._plans.setdefault((block, start), _Recent(KEPT_PLANS))

    def layout(self, block: Block) -> _BlockLayout:
        """What is known of a block before it runs."""
        found = self._layouts.get(block)
        if found is None:
            found = self._layouts[block] = _BlockLayout(block)
        return found

    def segments(self) -> Iterator[Segment]:
        """Every plan that is kept."""
        for recent in self._plans.values():
            for segments in recent.kept.values():
                yield from segments.made.values()
        for trail in self.trails.values():
            yield from [step.segment for step in trail.steps if isinstance(step, _PlanStep)]


class _Recent(dict[Hashable, T]):
    """A few values by key; the one not used for longest is dropped."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.kept: OrderedDict[Hashable, T] = OrderedDict()
        self._limit = limit

    def get_or_make(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made when it is not kept."""
        found = self.kept.get(key)
        if found is None:
            found = self.kept[key] = make()
            if len(self.kept) > self._limit:
                self.kept.popitem(last=False)
        self.kept.move_to_end(key)
        return found


class _BlockLayout:
    """The operations of a block, the sizes that each tells, whether it stands alone whatever it is given, and where
    each value is used for the last time.
    """

    def __init__(self, block: Block) -> None:
        self.operations = operations_of(block)
        self.sizes = [defined_sizes(op) for op in self.operations]
        self.alone = [_handles_no_tensors(op) for op in self.operations]
        self._last_use: dict[Value, int] = {}
        for n, op in enumerate(self.operations):
            for inner in op.walk() if op.regions else (op,):
                self._last_use.update(dict.fromkeys(inner.operands, n))
        if block.last is not None:
            self._last_use.update(dict.fromkeys(block.last.operands, len(self.operations)))

    def given(self, values: Mapping[Value, Array]) -> list[tuple[Value, tuple[int, ...] | None]]:
        """Those of some values that the block uses, with the shapes of tensors."""
        return [(v, _shape_of(x)) for v, x in values.items() if self.is_needed(v, 0)]

    def is_needed(self, value: Value, at: int) -> bool:
        """Whether the operation at a place, or what comes after it, uses a value."""
        return self._last_use.get(value, -1) >= at


class _Placed:
    """An operation on operands of known shapes, under sizes of the symbols that it mentions: a few are kept."""

    def __init__(self, op: Op) -> None:
        self._op = op
        self._is_concrete = is_concrete(op)
        dims = [d for v in op.operands for d in known_dims(v) or ()]
        types = [v.type for v in (*op.operands, *op.results)]
        self._symbols = tuple(dict.fromkeys((*symbols_of(types), *symbols_within(tuple(dims)), *symbols_stated(op))))
        self._kept: _Recent[Op] = _Recent(KEPT_INSTANCES)

    def on(self, operands: Sequence[Array], sizes: Mapping[str, int]) -> Op:
        """The operation on some operands."""
        if self._is_concrete:
            return self._op
        key = (tuple(shapes_of(operands)), tuple([sizes.get(name) for name in self._symbols]))
        return self._kept.get_or_make(key, lambda: self._made(operands, sizes))

    def _made(self, operands: Sequence[Array], sizes: Mapping[str, int]) -> Op:
        types = [value_type(v, x) for v, x in zip(self._op.operands, operands, strict=True)]
        return instance(self._op, [Value(t) for t in types], sizes)


class _Direct(NamedTuple):
    """How far a block was evaluated directly, and how often."""

    stop: int
    times: int


class _PlanStep(NamedTuple):
    """A plan that ran as a part of a block, and those among which it was the one."""

    segments: _Segments
    segment: Segment


class _LoneStep(NamedTuple):
    """The shapes of what an operation of a block gave that ran alone."""

    shapes: list[tuple[int, ...]]


class _Trail(NamedTuple):
    """How a block ran from its begin to its end, for values of some shapes, under sizes around it and inside.

    Of values of the same shapes nothing else needs to be asked, as long as lone operations give the same shapes.
    """

    given: list[tuple[Value, tuple[int, ...] | None]]
    outside: dict[str, int]
    inside: dict[str, int]
    steps: list[_PlanStep | _LoneStep]

    def fits(self, values: Mapping[Value, Array], sizes: Mapping[str, int]) -> bool:
        """Whether values are like those with which the block ran."""
        for v, shape in self.given:
            if v not in values or _shape_of(values[v]) != shape:
                return False
        return self.outside == sizes


def _shape_of(x: object) -> tuple[int, ...] | None:
    return x.shape if is_array(x) else None


class _Segments:
    """The plans for inputs of some shapes: one for each contents of those on which it depends what operations mean, or,
    where these are often others, one for all.
    """

    def __init__(self) -> None:
        self.pinned: tuple[Value, ...] = ()
        self.made: dict[tuple[bytes, ...] | None, Segment] = {}

    def of(self, values: Mapping[Value, Array], make: Callable[[tuple[Value, ...] | None], Segment]) -> Segment:
        """The plan for some values; `make` makes one, and is told of which values it is to depend on the contents, or
        that it may not.
        """
        found = self.known(values)
        if found is not None:
            return found
        pins = len(self.made) < KEPT_CONTENTS
        found = make(self.pinned if pins else None)
        if found.pinned != self.pinned and pins:
            self.made.clear()
            self.pinned = found.pinned
        self.made[_contents(self.pinned, values) if pins else None] = found
        return found

    def known(self, values: Mapping[Value, Array]) -> Segment | None:
        """The plan for some values, if there is one."""
        return self.made.get(_contents(self.pinned, values)) or self.made.get(None)


def _contents(pinned: Iterable[Value], values: Mapping[Value, Array]) -> tuple[bytes, ...]:
    return tuple([values[v].tobytes() for v in pinned])


class _Whole(NamedTuple):
    """A plan that is all of a function: the places of the inputs that it reads, names, places and types of outputs, and
    the places and contents of inputs for which it was made.
    """

    plan: ArrayPlan
    inputs: list[int]
    outputs: list[tuple[str, int, Type]]
    pinned: list[tuple[int, bytes]]

    def holds_for(self, arrays: Arrays) -> bool:
        """Whether inputs like those before have the contents for which it was made."""
        return all(arrays[place].tobytes() == contents for place, contents in self.pinned)


def _run_plan(plan: ArrayPlan, arrays: Sequence[Array], deadline: float | None) -> list[Array]:
    """What a plan computes, valid until it runs again."""
    try:
        return plan.run(arrays, deadline)
    except OutOfRange as error:
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, str(error))) from None


class _BlockRunner:
    """Runs blocks segment by segment, under given sizes of symbolic dimensions."""

    def __init__(self, shared: _Shared, sizes: dict[str, int], depth: int) -> None:
        self._shared = shared
        self._sizes = sizes
        self._depth = depth
        self.peers = shared.options.peers
        # The plan that was all of the block that ran last.
        self.only_segment: Segment | None = None

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Runs the operations of a block, adding the results that are needed later to the values."""
        # A loop may go on for ever without a step of a plan.
        self._shared.check_time()
        check_depth(self._depth)
        layout = self._shared.layout(block)
        trail = self._shared.trails.get(block)
        if trail is not None and trail.fits(values, self._sizes):
            inside = _BlockRunner(self._shared, dict(trail.inside), self._depth + 1)
            at, steps = inside._follow(trail, layout, values)
            is_from_begin, given, sizes = True, trail.given, trail.inside
        else:
            inside = _BlockRunner(self._shared, sizes_inside(block, values, self._sizes), self._depth + 1)
            at, steps = inside._run_directly(block, layout, values), []
            is_from_begin, given, sizes = at == 0, layout.given(values), dict(inside._sizes)
        if at < len(layout.operations):
            inside._go_on(block, layout, values, at, steps)
            if is_from_begin and not self._shared.resizable:
                self._shared.trails[block] = _Trail(given, dict(self._sizes), sizes, steps)
        only = steps[0] if is_from_begin and len(steps) == 1 else None
        self.only_segment = only.segment if isinstance(only, _PlanStep) else None

    def _follow(
        self, trail: _Trail, layout: _BlockLayout, values: dict[Value, Array]
    ) -> tuple[int, list[_PlanStep | _LoneStep]]:
        """Runs a block as it ran before, as far as it does; returns where it is then, and how it came there."""
        at = 0
        for n, step in enumerate(trail.steps):
            if isinstance(step, _LoneStep):
                shapes = self._run_lone(layout, at, values)
                if shapes != step.shapes:
                    return at + 1, [*trail.steps[:n], _LoneStep(shapes)]
                at += 1
                continue
            if step.segments.known(values) is not step.segment:
                return at, trail.steps[:n]
            self._run_planned(step.segment, values)
            at = step.segment.stop
        return at, trail.steps

    def _go_on(
        self,
        block: Block,
        layout: _BlockLayout,
        values: dict[Value, Array],
        at: int,
        steps: list[_PlanStep | _LoneStep],
    ) -> None:
        """Runs the operations of a block from one on, and adds how that was done."""
        # Values that are still needed: a block may fall into thousands of segments, each of which looks at all of them.
        live = values
        while at < len(layout.operations):
            if not layout.alone[at] and (self._shared.plans_control or not is_control(layout.operations[at])):
                live = {v: x for v, x in live.items() if layout.is_needed(v, at)}
                segments, segment = self._segment(block, at, live)
                self._run_planned(segment, values)
                live.update([(v, values[v]) for v in segment.outputs])
                steps.append(_PlanStep(segments, segment))
                at = segment.stop
            if at < len(layout.operations):
                op = layout.operations[at]
                steps.append(_LoneStep(self._run_lone(layout, at, values)))
                live.update([(v, values[v]) for v in op.results if v in values])
                at += 1

    def _run_lone(self, layout: _BlockLayout, at: int, values: dict[Value, Array]) -> list[tuple[int, ...]]:
        """Runs one operation of a block alone; returns the shapes of what it gives."""
        op = layout.operations[at]
        found = self._run_alone(op, values)
        values.update(zip(op.results, found, strict=False))
        shapes = shapes_of(found)
        if layout.sizes[at]:
            self._sizes.update({s.name: shapes[s.position][s.axis] for s in layout.sizes[at]})
        return shapes

    def _run_directly(self, block: Block, layout: _BlockLayout, values: dict[Value, Array]) -> int:
        """Evaluates operations from the first on as long as they are small, when shapes are seen for the first time,
        for which a plan would cost more than it saves; returns the place of the first that is left.
        """
        # Only a plan knows what memory it takes.
        if self._shared.options.plans_at_once or self._shared.options.memory_limit_bytes is not None:
            return 0
        count = len(layout.operations)
        given = [(v, x.shape) for v, x in values.items() if is_array(x) and layout.is_needed(v, 0)]
        places = self._shared.direct.setdefault(block, _Recent(SEEN_SHAPES))
        key = (tuple(given), tuple(sorted(self._sizes.items())))
        before = places.get_or_make(key, lambda: _Direct(count, 0))
        if before.stop == count and before.times >= (DIRECT_RUNS if self._depth == 1 else 1):
            return 0
        # What is given to the program is of its element types.
        values.update([(v, computed(values[v], v.type)) for v, _ in given])
        at, sizes = 0, dict(self._sizes)
        evaluator = self._shared.evaluator(self._sizes, self._depth)
        while at < before.stop and self._evaluated(layout.operations[at], values, evaluator):
            at += 1
        done = layout.operations[:at]
        if at < count and all(_is_pure(op) for op in done):
            # They are part of the plan that is needed anyway, and need not be evaluated alone in every run.
            for result in [r for op in done for r in op.results]:
                values.pop(result, None)
            self._sizes.clear()
            self._sizes.update(sizes)
            at = 0
        places.kept[key] = _Direct(at, before.times + 1)
        return at

    def _evaluated(self, op: Operation, values: dict[Value, Array], evaluator: Evaluator) -> bool:
        """Whether an operation is small enough to be evaluated, which it is then."""
        self._shared.check_time()
        if is_only_decoded(op):
            return True
        try:
            if is_control(op):
                found = self._run_alone(op, values)
            else:
                found = evaluator.decoded(op) or evaluator.results(op, values)
        except TooLargeError:
            return False
        values.update(zip(op.results, found, strict=False))
        self._sizes.update(sizes_learned(op, shapes_of(found)))
        return True

    def call(self, function: Function, arguments: Arrays) -> Arrays:
        """Runs a function."""
        inner = _BlockRunner(self._shared, sizes_of(function, arguments), self._depth)
        values = dict(zip(function.inputs, arguments, strict=True))
        inner.run_block(function.body, values)
        return tuple([values[v] for v in function.outputs])

    def _segment(self, block: Block, start: int, values: Mapping[Value, Array]) -> tuple[_Segments, Segment]:
        """The plan for operations of a block from one on, for values that are needed there, and what it is one of."""
        layout = self._shared.layout(block)
        given = [v for v, x in values.items() if _is_tensor(v, x)]
        stored = [(g, self._shared.globals.shape(g)) for g in self._shared.resizable]
        key = (tuple([(v, values[v].shape) for v in given]), tuple(sorted(self._sizes.items())), tuple(stored))
        plans = self._shared.plans(block, start)
        control = self._shared.plans_control and len(plans.kept) < NESTED_SHAPES
        known = {v: values[v] for v in given}
        segments = plans.get_or_make(key, _Segments)
        return segments, segments.of(values, lambda pinned: self._planned(layout, start, known, control, pinned))

    def _run_planned(self, segment: Segment, values: dict[Value, Array]) -> None:
        """Runs operations of a block as one plan, and adds what they compute and the sizes that they tell."""
        arrays = [self._shared.globals.load(v) if isinstance(v, Global) else values[v] for v in segment.inputs]
        found = _run_plan(segment.plan, arrays, self._shared.deadline)
        count = len(segment.outputs)
        values.update(zip(segment.outputs, [np.array(x) for x in found[:count]], strict=True))
        for target, array in zip(segment.stored, found[count:], strict=True):
            self._shared.globals.store(target, array)
        self._sizes.update(segment.sizes)

    def _planned(
        self,
        layout: _BlockLayout,
        start: int,
        given: Mapping[Value, Array],
        control: bool,
        pinned: tuple[Value, ...] | None,
    ) -> Segment:
        shared = self._shared
        planning = Planning(shared.globals, shared.decoded, shared.options.memory_limit_bytes, control)
        with no_collection():
            return plan_segment(planning, self._sizes, given, layout.operations, start, layout.is_needed, pinned)

    def _run_alone(self, op: Operation, values: Mapping[Value, Array]) -> Arrays:
        """An operation whose results only running can size, that runs nested programs or communicates."""
        if communicates(op):
            found = run_control(op, values, self)
            return tuple([computed(x, r.type) for x, r in zip(found, op.results, strict=True)])
        if is_control(op) or not isinstance(op, Op) or op.form not in (Form.ALGORITHM, Form.COMPOSITE):
            return run_control(op, values, self)
        operands = [values[v] for v in op.operands]
        if op.form is Form.COMPOSITE:
            return self._run_stated(op, operands, values)
        try:
            found = call_algorithm(self._placed(op, operands), *operands)
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=path_of(op)) for d in error.diagnostics]) from None
        return tuple([computed(x, r.type) for x, r in zip(found, op.results, strict=True)])

    def _placed(self, op: Op, operands: Sequence[Array]) -> Op:
        """The operation on operands of known sizes."""
        placed = self._shared.placed.get(op)
        if placed is None:
            placed = self._shared.placed[op] = _Placed(op)
        return placed.on(operands, self._sizes)

    def _run_stated(self, op: Op, operands: Sequence[Array], values: Mapping[Value, Array]) -> Arrays:
        """An operation whose meaning depends on the values of its operands."""
        try:
            stated = self._shared.statements.of(op, operands, self._sizes)
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=path_of(op)) for d in error.diagnostics]) from None
        inner = {**used_inside(op, values), **{v: operands[n] for n, v in stated.inputs.items()}}
        self.run_block(stated.block, inner)
        learn_types(op.results, stated.outputs)
        return tuple([inner[v] for v in stated.outputs])


def _is_pure(op: Operation) -> bool:
    return isinstance(op, Op) and op.has_trait(Pure)


def _handles_no_tensors(op: Operation) -> bool:
    """Whether an operation receives or gives lists or other values that no array program has."""
    return any(not isinstance(v.type, TensorType) and v.type is not unknown for v in (*op.operands, *op.results))


def _is_tensor(value: Value, x: object) -> bool:
    return is_array(x) and isinstance(value.type, TensorType)


ENGINE = NumpyEngine()
