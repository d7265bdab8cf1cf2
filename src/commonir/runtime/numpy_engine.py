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
from commonir.dialects.ml_program import Global
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Form, Op, path_of
from commonir.ods.traits import Pure, Terminator
from commonir.runtime.array_graph import Graph, Input, Node, Opaque
from commonir.runtime.array_plan import ArrayPlan
from commonir.runtime.array_steps import evaluate
from commonir.runtime.binding import requirements, sizes_of
from commonir.runtime.blas import limited_threads
from commonir.runtime.control import Globals, HoldsState, check_depth, global_of, is_control, run_control, used_inside
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions, Executable, ImmediateEngine
from commonir.runtime.evaluation import OutOfRange
from commonir.runtime.immediate import immediate
from commonir.runtime.instances import instance, is_concrete
from commonir.runtime.local_sizes import sizes_inside, sizes_learned
from commonir.runtime.nesting import with_loops
from commonir.runtime.operations import call_algorithm
from commonir.runtime.ranks.peers import communicates
from commonir.runtime.reference import Evaluator, TooLargeError
from commonir.runtime.repeated_binding import Binder
from commonir.runtime.seeding import with_seeds
from commonir.runtime.simplification import simplified
from commonir.runtime.specialization import Statements
from commonir.runtime.state import mutable_globals
from commonir.runtime.tracing import NotTraceable, Traced, Tracer, is_only_decoded
from commonir.runtime.values import (
    compute_dtype,
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

IMMEDIATE_ELEMENTS = 1 << 18
"""The same, of the operations of a program that is run a few times as it stands."""

SEEN_SHAPES = 64
"""Shapes remembered for each block that was evaluated without a plan."""

KEPT_PLANS = 8
"""Plans kept for each place of a program where one starts; each has buffers of its own."""


class NumpyEngine(ImmediateEngine):
    """Runs programs with numpy."""

    name = "numpy"
    hands_over = True

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> NumpyExecutable:
        """Makes a function ready to run; see `Engine`."""
        prepared = with_loops(with_seeds(module, options.seed))
        return NumpyExecutable(prepared, prepared.function(function), options)

    def immediate(
        self, module: Module, function: str | None, options: EngineOptions, later: Callable[[bool], Executable]
    ) -> Executable | None:
        """A function that is run as it stands the first times; see `ImmediateEngine`."""
        return immediate(module, function, options, IMMEDIATE_ELEMENTS, later)


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
        arrays = None if self._whole is None else self._binder.bound_as_before(inputs)
        if self._whole is not None and arrays is not None:
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
        self._whole = self._as_whole(runner.only_segment)
        return {n: copied(declared(values[v], v.type)) for n, v in self._outputs}

    def _start_clock(self) -> None:
        limit = self._shared.options.time_limit_seconds
        self._shared.deadline = None if limit is None else time.monotonic() + limit

    def _as_whole(self, segment: _Segment | None) -> _Whole | None:
        """A plan that is all of the function, for inputs of the same sizes; None where there is more to a run."""
        if segment is None or segment.stored or self._shared.resizable or self._shared.options.peers is not None:
            return None
        places = {v: n for n, v in enumerate(self._function.inputs)}
        read = [places[v] for v in segment.inputs if isinstance(v, Value) and v in places]
        made = {v: n for n, v in enumerate(segment.outputs)}
        outputs = [(n, made[v], v.type) for n, v in self._outputs if v in made]
        if len(read) < len(segment.inputs) or len(outputs) < len(self._outputs):
            return None
        return _Whole(segment.plan, read, outputs)

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

    def __init__(self, segments: Sequence[_Segment]) -> None:
        self.steps = tuple([label for s in segments for label in s.plan.labels])
        nodes = [n for s in segments for n in s.plan.nodes]
        self.fallbacks = tuple([n.label for n in nodes if isinstance(n, Opaque) and n.is_fallback])
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
        self._plans: dict[tuple[Block, int], _Recent[_Segment]] = {}
        self._layouts: dict[Block, _BlockLayout] = {}
        self.decoded: dict[Operation, Array] = {}
        self.statements = Statements()
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

    def plans(self, block: Block, start: int) -> _Recent[_Segment]:
        """The plans that start at an operation of a block."""
        return self._plans.setdefault((block, start), _Recent(KEPT_PLANS))

    def layout(self, block: Block) -> _BlockLayout:
        """What is known of a block before it runs."""
        found = self._layouts.get(block)
        if found is None:
            found = self._layouts[block] = _BlockLayout(block)
        return found

    def segments(self) -> Iterator[_Segment]:
        """Every plan that is kept."""
        for recent in self._plans.values():
            yield from recent.kept.values()


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
    """The operations of a block, and where each value is used for the last time."""

    def __init__(self, block: Block) -> None:
        self.operations = [op for op in block.operations if not (isinstance(op, Op) and op.has_trait(Terminator))]
        self._last_use: dict[Value, int] = {}
        for n, op in enumerate(self.operations):
            for inner in op.walk() if op.regions else (op,):
                self._last_use.update(dict.fromkeys(inner.operands, n))
        if block.last is not None:
            self._last_use.update(dict.fromkeys(block.last.operands, len(self.operations)))

    def is_needed(self, value: Value, at: int) -> bool:
        """Whether the operation at a place, or what comes after it, uses a value."""
        return self._last_use.get(value, -1) >= at


class _Direct(NamedTuple):
    """How far a block was evaluated directly, and how often."""

    stop: int
    times: int


class _Segment(NamedTuple):
    """Operations `[start, stop)` of a block as a plan."""

    stop: int
    plan: ArrayPlan
    inputs: tuple[Value | Global, ...]
    outputs: tuple[Value, ...]
    stored: tuple[Global, ...]
    sizes: dict[str, int]


class _Whole(NamedTuple):
    """A plan that is all of a function: the places of the inputs that it reads, and names, places and types of
    outputs.
    """

    plan: ArrayPlan
    inputs: list[int]
    outputs: list[tuple[str, int, Type]]


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
        self.only_segment: _Segment | None = None

    def run_block(self, block: Block, values: dict[Value, Array]) -> None:
        """Runs the operations of a block, adding the results that are needed later to the values."""
        # A loop may go on for ever without a step of a plan.
        self._shared.check_time()
        check_depth(self._depth)
        layout = self._shared.layout(block)
        sizes = sizes_inside(block, values, self._sizes)
        inside = _BlockRunner(self._shared, sizes, self._depth + 1)
        at = inside._run_directly(block, layout, values)
        # Values that are still needed: a block may fall into thousands of segments, each of which looks at all of them.
        live = values
        while at < len(layout.operations):
            if not is_control(layout.operations[at]):
                live = {v: x for v, x in live.items() if layout.is_needed(v, at)}
                segment = inside._run_segment(block, at, live)
                values.update([(v, live[v]) for v in segment.outputs])
                sizes.update(segment.sizes)
                self.only_segment = segment if at == 0 and segment.stop == len(layout.operations) else None
                at = segment.stop
            if at < len(layout.operations):
                op = layout.operations[at]
                found = inside._run_alone(op, values)
                for known in (values, live):
                    known.update(zip(op.results, found, strict=False))
                sizes.update(sizes_learned(op, shapes_of(found)))
                at += 1

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

    def _run_segment(self, block: Block, start: int, values: dict[Value, Array]) -> _Segment:
        """Runs operations of a block as one plan, on values that are needed from there on; adds what they compute."""
        layout = self._shared.layout(block)
        given = [v for v, x in values.items() if _is_tensor(v, x)]
        stored = [(g, self._shared.globals.shape(g)) for g in self._shared.resizable]
        key = (tuple([(v, values[v].shape) for v in given]), tuple(sorted(self._sizes.items())), tuple(stored))
        plans = self._shared.plans(block, start)
        segment = plans.get_or_make(key, lambda: self._planned(layout, start, {v: values[v] for v in given}))
        arrays = [self._shared.globals.load(v) if isinstance(v, Global) else values[v] for v in segment.inputs]
        found = _run_plan(segment.plan, arrays, self._shared.deadline)
        count = len(segment.outputs)
        values.update(zip(segment.outputs, [np.array(x) for x in found[:count]], strict=True))
        for target, array in zip(segment.stored, found[count:], strict=True):
            self._shared.globals.store(target, array)
        return segment

    def _planned(self, layout: _BlockLayout, start: int, given: Mapping[Value, Array]) -> _Segment:
        with no_collection():
            return _SegmentPlanner(self._shared, self._sizes, given).planned(layout, start)

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
        placed = op
        if not is_concrete(op):
            placed = instance(
                op, [Value(value_type(v, x)) for v, x in zip(op.operands, operands, strict=True)], self._sizes
            )
        try:
            found = call_algorithm(placed, *operands)
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=path_of(op)) for d in error.diagnostics]) from None
        return tuple([computed(x, r.type) for x, r in zip(found, op.results, strict=True)])

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


