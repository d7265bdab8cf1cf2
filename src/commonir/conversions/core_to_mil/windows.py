"""Rules for pooling and resampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import product

from commonir.conversions.core_to_mil.building import fixed_sizes, scalar, small
from commonir.conversions.core_to_mil.contraction import interleaved, some
from commonir.conversions.operands import dims_of, element_of, rank_of, refused, require_computable, shape_of
from commonir.dialects import core
from commonir.dialects.mil import image, pooling
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, boolean, i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim

Pads = tuple[tuple[int, int], ...]


# -- windows


def _is_plain(op: core.Pool, x: Value) -> bool:
    """Whether MIL has such windows."""
    return element_of(x).is_float and rank_of(x) in (3, 4, 5) and not some(op.dilations)


_NOT_PLAIN = Mismatch("Core ML has undilated windows of floats over one to three axes")


def _pads(op: core.Pool, x: Value) -> tuple[Pads, bool]:
    """Padding, and whether windows may overhang; where sizes are known, padding makes the last windows whole."""
    spatial = len(op.kernel)
    pads = op.pads or ((0, 0),) * spatial
    if not op.ceil_mode:
        return pads, False
    strides, dilations = op.strides or (1,) * spatial, op.dilations or (1,) * spatial
    out: list[tuple[int, int]] = []
    dims = zip(shape_of(x)[2:], shape_of(op.y)[2:], strict=True)
    for (n, count), k, s, d, (low, _) in zip(dims, op.kernel, strides, dilations, pads, strict=True):
        if not isinstance(n, int) or not isinstance(count, int):
            if rank_of(x) > 4 or any(a != b for a, b in pads):
                raise refused("windows that overhang need fixed sizes, or symmetric padding of one or two axes")
            return pads, True
        out.append((low, max((count - 1) * s + (k - 1) * d + 1 - n - low, 0)))
    return tuple(out), False


def _bordered(op: core.Pool, x: Value, pads: Pads, fill: float) -> tuple[Value, Pads]:
    """Padding as long as a window or longer is joined on before."""
    if all(max(pair) < k for pair, k in zip(pads, op.kernel, strict=True)):
        return x, pads
    before, after = (0, 0, *(a for a, _ in pads)), (0, 0, *(b for _, b in pads))
    return core.pad(x, before, after, core.PadMode.CONSTANT, fill), ()


@rule(core.MaxPool)
def max_pool(op: core.MaxPool, context: Context, x: Value) -> Result:
    if not _is_plain(op, x):
        return _NOT_PLAIN
    pads, overhangs = _pads(op, x)
    x, pads = _bordered(op, x, pads, -math.inf)
    pad_type, pad = interleaved(pads)
    return pooling.MaxPool(x, op.kernel, pad_type, some(op.strides), pad, overhangs).output


@rule(core.AveragePool)
def average_pool(op: core.AveragePool, context: Context, x: Value) -> Result:
    if not _is_plain(op, x):
        return _NOT_PLAIN
    if op.ceil_mode and op.count_include_pad:
        return Mismatch("what a window has beyond the padding does not count")
    pads, overhangs = _pads(op, x)
    if any(max(pair) >= k for pair, k in zip(pads, op.kernel, strict=True)):
        return Mismatch("a window may lie in the padding")
    pad_type, pad = interleaved(pads)
    return pooling.AvgPool(x, op.kernel, pad_type, some(op.strides), pad, overhangs, not op.count_include_pad).output


@rule(core.AveragePool)
def average_of_sums(op: core.AveragePool, context: Context, x: Value) -> Result:
    """The sum of each window divided by the number of elements that count there."""
    dims = fixed_sizes(x)
    if dims is None:
        return Mismatch("sizes are not fixed")
    summed = core.sum_pool(x, op.kernel, op.strides, op.dilations, op.pads, op.ceil_mode)
    return core.div(summed, _counts(context, op, x, dims))


def _counts(context: Context, op: core.AveragePool, x: Value, dims: tuple[int, ...]) -> Value:
    """How many elements count in each window, as a tensor that is broadcast."""
    spatial = len(op.kernel)
    lines: list[list[int]] = []
    result = fixed_sizes(op.y)
    if result is None:
        raise refused("sizes are not fixed")
    strides, dilations = op.strides or (1,) * spatial, op.dilations or (1,) * spatial
    pads = op.pads or ((0, 0),) * spatial
    for n, count, k, s, d, (low, high) in zip(dims[2:], result[2:], op.kernel, strides, dilations, pads, strict=True):
        require_computable(count * k)
        inside = range(n + low + high) if op.count_include_pad else range(low, n + low)
        lines.append([sum(i * s + j * d in inside for j in range(k)) for i in range(count)])
    require_computable(math.prod(map(len, lines)))
    values = [float(math.prod(place)) for place in product(*lines)]
    return small(context, element_of(x), (1, 1, *result[2:]), values)


@rule(core.SumPool)
def sum_pool(op: core.SumPool, context: Context, x: Value) -> Result:
    if not _is_plain(op, x):
        return _NOT_PLAIN
    pads, overhangs = _pads(op, x)
    if overhangs:
        return Mismatch("windows that overhang need fixed sizes")
    x, pads = _bordered(op, x, pads, 0.0)
    pad_type, pad = interleaved(pads)
    mean = pooling.AvgPool(x, op.kernel, pad_type, some(op.strides), pad, False, False).output
    return core.mul(mean, scalar(context, float(math.prod(op.kernel)), x))


@rule(core.MaxPool)
def max_of_slices(op: core.MaxPool, context: Context, x: Value) -> Value:
    return _of_slices(op, x, _least(element_of(x)), core.maximum)


@rule(core.SumPool)
def sum_of_slices(op: core.SumPool, context: Context, x: Value) -> Value:
    return _of_slices(op, x, 0, core.add)


def _of_slices(op: core.Pool, x: Value, fill: float, combine: Callable[[Value, Value], Value]) -> Value:
    """The elements of each window combined, those along one axis after another: few operations for large windows."""
    strides, dilations = op.strides or (1,) * len(op.kernel), op.dilations or (1,) * len(op.kernel)
    x = _padded(op, x, fill)
    windows = zip(op.kernel, strides, dilations, dims_of(op.y)[2:], strict=True)
    for axis, (k, stride, dilation, count) in enumerate(windows, 2):
        starts, stops, steps = [0] * rank_of(x), list(dims_of(x)), [1] * rank_of(x)
        steps[axis] = stride
        parts: list[Value] = []
        for first in range(0, k * dilation, dilation):
            starts[axis], stops[axis] = first, first + (count - 1) * stride + 1
            parts.append(core.slice(x, tuple(starts), tuple(stops), tuple(steps)))
        x = reduce(combine, parts)
    return x


def padded_for_slices(op: core.Pool, x: Value) -> list[Value]:
    """The operand at each place of the window, padded by what is not a largest element."""
    return _slices(op, x, _least(element_of(x)))


def _padded(op: core.Pool, x: Value, fill: float) -> Value:
    pads, overhangs = _pads(op, x)
    if overhangs:
        raise refused("windows that overhang need fixed sizes")
    before, after = (0, 0, *(a for a, _ in pads)), (0, 0, *(b for _, b in pads))
    return core.pad(x, before, after, core.PadMode.CONSTANT, fill) if any((*before, *after)) else x


def _slices(op: core.Pool, x: Value, fill: float) -> list[Value]:
    """The operand at each place of the window."""
    spatial = len(op.kernel)
    strides, dilations = op.strides or (1,) * spatial, op.dilations or (1,) * spatial
    wide = _padded(op, x, fill)
    lead, counts = dims_of(x)[:2], dims_of(op.y)[2:]
    steps = (1, 1, *strides)
    result: list[Value] = []
    for place in product(*[range(k) for k in op.kernel]):
        first = [j * d for j, d in zip(place, dilations, strict=True)]
        stops = [f + (n - 1) * s + 1 for f, n, s in zip(first, counts, strides, strict=True)]
        result.append(core.slice(wide, (0, 0, *first), (*lead, *stops), steps))
    return result


def _least(element: ElementType) -> float:
    """The least value of a type."""
    return -math.inf if element.is_float else 0 if element is boolean else -(2**31)


# -- resampling


SAMPLING_MODES = {
    core.Coordinates.HALF_PIXEL: image.SamplingMode.UNALIGN_CORNERS,
    core.Coordinates.ASYMMETRIC: image.SamplingMode.DEFAULT,
    core.Coordinates.ALIGN_CORNERS: image.SamplingMode.STRICT_ALIGN_CORNERS,
    core.Coordinates.ALIGN_CENTRE: image.SamplingMode.ALIGN_CORNERS,
    core.Coordinates.OFFSET: image.SamplingMode.OFFSET_CORNERS,
}


@rule(core.Resize)
def resize(op: core.Resize, context: Context, x: Value) -> Result:
    """Images of a fixed size that is asked for."""
    if len(op.sizes) != 2 or rank_of(x) < 3 or not element_of(x).is_float:
        return Mismatch("mil resizes images of floats")
    height, width = op.sizes
    if not isinstance(height, int) or not isinstance(width, int):
        return Mismatch("the sizes asked for are not fixed")
    if op.mode is core.ResizeMode.LINEAR:
        if op.coordinates not in SAMPLING_MODES:
            return Mismatch(f"mil.resize_bilinear has no coordinates '{op.coordinates.value}'")
        return image.ResizeBilinear(x, height, width, SAMPLING_MODES[op.coordinates]).output
    if _takes_floor(op):
        return image.ResizeNearestNeighbor(x, height, width).output
    return Mismatch("mil.resize_nearest_neighbor takes the element at or before a position")


def _takes_floor(op: core.Resize) -> bool:
    """Whether sample i of m takes element floor(i n / m)."""
    return op.coordinates is core.Coordinates.ASYMMETRIC and op.rounding is core.Rounding.FLOOR


@rule(core.Resize)
def upsample(op: core.Resize, context: Context, x: Value) -> Result:
    """Images scaled by fixed factors, whatever their size."""
    if len(op.sizes) != 2 or rank_of(x) < 3 or not element_of(x).is_float:
        return Mismatch("mil scales images of floats")
    factors = [_factor(n, m) for n, m in zip(shape_of(x)[-2:], op.sizes, strict=True)]
    height, width = factors
    if height is None or width is None:
        return Mismatch("the sizes asked for are not multiples of those of the operand")
    if op.mode is core.ResizeMode.NEAREST:
        if not _takes_floor(op) and not _rounds_down(op):
            return Mismatch("mil.upsample_nearest_neighbor takes the element at or before a position")
        return image.UpsampleNearestNeighbor(x, float(height), float(width)).output
    match op.coordinates:
        # Of images scaled up to one element there is one element already.
        case core.Coordinates.HALF_PIXEL | core.Coordinates.HALF_PIXEL_OR_FIRST:
            return image.UpsampleBilinear(x, float(height), float(width), False).output
        case core.Coordinates.ALIGN_CORNERS:
            return image.UpsampleBilinear(x, float(height), float(width), True).output
        case core.Coordinates.ASYMMETRIC:
            return image.UpsampleBilinear(x, float(height), float(width), False, False).output
        case _:
            return Mismatch(f"mil.upsample_bilinear has no coordinates '{op.coordinates.value}'")


def _rounds_down(op: core.Resize) -> bool:
    """Whether scaling by whole factors repeats elements: the position i / k - part rounds to floor(i / k)."""
    centred = (core.Coordinates.HALF_PIXEL, core.Coordinates.HALF_PIXEL_OR_FIRST)
    return op.coordinates in centred and op.rounding in (core.Rounding.HALF_DOWN, core.Rounding.HALF_UP)


def _factor(dim: Dim | None, expected: Dim) -> int | None:
    """The integer that one size is times another, for every value of their symbols."""
    if dim is None:
        return None
    if isinstance(dim, int) and isinstance(expected, int):
        return expected // dim if dim and expected % dim == 0 else None
    for factor in range(1, 65):
        if dim * factor == expected:
            return factor
    return None


@rule(core.Resize)
def resampled(op: core.Resize, context: Context, x: Value) -> Result:
    """Axis by axis, where sizes are fixed: elements gathered, or a product with a matrix of weights."""
    rank, count = rank_of(x), len(op.sizes)
    y = x
    for axis in range(rank - count, rank):
        n, m = shape_of(x)[axis], op.sizes[axis - rank]
        if n == m and op.coordinates is not core.Coordinates.OFFSET:
            continue
        if not isinstance(n, int) or not isinstance(m, int):
            return Mismatch(f"the sizes of axis {axis} are not fixed, and no operation scales by their ratio")
        require_computable(m)
        positions = [_position(op.coordinates, i, n, m) for i in range(m)]
        if op.mode is core.ResizeMode.NEAREST:
            places = [min(max(_nearest(p, op.rounding), 0), n - 1) for p in positions]
            y = core.gather(y, core.vector(tuple(places), i32), axis)
        else:
            y = _weighted(context, y, axis, n, positions)
    return y


def _position(coordinates: core.Coordinates, i: int, n: int, m: int) -> Fraction:
    """Where sample i of m lies among n elements."""
    match coordinates:
        case core.Coordinates.HALF_PIXEL:
            return Fraction((2 * i + 1) * n - m, 2 * m)
        case core.Coordinates.HALF_PIXEL_OR_FIRST:
            return Fraction((2 * i + 1) * n - m, 2 * m) if m > 1 else Fraction(0)
        case core.Coordinates.ASYMMETRIC:
            return Fraction(i * n, m)
        case core.Coordinates.OFFSET:
            return Fraction((2 * i + 1) * max(n - 1, 1), 2 * m)
        case core.Coordinates.ALIGN_CORNERS:
            return Fraction(i * (n - 1), max(m - 1, 1))
        case core.Coordinates.ALIGN_CENTRE:
            return Fraction(i * (n - 1), m - 1) if m > 1 else Fraction(n - 1, 2)


def _nearest(position: Fraction, rounding: core.Rounding) -> int:
    match rounding:
        case core.Rounding.FLOOR:
            return math.floor(position)
        case core.Rounding.CEIL:
            return math.ceil(position)
        case core.Rounding.HALF_DOWN:
            return math.ceil(position - Fraction(1, 2))
        case core.Rounding.HALF_UP:
            return math.floor(position + Fraction(1, 2))


def _weighted(context: Context, x: Value, axis: int, n: int, positions: list[Fraction]) -> Value:
    """The product along an axis with the weights of the two neighbours of each position."""
    weights: list[float] = []
    for p in positions:
        row = [Fraction(0)] * n
        low = math.floor(p)
        row[min(max(low, 0), n - 1)] += 1 - (p - low)
        row[min(max(low + 1, 0), n - 1)] += p - low
        weights += map(float, row)
    rank = rank_of(x)
    matrix = small(context, element_of(x), (len(positions), n), weights)
    if axis == rank - 1:
        return core.linear(x, matrix)
    order = (*range(axis), *range(axis + 1, rank), axis)
    back = (*range(axis), rank - 1, *range(axis, rank - 1))
    return core.transpose(core.linear(core.transpose(x, order), matrix), back)
