"""Rules for core operations that move elements, and for constants and shapes."""

from __future__ import annotations

from commonir.conversions.core_to_mil.building import (
    cast,
    computed,
    const,
    dimension,
    fixed_sizes,
    integers,
    mil_element,
    plain_data,
    representable,
    size_along,
    small,
    vector,
)
from commonir.conversions.operands import (
    axes_from_start,
    dims_of,
    element_of,
    rank_of,
    refused,
    require_computable,
    shape_of,
)
from commonir.dialects import core
from commonir.dialects.core.constants import MOST_KNOWN
from commonir.dialects.mil import generation, rearrangement, slicing
from commonir.dialects.mil import shape as mil
from commonir.dialects.mil.base import MilOp
from commonir.dialects.mlir import ml_program
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, are_known, boolean, i32, string
from commonir.ods import infer, known_data
from commonir.passes.convert_elements import converted_data
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim, floor_div

# -- constants and shapes


@rule(core.Constant)
def constant(op: core.Constant, context: Context) -> Value:
    if op.y.is_used and all(isinstance(user, core.Decoded | core.Quantize) for user in op.y.users):
        return const(op.value)
    return _constant(op.value)


@rule(ml_program.GlobalLoadConst)
def global_constant(op: ml_program.GlobalLoadConst, context: Context) -> Result:
    data = op.constant_data()
    return Mismatch("the global has no contents") if data is None else _constant(data)


def _constant(data: Data) -> Value:
    return const(data if data.element is string else converted_data(data, mil_element(data.element)))


@rule(core.Dims)
def dims(op: core.Dims, context: Context) -> Value:
    element = mil_element(op.element)
    numbers = [d for d in op.values if isinstance(d, int)]
    if len(numbers) == len(op.values):
        values = [representable(v, element) for v in numbers]
        return small(context, element, () if op.scalar else (len(values),), values)
    return _as(vector(context, op.values), op.element, is_scalar=op.scalar)


def _as(values: Value, element: ElementType, *, is_scalar: bool) -> Value:
    """A vector in an element type, as a scalar if it stands for one."""
    if is_scalar:
        values = mil.Squeeze(values, (0,)).output
    return cast(values, element)


@rule(core.Dimension)
def dim(op: core.Dimension, context: Context, x: Value) -> Value:
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    return _as(size_along(context, x, axis), op.element, is_scalar=True)


@rule(core.ShapeOf)
def shape(op: core.ShapeOf, context: Context, x: Value) -> Value:
    shape = shape_of(x)
    result = vector(context, shape) if are_known(shape) else mil.Shape(x).output
    return cast(result, op.element)


@rule(core.Iota)
def iota(op: core.Iota, context: Context) -> Value:
    rank = len(op.shape)
    (axis,) = axes_from_start((op.axis,), rank)
    dim, element = op.shape[axis], mil_element(op.element)
    if isinstance(dim, int) and dim <= MOST_KNOWN:
        line = small(context, element, (dim,), [representable(n, element) for n in range(dim)])
    else:
        zero, one = small(context, i32, (), (0,)), small(context, i32, (), (1,))
        end = mil.Squeeze(dimension(context, dim), (0,)).output
        line = cast(generation.Range1d(end, zero, one).output, element)
        # Inference of the operation does not know how many numbers a computed end gives.
        line.retype(TensorType(element, (dim,)))
    others = tuple([a for a in range(rank) if a != axis])
    if others:
        line = mil.ExpandDims(line, others).output
    return core.broadcast_to(line, op.shape) if any(op.shape[a] != 1 for a in others) else line


@rule(core.Range)
def range_(op: core.Range, context: Context, start: Value, limit: Value, step: Value) -> Value:
    return generation.Range1d(limit, start, step).output


# -- reshaping


