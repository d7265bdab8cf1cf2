"""Convolutions of integers for targets that have those of floats: in single precision where every sum is exact.

A sum of products is exact in any order if the magnitudes of all of them add up to no more than the precision holds.
Where the channels of a window add up to more, they are convolved in parts, and the sums of these added as integers.
Constant filters bound the sums, and stay bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.conversions.core_to_core.integer_bounds import integer_range, known_integers
from commonir.conversions.operands import rank_of
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.ir.data import ArrayData, Data, data_of
from commonir.ir.floats import FORMATS
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, f32, i8, i32, u8

if TYPE_CHECKING:
    from commonir.conversions.core_to_core.integer_bounds import Integers

_MOST = 1 << FORMATS[f32.name].precision
"""Up to which magnitude single precision holds every integer."""


class Bytes(NamedTuple):
    """Integers as bytes, and the one number that is taken away from all of them."""

    data: Data
    zero_point: int


def as_bytes(integers: Integers) -> Bytes | None:
    """Integers as bytes less a zero point; None when they lie too far apart."""
    low, high = (int(integers.min()), int(integers.max())) if integers.size else (0, 0)
    if low >= -128 and high <= 127:
        return Bytes(ArrayData(TensorType(i8, integers.shape), integers.astype("int8")), 0)
    zero_point = max(-low, 0)
    if max(zero_point, high + zero_point) > 255:
        return None
    return Bytes(ArrayData(TensorType(u8, integers.shape), (integers + zero_point).astype("uint8")), zero_point)


def in_single_precision(op: core.Conv, x: Value, weight: Value, bias: Value | None) -> Value | None:
    """Returns a convolution of integers in single precision; None when sums may be rounded."""
    sums = _Sums.of(op)
    counts = None if sums is None else sums.channels()
    if sums is None or counts is None:
        return None
    element = tensor_type(op.y).element
    wide = element if element.bits >= i32.bits else i32
    is_held = op.bias is None or sums.largest + integer_range(op.bias).magnitude <= _MOST
    row = _row(op.bias, bias) if is_held else None
    y: Value | None = None
    images = _in_parts(core.cast(x, f32), counts, op.groups)
    for image, filters in zip(images, _filters(weight, sums.known, counts), strict=True):
        part = core.conv(image, filters, row, op.strides, op.dilations, op.pads, op.groups)
        y = core.cast(part, wide) if y is None else core.add(y, core.cast(part, wide))
    if y is None:
        return None
    if bias is not None and row is None:
        y = core.add(y, core.reshape(_converted(bias, wide), (-1, *(1,) * (rank_of(op.y) - 2))))
    return _converted(y, element)


def _row(source: Value | None, bias: Value | None) -> Value | None:
    """A bias in single precision; one that is constant stays so."""
    known = None if source is None else known_integers(source)
    if known is not None:
        return core.constant(ArrayData(TensorType(f32, known.shape), known.astype("float32")))
    return None if bias is None else core.cast(bias, f32)


def _converted(value: Value, element: ElementType) -> Value:
    return value if tensor_type(value).element is element else core.cast(value, element)


class _Sums:
    """How large sums of products can be: `by_channel[f, c]` times `factor` is a bound for one channel of one filter."""

    def __init__(self, known: Integers | None, by_channel: Integers, factor: int) -> None:
        self.known = known
        self._by_channel = by_channel
        self._factor = factor

    @classmethod
    def of(cls, op: core.Conv) -> _Sums | None:
        """Returns the bounds of an integer convolution; None when the number of products is not known."""
        import numpy as np  # noqa: PLC0415  only where there are integers to convolve

        shape = [d for d in tensor_type(op.weight).shape or () if isinstance(d, int)]
        if not shape or len(shape) != len(tensor_type(op.weight).shape or ()):
            return None
        factor = integer_range(op.x).magnitude
        known = known_integers(op.weight)
        if known is not None:
            return cls(known, np.abs(known).reshape(*shape[:2], -1).sum(2), factor)
        products = math.prod(shape[2:]) * integer_range(op.weight).magnitude
        return cls(None, np.full((1, shape[1]), products, np.int64), factor)

    @property
    def largest(self) -> int:
        """A bound for the sum over all channels."""
        return int(self._by_channel.sum(1).max(initial=0)) * self._factor

    def channels(self) -> tuple[int, ...] | None:
        """Of how many channels sums are exact, one part after another; None when those of a single one are not."""
        most = _MOST // max(self._factor, 1)
        total = self._by_channel.cumsum(1)
        counts: list[int] = []
        begin, count = 0, total.shape[1]
        while begin < count:
            before = total[:, begin - 1 : begin] if begin else 0
            end = int((total - before <= most).all(0).sum())
            if end == begin:
                return None
            counts.append(end - begin)
            begin = end
        return tuple(counts) or (0,)


def _in_parts(x: Value, counts: tuple[int, ...], groups: int) -> Sequence[Value]:
    """The channels of a tensor in parts, each of which has so many of every group."""
    if len(counts) == 1:
        return (x,)
    if groups == 1:
        return core.split(x, 1, counts)
    parts: list[Value] = []
    begin, every = 0, sum(counts)
    for count in counts:
        at = [group * every + c for group in range(groups) for c in range(begin, begin + count)]
        parts.append(core.gather(x, core.vector(tuple(at), i32), 1))
        begin += count
    return parts


def _filters(weight: Value, known: Integers | None, counts: tuple[int, ...]) -> Sequence[Value]:
    """Filters in single precision for so many channels each."""
    if known is None:
        wide = core.cast(weight, f32)
        return (wide,) if len(counts) == 1 else core.split(wide, 1, counts)
    parts: list[Value] = []
    begin = 0
    for count in counts:
        parts.append(_constant(known[:, begin : begin + count]))
        begin += count
    return parts


def _constant(integers: Integers) -> Value:
    """Integers as a constant of single precision, in bytes where they fit."""
    result = as_bytes(integers)
    if result is None:
        return core.constant(ArrayData(TensorType(f32, integers.shape), integers.astype("float32")))
    offset = core.constant(data_of(u8, (), (result.zero_point,))) if result.zero_point else None
    return core.dequantize(core.constant(result.data), core.scalar(1.0, f32), offset)
