"""Kernels that read stretched tensors, such as transposed convolutions, as one kernel for each residue of a position.

Of a tensor with zeros between its elements, a fold reads an element only where a position is divisible by the stretch.
For one residue of an axis these are all values of the folded index in an arithmetic progression, so the fold runs over
fewer values, without a condition. Where the folds of all residues have equally many values at equal distances, residues
are an axis of one kernel.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.tuples import NamedTuple
from commonir.notation import Fold, Guard, Visit, mapped, put, walk, with_children
from commonir.notation.expressions import Expr
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel, read_of
from commonir.symbolic import Dim, floor_div, index, linear_in, names

MAX_RESIDUES = 64
"""The most residues of one axis that become kernels of their own."""


class _Stretch(NamedTuple):
    """A condition that `axis + factor * folded + rest` is divisible by `by`; without a folded index the factor is 0."""

    axis: str
    folded: str
    factor: int
    rest: int
    by: int


def split_residues(kernel: LoopKernel) -> list[LoopKernel]:
    """Returns a kernel as one for each residue of the axes along which it reads stretched tensors."""
    stretch = _stretch_of(kernel)
    if stretch is None:
        return [kernel]
    return [part for r in range(stretch.by) for part in split_residues(_of_residue(kernel, stretch, r))]


def with_residue_axes(kernel: LoopKernel) -> LoopKernel | None:
    """Returns a kernel that reads stretched tensors with the residues as axes; None if it reads none, or residues
    differ in more than where they read and write.
    """
    stretch = _stretch_of(kernel)
    if stretch is None:
        return None
    result = _with_axis(kernel, stretch)
    if result is None or _stretch_of(result) is None:
        return result
    return with_residue_axes(result)


def _with_axis(kernel: LoopKernel, s: _Stretch) -> LoopKernel | None:
    """Returns a kernel with the residues of the positions along an axis as another axis."""
    extent = kernel.extents[s.axis]
    taps = _taps(kernel, s)
    starts = [of_residue[:1] for of_residue in taps]
    if not isinstance(extent, int) or extent % s.by or not all(starts):
        return None
    (first,), (second,) = starts[:2]
    if any(t != [k + (second - first) * r for k in taps[0]] for r, t in enumerate(taps)):
        return None
    step = taps[0][1] - first if len(taps[0]) > 1 else 1
    name = f"{s.axis} residue"
    residue = index(name)
    extents = {**kernel.extents, s.axis: extent // s.by, name: s.by, s.folded: len(taps[0])}
    body = put(kernel.body, {s.axis: index(s.axis) * s.by + residue})
    body = _with_folded(body, s.folded, index(s.folded) * step + first + residue * (second - first))
    at = kernel.axes.index(s.axis)
    axes = (*kernel.axes[: at + 1], name, *kernel.axes[at + 1 :])
    steps = (*kernel.steps[:at], kernel.steps[at] * s.by, *kernel.steps[at:])
    return LoopKernel(axes, steps, kernel.offset, body, extents)


def _taps(kernel: LoopKernel, s: _Stretch) -> list[list[int]]:
    """Returns the values of the folded index for each residue; none without such an index."""
    count = kernel.extents[s.folded] if s.folded else 0
    assert isinstance(count, int)
    return [[k for k in range(count) if (r + s.factor * k + s.rest) % s.by == 0] for r in range(s.by)]


def _stretch_of(kernel: LoopKernel) -> _Stretch | None:
    folded = {i: e for e in walk(kernel.body) if isinstance(e, Fold) for i in e.over}
    for a in kernel.accesses():
        for g in read_of(a, {}, kernel.extents).guards:
            found = _stretch_of_guard(g, kernel, folded)
            if found is not None:
                return found
    return None


def _stretch_of_guard(g: Guard, kernel: LoopKernel, folded: Mapping[str, Fold]) -> _Stretch | None:
    used = names(g.position)
    axes, summed = [i for i in used if i in kernel.axes], [i for i in used if i in folded]
    if g.kind != "divides" or not isinstance(g.bound, int) or not 1 < g.bound <= MAX_RESIDUES:
        return None
    if len(axes) != 1 or len(summed) > 1 or len(used) != len(axes) + len(summed):
        return None
    step, rest = linear_in(g.position, axes[0])
    factor: Dim | None = 0
    if summed:
        factor, rest = linear_in(rest, summed[0])
    if step != 1 or not isinstance(factor, int) or not isinstance(rest, int):
        return None
    if summed and not isinstance(kernel.extents[summed[0]], int):
        return None
    return _Stretch(axes[0], summed[0] if summed else "", factor, rest, g.bound)


def _of_residue(kernel: LoopKernel, s: _Stretch, residue: int) -> LoopKernel:
    """Returns the kernel of the elements whose position along an axis has a residue."""
    extents = dict(kernel.extents)
    extents[s.axis] = floor_div(extents[s.axis] - residue + s.by - 1, s.by)
    body = put(kernel.body, {s.axis: index(s.axis) * s.by + residue})
    if s.folded:
        taps = _taps(kernel, s)[residue]
        step = taps[1] - taps[0] if len(taps) > 1 else 1
        extents[s.folded] = len(taps)
        body = _with_folded(body, s.folded, index(s.folded) * step + (taps[0] if taps else 0))
    at = kernel.axes.index(s.axis)
    steps = (*kernel.steps[:at], kernel.steps[at] * s.by, *kernel.steps[at + 1 :])
    return LoopKernel(kernel.axes, steps, kernel.offset + kernel.steps[at] * residue, body, extents)


def _with_folded(e: Expr, name: str, value: Dim) -> Expr:
    """Returns an expression whose folds over an index take other values of it."""

    def taken(x: Expr, visit: Visit) -> Expr:
        if isinstance(x, Fold) and name in x.over:
            # The body is not inside the fold while its index is replaced.
            return Fold(x.fn, x.over, put(x.body, {name: value}))
        return with_children(x, visit)

    return mapped(e, taken)
