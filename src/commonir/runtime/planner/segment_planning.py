"""Plans segments of blocks: from an operation on, as many as possible become one plan."""

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

GUARDED_ELEMENTS = 1 << 8
"""Inputs of up to this many elements may guard a plan, which is then valid for these elements only."""


class Segment(NamedTuple):
    """A plan of the operations of a block up to `stop`, which is valid for the contents of the `guarded` inputs.

    `stored` are the globals that it stores, after its outputs; `dims` are the dims that its results define.
    """

    stop: int
    plan: ArrayPlan
    inputs: tuple[Value | Global, ...]
    outputs: tuple[Value, ...]
    stored: tuple[Global, ...]
    dims: dict[str, int]
    guarded: tuple[Value, ...]


class Planning(NamedTuple):
    """The inputs of planning. Operations with nested programs are part of a segment only if `control` is set."""

    globals: Globals
    decoded: dict[Operation, Array]
    memory_limit_bytes: int | None
    control: bool


class _NeedsElements(NotTraceable):
    """Tracing needs the elements of values."""

    def __init__(self, values: Sequence[Value]) -> None:
        super().__init__("elements")
        self.values = values


def plan_segment(
    planning: Planning,
    dims: Mapping[str, int],
    values: Mapping[Value, Array],
    operations: Sequence[Operation],
    start: int,
    is_needed: Callable[[Value, int], bool],
    guarded: tuple[Value, ...] | None,
) -> Segment:
    """Returns the plan of the operations from `start` on.

    It is valid for the elements of the `guarded` inputs, to which it adds small inputs on whose elements the semantics
    of operations depend. If `guarded` is None, it is valid for all elements.
    """
    while True:
        planner = _SegmentPlanner(planning, dims, values, guarded)
        try:
            return planner.planned(operations, start, is_needed)
        except _NeedsElements as needed:
            guarded = (*(guarded or ()), *needed.values)


class _SegmentPlanner(BlockTracer):
    """Traces operations into one array program, up to the first that cannot be traced."""

    def __init__(
        self,
        planning: Planning,
        dims: Mapping[str, int],
        values: Mapping[Value, Array],
        guarded: Sequence[Value] | None,
    ) -> None:
        graph, symbol_dims = Graph(evaluate), dict(dims)
        super().__init__(graph, symbol_dims, Tracer(graph, symbol_dims, planning.decoded), planning.memory_limit_bytes)
        self._planning = planning
        self._values = values
        self._guarded = guarded
        self._globals: dict[Global, Traced] = {}
        self._stored: list[Global] = []
        self._inputs: list[tuple[Value | Global, Node]] = []

    def planned(self, operations: Sequence[Operation], start: int, is_needed: Callable[[Value, int], bool]) -> Segment:
        """Returns the plan of the operations from `start` on."""
        stop = start
        defined: dict[str, int] = {}
        while stop < len(operations) and self._is_traced(operations[stop], defined):
            stop += 1
        defined_here = {v for op in operations[start:stop] for v in op.results}
        outputs = tuple([v for v in self.traced if v in defined_here and is_needed(v, stop)])
        results = [self.traced[v].node for v in outputs] + [self._globals[g].node for g in self._stored]
        nodes = simplified(self.graph, results)
        plan = ArrayPlan([n for _, n in self._inputs], nodes, self.memory_limit_bytes)
        inputs = tuple([v for v, _ in self._inputs])
        return Segment(stop, plan, inputs, outputs, tuple(self._stored), defined, tuple(self._guarded or ()))

    def _is_traced(self, op: Operation, defined: dict[str, int]) -> bool:
        """Traces an operation; returns whether it is part of the segment."""
        if is_control(op) and not self._planning.control:
            return False
        target = global_of(op) if isinstance(op, Op) else None
        try:
            if target is not None:
                return self._trace_global(op, target)
            defined.update(self.trace(op))
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

    def captured(self, value: Value) -> Traced:
        if value not in self._values:
            raise NotTraceable(str(value.type))
        array = self._values[value]
        if self._guarded is not None and value in self._guarded:
            return Traced(Value(value_type(value, array)), self.graph.constant(np.array(array, _dtype(value))))
        return self._input(value, value, array)

    def need_elements(self, nodes: Sequence[Node]) -> NotTraceable:
        if self._guarded is None:
            return NotTraceable("elements")
        inputs = [n for n in reachable(nodes) if isinstance(n, Input)]
        values = [self._inputs[n.position][0] for n in inputs]
        guards = [v for v in values if isinstance(v, Value) and self._may_be_guarded(v)]
        return _NeedsElements(guards) if guards and len(guards) == len(values) else NotTraceable("elements")

    def _may_be_guarded(self, value: Value) -> bool:
        dtype, array = _dtype(value), self._values[value]
        if not isinstance(value.type, TensorType) or array.size > GUARDED_ELEMENTS:
            return False
        return dtype.kind in "biuf" and dtype == array.dtype == declared_dtype(value.type.element)

    def _input(self, source: Value | Global, value: Value, array: Array) -> Traced:
        node = self.graph.add(Input(len(self._inputs), array.shape, _dtype(value)))
        self._inputs.append((source, node))
        return Traced(Value(value_type(value, array)), node)


def _dtype(value: Value) -> np.dtype[Any]:
    assert isinstance(value.type, TensorType)
    return compute_dtype(value.type.element)
