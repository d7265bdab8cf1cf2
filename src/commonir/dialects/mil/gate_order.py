"""Arrays of recurrent weights with their gates in another order. Import it lazily: it loads numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def stacked(parts: list[Array], order: tuple[int, ...]) -> Array:
    """The weights of each direction, one after another along a new first axis, with their gates in an order."""
    return np.stack([np.concatenate([np.split(p, len(order))[gate] for gate in order]) for p in parts])
