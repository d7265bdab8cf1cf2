"""Rules for resampling, for images read at given positions, and for the choice among overlapping boxes."""

from __future__ import annotations

from commonir.conversions.core_to_onnx.building import (
    cast,
    constant,
    dimension,
    element_of,
    integers,
    shape_of,
    vector,
)
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import boolean, f32, i32, i64
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

_PADDINGS = {
    core.Border.CONSTANT: "zeros",
    core.Border.EDGE: "border",
    core.Border.REFLECT: "reflection",
    core.Border.SYMMETRIC: "reflection",
}
# Before this version linear interpolation of images had another name.
_RENAMED = 20


@rule(core.GridSample)
def grid_sample(op: core.GridSample, context: Context, x: Value, grid: Value) -> Result:
    sizes = shape_of(x)[2:]
    if None in sizes:
        return Mismatch("the sizes of the images are not known")
    # Runtimes have code for single precision only.
    images, places = cast(x, f32), cast(grid, f32)
    aligned = op.unit is core.Unit.CENTRES
    # What is mirrored depends on the unit: about centres with the one, about edges with the other.
    wanted = {core.Border.REFLECT: True, core.Border.SYMMETRIC: False}.get(op.border, aligned)
    if wanted != aligned or op.unit is core.Unit.PIXELS:
        places, aligned = _in_unit(op, context, places, aligned=wanted), wanted
    if op.value:
        images = onnx.Sub(images, constant(context, f32, (), (op.value,))).C
    found = _sampled(op, context, images, places, aligned=aligned)
    if op.value:
        found = onnx.Add(found, constant(context, f32, (), (op.value,))).C
    return cast(found, element_of(x))


def _sampled(op: core.GridSample, context: Context, images: Value, places: Value, *, aligned: bool) -> Value:
    padding = _PADDINGS[op.border]
    is_linear = op.mode is core.ResizeMode.LINEAR
    if int(context.target.version.removeprefix("opset")) < _RENAMED:
        mode = "bilinear" if is_linear else "nearest"
        return onnx.GridSample16(images, places, mode=mode, padding_mode=padding, align_corners=aligned).Y
    mode = "linear" if is_linear else "nearest"
    return onnx.GridSample(images, places, mode=mode, padding_mode=padding, align_corners=aligned).Y


def _in_unit(op: core.GridSample, context: Context, places: Value, *, aligned: bool) -> Value:
    """Positions in [-1, 1] from those in elements, or from those of the other kind."""
    height, width = [d for d in shape_of(op.x)[2:] if d is not None]
    sizes = cast(vector(context, (width, height)), f32)
    one, two = constant(context, f32, (), (1.0,)), constant(context, f32, (), (2.0,))
    last = onnx.Sub(sizes, one).C
    if op.unit is core.Unit.CENTRES:
        places = onnx.Mul(onnx.Div(onnx.Add(places, one).C, two).C, last).C
    elif op.unit is core.Unit.EDGES:
        places = onnx.Div(onnx.Sub(onnx.Mul(onnx.Add(places, one).C, sizes).C, one).C, two).C
    if aligned:
        # Of a single element every position is the same one, so any divisor will do.
        return onnx.Sub(onnx.Div(onnx.Mul(places, two).C, onnx.Max((last, one)).max).C, one).C
    return onnx.Sub(onnx.Div(onnx.Add(onnx.Mul(places, two).C, one).C, sizes).C, one).C


@rule(core.NonMaxSuppression)
def non_max_suppression(
    op: core.NonMaxSuppression, context: Context, boxes: Value, scores: Value, groups: Value | None
) -> Result:
    images, count = shape_of(scores)
    if images is None or count is None:
        return Mismatch("the number of images or boxes is not known")
    best = onnx.Unsqueeze(cast(scores, f32), integers(context, (1,))).expanded
    if groups is not None:
        numbers = constant(context, i32, (1, op.group_count, 1), range(op.group_count))
        own = onnx.Equal(onnx.Unsqueeze(groups, integers(context, (1,))).expanded, numbers).C
        best = onnx.Where(own, best, constant(context, f32, (), (-float("inf"),))).output
    most = onnx.Squeeze(dimension(context, count), integers(context, (0,))).squeezed
    limit = constant(context, f32, (), (op.iou_threshold,))
    # Above the least number: scores of minus infinity are no candidates.
    least = constant(context, f32, (), (-_LARGEST,))
    rows = onnx.NonMaxSuppression(cast(boxes, f32), best, most, limit, least).selected_indices
    at = onnx.Gather(rows, integers(context, (0, 2)), axis=1).output
    nothing = onnx.Expand(constant(context, boolean, (), (False,)), vector(context, (images, count))).output
    # True for each row, since no image has a negative number.
    zero = constant(context, i64, (), (0,))
    found = onnx.GreaterOrEqual(onnx.Gather(rows, zero, axis=1).output, zero).C
    return onnx.ScatterND(nothing, at, found).output


_LARGEST = 3.4028234663852886e38
"""The largest number of single precision."""
