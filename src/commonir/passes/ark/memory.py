"""Tracks the contents of the buffers of a rank as values, while its operations are visited in order.

A tensor that is written and read through the same view is the value itself; slices, bit casts and concatenations are
only created where views differ. Parts are not combined before they are read. Source: ARK model files, memory model.
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

_MAX_PARTS = 64
"""Parts of a buffer that are kept apart; more of them are put together."""

Shape = tuple[int, ...]


class _Part(NamedTuple):
    """The value written through a view."""

    view: View
    value: Value


class _Buffer:
    """One buffer. `parts` are the writes, oldest first, over zeros; `contents` caches values of views."""

    __slots__ = ("contents", "parts", "size_bytes", "views")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.parts: list[_Part] = []
        self.contents: dict[View, Value] = {}
        self.views = Views()

    def remember(self, view: View, value: Value) -> None:
        """Caches the value of a view until bytes of it are written."""
        self.contents[view] = value
        self.views.add(view)

    def forget(self, view: View) -> None:
        """Removes cached values of views that overlap a view."""
        for other in [other for other in self.views.near(view) if overlap(other, view)]:
            self.views.remove(other)
            del self.contents[other]


class Memory:
    """The buffers of a rank, initially zero. `insert` inserts the operations that compute a value into the program."""

    def __init__(self, sizes_bytes: Mapping[int, int], insert: Callable[[Value], None]) -> None:
        self._buffers = {number: _Buffer(buffer_bytes) for number, buffer_bytes in sizes_bytes.items()}
        self._insert = insert
        self._arrays: dict[tuple[Value, ElementType, Shape], Value] = {}

    def write(self, view: View, value: Value) -> None:
        """Writes a value to a view of its shape and element type."""
        buffer = self._buffers[view.buffer]
        buffer.parts = [part for part in buffer.parts if not contains(view, part.view)]
        buffer.parts.append(_Part(view, value))
        buffer.forget(view)
        buffer.remember(view, value)
        if len(buffer.parts) > _MAX_PARTS:
            self._merge_parts(buffer)

    def read(self, view: View) -> Value:
        """Returns the contents of a view."""
        buffer = self._buffers[view.buffer]
        result = buffer.contents.get(view)
        if result is None:
            result = self._read_parts(buffer, view)
            self._insert(result)
            buffer.remember(view, result)
        return result

    def _read_parts(self, buffer: _Buffer, view: View) -> Value:
        for part in reversed(buffer.parts):
            result = self._cut(part, view)
            if result is not None:
                return result
            if overlap(part.view, view):
                self._merge_parts(buffer)
                contents = self._cut(buffer.parts[0], view)
                assert contents is not None
                return contents
        return _zeros(view.element, view.shape)

    def _cut(self, part: _Part, view: View) -> Value | None:
        """Returns the contents of a view that lies inside one part; None if it does not, or that is not known."""
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

    def _array(self, value: Value, element: ElementType, shape: Shape) -> Value:
        """Returns the first bytes of a value as an array."""
        key = (value, element, shape)
        result = self._arrays.get(key)
        if result is None:
            result = _bytes_as(value, 0, prod(shape) * element.bits // 8, element, shape)
            self._insert(result)
            self._arrays[key] = result
        return result

    def _merge_parts(self, buffer: _Buffer) -> None:
        """Merges all parts into one that has every byte of the buffer."""
        whole: Value | None = None
        at = 0
        while at < len(buffer.parts):
            view = buffer.parts[at].view
            stop = at
            while stop < len(buffer.parts) and _have_same_layout(view, buffer.parts[stop].view):
                stop += 1
            whole = self._joined(buffer, whole, buffer.parts[at:stop])
            at = stop
        assert whole is not None
        self._insert(whole)
        type = core.as_tensor(whole.type)
        shape = type.static_shape
        view = View(buffer.parts[0].view.buffer, type.element, shape, shape, (0,) * len(shape))
        buffer.parts = [_Part(view, whole)]

    def _joined(self, buffer: _Buffer, before: Value | None, parts: Sequence[_Part]) -> Value:
        """Returns all bytes of a buffer after parts of one layout were written over its previous contents."""
        view = parts[0].view
        element, shape, end = view.element, view.strides, view.array_bytes
        base = None if before is None else self._array(before, element, shape)
        boxes = [_Box(part.view.offsets, part.view.shape, part.value) for part in parts]
        origin = (0,) * len(shape)
        array = _filled(_Base(origin, shape, element, base, origin), boxes)
        if end == buffer.size_bytes:
            return array
        unit = element if buffer.size_bytes * 8 % element.bits == 0 else u8
        count = (buffer.size_bytes - end) * 8 // unit.bits
        rest = _zeros(unit, (count,)) if before is None else _bytes_as(before, end, buffer.size_bytes, unit, (count,))
        return core.concat((_bytes_as(array, 0, end, unit, (end * 8 // unit.bits,)), rest), 0)


def _have_same_layout(a: View, b: View) -> bool:
    return a.element is b.element and a.strides == b.strides


class _Box(NamedTuple):
    """A part of an array that was written."""

    starts: Shape
    shape: Shape
    value: Value

    def span(self, axis: int) -> tuple[int, int]:
        """Returns the begin and end along an axis."""
        return self.starts[axis], self.starts[axis] + self.shape[axis]


class _Base(NamedTuple):
    """A part of the previous array: of `array`, which begins at `origin`; zeros if there is none."""

    starts: Shape
    shape: Shape
    element: ElementType
    array: Value | None
    origin: Shape

    def span(self, axis: int) -> tuple[int, int]:
        """Returns the begin and end along an axis."""
        return self.starts[axis], self.starts[axis] + self.shape[axis]

    def between(self, axis: int, start: int, stop: int) -> _Base:
        """Returns the range between two positions of an axis."""
        starts = (*self.starts[:axis], start, *self.starts[axis + 1 :])
        shape = (*self.shape[:axis], stop - start, *self.shape[axis + 1 :])
        return self._replace(starts=starts, shape=shape)

    def value(self) -> Value:
        """Returns its contents. They are sliced only now, because most writes are overwritten."""
        if self.array is None:
            return _zeros(self.element, self.shape)
        return _sliced(self.array, tuple([s - o for s, o in zip(self.starts, self.origin, strict=True)]), self.shape)


def _filled(ground: _Base, boxes: Sequence[_Box]) -> Value:
    """Returns a part of an array after boxes inside it were written, one after another."""
    if not boxes:
        return ground.value()
    newest = boxes[-1]
    if newest.shape == ground.shape:
        return newest.value
    if ground.array is None and len(boxes) == 1:
        before = tuple([p - q for p, q in zip(newest.starts, ground.starts, strict=True)])
        after = tuple([n - b - m for n, b, m in zip(ground.shape, before, newest.shape, strict=True)])
        return core.pad(newest.value, before, after)
    for axis in range(len(ground.shape)):
        spans = sorted({box.span(axis) for box in boxes})
        apart = all(a[1] <= b[0] for a, b in pairwise(spans))
        if apart and spans != [ground.span(axis)]:
            return _concatenated(ground, boxes, axis, spans)
    for box in boxes:
        ground = ground._replace(array=_filled(ground, [box]), origin=ground.starts)
    return ground.value()


def _concatenated(ground: _Base, boxes: Sequence[_Box], axis: int, spans: Sequence[tuple[int, int]]) -> Value:
    """Returns a part of an array in which boxes follow one another along an axis."""
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


def _zeros(element: ElementType, shape: Shape) -> Value:
    return core.broadcast_to(core.scalar(0, element), shape)


def _shape_of(value: Value) -> Shape:
    return core.as_tensor(value.type).static_shape


def _sliced(value: Value, starts: Shape, shape: Shape) -> Value:
    if shape == _shape_of(value):
        return value
    return core.slice(value, starts, tuple([s + n for s, n in zip(starts, shape, strict=True)]), (1,) * len(shape))


def _reshaped(value: Value, shape: Shape) -> Value:
    return value if shape == _shape_of(value) else core.reshape(value, shape)


def _cast(value: Value, element: ElementType) -> Value:
    """Returns the bits as an element type of the same width."""
    return value if core.as_tensor(value.type).element is element else core.bit_cast(value, element)


def _bytes_as(value: Value, start: int, stop: int, element: ElementType, shape: Shape) -> Value:
    """Returns a range of bytes of a value, which begins and ends with elements of a type, as an array of this type."""
    source = core.as_tensor(value.type).element
    item, count = source.bits // 8, prod(_shape_of(value))
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
