"""Arrays of outputs are used again when nothing refers to them, and never before."""

from __future__ import annotations

import numpy as np

from commonir.native.output_arrays import MAX_KEPT, OutputArrays

SHAPE, DTYPE = (1 << 15,), np.dtype(np.float32)


def test_an_array_that_is_still_used_is_left_alone() -> None:
    arrays = OutputArrays()
    held = [arrays.array("y", SHAPE, DTYPE) for _ in range(3 * MAX_KEPT)]
    assert len({a.ctypes.data for a in held}) == len(held)
    part = held.pop()[::2]
    held.clear()
    assert not any(np.shares_memory(part, arrays.array("y", SHAPE, DTYPE)) for _ in range(3))


def test_an_array_that_nothing_uses_is_returned_again() -> None:
    arrays = OutputArrays()
    address = arrays.array("y", SHAPE, DTYPE).ctypes.data
    assert arrays.array("y", SHAPE, DTYPE).ctypes.data == address
    assert arrays.array("z", SHAPE, DTYPE).ctypes.data != address
    assert arrays.array("y", (2, *SHAPE), DTYPE).shape == (2, *SHAPE)
