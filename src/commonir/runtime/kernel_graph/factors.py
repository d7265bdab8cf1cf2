"""Reads that are linear in all indices, as the factors of products are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.notation import Access, index
from commonir.runtime.kernel_graph.loop_kernel import Layouts, read_of
from commonir.symbolic import Dim, linear_in, names

Array = NDArray[Any]


class Factor(NamedTuple):
    """A read that is linear in all indices: the address where all are zero, and the step of each."""

    name: str
    start: Dim
    steps: Mapping[str, Dim]

    def address(self, indices: Iterable[str]) -> Dim:
        """Returns the address where all indices but some are zero."""
        out = self.start
        for i in indices:
            out = out + index(i) * self.steps.get(i, 0)
        return out


def factor_of(a: Access, layouts: Layouts, extents: Mapping[str, Dim]) -> Factor | None:
    """Returns the factor that an access reads; None if it is not linear."""
    read = read_of(a, layouts, extents)
    return None if read.guards or read.data else linear_factor(a.tensor.name, read.address)


def linear_factor(name: str, address: Dim) -> Factor | None:
    """Returns the factor at an address in a tensor; None if it is not linear."""
    steps: dict[str, Dim] = {}
    for i in names(address):
        step, address = linear_in(address, i)
        if step is None:
            return None
        steps[i] = step
    return Factor(name, address, steps)


def elements_of(factor: Factor, array: Array, indices: Iterable[str], extents: Mapping[str, Dim]) -> Array:
    """Returns the elements that a factor reads of a constant, with an axis for each index, as a view."""
    order = list(indices)
    counts = [n for i in order if isinstance(n := extents[i], int)]
    steps = [s * array.itemsize for i in order if isinstance(s := factor.steps.get(i, 0), int)]
    assert isinstance(factor.start, int)
    flat = np.ascontiguousarray(array).reshape(-1)[factor.start :]
    return np.lib.stride_tricks.as_strided(flat, counts, steps)
