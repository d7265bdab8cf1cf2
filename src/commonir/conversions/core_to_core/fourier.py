"""Fourier transforms as products with matrices, for targets that have no operator for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from commonir.conversions.operands import axes_from_start, dims_of, element_of, rank_of
from commonir.dialects import core
from commonir.dialects.core.base import accumulator
from commonir.ir.data import computed_data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_LENGTH = 4096
"""Length up to which a transform is a matrix: it has 4 length^2 elements at most, 256 megabytes."""


@rule(core.Dft)
def dft(op: core.Dft, context: Context, x: Value) -> Result:
    return dft_by_matrix(op, x)


def dft_by_matrix(op: core.Dft, x: Value) -> Value | Mismatch:
    """A product along the axis with the cosines and sines of all frequencies, in single precision at least."""
    length, (axis,) = op.length, axes_from_start((op.axis,), rank_of(x))
    dims = dims_of(x)
    kinds, available = dims[-1], dims[axis]
    if (
        not isinstance(length, int)
        or length > MAX_LENGTH
        or not isinstance(available, int)
        or not isinstance(kinds, int)
    ):
        return Mismatch("the length of the transform is not known, or too large for a matrix")
    half, is_real = length // 2 + 1, op.inverse and op.onesided
    taken = half if is_real else length
    wide = accumulator(element_of(x))
    x = core.cast(x, wide) if wide is not element_of(x) else x
    # Parts lie one after another on the last axis: all real ones, then all imaginary ones.
    parts = [core.squeeze(p, (-1,)) for p in (core.split(x, -1, (1,) * kinds) if kinds > 1 else (x,))]
    rank = rank_of(x) - 1
    order = (*range(axis), *range(axis + 1, rank), axis)
    rows = [_resized(core.transpose(p, order) if axis != rank - 1 else p, taken) for p in parts]
    matrix = _matrix(wide, op, length, taken, kinds)
    y = core.linear(core.concat(tuple(rows), -1) if kinds > 1 else rows[0], matrix)
    outputs = 1 if is_real else 2
    count = half if op.onesided and not op.inverse else length
    y = core.reshape(y, (*dims_of(rows[0])[:-1], outputs, count))
    # Back: the frequencies to their axis, real and imaginary part to the end.
    y = core.transpose(y, (*range(axis), rank, *range(axis, rank - 1), rank - 1))
    return core.cast(y, element_of(op.y)) if wide is not element_of(op.y) else y


def _resized(x: Value, dim: int) -> Value:
    """A tensor with its last axis cut, or continued with zeros."""
    *lead, n = dims_of(x)
    assert isinstance(n, int)
    if n > dim:
        return core.slice(x, (0,) * (len(lead) + 1), (*lead, dim), (1,) * (len(lead) + 1))
    return x if n == dim else core.pad(x, (0,) * (len(lead) + 1), (*(0,) * len(lead), dim - n))


def _matrix(element: ElementType, op: core.Dft, length: int, taken: int, kinds: int) -> Value:
    """The matrix of a transform of real parts, and of imaginary ones after them."""
    is_real = op.inverse and op.onesided
    count = length // 2 + 1 if op.onesided and not op.inverse else length

    type = TensorType(element, (count * (1 if is_real else 2), taken * kinds))

    def compute() -> NDArray[np.generic]:
        import numpy as np  # noqa: PLC0415  loaded when a constant is computed

        from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

        turns = np.outer(np.arange(count), np.arange(taken)) % length
        angle = turns * (2 * math.pi / length)
        cos, sin = np.cos(angle), np.sin(angle) * (-1 if op.inverse else 1)
        if is_real:
            # Frequencies stand for their conjugates too, except the first and, of an even length, the last.
            twice = np.full(taken, 2.0)
            twice[0] = 1.0
            if length % 2 == 0:
                twice[-1] = 1.0
            whole = np.concatenate([cos * twice, sin * twice], 1)
        else:
            whole = np.block([[cos, sin], [-sin, cos]])
        if op.inverse:
            whole = whole / length
        return whole[:, : taken * kinds].astype(dtype_of(element.name))

    return core.Constant(computed_data(type, compute)).y
