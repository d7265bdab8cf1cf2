"""Graphs of kernels: what operations compute, in index notation, without their names.

A node computes one tensor by one kernel, which reads others by name: inputs, constants, and nodes before it. Sizes may
be symbols. This module knows neither operations nor machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType
from commonir.notation import Access, Const, Expr, Fold, Join, Kernel, Position, walk
from commonir.symbolic import Dim, symbols

Array = NDArray[Any]


class TensorSpec(NamedTuple):
    """The shape and element type of a tensor."""

    shape: tuple[Dim, ...]
    element: ElementType


class KernelNode:
    """A tensor, and the kernel that computes it with the extents of its indices.

    `origins` are the names of the operations that it computes, of which the first is the last one of the program.
    """

    __slots__ = ("extents", "kernel", "name", "origins", "spec")

    def __init__(
        self, name: str, kernel: Kernel, extents: Mapping[str, Dim], spec: TensorSpec, origins: tuple[str, ...] = ()
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.extents = extents
        self.spec = spec
        self.origins = origins

    def accesses(self) -> list[Access]:
        """Returns the reads in the kernel."""
        return [e for e in walk(self.kernel.body) if isinstance(e, Access)]

    def reads(self) -> list[str]:
        """Returns the names of the tensors that the kernel reads, in order of occurrence."""
        return list(dict.fromkeys([a.tensor.name for a in self.accesses()]))

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

    def symbols(self) -> set[str]:
        """Returns the symbols that the kernel needs the values of."""
        dims = [*self.extents.values(), *self.spec.shape, *_dims_inside(self.kernel.body)]
        return {s for d in dims for s in symbols(d)}

    def __repr__(self) -> str:
        return f"<{self.name} {self.spec.element}{list(self.spec.shape)}>"


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


class KernelGraph:
    """Nodes in an order of evaluation, the tensors that they read from outside, and those that are its results."""

    def __init__(self) -> None:
        self.inputs: dict[str, TensorSpec] = {}
        self.constants: dict[str, Array] = {}
        self.nodes: dict[str, KernelNode] = {}
        self.outputs: list[str] = []

    def spec(self, name: str) -> TensorSpec:
        """Returns the shape and element type of an input or a node."""
        return self.inputs[name] if name in self.inputs else self.nodes[name].spec

    def users(self) -> dict[str, list[str]]:
        """Returns the names of the nodes that read each tensor."""
        out: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for name in node.reads():
                out.setdefault(name, []).append(node.name)
        return out

    def remove_unused(self) -> None:
        """Removes nodes and constants that no output needs."""
        needed, stack = set[str](), list(self.outputs)
        while stack:
            name = stack.pop()
            if name not in needed:
                needed.add(name)
                if name in self.nodes:
                    stack += self.nodes[name].reads()
        self.nodes = {n: node for n, node in self.nodes.items() if n in needed}
        self.constants = {n: array for n, array in self.constants.items() if n in needed}
