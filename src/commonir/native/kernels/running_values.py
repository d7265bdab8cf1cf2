"""Running values: folds of all elements up to each position of an axis, computed in one pass along it.

`fold over k of select(k <= i, x[k], identity)` is the value of the position before, combined with one element. Such are
cumulative sums and products, in both directions, with the element itself or without. Updates have them along the
outermost index, such as the number of elements so far that are selected.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.tuples import NamedTuple
from commonir.notation import Apply, Const, Expr, Fold, Position, Update, free, identity, put, replace, walk
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel
from commonir.symbolic import Dim, index, plain


class RunningFold(NamedTuple):
    """A fold, and the element that it combines at a position; if `is_exclusive`, after the fold has been used there."""

    fold: Fold
    element: Expr
    is_exclusive: bool


class RunningValues(NamedTuple):
    """Folds along one axis, which is in steps from 0 on."""

    axis: str
    folds: tuple[RunningFold, ...]


class _Found(NamedTuple):
    axis: str
    fold: RunningFold
    is_reversed: bool


def with_running_values(kernel: LoopKernel) -> tuple[LoopKernel, RunningValues | None]:
    """Returns the running values of a kernel, and the kernel with their axis counted from where they begin."""
    found = [r for e in kernel.folds() if (r := _running(e, kernel.axes, kernel.extents)) is not None]
    if not found or len({(r.axis, r.is_reversed) for r in found}) > 1:
        return kernel, None
    axis = found[0].axis
    folds = [r.fold for r in found]
    if any(axis in free(e) and e not in [r.fold for r in folds] for e in kernel.folds()):
        return kernel, None
    if found[0].is_reversed:
        extent, at = kernel.extents[axis], kernel.axes.index(axis)
        step = kernel.steps[at]
        steps = (*kernel.steps[:at], 0 - step, *kernel.steps[at + 1 :])
        moved: dict[str, Dim] = {axis: extent - 1 - index(axis)}
        folds = [RunningFold(_moved(r.fold, moved), put(r.element, moved), r.is_exclusive) for r in folds]
        body = put(kernel.body, moved)
        kernel = LoopKernel(kernel.axes, steps, kernel.offset + (extent - 1) * step, body, kernel.extents)
    return kernel, RunningValues(axis, tuple(folds))


def running_updates(update: Update, extents: Mapping[str, Dim]) -> tuple[RunningFold, ...]:
    """Returns the running values of updates along their outermost index; none if there are other folds."""
    computed = [update.body, *[p for p in update.at if isinstance(p, Expr)]]
    folds = dict.fromkeys([e for x in computed for e in walk(x) if isinstance(e, Fold)])
    found = [r for e in folds if (r := _running(e, update.over[:1], extents)) is not None and not r.is_reversed]
    is_running = len(found) == len(folds) and all(set(free(r.fold.element)) <= {r.axis} for r in found)
    return tuple([r.fold for r in found]) if is_running else ()


def _moved(e: Fold, moved: Mapping[str, Dim]) -> Fold:
    result = put(e, moved)
    assert isinstance(result, Fold)
    return result


def _running(e: Fold, axes: tuple[str, ...], extents: Mapping[str, Dim]) -> _Found | None:
    """Returns a fold over positions on one side of an index; None for others."""
    match e.body:
        case Apply(fn="select", args=(Apply(fn=fn, args=(Position(at=a), Position(at=b))), x, Const(value=value))):
            pass
        case _:
            return None
    if fn not in ("less", "less_equal") or len(e.over) != 1 or value != identity(e.fn, e.dtype):
        return None
    (k,) = e.over
    first, last = plain(a), plain(b)
    axis = last if first == k else first
    if k not in (first, last) or axis not in axes or axis in free(x):
        return None
    if extents[axis] != extents[k]:
        return None
    element = put(x, {k: index(axis)})
    return _Found(axis, RunningFold(e, element, fn == "less"), first == axis)


def elements_of(kernel: LoopKernel, running: RunningValues) -> LoopKernel:
    """Returns the kernel with the elements in place of running values: its reads are those of a pass."""
    return kernel._replace(body=replace(kernel.body, {r.fold: r.element for r in running.folds}))
