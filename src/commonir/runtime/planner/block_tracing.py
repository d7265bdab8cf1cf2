"""Blocks of operations as array programs: operations as nodes of a graph, branches and loops as programs of their own.

What nodes of constants decide is decided while tracing: which branch is taken, how often a short loop is run, what an
operation means that reads the elements of an operand. What fails while tracing may be what a run never reaches, so it
is left to running.
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
from commonir.runtime.interpreter.evaluation import OutOfRange
from commonir.runtime.interpreter.runtime_dims import result_sizes
from commonir.runtime.interpreter.specialization import KNOWN_ELEMENTS, reads_elements, specialize_for
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
"""Operations of all rounds of a loop together up to which they are traced one after another."""


class BlockTracer(ABC):
    """The values of a block, as far as they are traced, in a graph."""

    def __init__(self, graph: Graph, sizes: dict[str, int], tracer: Tracer, memory_limit_bytes: int | None) -> None:
        self.graph = graph
        self.sizes = sizes
        self.memory_limit_bytes = memory_limit_bytes
        self.traced: dict[Value, Traced] = {}
        self._tracer = tracer

    @abstractmethod
    def outer(self, value: Value) -> Traced:
        """Returns a value from outside. Raises: NotTraceable."""

    @abstractmethod
    def need_elements(self, nodes: Sequence[Node]) -> NotTraceable:
        """Returns the exception for when tracing needs to know the elements of nodes."""

    def value(self, value: Value) -> Traced:
        """Returns a value as a node. Raises: NotTraceable."""
        result = self.traced.get(value)
        if result is None:
            result = self.traced[value] = self.outer(value)
        return result

    def trace(self, op: Operation) -> dict[str, int]:
        """Adds the results of an operation; returns the sizes of the dims that they define.

        Raises: NotTraceable; DiagnosticError when the operands contradict the definition.
        """
        if is_only_decoded(op):
            return {}
        results = self._results(op)
        self.traced.update(zip(op.results, results, strict=False))
        refine_unknown_types(op.results, [t.value for t in results])
        learned = result_sizes(op, [t.node.shape for t in results])
        self.sizes.update(learned)
        return learned

    def trace_block(self, block: Block, arguments: Sequence[Traced]) -> list[Traced]:
        """Returns the values that a nested block yields. Raises: NotTraceable."""
        if block.last is None:
            raise NotTraceable("block")
        refine_unknown_types(block.arguments, [t.value for t in arguments])
        self.traced.update(zip(block.arguments, arguments, strict=True))
        brought = dims_introduced(block.arguments, self.sizes)
        self.sizes.update({s.name: arguments[s.position].node.shape[s.axis] for s in brought})
        with _left_to_running():
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
        return self._stated(op, operands, read)

    def _stated(self, op: Op, operands: Sequence[Traced], read: Sequence[int]) -> Sequence[Traced]:
        """Returns an operation whose meaning depends on the elements of operands, which are constants."""
        arrays = [elements_of(t.node) if n in read else None for n, t in enumerate(operands)]
        with _left_to_running():
            types = [t.value.type for t in operands]
            statement = specialize_for(op, arrays, types, read, static_attributes(op, self.sizes))
            inside = _Inline(self)
            inside.traced.update({v: operands[n] for n, v in statement.inputs.items()})
            return inside.trace_block(statement.block, ())

    # -- branches and loops

    def _branch(self, op: core.If) -> Sequence[Traced]:
        condition = self.value(op.condition).node
        if is_constant(condition):
            return _Inline(self).trace_block((op.then if elements_of(condition) else op.orelse).block, ())
        outside = _Outside(self)
        bodies = [_Inner(outside) for _ in range(2)]
        results = [body.trace_block(r.block, ()) for body, r in zip(bodies, (op.then, op.orelse), strict=True)]
        _check_alike(op, *results)
        then, orelse = [body.made((), yielded, 1) for body, yielded in zip(bodies, results, strict=True)]
        program = Branches(then, orelse, self.memory_limit_bytes)
        return self._nested(op, program, [condition, *outside.nodes], results[0])

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
        outside = _Outside(self)
        body = _Inner(outside)
        arguments = [body.argument(t, t.node.shape) for t in initial] + [
            body.argument(t, t.node.shape[1:]) for t in sequences
        ]
        results = body.trace_block(op.body.block, arguments)
        _check_alike(op, initial, results[:count])
        first = len(arguments)
        loop = Loop(body.made(arguments, results, first), count, self.memory_limit_bytes, rounds=rounds)
        inputs = [*[t.node for t in (*initial, *sequences)], *outside.nodes]
        return self._nested(op, loop, inputs, results, count, length)

    def _unrolled_scan(
        self, op: core.Scan, initial: Sequence[Traced], sequences: Sequence[Traced], rounds: Iterable[int]
    ) -> Sequence[Traced]:
        states, count = list(initial), len(initial)
        stacks: dict[int, Sequence[Traced]] = {}
        for n in rounds:
            slices = [self._slice(t, n) for t in sequences]
            results = _Inline(self).trace_block(op.body.block, [*states, *slices])
            _check_alike(op, states, results[:count])
            states, stacks[n] = results[:count], results[count:]
        return [*states, *self._stacked(op, [stacks[n] for n in sorted(stacks)])]

    def _slice(self, sequence: Traced, n: int) -> Traced:
        node = sequence.node
        lay = self.graph.layout(node)
        offset = lay.offset + n * lay.strides[0]
        return _valued(sequence, self.graph.view(lay.base, offset, lay.strides[1:], lay.shape[1:]))

    def _stacked(self, op: Operation, slices: Sequence[Sequence[Traced]]) -> list[Traced]:
        """Returns the values yielded in each iteration, stacked along a new first axis."""
        for other in slices[1:]:
            _check_alike(op, slices[0], other)
        out: list[Traced] = []
        for parts in zip(*slices, strict=True):
            nodes = [self.graph.reshaped(t.node, (1, *t.node.shape)) for t in parts]
            out.append(_valued(parts[0], self.graph.add(Concat(tuple(nodes), 0)) if len(nodes) > 1 else nodes[0]))
        return out

    def _while(self, op: core.While) -> Sequence[Traced]:
        initial = [self.value(v) for v in op.initial]
        count = len(initial)
        unrolled = self._unrolled(op, initial)
        if unrolled is not None:
            return unrolled
        if len(op.ys) != count:
            raise NotTraceable(op.name)  # the number of slices is data-dependent
        outside = _Outside(self)
        built: list[Body] = []
        results: list[Traced] = []
        for region in (op.condition, op.body):
            inner = _Inner(outside)
            arguments = [inner.argument(t, t.node.shape) for t in initial]
            results = inner.trace_block(region.block, arguments)
            built.append(inner.made(arguments, results, count))
        _check_alike(op, initial, results)
        condition, body = built
        loop = Loop(body, count, self.memory_limit_bytes, condition=condition)
        return self._nested(op, loop, [*[t.node for t in initial], *outside.nodes], results)

    def _unrolled(self, op: core.While, initial: Sequence[Traced]) -> Sequence[Traced] | None:
        """Returns a loop whose few rounds are known; None of any other."""
        states, count = list(initial), len(initial)
        stacks: list[Sequence[Traced]] = []
        for _ in range(UNROLLED_OPERATIONS // (len(op.body.block) + len(op.condition.block)) + 1):
            (again,) = _Inline(self).trace_block(op.condition.block, states)
            if not is_constant(again.node):
                return None
            if not elements_of(again.node):
                if len(op.ys) > count and not stacks:
                    raise NotTraceable(op.name)  # the shape of the slices is not known
                return [*states, *self._stacked(op, stacks)] if stacks else states
            results = _Inline(self).trace_block(op.body.block, states)
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
        """Returns the results of a nested program, of which all from `states` on are stacked."""
        if not yielded:
            raise NotTraceable(op.name)
        whole = len(yielded) if states is None else states
        shapes = [t.node.shape if n < whole else (length, *t.node.shape) for n, t in enumerate(yielded)]
        kinds = tuple([(shape, t.node.dtype) for shape, t in zip(shapes, yielded, strict=True)])
        first = self.graph.add(Nested(op.name, program, program, tuple([self.graph.copy(n) for n in inputs]), kinds))
        nodes = [first, *[self.graph.add(Part(first, n)) for n in range(1, len(yielded))]]
        return [_valued(t, node) for t, node in zip(yielded, nodes, strict=True)]


class _Inline(BlockTracer):
    """A block that becomes part of the graph around it."""

    def __init__(self, parent: BlockTracer) -> None:
        sizes = dict(parent.sizes)
        super().__init__(parent.graph, sizes, Tracer(parent.graph, sizes), parent.memory_limit_bytes)
        self._parent = parent

    def outer(self, value: Value) -> Traced:
        return self._parent.value(value)

    def need_elements(self, nodes: Sequence[Node]) -> NotTraceable:
        return self._parent.need_elements(nodes)


class _Outside:
    """The values that nested programs read from the enclosing graph, in order."""

    def __init__(self, parent: BlockTracer) -> None:
        self.parent = parent
        self.nodes: list[Node] = []

    def place(self, node: Node) -> int:
        """Returns the index of a node among the captured ones, adding it if needed."""
        if node not in self.nodes:
            self.nodes.append(node)
        return self.nodes.index(node)


class _Inner(BlockTracer):
    """A block in a graph of its own."""

    def __init__(self, outside: _Outside) -> None:
        graph, sizes = Graph(evaluate), dict(outside.parent.sizes)
        super().__init__(graph, sizes, Tracer(graph, sizes), outside.parent.memory_limit_bytes)
        self._outside = outside
        self._inputs: list[Input] = []
        # By the numbers of nodes.
        self._read: dict[int, Node] = {}

    def argument(self, like: Traced, shape: tuple[int, ...]) -> Traced:
        """Returns an argument that changes in each iteration."""
        return _valued(like, self._input(like.node, shape))

    def _input(self, like: Node, shape: tuple[int, ...]) -> Input:
        node = Input(len(self._inputs), shape, like.dtype)
        self._inputs.append(node)
        self.graph.add(node)
        return node

    def outer(self, value: Value) -> Traced:
        found = self._outside.parent.value(value)
        return Traced(found.value, self._outer_node(found.node))

    def _outer_node(self, node: Node) -> Node:
        match node:
            case Constant():
                return self.graph.constant(node.array)
            case View() if is_constant(node):
                return self.graph.view(self._outer_node(node.inputs[0]), node.offset, node.strides, node.shape)
            case _:
                result = self._input(node, node.shape)
                self._read[result.id] = node
                return result

    def need_elements(self, nodes: Sequence[Node]) -> NotTraceable:
        inputs = [n for n in reachable(nodes) if isinstance(n, Input)]
        if not inputs or any(n.id not in self._read for n in inputs):
            return NotTraceable("block")
        return self._outside.parent.need_elements([self._read[n.id] for n in inputs])

    def made(self, arguments: Sequence[Traced], yielded: Sequence[Traced], first: int) -> Body:
        """Returns the program, of which `arguments` is given anew in each round; the inputs from outside have places
        from `first` on.
        """
        graph = self._outside.parent.graph
        outer = [(n, first + self._outside.place(graph.copy(self._read[n.id]))) for n in self._inputs[len(arguments) :]]
        outputs = simplified(self.graph, [t.node for t in yielded])
        return Body(tuple(self._inputs[: len(arguments)]), tuple(outer), tuple(outputs))


def operations_of(block: Block) -> list[Operation]:
    """Returns the operations of a block without the terminator."""
    return [op for op in block.operations if not (isinstance(op, Op) and op.has_trait(Terminator))]


def _valued(like: Traced, node: Node) -> Traced:
    """Returns a node as a value with the type of another one and its own shape."""
    kind = like.value.type
    if not isinstance(kind, TensorType):
        raise NotTraceable(str(kind))
    return Traced(Value(kind.with_shape(node.shape)), node)


def _check_alike(op: Operation, first: Sequence[Traced], second: Sequence[Traced]) -> None:
    """Checks that values agree in shapes and dtypes. Raises: NotTraceable."""
    if [(t.node.shape, t.node.dtype) for t in first] != [(t.node.shape, t.node.dtype) for t in second]:
        raise NotTraceable(op.name)


@contextmanager
def _left_to_running() -> Generator[None]:
    """Returns a context in which failures mean that tracing stops: running may never get there."""
    try:
        yield
    except (DiagnosticError, OutOfRange, ValueError) as error:
        raise NotTraceable(str(error)) from None
