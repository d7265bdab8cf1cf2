"""Rules for core operations that move elements, and for constants and shapes."""

from __future__ import annotations

from commonir.conversions.core_to_onnx.building import (
    cast,
    constant,
    integers,
    positions_below,
    scalar,
    size_at,
    vector,
)
from commonir.conversions.operands import axes_from_start, dims_of, element_of, rank_of, require_computable, shape_of
from commonir.dialects import core, onnx
from commonir.dialects.core.constants import MOST_KNOWN
from commonir.dialects.mlir import ml_program
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64, i16, i32, i64
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim

_LEAST = -(2**63)
# Element types of onnx.Range.
_RANGE_TYPES = (f32, f64, i16, i32, i64)


@rule(core.Constant)
def constant_(op: core.Constant, context: Context) -> Value:
    return onnx.Initializer(op.value).output


@rule(ml_program.GlobalLoadConst)
def global_constant(op: ml_program.GlobalLoadConst, context: Context) -> Result:
    data = op.constant_data()
    return Mismatch("the global has no contents") if data is None else onnx.Initializer(data).output


@rule(core.Dims)
def dims(op: core.Dims, context: Context) -> Value:
    numbers = [d for d in op.values if isinstance(d, int)]
    if len(numbers) == len(op.values):
        return constant(context, op.element, () if op.scalar else (len(numbers),), numbers)
    return _as(context, vector(context, op.values), op.element, is_scalar=op.scalar)


def _as(context: Context, values: Value, element: ElementType, *, is_scalar: bool) -> Value:
    """A vector in an element type, as a scalar if it stands for one."""
    if is_scalar:
        values = onnx.Squeeze(values, integers(context, (0,))).squeezed
    return cast(values, element)


@rule(core.Dimension)
def dim(op: core.Dimension, context: Context, x: Value) -> Value:
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    return _as(context, size_at(context, x, axis), op.element, is_scalar=True)


@rule(core.ShapeOf)
def shape(op: core.ShapeOf, context: Context, x: Value) -> Value:
    return cast(onnx.Shape(x).shape, op.element)


@rule(core.Iota)
def iota(op: core.Iota, context: Context) -> Value:
    rank = len(op.shape)
    (axis,) = axes_from_start((op.axis,), rank)
    dim = op.shape[axis]
    if isinstance(dim, int) and dim <= MOST_KNOWN:
        line = constant(context, op.element, (dim,), range(dim))
    else:
        line = cast(positions_below(context, vector(context, (dim,))), op.element)
    others = [a for a in range(rank) if a != axis]
    if others:
        line = onnx.Unsqueeze(line, integers(context, others)).expanded
    if any(op.shape[a] != 1 for a in others):
        line = onnx.Expand(line, vector(context, op.shape)).output
    return line


@rule(core.Range)
def range_(op: core.Range, context: Context, start: Value, limit: Value, step: Value) -> Value:
    element = element_of(start)
    if element in _RANGE_TYPES:
        return onnx.Range(start, limit, step).output
    wide = f32 if element.is_float else i64
    return cast(onnx.Range(cast(start, wide), cast(limit, wide), cast(step, wide)).output, element)


@rule(core.Reshape)
def reshape(op: core.Reshape, context: Context, x: Value) -> Value:
    expected = _literal_shape(op.shape, shape_of(x))
    allows_zero = 0 in op.shape
    numbers = tuple([d for d in op.shape if isinstance(d, int)])
    if allows_zero and len(numbers) == len(op.shape):
        return constant(context, element_of(x), numbers, ())
    if expected is None or allows_zero:
        return onnx.Reshape(x, vector(context, op.shape), allowzero=allows_zero).reshaped
    return onnx.Reshape(x, integers(context, expected)).reshaped


def _literal_shape(expected: tuple[Dim, ...], source: tuple[Dim | None, ...]) -> list[int] | None:
    """A shape for `onnx.Reshape` without computed sizes: 0 keeps the size of an axis, one follows from the others."""
    out: list[int] = []
    for n, d in enumerate(expected):
        if isinstance(d, int):
            out.append(d)
        elif n < len(source) and source[n] == d:
            out.append(0)
        else:
            out.append(-1)
    return out if out.count(-1) <= 1 else None


@rule(core.DynamicReshape)
def dynamic_reshape(op: core.DynamicReshape, context: Context, x: Value, shape: Value) -> Value:
    # Here a size of 0 is a size. ONNX does not allow it beside -1, so this keeps the meaning wherever there is one.
    return onnx.Reshape(x, cast(shape, i64), allowzero=True).reshaped


@rule(core.BroadcastTo)
def broadcast_to(op: core.BroadcastTo, context: Context, x: Value) -> Value:
    if shape_of(x) == op.shape:
        return x
    return onnx.Expand(x, vector(context, op.shape)).output


@rule(core.Squeeze)
def squeeze(op: core.Squeeze, context: Context, x: Value) -> Value:
    return onnx.Squeeze(x, integers(context, op.axes)).squeezed if op.axes else x


@rule(core.Unsqueeze)
def unsqueeze(op: core.Unsqueeze, context: Context, x: Value) -> Value:
    return onnx.Unsqueeze(x, integers(context, op.axes)).expanded if op.axes else x


@rule(core.Transpose)
def transpose(op: core.Transpose, context: Context, x: Value) -> Value:
    rank = rank_of(x)
    return onnx.Transpose(x, perm=tuple([p + rank if p < 0 else p for p in op.perm])).transposed


