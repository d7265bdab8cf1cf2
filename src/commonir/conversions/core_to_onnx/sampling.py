"""Rules for resampling, for images read at given positions, and for the choice among overlapping boxes."""

from __future__ import annotations

import math
from collections.abc import Mapping

from commonir.conversions.core_to_core.grids import read_at_positions
from commonir.conversions.core_to_core.whole_tensors import computed_atom
from commonir.conversions.core_to_onnx.building import cast, constant, dimension, integers, opset_of, vector
from commonir.conversions.operands import dims_of, element_of, rank_of, shape_of
from commonir.conversions.symbolic_dims import sum_of_products
from commonir.dialects import core, onnx
from commonir.dialects.onnx.resize import Resize10
from commonir.ir.operation import Value
from commonir.ir.types import Type, boolean, f32, i32, i64
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Atom, Dim, Symbol, floor_div, largest, modulo, smallest, symbol

_COORDINATES = {
    core.Coordinates.HALF_PIXEL: "half_pixel",
    core.Coordinates.ASYMMETRIC: "asymmetric",
    core.Coordinates.ALIGN_CORNERS: "align_corners",
    core.Coordinates.HALF_PIXEL_OR_FIRST: "pytorch_half_pixel",
}
_ROUNDINGS = {
    core.Rounding.HALF_DOWN: "round_prefer_floor",
    core.Rounding.HALF_UP: "round_prefer_ceil",
    core.Rounding.FLOOR: "floor",
    core.Rounding.CEIL: "ceil",
}

# The first opsets whose Resize is there at all, takes positions of every form, absent operands, and only some axes.
_WITH_RESIZE, _WITH_COORDINATES, _WITH_ABSENT, _WITH_AXES = 10, 11, 13, 18
_MOST_FACTORS = 64

# Along which axes onnxruntime 1.31 interpolates, by the rank of the tensor.
_INTERPOLATED = {2: ({0, 1},), 3: ({0, 1, 2},), 4: ({1, 2}, {2, 3}), 5: ({2, 3, 4},)}


@rule(core.Resize)
def resize(op: core.Resize, context: Context, x: Value) -> Result:
    coordinates = op.coordinates
    if coordinates is core.Coordinates.ALIGN_CENTRE and all(isinstance(n, int) and n > 1 for n in op.sizes):
        coordinates = core.Coordinates.ALIGN_CORNERS
    return _resized(op, context, coordinates, x, vector(context, op.sizes))


@rule(core.DynamicResize)
def dynamic_resize(op: core.DynamicResize, context: Context, x: Value, dims: Value) -> Result:
    return _resized(op, context, op.coordinates, x, cast(dims, i64))


def _resized(
    op: core.Resize | core.DynamicResize, context: Context, coordinates: core.Coordinates, x: Value, dims: Value
) -> Result:
    if coordinates not in _COORDINATES:
        return Mismatch(f"onnx.Resize has no coordinates '{coordinates.value}'")
    rank, (count,) = rank_of(x), shape_of(dims)
    if not isinstance(count, int):
        return Mismatch("the number of sizes is not known")
    # A size that is not known may be another one.
    pairs = enumerate(zip(shape_of(x), shape_of(op.y), strict=True))
    changed = {n for n, (a, b) in pairs if a is None or b is None or a != b}
    if op.mode is core.ResizeMode.LINEAR and not any(changed <= axes for axes in _INTERPOLATED.get(rank, ())):
        return Mismatch("runtimes do not interpolate along these axes")
    how = {
        "mode": op.mode.value,
        "coordinate_transformation_mode": _COORDINATES[coordinates],
        "nearest_mode": _ROUNDINGS[op.rounding],
    }
    opset = opset_of(context)
    if opset >= _WITH_AXES:
        arguments = {"X": x, "sizes": dims, "axes": tuple(range(rank - count, rank)), **how}
        return onnx.Resize.build(arguments, [op.y.type]).Y
    if opset < _WITH_COORDINATES:
        return _upsampled(op, coordinates, x, context)
    whole = dims
    if count < rank:
        whole = core.concat((core.slice(core.shape_of(x), (0,), (rank - count,), (1,)), dims), 0)
    return resized_to(context, x, None, None, whole, how, op.y.type)


def resized_to(
    context: Context,
    x: Value,
    region: Value | None,
    scales: Value | None,
    sizes: Value | None,
    how: Mapping[str, object],
    type: Type,
) -> Value:
    """All axes resampled, for opsets 11 to 17; the first two of them take an empty operand for an absent one."""
    arguments = {"X": x, "roi": region, "scales": scales, "sizes": sizes, **how}
    if opset_of(context) >= _WITH_ABSENT:
        return onnx.Resize.build(arguments, [type]).Y
    nothing = constant(context, f32, (0,), ())
    arguments |= {"roi": region or nothing, "scales": scales or nothing}
    return onnx.Resize.at("opset11").build(arguments, [type]).Y


