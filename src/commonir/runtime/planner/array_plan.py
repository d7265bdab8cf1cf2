"""Array programs prepared to run: buffers assigned by lifetime, and a sequence of numpy calls.

All buffers are made once and lie in one arena, in which arrays share memory when they are not alive at the same time;
an elementwise step writes over an operand that nothing needs any more. A plan is therefore used by one thread at a
time.
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
from commonir.runtime.limits import time_is_up
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
    covers,
    reachable,
    strided,
)
from commonir.runtime.planner.array_steps import ArrayStep, bind, bind_parts

Array = NDArray[Any]

_ALIGNMENT = 64

_FEW_PRODUCTS = 1 << 12
"""Products that BLAS computes in one thread; limiting threads takes longer than they do."""

_FEW_ELEMENTS = 1 << 8
"""Elements of which any function of linear algebra computes that few."""


class BoundProgram(ABC):
    """A step of a plan that runs plans of its own."""

    plans: tuple[ArrayPlan, ...]

    @abstractmethod
    def __call__(self) -> None:
        """Computes the results."""


class NestedProgram(ABC):
    """Array programs inside of an array program: what a node computes by plans of its own."""

    @abstractmethod
    def bound(self, inputs: Sequence[Array], outs: Sequence[Array | None]) -> BoundProgram:
        """Returns a step that computes from fixed arrays into fixed arrays; nothing where a result is not used."""


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
    """An array program with its buffers; `given` are arrays for inputs by the numbers of nodes, which are read as they
    are in every run.
    """

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        memory_limit_bytes: int | None = None,
        given: Mapping[int, Array] | None = None,
    ) -> None:
        self.nodes = reachable(outputs)
        self.nested: list[ArrayPlan] = []
        self._assigned = _Assignment(self.nodes, outputs, given or {})
        self._check_memory(memory_limit_bytes)
        self._arrays: dict[int, Array] = self._assigned.arrays()
        self.steps: list[ArrayStep] = []
        self.labels: list[str] = []
        for node in self.nodes:
            self._bind(node)
        self._inputs = [self._arrays.get(n.id) for n in inputs]
        self._given_arrays: list[Array | None] = [None] * len(inputs)
        self.outputs = [self._arrays[n.id] for n in outputs]

    @property
    def size_bytes(self) -> int:
        """Memory of constants and buffers."""
        return self._assigned.size_bytes + sum([p.size_bytes for p in self.nested])

    @property
    def fallbacks(self) -> list[str]:
        """Computations without a plan of their own, which should have one."""
        own = [n.label for n in self.nodes if isinstance(n, Opaque) and n.is_fallback]
        return own + [label for p in self.nested for label in p.fallbacks]

    @cached_property
    def may_use_blas(self) -> bool:
        """Returns whether a step may be one of BLAS on so much that it would use threads, which are to be limited."""
        return any(_may_use_threads(n) for n in self.nodes) or any(p.may_use_blas for p in self.nested)

    def run(self, inputs: Sequence[Array], deadline: float | None = None) -> list[Array]:
        """Returns the outputs for the inputs. They are valid until the next run.

        An array that is given again is taken to be unchanged, until `forget` is called: rounds of a loop share weights.

        Raises: DiagnosticError (E0711) when the deadline passes; OutOfRange for positions outside of a tensor.
        """
        for n, (own, given) in enumerate(zip(self._inputs, inputs, strict=True)):
            if own is not None and given is not self._given_arrays[n]:
                convert(given, own)
                self._given_arrays[n] = given
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
        """Computes the outputs from what the arrays of its inputs hold, as a part of another plan that runs."""
        for step in self.steps:
            step()

    def forget(self) -> None:
        """Makes the next run read all inputs."""
        self._given_arrays = [None] * len(self._given_arrays)

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
            case _:
                inputs = [self._arrays[n.id] for n in node.inputs]
                self._add(node, bind(node, inputs, self._arrays[node.id]))

    def _outs(self, node: Opaque) -> list[Array | None]:
        """Returns an array for each result; nothing for those that nothing uses."""
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
            return False  # its plans know
        case Product():
            return node.size * node.inputs[0].shape[-1] > _FEW_PRODUCTS
        case InnerProduct() | Reduce():
            return node.inputs[0].size > _FEW_PRODUCTS
        case Opaque():
            return sum([n.size for n in (node, *node.inputs)]) > _FEW_ELEMENTS
        case _:
            return False


class _Assignment:
    """Which bytes each node has. `owner` maps a node to the one whose buffer it writes into."""

    def __init__(self, nodes: Sequence[Node], outputs: Sequence[Node], given: Mapping[int, Array]) -> None:
        self._nodes = nodes
        self._given_arrays = given
        self._order = {n.id: k for k, n in enumerate(nodes)}
        self._owner: dict[int, Node] = {}
        self._last = self._last_uses(outputs)
        self._offsets: dict[int, int] = {}
        self._private: dict[int, Array] = {}
        self._arena_bytes = 0
        self._assign()

    @property
    def size_bytes(self) -> int:
        """Bytes of constants, of the arena, and of buffers outside of it."""
        constants = sum(n.size_bytes for n in self._nodes if isinstance(n, Constant))
        private = sum(a.nbytes for n, a in self._private.items() if n not in self._given_arrays)
        return constants + self._arena_bytes + private

    def _base(self, node: Node) -> Node:
        return node.inputs[0] if isinstance(node, View) else node

    def _last_uses(self, outputs: Sequence[Node]) -> dict[int, int]:
        """For each node with memory of its own, the position of the last node that reads it."""
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
        ends: dict[int, list[tuple[int, int]]] = {}
        shared: dict[object, list[tuple[int, Array]]] = {}
        for k, node in enumerate(self._nodes):
            for offset, size in ends.pop(k, ()):
                free.release(offset, size)
            if node.id in self._given_arrays:
                self._private[node.id] = self._given_arrays[node.id]
                continue
            if isinstance(node, (View, Constant)) or node.size == 0:
                continue
            last = self._last[node.id]
            if isinstance(node, (PlacedNode, Input, Part)) or node.dtype.kind == "O":
                self._private[node.id] = self._private_array(node, k, last, shared)
                continue
            over = self._overwritten(node, k)
            if over is not None:
                self._offsets[node.id] = self._offsets[over.id]
                size = _rounded(node.size_bytes)
                ends[k + 1].remove((self._offsets[node.id], size))
                ends.setdefault(last + 1, []).append((self._offsets[node.id], size))
                continue
            size = _rounded(node.size_bytes)
            offset = free.take(size)
            self._offsets[node.id] = offset
            ends.setdefault(last + 1, []).append((offset, size))
        self._arena_bytes = free.high

    def _overwritten(self, node: Node, position: int) -> Node | None:
        """Returns an operand of an elementwise node that ends here and whose buffer the result may take."""
        if not isinstance(node, Map):
            return None
        candidates = node.inputs[2:] if node.fn == "select" else node.inputs
        for i in candidates:
            base = self._base(i)
            if base.id not in self._offsets or self._last[base.id] != position or base.dtype != node.dtype:
                continue
            if i.shape != node.shape or base.size != node.size or not covers(i):
                continue
            if all(j is i or self._base(j) is not base for j in node.inputs):
                return base
        return None

    def _private_array(self, node: Node, first: int, last: int, shared: dict[object, list[tuple[int, Array]]]) -> Array:
        """Returns a buffer outside of the arena. Borders of padding are written once, so they share with their like
        only.
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
                at = self._offsets[node.id]
                out[node.id] = arena[at : at + node.size_bytes].view(node.dtype).reshape(node.shape)
            elif node.id not in out and not isinstance(node, (View, Constant)):
                out[node.id] = np.empty(node.shape, node.dtype)
        return out


def _rounded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


class _FreeList:
    """Free ranges of an arena that grows as needed; the smallest range that fits is taken."""

    def __init__(self) -> None:
        self.high = 0
        self._ranges: list[tuple[int, int]] = []

    def take(self, size: int) -> int:
        """Returns the offset of a range of this size, which is free no longer."""
        fitting = [(n, k) for k, (_, n) in enumerate(self._ranges) if n >= size]
        if fitting:
            length, k = min(fitting)
            offset, _ = self._ranges.pop(k)
            if length > size:
                self._ranges.append((offset + size, length - size))
            return offset
        for k, (offset, length) in enumerate(self._ranges):
            if offset + length == self.high:
                self._ranges.pop(k)
                self.high = offset + size
                return offset
        offset = self.high
        self.high += size
        return offset

    def release(self, offset: int, size: int) -> None:
        """Makes a range free, joined with its free neighbours."""
        start, end = offset, offset + size
        rest: list[tuple[int, int]] = []
        for o, n in self._ranges:
            if o + n == start:
                start = o
            elif o == end:
                end = o + n
            else:
                rest.append((o, n))
        self._ranges = [*rest, (start, end - start)]
