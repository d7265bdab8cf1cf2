"""Traces blocks of operations into array programs: operations become nodes, branches and loops nested programs.

Constants are used while tracing: they decide which branch is taken, how many iterations a short loop has, and the
semantics of operations that depend on elements of operands. An error while tracing only stops tracing, since a run may
never reach the operation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import Form, Op
from commonir.ods.data_dependent_dims import dims_introduced
from commonir.ods.traits import Terminator
from commonir.runtime.instances import static_attributes
from commonir.runtime.interpreter.control import global_of, is_control
from commonir.runtime.interpreter.runtime_dims import result_dims
from commonir.runtime.interpreter.specialization import KNOWN_ELEMENTS, reads_elements, specialize_for
from commonir.runtime.limits import OutOfRange
from commonir.runtime.planner.array_graph import (
    Concat,
    Constant,
    Graph,
    Input,
    Node,
    Part,
    View,
    elements_of,
    is_constant,
    reachable,
)
from commonir.runtime.planner.array_plan import Nested, NestedProgram
from commonir.runtime.planner.array_steps import evaluate
from commonir.runtime.planner.nested_programs import Body, Branches, Loop
from commonir.runtime.planner.simplification import simplified
from commonir.runtime.planner.tracing import NotTraceable, Traced, Tracer, is_only_decoded
from commonir.runtime.values import refine_unknown_types

UNROLLED_OPERATIONS = 64
"""Loops with up to this many operations in all iterations together are unrolled."""


class BlockTracer(ABC):
    """Traces the operations of a block into a graph; `traced` has the values so far."""

    def __init__(self, graph: Graph, dims: dict[str, int], tracer: Tracer, memory_limit_bytes: int | None) -> None:
        self.graph = graph
        self.dims = dims
        self.memory_limit_bytes = memory_limit_bytes
        self.traced: dict[Value, Traced] = {}
        self._tracer = tracer

    @abstractmethod
    def captured(self, value: Value) -> Traced:
        """Returns a value that the block captures. Raises: NotTraceable."""

    @abstractmethod
    def need_elements(self, nodes: Sequence[Node]) -> NotTraceable:
        """Returns the exception to raise when tracing needs the elements of nodes."""

    def value(self, value: Value) -> Traced:
        """Returns the node of a value. Raises: NotTraceable."""
        result = self.traced.get(value)
        if result is None:
            result = self.traced[value] = self.captured(value)
        return result

    def trace(self, op: Operation) -> dict[str, int]:
        """Adds the results of an operation, and returns the dims that they define.

        Raises: NotTraceable; DiagnosticError when the operands contradict the definition.
        """
        if is_only_decoded(op):
            return {}
        results = self._results(op)
        self.traced.update(zip(op.results, results, strict=False))
        refine_unknown_types(op.results, [t.value for t in results])
        dims = result_dims(op, [t.node.shape for t in results])
        self.dims.update(dims)
        return dims

    def trace_block(self, block: Block, arguments: Sequence[Traced]) -> list[Traced]:
        """Returns the values that a nested block yields. Raises: NotTraceable."""
        if block.last is None:
            raise NotTraceable("block")
        refine_unknown_types(block.arguments, [t.value for t in arguments])
        self.traced.update(zip(block.arguments, arguments, strict=True))
        introduced = dims_introduced(block.arguments, self.dims)
        self.dims.update({s.name: arguments[s.position].node.shape[s.axis] for s in introduced})
        with _errors_stop_tracing():
            for op in operations_of(block):
                self.trace(op)
            return [self.value(v) for v in block.last.operands]

    def _results(self, op: Operation) -> Sequence[Traced]:
        match op:
            case core.If():
                return self._branch(op)
            case core.Scan():
                return self._scan(op)
            case core.While():
                return self._while(op)
            case core.Require():
                condition = self.value(op.condition).node
                if not is_constant(condition) or not elements_of(condition):
                    raise NotTraceable(op.name)
                return ()
            case _ if is_control(op) or (isinstance(op, Op) and global_of(op) is not None):
                raise NotTraceable(op.name)
            case _:
                return self._tracer.decoded(op) or self._computed(op, [self.value(v) for v in op.operands])

    def _computed(self, op: Operation, operands: Sequence[Traced]) -> Sequence[Traced]:
        try:
            return self._tracer.trace(op, operands)
        except NotTraceable:
            if not isinstance(op, Op) or op.regions or op.form not in (Form.COMPOSITE, Form.ALGORITHM):
                raise
        fields = op.operand_fields()
        read = [n for n, f in enumerate(fields) if reads_elements(f) and operands[n].node.size <= KNOWN_ELEMENTS]
        unknown = [operands[n].node for n in read if not is_constant(operands[n].node)]
        if unknown:
            raise self.need_elements(unknown)
        if op.form is not Form.COMPOSITE:
            raise NotTraceable(op.name)
        return self._specialized(op, operands, read)

    def _specialized(self, op: Op, operands: Sequence[Traced], read: Sequence[int]) -> Sequence[Traced]:
        """Returns the results of an operation whose semantics depend on elements of constant operands."""
        arrays = [elements_of(t.node) if n in read else None for n, t in enumerate(operands)]
        with _errors_stop_tracing():
            types = [t.value.type for t in operands]
            specialization = specialize_for(op, arrays, types, read, static_attributes(op, self.dims))
            tracer = _InlineTracer(self)
            tracer.traced.update({v: operands[n] for n, v in specialization.inputs.items()})
            return tracer.trace_block(specialization.block, ())

    # -- branches and loops

    def _branch(self, op: core.If) -> Sequence[Traced]:
        condition = self.value(op.condition).node
        if is_constant(condition):
            return _InlineTracer(self).trace_block((op.then if elements_of(condition) else op.orelse).block, ())
        captures = _Captures(self)
        bodies = [_NestedTracer(captures) for _ in range(2)]
        results = [body.trace_block(r.block, ()) for body, r in zip(bodies, (op.then, op.orelse), strict=True)]
        _check_same_types(op, *results)
        then, orelse = [body.as_body((), yielded, 1) for body, yielded in zip(bodies, results, strict=True)]
        program = Branches(then, orelse, self.memory_limit_bytes)
        return self._nested(op, program, [condition, *captures.nodes], results[0])

    def _scan(self, op: core.Scan) -> Sequence[Traced]:
        initial, sequences = ([self.value(v) for v in arguments] for arguments in (op.initial, op.sequences))
        count = len(initial)
        lengths = {t.node.shape[0] for t in sequences}
        if len(lengths) != 1 or lengths == {0}:
            raise NotTraceable(op.name)
        (length,) = lengths
        rounds = range(length - 1, -1, -1) if op.reverse else range(length)
        if length * len(op.body.block) <= UNROLLED_OPERATIONS:
            return self._unrolled_scan(op, initial, sequences, rounds)
        captures = _Captures(self)
        body = _NestedTracer(captures)
        arguments = [body.argument(t, t.node.shape) for t in initial] + [
            body.argument(t, t.node.shape[1:]) for t in sequences
        ]
        results = body.trace_block(op.body.block, arguments)
        _check_same_types(op, initial, results[:count])
        first = len(arguments)
        loop = Loop(body.as_body(arguments, results, first), count, self.memory_limit_bytes, rounds=rounds)
        inputs = [*[t.node for t in (*initial, *sequences)], *captures.nodes]
        return self._nested(op, loop, inputs, results, count, length)

    def _unrolled_scan(
        self, op: core.Scan, initial: Sequence[Traced], sequences: Sequence[Traced], rounds: Iterable[int]
    ) -> Sequence[Traced]:
        states, count = list(initial), len(initial)
        stacks: dict[int, Sequence[Traced]] = {}
        for n in rounds:
            slices = [self._slice(t, n) for t in sequences]
            results = _InlineTracer(self).trace_block(op.body.block, [*states, *slices])
            _check_same_types(op, states, results[:count])
            states, stacks[n] = results[:count], results[count:]
        return [*states, *self._stacked(op, [stacks[n] for n in sorted(stacks)])]

    def _slice(self, sequence: Traced, n: int) -> Traced:
        node = sequence.node
        layout = self.graph.layout(node)
        offset = layout.offset + n * layout.strides[0]
        return _with_type_of(sequence, self.graph.view(layout.base, offset, layout.strides[1:], layout.shape[1:]))

    def _stacked(self, op: Operation, slices: Sequence[Sequence[Traced]]) -> list[Traced]:
        """Returns the values yielded in each iteration, stacked along a new first axis."""
        for other in slices[1:]:
            _check_same_types(op, slices[0], other)
        out: list[Traced] = []
        for parts in zip(*slices, strict=True):
            nodes = [self.graph.reshaped(t.node, (1, *t.node.shape)) for t in parts]
            out.append(_with_type_of(parts[0], self.graph.add(Concat(tuple(nodes), 0)) if len(nodes) > 1 else nodes[0]))
        return out

    def _while(self, op: core.While) -> Sequence[Traced]:
        initial = [self.value(v) for v in op.initial]
        count = len(initial)
        unrolled = self._unrolled(op, initial)
        if unrolled is not None:
            return unrolled
        if len(op.ys) != count:
            raise NotTraceable(op.name)  # the number of slices is data-dependent
        captures = _Captures(self)
        bodies: list[Body] = []
        results: list[Traced] = []
        for region in (op.condition, op.body):
            tracer = _NestedTracer(captures)
            arguments = [tracer.argument(t, t.node.shape) for t in initial]
            results = tracer.trace_block(region.block, arguments)
            bodies.append(tracer.as_body(arguments, results, count))
        _check_same_types(op, initial, results)
        condition, body = bodies
        loop = Loop(body, count, self.memory_limit_bytes, condition=condition)
        return self._nested(op, loop, [*[t.node for t in initial], *captures.nodes], results)

    def _unrolled(self, op: core.While, initial: Sequence[Traced]) -> Sequence[Traced] | None:
        """Returns the results of a loop with few iterations, whose conditions are constants; None for other loops."""
        states, count = list(initial), len(initial)
        stacks: list[Sequence[Traced]] = []
        for _ in range(UNROLLED_OPERATIONS // (len(op.body.block) + len(op.condition.block)) + 1):
            (condition,) = _InlineTracer(self).trace_block(op.condition.block, states)
            if not is_constant(condition.node):
                return None
            if not elements_of(condition.node):
                if len(op.ys) > count and not stacks:
                    raise NotTraceable(op.name)  # the shape of the slices is not known
                return [*states, *self._stacked(op, stacks)] if stacks else states
            results = _InlineTracer(self).trace_block(op.body.block, states)
            states = results[:count]
            stacks.append(results[count:])
        return None

    def _nested(
        self,
        op: Operation,
        program: NestedProgram,
        inputs: Sequence[Node],
        yielded: Sequence[Traced],
        states: int | None = None,
        length: int = 0,
    ) -> list[Traced]:
        """Returns the results of a nested program; those from index `states` on are stacked `length` times."""
        if not yielded:
            raise NotTraceable(op.name)
        unstacked = len(yielded) if states is None else states
        shapes = [t.node.shape if n < unstacked else (length, *t.node.shape) for n, t in enumerate(yielded)]
        types = tuple([(shape, t.node.dtype) for shape, t in zip(shapes, yielded, strict=True)])
        first = self.graph.add(Nested(op.name, program, program, tuple([self.graph.copy(n) for n in inputs]), types))
        nodes = [first, *[self.graph.add(Part(first, n)) for n in range(1, len(yielded))]]
        return [_with_type_of(t, node) for t, node in zip(yielded, nodes, strict=True)]


class _InlineTracer(BlockTracer):
    """Traces a block into the enclosing graph."""

    def __init__(self, parent: BlockTracer) -> None:
        dims = dict(parent.dims)
        super().__init__(parent.graph, dims, Tracer(parent.graph, dims), parent.memory_limit_bytes)
        self._parent = parent

    def captured(self, value: Value) -> Traced:
        return self._parent.value(value)

    def need_elements(self, nodes: Sequence[Node]) -> NotTraceable:
        return self._parent.need_elements(nodes)


class _Captures:
    """The nodes of the enclosing graph that nested programs capture, in order."""

    def __init__(self, parent: BlockTracer) -> None:
        self.parent = parent
        self.nodes: list[Node] = []

    def index_of(self, node: Node) -> int:
        """Returns the index of a node among the captured ones, and adds it if needed."""
        if node not in self.nodes:
            self.nodes.append(node)
        return self.nodes.index(node)


class _NestedTracer(BlockTracer):
    """Traces a block into a graph of its own."""

    def __init__(self, captures: _Captures) -> None:
        graph, dims = Graph(evaluate), dict(captures.parent.dims)
        super().__init__(graph, dims, Tracer(graph, dims), captures.parent.memory_limit_bytes)
        self._captures = captures
        self._inputs: list[Input] = []
        # Nodes of the enclosing graph by the ids of inputs.
        self._read: dict[int, Node] = {}

    def argument(self, original: Traced, shape: tuple[int, ...]) -> Traced:
        """Returns an argument that changes in each iteration."""
        return _with_type_of(original, self._input(original.node, shape))

    def _input(self, original: Node, shape: tuple[int, ...]) -> Input:
        node = Input(len(self._inputs), shape, original.dtype)
        self._inputs.append(node)
        self.graph.add(node)
        return node

    def captured(self, value: Value) -> Traced:
        traced = self._captures.parent.value(value)
        return Traced(traced.value, self._captured_node(traced.node))

    def _captured_node(self, node: Node) -> Node:
        match node:
            case Constant():
                return self.graph.constant(node.array)
            case View() if is_constant(node):
                return self.graph.view(self._captured_node(node.inputs[0]), node.offset, node.strides, node.shape)
            case _:
                result = self._input(node, node.shape)
                self._read[result.id] = node
                return result

    def need_elements(self, nodes: Sequence[Node]) -> NotTraceable:
        inputs = [n for n in reachable(nodes) if isinstance(n, Input)]
        if not inputs or any(n.id not in self._read for n in inputs):
            return NotTraceable("block")
        return self._captures.parent.need_elements([self._read[n.id] for n in inputs])

    def as_body(self, arguments: Sequence[Traced], yielded: Sequence[Traced], first: int) -> Body:
        """Returns the traced block as a nested program; captured inputs have indices from `first` on."""
        graph = self._captures.parent.graph
        captured = [
            (n, first + self._captures.index_of(graph.copy(self._read[n.id]))) for n in self._inputs[len(arguments) :]
        ]
        outputs = simplified(self.graph, [t.node for t in yielded])
        return Body(tuple(self._inputs[: len(arguments)]), tuple(captured), tuple(outputs))


def operations_of(block: Block) -> list[Operation]:
    """Returns the operations of a block without the terminator."""
    return [op for op in block.operations if not (isinstance(op, Op) and op.has_trait(Terminator))]


def _with_type_of(original: Traced, node: Node) -> Traced:
    """Returns a node with the type of another value, in the shape of the node."""
    type = original.value.type
    if not isinstance(type, TensorType):
        raise NotTraceable(str(type))
    return Traced(Value(type.with_shape(node.shape)), node)


def _check_same_types(op: Operation, first: Sequence[Traced], second: Sequence[Traced]) -> None:
    """Checks that values have the same shapes and dtypes. Raises: NotTraceable."""
    if [(t.node.shape, t.node.dtype) for t in first] != [(t.node.shape, t.node.dtype) for t in second]:
        raise NotTraceable(op.name)


@contextmanager
def _errors_stop_tracing() -> Generator[None]:
    """Returns a context in which errors raise NotTraceable: a run may never reach them."""
    try:
        yield
    except (DiagnosticError, OutOfRange, ValueError) as error:
        raise NotTraceable(str(error)) from None
