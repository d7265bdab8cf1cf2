"""Prepares array programs to run: assigns buffers by lifetime, and builds a sequence of numpy calls.

All buffers are allocated once in one arena, in which arrays share memory when their lifetimes do not overlap; an
elementwise step overwrites an operand that is not used later. So only one thread may use a plan at a time.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import RUN_LIMIT_EXCEEDED
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.runtime.interpreter.array_functions import convert
from commonir.runtime.limits import check_array, time_is_up
from commonir.runtime.planner.array_graph import (
    Constant,
    DType,
    Graph,
    InnerProduct,
    Input,
    Map,
    Node,
    Opaque,
    Part,
    PlacedNode,
    Product,
    Reduce,
    Shape,
    View,
    WindowProduct,
    covers,
    reachable,
    strided,
)
from commonir.runtime.planner.array_steps import ArrayStep, bind, bind_parts
from commonir.runtime.planner.blocks import Run, runs_of

Array = NDArray[Any]

_ALIGNMENT = 64

_FEW_PRODUCTS = 1 << 12
"""Up to this many products, limiting the threads of BLAS takes longer than the products."""

_FEW_ELEMENTS = 1 << 8
"""Up to this many elements, limiting threads takes longer than any function of linear algebra."""


class BoundProgram(ABC):
    """A step of a plan that runs nested plans."""

    plans: tuple[ArrayPlan, ...]

    @abstractmethod
    def __call__(self) -> None:
        """Computes the results."""


class NestedProgram(ABC):
    """A branch or loop that a node of an array program computes by nested plans."""

    @abstractmethod
    def bound(self, inputs: Sequence[Array], outs: Sequence[Array | None]) -> BoundProgram:
        """Returns a step that computes from fixed arrays into fixed arrays; None stands for an unused result."""


class Nested(Opaque):
    """The results of array programs that read contiguous inputs."""

    __slots__ = ("program",)

    def __init__(
        self,
        label: str,
        key: Hashable,
        program: NestedProgram,
        inputs: tuple[Node, ...],
        shapes: tuple[tuple[Shape, DType], ...],
    ) -> None:
        super().__init__(label, key, partial(_run_once, program, shapes), inputs, shapes)
        self.program = program

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        built = tuple([graph.copy(n) for n in inputs])
        return graph.add(Nested(self.label, self.key, self.program, built, self.shapes))


def _run_once(program: NestedProgram, shapes: Sequence[tuple[Shape, DType]], *inputs: Array) -> list[Array]:
    outs: list[Array] = [np.empty(shape, dtype) for shape, dtype in shapes]
    program.bound(inputs, outs)()
    return outs


class ArrayPlan:
    """An array program with its buffers. `input_arrays` has arrays by node id, which every run reads in place."""

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        memory_limit_bytes: int | None = None,
        input_arrays: Mapping[int, Array] | None = None,
    ) -> None:
        self.nodes = reachable(outputs)
        self.nested: list[ArrayPlan] = []
        self._runs = {n.id: run for run in runs_of(self.nodes) for n in run.nodes}
        self._assigned = _Assignment(self.nodes, outputs, input_arrays or {}, self._runs)
        self._check_memory(memory_limit_bytes)
        self._arrays: dict[int, Array] = self._assigned.arrays()
        self.steps: list[ArrayStep] = []
        self.labels: list[str] = []
        for node in self.nodes:
            self._bind(node)
        self._inputs = [self._arrays.get(n.id) for n in inputs]
        self._last_inputs: list[Array | None] = [None] * len(inputs)
        self.outputs = [self._arrays[n.id] for n in outputs]

    @property
    def size_bytes(self) -> int:
        """The bytes of constants and buffers."""
        return self._assigned.size_bytes + sum([p.size_bytes for p in self.nested])

    @property
    def fallbacks(self) -> list[str]:
        """The labels of kernels that the planner did not recognize."""
        labels = [n.label for n in self.nodes if isinstance(n, Opaque) and n.is_fallback]
        return labels + [label for p in self.nested for label in p.fallbacks]

    @cached_property
    def may_use_blas(self) -> bool:
        """Returns whether BLAS may use several threads for a step, so that they must be limited."""
        return any(_may_use_threads(n) for n in self.nodes) or any(p.may_use_blas for p in self.nested)

    def run(self, inputs: Sequence[Array], deadline: float | None = None) -> list[Array]:
        """Returns the outputs for the inputs. They are valid until the next run.

        An array that is passed again is taken to be unchanged until `forget` is called: iterations of a loop share
        weights.

        Raises: DiagnosticError (E0711) when the deadline passes; OutOfRange for positions outside of a tensor.
        """
        for n, (buffer, array) in enumerate(zip(self._inputs, inputs, strict=True)):
            if buffer is not None and array is not self._last_inputs[n]:
                convert(array, buffer)
                self._last_inputs[n] = array
        with np.errstate(all="ignore"):
            if deadline is None:
                for step in self.steps:
                    step()
            else:
                for step in self.steps:
                    step()
                    if time.monotonic() > deadline:
                        raise time_is_up()
        return self.outputs

    def compute(self) -> None:
        """Computes the outputs from the contents of `input_arrays`, as a step of another plan."""
        for step in self.steps:
            step()

    def forget(self) -> None:
        """Makes the next run read all inputs."""
        self._last_inputs = [None] * len(self._last_inputs)

    def _check_memory(self, limit: int | None) -> None:
        if limit is not None and self.size_bytes > limit:
            message = f"the run needs {self.size_bytes} bytes, the limit is {limit}"
            raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, message))

    def _bind(self, node: Node) -> None:
        match node:
            case View():
                base = self._arrays[node.inputs[0].id]
                self._arrays[node.id] = strided(base, node.offset, node.strides, node.shape)
            case Constant(array=array):
                # A matrix product would copy what is not aligned (as in a protobuf message) in every run.
                self._arrays[node.id] = array if array.flags.aligned else array.copy()
            case Input() | Part():
                pass
            case Nested():
                built = node.program.bound([self._arrays[n.id] for n in node.inputs], self._outs(node))
                self._add(node, [built])
                self.nested += built.plans
                self.labels += [label for p in built.plans for label in p.labels]
            case Opaque() if len(node.shapes) > 1:
                inputs = [self._arrays[n.id] for n in node.inputs]
                self._add(node, bind_parts(node, inputs, self._outs(node)))
            case _ if node.id in self._runs:
                run = self._runs[node.id]
                self._add(node, self._steps_of(run) if node is run.last else [])
            case _:
                inputs = [self._arrays[n.id] for n in node.inputs]
                self._add(node, bind(node, inputs, self._arrays[node.id]))

    def _steps_of(self, run: Run) -> list[ArrayStep]:
        """Returns the steps of a run, block by block."""
        steps: list[ArrayStep] = []
        for pieces in run.blocks():
            for node, piece in zip(run.nodes, pieces, strict=True):
                arrays = [self._arrays[n.id] for n in node.inputs]
                inputs = [x[piece.of(x.shape)] for x in arrays]
                steps += bind(node, inputs, self._arrays[node.id][piece.of(node.shape)])
        return steps

    def _outs(self, node: Opaque) -> list[Array | None]:
        """Returns an array for each result; None for unused ones."""
        outs = [self._arrays[node.id] if n == 0 else None for n in range(len(node.shapes))]
        for part in self.nodes:
            if isinstance(part, Part) and part.inputs[0] is node:
                outs[part.number] = self._arrays[part.id]
        return outs

    def _add(self, node: Node, steps: list[ArrayStep]) -> None:
        self.steps += steps
        self.labels.append(repr(node))


def _may_use_threads(node: Node) -> bool:
    match node:
        case Nested():
            return False  # `may_use_blas` looks at its plans
        case Product() | WindowProduct():
            return node.size * node.inputs[0].shape[-1] > _FEW_PRODUCTS
        case InnerProduct() | Reduce():
            return node.inputs[0].size > _FEW_PRODUCTS
        case Opaque():
            return sum([n.size for n in (node, *node.inputs)]) > _FEW_ELEMENTS
        case _:
            return False


class _Assignment:
    """The assignment of memory to nodes: offsets in the arena, or private arrays."""

    def __init__(
        self,
        nodes: Sequence[Node],
        outputs: Sequence[Node],
        input_arrays: Mapping[int, Array],
        runs: Mapping[int, Run],
    ) -> None:
        for node in nodes:
            for shape, dtype in node.shapes if isinstance(node, Opaque) else ((node.shape, node.dtype),):
                check_array(shape, dtype.itemsize)
        self._nodes = nodes
        self._input_arrays = input_arrays
        self._runs = runs
        self._order = {n.id: k for k, n in enumerate(nodes)}
        self._last = self._last_uses(outputs)
        self._offsets: dict[int, int] = {}
        self._private: dict[int, Array] = {}
        self._arena_bytes = 0
        self._assign()

    @property
    def size_bytes(self) -> int:
        """Bytes of constants, of the arena, and of buffers outside of it."""
        constants = sum(n.size_bytes for n in self._nodes if isinstance(n, Constant))
        private = sum(a.nbytes for n, a in self._private.items() if n not in self._input_arrays)
        return constants + self._arena_bytes + private

    def _base(self, node: Node) -> Node:
        return node.inputs[0] if isinstance(node, View) else node

    def _last_uses(self, outputs: Sequence[Node]) -> dict[int, int]:
        """Returns the position of the last node that reads each node with memory of its own."""
        last: dict[int, int] = {}
        for node in self._nodes:
            last.setdefault(node.id, self._order[node.id])
            if isinstance(node, View):
                continue
            for i in node.inputs:
                base = self._base(i)
                last[base.id] = max(last.get(base.id, 0), self._order[node.id])
        for o in outputs:
            last[self._base(o).id] = len(self._nodes)
        return last

    def _assign(self) -> None:
        free = _FreeList()
        ends: dict[int, list[Node]] = {}
        shared: dict[object, list[tuple[int, Array]]] = {}
        run: Run | None = None
        spare: list[Node] = []  # what the current run does not need any more
        for k, node in enumerate(self._nodes):
            spare += ends.pop(k, ())
            if run is None or k > self._order[run.last.id]:
                for unused in spare:
                    free.release(self._offsets[unused.id], _aligned(unused.size_bytes))
                spare = []
                run = None
            run = run or self._runs.get(node.id)
            if node.id in self._input_arrays:
                self._private[node.id] = self._input_arrays[node.id]
                continue
            if isinstance(node, (View, Constant)) or node.size == 0:
                continue
            last = self._last[node.id]
            if isinstance(node, (PlacedNode, Input, Part)) or node.dtype.kind == "O":
                self._private[node.id] = self._private_array(node, k, last, shared)
                continue
            overwritten = self._overwritten(node, k)
            if overwritten is not None:
                ends[k + 1].remove(overwritten)
            elif run is not None and (overwritten := _fitting(node, spare, run)) is not None:
                spare.remove(overwritten)
            offset = free.take(_aligned(node.size_bytes)) if overwritten is None else self._offsets[overwritten.id]
            self._offsets[node.id] = offset
            ends.setdefault(last + 1, []).append(node)
        self._arena_bytes = free.size_bytes

    def _overwritten(self, node: Node, position: int) -> Node | None:
        """Returns an operand whose last use is an elementwise node, and whose buffer the result may reuse."""
        if not isinstance(node, Map):
            return None
        candidates = node.inputs[2:] if node.fn == "select" else node.inputs
        for i in candidates:
            base = self._base(i)
            if base.id not in self._offsets or self._last[base.id] != position or base.dtype != node.dtype:
                continue
            if i.shape != node.shape or base.size != node.size or not covers(i):
                continue
            run = self._runs.get(node.id)
            if run is not None and not run.reads_aligned(base):
                continue
            if all(j is i or self._base(j) is not base for j in node.inputs):
                return base
        return None

    def _private_array(self, node: Node, first: int, last: int, shared: dict[object, list[tuple[int, Array]]]) -> Array:
        """Returns a buffer outside of the arena. Padding is written only once, so such buffers are shared only by equal
        nodes.
        """
        if not isinstance(node, PlacedNode):
            return np.empty(node.shape, node.dtype)
        key = (node.parameters, node.dtype, node.inputs[0].shape)
        pool = shared.setdefault(key, [])
        for n, (end, array) in enumerate(pool):
            if end < first:
                pool[n] = (last, array)
                return array
        result = np.full(node.shape, node.fill, node.dtype)
        pool.append((last, result))
        return result

    def arrays(self) -> dict[int, Array]:
        """Returns an array for each node that has memory of its own."""
        raw = np.empty(self._arena_bytes + _ALIGNMENT, np.uint8)
        shift = -raw.ctypes.data % _ALIGNMENT
        arena = raw[shift : shift + self._arena_bytes]
        out: dict[int, Array] = dict(self._private)
        for node in self._nodes:
            if node.id in self._offsets:
                offset = self._offsets[node.id]
                out[node.id] = arena[offset : offset + node.size_bytes].view(node.dtype).reshape(node.shape)
            elif node.id not in out and not isinstance(node, (View, Constant)):
                out[node.id] = np.empty(node.shape, node.dtype)
        return out


def _fitting(node: Node, spare: Sequence[Node], run: Run) -> Node | None:
    """Returns a node whose buffer a node of the same run may take, block by block."""
    for other in spare:
        if other.size == node.size and other.dtype.itemsize == node.dtype.itemsize and run.reads_aligned(other):
            return other
    return None


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // _ALIGNMENT) * _ALIGNMENT


class _FreeList:
    """A best-fit allocator: the free ranges of an arena that grows as needed."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self._free: list[tuple[int, int]] = []

    def take(self, size_bytes: int) -> int:
        """Allocates a range and returns its offset."""
        fitting = [(n, k) for k, (_, n) in enumerate(self._free) if n >= size_bytes]
        if fitting:
            length, k = min(fitting)
            offset, _ = self._free.pop(k)
            if length > size_bytes:
                self._free.append((offset + size_bytes, length - size_bytes))
            return offset
        for k, (offset, length) in enumerate(self._free):
            if offset + length == self.size_bytes:
                self._free.pop(k)
                self.size_bytes = offset + size_bytes
                return offset
        offset = self.size_bytes
        self.size_bytes += size_bytes
        return offset

    def release(self, offset: int, size_bytes: int) -> None:
        """Frees a range, and merges it with adjacent free ones."""
        start, end = offset, offset + size_bytes
        others: list[tuple[int, int]] = []
        for o, n in self._free:
            if o + n == start:
                start = o
            elif o == end:
                end = o + n
            else:
                others.append((o, n))
        self._free = [*others, (start, end - start)]
