"""Rules for images read at computed positions, boxes, padding and resampling by computed amounts, random numbers."""

from __future__ import annotations

import math

from commonir.conversions.core_to_core.grids import read_at_positions
from commonir.conversions.core_to_mil.building import cast, mil_element, small, vector
from commonir.conversions.core_to_mil.shape import BORDERS
from commonir.conversions.core_to_mil.windows import SAMPLING_MODES
from commonir.conversions.operands import dims_of, element_of, rank_of, shape_of
from commonir.dialects import core
from commonir.dialects.mil import detection, image, random, slicing
from commonir.dialects.mil import sampling as mil
from commonir.dialects.mil import shape as mil_shape
from commonir.dialects.mil.base import CORE_ML_5, CORE_ML_6
from commonir.ir.operation import Value
from commonir.ir.types import boolean, f32, i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import element_count

_BORDERS = {
    core.Border.CONSTANT: mil.PaddingMode.CONSTANT,
    core.Border.EDGE: mil.PaddingMode.BORDER,
    core.Border.REFLECT: mil.PaddingMode.REFLECTION,
    core.Border.SYMMETRIC: mil.PaddingMode.SYMMETRIC,
}
_INTERPOLATIONS = {
    core.ResizeMode.LINEAR: mil.Interpolation.BILINEAR,
    core.ResizeMode.NEAREST: mil.Interpolation.NEAREST,
}


@rule(core.GridSample)
def grid_sample(op: core.GridSample, context: Context, x: Value, grid: Value) -> Result:
    if not element_of(x).is_float:
        return Mismatch("mil.resample takes images of floats")
    if op.mode not in _INTERPOLATIONS or rank_of(x) != 4:
        return Mismatch("mil.resample takes images of two axes, and no cubic interpolation")
    if rank_of(grid) != 4:
        n, *places, _ = dims_of(grid)
        flat = core.reshape(grid, (n, 1, element_count(tuple(places)), 2))
        y = core.grid_sample(x, flat, op.mode, op.border, op.unit, op.value)
        return core.reshape(y, (*dims_of(x)[:2], *places))
    is_plain = op.unit is core.Unit.PIXELS
    mode = mil.CoordinatesMode.UNNORMALIZED if is_plain else mil.CoordinatesMode.MINUS_ONE_TO_ONE
    return mil.Resample(
        x,
        cast(grid, f32),
        _INTERPOLATIONS[op.mode],
        _BORDERS[op.border],
        op.value,
        mode,
        op.unit is not core.Unit.EDGES,
    ).output


@rule(core.GridSample)
def gathered_grid(op: core.GridSample, context: Context, x: Value, grid: Value) -> Value:
    return read_at_positions(op, x, grid)


@rule(core.NonMaxSuppression)
def non_max_suppression(
    op: core.NonMaxSuppression, context: Context, boxes: Value, scores: Value, groups: Value | None
) -> Result:
    """Which of the boxes that Core ML lists are there, as a bool for each box."""
    count = shape_of(boxes)[1]
    if not isinstance(count, int):
        return Mismatch("the number of boxes is not fixed")
    wide, best = cast(boxes, f32), cast(scores, f32)
    if groups is not None:
        wide = _apart(wide, groups)
    low, high = core.split(wide, 2, (2, 2))
    two = core.scalar(2.0, f32)
    corners = core.concat((core.div(core.add(low, high), two), core.sub(high, low)), 2)
    rows = core.unsqueeze(best, (2,))
    most = count if op.most is None else min(op.most, count)
    if context.target.version in (CORE_ML_5, CORE_ML_6):
        lowest = -3.4028234663852886e38
        result = detection.NonMaximumSuppression(corners, rows, op.iou_threshold, lowest, most).indices
    else:
        corners, rows = core.transpose(corners, (0, 2, 1)), core.transpose(rows, (0, 2, 1))
        result = detection.NonMaximumSuppressionCoreML7(corners, rows, op.iou_threshold, most).indices
    hits = core.one_hot(result, core.scalar(1, i32), core.scalar(0, i32), count, -1)
    listed = core.cast(core.reduce_max(hits, (1,), False), boolean)
    none = core.scalar(-math.inf, f32)
    return core.logical_and(listed, core.not_equal(best, none))


def _apart(boxes: Value, groups: Value) -> Value:
    """Boxes moved so far that those of different groups do not overlap."""
    every = tuple(range(1, 3))
    span = core.sub(core.reduce_max(boxes, every, True), core.reduce_min(boxes, every, True))
    step = core.add(span, core.scalar(1.0, f32))
    return core.add(boxes, core.mul(core.unsqueeze(core.cast(groups, f32), (2,)), step))


@rule(core.DynamicPad)
def dynamic_pad(op: core.DynamicPad, context: Context, x: Value, before: Value, after: Value) -> Result:
    if element_of(x) is boolean:
        wide = core.dynamic_pad(core.cast(x, f32), before, after, op.mode, float(bool(op.value)))
        return core.cast(wide, boolean)
    if not element_of(x).is_float:
        return Mismatch("mil.pad takes floats only")
    pairs = mil_shape.Stack((cast(before, i32), cast(after, i32)), 1).output
    amounts = mil_shape.Reshape(pairs, vector(context, (-1,))).output
    return slicing.Pad(x, amounts, BORDERS[op.mode], op.value).output


@rule(core.DynamicResize)
def dynamic_resize(op: core.DynamicResize, context: Context, x: Value, dims: Value) -> Result:
    """From iOS 17 on, to sizes that the program computes."""
    (count,) = shape_of(dims)
    if not isinstance(count, int) or not element_of(x).is_float:
        return Mismatch("mil.resize takes floats, and a fixed number of sizes")
    if op.coordinates not in SAMPLING_MODES:
        return Mismatch(f"mil.resize has no coordinates '{op.coordinates.value}'")
    mode = image.InterpolationMode.LINEAR
    if op.mode is core.ResizeMode.NEAREST:
        if op.rounding is not core.Rounding.HALF_DOWN:
            return Mismatch("mil.resize rounds positions to the nearest element")
        mode = image.InterpolationMode.NEAREST_NEIGHBOR
    return image.Resize(x, cast(dims, i32), count, mode, SAMPLING_MODES[op.coordinates]).output


@rule(core.RandomUniform)
def random_uniform(op: core.RandomUniform, context: Context, shape: Value) -> Value:
    low, high = (small(context, mil_element(op.element), (), (v,)) for v in (op.low, op.high))
    return random.RandomUniform(cast(shape, i32), op.seed, low, high).output


@rule(core.RandomNormal)
def random_normal(op: core.RandomNormal, context: Context, shape: Value) -> Value:
    mean, deviation = (small(context, mil_element(op.element), (), (v,)) for v in (op.mean, op.deviation))
    return random.RandomNormal(cast(shape, i32), op.seed, mean, deviation).output
