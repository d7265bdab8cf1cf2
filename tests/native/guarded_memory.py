"""Arrays between pages that may not be touched: code that reads or writes outside of them ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PAGE = mmap.PAGESIZE
_NONE = 0

Side = Literal["before", "after"]

SIDES: tuple[Side, ...] = ("before", "after")


class GuardedMemory:
    """Memory for arrays that lie directly behind a page without access, or directly before one."""

    def __init__(self) -> None:
        self._maps: list[mmap.mmap] = []
        self._protect = ctypes.CDLL(None, use_errno=True).mprotect
        self._protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any], side: Side) -> Array:
        """Returns an array of ones, with the page on one side; the other page follows within its alignment."""
        count = int(np.prod(shape, dtype=np.int64))
        size = max(count, 1) * dtype.itemsize
        pages = -(-size // PAGE)
        memory = mmap.mmap(-1, (pages + 2) * PAGE)
        self._maps.append(memory)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for page in (start, start + (pages + 1) * PAGE):
            if self._protect(page, PAGE, _NONE) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")
        offset = PAGE if side == "before" else (pages + 1) * PAGE - size
        result = np.frombuffer(memory, np.uint8, size, offset)[: count * dtype.itemsize].view(dtype).reshape(shape)
        result[...] = np.ones((), dtype)
        return result

    def copy(self, array: Array, side: Side) -> Array:
        """Returns a copy of an array with a page on one side."""
        result = self.array(array.shape, array.dtype, side)
        result[...] = array
        return result
