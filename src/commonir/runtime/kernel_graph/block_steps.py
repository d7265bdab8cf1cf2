"""Steps of a block: graphs of as many operations as possible, and operations that run alone between them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import prod
from typing import Any, Protocol

from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.notation import Constraint, Expr
from commonir.ods.data_dependent_dims import defined_dims
from commonir.runtime.kernel_graph.buffers import MAX_ELEMENTS
from commonir.runtime.kernel_graph.building import NotAKernel
from commonir.runtime.kernel_graph.control import GraphProgram
from commonir.runtime.kernel_graph.program_building import ProgramBuilder
from commonir.runtime.kernel_graph.timing import OnKernel
from commonir.symbolic import Dim, evaluate, symbols

Array = NDArray[Any]

_MAX_CHECKED = 64
"""The sets of sizes of a graph that are remembered as checked."""


class PreparedGraph(Protocol):
    """A graph of kernels that is ready to run."""

    @property
    def is_output_new(self) -> Sequence[bool]:
        """Whether each output is an array of its own in every run, neither an input nor a constant."""
        ...

    def run(
        self, arrays: Sequence[Array], dims: Mapping[str, int], on_kernel: OnKernel | None = None
    ) -> Sequence[Array] | None:
        """Returns the outputs for arrays of the inputs and values of the symbols; None if preparing for these would not
        pay, as sizes have differed in each run, or if data decide that it does not fit. The operations then run alone.

        With `on_kernel` kernels run one by one; it is called after each.
        Raises: OutOfRange when a position read from data is outside of its tensor.
        """
        ...


class BackEnd(Protocol):
    """Runs programs of graphs."""

    @property
    def follows_data(self) -> bool:
        """Whether data may change sizes while a program runs, and say that it does not fit (see `PreparedGraph`)."""
        ...

    def missing(self, body: Expr) -> str:
        """Returns the part of the expression of a kernel that cannot be computed, "" if all can."""
        ...

    def prepare(self, program: GraphProgram) -> PreparedGraph | None:
        """Returns a program that is ready to run, after fusing its nodes; None if this is not possible."""
        ...


class GraphStep:
    """Operations of a block that run as one graph, the values that they read, and those that others need."""

    def __init__(
        self, operations: Sequence[Operation], graph: PreparedGraph, outputs: Sequence[Value], sizes: GraphSizes
    ) -> None:
        self.operations = tuple(operations)
        self.graph = graph
        self.inputs = sizes.inputs
        self.outputs = tuple(outputs)
        self._sizes = sizes
        self._checked: dict[object, bool] = {}
        # The longest run so far; that of loops says little about the next one.
        self.seconds: float | None = None
        self.has_loops = any(isinstance(inner, core.While) for op in operations for inner in op.walk())
        self.may_refuse = sizes.may_refuse

    def is_short(self, seconds_left: float) -> bool:
        """Returns whether a run will be done long before a deadline."""
        return self.seconds is not None and 4 * self.seconds < seconds_left and not self.has_loops

    def fits(self, arrays: Sequence[Array], dims: Mapping[str, int]) -> bool:
        """Returns whether the graph computes the operations for inputs of these shapes and these sizes.

        It does not where sizes contradict each other, and where an operand of unknown size has one element, which is
        broadcast.
        """
        key = self._key(arrays, dims)
        result = self._checked.get(key)
        if result is None:
            if len(self._checked) >= _MAX_CHECKED:
                self._checked.clear()
            result = self._checked[key] = self._sizes.agree(arrays, dims)
        return result

    def refuse(self, arrays: Sequence[Array], dims: Mapping[str, int]) -> None:
        """Remembers that data did not fit: those of later runs with inputs of these sizes will hardly."""
        self._checked[self._key(arrays, dims)] = False

    def _key(self, arrays: Sequence[Array], dims: Mapping[str, int]) -> object:
        return tuple([x.shape for x in arrays]), tuple([dims.get(s) for s in self._sizes.symbols])


class GraphSizes(NamedTuple):
    """Assumptions of a graph about the sizes of a run, but for those about symbols that are `changing` in it."""

    inputs: tuple[Value, ...]
    shapes: tuple[tuple[Dim, ...], ...]
    constraints: tuple[Constraint, ...]
    symbols: tuple[str, ...]
    changing: frozenset[str]
    may_refuse: bool

    def agree(self, arrays: Sequence[Array], dims: Mapping[str, int]) -> bool:
        """Returns whether inputs have their declared shapes, no tensor is too large, and all constraints hold."""
        if any(s not in dims for s in self.symbols):
            return False
        try:
            return self._hold(arrays, dims)
        except ZeroDivisionError:
            return False

    def _hold(self, arrays: Sequence[Array], dims: Mapping[str, int]) -> bool:
        for value, x in zip(self.inputs, arrays, strict=True):
            assert isinstance(value.type, TensorType)
            assert value.type.shape is not None
            if x.shape != tuple(
                [d if d is None or isinstance(d, int) else evaluate(d, dims) for d in value.type.shape]
            ):
                return False
        for shape in self.shapes:
            if prod([evaluate(d, dims) for d in shape]) > MAX_ELEMENTS:
                return False
        return all(c.holds(dims) for c in self.constraints)


def _sizes_of(builder: ProgramBuilder, program: GraphProgram) -> GraphSizes:
    """Returns the assumptions of the program of a builder."""
    changing = frozenset(program.changing())
    constraints = tuple([c for c in builder.constraints if changing.isdisjoint(c.symbols)])
    specs = [spec for name, spec in program.specs.items() if name not in program.constants]
    shapes = tuple(dict.fromkeys([spec.shape for spec in specs]))
    used = {s for shape in shapes for d in shape for s in symbols(d)} | program.symbols()
    used.update([s for c in constraints for s in c.symbols])
    known = tuple([shape for shape in shapes if changing.isdisjoint([s for d in shape for s in symbols(d)])])
    return GraphSizes(
        tuple(builder.inputs), known, constraints, tuple(sorted(used - changing)), changing, program.may_refuse
    )


class SingleStep(NamedTuple):
    """An operation that runs alone."""

    op: Operation


Step = GraphStep | SingleStep


def steps_of(operations: Sequence[Operation], back_end: BackEnd, *, follows_data: bool) -> list[Step]:
    """Returns the steps of the operations of a block: as many operations as possible together."""
    out: list[Step] = []
    pending: list[Operation] = []
    builder = ProgramBuilder(back_end.missing, follows_data=follows_data)
    for op in operations:
        try:
            builder.add(op)
            pending.append(op)
        except NotAKernel:
            out += [*_together(builder, pending, back_end), SingleStep(op)]
            builder, pending = ProgramBuilder(back_end.missing, follows_data=follows_data), []
    return [*out, *_together(builder, pending, back_end)]


def _together(builder: ProgramBuilder, operations: Sequence[Operation], back_end: BackEnd) -> list[Step]:
    """Returns operations as one step; each as one if the back end cannot run them together."""
    inside = {inner for op in operations for inner in op.walk()}
    outputs = [v for op in operations for v in op.results if any(u not in inside for u in v.users)]
    if outputs and builder.changing():
        # Sizes that the program gives to results are known from these alone.
        sized = [op.results[d.position] for op in operations for d in defined_dims(op) if d.name in builder.changing()]
        outputs = list(dict.fromkeys([*outputs, *sized]))
    if not outputs and not any(isinstance(op, core.Require) for op in inside):
        return []
    for v in outputs:
        builder.output(v)
    program = builder.program()
    sizes = _sizes_of(builder, program)
    prepared = back_end.prepare(program)
    if prepared is None and sizes.may_refuse:
        return steps_of(operations, back_end, follows_data=False)
    if prepared is None:
        return [SingleStep(op) for op in operations]
    return [GraphStep(operations, prepared, outputs, sizes)]


def last_uses(steps: Sequence[Step], results: Container[Value]) -> list[tuple[Value, ...]]:
    """Returns for each step the values of a block that nothing needs after it; none of the results of the block."""
    inside = [[inner for op in operations_in(step) for inner in op.walk()] for step in steps]
    last = {v: n for n, operations in enumerate(inside) for op in operations for v in op.operands}
    known = {op for operations in inside for op in operations}
    out: list[list[Value]] = [[] for _ in steps]
    for n, op in [(n, op) for n, step in enumerate(steps) for op in operations_in(step)]:
        # What an operation gives alone, unused, may be a result of the program all the same.
        is_used = any(v in last for v in op.results)
        for v in op.results:
            if is_used and v not in results and all(u in known for u in v.users):
                out[last.get(v, n)].append(v)
    return [tuple(values) for values in out]


def operations_in(step: Step) -> tuple[Operation, ...]:
    """Returns the operations that a step runs."""
    return step.operations if isinstance(step, GraphStep) else (step.op,)
