"""Random tensors of numbers: the same for the same seed and name, on every machine.

Importing this module loads no definitions, so that a stored program runs on random inputs without its model.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.tuples import NamedTuple

Array = NDArray[Any]

DRAWN_KINDS = frozenset({"float", "bool", "int", "uint"})
"""The kinds of element types that `NumberDraw` has."""


class NumberDraw(NamedTuple):
    """A random tensor: its name, the name and kind of its element type, its shape, and what integers are below.

    Floats are drawn from the standard normal distribution, bools evenly.
    """

    name: str
    element: str
    kind: str
    shape: tuple[int, ...]
    below: int

    def array(self, seed: int) -> Array:
        """Returns the tensor for a seed."""
        generator, dtype = generator_of(self.name, seed), dtype_of(self.element)
        if self.kind == "float":
            return generator.standard_normal(self.shape, np.float32).astype(dtype)
        return generator.integers(0, 2 if self.kind == "bool" else self.below, self.shape).astype(dtype)


def generator_of(name: str, seed: int) -> np.random.Generator:
    """Returns the generator of the numbers for a name."""
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))
