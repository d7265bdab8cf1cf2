"""Transposed convolutions as convolutions, for targets that have only these."""

from __future__ import annotations

from commonir.conversions.operands import dims_of, rank_of, refused
from commonir.dialects import core
from commonir.ir.operation import Value


def as_convolution(op: core.ConvTranspose, x: Value, weight: Value, bias: Value | None) -> Value:
    """Returns the convolution of the input, zeros between its elements, with the filters read backwards.

    Raises: DiagnosticError (E0601) for filters whose sizes are not known.
    """
    spatial = rank_of(op.x) - 2
    strides, dilations = op.strides or (1,) * spatial, op.dilations or (1,) * spatial
    pads, extra = op.pads or ((0, 0),) * spatial, op.output_padding or (0,) * spatial
    channels, filters, *kernel = [n for n in dims_of(op.weight) if isinstance(n, int)]
    if len(kernel) < spatial:
        raise refused("the filters have sizes that are not known before running")
    apart = core.reshape(weight, (op.groups, channels // op.groups, filters, *kernel))
    swapped = core.transpose(apart, (0, 2, 1, *range(3, 3 + spatial)))
    turned = core.reshape(swapped, (op.groups * filters, channels // op.groups, *kernel))
    turned = core.reverse(turned, tuple(range(2, 2 + spatial)))
    reach = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    before = [r - low for r, (low, _) in zip(reach, pads, strict=True)]
    after = [r - high + e for r, (_, high), e in zip(reach, pads, extra, strict=True)]
    spread = x
    for axis, s in enumerate(strides, 2):
        spread = _spread(spread, axis, s)
    zeros = [(0, 0, *[max(n, 0) for n in side]) for side in (before, after)]
    whole = core.pad(spread, zeros[0], zeros[1])
    rank, dims = rank_of(op.x), dims_of(whole)
    starts = (0, 0, *[max(-n, 0) for n in before])
    stops = (*dims[:2], *[n - max(-m, 0) for n, m in zip(dims[2:], after, strict=True)])
    inner = core.slice(whole, starts, stops, (1,) * rank)
    return core.conv(inner, turned, bias, dilations=tuple(dilations), groups=op.groups)


def _spread(x: Value, axis: int, step: int) -> Value:
    """A tensor with zeros between its elements along an axis."""
    shape = dims_of(x)
    if step == 1:
        return x
    column = core.unsqueeze(x, (axis + 1,))
    none = (0,) * (len(shape) + 1)
    rows = core.pad(column, none, tuple([step - 1 if n == axis + 1 else 0 for n in range(len(shape) + 1)]))
    flat = core.reshape(rows, (*shape[:axis], shape[axis] * step, *shape[axis + 1 :]))
    stops = tuple([(d - 1) * step + 1 if n == axis else d for n, d in enumerate(shape)])
    return core.slice(flat, (0,) * len(shape), stops, (1,) * len(shape))
