"""Layouts of numbers that lie in memory as bfloat16: those that only products of such numbers read.

Left factors are converted once, where they are computed, and read where they lie. A computed right factor is copied as
pairs of neighbouring terms, as constants are packed: in attention, those are keys and values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.types import bf16, f32
from commonir.llvm.target import Target
from commonir.native.kernels.strip_code import layouts_of_parts
from commonir.native.products.contraction_plan import ordered_factors, plans_of
from commonir.native.products.pair_products import LEAST_TERMS, multiplies_in_place, multiplies_pairs, uses_pairs
from commonir.native.products.winograd_code import winograd_plan
from commonir.notation import Access, Apply, Expr, Fold, Join, Kernel, Tensor, free, index, put, reading, replace
from commonir.runtime.kernel_graph.contraction import summed_products
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, Origin, TensorSpec, copying_node, known_count
from commonir.runtime.kernel_graph.layouts import MemoryLayout, layout_of
from commonir.symbolic import Dim, floor_div, names, plain, symbols

LEAST_ROWS = 16
"""Rows from which on copying a computed right factor costs less than it saves."""

LEAST_COLUMNS = 16
"""Columns that are copied as vectors."""


class _KernelPlace(NamedTuple):
    """A node, or a part of one that is computed in strips, with the layouts of its result and of what it reads."""

    node: KernelNode
    part: KernelNode
    layout: MemoryLayout
    layouts: Mapping[str, MemoryLayout]


class _Product(NamedTuple):
    """The only sum of products of a kernel, its factors, and its last axis in memory, which only the right one has."""

    fold: Fold
    left: Access
    right: Access
    column: str


class _CopyNames:
    """Names of copies that several nodes of a graph read. Other graphs may copy the same tensor under other names."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def name_for(self, place: _KernelPlace, copy: str) -> str:
        """Returns the name of a copy, which is named after the first node that reads it."""
        return self._names.setdefault(copy, f"{copy} for {place.node.name}")


def use_narrow_numbers(graph: KernelGraph, layouts: dict[str, MemoryLayout], target: Target) -> None:
    """Changes the layouts of nodes that can lie as bfloat16, where products of such numbers are asked for."""
    if not multiplies_pairs(target):
        return
    copies, copy_names = set[str](), _CopyNames()
    for node in list(graph.nodes.values()):
        for n in range(len(_places(node, layouts))):
            copies.update(_copy_right_factor(graph, layouts, _places(node, layouts)[n], target, copy_names))
    places = [place for node in graph.nodes.values() for place in _places(node, layouts)]
    lefts = {id(place.part): _left_in_place(graph, place, target) for place in places}
    others: set[str] = set()
    for place in places:
        if place.node.name not in copies:
            # What a strip computes for itself may be rounded for all of its parts.
            read = [a for a in place.part.accesses if a.tensor.name in layouts]
            others.update([a.tensor.name for a in read if a != lefts[id(place.part)]])
    wanted = {left.tensor.name for left in lefts.values() if left is not None}
    for name in wanted - others:
        _narrow(graph, layouts, name)
    places = [p for node in list(graph.nodes.values()) for p in _places(node, layouts)]
    found = [(place, left) for place in places if (left := _left_in_place(graph, place, target)) is not None]
    readers = Counter(left.tensor.name for _, left in found)
    for place, left in found:
        is_shared = readers[left.tensor.name] > 1
        if not place.layouts[left.tensor.name].is_narrow and (is_shared or not _narrows_rows(graph, place, target)):
            _copy_left_factor(graph, layouts, place, left, copy_names)


def _places(node: KernelNode, layouts: Mapping[str, MemoryLayout]) -> list[_KernelPlace]:
    layout, strips = layouts[node.name], node.strips
    if strips is None:
        return [_KernelPlace(node, node, layout, layouts)]
    of_parts = layouts_of_parts(layout, strips)
    everything = {**layouts, **{p.name: own for p, own in zip(strips.parts, of_parts, strict=True)}}
    return [_KernelPlace(node, p, own, everything) for p, own in zip(strips.parts, of_parts, strict=True)]


def _product_of(place: _KernelPlace) -> _Product | None:
    part, found = place.part, list(summed_products(place.part.kernel.body))
    axes = [plain(part.kernel.axes[n]) for n in place.layout.order if part.spec.shape[n] != 1]
    if len(found) != 1 or not axes or axes[-1] is None:
        return None
    ((fold, factors),) = found
    left, right = ordered_factors(factors, axes[-1])
    is_single = fold.dtype is f32 and left.dtype is f32 and right.dtype is f32
    if not is_single or not isinstance(left, Access) or not isinstance(right, Access):
        return None
    return _Product(fold, left, right, axes[-1])