@rule(core.Slice)
def slice_(op: core.Slice, context: Context, x: Value) -> Value:
    bounds = zip(op.starts, op.stops, op.steps, shape_of(x), strict=True)
    cut = [n for n, (a, b, s, dim) in enumerate(bounds) if not (a == 0 and s == 1 and dim is not None and b == dim)]
    if not cut:
        return x
    starts, stops, steps = list(op.starts), list(op.stops), [op.steps[n] for n in cut]
    for n, (start, step, dim) in enumerate(zip(op.starts, op.steps, shape_of(x), strict=True)):
        if step < 0 and isinstance(start, int) and isinstance(dim, int) and start < -dim:
            # Nothing, where ONNX begins with the first element.
            starts[n] = stops[n] = 0
    return onnx.Slice(
        x,
        vector(context, [starts[n] for n in cut]),
        vector(context, [stops[n] for n in cut]),
        integers(context, cut),
        integers(context, steps) if any(s != 1 for s in steps) else None,
    ).output


@rule(core.DynamicSlice)
def dynamic_slice(op: core.DynamicSlice, context: Context, x: Value, starts: Value, stops: Value) -> Value:
    axes = integers(context, range(rank_of(x)))
    steps = integers(context, op.steps) if any(s != 1 for s in op.steps) else None
    return onnx.Slice(x, cast(starts, i64), cast(stops, i64), axes, steps).output


@rule(core.Reverse)
def reverse(op: core.Reverse, context: Context, x: Value) -> Value:
    count = len(op.axes)
    starts, stops = integers(context, (-1,) * count), integers(context, (_LEAST,) * count)
    return onnx.Slice(x, starts, stops, integers(context, op.axes), integers(context, (-1,) * count)).output


@rule(core.Pad)
def pad(op: core.Pad, context: Context, x: Value) -> Value:
    amounts = integers(context, (*op.before, *op.after))
    if op.mode is not core.PadMode.CONSTANT:
        return onnx.Pad(x, amounts, mode=op.mode.value).output
    return onnx.Pad(x, amounts, _fill(op.value, context, x)).output


def _fill(value: float, context: Context, x: Value) -> Value:
    """A number as an element of a tensor."""
    element = element_of(x)
    return scalar(context, value if element.is_float else bool(value) if element.kind == "bool" else int(value), x)


@rule(core.Pad)
def pad_periodically(op: core.Pad, context: Context, x: Value) -> Result:
    """Before opset 19 positions in the operand are gathered, axis by axis."""
    if op.mode is not core.PadMode.WRAP:
        return Mismatch("padding is not periodic")
    for axis, (dim, before, after) in enumerate(zip(dims_of(x), op.before, op.after, strict=True)):
        if not before and not after:
            continue
        if not isinstance(dim, int) or dim < 1:
            return Mismatch(f"what is repeated along axis {axis} must have a fixed size")
        require_computable(before + dim + after)
        places = integers(context, [p % dim for p in range(-before, dim + after)])
        x = onnx.Gather(x, places, axis=axis).output
    return x


@rule(core.DynamicPad)
def dynamic_pad(op: core.DynamicPad, context: Context, x: Value, before: Value, after: Value) -> Value:
    amounts = onnx.Concat((cast(before, i64), cast(after, i64)), axis=0).concat_result
    if op.mode is not core.PadMode.CONSTANT:
        return onnx.Pad(x, amounts, mode=op.mode.value).output
    return onnx.Pad(x, amounts, _fill(op.value, context, x)).output


@rule(core.Concat)
def concat(op: core.Concat, context: Context, xs: tuple[Value, ...]) -> Value:
    return xs[0] if len(xs) == 1 else onnx.Concat(xs, axis=op.axis).concat_result


@rule(core.Split)
def split(op: core.Split, context: Context, x: Value) -> tuple[Value, ...]:
    if all(isinstance(n, int) for n in op.sizes):
        return onnx.Split(x, vector(context, op.sizes), axis=op.axis).outputs
    # The types of the pieces do not follow from computed dims.
    arguments = {"input": x, "split": vector(context, op.sizes), "axis": op.axis}
    return onnx.Split.build(arguments, [r.type for r in op.results]).outputs


@rule(core.Split)
def split_by_slices(op: core.Split, context: Context, x: Value) -> tuple[Value, ...]:
    pieces: list[Value] = []
    axis, first = integers(context, (op.axis,)), 0
    for dim, piece in zip(op.sizes, op.results, strict=True):
        bounds = [vector(context, (n,)) for n in (first, first + dim)]
        pieces.append(
            onnx.Slice.build({"data": x, "starts": bounds[0], "ends": bounds[1], "axes": axis}, [piece.type]).output
        )
        first = first + dim
    return tuple(pieces)


@rule(core.Tile)
def tile(op: core.Tile, context: Context, x: Value) -> Value:
    return onnx.Tile(x, vector(context, op.repeats)).output


@rule(core.DepthToSpace)
def depth_to_space(op: core.DepthToSpace, context: Context, x: Value) -> Value:
    return onnx.DepthToSpace(x, blocksize=op.block, mode=op.order.value).output


@rule(core.SpaceToDepth)
def space_to_depth(op: core.SpaceToDepth, context: Context, x: Value) -> Value:
    if op.order is core.BlockOrder.DCR:
        return onnx.SpaceToDepth(x, blocksize=op.block).output
    b = op.block
    n, c, h, w = dims_of(op.y)
    # Channels of the operand vary slowest in those of the result.
    apart = core.reshape(x, (n, dims_of(x)[1], h, b, w, b))
    return core.reshape(core.transpose(apart, (0, 1, 3, 5, 2, 4)), (n, c, h, w))