def reshaped(context: Context, x: Value, shape: tuple[Dim, ...]) -> Value:
    """The elements under a shape whose sizes may be expressions.

    Raises: DiagnosticError (E0601) for a tensor without elements.
    """
    if 0 in shape:
        raise refused("Core ML reads a size of 0 as one to be copied: there are no tensors without elements")
    if not shape:
        return mil.Squeeze(x, tuple(range(rank_of(x)))).output if rank_of(x) else x
    before = x.owner
    if isinstance(before, mil.Reshape) and shape_of(before.x) == shape:
        return before.x
    data = plain_data(x)
    numbers = [d for d in shape if isinstance(d, int)]
    if data is not None and len(numbers) == len(shape) and -1 not in numbers and data.element is not string:
        return computed(data.element, tuple(numbers), lambda: data.array().reshape(numbers))
    unknown = [d for d in shape if not isinstance(d, int)]
    if len(unknown) == 1 and -1 not in shape:
        expected = integers(context, [d if isinstance(d, int) else -1 for d in shape])
    else:
        expected = vector(context, shape)
    return mil.Reshape(x, expected).output


@rule(core.Reshape)
def reshape(op: core.Reshape, context: Context, x: Value) -> Value:
    return reshaped(context, x, op.shape)


@rule(core.DynamicReshape)
def dynamic_reshape(op: core.DynamicReshape, context: Context, x: Value, shape: Value) -> Value:
    if 0 in shape_of(x):
        raise refused("Core ML reads a size of 0 as one to be copied: there are no tensors without elements")
    return mil.Reshape(x, cast(shape, i32)).output


@rule(core.Squeeze)
def squeeze(op: core.Squeeze, context: Context, x: Value) -> Value:
    if not op.axes:
        return x
    gone = axes_from_start(op.axes, rank_of(x))
    dims = fixed_sizes(x)
    data = plain_data(x)
    if data is not None and dims is not None and data.element is not string:
        remaining = tuple([n for a, n in enumerate(dims) if a not in gone])
        return computed(data.element, remaining, lambda: data.array().reshape(remaining))
    if any(d != 1 for a, d in enumerate(_inferred(x)) if a in gone):
        # An axis that Core ML does not know to have size 1 would stay.
        return reshaped(context, x, tuple([d for a, d in enumerate(dims_of(x)) if a not in gone]))
    return mil.Squeeze(x, gone).output


def _inferred(x: Value) -> tuple[Dim | None, ...]:
    """The shape that follows from the operation before alone."""
    owner = x.owner
    if isinstance(owner, slicing.SliceByIndex) and (known_data(owner.begin) is None or known_data(owner.end) is None):
        # Of bounds that are computed only those that are left out say something about sizes.
        return tuple([None for _ in shape_of(x)])
    type = infer(owner).types[x.index] if isinstance(owner, MilOp) and not owner.regions else x.type
    return (type.shape or ()) if isinstance(type, TensorType) else ()


@rule(core.Unsqueeze)
def unsqueeze(op: core.Unsqueeze, context: Context, x: Value) -> Value:
    if not op.axes:
        return x
    axes = axes_from_start(op.axes, rank_of(x) + len(op.axes))
    data = plain_data(x)
    if data is not None and data.element is not string:
        old = iter(data.shape)
        shape = tuple([1 if a in axes else next(old) for a in range(len(data.shape) + len(axes))])
        return computed(data.element, shape, lambda: data.array().reshape(shape))
    return mil.ExpandDims(x, axes).output


@rule(core.Transpose)
def transpose(op: core.Transpose, context: Context, x: Value) -> Value:
    rank = rank_of(x)
    perm = tuple([p + rank if p < 0 else p for p in op.perm])
    data = plain_data(x)
    if data is not None and data.element is not string:
        return computed(data.element, tuple([data.shape[p] for p in perm]), lambda: data.array().transpose(perm))
    return mil.Transpose(x, perm).output


# -- repetition


