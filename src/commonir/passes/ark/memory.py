"""Contents of the buffers of a rank, as values, while its operations are visited in order.

A tensor that is written and read under one view is the value itself; slices, bit casts and concatenations are made only
where views differ. Nothing is put together before somebody reads it. Source: ARK model files, memory model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.ark.views import View, Views, contains, is_box_in, overlap
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, u8

_MOST_PARTS = 64
"""Parts of a buffer that are kept apart; more of them are put together."""

Sizes = tuple[int, ...]


class _Part(NamedTuple):
    """The value written under a view."""

    view: View
    value: Value


class _Buffer:
    """One buffer. `parts` are what was written, oldest first, later ones over earlier ones, all over zeros."""

    __slots__ = ("known", "known_views", "parts", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.parts: list[_Part] = []
        self.known: dict[View, Value] = {}
        self.known_views = Views()

    def remember(self, view: View, value: Value) -> None:
        """Keeps what a view holds, until bytes of it are written."""
        self.known[view] = value
        self.known_views.add(view)

    def forget(self, view: View) -> None:
        """Forgets what is known of bytes of a view."""
        for other in [other for other in self.known_views.near(view) if overlap(other, view)]:
            self.known_views.remove(other)
            del self.known[other]


class Memory:
    """The buffers of a rank, all zeros at first. `place` puts the operations behind a value into the program."""

    def __init__(self, sizes_bytes: Mapping[int, int], place: Callable[[Value], None]) -> None:
        self._buffers = {number: _Buffer(size) for number, size in sizes_bytes.items()}
        self._place = place
        self._arrays: dict[tuple[Value, ElementType, Sizes], Value] = {}

    def write(self, view: View, value: Value) -> None:
        """Puts a value into a view of its shape and element type."""
        buffer = self._buffers[view.buffer]
        buffer.parts = [part for part in buffer.parts if not contains(view, part.view)]
        buffer.parts.append(_Part(view, value))
        buffer.forget(view)
        buffer.remember(view, value)
        if len(buffer.parts) > _MOST_PARTS:
            self._settle(buffer)

    def read(self, view: View) -> Value:
        """Returns the contents of a view."""
        buffer = self._buffers[view.buffer]
        result = buffer.known.get(view)
        if result is None:
            result = self._found(buffer, view)
            self._place(result)
            buffer.remember(view, result)
        return result

    def _found(self, buffer: _Buffer, view: View) -> Value:
        for part in reversed(buffer.parts):
            result = self._cut(part, view)
            if result is not None:
                return result
            if overlap(part.view, view):
                self._settle(buffer)
                whole = self._cut(buffer.parts[0], view)
                assert whole is not None
                return whole
        return _zeros(view.element, view.shape)

    def _cut(self, part: _Part, view: View) -> Value | None:
        """Returns the contents of a view that lies inside one part; None if this is not known."""
        if is_box_in(part.view, view):
            starts = tuple([o - p for o, p in zip(view.offsets, part.view.offsets, strict=True)])
            return _cast(_sliced(part.value, starts, view.shape), view.element)
        if part.view.run_count > 1:
            return None
        (first, last), (start, stop) = part.view.span, view.span
        if view.run_count == 1:
            inside = first <= start and stop <= last
            return _bytes_as(part.value, start - first, stop - first, view.element, view.shape) if inside else None
        if first or view.array_bytes > last:
            return None
        return _sliced(self._array(part.value, view.element, view.strides), view.offsets, view.shape)

    def _array(self, value: Value, element: ElementType, shape: Sizes) -> Value:
        """The first bytes of a value as an array."""
        key = (value, element, shape)
        result = self._arrays.get(key)
        if result is None:
            result = _bytes_as(value, 0, prod(shape) * element.bits // 8, element, shape)
            self._place(result)
            self._arrays[key] = result
        return result

    def _settle(self, buffer: _Buffer) -> None:
        """Makes one part of all, which has every byte of the buffer."""
        whole: Value | None = None
        at = 0
        while at < len(buffer.parts):
            view = buffer.parts[at].view
            stop = at
            while stop < len(buffer.parts) and _are_alike(view, buffer.parts[stop].view):
                stop += 1
            whole = self._joined(buffer, whole, buffer.parts[at:stop])
            at = stop
        assert whole is not None
        self._place(whole)
        type = core.as_tensor(whole.type)
        shape = type.static_shape
        view = View(buffer.parts[0].view.buffer, type.element, shape, shape, (0,) * len(shape))
        buffer.parts = [_Part(view, whole)]

    def _joined(self, buffer: _Buffer, before: Value | None, parts: Sequence[_Part]) -> Value:
        """All bytes of a buffer after parts that are alike were written over what it was before."""
        view = parts[0].view
        element, shape, end = view.element, view.strides, view.array_bytes
        base = None if before is None else self._array(before, element, shape)
        boxes = [_Box(part.view.offsets, part.view.shape, part.value) for part in parts]
        origin = (0,) * len(shape)
        array = _filled(_Ground(origin, shape, element, base, origin), boxes)
        if end == buffer.size_bytes:
            return array
        unit = element if buffer.size_bytes * 8 % element.bits == 0 else u8
        count = (buffer.size_bytes - end) * 8 // unit.bits
        rest = _zeros(unit, (count,)) if before is None else _bytes_as(before, end, buffer.size_bytes, unit, (count,))
        return core.concat((_bytes_as(array, 0, end, unit, (end * 8 // unit.bits,)), rest), 0)


def _are_alike(a: View, b: View) -> bool:
    return a.element is b.element and a.strides == b.strides


class _Box(NamedTuple):
    """A part of an array that was written."""

    starts: Sizes
    sizes: Sizes
    value: Value

    def span(self, axis: int) -> tuple[int, int]:
        """Where it begins and ends along an axis."""
        return self.starts[axis], self.starts[axis] + self.sizes[axis]


class _Ground(NamedTuple):
    """A part of an array as it was before: of `array`, which begins at `origin`; zeros where there is none."""

    starts: Sizes
    sizes: Sizes
    element: ElementType
    array: Value | None
    origin: Sizes

    def span(self, axis: int) -> tuple[int, int]:
        """Where it begins and ends along an axis."""
        return self.starts[axis], self.starts[axis] + self.sizes[axis]

    def between(self, axis: int, start: int, stop: int) -> _Ground:
        """Returns the range between two positions of an axis."""
        starts = (*self.starts[:axis], start, *self.starts[axis + 1 :])
        sizes = (*self.sizes[:axis], stop - start, *self.sizes[axis + 1 :])
        return self._replace(starts=starts, sizes=sizes)

    def value(self) -> Value:
        """Returns its contents: cut out here, because most writes are overwritten."""
        if self.array is None:
            return _zeros(self.element, self.sizes)
        return _sliced(self.array, tuple([s - o for s, o in zip(self.starts, self.origin, strict=True)]), self.sizes)


def _filled(ground: _Ground, boxes: Sequence[_Box]) -> Value:
    """A part of an array after boxes inside of it were written, one after another."""
    if not boxes:
        return ground.value()
    newest = boxes[-1]
    if newest.sizes == ground.sizes:
        return newest.value
    if ground.array is None and len(boxes) == 1:
        before = tuple([p - q for p, q in zip(newest.starts, ground.starts, strict=True)])
        after = tuple([n - b - m for n, b, m in zip(ground.sizes, before, newest.sizes, strict=True)])
        return core.pad(newest.value, before, after)
    for axis in range(len(ground.sizes)):
        spans = sorted({box.span(axis) for box in boxes})
        apart = all(a[1] <= b[0] for a, b in pairwise(spans))
        if apart and spans != [ground.span(axis)]:
            return _in_a_row(ground, boxes, axis, spans)
    for box in boxes:
        ground = ground._replace(array=_filled(ground, [box]), origin=ground.starts)
    return ground.value()


def _in_a_row(ground: _Ground, boxes: Sequence[_Box], axis: int, spans: Sequence[tuple[int, int]]) -> Value:
    """A part of an array in which boxes lie one after another along an axis."""
    at, end = ground.span(axis)
    pieces: list[Value] = []
    for start, stop in spans:
        if at < start:
            pieces.append(ground.between(axis, at, start).value())
        inside = [box for box in boxes if box.span(axis) == (start, stop)]
        pieces.append(_filled(ground.between(axis, start, stop), inside))
        at = stop
    if at < end:
        pieces.append(ground.between(axis, at, end).value())
    return pieces[0] if len(pieces) == 1 else core.concat(tuple(pieces), axis)


def _zeros(element: ElementType, shape: Sizes) -> Value:
    return core.broadcast_to(core.scalar(0, element), shape)


def _sizes(value: Value) -> Sizes:
    return core.as_tensor(value.type).static_shape


def _sliced(value: Value, starts: Sizes, sizes: Sizes) -> Value:
    if sizes == _sizes(value):
        return value
    return core.slice(value, starts, tuple([s + n for s, n in zip(starts, sizes, strict=True)]), (1,) * len(sizes))


def _reshaped(value: Value, shape: Sizes) -> Value:
    return value if shape == _sizes(value) else core.reshape(value, shape)


def _cast(value: Value, element: ElementType) -> Value:
    """The bits as numbers of a type of the same width."""
    return value if core.as_tensor(value.type).element is element else core.bit_cast(value, element)


def _bytes_as(value: Value, start: int, stop: int, element: ElementType, shape: Sizes) -> Value:
    """Some bytes of a value, which begin and end with elements of the type asked for, as an array."""
    source = core.as_tensor(value.type).element
    item, count = source.bits // 8, prod(_sizes(value))
    first, last = start // item, -(-stop // item)
    if (first, last) != (0, count):
        value = _sliced(_reshaped(value, (count,)), (first,), (last - first,))
    if source.bits == element.bits:
        return _reshaped(_cast(value, element), shape)
    expected = element.bits // 8
    flat = _reshaped(value, (last - first,))
    if expected > item:
        return _reshaped(core.bits_as(_reshaped(flat, ((stop - start) // expected, expected // item)), element), shape)
    narrow = _reshaped(core.bits_as(flat, element), ((last - first) * item // expected,))
    return _reshaped(_sliced(narrow, ((start - first * item) // expected,), ((stop - start) // expected,)), shape)