def _left_in_place(graph: KernelGraph, place: _KernelPlace, target: Target) -> Access | None:
    """Returns the left factor of the products of a kernel, if that can be read where it lies as bfloat16."""
    product = _product_of(place)
    if product is None or product.left.tensor.name in graph.constants:
        return None
    plans = plans_of(place.part, place.layout, place.layouts, graph.constants, target)
    for plan in plans:
        if plan is None or plan.left.name != product.left.tensor.name:
            return None
        is_constant = plan.right.name in graph.constants
        if is_constant and winograd_plan(plan, target) is not None:
            return None
        if not is_constant and not place.layouts[plan.right.name].is_narrow:
            return None
        if not multiplies_in_place(plan, is_constant=is_constant):
            return None
    return product.left


# -- right factors


def _copy_right_factor(
    graph: KernelGraph,
    layouts: dict[str, MemoryLayout],
    place: _KernelPlace,
    target: Target,
    copy_names: _CopyNames,
) -> list[str]:
    """Copies a computed right factor as pairs of terms; returns the name of the copy, if there is one."""
    product = _product_of(place)
    if product is None or {product.left.tensor.name, product.right.tensor.name} & graph.constants.keys():
        return []
    found = _pairs_of(product, place, copy_names)
    if found is None:
        return []
    copy, changed = found
    layout = layout_of(copy.spec.shape)._replace(is_narrow=True)
    trial = place._replace(part=changed, layouts={**place.layouts, copy.name: layout})
    if _left_in_place(graph, trial, target) is None:
        return []
    if copy.name not in graph.nodes:
        graph.add_before(place.node, copy)
        layouts[copy.name] = layout
    _replace_part(graph, place, changed)
    return [copy.name]


