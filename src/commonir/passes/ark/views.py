"""Which bytes of a buffer the tensors of an ARK program are.

A tensor is a box in a row-major array that begins with its buffer: `strides` are the extents of that array, `offsets`
is where the box begins. Padding belongs to no tensor. Source: ARK model files, memory model.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NamedTuple

from commonir.dialects import ark
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType

_MAX_RUNS = 1 << 12
"""Runs of bytes of a view that are looked at one by one; views of more are told apart by first and last byte."""


class View(NamedTuple):
    """A part of a buffer as a tensor."""

    buffer: int
    element: ElementType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offsets: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the array around it."""
        return self.shape == self.strides

    @property
    def array_bytes(self) -> int:
        """How many bytes the array around it takes, from the beginning of the buffer."""
        return prod(self.strides) * self.element.bits // 8

    @property
    def span(self) -> tuple[int, int]:
        """The first byte, and the one after the last."""
        item = self.element.bits // 8
        steps = self._steps()
        first = sum([o * s for o, s in zip(self.offsets, steps, strict=True)])
        last = first + sum([(n - 1) * s for n, s in zip(self.shape, steps, strict=True)])
        return first * item, (last + 1) * item

    def _steps(self) -> list[int]:
        """How many elements lie between neighbours of each dimension."""
        return [prod(self.strides[n + 1 :]) for n in range(len(self.strides))]

    def runs(self) -> Iterator[tuple[int, int]]:
        """Bytes that follow each other, as first and one after the last, in ascending order."""
        item = self.element.bits // 8
        steps = self._steps()
        first = self.span[0]
        inner = self._inner()
        size = prod(self.shape[inner:]) * item
        for position in product(*[range(n) for n in self.shape[:inner]]):
            start = first + sum([p * s for p, s in zip(position, steps, strict=False)]) * item
            yield start, start + size

    def _inner(self) -> int:
        """The first of the dimensions whose elements lie next to each other."""
        inner = len(self.shape)
        while inner and (inner == len(self.shape) or self.shape[inner] == self.strides[inner]):
            inner -= 1
        return inner

    @property
    def run_count(self) -> int:
        """How many runs there are."""
        return prod(self.shape[: self._inner()])


def view_of(value: Value) -> View:
    """The part of a buffer that a tensor is. Raises: TypeError for a value that is no tensor of a file."""
    held = ark.view_of(value)
    kind = value.type
    if held is None or not isinstance(kind, TensorType):
        raise TypeError(f"expected a tensor of a buffer, found {value.type}")
    return View(held.buffer, kind.element, ark.sizes_of(value), held.strides, held.offsets)


def overlap(a: View, b: View) -> bool:
    """Whether two views have a byte in common; views of very many runs may be said to where they only interlock."""
    if a.buffer != b.buffer:
        return False
    if a.strides == b.strides and a.element.bits == b.element.bits:
        boxes = zip(a.offsets, a.shape, b.offsets, b.shape, strict=True)
        return all(p < q + m and q < p + n for p, n, q, m in boxes)
    (first, last), (start, stop) = a.span, b.span
    if first >= stop or start >= last:
        return False
    if max(a.run_count, b.run_count) > _MAX_RUNS:
        return True
    return _meet(a.runs(), b.runs())


def _meet(first: Iterator[tuple[int, int]], second: Iterator[tuple[int, int]]) -> bool:
    """Whether runs of two ascending lists meet."""
    one, other = next(first, None), next(second, None)
    while one is not None and other is not None:
        if one[1] <= other[0]:
            one = next(first, None)
        elif other[1] <= one[0]:
            other = next(second, None)
        else:
            return True
    return False


def buffer_bytes(rank: ark.Rank) -> dict[int, int]:
    """The bytes of each buffer of a rank, by number: as many as the largest array in it takes."""
    sizes: dict[int, int] = {}
    for op in rank.body.operations:
        for value in op.results:
            held = ark.view_of(value)
            if held is not None and held.is_local(rank.rank):
                sizes[held.buffer] = max(sizes.get(held.buffer, 0), view_of(value).array_bytes)
    return sizes


__all__ = ["View", "buffer_bytes", "overlap", "view_of"]
