"""Fourier transforms as products with matrices, real and imaginary parts one by one."""

from __future__ import annotations

from math import cos, pi, sin

from commonir.conversions.operands import element_of, sizes_of
from commonir.dialects import core
from commonir.dialects.core.base import accumulator, axis_of
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.Dft)
def dft(op: core.Dft, context: Context, x: Value) -> Result:
    """Products with matrices of cosines and sines."""
    shape, length = sizes_of(x), op.length
    axis = axis_of(op.axis, len(shape))
    given = shape[axis]
    if not isinstance(length, int) or not isinstance(given, int):
        return Mismatch("the length of a transform is an expression")
    rest = [n for n in range(len(shape) - 1) if n != axis]
    kind, is_half = accumulator(element_of(x)), op.onesided and op.inverse
    count = min(length // 2 + 1 if is_half else length, given)
    moved = core.cast(core.transpose(x, (*rest, axis, len(shape) - 1)), kind)
    rank = len(shape)
    starts, sizes = (0,) * rank, sizes_of(moved)
    moved = core.slice(moved, starts, (*sizes[:-2], count, sizes[-1]), (1,) * rank)
    parts = [
        core.squeeze(core.slice(moved, (*starts[:-1], n), (*sizes[:-2], count, n + 1), (1,) * rank), (rank - 1,))
        for n in range(int(str(sizes[-1])))
    ]
    real, imaginary = (
        parts[0],
        parts[1] if len(parts) > 1 else core.broadcast_to(core.splat(0.0, parts[0]), sizes_of(parts[0])),
    )
    out = length // 2 + 1 if op.onesided and not op.inverse else length
    cosine, sine = _turns(count, out, length, kind, inverse=op.inverse)
    if is_half:
        weight = [1.0 if k == 0 or 2 * k == length else 2.0 for k in range(count)]
        real, imaginary = [core.mul(v, core.constant(data_of(kind, (count,), weight))) for v in (real, imaginary)]
    scale = core.splat(1.0 / length if op.inverse else 1.0, real)
    first = core.mul(core.sub(core.matmul(real, cosine), core.matmul(imaginary, sine)), scale)
    second = core.mul(core.add(core.matmul(real, sine), core.matmul(imaginary, cosine)), scale)
    found = [core.unsqueeze(v, (rank - 1,)) for v in ((first,) if is_half else (first, second))]
    whole = core.concat(tuple(found), rank - 1) if len(found) > 1 else found[0]
    order = [*rest, axis, rank - 1]
    return core.cast(core.transpose(whole, tuple([order.index(n) for n in range(rank)])), element_of(op.y))


def _turns(rows: int, columns: int, length: int, kind: ElementType, *, inverse: bool) -> tuple[Value, Value]:
    """The real and the imaginary parts of powers of the roots of unity."""
    sign = 1.0 if inverse else -1.0
    angles = [sign * 2.0 * pi * (r * c % length) / length for r in range(rows) for c in range(columns)]
    shape = (rows, columns)
    return (
        core.constant(data_of(kind, shape, [cos(a) for a in angles])),
        core.constant(data_of(kind, shape, [sin(a) for a in angles])),
    )
