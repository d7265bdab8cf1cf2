"""Arrays of compressed constants. Import it lazily: it loads numpy.

Products and differences are formed in single precision and rounded once.
Source: MIL operation reference, constexpr_ops and compression.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def unpacked(content: memoryview, bits: int, shape: tuple[int, ...]) -> Array:
    """Positions of some bits each, the first in the least significant bits of the first byte."""
    count = int(np.prod(shape, dtype=np.int64))
    digits = np.unpackbits(np.frombuffer(content, np.uint8), bitorder="little")[: count * bits].reshape(count, bits)
    return (digits @ (1 << np.arange(bits, dtype=np.uint8)).astype(np.uint8)).reshape(shape)


def dequantized(data: Array, scale: Array, zero_point: Array, axis: int) -> Array:
    """scale * (data - zero_point), with scalars or vectors along an axis."""
    shape = [1] * data.ndim
    shape[axis] = -1
    steps = data.astype(np.float32) - zero_point.astype(np.float32).reshape(shape)
    return (steps * scale.astype(np.float32).reshape(shape)).astype(scale.dtype)


def looked_up(positions: Array, table: Array) -> Array:
    """The entries of a table at positions."""
    return table[positions.astype(np.intp)]


def looked_up_in_blocks(positions: Array, tables: Array, vector_axis: int | None) -> Array:
    """The entries at positions of the table of each block; entries of several elements lie along an axis."""
    where: list[Array] = []
    sizes: tuple[int, ...] = positions.shape
    counts: tuple[int, ...] = tables.shape
    for axis, (size, blocks) in enumerate(zip(sizes, counts, strict=False)):
        block: Array = np.repeat(np.arange(blocks), size // blocks)
        where.append(block.reshape([-1 if n == axis else 1 for n in range(positions.ndim)]))
    found: Array = tables[(*where, positions.astype(np.intp))]
    if vector_axis is None:
        return found[..., 0]
    axis = vector_axis % positions.ndim
    shape = list(positions.shape)
    shape[axis] *= found.shape[-1]
    return np.moveaxis(found, -1, axis + 1).reshape(shape)


def spread_out(values: Array, mask: Array) -> Array:
    """Zeros, with the values in order where the mask is set."""
    out = np.zeros(mask.shape, values.dtype)
    out[mask.astype(np.bool_)] = values
    return out


def scaled_in_blocks(data: Array, scale: Array, offset: Array | None) -> Array:
    """scale * (data - offset), with one of each for every block of elements."""
    steps = data.astype(np.float32)
    if offset is not None:
        steps = steps - _repeated(offset.astype(np.float32), data.shape)
    return (steps * _repeated(scale.astype(np.float32), data.shape)).astype(scale.dtype)


def _repeated(values: Array, shape: tuple[int, ...]) -> Array:
    """One value for each block, repeated for its elements."""
    for axis, size in enumerate(shape):
        values = np.repeat(values, size // values.shape[axis], axis)
    return values
