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

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]

    def fits(self, x: object) -> bool:
        """Returns whether a value is like it."""
        # A class of its own may have other ideas of what it is.
        return type(x) is np.ndarray and x.dtype == self.dtype and x.shape == self.shape


class _Nothing(NamedTuple):
    """An optional value that was given as absent."""

    def fits(self, x: object) -> bool:
        """Returns whether a value is absent, too."""
        return x is None


class _ListLike(NamedTuple):
    """A list that was given."""

    members: tuple[_Likeness, ...]

    def fits(self, x: object) -> bool:
        """Returns whether a value is like it."""
        if type(x) is not list or len(x) != len(self.members):  # pyright: ignore[reportUnknownArgumentType]  of anything
            return False
        return all(like.fits(v) for like, v in zip(self.members, x, strict=True))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  as above


_Likeness = _Like | _ListLike | _Nothing


def _likeness(given: object, bound: object) -> _Likeness | None:
    """Returns what others are like that can be taken as they are; None of what is converted, or is not an array or list
    of them.
    """
    if given is None and bound is None:
        return _Nothing()
    if type(given) is np.ndarray:
        return _Like(given.dtype, given.shape) if given is bound else None
    if type(given) is not list or type(bound) is not list or len(given) != len(bound):  # pyright: ignore[reportUnknownArgumentType]  of anything
        return None
    members = [_likeness(x, y) for x, y in zip(given, bound, strict=True)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  as above
    known = [m for m in members if m is not None]
    return _ListLike(tuple(known)) if len(known) == len(members) else None


def _declared(function: Function) -> dict[str, _Likeness] | None:
    """Returns the arrays that the declared types of inputs tell; None when there is more to ask of inputs than they
    do.
    """
    if function.input_ports:
        return None
    result: dict[str, _Likeness] = {}
    for name, value in zip(names_of(function), function.inputs, strict=True):
        kind = value.type
        if not isinstance(kind, TensorType) or not kind.is_static:
            return None
        try:
            result[name] = _Like(dtype_of(kind.element.name), kind.static_shape)
        except KeyError:  # numpy holds no such elements
            return None
    return result


class Binder:
    """Binds inputs of runs of one function."""

    def __init__(self, function: Function, needed: Sequence[Requirement] = ()) -> None:
        self._function = function
        self._needed = needed
        self._last = None if needed else _declared(function)
        self._sizes: dict[str, int] = {}

    def bind(self, given: Mapping[str, object]) -> BoundInputs:
        """Returns values for the inputs; see `binding.bind`."""
        arrays = self.bound_as_before(given)
        if arrays is not None:
            return BoundInputs(arrays, dict(self._sizes))
        self._last = None
        bound = bind(self._function, given, self._needed)
        names = names_of(self._function)
        # What was converted, or stands for what was not given, is made anew each time.
        if len(given) == len(names):
            pairs = zip(names, bound.arrays, strict=True)
            likes = {n: like for n, x in pairs if (like := _likeness(given[n], x)) is not None}
            if len(likes) == len(names):
                self._last, self._sizes = likes, dict(bound.sizes)
        return bound

    def bound_as_before(self, given: Mapping[str, object]) -> tuple[Array, ...] | None:
        """Returns the values in the order of the inputs; None when one is not like that of the run before."""
        last = self._last
        if last is None or len(given) != len(last):
            return None
        result: list[Array] = []
        for name, like in last.items():
            x = given.get(name)
            if not like.fits(x):
                return None
            result.append(x)  # pyright: ignore[reportArgumentType]  what is a list stands for a value, too (`values.py`)
        return tuple(result)
