"""The bytes of a buffer that the tensors of an ARK program occupy.

A tensor is a box in a row-major array that begins with its buffer: `strides` are the extents of that array, `offsets`
is where the box begins. Padding belongs to no tensor. Source: ARK model files, memory model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType

_FEW = 16
"""Views that are looked at one by one."""
_PAGES = 512
_MAX_RUNS = 1 << 12
"""The maximum number of byte runs of a view that are compared; larger views are compared by first and last byte."""


class View(NamedTuple):
    """A part of a buffer as a tensor."""

    buffer: int
    element: ElementType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offsets: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Returns whether it is all of the array around it."""
        return self.shape == self.strides

    @property
    def array_bytes(self) -> int:
        """Returns how many bytes the array around it takes, from the beginning of the buffer."""
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
        """Returns how many elements lie between neighbours of each dimension."""
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
        """Returns how many runs there are."""
        return prod(self.shape[: self._inner()])


class Views:
    """The distinct views of one buffer. Finds those near one without a scan of all."""

    __slots__ = ("_page_bytes", "_pages", "_views")

    def __init__(self) -> None:
        self._views: dict[View, None] = {}
        self._pages: dict[int, dict[View, None]] = {}
        self._page_bytes = 0

    def __iter__(self) -> Iterator[View]:
        return iter(self._views)

    def __contains__(self, view: View) -> bool:
        return view in self._views

    def add(self, view: View) -> None:
        """Adds a view."""
        if view in self._views:
            return
        self._views[view] = None
        if self._page_bytes:
            for page in self._pages_of(view):
                self._pages.setdefault(page, {})[view] = None
        elif len(self._views) > _FEW:
            self._page_bytes = max(1, max([v.array_bytes for v in self._views]) // _PAGES)
            for known in self._views:
                for page in self._pages_of(known):
                    self._pages.setdefault(page, {})[known] = None

    def remove(self, view: View) -> None:
        """Takes a view out."""
        del self._views[view]
        if self._page_bytes:
            for page in self._pages_of(view):
                del self._pages[page][view]

    def near(self, view: View) -> Iterable[View]:
        """All that may have a byte in common with a view, and perhaps others."""
        if not self._page_bytes:
            return tuple(self._views)
        return {known: None for page in self._pages_of(view) for known in self._pages.get(page, ())}

    def _pages_of(self, view: View) -> range:
        start, stop = view.span
        return range(start // self._page_bytes, (stop - 1) // self._page_bytes + 1)


def overlap(a: View, b: View) -> bool:
    """Returns whether two views have a byte in common; views of very many runs may be said to where they only
    interlock.
    """
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
    """Returns whether runs of two ascending lists meet."""
    one, other = next(first, None), next(second, None)
    while one is not None and other is not None:
        if one[1] <= other[0]:
            one = next(first, None)
        elif other[1] <= one[0]:
            other = next(second, None)
        else:
            return True
    return False


def contains(a: View, b: View) -> bool:
    """Returns whether one view has all bytes of another one, as far as this is decidable: it is a box in it, or its
    bytes have no gap.
    """
    if a.buffer != b.buffer:
        return False
    if is_box_in(a, b):
        return True
    (first, last), (start, stop) = a.span, b.span
    return first <= start and stop <= last and a.run_count == 1


def is_box_in(a: View, b: View) -> bool:
    """Returns whether the second view is a box in the first one, in the same array."""
    if a.buffer != b.buffer or a.element.bits != b.element.bits or a.strides != b.strides:
        return False
    boxes = zip(a.offsets, a.shape, b.offsets, b.shape, strict=True)
    return all(p <= q and q + m <= p + n for p, n, q, m in boxes)