@rule(core.BroadcastTo)
def broadcast_to(op: core.BroadcastTo, context: Context, x: Value) -> Value:
    shape, expected = shape_of(x), op.shape
    if shape == expected:
        return x
    data = plain_data(x)
    if data is not None and data.count == 1 and element_of(x) is not string:
        alone = small(context, element_of(x), (), data.values()) if data.shape else x
        return generation.Fill(vector(context, expected), alone).output
    spare = len(expected) - len(shape)
    if spare:
        x = reshaped(context, x, (1,) * spare + dims_of(x)) if shape else reshaped(context, x, (1,) * spare)
    repeats = [_repeats(n, m) for n, m in zip((1,) * spare + shape, expected, strict=True)]
    return _tiled(context, x, tuple(repeats))


def _repeats(dim: Dim | None, expected: Dim) -> Dim:
    """How often an axis is repeated. One that is not known to be of size 1 may be it when the program runs."""
    if dim is None:
        raise refused("it is not known whether an axis is to be repeated")
    if dim == expected:
        return 1
    return expected if dim == 1 else floor_div(expected, dim)


def _tiled(context: Context, x: Value, repeats: tuple[Dim, ...]) -> Value:
    if all(n == 1 for n in repeats):
        return x
    if 0 in repeats:
        raise refused("Core ML has no tensors without elements")
    return mil.Tile(x, vector(context, repeats)).output


@rule(core.Tile)
def tile(op: core.Tile, context: Context, x: Value) -> Value:
    return _tiled(context, x, op.repeats)


# -- parts


@rule(core.Slice)
def slice_(op: core.Slice, context: Context, x: Value) -> Value:
    shape = shape_of(x)
    begins: list[Dim] = []
    ends: list[Dim] = []
    open_begin: list[bool] = []
    open_end: list[bool] = []
    for n, start, stop, step in zip(shape, op.starts, op.stops, op.steps, strict=True):
        first, last, from_first, to_last = _bounds(n, start, stop, step)
        begins.append(first)
        ends.append(last)
        # Of an axis of unknown size that is cut at its end coremltools knows the size only with both bounds.
        open_begin.append(from_first and to_last)
        open_end.append(to_last)
    if all(open_begin) and all(s == 1 for s in op.steps):
        return x
    return slicing.SliceByIndex(
        x,
        vector(context, begins),
        vector(context, ends),
        op.steps if any(s != 1 for s in op.steps) else None,
        tuple(open_begin) if any(open_begin) else None,
        tuple(open_end) if any(open_end) else None,
    ).output


def _bounds(n: Dim | None, start: Dim, stop: Dim, step: int) -> tuple[Dim, Dim, bool, bool]:
    """Begin and end of an axis in terms of Python, and whether each is left out."""
    if isinstance(n, int) and isinstance(start, int) and isinstance(stop, int):
        positions = range(n)[slice(start, None if step < 0 and stop < -n else stop, step)]
        if not positions:
            raise refused("the slice is empty, and Core ML has no tensors without elements")
        first, end = positions.start, positions.start + len(positions) * step
        to_last = end < 0 or (step > 0 and end >= n)
        return first, 0 if to_last else end, first == (0 if step > 0 else n - 1), to_last
    from_first = start == (0 if step > 0 else -1) or (n is not None and step < 0 and start == n - 1)
    to_last = n is not None and (stop == n if step > 0 else stop == -1 - n)
    if isinstance(stop, int) and abs(stop) >= 2**31 - 1:
        to_last = True  # a bound that stands for no bound
    return (0 if step > 0 else -1) if from_first else start, 0 if to_last else stop, from_first, to_last


@rule(core.DynamicSlice)
def dynamic_slice(op: core.DynamicSlice, context: Context, x: Value, starts: Value, stops: Value) -> Value:
    steps = op.steps if any(s != 1 for s in op.steps) else None
    return slicing.SliceByIndex(x, cast(starts, i32), cast(stops, i32), steps).output


@rule(core.Reverse)
def reverse(op: core.Reverse, context: Context, x: Value) -> Value:
    return slicing.Reverse(x, axes_from_start(op.axes, rank_of(x))).output if op.axes else x