def _upsampled(
    op: core.Resize | core.DynamicResize, coordinates: core.Coordinates, x: Value, context: Context
) -> Result:
    """Axes that become longer by a whole factor, for opsets 9 and 10, whose operators have no other parameters."""
    if coordinates is not core.Coordinates.ASYMMETRIC:
        return Mismatch(f"positions that are '{coordinates.value}' came with opset {_WITH_COORDINATES}")
    if op.mode is core.ResizeMode.NEAREST and op.rounding is not core.Rounding.FLOOR:
        return Mismatch(f"the nearest element by '{op.rounding.value}' came with opset {_WITH_COORDINATES}")
    pairs = list(zip(dims_of(x), dims_of(op.y), strict=True))
    factors = [next((k for k in range(1, _MOST_FACTORS) if n * k == m), None) for n, m in pairs]
    known = [float(k) for k in factors if k is not None]
    if len(known) < len(factors):
        return Mismatch("an axis does not become longer by a whole factor")
    scales = constant(context, f32, (len(known),), known)
    definition = onnx.Upsample if opset_of(context) < _WITH_RESIZE else Resize10
    return definition.build({"X": x, "scales": scales, "mode": op.mode.value}, [op.y.type]).Y


@rule(core.Resize)
def resize_by_weights(op: core.Resize, context: Context, x: Value) -> Value:
    dims = vector(context, op.sizes)
    return _by_weights(op, x, [onnx.Gather(dims, integers(context, (n,))).output for n in range(len(op.sizes))])


@rule(core.DynamicResize)
def dynamic_resize_by_weights(op: core.DynamicResize, context: Context, x: Value, dims: Value) -> Result:
    (count,) = shape_of(dims)
    if not isinstance(count, int):
        return Mismatch("the number of sizes is not known")
    wide = cast(dims, i64)
    return _by_weights(op, x, [onnx.Gather(wide, integers(context, (n,))).output for n in range(count)])


def _by_weights(op: core.Resize | core.DynamicResize, x: Value, dims: list[Value]) -> Value:
    """Axis by axis, the elements at positions that the program computes, weighted where they are interpolated."""
    first = rank_of(x) - len(dims)
    for n, m in enumerate(dims):
        x = _along(op, x, first + n, core.reshape(m, ()))
    return x


def _along(op: core.Resize | core.DynamicResize, x: Value, axis: int, m: Value) -> Value:
    i, n, count = symbol("i", 0), symbol("n"), symbol("m")
    line = core.range(core.scalar(0, i64), m, core.scalar(1, i64))
    known = {"i": line, "n": core.dim(x, axis), "m": m}
    if op.mode is core.ResizeMode.NEAREST:
        at = core.nearest_element(op.coordinates, op.rounding, i, n, count)
        return core.gather(x, _evaluated(at, known), axis)
    num, den = core.position(op.coordinates, i, n, count)
    low = floor_div(num, den)
    part = core.div(core.cast(_evaluated(modulo(num, den), known), f32), core.cast(_evaluated(den, known), f32))
    part = core.reshape(part, (-1, *(1,) * (rank_of(x) - axis - 1)))
    near = [_evaluated(smallest(largest(p, 0), n - 1), known) for p in (low, low + 1)]
    before, after = [core.cast(core.gather(x, p, axis), f32) for p in near]
    rest = core.sub(core.scalar(1.0, f32), part)
    return core.cast(core.add(core.mul(before, rest), core.mul(after, part)), element_of(x))


def _evaluated(dim: Dim, known: Mapping[str, Value]) -> Value:
    """An expression in symbols that values are given for, by operations on them."""
    if isinstance(dim, int):
        return core.scalar(dim, i64)

    def computed(part: Dim) -> Value:
        return _evaluated(part, known)

    def of_atom(atom: Atom) -> Value:
        return known[atom.name] if isinstance(atom, Symbol) else computed_atom(atom, computed)

    return sum_of_products(dim, of_atom, computed, core.mul, core.add)


_PADDINGS = {
    core.Border.CONSTANT: "zeros",
    core.Border.EDGE: "border",
    core.Border.REFLECT: "reflection",
    core.Border.SYMMETRIC: "reflection",
}
# From this version on there is an operator, for images of two axes at first.
_SAMPLED = 16
# Before this version linear interpolation of images had another name.
_RENAMED = 20
_OLD_NAMES = {"linear": "bilinear", "cubic": "bicubic"}


