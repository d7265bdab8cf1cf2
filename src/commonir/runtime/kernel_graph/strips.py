"""Chains that are computed for some rows at a time, so that large values between two products stay in the cache.

Attention is such a chain: a product of queries and keys, a function of its rows, and a product of that with values.
Where what lies between is larger than the caches, it is computed for a strip of rows of one head at a time, and the
next strip takes its memory. Nothing here knows attention: a chain is two contractions of computed values and a kernel
that reads the first one along whole rows. Weights would be read again for every strip.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.ir.types import f32
from commonir.notation import Access, Expr, Fold, Kernel, Tensor, free, index, put, replace_accesses
from commonir.runtime.kernel_graph.contraction import contraction_of
from commonir.runtime.kernel_graph.fusing import is_at_axis
from commonir.runtime.kernel_graph.graph import (
    InnerPart,
    KernelGraph,
    KernelNode,
    Origin,
    StripAxis,
    Strips,
    TensorSpec,
    known_count,
)
from commonir.runtime.kernel_graph.layouts import MemoryLayout, layout_of
from commonir.runtime.kernel_graph.running_maximum import (
    BLOCK_ROWS,
    block_columns,
    compute_long_softmax_within,
    in_blocks,
)
from commonir.symbolic import Dim, plain, symbol

LARGE_BYTES = 4 << 20
"""Bytes of a value between two contractions from which on strips pay."""

STRIP_BYTES = 150 << 10
"""Bytes of a strip: one before and one after the function of rows fit the second-level cache beside the factors."""

ROW_MULTIPLE = 8
"""Strips have a multiple of so many rows, which most tiles divide."""

FIRST_ROW = "strip row"
"""The symbol of the first row of a strip; those of the axes before are `outer_symbol`."""


def outer_symbol(axis: int) -> str:
    """Returns the symbol of the position on an axis before the rows."""
    return f"strip {axis}"


def even_part(count: int, most: int, multiple: int = 1) -> int:
    """Returns how many of all are a part, so that as few parts as with `most` are about equal.

    It is a multiple of a number if there are as many.
    """
    even = -(-count // -(-count // max(most, 1)))
    return min(-(-even // multiple) * multiple, count)


class _Chain:
    """Two contractions with a function of rows between them, and the axes of the last one that are those before."""

    def __init__(self, first: KernelNode, middle: KernelNode, last: KernelNode, axes: Sequence[str]) -> None:
        self.first = first
        self.middle = middle
        self.last = last
        self.axes = axes


def use_strips(graph: KernelGraph, layouts: dict[str, MemoryLayout]) -> None:
    """Computes large chains in strips. Layouts of new nodes are added."""
    for node in list(graph.nodes.values()):
        chain = _chain_of(graph, node) if node.name in graph.nodes and layouts[node.name].has_known_steps else None
        if chain is not None:
            _with_neighbouring_columns(graph, layouts, chain.first)
            graph.replace_by_strips(node, _strips_of(chain))


def _chain_of(graph: KernelGraph, last: KernelNode) -> _Chain | None:
    found = contraction_of(last, graph.constants)
    if found is None:
        return None
    for factor, other in ((found.left, found.right), (found.right, found.left)):
        middle = graph.nodes.get(factor.tensor.name)
        if middle is None or not _is_inner(graph, middle, last) or other.tensor.name in graph.constants:
            continue
        axes = _axes_of_rows(factor, other, found.fold, last)
        if axes is None:
            continue
        compute_long_softmax_within(graph, middle)
        first = _read_by_rows(graph, middle)
        if first is not None and _is_large(first.spec):
            return _Chain(first, middle, last, axes)
    return None


def _is_inner(graph: KernelGraph, node: KernelNode, reader: KernelNode) -> bool:
    return graph.users(node.name) == [reader.name] and node.name not in graph.outputs and node.strips is None


def _axes_of_rows(factor: Access, opposite: Access, fold: Fold, last: KernelNode) -> tuple[str, ...] | None:
    """Returns the axes of a contraction that a factor is read along, if its last axis is the one that is summed."""
    if factor.tensor.steps or len(factor.at) < 2:
        return None
    *before, summed = _positions(factor)
    axes = tuple([i for i in before if i is not None])
    own = [i for i in _long_axes(last) if i not in axes]
    if fold.over != (summed,) or not axes or before[-1] is None or len(own) != 1 or axes[-1] in free(opposite):
        return None
    is_known = all(i in _long_axes(last) for i in axes) and len(set(axes)) == len(axes)
    at_zero = all(i is not None or size == 1 for i, size in zip(before, factor.tensor.shape, strict=False))
    return axes if is_known and at_zero else None


def _positions(a: Access) -> list[str | None]:
    """Returns the indices that are positions of a read as they are; None for other positions."""
    return [None if isinstance(p, Expr) else plain(p) for p in a.at]


def _long_axes(node: KernelNode) -> list[str]:
    """Returns the names of the axes of a kernel that have more than one position."""
    axes = zip(node.kernel.axes, node.spec.shape, strict=True)
    return [name for a, size in axes if size != 1 and (name := plain(a)) is not None]


def _read_by_rows(graph: KernelGraph, middle: KernelNode) -> KernelNode | None:
    """Returns the contraction that a node reads at its own row only."""
    if contraction_of(middle, graph.constants) is not None:
        return None
    for name in middle.reads:
        first = graph.nodes.get(name)
        if first is None or not _is_inner(graph, first, middle) or not _multiplies_values(graph, first):
            continue
        reads = [a for a in middle.accesses if a.tensor.name == name]
        if first.spec.shape == middle.spec.shape and all(_is_own_row(a, middle) for a in reads):
            return first
    return None


def _multiplies_values(graph: KernelGraph, node: KernelNode) -> bool:
    """Returns whether a node is a contraction of two computed values."""
    found = contraction_of(node, graph.constants)
    return found is not None and not {found.left.tensor.name, found.right.tensor.name} & graph.constants.keys()


def _is_own_row(a: Access, node: KernelNode) -> bool:
    if a.tensor.steps or isinstance(a.at[-1], Expr):
        return False
    return all(is_at_axis(*place) for place in zip(a.at[:-1], node.kernel.axes, node.spec.shape, strict=False))


def _is_large(spec: TensorSpec) -> bool:
    sizes = [d for d in spec.shape[-2:] if isinstance(d, int)]
    size = known_count(spec.shape) * spec.element.bits // 8
    return len(sizes) == 2 and size >= LARGE_BYTES and sizes[0] >= ROW_MULTIPLE


def _with_neighbouring_columns(graph: KernelGraph, layouts: dict[str, MemoryLayout], node: KernelNode) -> None:
    """Copies the factor of a contraction that has its columns, if these are not neighbours: each strip reads it all."""
    found = contraction_of(node, graph.constants)
    assert found is not None
    *before, column = _long_axes(node)
    factor = found.left if column in free(found.left) else found.right
    name = factor.tensor.name
    if name in graph.constants or _strides_by_one(factor, column, layouts[name]):
        return
    axes = [i for i in (*before, *found.fold.over) if i in free(factor)] + [column]
    shape = tuple([node.extents[i] for i in axes])
    kernel = Kernel(tuple([index(i) for i in axes]), factor)
    copy = KernelNode(
        f"{name} for {node.name}",
        kernel,
        dict(zip(axes, shape, strict=True)),
        TensorSpec(shape, factor.dtype),
        (Origin("copy"),),
    )
    graph.add_before(node, copy)
    layouts[copy.name] = layout_of(shape)
    read = Tensor(copy.name, shape, factor.dtype)[kernel.axes]
    body = replace_accesses(node.kernel.body, lambda a: read if a == factor else a)
    graph.replace_kernel(node, Kernel(node.kernel.axes, body), node.extents)


def _strides_by_one(a: Access, column: str, layout: MemoryLayout) -> bool:
    if a.tensor.steps:
        return False
    return any(
        not isinstance(p, Expr) and plain(p) == column and step == 1
        for p, step in zip(a.at, layout.strides, strict=True)
    )


def _strips_of(chain: _Chain) -> Strips:
    """Returns the parts of a chain for a strip: its rows are the first axis of each."""
    *outer, count, columns = [d for d in chain.first.spec.shape if d != 1]
    assert isinstance(count, int)
    assert isinstance(columns, int)
    item = chain.first.spec.element.bits // 8
    size = block_columns(chain.middle) if chain.first.spec.element is f32 else None
    most = STRIP_BYTES // (columns * item) if size is None else BLOCK_ROWS
    rows = even_part(count, max(most, ROW_MULTIPLE), ROW_MULTIPLE)
    first = _part(chain.first, _long_axes(chain.first)[:-1], rows, None)
    middle = _part(chain.middle, _long_axes(chain.middle)[:-1], rows, (chain.first.name, first))
    last = _part(chain.last, chain.axes, rows, (chain.middle.name, middle))
    (column,) = [i for i in _long_axes(chain.last) if i not in chain.axes]
    names = [plain(a) for a in chain.last.kernel.axes]
    *outer_axes, row_axis, column_axis = [names.index(i) for i in (*chain.axes, column)]
    axes = [
        StripAxis(axis, size, 1, outer_symbol(n)) for n, (axis, size) in enumerate(zip(outer_axes, outer, strict=True))
    ]
    axes.append(StripAxis(row_axis, count, rows, FIRST_ROW))
    parts, blocks = (first, middle, last), None
    if size is not None:
        parts, blocks = in_blocks(first, middle, last, chain.axes[-1], size)
    inner, kept = (InnerPart(),) * (len(parts) - 1), tuple(sorted((row_axis, column_axis)))
    return Strips(tuple(axes), parts, inner, kept, blocks=blocks)


def _part(node: KernelNode, axes: Sequence[str], rows: int, inner: tuple[str, KernelNode] | None) -> KernelNode:
    """Returns the kernel of a node for a strip. `axes` are those before its columns; `inner` is the part it reads."""
    row = axes[-1]
    kept = [n for n, i in enumerate(map(plain, node.kernel.axes)) if i in _long_axes(node) and i not in axes[:-1]]
    ones = [i for i in map(plain, node.kernel.axes) if i is not None and i not in _long_axes(node)]
    values: dict[str, Dim] = {i: symbol(outer_symbol(n), 0) for n, i in enumerate(axes[:-1])}
    values.update(dict.fromkeys(ones, 0))
    values[row] = index(row) + symbol(FIRST_ROW, 0)
    body = put(node.kernel.body, values)
    if inner is not None:
        name, part = inner
        strip = Tensor(part.name, part.spec.shape, part.spec.element)

        def moved(a: Access) -> Expr:
            return a if a.tensor.name != name else Access(strip, (index(row), a.at[-1]))

        body = replace_accesses(body, moved)
    shape = tuple([rows if plain(node.kernel.axes[n]) == row else node.spec.shape[n] for n in kept])
    extents = {i: rows if i == row else d for i, d in node.extents.items() if i == row or i not in values}
    kernel = Kernel(tuple([node.kernel.axes[n] for n in kept]), body)
    return KernelNode(f"{node.name} strip", kernel, extents, TensorSpec(shape, node.spec.element), node.origins)
