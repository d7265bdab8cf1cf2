"""Products of dequantized numbers as products of integers, whose sums the scales are applied to.

A sum over `((x - z) * s) * ((w - v) * t)` is `s * t` times the sum over `(x - z) * (w - v)` where neither scale depends
on a summed index. The latter is exact in 32 bits, so the result differs from the definition's by less than that may
from the real number: it is rounded three times, for the product of the scales, the sum, and their product. Only where a
scale is not finite, or the product of the scales is too large or too small for single precision, is it another one.

What follows a sum is divided by numbers, the scales of what is quantized next, by multiplying with their reciprocals.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.ir.types import f32, i32
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Expr,
    Fold,
    Kernel,
    Padded,
    Tensor,
    Visit,
    free,
    mapped,
    replace,
    replace_accesses,
    walk,
    with_children,
)
from commonir.runtime.kernel_graph.contraction import is_stored, summed_products
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, TensorSpec
from commonir.runtime.kernel_graph.integer_ranges import IntegerRanges
from commonir.symbolic import names

MOST = (1 << 31) - 1
"""The largest sum of integers."""

LARGEST_TERM = 255
"""The largest difference of two bytes."""


_RECIPROCALS = (1e-37, 1e37)
"""Between these, numbers and their reciprocals have all digits of single precision."""


class _Scaled(NamedTuple):
    """Integers of 32 bits, each a byte or the difference of two, times a scale."""

    integers: Expr
    scale: Expr | None


class _Product(NamedTuple):
    """A sum of products of scaled integers: the left ones are read, the right ones follow from constants."""

    fold: Fold
    left: Access
    right: _Scaled


def use_integer_products(graph: KernelGraph) -> None:
    """Replaces products of dequantized values with dequantized constants by products of integers."""
    dequantized = {name for name, node in graph.nodes.items() if _is_dequantized(graph, node)}
    if dequantized:
        _replace_products(graph, dequantized)
    for node in list(graph.nodes.values()):
        sums = [fold for fold, _ in summed_products(node.kernel.body) if fold.dtype is i32]
        if sums and node.strips is None:
            body = _with_reciprocals(node.kernel.body, sums)
            graph.replace_kernel(node, Kernel(node.kernel.axes, body), node.extents)


def _with_reciprocals(body: Expr, sums: Sequence[Fold]) -> Expr:
    """Returns an expression that multiplies what depends on sums, in place of dividing it by a number."""

    def rebuilt(e: Expr, visit: Visit) -> Expr:
        match e:
            case Apply(fn="divide", args=(x, Const(value=float(v)))) if e.dtype is f32:
                if _RECIPROCALS[0] < abs(v) < _RECIPROCALS[1] and not set(sums).isdisjoint(walk(x)):
                    return Apply("multiply", (visit(x), Const(1 / v, f32)))
            case _:
                pass
        return with_children(e, visit)

    return mapped(body, rebuilt)


def _replace_products(graph: KernelGraph, dequantized: Container[str]) -> None:
    ranges = IntegerRanges(graph.constants)
    products = {
        name: product
        for name, node in graph.nodes.items()
        if (product := _product_of(graph, node, dequantized, ranges)) is not None
    }
    names = {product.left.tensor.name for product in products.values()}
    replacement = _Replacement(graph, names)
    for node in list(graph.nodes.values()):
        if node.name in names or not names.isdisjoint(node.reads):
            replacement.apply(node, products.get(node.name))


def _is_dequantized(graph: KernelGraph, node: KernelNode) -> bool:
    """Returns whether the elements of a node are bytes minus a number, times a scale, that are the same for all."""
    if node.spec.element is not f32 or node.name in graph.outputs or node.strips is not None or node.has_joins:
        return False
    reads = [a for user in graph.users(node.name) for a in graph.nodes[user].accesses if a.tensor.name == node.name]
    if any(isinstance(view, Padded) and view.fill != 0 for a in reads for view, _ in a.tensor.steps):
        return False
    scaled = _scaled(node.kernel.body)
    if scaled is None or (scaled.scale is not None and free(scaled.scale)):
        return False
    match scaled.integers:
        case Apply(args=(_, number)):
            return not free(number)
        case _:
            return True


def _scaled(e: Expr) -> _Scaled | None:
    """Returns an expression as scaled integers."""
    integers = _integers(e)
    if integers is not None:
        return _Scaled(integers, None)
    if isinstance(e, Apply) and e.fn == "multiply":
        for x, scale in (e.args, e.args[::-1]):
            integers = _integers(x)
            if integers is not None:
                return _Scaled(integers, scale)
    return None


def _integers(e: Expr) -> Expr | None:
    """Returns a byte that is converted to single precision, or a difference of two, in 32 bits."""
    if isinstance(e, Apply) and e.fn == "subtract":
        args = [_integers(x) for x in e.args]
        return Apply("subtract", tuple([x for x in args if x is not None])) if _are_bytes(e.args) else None
    return Cast(e.body, i32) if isinstance(e, Cast) and _are_bytes([e]) else None


def _are_bytes(args: Sequence[Expr]) -> bool:
    """Returns whether expressions are bytes of one type in single precision."""
    bodies = [e.body for e in args if isinstance(e, Cast) and e.dtype is f32]
    types = {e.dtype for e in bodies}
    return len(bodies) == len(args) and len(types) == 1 and all(t.is_integer and t.bits == 8 for t in types)


def _product_of(
    graph: KernelGraph, node: KernelNode, dequantized: Container[str], ranges: IntegerRanges
) -> _Product | None:
    products = list(summed_products(node.kernel.body))
    if len(products) != 1 or node.strips is not None or [e for e in walk(node.kernel.body) if isinstance(e, Fold)][1:]:
        return None
    ((fold, factors),) = products
    if fold.dtype is not f32:
        return None
    for left, factor in (factors, factors[::-1]):
        if isinstance(left, Access) and left.tensor.name in dequantized and is_stored(factor, graph.constants):
            right = _scaled(factor)
            if right is None or (right.scale is not None and not set(fold.over).isdisjoint(free(right.scale))):
                return None
            if _is_in_groups(left, factor, fold, node):
                return None
            terms = prod([n if isinstance(n, int) else MOST for n in [node.extents[i] for i in fold.over]])
            largest = LARGEST_TERM * terms * ranges.of(right.integers).magnitude
            return _Product(fold, left, right) if largest <= MOST else None
    return None


def _is_in_groups(left: Access, right: Expr, fold: Fold, node: KernelNode) -> bool:
    """Returns whether a sum has the channels of a group, as in a grouped convolution: such are multiplied as floats."""
    batch = {i for i in free(right) if i in free(left) and i not in fold.over}
    summed = {i for i in fold.over if node.extents[i] != 1}
    positions = [set(names(p)) for p in left.at if not isinstance(p, Expr)]
    return any(batch & used and summed & used for used in positions)


class _Replacement:
    """Makes nodes integers, with what reads them."""

    def __init__(self, graph: KernelGraph, names: Container[str]) -> None:
        self._graph = graph
        bodies = {name: _scaled(node.kernel.body) for name, node in graph.nodes.items() if name in names}
        self._scales = {name: scaled.scale for name, scaled in bodies.items() if scaled is not None}

    def apply(self, node: KernelNode, product: _Product | None) -> None:
        """Replaces a sum of products in a node, what it reads, and its result."""
        body = node.kernel.body
        if product is not None:
            body = self._with_integers(body, product)
        body = replace_accesses(body, self._read)
        if node.name in self._scales:
            scaled = _scaled(body)
            assert scaled is not None
            body = scaled.integers
            node.spec = TensorSpec(node.spec.shape, i32)
        self._graph.replace_kernel(node, Kernel(node.kernel.axes, body), node.extents)

    def _with_integers(self, body: Expr, product: _Product) -> Expr:
        left, right = product.left, product.right
        sums = Cast(Fold("add", product.fold.over, Apply("multiply", (_as_integers(left), right.integers))), f32)
        scales = [e for e in (self._scales[left.tensor.name], right.scale) if e is not None]
        result = sums if not scales else Apply("multiply", (sums, scales[0]))
        if len(scales) == 2:
            result = Apply("multiply", (sums, Apply("multiply", (scales[0], scales[1]))))
        return replace(body, {product.fold: result})

    def _read(self, a: Access) -> Expr:
        """Returns a read of a node as integers, in single precision again."""
        if a.tensor.name not in self._scales or a.dtype is not f32:
            return a
        scale, number = self._scales[a.tensor.name], Cast(_as_integers(a), f32)
        return number if scale is None else Apply("multiply", (number, replace_accesses(scale, self._read)))


def _as_integers(a: Access) -> Access:
    t = a.tensor
    return Access(Tensor(t.name, t.shape, i32, t.steps), a.at)
