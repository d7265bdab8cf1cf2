"""Inputs of one run after another: what is like the inputs of the run before binds as they did.

Whether arrays fit a function, and which sizes follow from them, depends on their names, element types and shapes alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.tuples import NamedTuple
from commonir.ir.module import Function
from commonir.ir.types import TensorType
from commonir.runtime.binding import BoundInputs, Requirement, bind
from commonir.runtime.ports import names_of

Array = NDArray[np.generic]


class _Like(NamedTuple):
    """An array that was given: all others like it are taken as it was."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]


def _declared(function: Function) -> tuple[_Like, ...] | None:
    """The arrays that the declared types of inputs tell; None when there is more to ask of inputs than they do."""
    if function.input_ports:
        return None
    found: list[_Like] = []
    for name, value in zip(names_of(function), function.inputs, strict=True):
        kind = value.type
        if not isinstance(kind, TensorType) or not kind.is_static:
            return None
        try:
            found.append(_Like(name, dtype_of(kind.element.name), kind.static_shape))
        except KeyError:  # numpy holds no such elements
            return None
    return tuple(found)


class Binder:
    """Binds inputs of runs of one function."""

    def __init__(self, function: Function, needed: Sequence[Requirement] = ()) -> None:
        self._function = function
        self._needed = needed
        self._last = None if needed else _declared(function)
        self._sizes: dict[str, int] = {}

    def bind(self, given: Mapping[str, object]) -> BoundInputs:
        """Values for the inputs; see `binding.bind`."""
        arrays = self.bound_as_before(given)
        if arrays is not None:
            return BoundInputs(arrays, dict(self._sizes))
        self._last = None
        bound = bind(self._function, given, self._needed)
        names = names_of(self._function)
        # What was converted, or stands for what was not given, is made anew each time.
        if len(given) == len(names) and all(given[n] is x for n, x in zip(names, bound.arrays, strict=True)):
            whole = [type(x) is np.ndarray for x in bound.arrays]
            if all(whole):
                self._last = tuple([_Like(n, x.dtype, x.shape) for n, x in zip(names, bound.arrays, strict=True)])
                self._sizes = dict(bound.sizes)
        return bound

    def bound_as_before(self, given: Mapping[str, object]) -> tuple[Array, ...] | None:
        """The arrays in the order of the inputs; None when one is not like that of the run before."""
        last = self._last
        if last is None or len(given) != len(last):
            return None
        found: list[Array] = []
        for name, dtype, shape in last:
            x = given.get(name)
            # A class of its own may have other ideas of what it is.
            if type(x) is not np.ndarray or x.dtype != dtype or x.shape != shape:
                return None
            found.append(x)
        return tuple(found)
