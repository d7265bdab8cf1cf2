"""Rules for images of other sizes."""

from __future__ import annotations

from math import gcd

from commonir.conversions.core_to_tosa.building import channels_first, channels_last, fixed, known
from commonir.conversions.operands import dims_of, element_of
from commonir.dialects import core
from commonir.dialects.core.base import accumulator
from commonir.dialects.core.resize import position
from commonir.dialects.mlir import tosa
from commonir.dialects.mlir.tosa.base import ResizeMode
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim, element_count

_MOST_PARTS = 2048
_MOST_STEPS = 16
"""Parts that an element may be divided into, and how many elements a step or an offset may be long. Source: TOSA 1.0,
RESIZE."""


@rule(core.Resize)
def resize(op: core.Resize, context: Context, x: Value) -> Result:
    """Of floats, along the last two axes, where positions are in parts that tosa has."""
    shape, element = dims_of(op.x), element_of(op.x)
    if len(shape) < 2 or not element.is_float or element.bits > 32:
        return Mismatch("tosa.resize takes images of floats")
    target = (*shape[: len(shape) - len(op.sizes)], *op.sizes)
    moves = op.coordinates is core.Coordinates.OFFSET and len(op.sizes) > 2
    if moves or target[:-2] != shape[:-2]:
        return Mismatch("tosa.resize makes two axes of another size")
    rows, columns = [_parts(op, *known(pair)) for pair in zip(shape[-2:], target[-2:], strict=True)]
    if rows is None or columns is None:
        return Mismatch("tosa.resize divides elements into no such parts")
    wide = accumulator(element)
    images = core.reshape(x if wide is element else core.cast(x, wide), (*_image(shape[:-2]), *shape[-2:]))
    is_nearest = op.mode is core.ResizeMode.NEAREST
    arguments = {
        "input": channels_last(images),
        "scale": fixed(context, (*rows[:2], *columns[:2])),
        "offset": fixed(context, (rows[2], columns[2])),
        "border": fixed(context, (rows[3], columns[3])),
        "mode": ResizeMode.NEAREST_NEIGHBOR if is_nearest else ResizeMode.BILINEAR,
    }
    count, channels = _image(shape[:-2])
    type = TensorType(wide, (count, *target[-2:], channels))
    result = core.reshape(channels_first(tosa.Resize.build(arguments, [type]).results[0]), target)
    return result if wide is element else core.cast(result, element)


def _image(lead: tuple[Dim, ...]) -> tuple[Dim, Dim]:
    """A batch and channels for the leading axes."""
    return element_count(lead[:1]), element_count(lead[1:])


def _parts(op: core.Resize, n: int, m: int) -> tuple[int, int, int, int] | None:
    """How elements along an axis are divided, None beyond the limits of tosa: into how many parts, how many a step has,
    where the first element lies, and how far the last one is moved.
    """
    first, den = known(position(op.coordinates, 0, n, m))
    step = known(position(op.coordinates, 1, n, m))[0] - first
    if op.mode is core.ResizeMode.NEAREST:
        # Tosa takes a half up; shifts by less than the positions differ make the others of it.
        first, step, den = 2 * first + _shift(op.rounding, den), 2 * step, 2 * den
    common = gcd(first, step, den)
    first, step, den = first // common, step // common, den // common
    border = (m - 1) * step - (n - 1) * den + first
    fits = den <= _MOST_PARTS and 0 < step < _MOST_STEPS * den
    near = -den <= first < _MOST_STEPS * den and -_MOST_STEPS * step <= border < step
    return (den, step, first, border) if fits and near else None


def _shift(rounding: core.Rounding, den: int) -> int:
    """By how many halves of a part a position is moved, so that a half taken up is the nearest one asked for."""
    match rounding:
        case core.Rounding.HALF_UP:
            return 0
        case core.Rounding.HALF_DOWN:
            return -1
        case core.Rounding.FLOOR:
            return -den
        case core.Rounding.CEIL:
            return den - 2
