"""Graphs of kernels: what operations compute, in index notation, without their names.

A node computes one tensor by one kernel, which reads others by name: inputs, constants, and nodes before it. Sizes may
be symbols. This module knows neither operations nor machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType
from commonir.notation import Access, Apply, Const, Expr, Fold, Join, Kernel, Position, Tensor, Update, indices, walk
from commonir.runtime.interpreter.evaluation import evaluate_kernel
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, symbols

Array = NDArray[Any]


DECODING = frozenset({"add", "subtract", "multiply"})
"""The functions by which numbers are decoded from what is stored."""

MAX_ENTRY = 8
"""The most elements that are decoded from one element of a constant."""


class TensorSpec(NamedTuple):
    """The shape and element type of a tensor."""

    shape: tuple[Dim, ...]
    element: ElementType


class Origin(NamedTuple):
    """An operation of the program: its name, and that of the value it computes, "" if this has none."""

    operation: str
    value: str = ""


class StripAxis(NamedTuple):
    """An axis of a result of which `size` positions of all `extent` are computed at a time.

    The last ones overlap those before them. `first` is the symbol of the first position in the kernels of the parts.
    """

    axis: int
    extent: Dim
    size: int
    first: str


class InnerPart(NamedTuple):
    """How a part lies that a strip computes for another one: the order of its axes, and a border of equal numbers.

    Its numbers lie rounded to bfloat16 if it is narrow.
    """

    order: tuple[int, ...] | None = None
    border: tuple[tuple[int, int], ...] = ()
    fill: float = 0.0
    is_narrow: bool = False


class StripBlocks(NamedTuple):
    """The parts of a strip, from one to before another, that are computed for each of some `rounds`, blocks of columns.

    `number` is the symbol of the number of a block.
    """

    start: int
    stop: int
    rounds: int
    number: str


class Strips(NamedTuple):
    """How a node is computed for some positions at a time: by parts, each of which reads the one before.

    There is a strip for each part of each of the `axes`, the last one fastest. `positions` are more symbols in the
    kernels of the parts, computed from those of the axes and the ones before. `inner` says where all parts but the last
    lie, of whose result `kept` are the axes; the others have one position in a strip. Some parts may be computed for
    `blocks` of columns; parts of one name lie in the same memory.
    """

    axes: tuple[StripAxis, ...]
    parts: tuple[KernelNode, ...]
    inner: tuple[InnerPart, ...]
    kept: tuple[int, ...]
    positions: tuple[tuple[str, Dim], ...] = ()
    blocks: StripBlocks | None = None

    def own_symbols(self) -> set[str]:
        """Returns the symbols that have a value for each strip, or for each block."""
        numbers = [] if self.blocks is None else [self.blocks.number]
        return {*[a.first for a in self.axes], *[name for name, _ in self.positions], *numbers}

    def symbols(self) -> set[str]:
        """Returns the symbols that the parts need the values of, but for those that are their own."""
        extents = [s for a in self.axes for s in symbols(a.extent)]
        return {*extents, *[s for part in self.parts for s in part.symbols()]} - self.own_symbols()


def known_count(dims: Iterable[Dim]) -> int:
    """Returns the number of elements of a shape, as if axes of unknown size had one."""
    return prod([d for d in dims if isinstance(d, int)])


class KernelNode:
    """A tensor, and the kernel that computes it with the extents of its indices.

    `strips` says how it is computed if it is not at once. `origins` are the operations that it computes, of which the
    first is the last one of the program.
    `size` is the number of different expressions in the kernel. `KernelGraph.replace_kernel` changes it.
    """

    __slots__ = ("accesses", "extents", "kernel", "name", "origins", "reads", "size", "spec", "strips")

    def __init__(
        self, name: str, kernel: Kernel, extents: Mapping[str, Dim], spec: TensorSpec, origins: tuple[Origin, ...] = ()
    ) -> None:
        self.name = name
        self.spec = spec
        self.origins = origins
        self.strips: Strips | None = None
        self.assign(kernel, extents)

    def assign(self, kernel: Kernel, extents: Mapping[str, Dim]) -> None:
        """Replaces the kernel of a node that is not part of a graph."""
        self.kernel = kernel
        self.extents = extents
        inside = list(walk(kernel.body))
        self.size = len(inside)
        self.accesses = [e for e in inside if isinstance(e, Access)]
        self.reads = list(dict.fromkeys([a.tensor.name for a in self.accesses]))

    @property
    def is_view(self) -> bool:
        """Whether the kernel only reads: every element is one of a tensor, a number or a position."""
        return isinstance(self.kernel.body, Access | Const | Position)

    @property
    def has_folds(self) -> bool:
        """Whether the kernel combines several elements."""
        return any(isinstance(e, Fold) for e in walk(self.kernel.body))

    @property
    def has_joins(self) -> bool:
        """Whether the kernel reads elements from one of several tensors, by their position."""
        return any(isinstance(e, Join) for e in walk(self.kernel.body))

    @property
    def is_update(self) -> bool:
        """Whether the kernel changes elements of another tensor, at positions that it reads from data."""
        return isinstance(self.kernel.body, Update)

    def symbols(self) -> set[str]:
        """Returns the symbols that the kernel, and the parts of strips, need the values of."""
        dims = [*self.extents.values(), *self.spec.shape, *_dims_inside(self.kernel.body)]
        of_strips = set[str]() if self.strips is None else self.strips.symbols()
        return of_strips.union(*map(symbols, dims))

    def __repr__(self) -> str:
        return f"<{self.name} {self.spec.element}{list(self.spec.shape)}>"


def copy_of(spec: TensorSpec, name: str) -> Kernel:
    """Returns the kernel of a tensor that is another one."""
    axes = indices("i", len(spec.shape))
    return Kernel(axes, Tensor(name, spec.shape, spec.element)[axes])


def copying_node(name: str, source: str, spec: TensorSpec) -> KernelNode:
    """Returns a node with the elements of another tensor."""
    return KernelNode(name, copy_of(spec, source), axis_extents(spec), spec, (Origin("copy"),))


def axis_extents(spec: TensorSpec) -> dict[str, Dim]:
    """Returns the extents of indices along the axes of a tensor, which are named as in `copy_of`."""
    return {f"i{n}": d for n, d in enumerate(spec.shape)}


def _dims_inside(body: Expr) -> Iterable[Dim]:
    """Yields the sizes and positions in an expression."""
    for e in walk(body):
        if isinstance(e, Access):
            yield from (p for p in e.at if not isinstance(p, Expr))
            yield from e.tensor.shape
            for _, shape in e.tensor.steps:
                yield from shape
        elif isinstance(e, Position):
            yield e.at
        elif isinstance(e, Update):
            yield from (p for p in e.at if not isinstance(p, Expr))


def evaluated(node: KernelNode, arrays: Mapping[str, Array]) -> Array:
    """Returns the elements of a node of fixed sizes for arrays of the tensors that it reads."""
    extents = {i: n for i, n in node.extents.items() if isinstance(n, int)}
    return evaluate_kernel(node.kernel, extents, {r: _computed(arrays[r]) for r in node.reads}, compute_dtype)


def _computed(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype.kind in "fV" and array.dtype.itemsize < 4 else array


class KernelGraph:
    """Nodes in an order of evaluation, the tensors that they read from outside, and those that are its results."""

    def __init__(self) -> None:
        self.inputs: dict[str, TensorSpec] = {}
        self.constants: dict[str, Array] = {}
        self.nodes: dict[str, KernelNode] = {}
        self.outputs: list[str] = []
        # Nodes whose tensor is memory that each round of a loop writes.
        self.written: set[str] = set()
        # Nodes that lie in the memory of another one, and this one.
        self.wholes: dict[str, str] = {}
        self._users: dict[str, dict[str, None]] = {}

    def spec(self, name: str) -> TensorSpec:
        """Returns the shape and element type of an input or a node."""
        return self.inputs[name] if name in self.inputs else self.nodes[name].spec

    def memory_of(self, name: str) -> str:
        """Returns the tensor in whose memory a tensor lies."""
        return self.wholes.get(name, name)

    def users(self, name: str) -> list[str]:
        """Returns the names of the nodes that read a tensor."""
        return list(self._users.get(name, ()))

    def add(self, node: KernelNode) -> None:
        """Adds a node after those that it reads."""
        self.nodes[node.name] = node
        self._use(node)

    def add_first(self, node: KernelNode) -> None:
        """Adds a node that only reads inputs before all others."""
        self.nodes = {node.name: node, **self.nodes}
        self._use(node)

    def add_before(self, other: KernelNode, node: KernelNode) -> None:
        """Adds a node before another one."""
        before = list(self.nodes.values())
        at = before.index(other)
        self.nodes = {n.name: n for n in [*before[:at], node, *before[at:]]}
        self._use(node)

    def _use(self, node: KernelNode) -> None:
        for name in node.reads:
            self._users.setdefault(name, {})[node.name] = None

    def replace_kernel(self, node: KernelNode, kernel: Kernel, extents: Mapping[str, Dim]) -> None:
        """Gives a node another kernel; nodes that nothing reads any more are removed."""
        before = node.reads
        node.assign(kernel, extents)
        self._use(node)
        self._release(node.name, [name for name in before if name not in node.reads])

    def _release(self, user: str, names: list[str]) -> None:
        pending = [(user, name) for name in names]
        while pending:
            user, name = pending.pop()
            self._users[name].pop(user, None)
            if not self._users[name] and name in self.nodes and name not in self.outputs:
                removed = self.nodes.pop(name)
                pending += [(name, read) for read in removed.reads]

    def replace_by_strips(self, node: KernelNode, strips: Strips) -> None:
        """Computes a node by parts; nodes that nothing reads any more are removed."""
        before = node.reads
        inner = {part.name for part in strips.parts}
        node.strips = strips
        node.origins = tuple([o for part in reversed(strips.parts) for o in part.origins])
        node.reads = list(dict.fromkeys([r for part in strips.parts for r in part.reads if r not in inner]))
        self._use(node)
        self._release(node.name, [name for name in before if name not in node.reads])

    def is_constant(self, node: KernelNode) -> bool:
        """Returns whether a node has fixed sizes and only reads constants."""
        if not node.reads or node.name in self.written:
            return False
        return all(read in self.constants for read in node.reads) and not node.symbols()

    def hold(self, name: str, array: Array) -> None:
        """Makes an input a constant."""
        del self.inputs[name]
        self.constants[name] = array

    def decodes(self, node: KernelNode) -> bool:
        """Returns whether a node computes each element from one of a constant of about as many elements, cheaply."""
        if node.has_folds or node.is_update or node.strips is not None or not self.is_constant(node):
            return False
        functions = [e for e in walk(node.kernel.body) if isinstance(e, Apply) and e.dtype.kind == "float"]
        largest = max([self.constants[read].size for read in node.reads])
        return all(e.fn in DECODING for e in functions) and known_count(node.spec.shape) <= largest * MAX_ENTRY

    def fold(self, node: KernelNode) -> None:
        """Computes a node that only reads constants, and makes it one."""
        self.constants[node.name] = evaluated(node, self.constants)
        del self.nodes[node.name]
        self._release(node.name, node.reads)

    def remove_unused(self) -> None:
        """Removes nodes and constants that no output needs."""
        for name in reversed(list(self.nodes)):
            if name in self.nodes and not self._users.get(name) and name not in self.outputs:
                self._release(name, self.nodes.pop(name).reads)
        used = {*self.outputs, *[name for node in self.nodes.values() for name in node.reads]}
        self.constants = {n: array for n, array in self.constants.items() if n in used}
