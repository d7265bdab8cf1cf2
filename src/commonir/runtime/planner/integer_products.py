"""Computes products of matrices of small integers as products of floats, which BLAS has and which are exact.

A sum of integers is exact in any order while no partial sum exceeds 2^24 in single or 2^53 in double precision. How
large integers may be follows from their types, from constants, and from what is computed from these.
"""

from __future__ import annotations

from math import prod

import numpy as np

from commonir.base.tuples import NamedTuple
from commonir.runtime.planner.array_graph import (
    Concat,
    Constant,
    Copy,
    DType,
    Graph,
    Lookup,
    Map,
    Node,
    PlacedNode,
    Product,
    Reduce,
    Take,
    View,
    elements_of,
    is_constant,
)

_EXACT = ((np.dtype(np.float32), 2**24), (np.dtype(np.float64), 2**53))
"""Float types, and the magnitude up to which they have all integers."""

_FEW_PRODUCTS = 1 << 12
"""Up to this many products, converting takes as long as it saves."""


class Interval(NamedTuple):
    """The integers from `low` to `high`."""

    low: int
    high: int

    @property
    def magnitude(self) -> int:
        """The largest absolute value."""
        return max(-self.low, self.high)


class IntegerProducts:
    """The products of a graph that are computed as floats."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._intervals: dict[int, Interval] = {}
        # The floats that equal integer nodes, of products and of what was computed from them.
        self._floats: dict[int, Node] = {}
        self._products: set[int] = set()

    def has(self, product: Product) -> bool:
        """Returns whether a product of floats is one of integers, which a factor would make inexact."""
        return product.id in self._products

    def product(self, node: Product) -> Node:
        """Returns a product of integers computed as floats, or the node itself where that would not be exact."""
        if node.dtype.kind not in "iu" or node.size * node.inputs[0].shape[-1] <= _FEW_PRODUCTS:
            return node
        bound = self._largest_sum(node)
        for dtype, limit in _EXACT:
            if bound <= min(limit, np.iinfo(node.dtype).max):
                graph = self._graph
                floats = graph.add(Product(*[self._as_floats(n, dtype) for n in node.inputs]))
                self._products.add(floats.id)
                result = graph.map("cast", [floats], node.dtype)
                self._floats[result.id] = floats
                self._intervals[result.id] = Interval(-bound, bound)
                return result
        return node

    def converted(self, node: Map) -> Node:
        """Returns the conversion of integers to floats, without integers between products and these floats."""
        floats = self._known_floats(node.inputs[0])
        return node if floats is None else self._graph.map("cast", [floats], node.dtype, node.shape)

    def _known_floats(self, node: Node) -> Node | None:
        """Returns the floats that integers were converted from, also through sums with others; None without any."""
        result = self._floats.get(node.id)
        if result is not None:
            return result
        match node:
            case View(inputs=(base,)):
                floats = self._known_floats(base)
                return None if floats is None else self._graph.view(floats, node.offset, node.strides, node.shape)
            case Map(fn="add" | "subtract", inputs=(a, b)):
                known = [self._known_floats(n) for n in (a, b)]
                dtypes = [n.dtype for n in known if n is not None]
                if not dtypes or self._exact_in(node, dtypes[0]) is None or any(d != dtypes[0] for d in dtypes):
                    return None
                inputs = [f or self._as_floats(n, dtypes[0]) for f, n in zip(known, (a, b), strict=True)]
                return self._graph.map(node.fn, inputs, dtypes[0], node.shape)
            case _:
                return None

    def _exact_in(self, node: Node, dtype: DType) -> Interval | None:
        """Returns the interval of integers if floats have all of them, else None."""
        interval = self._interval(node)
        return interval if interval.magnitude <= dict(_EXACT)[dtype] else None

    def _as_floats(self, node: Node, dtype: DType) -> Node:
        """Returns integers as floats, converted as early as they are exact."""
        graph = self._graph
        if is_constant(node) or self._exact_in(node, dtype) is None:
            return graph.map("cast", [node], dtype, node.shape)
        match node:
            case View(inputs=(base,)):
                return graph.view(self._as_floats(base, dtype), node.offset, node.strides, node.shape)
            case Copy() | PlacedNode() | Concat():
                return node.rebuilt(graph, tuple([self._as_floats(n, dtype) for n in node.inputs]))
            case Map(fn="cast", inputs=(source,)) if source.dtype.kind in "iu" and self._is_kept(source, node.dtype):
                return self._as_floats(source, dtype)
            case Map(fn="add" | "subtract" | "multiply" | "negative") if self._do_fit(node, dtype):
                inputs = [self._as_floats(n, dtype) for n in node.inputs]
                return graph.map(node.fn, inputs, dtype, node.shape)
            case _:
                return graph.map("cast", [node], dtype, node.shape)

    def _do_fit(self, node: Map, dtype: DType) -> bool:
        """Returns whether a function of integers is exact as one of floats."""
        return all(self._exact_in(n, dtype) is not None for n in node.inputs) and self._computed(node) is not None

    def _is_kept(self, source: Node, dtype: DType) -> bool:
        """Returns whether a conversion to an integer type keeps all numbers."""
        interval, limits = self._interval(source), np.iinfo(dtype)
        return limits.min <= interval.low and interval.high <= limits.max

    def _largest_sum(self, node: Product) -> int:
        """Returns the magnitude that no partial sum of a product exceeds."""
        a, b = node.inputs
        sums = [
            _absolute_sums(constant, axis) * self._interval(other).magnitude
            for constant, axis, other in ((a, -1, b), (b, -2, a))
            if is_constant(constant) and constant.size
        ]
        return min(sums or [self._interval(a).magnitude * self._interval(b).magnitude * a.shape[-1]])

    # -- intervals

    def _interval(self, node: Node) -> Interval:
        """Returns an interval that has all elements of a node of integers."""
        result = self._intervals.get(node.id)
        if result is None:
            limits = np.iinfo(node.dtype)
            result = self._computed(node) or Interval(int(limits.min), int(limits.max))
            self._intervals[node.id] = result
        return result

    def _computed(self, node: Node) -> Interval | None:
        """Returns the interval that follows from the inputs of a node; None if there is none, or it may overflow."""
        if node.size == 0 or (node.dtype.itemsize == 1 and not is_constant(node)):
            return None
        result = self._interval_of_inputs(node)
        limits = np.iinfo(node.dtype)
        return result if result is not None and limits.min <= result.low and result.high <= limits.max else None

    def _interval_of_inputs(self, node: Node) -> Interval | None:
        inputs = [n for n in node.inputs if n.dtype.kind in "iu"]
        match node:
            case Constant():
                array = node.elements()
                return Interval(int(array.min()), int(array.max()))
            case PlacedNode(fill=fill):
                (low, high), at = self._interval(node.inputs[0]), int(fill)
                return Interval(min(low, at), max(high, at))
            case View() | Copy() | Take() | Lookup():
                return self._interval(node.inputs[0])
            case Concat():
                every = [self._interval(n) for n in inputs]
                return Interval(min(i.low for i in every), max(i.high for i in every))
            case Map(fn="cast") if inputs:
                return self._interval(inputs[0])
            case Map(fn=fn) if len(inputs) == len(node.inputs):
                return _interval_of(fn, [self._interval(n) for n in inputs])
            case Reduce(fn="add"):
                (low, high), count = self._interval(node.inputs[0]), prod(node.inputs[0].shape) // max(node.size, 1)
                return Interval(low * count, high * count)
            case _:
                return None


def _interval_of(fn: str, inputs: list[Interval]) -> Interval | None:
    """Returns the interval of a function of integers; None for functions of which it is not known."""
    match fn, inputs:
        case "add", [a, b]:
            return Interval(a.low + b.low, a.high + b.high)
        case "subtract", [a, b]:
            return Interval(a.low - b.high, a.high - b.low)
        case "multiply", [a, b]:
            corners = [x * y for x in a for y in b]
            return Interval(min(corners), max(corners))
        case "negative", [a]:
            return Interval(-a.high, -a.low)
        case _:
            return None


def _absolute_sums(constant: Node, axis: int) -> int:
    """Returns the largest sum of magnitudes of a constant along an axis."""
    return int(np.abs(elements_of(constant).astype(np.float64)).sum(axis).max())
