"""A source of arguments, and what is drawn: an operator with inputs and attributes.

Numbers are multiples of 1/8 where that does no harm, so that sums do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_T = TypeVar("_T")

Attributes = Mapping[str, Any]


class Case(NamedTuple):
    """An operator with its inputs."""

    operator: str
    inputs: Sequence[Array | None]
    attributes: Attributes = MappingProxyType({})
    outputs: int = 1
    opset: int = 18
    constants: tuple[int, ...] = ()
    """Inputs that are constants in real models more often than not."""
    rtol: float = 1e-4


Recipe = Callable[["Draw"], Case]


class Draw:
    """A source of arguments."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def among(self, *values: _T) -> _T:
        return values[int(self.random.integers(len(values)))]

    def chance(self, of: float) -> bool:
        return bool(self.random.random() < of)

    def integer(self, low: int, high: int) -> int:
        """One of `low` to `high`, both included."""
        return int(self.random.integers(low, high + 1))

    def integers(self, count: int, low: int, high: int) -> list[int]:
        return [self.integer(low, high) for _ in range(count)]

    def shape(self, low: int = 0, high: int = 4, *, empty: float = 0.08) -> tuple[int, ...]:
        """Sizes of some axes; seldom one of them is 0."""
        sizes = [self.among(1, 2, 3, 4, 5) for _ in range(self.integer(low, high))]
        if sizes and self.chance(empty):
            sizes[self.integer(0, len(sizes) - 1)] = 0
        return tuple(sizes)

    def beside(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts with another."""
        sizes = [1 if self.chance(0.3) else n for n in shape]
        return tuple(sizes[self.integer(0, len(sizes)) if self.chance(0.4) else 0 :])

    def axis(self, rank: int) -> int:
        return self.integer(-rank, rank - 1)

    def axes(self, rank: int, low: int = 0) -> list[int]:
        """Some axes in any order, counted from either end."""
        count = self.integer(min(low, rank), rank)
        chosen = [int(a) for a in self.random.permutation(rank)[:count]]
        return [a - rank if self.chance(0.4) else a for a in chosen]

    def numbers(self, shape: Sequence[int], dtype: str = "f4", low: int = -24, high: int = 24) -> Array:
        """Numbers of a type; floats are eighths of integers between two bounds."""
        kind = np.dtype(dtype).kind
        drawn = self.random.integers(low, high + 1, size=tuple(shape))
        if kind == "f":
            return (drawn / 8).astype(dtype)
        if kind == "b":
            return drawn % 2 == 0
        return (np.abs(drawn) if kind == "u" else drawn).astype(dtype)

    def distinct(self, shape: Sequence[int], dtype: str = "f4") -> Array:
        """Numbers of which no two are the same."""
        count = int(np.prod(shape))
        return (self.random.permutation(count) - count // 2).reshape(tuple(shape)).astype(dtype)

    def special(self, shape: Sequence[int], dtype: str = "f4") -> Array:
        """Numbers with infinite ones, zeros of both signs and what is not a number among them."""
        x = self.numbers(shape, dtype)
        odd = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e30], dtype)
        where = self.random.random(x.shape) < 0.25
        return np.where(where, self.random.choice(odd, x.shape), x).astype(dtype)

    def below(self, shape: Sequence[int], size: int, dtype: str = "i8") -> Array:
        """Positions along an axis, counted from either end."""
        return self.random.integers(-size, size, size=tuple(shape)).astype(dtype)

    def positive(self, shape: Sequence[int], dtype: str = "f4") -> Array:
        return self.numbers(shape, dtype, 1, 24)


def vector(*values: int, dtype: str = "i8") -> Array:
    """A tensor of rank 1."""
    return np.array(values, dtype)
