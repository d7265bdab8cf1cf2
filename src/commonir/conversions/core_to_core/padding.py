"""Padding that repeats elements, for dialects that pad with a number only: parts of a tensor laid against it."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.operands import dims_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.symbolic import Dim, ceil_div


def continued(x: Value, mode: core.PadMode, before: Sequence[int], after: Sequence[int]) -> Value:
    """A tensor continued at both sides of each axis as a mode other than `CONSTANT` says; negative amounts cut.

    Raises: DiagnosticError (E0601) when a size is unknown.
    """
    for axis, (low, high) in enumerate(zip(before, after, strict=True)):
        if low or high:
            x = _along(x, axis, mode, low, high)
    return x


def _along(x: Value, axis: int, mode: core.PadMode, low: int, high: int) -> Value:
    dim = dims_of(x)[axis]
    if mode is core.PadMode.WRAP:
        ahead = ceil_div(max(low, 0), dim)
        whole = _repeated(x, axis, ahead + 1 + ceil_div(max(high, 0), dim))
        start = ahead * dim - low
        return _section(whole, axis, start, start + low + dim + high)
    pieces = [_section(x, axis, max(-low, 0), dim + min(high, 0))]
    if low > 0:
        pieces.insert(0, _beyond(x, axis, mode, low, 0))
    if high > 0:
        pieces.append(_beyond(x, axis, mode, high, dim - 1))
    return core.concat(tuple(pieces), axis) if len(pieces) > 1 else pieces[0]


def _beyond(x: Value, axis: int, mode: core.PadMode, count: int, edge: Dim) -> Value:
    """Returns the padding beyond an edge: the edge element repeated, or the inner elements mirrored."""
    if mode is core.PadMode.EDGE:
        return _repeated(_section(x, axis, edge, edge + 1), axis, count)
    start = 1 if edge == 0 else edge - count
    return core.reverse(_section(x, axis, start, start + count), (axis,))


def _section(x: Value, axis: int, start: Dim, stop: Dim) -> Value:
    """The elements between two positions along an axis."""
    shape = dims_of(x)
    if start == 0 and stop == shape[axis]:
        return x
    starts = [start if n == axis else 0 for n in range(len(shape))]
    stops = [stop if n == axis else d for n, d in enumerate(shape)]
    return core.slice(x, tuple(starts), tuple(stops), (1,) * len(shape))


def _repeated(x: Value, axis: int, count: Dim) -> Value:
    return core.tile(x, tuple([count if n == axis else 1 for n in range(len(dims_of(x)))]))