class _SegmentPlanner:
    """Traces operations into one array program until one stands alone."""

    def __init__(self, shared: _Shared, sizes: Mapping[str, int], given: Mapping[Value, Array]) -> None:
        self._shared = shared
        self._given = given
        self._graph = Graph(evaluate)
        self._sizes = dict(sizes)
        self._learned: dict[str, int] = {}
        self._tracer = Tracer(self._graph, self._sizes, shared.decoded)
        self._traced: dict[Value, Traced] = {}
        self._globals: dict[Global, Traced] = {}
        self._stored: list[Global] = []
        self._inputs: list[tuple[Value | Global, Node]] = []

    def planned(self, layout: _BlockLayout, start: int) -> _Segment:
        """The plan of the operations from `start` on."""
        stop = start
        while stop < len(layout.operations) and self._trace(layout.operations[stop]):
            stop += 1
        made = {v for op in layout.operations[start:stop] for v in op.results}
        outputs = tuple([v for v in self._traced if v in made and layout.is_needed(v, stop)])
        wanted = [self._traced[v].node for v in outputs] + [self._globals[g].node for g in self._stored]
        nodes = simplified(self._graph, wanted)
        inputs = [n for _, n in self._inputs]
        plan = ArrayPlan(inputs, nodes, self._shared.options.memory_limit_bytes)
        return _Segment(stop, plan, tuple([v for v, _ in self._inputs]), outputs, tuple(self._stored), self._learned)

    def _trace(self, op: Operation) -> bool:
        """Whether the operation is part of the segment."""
        if is_only_decoded(op):
            return True
        if is_control(op):
            return False
        found = global_of(op) if isinstance(op, Op) else None
        if found is not None:
            return self._trace_global(op, found)
        try:
            results = self._tracer.decoded(op) or self._tracer.trace(op, [self._value(v) for v in op.operands])
        except NotTraceable:
            return False
        self._traced.update(zip(op.results, results, strict=False))
        learn_types(op.results, [t.value for t in results])
        learned = sizes_learned(op, [t.node.shape for t in results])
        self._learned.update(learned)
        self._sizes.update(learned)
        return True

    def _trace_global(self, op: Operation, found: Global) -> bool:
        if not op.results:
            self._globals[found] = self._value(op.operands[0])
            if found not in self._stored:
                self._stored.append(found)
            return True
        if found not in self._globals:
            if found in self._stored:
                return False
            self._globals[found] = self._input(found, op.results[0], self._shared.globals.load(found))
        self._traced[op.results[0]] = self._globals[found]
        return True

    def _value(self, value: Value) -> Traced:
        found = self._traced.get(value)
        if found is None and value not in self._given:
            raise NotTraceable(str(value.type))
        if found is None:
            found = self._traced[value] = self._input(value, value, self._given[value])
        return found

    def _input(self, source: Value | Global, value: Value, array: Array) -> Traced:
        node = self._graph.add(Input(len(self._inputs), array.shape, _dtype(value)))
        self._inputs.append((source, node))
        return Traced(Value(value_type(value, array)), node)


def _is_pure(op: Operation) -> bool:
    return isinstance(op, Op) and op.has_trait(Pure)


def _is_tensor(value: Value, x: object) -> bool:
    return is_array(x) and isinstance(value.type, TensorType)


def _dtype(value: Value) -> np.dtype[Any]:
    assert isinstance(value.type, TensorType)
    return compute_dtype(value.type.element)


ENGINE = NumpyEngine()
