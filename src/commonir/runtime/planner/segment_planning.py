"""Segments of blocks: as many operations as possible, from one on, as one plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir.ml_program import Global
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import Op
from commonir.runtime.interpreter.control import Globals, global_of, is_control
from commonir.runtime.planner.array_graph import Graph, Input, Node, reachable
from commonir.runtime.planner.array_plan import ArrayPlan
from commonir.runtime.planner.array_steps import evaluate
from commonir.runtime.planner.block_tracing import BlockTracer
from commonir.runtime.planner.simplification import simplified
from commonir.runtime.planner.tracing import NotTraceable, Traced, Tracer
from commonir.runtime.values import compute_dtype, declared_dtype, value_type

Array = NDArray[Any]

PINNED_ELEMENTS = 1 << 8
"""Elements of an input up to which a plan may be made for what they are."""


class Segment(NamedTuple):
    """Operations `[start, stop)` of a block as a plan, which is valid for these contents of `guarded` inputs."""

    stop: int
    plan: ArrayPlan
    inputs: tuple[Value | Global, ...]
    outputs: tuple[Value, ...]
    stored: tuple[Global, ...]
    sizes: dict[str, int]
    guarded: tuple[Value, ...]


class Planning(NamedTuple):
    """The inputs of planning. Operations with nested programs are part of a segment only if `control` is set."""

    globals: Globals
    decoded: dict[Operation, Array]
    memory_limit_bytes: int | None
    control: bool


class _NeedsElements(NotTraceable):
    """Tracing needs to know the elements of values."""

    def __init__(self, values: Sequence[Value]) -> None:
        super().__init__("elements")
        self.values = values


def plan_segment(
    planning: Planning,
    sizes: Mapping[str, int],
    values: Mapping[Value, Array],
    operations: Sequence[Operation],
    start: int,
    is_needed: Callable[[Value, int], bool],
    guarded: tuple[Value, ...] | None,
) -> Segment:
    """Returns the plan of the operations from `start` on, for the elements of `guarded` and of other small inputs on
    which it depends what operations mean; for any where that is None.
    """
    while True:
        planner = _SegmentPlanner(planning, sizes, values, guarded)
        try:
            return planner.planned(operations, start, is_needed)
        except _NeedsElements as needed:
            guarded = (*(guarded or ()), *needed.values)


class _SegmentPlanner(BlockTracer):
    """Traces operations into one array program until one stands alone."""

    def __init__(
        self,
        planning: Planning,
        sizes: Mapping[str, int],
        given: Mapping[Value, Array],
        guarded: Sequence[Value] | None,
    ) -> None:
        graph, known = Graph(evaluate), dict(sizes)
        super().__init__(graph, known, Tracer(graph, known, planning.decoded), planning.memory_limit_bytes)
        self._planning = planning
        self._given = given
        self._guarded = guarded
        self._globals: dict[Global, Traced] = {}
        self._stored: list[Global] = []
        self._inputs: list[tuple[Value | Global, Node]] = []

    def planned(self, operations: Sequence[Operation], start: int, is_needed: Callable[[Value, int], bool]) -> Segment:
        """Returns the plan of the operations from `start` on."""
        stop = start
        learned: dict[str, int] = {}
        while stop < len(operations) and self._is_traced(operations[stop], learned):
            stop += 1
        built = {v for op in operations[start:stop] for v in op.results}
        outputs = tuple([v for v in self.traced if v in built and is_needed(v, stop)])
        expected = [self.traced[v].node for v in outputs] + [self._globals[g].node for g in self._stored]
        nodes = simplified(self.graph, expected)
        plan = ArrayPlan([n for _, n in self._inputs], nodes, self.memory_limit_bytes)
        inputs = tuple([v for v, _ in self._inputs])
        return Segment(stop, plan, inputs, outputs, tuple(self._stored), learned, tuple(self._guarded or ()))

    def _is_traced(self, op: Operation, learned: dict[str, int]) -> bool:
        """Returns whether the operation is part of the segment."""
        if is_control(op) and not self._planning.control:
            return False
        target = global_of(op) if isinstance(op, Op) else None
        try:
            if target is not None:
                return self._trace_global(op, target)
            learned.update(self.trace(op))
        except _NeedsElements:
            raise
        except NotTraceable:
            return False
        return True

    def _trace_global(self, op: Operation, target: Global) -> bool:
        if not op.results:
            self._globals[target] = self.value(op.operands[0])
            if target not in self._stored:
                self._stored.append(target)
            return True
        if target not in self._globals:
            if target in self._stored:
                return False
            self._globals[target] = self._input(target, op.results[0], self._planning.globals.load(target))
        self.traced[op.results[0]] = self._globals[target]
        return True

    def outer(self, value: Value) -> Traced:
        if value not in self._given:
            raise NotTraceable(str(value.type))
        array = self._given[value]
        if self._guarded is not None and value in self._guarded:
            return Traced(Value(value_type(value, array)), self.graph.constant(np.array(array, _dtype(value))))
        return self._input(value, value, array)

    def need_elements(self, nodes: Sequence[Node]) -> NotTraceable:
        if self._guarded is None:
            return NotTraceable("elements")
        inputs = [n for n in reachable(nodes) if isinstance(n, Input)]
        values = [self._inputs[n.position][0] for n in inputs]
        expected = [v for v in values if isinstance(v, Value) and self._may_be_guarded(v)]
        return _NeedsElements(expected) if expected and len(expected) == len(values) else NotTraceable("elements")

    def _may_be_guarded(self, value: Value) -> bool:
        dtype, array = _dtype(value), self._given[value]
        if not isinstance(value.type, TensorType) or array.size > PINNED_ELEMENTS:
            return False
        return dtype.kind in "biuf" and dtype == array.dtype == declared_dtype(value.type.element)

    def _input(self, source: Value | Global, value: Value, array: Array) -> Traced:
        node = self.graph.add(Input(len(self._inputs), array.shape, _dtype(value)))
        self._inputs.append((source, node))
        return Traced(Value(value_type(value, array)), node)


def _dtype(value: Value) -> np.dtype[Any]:
    assert isinstance(value.type, TensorType)
    return compute_dtype(value.type.element)
