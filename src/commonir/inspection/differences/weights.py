"""Compares constants. numpy is loaded only when numbers are compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CHUNK_ELEMENTS = 1 << 20


class Distance(NamedTuple):
    """The largest difference of two elements, the largest magnitude of an element of the first constant, and the number
    of elements that differ by more than the tolerance.
    """

    largest: float
    magnitude: float
    beyond: int

    @property
    def relative(self) -> float:
        """The largest difference relative to the largest magnitude."""
        if self.largest == 0:
            return 0.0
        return self.largest / self.magnitude if self.magnitude else math.inf


def distance(a: Data, b: Data, tolerance: float) -> Distance | None:
    """Returns the distance of two constants of one shape; None for constants that are not numbers, or of different
    shapes.

    `tolerance` is relative to the largest magnitude in the first constant. NaN equals NaN.
    """
    if a.shape != b.shape or "string" in (a.element.kind, b.element.kind):
        return None
    import numpy as np  # noqa: PLC0415  only numbers need it

    x, y = a.array().reshape(-1), b.array().reshape(-1)
    parts = [slice(n, n + _CHUNK_ELEMENTS) for n in range(0, len(x), _CHUNK_ELEMENTS)]
    magnitude = max([_magnitude(x[part]) for part in parts], default=0.0)
    largest, beyond = 0.0, 0
    for part in parts:
        apart = _apart(x[part], y[part])
        largest = max(largest, float(apart.max(initial=0.0)))
        beyond += int(np.count_nonzero(apart > tolerance * magnitude))
    return Distance(largest, magnitude, beyond)


def _magnitude(array: NDArray[np.generic]) -> float:
    import numpy as np  # noqa: PLC0415  as above

    wide = np.abs(_wide(array))
    return float(wide[np.isfinite(wide)].max(initial=0.0))


def _apart(a: NDArray[np.generic], b: NDArray[np.generic]) -> NDArray[np.float64]:
    """Returns the distance of arrays."""
    import numpy as np  # noqa: PLC0415  as above

    if a.dtype == b.dtype and a.dtype.kind in "iub":
        # What is left of numbers of 64 bits in single or double precision may be the same.
        high, low = np.maximum(a, b).astype(np.uint64), np.minimum(a, b).astype(np.uint64)
        return (high - low).astype(np.float64)
    u, v = _wide(a), _wide(b)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(u - v)
    are_equal = (u == v) | (np.isnan(u) & np.isnan(v))
    return np.where(are_equal, 0.0, np.where(np.isnan(apart), math.inf, apart))


def _wide(array: NDArray[np.generic]) -> NDArray[np.float64] | NDArray[np.complex128]:
    import numpy as np  # noqa: PLC0415  as above

    return array.astype(np.complex128) if array.dtype.kind == "c" else array.astype(np.float64)
