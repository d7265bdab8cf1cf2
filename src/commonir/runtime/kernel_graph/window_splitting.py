"""Splits the largest or smallest elements of windows: those of the columns of a window first, which neighbours share.

A window of 5 x 5 takes 5 elements and then 5 of these results, in place of 25 elements.
"""

from __future__ import annotations

from itertools import count

from commonir.base.tuples import NamedTuple
from commonir.notation import Access, Expr, Fold, Kernel, Padded, Tensor, free, replace, walk
from commonir.runtime.kernel_graph.graph import KernelGraph, KernelNode, TensorSpec
from commonir.symbolic import Dim, index, names

WORTH = 2
"""How many times as many elements a window must have as its columns and rows together: results are stored between."""

_COLUMN = "column"


class _Window(NamedTuple):
    """A fold that is split: its access, the index and axis of its rows, and those of its columns."""

    access: Access
    row: str
    column: str
    axis: int


def split_windows(graph: KernelGraph) -> None:
    """Splits the folds of all nodes over windows that are large enough."""
    for node in list(graph.nodes.values()):
        for e in [e for e in walk(node.kernel.body) if isinstance(e, Fold)]:
            window = _window(e, node)
            if window is not None:
                _split(graph, node, e, window)


def _window(e: Fold, node: KernelNode) -> _Window | None:
    """Returns the window of a fold that is worth splitting; its results do not depend on the order of elements."""
    access, extents = e.body, node.extents
    if e.fn not in ("maximum", "minimum") or not isinstance(access, Access) or len(e.over) != 2:
        return None
    row, column = e.over
    height, width = extents[row], extents[column]
    axes = {i for a in node.kernel.axes for i in names(a)}
    if not isinstance(height, int) or not isinstance(width, int) or height * width < WORTH * (height + width):
        return None
    if not set(free(e)) <= axes or _COLUMN in extents or not _is_plain(access.tensor):
        return None
    of_axes = [None if isinstance(p, Expr) else set(names(p)) for p in access.at]
    if not all(indices is not None and len(indices - set(e.over)) == 1 for indices in of_axes):
        return None
    with_row, with_column = [[n for n, i in enumerate(of_axes) if i and k in i] for k in e.over]
    if len(with_row) != 1 or len(with_column) != 1 or with_row == with_column:
        return None
    return _Window(access, row, column, with_column[0])


def _is_plain(tensor: Tensor) -> bool:
    """Returns whether a tensor has no views but one that continues it by a number."""
    return all(isinstance(v, Padded) and v.mode == "constant" for v, _ in tensor.steps) and len(tensor.steps) < 2


def _split(graph: KernelGraph, node: KernelNode, e: Fold, window: _Window) -> None:
    """Adds a node that folds the rows of windows in every column, and lets the fold read it."""
    access, axis = window.access, window.axis
    name = next(n for n in (f"{node.name} columns {k}" for k in count()) if n not in graph.nodes)
    extents: dict[str, Dim] = {**node.extents, _COLUMN: access.tensor.source.shape[axis]}
    indices = [next(i for i in names(p) if i not in e.over) for p in access.at if not isinstance(p, Expr)]
    indices[axis] = _COLUMN
    at = [index(_COLUMN) if n == axis else p for n, p in enumerate(access.at)]
    columns = Fold(e.fn, (window.row,), _continued(access.tensor.source, access.tensor, axis, across=True)[at])
    spec = TensorSpec(tuple([extents[i] for i in indices]), columns.dtype)
    of_node = {i: extents[i] for i in (*indices, window.row)}
    kernel = Kernel(tuple(map(index, indices)), columns)
    graph.add_before(node, KernelNode(name, kernel, of_node, spec, node.origins))

    at = [p if n == axis else index(i) for n, (i, p) in enumerate(zip(indices, access.at, strict=True))]
    read = _continued(Tensor(name, spec.shape, spec.element), access.tensor, axis, across=False)[at]
    body = replace(node.kernel.body, {e: Fold(e.fn, (window.column,), read)})
    is_used = any(isinstance(f, Fold) and window.row in f.over for f in walk(body))
    left = {i: n for i, n in node.extents.items() if is_used or i != window.row}
    graph.replace_kernel(node, Kernel(node.kernel.axes, body), left)


def _continued(tensor: Tensor, like: Tensor, axis: int, *, across: bool) -> Tensor:
    """Returns a tensor continued as another one is: on one axis, or on those across it."""
    for view, _ in like.steps:
        assert isinstance(view, Padded)
        before, after = [
            [0 if (n == axis) == across else size for n, size in enumerate(counts)]
            for counts in (view.before, view.after)
        ]
        tensor = tensor.padded(before, after, view.mode, view.fill)
    return tensor
