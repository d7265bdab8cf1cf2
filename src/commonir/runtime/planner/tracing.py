"""Traces operations into array programs: kernels are planned, bodies of composites traced, algorithms called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.notation import Kernel
from commonir.ods import Form, Known, Op, infer, is_not_known, known_data, source_path, traits
from commonir.runtime.instances import instance, is_concrete, is_static
from commonir.runtime.interpreter.evaluation import evaluate_kernel, may_exceed_bits
from commonir.runtime.interpreter.operations import (
    algorithm_of,
    call_algorithm,
    constant_array,
    data_of_array,
    flat_values,
    named_operands,
)
from commonir.runtime.planner.array_graph import Graph, Node, Opaque, Part, elements_of, is_constant
from commonir.runtime.planner.kernel_planning import NotPlanned, plan_kernel
from commonir.runtime.values import compute_dtype, computed
from commonir.symbolic import evaluate

Array = NDArray[Any]

_KNOWN_ELEMENTS = 64


class Traced(NamedTuple):
    """A value of static shape, and the node that computes it."""

    value: Value
    node: Node


class NotTraceable(Exception):
    """The operation cannot be part of an array program: it has data-dependent dims or regions."""


def is_only_decoded(op: Operation) -> bool:
    """Returns whether all users of a constant are decoded constants themselves, so that it need not be computed."""
    if len(op.results) != 1 or known_data(op.results[0]) is None:
        return False
    users = op.results[0].users
    return bool(users) and all(len(u.results) == 1 and known_data(u.results[0]) is not None for u in users)


class Tracer:
    """Turns operations into nodes of a graph, for some values of symbolic dimensions."""

    def __init__(self, graph: Graph, dims: Mapping[str, int], decoded: dict[Operation, Array] | None = None) -> None:
        self.graph = graph
        self.dims = dims
        # The elements of compressed constants, decoded once for all plans.
        self._decoded = {} if decoded is None else decoded

    def decoded(self, op: Operation) -> tuple[Traced, ...] | None:
        """Returns the result of an operation whose contents are known (a decoded constant); None for other
        operations.
        """
        if not isinstance(op, Op) or op.form is Form.STRUCTURAL or len(op.results) != 1:
            return None
        data = known_data(op.results[0])
        if data is None:
            return None
        if op not in self._decoded:
            self._decoded[op] = data.array()
        return (self._constant_result(op, self._decoded[op]),)

    def trace(self, op: Operation, operands: Sequence[Traced]) -> tuple[Traced, ...]:
        """Returns the results of an operation.

        Raises: NotTraceable; DiagnosticError when the operands contradict the definition.
        """
        if not isinstance(op, Op) or op.regions or not all(isinstance(r.type, TensorType) for r in op.results):
            raise NotTraceable(op.name)
        try:
            return self._traced(op, operands)
        except DiagnosticError as error:
            raise DiagnosticError(*[d.located(where=source_path(op)) for d in error.diagnostics]) from None

    def _traced(self, op: Op, operands: Sequence[Traced]) -> tuple[Traced, ...]:
        if op.form is Form.STRUCTURAL:
            return (self._constant(op),)
        concrete = self._concrete(op, operands)
        nodes = tuple([t.node for t in operands])
        match concrete.form:
            case Form.KERNEL:
                results = self._kernels(concrete, nodes)
            case Form.COMPOSITE:
                results = self._composite(concrete, operands)
            case _:
                results = self._algorithm(concrete, nodes)
        return tuple([_traced(v, n) for v, n in zip(concrete.results, results, strict=True)])

    def _concrete(self, op: Op, operands: Sequence[Traced]) -> Op:
        """Returns the operation on operands of static shape.

        Raises: NotTraceable when its semantics depend on the elements of operands.
        """
        if op.form is Form.COMPOSITE and op.infers_types:
            # Its reference depends on more than the types of its operands.
            raise NotTraceable(op.name)
        if is_concrete(op) and not infer(op).is_data_dependent:
            return op
        try:
            concrete = instance(op, [self._instance_operand(t) for t in operands], self.dims)
        except DiagnosticError as error:
            if is_not_known(error):
                raise NotTraceable(op.name) from None
            raise
        if infer(concrete).is_data_dependent:
            raise NotTraceable(op.name)
        return concrete

    def _constant(self, op: Op) -> Traced:
        array = constant_array(op, self.dims)
        if array is None:
            raise NotTraceable(op.name)
        return self._constant_result(op, array)

    def _constant_result(self, op: Op, array: Array) -> Traced:
        """Returns the result of an operation as a constant."""
        type = op.results[0].type
        assert isinstance(type, TensorType)
        node, dtype = self.graph.constant(array), compute_dtype(type.element)
        return Traced(op.results[0], node if node.dtype == dtype else self.graph.map("cast", [node], dtype))

    def _instance_operand(self, traced: Traced) -> Value:
        """Returns an operand for an instance; the elements of short constants are known."""
        node, type = traced.node, traced.value.type
        if not is_constant(node) or len(node.shape) > 1 or node.size > _KNOWN_ELEMENTS:
            return Value(type)
        assert isinstance(type, TensorType)
        array = elements_of(node)
        if node.dtype.kind in "iu":
            return Known(type, tuple([int(v) for v in array.reshape(-1)])).result
        return Known(type, None, data_of_array(type, array)).result

    def _kernels(self, op: Op, operands: tuple[Node, ...]) -> list[Node]:
        derived = infer(op)
        named = named_operands(op, operands)
        out: list[Node] = []
        for n, (kernel, dims) in enumerate(zip(derived.kernels, derived.extents, strict=True)):
            extents = {i: evaluate(d, self.dims) for i, d in dims.items()}
            try:
                node = plan_kernel(self.graph, kernel, extents, named)
            except NotPlanned as reason:
                node = self._evaluated(op, n, kernel, extents, named, str(reason))
            out.append(self._wrapped(node, kernel))
        return out

    def _wrapped(self, node: Node, kernel: Kernel) -> Node:
        """Returns integers of less than a byte, computed in bytes, with the bits that their type has."""
        if not may_exceed_bits(kernel):
            return node
        spare = 8 * node.dtype.itemsize - kernel.dtype.bits
        distance = self.graph.constant(np.asarray(spare, node.dtype))
        high = self.graph.map("shift_left", [node, distance], node.dtype)
        return self.graph.map("shift_right", [high, distance], node.dtype)

    def _evaluated(
        self, op: Op, n: int, kernel: Kernel, extents: Mapping[str, int], named: Mapping[str, Node], reason: str
    ) -> Node:
        """Returns a node that evaluates a kernel directly."""
        type = op.results[n].type
        assert isinstance(type, TensorType)
        names = tuple(named)

        def run(*arrays: Array) -> tuple[Array]:
            return (evaluate_kernel(kernel, extents, dict(zip(names, arrays, strict=True))),)

        shapes = ((type.static_shape, compute_dtype(type.element)),)
        label = f"{op.name} evaluated directly: {reason}"
        return self.graph.add(Opaque(label, (op, n), run, tuple(named.values()), shapes, is_fallback=True))

    def _composite(self, op: Op, operands: Sequence[Traced]) -> list[Node]:
        derived = infer(op)
        by_value = dict(zip(op.operands, operands, strict=True))
        values: dict[Value, Traced] = {}
        for placeholder, value in zip(flat_values(derived.inputs), flat_values(op.grouped_operands()), strict=True):
            values[placeholder] = by_value[value]
        for nested in derived.body:
            results = self.trace(nested, [values[v] for v in nested.operands])
            values.update(zip(nested.results, results, strict=True))
        return [values[v].node for v in derived.outputs]

    def _algorithm(self, op: Op, operands: tuple[Node, ...]) -> list[Node]:
        if not all(is_static(v.type) for v in op.results):
            return self._with_shapes_from_elements(op, operands)
        shapes: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
        for v in op.results:
            assert isinstance(v.type, TensorType)
            shapes.append((v.type.static_shape, compute_dtype(v.type.element)))
        run, is_random = algorithm_of(op), op.has_trait(traits.Random)
        first = self.graph.add(Opaque(op.name, op, run, operands, tuple(shapes), is_random=is_random))
        return [first, *(self.graph.add(Part(first, n)) for n in range(1, len(shapes)))]

    def _with_shapes_from_elements(self, op: Op, operands: tuple[Node, ...]) -> list[Node]:
        """Returns the results of an operation on constants whose elements determine shapes."""
        if op.has_trait(traits.Random) or not operands or not all(is_constant(n) for n in operands):
            raise NotTraceable(op.name)
        try:
            results = call_algorithm(op, *[elements_of(n) for n in operands])
        except DiagnosticError:
            raise NotTraceable(op.name) from None
        return [self.graph.constant(computed(x, v.type)) for x, v in zip(results, op.results, strict=True)]


def _traced(value: Value, node: Node) -> Traced:
    """Returns a result with the static shape of its type."""
    if is_static(value.type):
        return Traced(value, node)
    assert isinstance(value.type, TensorType)
    return Traced(Value(value.type.with_shape(node.shape)), node)