BORDERS = {
    core.PadMode.CONSTANT: slicing.BorderMode.CONSTANT,
    core.PadMode.EDGE: slicing.BorderMode.REPLICATE,
    core.PadMode.REFLECT: slicing.BorderMode.REFLECT,
}


@rule(core.Pad)
def pad(op: core.Pad, context: Context, x: Value) -> Result:
    rank = rank_of(x)
    if any(n < 0 for n in (*op.before, *op.after)):
        return _cut_and_padded(op, x)
    if not any(op.before) and not any(op.after):
        return x
    if not element_of(x).is_float:
        return _padded_integers(op, x)
    outer = any(op.before[: rank - 2]) or any(op.after[: rank - 2])
    if op.mode is core.PadMode.WRAP or (op.mode is not core.PadMode.CONSTANT and outer):
        return _mirrored(op, x)
    amounts = integers(context, [n for pair in zip(op.before, op.after, strict=True) for n in pair])
    value = float(representable(op.value, element_of(x)))
    return slicing.Pad(x, amounts, BORDERS[op.mode], value).output


def _cut_and_padded(op: core.Pad, x: Value) -> Value:
    """Negative amounts cut, which another operation does."""
    starts = tuple([max(-n, 0) for n in op.before])
    stops = tuple([d - max(-n, 0) for d, n in zip(dims_of(x), op.after, strict=True)])
    cut = core.slice(x, starts, stops, (1,) * len(starts))
    before, after = (tuple([max(n, 0) for n in amounts]) for amounts in (op.before, op.after))
    return core.pad(cut, before, after, op.mode, op.value)


def _padded_integers(op: core.Pad, x: Value) -> Value:
    """Of values that are not floats, constant borders are joined on, axis by axis."""
    if op.mode is not core.PadMode.CONSTANT:
        return _mirrored(op, x)
    element = element_of(x)
    fill = core.scalar(bool(op.value) if element is boolean else int(op.value), element)
    for axis, (before, after) in enumerate(zip(op.before, op.after, strict=True)):
        dims = dims_of(x)
        border = [core.broadcast_to(fill, (*dims[:axis], n, *dims[axis + 1 :])) if n else None for n in (before, after)]
        x = core.concat(tuple([v for v in (border[0], x, border[1]) if v is not None]), axis)
    return x


def _mirrored(op: core.Pad, x: Value) -> Value:
    """Positions in the operand, axis by axis, gathered."""
    for axis, (before, after) in enumerate(zip(op.before, op.after, strict=True)):
        dim = shape_of(x)[axis]
        if not before and not after:
            continue
        if not isinstance(dim, int):
            raise refused(f"what is mirrored along axis {axis} must have a fixed size")
        require_computable(before + dim + after)
        places = list(range(-before, dim + after))
        if op.mode is core.PadMode.EDGE:
            places = [min(max(p, 0), dim - 1) for p in places]
        elif op.mode is core.PadMode.WRAP:
            places = [p % dim for p in places]
        else:
            places = [dim - 1 - abs(dim - 1 - abs(p)) for p in places]
        x = core.gather(x, core.vector(tuple(places), i32), axis)
    return x


# -- joining and cutting


@rule(core.Concat)
def concat(op: core.Concat, context: Context, xs: tuple[Value, ...]) -> Value:
    (axis,) = axes_from_start((op.axis,), rank_of(xs[0]))
    if len(xs) == 1:
        return xs[0]
    y = mil.Concat(xs, axis).output
    sizes = [d for d in dims_of(op.results[0]) if isinstance(d, int)]
    if len(sizes) < rank_of(xs[0]) or all(isinstance(dims_of(x)[axis], int) for x in xs):
        return y
    # coremltools does not know the sum of sizes that it knows none of.
    return mil.Reshape(y, core.vector(tuple(sizes), i32)).output