def _pairs_of(product: _Product, place: _KernelPlace, copy_names: _CopyNames) -> tuple[KernelNode, KernelNode] | None:
    """Returns a copy of the right factor's tensor as pairs of neighbouring terms, and the kernel that reads it."""
    fold, left, right, column = product
    extents, tensor = place.part.extents, right.tensor
    if len(fold.over) != 1 or tensor.steps:
        return None
    (term,) = fold.over
    terms, columns = extents[term], extents[column]
    if not isinstance(terms, int) or not isinstance(columns, int) or terms % 2:
        return None
    positions = [p for p in right.at if not isinstance(p, Expr)]
    rows = _row_count(place, left, right, positions)
    if terms < LEAST_TERMS or columns < LEAST_COLUMNS or rows < LEAST_ROWS:
        return None
    along = [n for n, p in enumerate(positions) if term in names(p)]
    across = [n for n, p in enumerate(positions) if column in names(p)]
    if len(positions) < len(right.at) or len(along) != 1 or len(across) != 1 or along == across:
        return None
    (a,), (c,) = along, across
    first = positions[a] - index(term)
    size = tensor.shape[a]
    left_column, width = positions[c] - index(column), tensor.shape[c]
    is_even = isinstance(size, int) and size % 2 == 0 and _divides(2, first)
    is_group = isinstance(width, int) and width % columns == 0 and _divides(columns, left_column)
    if not is_even or not is_group or {term, column}.intersection(names(first + left_column)):
        return None
    assert isinstance(size, int)
    assert isinstance(width, int)
    pair, half = f"{term} pair", f"{term} half"
    others = [n for n in range(len(positions)) if n not in (a, c)]
    # The columns that are read together lie in as few pages of memory as they can.
    shape = (*[tensor.shape[n] for n in others], width // columns, size // 2, columns, 2)
    axes = [f"i{n}" for n in range(len(shape))]
    *outer, of_group, of_pair, of_column, of_half = map(index, axes)
    at: list[Dim] = [0] * len(positions)
    for n, i in zip(others, outer, strict=True):
        at[n] = i
    at[a], at[c] = 2 * of_pair + of_half, columns * of_group + of_column
    spec = TensorSpec(shape, f32)
    copy = KernelNode(
        copy_names.name_for(place, f"{tensor.name} in pairs along {a} and {columns} of {c}"),
        Kernel(tuple(map(index, axes)), Access(tensor, at)),
        dict(zip(axes, shape, strict=True)),
        spec,
        (Origin("copy"),),
    )
    pairs = Tensor(copy.name, shape, f32)
    group, place_of_pair = floor_div(left_column, columns), floor_div(first, 2) + index(pair)
    read = Access(pairs, [*[positions[n] for n in others], group, place_of_pair, index(column), index(half)])
    moved = put(left, {term: 2 * index(pair) + index(half)})
    products = Fold("add", (pair, half), Apply("multiply", (moved, read)))
    body = replace(place.part.kernel.body, {fold: products})
    own = {**{i: n for i, n in extents.items() if i != term}, pair: terms // 2, half: 2}
    return copy, _with_kernel(place.part, Kernel(place.part.kernel.axes, body), own)


def _row_count(place: _KernelPlace, left: Access, right: Access, positions: Sequence[Dim]) -> int:
    """Returns the number of rows that are multiplied with the same columns, in all strips."""
    strips = place.node.strips
    if strips is None:
        return known_count([place.part.extents[i] for i in free(left) if i not in free(right)])
    known = {s for p in positions for s in symbols(p)}
    return known_count([a.extent for a in strips.axes if a.first not in known])


def _divides(number: int, position: Dim) -> bool:
    """Returns whether a position is a multiple of a number for all values of the indices."""
    return floor_div(position, number) * number == position


def _with_kernel(part: KernelNode, kernel: Kernel, extents: Mapping[str, Dim]) -> KernelNode:
    return KernelNode(part.name, kernel, extents, part.spec, part.origins)


def _replace_part(graph: KernelGraph, place: _KernelPlace, part: KernelNode) -> None:
    """Gives a node, or the part of one, another kernel."""
    strips = place.node.strips
    if strips is None:
        graph.replace_kernel(place.node, part.kernel, part.extents)
        return
    parts = tuple([part if p is place.part else p for p in strips.parts])
    graph.replace_by_strips(place.node, strips._replace(parts=parts))


# -- left factors


def _narrow(graph: KernelGraph, layouts: dict[str, MemoryLayout], name: str) -> None:
    """Lets a node or a part of one lie as bfloat16, if nothing else sees it."""
    node = graph.nodes.get(name)
    if node is None:
        _narrow_part(graph, name)
        return
    is_own = name not in graph.outputs and name not in graph.written and name not in graph.wholes and not node.is_update
    if is_own and node.spec.element in (f32, bf16) and not isinstance(node.kernel.body, Join):
        layouts[name] = layouts[name]._replace(is_narrow=True)


def _narrow_part(graph: KernelGraph, name: str) -> None:
    for node in graph.nodes.values():
        strips = node.strips
        if strips is None:
            continue
        inner = list(strips.inner)
        for n, part in enumerate(strips.parts[:-1]):
            if part.name == name and part.spec.element in (f32, bf16):
                inner[n] = inner[n]._replace(is_narrow=True)
        node.strips = strips._replace(inner=tuple(inner))


def _narrows_rows(graph: KernelGraph, place: _KernelPlace, target: Target) -> bool:
    """Returns whether products narrow the rows of their left factor themselves, no element more than once.

    Strips of some columns would narrow it for each of them.
    """
    for plan in plans_of(place.part, place.layout, place.layouts, graph.constants, target):
        if plan is None or plan.right.name not in graph.constants or not uses_pairs(plan, target):
            return False
        elements = known_count(graph.spec(plan.left.name).shape)
        if known_count(map(plan.extent, (*plan.rows, *plan.sums))) > elements or plan.first_column != 0:
            return False
    return True


def _copy_left_factor(
    graph: KernelGraph, layouts: dict[str, MemoryLayout], place: _KernelPlace, left: Access, copy_names: _CopyNames
) -> None:
    """Copies the left factor of products as bfloat16. What else the kernel reads of the tensor is not rounded."""
    source = left.tensor.name
    name = copy_names.name_for(place, f"{source} as bfloat16")
    if name not in graph.nodes:
        graph.add_before(place.node, copying_node(name, source, graph.spec(source)))
        before = layouts[source]
        layouts[name] = layout_of(graph.spec(source).shape, before.order, before.border)._replace(is_narrow=True)
    body = replace(place.part.kernel.body, {left: reading(left, {source: name})})
    _replace_part(graph, place, _with_kernel(place.part, Kernel(place.part.kernel.axes, body), place.part.extents))
