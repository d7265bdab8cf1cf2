"""Arrays for the outputs of runs, which are used again when nothing refers to them any more."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

LEAST_KEPT_BYTES = 1 << 16
"""Outputs of at least so many bytes are kept for later runs."""

MAX_KEPT = 2
"""Arrays that are kept of an output: the inputs of a step may be the outputs of the one before."""


class OutputArrays:
    """Arrays for outputs: those of earlier runs that nothing refers to any more, else new ones.

    The pages of a new array are cleared when they are first written, which may take longer than to compute it.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, list[Array]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Returns an array for an output, with any elements."""
        size_bytes = math.prod(shape) * dtype.itemsize
        if size_bytes < LEAST_KEPT_BYTES:
            return np.empty(shape, dtype)
        kept = self._arrays.setdefault(name, [])
        for n in range(len(kept)):
            # The list and the argument refer to it.
            if sys.getrefcount(kept[n]) == 2 and _is_like(kept[n], shape, dtype):
                return kept[n]
        kept.append(np.empty(shape, dtype))
        del kept[:-MAX_KEPT]
        return kept[-1]


def _is_like(array: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    return array.shape == shape and array.dtype == dtype and array.flags.writeable and array.flags.c_contiguous
