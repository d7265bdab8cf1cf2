"""Binds inputs of repeated runs: inputs with the dtypes and shapes of the previous run need no checks.

Whether arrays fit a function, and which dims follow from them, depends only on their names, element types and shapes.
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


class _ArrayPattern(NamedTuple):
    """Matches arrays of a dtype and shape, which need no conversion."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]

    def fits(self, x: object) -> bool:
        """Returns whether a value needs no conversion."""
        # Subclasses may behave differently.
        return type(x) is np.ndarray and x.dtype == self.dtype and x.shape == self.shape


class _AbsentPattern(NamedTuple):
    """Matches an absent optional value."""

    def fits(self, x: object) -> bool:
        """Returns whether a value is absent."""
        return x is None


class _ListPattern(NamedTuple):
    """Matches a list by its members."""

    members: tuple[_InputPattern, ...]

    def fits(self, x: object) -> bool:
        """Returns whether a value needs no conversion."""
        if type(x) is not list or len(x) != len(self.members):  # pyright: ignore[reportUnknownArgumentType]  of anything
            return False
        return all(pattern.fits(v) for pattern, v in zip(self.members, x, strict=True))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  as above


_InputPattern = _ArrayPattern | _ListPattern | _AbsentPattern


def _pattern_of(value: object, bound: object) -> _InputPattern | None:
    """Returns a pattern for a value that needed no conversion; None if it was converted, or has another class."""
    if value is None and bound is None:
        return _AbsentPattern()
    if type(value) is np.ndarray:
        return _ArrayPattern(value.dtype, value.shape) if value is bound else None
    if type(value) is not list or type(bound) is not list or len(value) != len(bound):  # pyright: ignore[reportUnknownArgumentType]  of anything
        return None
    members = [_pattern_of(x, y) for x, y in zip(value, bound, strict=True)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  as above
    patterns = [m for m in members if m is not None]
    return _ListPattern(tuple(patterns)) if len(patterns) == len(members) else None


def _declared(function: Function) -> dict[str, _InputPattern] | None:
    """Returns patterns from the declared types of inputs; None if they are not sufficient."""
    if function.input_ports:
        return None
    result: dict[str, _InputPattern] = {}
    for name, value in zip(names_of(function), function.inputs, strict=True):
        type = value.type
        if not isinstance(type, TensorType) or not type.is_static:
            return None
        try:
            result[name] = _ArrayPattern(dtype_of(type.element.name), type.static_shape)
        except KeyError:  # numpy has no such dtype
            return None
    return result


class Binder:
    """Binds inputs of runs of one function."""

    def __init__(self, function: Function, required: Sequence[Requirement] = ()) -> None:
        self._function = function
        self._requirements = required
        self._patterns = None if required else _declared(function)
        self._dims: dict[str, int] = {}

    def bind(self, inputs: Mapping[str, object]) -> BoundInputs:
        """Returns values for the inputs; see `binding.bind`."""
        arrays = self.bound_as_before(inputs)
        if arrays is not None:
            return BoundInputs(arrays, dict(self._dims))
        self._patterns = None
        bound = bind(self._function, inputs, self._requirements)
        names = names_of(self._function)
        # Converted and default values are computed again in each run.
        if len(inputs) == len(names):
            pairs = zip(names, bound.arrays, strict=True)
            patterns = {n: pattern for n, x in pairs if (pattern := _pattern_of(inputs[n], x)) is not None}
            if len(patterns) == len(names):
                self._patterns, self._dims = patterns, dict(bound.dims)
        return bound

    def bound_as_before(self, inputs: Mapping[str, object]) -> tuple[Array, ...] | None:
        """Returns the values in the order of the inputs; None if one does not match the previous run."""
        patterns = self._patterns
        if patterns is None or len(inputs) != len(patterns):
            return None
        result: list[Array] = []
        for name, pattern in patterns.items():
            x = inputs.get(name)
            if not pattern.fits(x):
                return None
            result.append(x)  # pyright: ignore[reportArgumentType]  lists are values too (`values.py`)
        return tuple(result)
