"""Random operands and attributes, reproducible from a name and a number."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of

T = TypeVar("T")
Array = NDArray[Any]

PRECISION = {"f64": 1e-12, "f32": 2e-6, "f16": 2e-3, "bf16": 2e-2}
"""Relative errors of a few roundings in each element type."""


class Case(NamedTuple):
    """Operands in order of declaration and attributes of one operation, and the results an outside oracle gives."""

    operands: tuple[Array | tuple[Array, ...] | None, ...]
    attributes: dict[str, Any]
    expected: tuple[Array, ...]
    tolerance: float = 0.0
    """Allowed difference, relative to the larger of 1 and the expected value."""


class Draw:
    """A source of random choices."""

    def __init__(self, name: str, number: int) -> None:
        self.random = np.random.default_rng([zlib.crc32(name.encode()), number])

    def integer(self, low: int, high: int) -> int:
        """A number of `[low, high]`."""
        return int(self.random.integers(low, high + 1))

    def flag(self) -> bool:
        return self.integer(0, 1) == 1

    def among(self, *choices: T) -> T:
        return choices[self.integer(0, len(choices) - 1)]

    def integers(self, count: int, low: int, high: int) -> tuple[int, ...]:
        return tuple([self.integer(low, high) for _ in range(count)])

    def shape(self, least_rank: int = 0, most_rank: int = 4, *, least: int = 1, most: int = 4) -> tuple[int, ...]:
        return self.integers(self.integer(least_rank, most_rank), least, most)

    def maybe_empty(self, least_rank: int = 0, most_rank: int = 4) -> tuple[int, ...]:
        """A shape, in one of ten cases with an axis of size 0."""
        shape = list(self.shape(least_rank, most_rank))
        if shape and self.integer(0, 9) == 0:
            shape[self.integer(0, len(shape) - 1)] = 0
        return tuple(shape)

    def axis(self, rank: int) -> int:
        """An axis counted from the front or from the end."""
        return self.integer(-rank, rank - 1)

    def axes(self, rank: int, least: int = 0) -> tuple[int, ...]:
        """Some different axes, counted from the front or from the end, in any order."""
        chosen = self.random.permutation(rank)[: self.integer(least, rank)]
        return tuple([int(a) - rank * self.integer(0, 1) for a in chosen])

    def array(self, shape: tuple[int, ...], element: str = "f32", low: float = -4, high: float = 4) -> Array:
        """An array of values of `[low, high]`, integers where the element type has only these."""
        if element == "i1":
            return np.asarray(self.random.integers(0, 2, shape), np.bool_)
        if element.startswith("ui"):
            low = max(low, 0)
        if element.startswith(("i", "ui")):
            return np.asarray(self.random.integers(int(low), int(high) + 1, shape)).astype(dtype_of(element))
        return np.asarray(self.random.uniform(low, high, shape)).astype(dtype_of(element))

    def broadcast(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to another one."""
        preserved = shape[self.integer(0, len(shape)) :]
        return tuple([1 if self.integer(0, 3) == 0 else n for n in preserved])


def element_of(array: Array) -> str:
    """The name of the element type of an array, as `PRECISION` has it."""
    return name_of(array.dtype)


def precision(array: Array, roundings: float = 1) -> float:
    """The tolerance for results of the element type of an array; 0 where it is exact."""
    return PRECISION.get(element_of(array), 0.0) * roundings