@rule(core.GridSample)
def grid_sample(op: core.GridSample, context: Context, x: Value, grid: Value) -> Result:
    shape = shape_of(x)[2:]
    if None in shape:
        return Mismatch("the sizes of the images are not known")
    # Runtimes have code for single precision only.
    images, places = cast(x, f32), cast(grid, f32)
    rank, operands = rank_of(x), shape_of(grid)
    fixed = [n for n in shape_of(op.y) if isinstance(n, int)]
    if len(operands) != rank:
        if len(fixed) != rank_of(op.y) or len(operands) < rank:
            return Mismatch("the grid has another number of axes than the images, and sizes that are not known")
        # Positions of any number of axes lie along the last ones of an image.
        line = (*fixed[2 : rank - 1], math.prod(fixed[rank - 1 :]))
        places = onnx.Reshape(places, integers(context, (fixed[0], *line, rank - 2))).reshaped
    aligned = op.unit is core.Unit.CENTRES
    # What is mirrored depends on the unit: about centres with the one, about edges with the other.
    expected = {core.Border.REFLECT: True, core.Border.SYMMETRIC: False}.get(op.border, aligned)
    if expected != aligned or op.unit is core.Unit.PIXELS:
        places, aligned = _in_unit(op, context, places, aligned=expected), expected
    if op.value:
        images = onnx.Sub(images, constant(context, f32, (), (op.value,))).C
    result = _sampled(op, context, images, places, aligned=aligned)
    if op.value:
        result = onnx.Add(result, constant(context, f32, (), (op.value,))).C
    if len(operands) != rank:
        result = onnx.Reshape(result, integers(context, tuple(fixed))).reshaped
    return cast(result, element_of(x))


@rule(core.GridSample)
def gathered_grid(op: core.GridSample, context: Context, x: Value, grid: Value) -> Result:
    if opset_of(context) >= _SAMPLED:
        return Mismatch(f"images of {rank_of(x) - 2} axes are read by onnx.GridSample from opset {_RENAMED} on")
    return read_at_positions(op, x, grid)


def _sampled(op: core.GridSample, context: Context, images: Value, places: Value, *, aligned: bool) -> Value:
    padding = _PADDINGS[op.border]
    if opset_of(context) < _RENAMED:
        mode = _OLD_NAMES.get(op.mode.value, op.mode.value)
        return onnx.GridSample.at("opset16")(images, places, mode=mode, padding_mode=padding, align_corners=aligned).Y
    mode = op.mode.value
    return onnx.GridSample(images, places, mode=mode, padding_mode=padding, align_corners=aligned).Y


def _in_unit(op: core.GridSample, context: Context, places: Value, *, aligned: bool) -> Value:
    """Positions in [-1, 1] from those in elements, or from those of the other kind."""
    spatial = tuple([d for d in shape_of(op.x)[2:] if d is not None])
    dims = cast(vector(context, spatial[::-1]), f32)
    one, two = constant(context, f32, (), (1.0,)), constant(context, f32, (), (2.0,))
    last = onnx.Sub(dims, one).C
    if op.unit is core.Unit.CENTRES:
        places = onnx.Mul(onnx.Div(onnx.Add(places, one).C, two).C, last).C
    elif op.unit is core.Unit.EDGES:
        places = onnx.Div(onnx.Sub(onnx.Mul(onnx.Add(places, one).C, dims).C, one).C, two).C
    if aligned:
        # Of a single element every position is the same one, so any divisor will do.
        return onnx.Sub(onnx.Div(onnx.Mul(places, two).C, onnx.Max((last, one)).max).C, one).C
    return onnx.Sub(onnx.Div(onnx.Add(onnx.Mul(places, two).C, one).C, dims).C, one).C


@rule(core.NonMaxSuppression)
def non_max_suppression(
    op: core.NonMaxSuppression, context: Context, boxes: Value, scores: Value, groups: Value | None
) -> Result:
    images, count = shape_of(scores)
    if images is None or count is None:
        return Mismatch("the number of images or boxes is not known")
    best = onnx.Unsqueeze(cast(scores, f32), integers(context, (1,))).expanded
    if groups is not None:
        numbers = _numbers(context, op.group_count)
        own = onnx.Equal(onnx.Unsqueeze(groups, integers(context, (1,))).expanded, numbers).C
        best = onnx.Where(own, best, constant(context, f32, (), (-float("inf"),))).output
    most = onnx.Squeeze(dimension(context, count if op.most is None else op.most), integers(context, (0,))).squeezed
    limit = constant(context, f32, (), (op.iou_threshold,))
    # Above the least number: scores of minus infinity are not candidates.
    least = constant(context, f32, (), (-_LARGEST,))
    rows = onnx.NonMaxSuppression(cast(boxes, f32), best, most, limit, least).selected_indices
    at = onnx.Gather(rows, integers(context, (0, 2)), axis=1).output
    nothing = onnx.Expand(constant(context, boolean, (), (False,)), vector(context, (images, count))).output
    # True for each row, since no image has a negative number.
    zero = constant(context, i64, (), (0,))
    result = onnx.GreaterOrEqual(onnx.Gather(rows, zero, axis=1).output, zero).C
    return onnx.ScatterND(nothing, at, result).output


def _numbers(context: Context, count: Dim) -> Value:
    """The numbers below a count, along the axis of classes."""
    if isinstance(count, int):
        return constant(context, i32, (1, count, 1), range(count))
    limit = onnx.Squeeze(dimension(context, count), integers(context, (0,))).squeezed
    line = onnx.Range(constant(context, i64, (), (0,)), limit, constant(context, i64, (), (1,))).output
    return cast(onnx.Unsqueeze(line, integers(context, (0, 2))).expanded, i32)


_LARGEST = 3.4028234663852886e38
"""The largest number of single precision."""
