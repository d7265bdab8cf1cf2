"""Positions that sort arrays: all of them, or the first ones.

Elements of up to 32 bits become integers of the same order, and one number with their positions. Such numbers are all
different, so that an algorithm may be chosen for its speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]
    Whole = NDArray[np.integer[Any]]

_SHORT = 16
"""Elements of a row up to which it is sorted as it is."""

_MANY = 1 << 12
"""Elements from which on finding a bound takes less than it saves."""

_ELEMENTS_AT_ONCE = 1 << 16
"""Elements whose intermediate arrays stay in the cache."""

_POSITION_BITS = 32


def order_of(x: Array, axis: int, descending: bool, count: int | None = None) -> NDArray[np.int64]:
    """Returns the positions that sort along an axis, or the first `count` of them.

    Equal elements keep their order. NaN is larger than every number, and zeros are equal.
    """
    xp = x.__array_namespace__()
    size = x.shape[axis]
    first = size if count is None else count
    if x.size == 0 or first == 0 or size <= _SHORT or x.dtype.itemsize > 4 or size >= 1 << (_POSITION_BITS - 1):
        return _stable_order(x, axis, descending).take(range(first), axis=axis).astype(xp.int64)
    rows = xp.moveaxis(x, axis, -1)
    flat = rows.reshape(-1, size)
    order = xp.empty((len(flat), first), xp.int64)
    together = max(1, _ELEMENTS_AT_ONCE // size)
    for start in range(0, len(flat), together):
        some = slice(start, start + together)
        order[some] = _first_positions(_keys(flat[some], descending), first)
    return xp.moveaxis(order.reshape(*rows.shape[:-1], first), -1, axis)


def _stable_order(x: Array, axis: int, descending: bool) -> NDArray[np.int64]:
    xp = x.__array_namespace__()
    if x.dtype.kind == "V":
        # Sorting narrow numbers that are not numpy's own does not order NaN.
        x = x.astype(xp.float32)
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable")
    backwards = xp.argsort(xp.flip(x, axis=axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - xp.flip(backwards, axis=axis)


def _keys(x: Array, descending: bool) -> NDArray[np.int32]:
    """Returns integers in the order of the elements."""
    xp: Any = x.__array_namespace__()  # numpy, whose stubs do not type views
    if x.dtype.kind in "iu":
        keys = (x ^ xp.uint32(1 << 31)).view(xp.int32) if x.dtype == xp.uint32 else x.astype(xp.int32)
    else:
        # The sum has no negative zero.
        numbers = x.astype(xp.float32) + xp.float32(0)
        bits = numbers.view(xp.int32)
        keys = bits ^ ((bits >> 31) & 0x7FFFFFFF)
        is_nan = xp.isnan(numbers)
        if is_nan.any():
            keys[is_nan] = 0x7FFFFFFF
    return ~keys if descending else keys


def _first_positions(keys: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    """Returns the positions of the least keys of each row, in order."""
    xp: Any = keys.__array_namespace__()
    size = keys.shape[1]
    numbered = _least_candidates(keys, count) if 8 * count <= size and keys.size >= _MANY else None
    if numbered is None:
        numbered = _numbered(keys, xp.arange(size))
        if 4 * count < size:
            numbered = xp.partition(numbered, count - 1, axis=1)[:, :count]
    numbered.sort(axis=1)
    return numbered[:, :count] & ((1 << _POSITION_BITS) - 1)


def _numbered(keys: Whole, positions: Whole) -> NDArray[np.int64]:
    """Returns keys and positions as one number."""
    return (keys.astype("int64") << _POSITION_BITS) | positions


def _least_candidates(keys: NDArray[np.int32], count: int) -> NDArray[np.int64] | None:
    """Returns few numbered keys of each row, with the least `count` among them; None where they would not be few.

    Of several groups of keys, the least one of each is known fast. So many of these as are wanted are a bound.
    """
    xp: Any = keys.__array_namespace__()
    rows, size = keys.shape
    groups = min(size // 4, 4 * count)
    length = size // groups
    least = keys[:, : groups * length].reshape(rows, length, groups).min(axis=1)
    bound = xp.partition(least, count - 1, axis=1)[:, count - 1 : count]
    found = xp.flatnonzero(keys <= bound)
    row, position = xp.divmod(found, size)
    counts = xp.bincount(row, minlength=rows)
    width = int(counts.max())
    if 2 * width > size:
        return None
    place = xp.arange(len(found)) - xp.repeat(xp.cumsum(counts) - counts, counts)
    out = xp.full((rows, width), xp.iinfo(xp.int64).max)
    out[row, place] = _numbered(keys.reshape(-1)[found], position)
    return out
