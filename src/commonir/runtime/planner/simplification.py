"""Simplifies array programs by rewrites that involve several nodes.

Chains of sums and products with constants (batch normalization, scales, biases) become one factor and one summand per
array, and the factor goes into the constant operand of the matrix product before it. Sums of such a chain may be
rounded differently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.runtime.planner.array_graph import (
    Constant,
    Copy,
    Graph,
    InnerProduct,
    Map,
    Node,
    Product,
    Reduce,
    View,
    WindowProduct,
    covers,
    elements_of,
    is_constant,
    reachable,
    use_counts,
)
from commonir.runtime.planner.integer_products import IntegerProducts

Array = NDArray[Any]

_MAX_COMBINED_ELEMENTS = 1 << 20
"""Constants of up to this many elements are combined."""

_WHOLE_BYTES = 1 << 24
"""Windows of up to this many bytes are copied as a whole."""

_AFFINE = ("add", "subtract", "multiply", "divide", "negative")


class _Affine(NamedTuple):
    """`source * factor + summand` with constants that broadcast to the shape; None stands for a factor 1, summand 0."""

    source: Node
    factor: Node | None
    summand: Node | None


def simplified(graph: Graph, outputs: Sequence[Node]) -> list[Node]:
    """Returns the outputs of a simplified program."""
    rewriter = _Rewriter(graph, outputs)
    return with_windows_in_parts(graph, [rewriter.new(n) for n in outputs])


def with_windows_in_parts(graph: Graph, outputs: Sequence[Node]) -> list[Node]:
    """Returns the outputs of a program that does not copy large windows as a whole to multiply them."""
    nodes = reachable(outputs)
    if not any(isinstance(n, Copy) and n.size_bytes > _WHOLE_BYTES for n in nodes):
        return list(outputs)
    uses = use_counts(nodes, outputs)
    replacements: dict[int, Node] = {}
    for node in nodes:
        built = tuple([replacements[n.id] for n in node.inputs])
        same = all(a is b for a, b in zip(built, node.inputs, strict=True))
        parts = _in_parts(node, replacements, uses) if isinstance(node, Product) else None
        replacements[node.id] = graph.add(parts) if parts is not None else node if same else node.rebuilt(graph, built)
    return [replacements[n.id] for n in outputs]


def _in_parts(node: Product, replacements: Mapping[int, Node], uses: Mapping[int, int]) -> WindowProduct | None:
    """Returns a product with a large copy as one with what is copied; None for other products."""
    a, b = node.inputs
    copied = b.inputs[0] if isinstance(b, View) and covers(b) else b
    if not isinstance(copied, Copy) or copied.size_bytes <= _WHOLE_BYTES or len(b.shape) != len(node.shape):
        return None
    if len(node.shape) > 3 or uses[copied.id] > 1 or uses[b.id] > 1:
        return None
    columns = _count_axes(copied.shape, b.shape[-1])
    rows = _count_axes(copied.shape[: len(copied.shape) - columns], b.shape[-2])
    if not columns or not rows:
        return None
    view = replacements[copied.inputs[0].id]
    return WindowProduct(replacements[a.id], view, node.shape, rows, columns)


def _count_axes(shape: Sequence[int], size: int) -> int:
    """Returns how many of the last axes have a size together; 0 if none have."""
    return next((n for n in range(1, len(shape) + 1) if prod(shape[len(shape) - n :]) == size), 0)


class _Rewriter:
    """Rebuilds a program, starting from its inputs."""

    def __init__(self, graph: Graph, outputs: Sequence[Node]) -> None:
        self._graph = graph
        nodes = reachable(outputs)
        self._old_uses = use_counts(nodes, outputs)
        self._uses: dict[int, int] = {}
        self._affine: dict[int, _Affine] = {}
        self._replacements: dict[int, Node] = {}
        self._integer_products = IntegerProducts(graph)
        for node in nodes:
            built = self._rebuilt(node)
            self._replacements[node.id] = built
            self._uses[built.id] = max(self._uses.get(built.id, 0), self._old_uses[node.id])

    def new(self, node: Node) -> Node:
        """Returns the replacement of a node."""
        return self._replacements[node.id]

    def _rebuilt(self, node: Node) -> Node:
        inputs = tuple([self._replacements[n.id] for n in node.inputs])
        same = all(a is b for a, b in zip(inputs, node.inputs, strict=True))
        result = node if same else node.rebuilt(self._graph, inputs)
        if not isinstance(result, Map) and isinstance(result, View) and isinstance(node, Map):
            return result
        match result:
            case Map(fn="minimum"):
                return self._clipped(result)
            case Map(fn=fn) if fn in _AFFINE and result.dtype.kind == "f":
                return self._as_affine(result)
            case Map(fn="cast") if result.dtype.kind == "f" and result.inputs[0].dtype.kind in "iu":
                return self._integer_products.converted(result)
            case Product():
                return self._integer_products.product(result)
            case Reduce(fn="add"):
                return self._inner_product(result)
            case _:
                return result

    def _is_single(self, node: Node) -> bool:
        """Returns whether a node, and the node that it is a view of, have one use."""
        if isinstance(node, View):
            return self._uses.get(node.id, 1) == 1 and self._is_single(node.inputs[0])
        return self._uses.get(node.id, 1) == 1

    # -- chains of sums and products with constants

    def _as_affine(self, node: Map) -> Node:
        affine = self._affine_of(node, self._operand_form) or self._affine_of(node, lambda x: _Affine(x, None, None))
        if affine is None:
            return node
        result = self._emitted(affine, node)
        self._affine[result.id] = affine
        return result

    def _affine_of(self, node: Map, affine_form_of: Callable[[Node], _Affine]) -> _Affine | None:
        """Returns the affine form of a node, combined with that of its operand by `affine_form_of`.

        Returns None if it has none, or if a combined constant is out of the range of its type.
        """
        graph, dtype = self._graph, node.dtype
        minus = graph.constant(np.asarray(-1, dtype))
        if node.fn == "negative":
            return self._scaled(affine_form_of(node.inputs[0]), minus, dtype)
        x, c = node.inputs
        if not is_constant(c):
            if not is_constant(x) or node.fn == "divide":
                return None
            if node.fn == "subtract":
                negated = self._scaled(affine_form_of(c), minus, dtype)
                return None if negated is None else self._shifted(negated, x, dtype)
            x, c = c, x
        if is_constant(x) or x.shape != node.shape:
            return None
        affine = affine_form_of(x)
        match node.fn:
            case "add":
                return self._shifted(affine, c, dtype)
            case "subtract":
                return self._shifted(affine, graph.map("negative", [c], dtype), dtype)
            case "multiply":
                return self._scaled(affine, c, dtype)
            case _:
                reciprocal = self._combined("divide", graph.constant(np.asarray(1, dtype)), c, dtype)
                return None if reciprocal is None else self._scaled(affine, reciprocal, dtype)

    def _operand_form(self, x: Node) -> _Affine:
        """Returns the affine form of an operand with one use, also through a view that only reshapes."""
        base = x.inputs[0] if isinstance(x, View) and covers(x) else x
        result = self._affine.get(base.id)
        if result is None or not self._is_single(x):
            return _Affine(x, None, None)
        if base is x:
            return result
        parts = [p for p in (result.factor, result.summand) if p is not None]
        if any(p.shape != () for p in parts):
            return _Affine(x, None, None)
        return _Affine(self._graph.reshaped(result.source, x.shape), result.factor, result.summand)

    def _scaled(self, a: _Affine, c: Node, dtype: np.dtype[np.generic]) -> _Affine | None:
        factor = c if a.factor is None else self._combined("multiply", a.factor, c, dtype)
        summand = None if a.summand is None else self._combined("multiply", a.summand, c, dtype)
        if factor is None or (a.summand is not None and summand is None):
            return None
        return _Affine(a.source, factor, summand)

    def _shifted(self, a: _Affine, c: Node, dtype: np.dtype[np.generic]) -> _Affine | None:
        summand = c if a.summand is None else self._combined("add", a.summand, c, dtype)
        return None if summand is None else _Affine(a.source, a.factor, summand)

    def _combined(self, fn: str, a: Node, b: Node, dtype: np.dtype[np.generic]) -> Node | None:
        """Returns a function of two constants as a constant; None if it overflows or underflows, or is too large.

        Applying the constants one after the other may stay within range.
        """
        if max(a.size, b.size) > _MAX_COMBINED_ELEMENTS:
            return None
        node = self._graph.map(fn, [a, b], dtype)
        first, second, result = (elements_of(n) for n in (a, b, node))
        if not np.isfinite(result).all() and np.isfinite(first).all() and np.isfinite(second).all():
            return None
        vanishes = fn != "add" and ((result == 0) & (first != 0) & (second != 0)).any()
        return None if vanishes else node

    def _emitted(self, a: _Affine, node: Map) -> Node:
        """Returns the node of an affine form. Its factor becomes part of a constant operand of a matrix product, if
        possible.
        """
        out = a.source
        if a.factor is not None:
            folded = self._into_product(out, a.factor)
            out = folded or self._graph.map("multiply", [out, a.factor], node.dtype, node.shape)
        if a.summand is not None:
            out = self._graph.map("add", [out, a.summand], node.dtype, node.shape)
        return self._graph.reshaped(out, node.shape)

    def _into_product(self, x: Node, factor: Node) -> Node | None:
        """Returns a matrix product `x` with its constant operand multiplied by a factor; None if that is impossible."""
        view = x if isinstance(x, View) else None
        product = x if view is None else view.inputs[0]
        if not isinstance(product, Product) or not self._is_single(x) or self._integer_products.has(product):
            return None
        if view is not None:
            if factor.shape != () or view.size != product.size:
                return self._through_view(view, product, factor)
            built = self._scaled_product(product, factor)
            return None if built is None else self._graph.view(built, view.offset, view.strides, view.shape)
        return self._scaled_product(product, factor)

    def _through_view(self, view: View, product: Product, factor: Node) -> Node | None:
        """Returns the scaled product for a factor along the leading axis of a view that only splits the columns."""
        if (
            not covers(view)
            or factor.size != product.shape[-2]
            or product.size != product.shape[-2] * product.shape[-1]
        ):
            return None
        if factor.shape[:1] != (factor.size,) or view.shape[0] != factor.size:
            return None
        built = self._scaled_product(product, self._graph.reshaped(factor, (factor.size, 1)))
        return None if built is None else self._graph.reshaped(built, view.shape)

    def _scaled_product(self, product: Product, factor: Node) -> Node | None:
        a, b = product.inputs
        shape = (1,) * (2 - len(factor.shape)) + factor.shape
        if any(n != 1 for n in shape[:-2]):
            return None
        graph = self._graph
        if is_constant(a) and shape[-1] == 1:
            scaled = graph.map("multiply", [a, graph.reshaped(factor, shape[-2:])], a.dtype)
            return graph.add(Product(scaled, b))
        if is_constant(b) and shape[-2] == 1:
            scaled = graph.map("multiply", [b, graph.reshaped(factor, shape[-2:])], b.dtype)
            return graph.add(Product(a, scaled))
        return None

    # -- other patterns

    def _clipped(self, node: Map) -> Node:
        """Returns `min(max(x, low), high)` with scalar constants as one step."""
        inner, high = node.inputs
        if not isinstance(inner, Map) or inner.fn != "maximum" or not self._is_single(inner):
            return node
        x, low = inner.inputs
        if not all(isinstance(c, Constant) and c.shape == () for c in (low, high)):
            return node
        return self._graph.map("clip", [x, low, high], node.dtype, node.shape)

    def _inner_product(self, node: Reduce) -> Node:
        """Returns a sum of products along the last axis as an inner product, without the array of products."""
        (source,) = node.inputs
        base = source.inputs[0] if isinstance(source, View) else source
        if node.axes != (len(source.shape) - 1,) or not covers(source) or not self._is_single(source):
            return node
        if not isinstance(base, Map) or base.fn != "multiply" or base.dtype.kind != "f":
            return node
        if any(x.shape != base.shape for x in base.inputs):
            return node
        graph = self._graph
        a, b = (graph.reshaped(x, source.shape) for x in base.inputs)
        return graph.add(InnerProduct(a, b))