@rule(core.Split)
def split(op: core.Split, context: Context, x: Value) -> tuple[Value, ...]:
    (axis,) = axes_from_start((op.axis,), rank_of(x))
    if len(op.sizes) == 1:
        return (x,)
    numbers = [d for d in op.sizes if isinstance(d, int)]
    if len(numbers) == len(op.sizes) and 0 not in numbers:
        if len(set(numbers)) == 1:
            return mil.Split(x, axis, len(numbers)).outputs
        return mil.Split(x, axis, None, tuple(numbers)).outputs
    out: list[Value] = []
    dims, first = dims_of(x), 0
    for n, piece in zip(op.sizes, op.ys, strict=True):
        if n == dims[axis] or (n == 0 and not piece.is_used):
            # Nothing stands for a piece without elements that nothing uses.
            out.append(x)
            continue
        starts: list[Dim] = [first if a == axis else 0 for a in range(len(dims))]
        stops: list[Dim] = [first + n if a == axis else d for a, d in enumerate(dims)]
        out.append(core.slice(x, tuple(starts), tuple(stops), (1,) * len(dims)))
        first = first + n
    return tuple(out)


# -- blocks of images


@rule(core.DepthToSpace)
def depth_to_space(op: core.DepthToSpace, context: Context, x: Value) -> Value:
    if not element_of(x).is_float:
        return _blocks_apart(op, x)
    if op.order is core.BlockOrder.DCR:
        return rearrangement.DepthToSpace(x, op.block).output
    return rearrangement.PixelShuffle(x, op.block).output


def _blocks_apart(op: core.DepthToSpace, x: Value) -> Value:
    """In two steps, one for the rows and one for the columns: each has tensors of rank 5."""
    b = op.block
    n, _, h, w = dims_of(x)
    depth = dims_of(op.y)[1]
    if op.order is core.BlockOrder.DCR:  # channels (i, j, depth)
        rows = core.transpose(core.reshape(x, (n, b, b * depth, h, w)), (0, 2, 3, 1, 4))
        columns = core.reshape(rows, (n, b, depth, h * b, w))
        return core.reshape(core.transpose(columns, (0, 2, 3, 4, 1)), (n, depth, h * b, w * b))
    columns = core.transpose(core.reshape(x, (n, depth * b, b, h, w)), (0, 1, 3, 4, 2))
    rows = core.transpose(core.reshape(columns, (n, depth, b, h, w * b)), (0, 1, 3, 2, 4))
    return core.reshape(rows, (n, depth, h * b, w * b))


@rule(core.SpaceToDepth)
def space_to_depth(op: core.SpaceToDepth, context: Context, x: Value) -> Result:
    if not element_of(x).is_float:
        return Mismatch("mil.space_to_depth takes floats only")
    if op.order is core.BlockOrder.DCR:
        return rearrangement.SpaceToDepth(x, op.block).output
    return rearrangement.PixelUnshuffle(x, op.block).output


@rule(core.SpaceToDepth)
def blocks_together(op: core.SpaceToDepth, context: Context, x: Value) -> Value:
    """In two steps, one for the columns and one for the rows: each has tensors of rank 5."""
    b = op.block
    n, c, h, _ = dims_of(x)
    _, depth, rows, columns = dims_of(op.y)
    apart = core.reshape(x, (n, c, h, columns, b))
    if op.order is core.BlockOrder.DCR:  # channels (i, j, c)
        inner = core.reshape(core.transpose(apart, (0, 4, 1, 2, 3)), (n, b * c, rows, b, columns))
        return core.reshape(core.transpose(inner, (0, 3, 1, 2, 4)), (n, depth, rows, columns))
    inner = core.reshape(core.transpose(apart, (0, 1, 4, 2, 3)), (n, c * b, rows, b, columns))
    # Rank 5 with channels (c, j), rows, i, columns: i must come between c and j.
    merged = core.reshape(core.transpose(inner, (0, 1, 3, 2, 4)), (n * c, b, b, rows, columns))
    return core.reshape(core.transpose(merged, (0, 2, 1, 3, 4)), (n, depth, rows, columns))
