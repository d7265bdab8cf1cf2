"""Rules for core operations that read or write at positions that are data."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commonir.conversions.core_to_onnx.building import cast, constant, integers
from commonir.conversions.operands import axes_from_start, dims_of, element_of, rank_of
from commonir.dialects import core, onnx
from commonir.dialects.core.base import tensor_type
from commonir.dialects.core.constants import MOST_KNOWN
from commonir.ir.attributes import DataAttr, DenseArrayAttr, DictionaryAttr
from commonir.ir.data import ArrayData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, bf16, f16, f32, i32, i64
from commonir.ods import known_data
from commonir.rewrite.legalize import NO_REASON, Context, Mismatch, Result, rule
from commonir.symbolic import element_count

_POSITIONS = (i32, i64)


def _positions(value: Value) -> Value:
    """Positions in a type that ONNX takes them in."""
    return value if element_of(value) in _POSITIONS else cast(value, i64)


@rule(core.CheckedPositions)
def checked_positions(op: core.CheckedPositions, context: Context, positions: Value, limits: Value) -> Value:
    # ONNX counts negative positions from the end. Past the end they are refused by what they are for.
    wide = cast(positions, i64)
    zero = constant(context, i64, (), (0,))
    return cast(onnx.Where(onnx.Less(wide, zero).C, limits, wide).output, element_of(positions))


@rule(core.Gather)
def gather(op: core.Gather, context: Context, x: Value, positions: Value) -> Value:
    return onnx.Gather(x, _positions(positions), axis=op.axis).output


@rule(core.GatherElements)
def gather_elements(op: core.GatherElements, context: Context, x: Value, positions: Value) -> Value:
    return onnx.GatherElements(x, _positions(positions), axis=op.axis).output


@rule(core.GatherNd)
def gather_nd(op: core.GatherNd, context: Context, x: Value, positions: Value) -> Value:
    return onnx.GatherND(x, cast(positions, i64), batch_dims=op.batch).output


def _combined(reduction: core.Reduction, updates: Value) -> tuple[str, Value] | Mismatch:
    """The reduction of ONNX and the updates it takes for one of the core."""
    match reduction:
        case core.Reduction.SUB:
            return "add", onnx.Neg(updates).Y
        case core.Reduction.DIV if element_of(updates).is_float:
            return "mul", onnx.Reciprocal(updates).Y
        case core.Reduction.DIV:
            return Mismatch("onnx has no scattered division of integers")
        case _:
            return reduction.value, updates


def _accumulated_in(x: Value, reduction: str) -> ElementType:
    """The type in which updates are combined: onnxruntime has no combining in half precision."""
    element = element_of(x)
    return f32 if element is f16 and reduction != "none" else element


@rule(core.ScatterElements)
def scatter_elements(op: core.ScatterElements, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    result = _combined(op.reduction, updates)
    if isinstance(result, Mismatch):
        return result
    reduction, built = result
    wide = _accumulated_in(x, reduction)
    y = onnx.ScatterElements(cast(x, wide), _positions(positions), cast(built, wide), axis=op.axis, reduction=reduction)
    return cast(y.output, element_of(x))


@rule(core.ScatterNd)
def sparse_constant(op: core.ScatterNd, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    """Known elements at known places of zeros are a sparse constant."""
    indices, values, type = known_data(op.positions), known_data(op.updates), tensor_type(x)
    if indices is None or values is None or not type.is_static or values.element.kind not in ("float", "int", "uint"):
        return NO_REASON
    if not _is_zero(op.x) or values.shape != indices.shape[:1] or op.reduction is not core.Reduction.NONE:
        return NO_REASON
    # Loads numpy, which these constants need, and others do not.
    from commonir.base.sparse import SparseArray  # noqa: PLC0415

    sparse = SparseArray(values.array(), indices.array(), type.static_shape)
    stored = ArrayData(TensorType(values.element, sparse.values.shape), sparse.values)
    at = ArrayData(TensorType(i64, sparse.indices.shape), sparse.indices)
    dims = DenseArrayAttr(i64, type.static_shape)
    content = DictionaryAttr((("values", DataAttr(stored)), ("indices", DataAttr(at)), ("dims", dims)))
    return onnx.Constant(sparse_value=content).output


def _is_zero(value: Value) -> bool:
    """Returns whether all elements of a value are known to be zero, and not the negative zero of floats."""
    owner = value.owner
    data = known_data(owner.x if isinstance(owner, core.BroadcastTo) else value)
    return data is not None and data.splat() == 0 and not any(data.contents()[: data.element.bits // 8])


@rule(core.ScatterNd)
def scatter_nd(op: core.ScatterNd, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    result = _combined(op.reduction, updates)
    if isinstance(result, Mismatch):
        return result
    reduction, built = result
    wide = _accumulated_in(x, reduction)
    y = onnx.ScatterND(cast(x, wide), cast(positions, i64), cast(built, wide), reduction=reduction)
    return cast(y.output, element_of(x))


_COMBINE: Mapping[core.Reduction, Callable[[Value, Value], Value]] = {
    core.Reduction.ADD: core.add,
    core.Reduction.SUB: core.sub,
    core.Reduction.MUL: core.mul,
    core.Reduction.DIV: core.div,
    core.Reduction.MAX: core.maximum,
    core.Reduction.MIN: core.minimum,
}


@rule(core.ScatterNd)
def scatter_one_by_one(op: core.ScatterNd, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    """For versions that only replace: each update in turn is combined with what is there."""
    combine = _COMBINE.get(op.reduction)
    *lead, depth = dims_of(positions)
    if combine is None or not isinstance(depth, int):
        return Mismatch("updates replace what is there")
    rest = dims_of(x)[depth:]
    rows = core.reshape(positions, (element_count(lead), 1, depth))
    parts = core.reshape(updates, (element_count(lead), 1, *rest))

    def step(state: Value, at: Value, part: Value) -> tuple[Value, ...]:
        return (core.scatter_nd(state, at, combine(core.gather_nd(state, at), part)),)

    types = [x.type, *[tensor_type(v).with_shape((tensor_type(v).shape or ())[1:]) for v in (rows, parts)]]
    return core.scan((x,), (rows, parts), core.nested(types, step))[0]


@rule(core.ScatterElements)
def scatter_at_places(op: core.ScatterElements, context: Context, x: Value, positions: Value, updates: Value) -> Result:
    """For versions that only replace: by the places of all elements."""
    if op.reduction not in _COMBINE:
        return Mismatch("updates replace what is there")
    dims = dims_of(positions)
    (axis,) = axes_from_start((op.axis,), len(dims))
    along = [core.iota(dims, a, element_of(positions)) if a != axis else positions for a in range(len(dims))]
    return core.scatter_nd(x, core.stack(tuple(along), -1), updates, op.reduction)


@rule(core.OneHot)
def one_hot(op: core.OneHot, context: Context, positions: Value, on: Value, off: Value) -> Value:
    # Not onnx.OneHot: there a negative position counts from the end.
    rank = rank_of(positions) + 1
    (axis,) = axes_from_start((op.axis,), rank)
    shape = (op.depth, *(1,) * (rank - axis - 1))
    if isinstance(op.depth, int) and op.depth <= MOST_KNOWN:
        line = constant(context, i64, (op.depth, *shape[1:]), range(op.depth))
    else:
        line = core.iota(shape, 0, i64)
    wide = onnx.Unsqueeze(cast(positions, i64), integers(context, (axis,))).expanded
    return core.select(core.equal(wide, line), on, off)


@rule(core.BandPart)
def band_part(op: core.BandPart, context: Context, x: Value) -> Value:
    y = x
    if op.lower >= 0:
        y = onnx.Trilu(y, scalar_position(context, -op.lower), upper=True).output
    if op.upper >= 0:
        y = onnx.Trilu(y, scalar_position(context, op.upper), upper=False).output
    return y


def scalar_position(context: Context, value: int) -> Value:
    """A position as a scalar."""
    return constant(context, i64, (), (value,))


@rule(core.NonZero)
def non_zero(op: core.NonZero, context: Context, x: Value) -> Value:
    return onnx.Transpose(onnx.NonZero(x).Y, perm=(1, 0)).transposed


@rule(core.Unique)
def unique(op: core.Unique, context: Context, x: Value) -> tuple[Value, ...]:
    return onnx.Unique(x, sorted=op.ascending, axis=op.axis).results


@rule(core.Unique)
def unique_in_single_precision(op: core.Unique, context: Context, x: Value) -> Result:
    """For halves that the operator does not take in a version."""
    if element_of(x) not in (f16, bf16):
        return Mismatch(f"onnx.Unique takes {element_of(x)} in a later version")
    values, *others = core.unique(cast(x, f32), op.axis, op.ascending)
    return core.cast(values, element_of(x)), *others
