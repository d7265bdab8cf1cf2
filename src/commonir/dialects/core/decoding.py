"""Arrays of compressed tensors. Import it lazily: it loads numpy.

Products and differences are formed in single precision and rounded once. Work goes in pieces along the first axis, so
that intermediate arrays stay small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PIECE_ELEMENTS = 1 << 16
"""The number of elements decoded at a time: less than a megabyte, which fits in a cache."""


_NARROW_BITS = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4}


def _plain(codes: Array) -> Array:
    """Elements of fewer than eight bits as bytes, which numpy computes with far faster."""
    bits = _NARROW_BITS.get(codes.dtype.name)
    if bits is None:
        return codes
    if codes.dtype.name.startswith("uint"):
        return codes.view(np.uint8) & ((1 << bits) - 1)
    return codes.view(np.int8) << (8 - bits) >> (8 - bits)


def _pieces(shape: tuple[int, ...], block: int) -> Iterator[slice]:
    """Ranges of the first axis that hold whole blocks of it."""
    rows = max(PIECE_ELEMENTS // max(prod(shape[1:]), 1) // block, 1) * block
    return (slice(n, min(n + rows, shape[0])) for n in range(0, shape[0], rows))


def _split(shape: tuple[int, ...], counts: tuple[int, ...]) -> list[int]:
    """A shape with each axis as two: blocks, and elements of a block."""
    return [d for n, g in zip(shape, counts, strict=True) for d in (g, n // g)]


def _for_blocks(values: Array, rank: int) -> Array:
    """One value for each block, shaped to be broadcast against axes that are split in two."""
    return values.reshape([d for n in values.shape[:rank] for d in (n, 1)] + list(values.shape[rank:]))


def _in_same_blocks(a: Array, b: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Values of blocks repeated until both have the same blocks."""
    for axis, size in enumerate(shape):
        counts = a.shape[axis], b.shape[axis]
        count = counts[0] if counts[0] == counts[1] else max(counts) if min(counts) == 1 else size
        a, b = (v if v.shape[axis] == count else np.repeat(v, count // v.shape[axis], axis) for v in (a, b))
    return a, b


def _by_piece(
    data: Array, counts: tuple[int, ...], out: Array, decode: Callable[[Array, slice], Array], width: int
) -> None:
    """Decodes piece by piece; the first axis of the result is `width` times as long as that of the data."""
    block = data.shape[0] // counts[0]
    for rows in _pieces(data.shape, block):
        blocks = slice(rows.start // block, -(-rows.stop // block))
        part = out[rows.start * width : rows.stop * width]
        part[...] = decode(_plain(data[rows]), blocks).reshape(part.shape)


def scaled_in_blocks(data: Array, scale: Array, offset: Array | None) -> Array:
    """scale * (data - offset), with one of each for every block of elements."""
    # A scalar has a block along each axis; a tensor without axes gets one.
    shape, rank = data.shape, max(data.ndim, 1)
    data = data.reshape(shape or (1,))
    scale = scale if scale.ndim else scale.reshape((1,) * rank)
    offset = offset if offset is None or offset.ndim else offset.reshape((1,) * rank)
    out = np.empty(data.shape, scale.dtype)
    factors = scale.astype(np.float32)
    steps = None if offset is None else _plain(offset).astype(np.float32)
    if steps is not None:
        factors, steps = _in_same_blocks(factors, steps, data.shape)

    def decode(part: Array, blocks: slice) -> Array:
        counts = factors[blocks].shape
        numbers = part.astype(np.float32).reshape(_split(part.shape, counts))
        if steps is not None:
            numbers -= _for_blocks(steps[blocks], part.ndim)
        numbers *= _for_blocks(factors[blocks], part.ndim)
        return numbers

    with np.errstate(over="ignore"):
        _by_piece(data, factors.shape, out, decode, 1)
    return out.reshape(shape)


def looked_up_in_blocks(positions: Array, tables: Array, vector_axis: int | None) -> Array:
    """The entries at positions of the table of each block; entries of several elements lie along an axis.

    Raises: ValueError for a position outside of its table.
    """
    rank, entries, size = positions.ndim, *tables.shape[-2:]
    axis = 0 if vector_axis is None else vector_axis % rank
    shape = [n * size if k == axis else n for k, n in enumerate(positions.shape)]
    out = np.empty(shape, tables.dtype)
    counts = tables.shape[:rank]

    def decode(part: Array, blocks: slice) -> Array:
        here = tables[blocks]
        groups = here.shape[:rank]
        low, high = part.min(initial=0), part.max(initial=0)
        if low < 0 or high >= entries:
            raise ValueError(f"position {low if low < 0 else high} in a table of {entries} entries")
        at = part.astype(np.intp)
        if prod(groups) != 1:
            first = np.arange(prod(groups)).reshape(groups) * entries
            at = (at.reshape(_split(part.shape, groups)) + _for_blocks(first, rank)).reshape(part.shape)
        # They are in range: `clip` skips the check of each index.
        result = np.take(here.reshape(-1, size) if size > 1 else here.reshape(-1), at, 0, mode="clip")
        return result if size == 1 else np.moveaxis(result, -1, axis + 1)

    _by_piece(positions, counts, out, decode, size if axis == 0 else 1)
    return out


def spread_out(values: Array, mask: Array) -> Array:
    """Zeros, with the values in order where the mask is set.

    Raises: ValueError when there are not as many values as bits that are set.
    """
    values = _plain(values)
    where = mask.astype(np.bool_)
    count = int(np.count_nonzero(where))
    if count != values.size:
        raise ValueError(f"{values.size} values for {count} bits that are set")
    out = np.zeros(mask.shape, values.dtype)
    out[where] = values
    return out


def repeated(mask: Array, count: int, axis: int) -> Array:
    """A mask with each element repeated along an axis."""
    return np.repeat(mask, count, axis)


def looked_up_where(mask: Array, positions: Array, tables: Array, vector_axis: int | None) -> Array:
    """The entries at positions of elements where the mask is set, in order of the elements of the result."""
    results = looked_up_in_blocks(spread_out(positions, mask), tables, vector_axis)
    wide = mask if vector_axis is None else np.repeat(mask, tables.shape[-1], vector_axis)
    return results[wide.astype(np.bool_)]


def scaled_where(mask: Array, values: Array, scale: Array, offset: Array | None) -> Array:
    """scale * (value - offset) of elements where the mask is set, with those of the block of each."""
    return scaled_in_blocks(spread_out(values, mask), scale, offset)[mask.astype(np.bool_)]
